//! The classes of a trace, with the facts of their methods and the resolution of fields.

use super::java_trace::TracedClassEntry;
use super::method_facts::MethodFacts;
use crate::state::StateRules;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_front_java::classfile::{ClassFile, Member, MemberRef, access};
use touchstone_probes_java::is_test_class;

/// A traced class.
pub(in crate::java) struct TracedClass {
    pub unit: u64,
    pub class: ClassFile,
    /// Its source file, or an empty string if it is unknown.
    pub source: String,
    /// True if it is a test class, whose fields are no state of the program.
    pub is_test: bool,
    methods: Vec<OnceCell<Option<Rc<MethodFacts>>>>,
}

/// The number of a field.
pub(in crate::java) type FieldNumber = u32;

/// A field of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::java) struct TracedField {
    /// The class that declares it, if that is known; otherwise the class that the code names.
    pub class: Arc<str>,
    pub name: Arc<str>,
    /// True if it belongs to the program under test.
    pub is_state: bool,
    /// True if it is final.
    pub is_final: bool,
}

/// All classes of a trace.
pub(in crate::java) struct TracedClasses {
    classes: Vec<(TracedClassEntry, Option<Rc<TracedClass>>)>,
    by_name: HashMap<Arc<str>, Rc<TracedClass>>,
    pub fields: Vec<TracedField>,
    numbers: HashMap<(Arc<str>, Arc<str>), FieldNumber>,
    /// The resolved fields, by the class and name in the code.
    resolved: HashMap<(Arc<str>, Arc<str>), FieldNumber>,
}

impl TracedClasses {
    /// Reads the classes of a trace from the directory of units.
    pub fn new(units: &Path, traced: &[TracedClassEntry]) -> TracedClasses {
        let mut all = TracedClasses {
            classes: Vec::new(),
            by_name: HashMap::new(),
            fields: Vec::new(),
            numbers: HashMap::new(),
            resolved: HashMap::new(),
        };
        for traced in traced {
            let read = TracedClass::read(units, traced.unit).map(Rc::new);
            if let Some(class) = &read {
                all.by_name.insert(class.class.name.clone(), class.clone());
            }
            all.classes.push((*traced, read));
        }
        all
    }

    /// Returns the number of classes that can't be read.
    pub fn unreadable(&self) -> usize {
        self.classes.iter().filter(|(_, class)| class.is_none()).count()
    }

    /// Returns a method by its number.
    pub(super) fn method(&self, number: u32, rules: &StateRules) -> Option<Rc<MethodFacts>> {
        let behind = self.classes.partition_point(|(traced, _)| traced.first <= number);
        let (traced, class) = self.classes.get(behind.checked_sub(1)?)?;
        let (class, index) = (class.as_ref()?, (number - traced.first) as usize);
        let facts = || MethodFacts::new(class, index, rules).map(Rc::new);
        class.methods.get(index)?.get_or_init(facts).clone()
    }

    /// Returns a method by its number, with its class.
    pub fn member(&self, number: u32) -> Option<(&Rc<TracedClass>, &Member)> {
        let behind = self.classes.partition_point(|(traced, _)| traced.first <= number);
        let (traced, class) = self.classes.get(behind.checked_sub(1)?)?;
        let class = class.as_ref()?;
        Some((class, class.class.methods.get((number - traced.first) as usize)?))
    }

    /// Returns a class by its name.
    pub fn named(&self, name: &str) -> Option<&Rc<TracedClass>> {
        self.by_name.get(name)
    }

    /// Returns a class with its traced superclasses and interfaces, in breadth-first order.
    pub fn above(&self, name: &str) -> Vec<&Rc<TracedClass>> {
        let mut found: Vec<&Rc<TracedClass>> = self.by_name.get(name).into_iter().collect();
        let mut at = 0;
        while let Some(class) = found.get(at).copied() {
            let above = class.class.superclass.iter().chain(&class.class.interfaces);
            for above in above.filter_map(|name| self.by_name.get(name)) {
                if !found.iter().any(|known| Rc::ptr_eq(known, above)) {
                    found.push(above);
                }
            }
            at += 1;
        }
        found
    }

