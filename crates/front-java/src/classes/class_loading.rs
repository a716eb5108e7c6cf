//! Class loading: from a name to a class with its supertypes and its layout.

use crate::classes::class::FieldLayout;
use crate::classes::layout::{
    ARRAY_BASE_OFFSET, CACHED_WRAPPERS, FIRST_FIELD_OFFSET, HANDLE_HIDDEN_BYTES, MIRROR_HIDDEN_BYTES,
    WRAPPER_HIDDEN_BYTES,
};
use crate::classes::{Class, ClassShape, Lambda, StubMember};
use crate::classfile::{ClassFile, Desc, access};
use crate::path::ClassPath;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_base::IndexMap;
use touchstone_fixture_java::ClassId;

/// The reason for which a class or method can't be lowered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoweringError {
    /// The class does not exist.
    #[error("no class {0}")]
    NoClass(Arc<str>),
    /// The field does not exist.
    #[error("no field {0}")]
    NoField(String),
    /// The method does not exist.
    #[error("no method {0}")]
    NoMethod(String),
    /// A class file violates the specification.
    #[error("{0}")]
    Malformed(String),
    /// The construct, by name, is not supported.
    #[error("{0}")]
    Unsupported(String),
}

/// All loaded classes.
#[derive(Debug)]
pub struct ClassTable {
    path: ClassPath,
    classes: IndexMap<ClassId, Class>,
    by_name: FxHashMap<Arc<str>, ClassId>,
    loading: FxHashSet<Arc<str>>,
    missing: FxHashSet<Arc<str>>,
}

impl ClassTable {
    /// Creates an empty table that loads classes from a path.
    pub fn new(path: ClassPath) -> ClassTable {
        ClassTable {
            path,
            classes: IndexMap::new(),
            by_name: FxHashMap::default(),
            loading: FxHashSet::default(),
            missing: FxHashSet::default(),
        }
    }

    /// Returns the class path.
    pub fn path(&self) -> &ClassPath {
        &self.path
    }

    /// Returns a class.
    pub fn get(&self, id: ClassId) -> &Class {
        &self.classes[id]
    }

    /// Returns the class of a name if it is already loaded.
    pub fn loaded(&self, name: &Arc<str>) -> Option<ClassId> {
        self.by_name.get(name).copied()
    }

    /// Returns the number of loaded classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Iterates over all classes in the order of loading.
    pub fn iter(&self) -> impl Iterator<Item = (ClassId, &Class)> {
        self.classes.iter()
    }

    /// Records that objects of a class may exist.
    pub fn mark_instantiated(&mut self, id: ClassId) {
        self.classes[id].instantiated = true;
    }

    /// Loads the class of a name, as class constants write it.
    ///
    /// # Errors
    /// If the class does not exist, or its file is malformed.
    pub fn load(&mut self, name: &Arc<str>) -> Result<ClassId, LoweringError> {
        if let Some(id) = self.by_name.get(name) {
            return Ok(*id);
        }
        if name.starts_with('[') {
            return self.load_array(name);
        }
        if self.missing.contains(name) {
            return Err(LoweringError::NoClass(name.clone()));
        }
        let found = self.path.find(name).map_err(|error| LoweringError::Malformed(error.to_string()))?;
        let Some(found) = found else {
            self.missing.insert(name.clone());
            return Err(LoweringError::NoClass(name.clone()));
        };
        let malformed = |reason: String| LoweringError::Malformed(format!("{}: {reason}", found.origin));
        let file = ClassFile::read(&found.bytes).map_err(|error| malformed(error.to_string()))?;
        if file.name != *name {
            return Err(malformed(format!("the class is called {}", file.name)));
        }
        if !self.loading.insert(name.clone()) {
            return Err(malformed("the class is its own superclass".to_string()));
        }
        let made = self.load_file(file, found.of_jdk);
        self.loading.remove(name);
        made
    }

