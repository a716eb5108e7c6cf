//! The classes of a trace: their methods as they can be followed, and which fields are whose.

use super::super::super::state::StateRules;
use super::method::MethodFacts;
use super::trace::Traced;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_front_java::classfile::{ClassFile, Constant, MemberRef, access};
use touchstone_probes_java::TEST_PLACES;

/// A class that was followed.
pub(super) struct FollowedClass {
    pub unit: u64,
    pub class: ClassFile,
    /// Its source, as far as it is known.
    pub source: String,
    /// It is a test: what is its own is no state of the program.
    pub is_test: bool,
    methods: Vec<OnceCell<Option<Rc<MethodFacts>>>>,
}

/// A field, by its number.
pub(super) type FieldId = u32;

/// A field of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Field {
    /// The class that declares it, as far as that is known.
    pub class: Arc<str>,
    pub name: Arc<str>,
    /// It belongs to the user's program.
    pub is_state: bool,
}

/// All classes of a trace.
pub(super) struct Classes {
    classes: Vec<(Traced, Option<Rc<FollowedClass>>)>,
    by_name: HashMap<Arc<str>, Rc<FollowedClass>>,
    pub fields: Vec<Field>,
    numbers: HashMap<(Arc<str>, Arc<str>), FieldId>,
    /// By what code names: the field.
    resolved: HashMap<(Arc<str>, Arc<str>), FieldId>,
}

/// What the classes of tests name.
const TEST_MARKS: [&str; 9] = [
    "Lorg/junit/Test;",
    "Lorg/junit/jupiter/api/Test;",
    "Lorg/junit/jupiter/api/RepeatedTest;",
    "Lorg/junit/jupiter/api/TestFactory;",
    "Lorg/junit/jupiter/api/TestTemplate;",
    "Lorg/junit/jupiter/params/ParameterizedTest;",
    "Lorg/testng/annotations/Test;",
    "junit/framework/TestCase",
    "Lorg/junit/runner/RunWith;",
];

impl Classes {
    /// Of a trace whose classes are kept in a directory.
    pub fn new(units: &Path, traced: &[Traced]) -> Classes {
        let mut all = Classes {
            classes: Vec::new(),
            by_name: HashMap::new(),
            fields: Vec::new(),
            numbers: HashMap::new(),
            resolved: HashMap::new(),
        };
        for traced in traced {
            let read = FollowedClass::read(units, traced.unit).map(Rc::new);
            if let Some(class) = &read {
                all.by_name.insert(class.class.name.clone(), class.clone());
            }
            all.classes.push((*traced, read));
        }
        all
    }

    /// How many classes can't be read.
    pub fn unreadable(&self) -> usize {
        self.classes.iter().filter(|(_, class)| class.is_none()).count()
    }

    /// A method by its number.
    pub fn method(&self, number: u32, rules: &StateRules) -> Option<Rc<MethodFacts>> {
        let behind = self.classes.partition_point(|(traced, _)| traced.first <= number);
        let (traced, class) = self.classes.get(behind.checked_sub(1)?)?;
        let (class, index) = (class.as_ref()?, (number - traced.first) as usize);
        let facts = || MethodFacts::new(class, index, rules).map(Rc::new);
        class.methods.get(index)?.get_or_init(facts).clone()
    }

    /// Whether a method is one of the user's: a class that was followed, or one above it, declares it.
    pub fn declares(&self, method: &MemberRef) -> bool {
        let (mut waiting, mut seen) = (vec![&method.class], BTreeSet::new());
        while let Some(name) = waiting.pop() {
            let Some(found) = self.by_name.get(name).filter(|_| seen.insert(name)) else { continue };
            if found.class.method(&method.name, &method.desc).is_some() {
                return true;
            }
            waiting.extend(found.class.interfaces.iter().chain(&found.class.superclass));
        }
        false
    }

    /// Fields that are no statics, of a class with all that it extends.
    pub fn fields_of(&mut self, class: &Rc<FollowedClass>) -> Vec<FieldId> {
        let own = class.class.fields.iter().filter(|field| !field.is(access::STATIC));
        let names: Vec<Arc<str>> = own.map(|field| field.name.clone()).collect();
        names.into_iter().map(|name| self.number(class.class.name.clone(), name)).collect()
    }

    /// The field that code names.
    pub fn field(&mut self, class: &Arc<str>, name: &Arc<str>) -> FieldId {
        let key = (class.clone(), name.clone());
        if let Some(known) = self.resolved.get(&key) {
            return *known;
        }
        let declared = self.declaring(class, name, 0).unwrap_or_else(|| class.clone());
        let number = self.number(declared, name.clone());
        self.resolved.insert(key, number);
        number
    }

    /// The class that declares a field: a class, what it extends, or an interface.
    fn declaring(&self, class: &Arc<str>, name: &str, depth: usize) -> Option<Arc<str>> {
        const DEEPEST: usize = 64;
        let found = self.by_name.get(class).filter(|_| depth < DEEPEST)?;
        if found.class.fields.iter().any(|field| &*field.name == name) {
            return Some(class.clone());
        }
        let above = found.class.interfaces.iter().chain(&found.class.superclass);
        above.filter_map(|above| self.declaring(above, name, depth + 1)).next()
    }

    fn number(&mut self, class: Arc<str>, name: Arc<str>) -> FieldId {
        let key = (class, name);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let (class, name) = key.clone();
        // What the compiler adds has a `$` in its name.
        let is_state = self.by_name.get(&class).is_some_and(|class| !class.is_test) && !name.contains('$');
        self.fields.push(Field { class, name, is_state });
        let number = self.fields.len() as FieldId - 1;
        self.numbers.insert(key, number);
        number
    }
}

impl FollowedClass {
    fn read(units: &Path, unit: u64) -> Option<FollowedClass> {
        let path = |extension: &str| -> PathBuf { units.join(format!("{unit:016x}.{extension}")) };
        let class = ClassFile::read(&std::fs::read(path("class")).ok()?).ok()?;
        let place = PathBuf::from(std::fs::read_to_string(path("loaded")).unwrap_or_default());
        let source = std::fs::read_to_string(path("source")).unwrap_or_default();
        let in_tests = TEST_PLACES.iter().any(|tests| place.ends_with(tests));
        let marked = |index: u16| match class.pool.get(index) {
            Ok(Constant::Utf8(text)) => TEST_MARKS.iter().any(|mark| &**text.text() == *mark),
            _ => false,
        };
        let is_test = in_tests || (1..u16::try_from(class.pool.len()).unwrap_or(u16::MAX)).any(marked);
        let methods = class.methods.iter().map(|_| OnceCell::new()).collect();
        Some(FollowedClass { unit, class, source, is_test, methods })
    }
}