    /// Selects the class whose method is executed for a receiver of a class.
    pub fn with_method(&self, class: &str, name: &str, desc: &str) -> Option<&Rc<TracedClass>> {
        let has_code = |class: &&Rc<TracedClass>| {
            class.class.method(name, desc).is_some_and(|index| class.class.methods[index].code().is_some())
        };
        self.above(class).into_iter().find(has_code)
    }

    /// Returns true if a class or one of its traced superclasses directly extends `from`.
    pub fn inherits(&self, class: &str, from: &str) -> bool {
        let mut above = self.above(class).into_iter();
        above.any(|class| class.class.superclass.as_deref() == Some(from))
    }

    /// Returns true if a traced class or one of its traced supertypes declares the method.
    pub fn declares(&self, method: &MemberRef) -> bool {
        let (mut worklist, mut seen) = (vec![&method.class], BTreeSet::new());
        while let Some(name) = worklist.pop() {
            let Some(found) = self.by_name.get(name).filter(|_| seen.insert(name)) else { continue };
            if found.class.method(&method.name, &method.desc).is_some() {
                return true;
            }
            worklist.extend(found.class.interfaces.iter().chain(&found.class.superclass));
        }
        false
    }

    /// Returns the instance fields that a class declares.
    pub fn fields_of(&mut self, class: &Rc<TracedClass>) -> Vec<FieldNumber> {
        let own = class.class.fields.iter().filter(|field| !field.is(access::STATIC));
        let names: Vec<Arc<str>> = own.map(|field| field.name.clone()).collect();
        names.into_iter().map(|name| self.number(class.class.name.clone(), name)).collect()
    }

    /// Resolves a field that code names.
    pub fn field(&mut self, class: &Arc<str>, name: &Arc<str>) -> FieldNumber {
        let key = (class.clone(), name.clone());
        if let Some(known) = self.resolved.get(&key) {
            return *known;
        }
        let declared = self.declaring(class, name, 0).unwrap_or_else(|| class.clone());
        let number = self.number(declared, name.clone());
        self.resolved.insert(key, number);
        number
    }

    /// Finds the class that declares a field: the class itself, an interface or a superclass.
    pub fn declaring(&self, class: &str, name: &str, depth: usize) -> Option<Arc<str>> {
        const MAX_SUPERTYPE_DEPTH: usize = 64;
        let found = self.by_name.get(class).filter(|_| depth < MAX_SUPERTYPE_DEPTH)?;
        if found.class.fields.iter().any(|field| &*field.name == name) {
            return Some(found.class.name.clone());
        }
        let above = found.class.interfaces.iter().chain(&found.class.superclass);
        above.filter_map(|above| self.declaring(above, name, depth + 1)).next()
    }

    fn number(&mut self, class: Arc<str>, name: Arc<str>) -> FieldNumber {
        let key = (class, name);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let (class, name) = key.clone();
        // Names that the compiler generates contain `$`.
        let is_state = self.by_name.get(&class).is_some_and(|class| !class.is_test) && !name.contains('$');
        let declared = self.by_name.get(&class).and_then(|class| class.field(&name));
        let is_final = declared.is_none_or(|field| field.is(access::FINAL));
        self.fields.push(TracedField { class, name, is_state, is_final });
        let number = self.fields.len() as FieldNumber - 1;
        self.numbers.insert(key, number);
        number
    }
}

impl TracedClass {
    /// Returns a field that the class declares.
    pub fn field(&self, name: &str) -> Option<&Member> {
        self.class.fields.iter().find(|field| &*field.name == name)
    }

    fn read(units: &Path, unit: u64) -> Option<TracedClass> {
        let path = |extension: &str| -> PathBuf { units.join(format!("{unit:016x}.{extension}")) };
        let class = ClassFile::read(&std::fs::read(path("class")).ok()?).ok()?;
        let place = PathBuf::from(std::fs::read_to_string(path("loaded")).unwrap_or_default());
        let source = std::fs::read_to_string(path("source")).unwrap_or_default();
        let is_test = is_test_class(&class, &place);
        let methods = class.methods.iter().map(|_| OnceCell::new()).collect();
        Some(TracedClass { unit, class, source, is_test, methods })
    }
}