    fn load_file(&mut self, file: ClassFile, of_jdk: bool) -> Result<ClassId, LoweringError> {
        let superclass = file.superclass.as_ref().map(|name| self.load(name)).transpose()?;
        let interfaces = file.interfaces.iter().map(|name| self.load(name)).collect::<Result<Vec<_>, _>>()?;
        let (fields, size) = self.lay_out(&file, superclass);
        let (name, access) = (file.name.clone(), file.access);
        Ok(self.add(Class {
            name,
            shape: ClassShape::File(Rc::new(file)),
            access,
            superclass,
            interfaces,
            supertypes: Vec::new(),
            fields,
            size,
            of_jdk,
            instantiated: false,
        }))
    }

    fn lay_out(&self, file: &ClassFile, superclass: Option<ClassId>) -> (Vec<FieldLayout>, u64) {
        let (mut fields, mut end) = match superclass {
            Some(superclass) if file.access & access::INTERFACE == 0 => {
                let class = &self.classes[superclass];
                (class.fields.clone(), class.size)
            }
            _ => (Vec::new(), FIRST_FIELD_OFFSET),
        };
        let mut own: Vec<(Arc<str>, Desc)> = file
            .fields
            .iter()
            .filter(|field| !field.is(access::STATIC))
            .filter_map(|field| Some((field.name.clone(), Desc::parse(&field.desc)?)))
            .collect();
        // Descending sizes leave no gaps but at the end.
        own.sort_by_key(|(_, desc)| std::cmp::Reverse(desc.size()));
        for (name, desc) in own {
            let offset = end.next_multiple_of(desc.size());
            end = offset + desc.size();
            fields.push(FieldLayout { name, desc, offset });
        }
        let hidden = match &*file.name {
            "java/lang/Class" => MIRROR_HIDDEN_BYTES,
            "java/lang/invoke/VarHandle" => HANDLE_HIDDEN_BYTES,
            name if CACHED_WRAPPERS.contains(&name) => WRAPPER_HIDDEN_BYTES,
            _ => 0,
        };
        (fields, end.next_multiple_of(8) + hidden)
    }

    fn load_array(&mut self, name: &Arc<str>) -> Result<ClassId, LoweringError> {
        let element = Desc::parse(&name[1..]).ok_or_else(|| LoweringError::NoClass(name.clone()))?;
        let component = self.class_of(&element)?;
        let object = self.load(&"java/lang/Object".into())?;
        let interfaces = vec![self.load(&"java/lang/Cloneable".into())?, self.load(&"java/io/Serializable".into())?];
        let of_jdk = self.classes[component].of_jdk;
        Ok(self.add(Class {
            name: name.clone(),
            access: access::PUBLIC | access::FINAL | access::ABSTRACT,
            shape: ClassShape::Array { element, component },
            superclass: Some(object),
            interfaces,
            supertypes: Vec::new(),
            fields: Vec::new(),
            size: ARRAY_BASE_OFFSET as u64,
            of_jdk,
            instantiated: false,
        }))
    }

    /// Returns the class of a type; primitive types have one, too.
    ///
    /// # Errors
    /// If the class does not exist.
    pub fn class_of(&mut self, desc: &Desc) -> Result<ClassId, LoweringError> {
        let word = match (desc, desc.word()) {
            (Desc::Ref(name), _) => return self.load(name),
            (_, word) => word.unwrap_or_default(),
        };
        // The angle brackets keep these names apart from those of classes.
        let name: Arc<str> = format!("<{word}>").into();
        if let Some(id) = self.by_name.get(&name) {
            return Ok(*id);
        }
        Ok(self.add(Class {
            name,
            access: access::PUBLIC | access::FINAL | access::ABSTRACT,
            shape: ClassShape::Primitive(desc.clone()),
            superclass: None,
            interfaces: Vec::new(),
            supertypes: Vec::new(),
            fields: Vec::new(),
            size: 0,
            of_jdk: true,
            instantiated: false,
        }))
    }

