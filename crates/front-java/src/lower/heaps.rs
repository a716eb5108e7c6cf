//! Heaps that no calls may make: an object of the program as an input, with whatever its fields hold.
//!
//! What calls leave open is tried on such heaps. Which objects there are is found as a search goes on: null, a fresh object of a class
//! that fits, or one that is there already. Fields of the program's classes lead on in the same way, numbers, texts and arrays are
//! what they are as parameters. A class of the JDK is one of the program if somebody named it, or the class that it is inside of.
//! Deliberately not here: records and enumerations, whose fields nobody can set; `java.lang`, whose objects the JVM itself knows; users'
//! classes that extend one of the JDK; local and anonymous classes. A field of such a type is null.

use super::making::HeapInput;
use super::planning::{Planner, is_given, joined};
use super::present::value_type;
use super::types::Use;
use super::world::World;
use super::{MADE, STRING};
use crate::classfile::{Desc, MethodDesc, access};
use crate::world::{ARRAY_BASE, ARRAY_LENGTH, CLASS_WORD, Class, ClassId, MethodRef};
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_fixture_java::{
    ApiCall, Completeness, Construction, FixtureValue, HeapTyping, ObjectPlan, SymbolicHeap,
};
use touchstone_ir::{DataType, DataTypeId, Field, StructKind, Tag, Variant};

/// So many classes an object may be of.
const MOST_CLASSES: usize = 4;
/// What stands for any object.
const NUMBER: &str = "java/lang/Integer";

impl Planner<'_> {
    /// The objects of a scenario that may be any: the one that the method is called on, and its arguments.
    pub(super) fn heaps(
        &mut self,
        receiver: Option<&FixtureValue>,
        calls: &[ApiCall],
    ) -> Vec<(SymbolicHeap, HeapInput)> {
        let mut found = Vec::new();
        if let (Some(FixtureValue::Object(object)), Some(call)) = (receiver, calls.first()) {
            let below = self.world.below(call.method.class);
            let has = |class: &ClassId| calls.iter().all(|call| self.inherits(*class, call.method));
            let classes: Vec<ClassId> = below.into_iter().filter(has).collect();
            found.extend(self.heap(object, (call.method.class, HeapTyping::ProgramClass), &classes));
        }
        for call in calls {
            let descs = self.world.param_descs(call.method);
            // The object that a new one is inside of stands before what is planned.
            let planned = descs.iter().skip(descs.len().saturating_sub(call.arguments.len()));
            for (desc, argument) in planned.zip(&call.arguments) {
                let FixtureValue::Object(object) = argument else { continue };
                let Some(class) = self.heap_class(desc, object) else { continue };
                let classes = self.world.below(class.0);
                found.extend(self.heap(object, class, &classes));
            }
        }
        found
    }

    /// The class of the program that an argument is an object of: that of its type, else one that tests make for it.
    fn heap_class(&mut self, desc: &Desc, object: &ObjectPlan) -> Option<(ClassId, HeapTyping)> {
        let own = self.world.classes.of_desc(desc).ok()?;
        let made = object.constructions.iter().filter_map(|way| match way {
            Construction::New(call) | Construction::Collection { create: call, .. } => {
                Some((call.method.class, HeapTyping::WiderType))
            }
            _ => None,
        });
        let all = self.world.with_nested();
        let is_tested = |(class, _): &(ClassId, HeapTyping)| all.contains(class) && self.is_accessible(*class);
        std::iter::once((own, HeapTyping::ProgramClass)).chain(made).find(is_tested)
    }

    fn heap(
        &mut self,
        object: &ObjectPlan,
        (class, typing): (ClassId, HeapTyping),
        classes: &[ClassId],
    ) -> Option<(SymbolicHeap, HeapInput)> {
        // Where all ways are known, others would be none.
        if classes.is_empty() || object.completeness == Completeness::Complete {
            return None;
        }
        let (title, name) = (self.world.classes.get(class).title(), self.world.classes.get(class).name.clone());
        let data = self.world.heap_pointer(title, classes);
        let classes = self.world.classes_of_heap(data);
        let param = self.param(&joined(&object.name, "heap"), Desc::Ref(name));
        let heap = SymbolicHeap { object: object.number, selector: object.selector, param, typing };
        Some((heap, HeapInput { class, data, classes }))
    }
}

