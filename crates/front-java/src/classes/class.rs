//! A loaded class.

use crate::classes::MethodSpec;
use crate::classfile::{ClassFile, Desc, Handle, MethodDesc};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_fixture_java::{ClassId, MethodRef};

/// What a class is made of.
#[derive(Clone, Debug)]
pub enum ClassShape {
    /// A class file.
    File(Rc<ClassFile>),
    /// An array.
    Array {
        /// What it holds.
        element: Desc,
        /// The class of that: primitive types have one, too.
        component: ClassId,
    },
    /// A primitive type: it has no objects, but somebody may ask for its `Class`.
    Primitive(Desc),
    /// What a lambda expression or a method reference evaluates to.
    Lambda(Rc<Lambda>),
    /// What a test has for a type that nobody implements: methods that answer.
    Stub(Rc<[StubMember]>),
}

/// A method of a stub.
#[derive(Debug)]
pub struct StubMember {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub desc: MethodDesc,
    /// How many answers it has: the last one stands for all further calls.
    pub answers: usize,
    /// Constructors of the exceptions that it may throw instead.
    pub throws: Vec<MethodRef>,
    /// What it may call before that, on the object whose method is tested.
    pub mutates: Option<MethodRef>,
    /// What is said of the method.
    pub spec: Option<Arc<MethodSpec>>,
}

/// What a lambda expression or a method reference evaluates to.
#[derive(Debug)]
pub struct Lambda {
    /// The class whose code has it.
    pub owner: ClassId,
    /// The method that it implements.
    pub name: Arc<str>,
    /// Types under which that method may be called.
    pub descs: Vec<MethodDesc>,
    /// The types that its arguments and its result really have.
    pub instantiated: MethodDesc,
    /// What it calls.
    pub handle: Handle,
    /// What it keeps.
    pub captured: Vec<Desc>,
}

/// A field of objects.
#[derive(Clone, Debug)]
pub struct FieldLayout {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub desc: Desc,
    /// Bytes from the object's start.
    pub offset: u64,
}

/// A loaded class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Internal name; of an array its descriptor, of a primitive type its word.
    pub name: Arc<str>,
    /// What it is made of.
    pub shape: ClassShape,
    /// Flags.
    pub access: u16,
    /// Superclass.
    pub superclass: Option<ClassId>,
    /// Interfaces that it names.
    pub interfaces: Vec<ClassId>,
    /// Every class and interface that it is, itself included, in order.
    pub supertypes: Vec<ClassId>,
    /// Fields of its objects, those of superclasses first.
    pub fields: Vec<FieldLayout>,
    /// Bytes of its objects.
    pub size: u64,
    /// Whether the JDK has it.
    pub of_jdk: bool,
    /// Whether code that makes objects of it was lowered.
    pub instantiated: bool,
}

impl Class {
    /// The class file.
    pub fn file(&self) -> Option<&Rc<ClassFile>> {
        match &self.shape {
            ClassShape::File(file) => Some(file),
            _ => None,
        }
    }

    /// Whether a flag is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// As people write it.
    pub fn title(&self) -> String {
        self.name.replace('/', ".")
    }
}