    /// Adds the class of a lambda expression.
    ///
    /// # Errors
    /// If `java.lang.Object` can't be loaded.
    pub fn add_lambda(&mut self, interfaces: Vec<ClassId>, lambda: Lambda) -> Result<ClassId, LoweringError> {
        let object = self.load(&"java/lang/Object".into())?;
        let owner = self.classes[lambda.owner].name.clone();
        let of_jdk = self.classes[lambda.owner].of_jdk;
        let mut end = FIRST_FIELD_OFFSET;
        let mut fields = Vec::new();
        for (index, desc) in lambda.captured.iter().enumerate() {
            let offset = end.next_multiple_of(desc.size());
            end = offset + desc.size();
            fields.push(FieldLayout { name: format!("arg${index}").into(), desc: desc.clone(), offset });
        }
        Ok(self.add(Class {
            name: format!("{owner}$$Lambda/{}", self.classes.len()).into(),
            access: access::FINAL,
            shape: ClassShape::Lambda(Rc::new(lambda)),
            superclass: Some(object),
            interfaces,
            supertypes: Vec::new(),
            fields,
            size: end.next_multiple_of(8),
            of_jdk,
            instantiated: true,
        }))
    }

    /// Adds the class of a stub for an interface or an abstract class.
    ///
    /// # Errors
    /// If `java.lang.Object` can't be loaded.
    pub fn add_stub(&mut self, of: ClassId, methods: Vec<StubMember>) -> Result<ClassId, LoweringError> {
        let is_interface = self.classes[of].is(access::INTERFACE);
        let object = self.load(&"java/lang/Object".into())?;
        let superclass = if is_interface { object } else { of };
        let (mut fields, mut end) = (self.classes[superclass].fields.clone(), self.classes[superclass].size);
        let answers = methods.iter().flat_map(|method| std::iter::repeat_n(&method.desc.result, method.answers));
        let named = answers.enumerate().map(|(index, desc)| (format!("answer${index}"), desc.clone()));
        let throwing = (0..methods.len()).filter(|index| !methods[*index].throws.is_empty());
        let choices = throwing.map(|index| (format!("throws${index}"), Desc::Int));
        let receiver_mutation: Vec<usize> =
            (0..methods.len()).filter(|index| methods[*index].mutates.is_some()).collect();
        let tested =
            (!receiver_mutation.is_empty()).then(|| ("tested$".to_string(), Desc::Ref("java/lang/Object".into())));
        let mutates = receiver_mutation.into_iter().map(|index| (format!("meddles${index}"), Desc::Int));
        let choices = choices.chain(mutates).chain(tested);
        let counting = (0..methods.len()).filter(|index| methods[*index].answers > 1);
        let counters = counting.map(|index| (format!("calls${index}"), Desc::Int));
        for (name, desc) in counters.chain(choices).chain(named) {
            let offset = end.next_multiple_of(desc.size());
            end = offset + desc.size();
            fields.push(FieldLayout { name: name.into(), desc, offset });
        }
        Ok(self.add(Class {
            name: format!("{}$$Stub/{}", self.classes[of].name, self.classes.len()).into(),
            access: access::FINAL,
            shape: ClassShape::Stub(methods.into()),
            superclass: Some(superclass),
            interfaces: if is_interface { vec![of] } else { Vec::new() },
            supertypes: Vec::new(),
            fields,
            size: end.next_multiple_of(8),
            of_jdk: false,
            instantiated: false,
        }))
    }

    fn add(&mut self, mut class: Class) -> ClassId {
        let id = self.classes.next_id();
        let mut supertypes = vec![id];
        for above in class.superclass.iter().chain(&class.interfaces) {
            supertypes.extend_from_slice(&self.classes[*above].supertypes);
        }
        supertypes.sort();
        supertypes.dedup();
        class.supertypes = supertypes;
        self.by_name.insert(class.name.clone(), id);
        self.classes.push(class)
    }
}