impl World {
    /// Types of the parameters of a method.
    fn param_descs(&self, method: MethodRef) -> Vec<Desc> {
        let desc = MethodDesc::parse(&self.classes.method(method).desc);
        desc.map_or(Vec::new(), |desc| desc.params)
    }

    /// The classes of the program, and those inside of them: who names a class does not name these.
    fn with_nested(&mut self) -> Rc<[ClassId]> {
        if let Some(known) = &self.with_nested {
            return Rc::clone(known);
        }
        let mut all = self.program.clone();
        let mut seen: BTreeSet<ClassId> = all.iter().copied().collect();
        let mut at = 0;
        while let Some(class) = all.get(at) {
            let own = self.classes.get(*class).name.clone();
            let rows = self.classes.get(*class).file().map_or(Vec::new(), |file| file.inner_classes().to_vec());
            for row in rows.iter().filter(|row| row.outer.as_ref() == Some(&own)) {
                all.extend(self.classes.load(&row.class).ok().filter(|inner| seen.insert(*inner)));
            }
            at += 1;
        }
        let all: Rc<[ClassId]> = all.into();
        self.with_nested = Some(Rc::clone(&all));
        all
    }

    /// The classes of the program that an object of a type may be of, and that a test can fill.
    fn below(&mut self, class: ClassId) -> Vec<ClassId> {
        let all = self.with_nested();
        let fits = |other: &ClassId| self.classes.is_subtype(*other, class) && self.is_fillable(*other);
        let own = Some(class).filter(|own| all.contains(own));
        let others = all.iter().copied().filter(|other| *other != class);
        own.into_iter().chain(others).filter(fits).take(MOST_CLASSES).collect()
    }

    /// Whether a test can make an object of a class without a constructor, and set all its fields.
    fn is_fillable(&self, class: ClassId) -> bool {
        let found = self.classes.get(class);
        let Some(file) = found.file() else { return false };
        let is_local = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
        let is_made = found.is(MADE | access::ABSTRACT | access::INTERFACE | access::ENUM);
        if is_made || file.name.split('$').skip(1).any(is_local) {
            return false;
        }
        // Who tests a class of their own does not ask what the JDK's does with fields that are wrong.
        let is_closed = |above: &Class| above.of_jdk && (!found.of_jdk || above.name.starts_with("java/lang/"));
        let mut above = Some(class);
        while let Some(next) = above {
            let next = self.classes.get(next);
            if &*next.name != "java/lang/Object" && is_closed(next) {
                return false;
            }
            above = next.superclass;
        }
        // By their names fields are found.
        let names: BTreeSet<&str> = found.fields.iter().map(|field| &*field.name).collect();
        names.len() == found.fields.len()
    }

    /// A pointer to objects of some classes.
    fn heap_pointer(&mut self, name: String, classes: &[ClassId]) -> DataTypeId {
        let pointee = self.types.push(DataType::Void);
        let pointer = self.types.push(DataType::Pointer { pointee, to_const: false });
        self.fill_pointee(pointee, name, classes);
        pointer
    }

    fn fill_pointee(&mut self, pointee: DataTypeId, name: String, classes: &[ClassId]) {
        let mut variants = Vec::new();
        for class in classes {
            let ty = self.heap_struct(*class);
            variants.push(Variant { tag: self.word(*class), ty });
        }
        let tag = Tag { offset: CLASS_WORD as u64, bits: 32 };
        self.types[pointee] = DataType::OneOf { name, tag, variants };
    }

    /// The objects of a class.
    fn heap_struct(&mut self, class: ClassId) -> DataTypeId {
        if let Some(known) = self.heap_types.get(&class) {
            return *known;
        }
        let made = self.types.push(DataType::Void);
        self.heap_types.insert(class, made);
        self.classes.instantiate(class);
        let own = self.classes.get(class).clone();
        let mut fields =
            vec![Field { name: "class".to_string(), offset: CLASS_WORD as u64, ty: value_type(&Desc::Int) }];
        for field in &own.fields {
            fields.push(Field { name: field.name.to_string(), offset: field.offset, ty: self.heap_field(&field.desc) });
        }
        fields.sort_by_key(|field| field.offset);
        let kind = StructKind::Record;
        self.types[made] = DataType::Struct { name: own.title(), fields, size: own.size, align: 8, kind };
        made
    }

    /// What a field of such an object holds.
    fn heap_field(&mut self, desc: &Desc) -> DataTypeId {
        let Desc::Ref(name) = desc else { return value_type(desc) };
        if is_given(desc) {
            return self.data_of(desc, Use::Input);
        }
        let key = (name.clone(), Use::Heap);
        if let Some(known) = self.type_ids.get(&key) {
            return *known;
        }
        let pointee = self.types.push(DataType::Void);
        let pointer = self.types.push(DataType::Pointer { pointee, to_const: false });
        self.type_ids.insert(key, pointer);
        let title = name.replace('/', ".");
        match name.strip_prefix('[').and_then(Desc::parse) {
            Some(element) => self.fill_array(pointee, title, desc, &element),
            None => {
                let classes = self.field_classes(desc);
                self.fill_pointee(pointee, title, &classes);
            }
        }
        pointer
    }

    /// The classes that the object in a field may be of; what stands for any object is a number.
    fn field_classes(&mut self, desc: &Desc) -> Vec<ClassId> {
        let Ok(class) = self.classes.of_desc(desc) else { return Vec::new() };
        if self.with_nested().contains(&class) {
            return self.below(class);
        }
        let number = self.classes.load(&NUMBER.into()).ok();
        let fits = |number: &ClassId| self.classes.is_subtype(*number, class);
        number.into_iter().filter(fits).collect()
    }

    /// An array of references: counted, as other arrays are.
    fn fill_array(&mut self, pointee: DataTypeId, title: String, desc: &Desc, element: &Desc) {
        let tag = Tag { offset: CLASS_WORD as u64, bits: 32 };
        let mut variants = Vec::new();
        if let Ok(class) = self.classes.of_desc(desc) {
            self.classes.instantiate(class);
            let (int, element) = (value_type(&Desc::Int), self.heap_field(element));
            let elements = self.types.push(DataType::Array { element, length: 0 });
            let ty = self.types.push(DataType::Struct {
                name: full_name(desc),
                fields: vec![
                    Field { name: "class".to_string(), offset: CLASS_WORD as u64, ty: int },
                    Field { name: "length".to_string(), offset: ARRAY_LENGTH as u64, ty: int },
                    Field { name: "elements".to_string(), offset: ARRAY_BASE as u64, ty: elements },
                ],
                size: ARRAY_BASE as u64,
                align: 8,
                kind: StructKind::Counted { by: 1 },
            });
            variants.push(Variant { tag: self.word(class), ty });
        }
        self.types[pointee] = DataType::OneOf { name: title, tag, variants };
    }

    /// The classes of all objects that a pointer may lead to, over others as well.
    fn classes_of_heap(&self, pointer: DataTypeId) -> Vec<ClassId> {
        let (mut open, mut seen) = (vec![pointer], BTreeSet::new());
        while let Some(next) = open.pop() {
            if !seen.insert(next) {
                continue;
            }
            match &self.types[next] {
                DataType::Pointer { pointee, .. } => open.push(*pointee),
                DataType::OneOf { variants, .. } => open.extend(variants.iter().map(|variant| variant.ty)),
                DataType::Struct { fields, .. } => open.extend(fields.iter().map(|field| field.ty)),
                DataType::Array { element, .. } => open.push(*element),
                _ => {}
            }
        }
        let of_program = self.heap_types.iter().filter(|(class, data)| {
            let name = &*self.classes.get(**class).name;
            seen.contains(data) && name != NUMBER && name != STRING
        });
        let mut classes: Vec<ClassId> = of_program.map(|(class, _)| *class).collect();
        classes.sort_unstable();
        classes
    }
}

/// A type with its package, whatever it is called in messages: by that name tests find it.
fn full_name(desc: &Desc) -> String {
    let Desc::Ref(name) = desc else { return desc.word().unwrap_or_default().to_string() };
    match name.strip_prefix('[').and_then(Desc::parse) {
        Some(element) => full_name(&element) + "[]",
        None => name.replace('/', "."),
    }
}
