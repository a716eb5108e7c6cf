//! The representation of a loaded class.

use crate::classes::MethodSpec;
use crate::classfile::{ClassFile, Desc, Handle, MethodDesc};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_fixture_java::{ClassId, MethodRef};

/// The definition of a class.
#[derive(Clone, Debug)]
pub enum ClassShape {
    /// A class file.
    File(Rc<ClassFile>),
    /// An array class.
    Array {
        /// The type of the elements.
        element: Desc,
        /// The class of the elements; primitive types have one, too.
        component: ClassId,
    },
    /// A primitive type: it has no objects, but a `Class` object.
    Primitive(Desc),
    /// The class of the object that a lambda expression or a method reference evaluates to.
    Lambda(Rc<Lambda>),
    /// The class of a stub, by its methods.
    Stub(Rc<[StubMember]>),
}

/// A method of a stub.
#[derive(Debug)]
pub struct StubMember {
    /// Its name.
    pub name: Arc<str>,
    /// Its descriptor.
    pub desc: MethodDesc,
    /// The number of answers; the last one is also the answer to all further calls.
    pub answers: usize,
    /// Constructors of the exceptions that it may throw instead of returning.
    pub throws: Vec<MethodRef>,
    /// The method that it may call first on the receiver of the tested call, to change it.
    pub mutates: Option<MethodRef>,
    /// The user's specification of the method.
    pub spec: Option<Arc<MethodSpec>>,
}

/// A lambda expression or a method reference.
#[derive(Debug)]
pub struct Lambda {
    /// The class that contains the expression.
    pub owner: ClassId,
    /// The name of the functional method that it implements.
    pub name: Arc<str>,
    /// The descriptors under which that method may be called: the erased one, then those of bridge methods.
    pub descs: Vec<MethodDesc>,
    /// The functional method's descriptor with the actual types.
    pub instantiated: MethodDesc,
    /// The method that it calls.
    pub handle: Handle,
    /// The types of the captured values.
    pub captured: Vec<Desc>,
}

/// An instance field.
#[derive(Clone, Debug)]
pub struct FieldLayout {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub desc: Desc,
    /// Offset in bytes from the start of the object.
    pub offset: u64,
}

/// A loaded class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Internal name; the descriptor of an array class; the keyword of a primitive type.
    pub name: Arc<str>,
    /// Its definition.
    pub shape: ClassShape,
    /// Access flags.
    pub access: u16,
    /// Superclass.
    pub superclass: Option<ClassId>,
    /// The interfaces that it declares.
    pub interfaces: Vec<ClassId>,
    /// All supertypes, itself included, sorted.
    pub supertypes: Vec<ClassId>,
    /// The instance fields, those of superclasses first.
    pub fields: Vec<FieldLayout>,
    /// The size of its objects in bytes.
    pub size: u64,
    /// True if the JDK defines it.
    pub of_jdk: bool,
    /// True if code that allocates objects of it was lowered.
    pub instantiated: bool,
}

impl Class {
    /// Returns the class file, if the class has one.
    pub fn file(&self) -> Option<&Rc<ClassFile>> {
        match &self.shape {
            ClassShape::File(file) => Some(file),
            _ => None,
        }
    }

    /// Returns true if one of the flags is set.
    pub fn is(&self, flag: u16) -> bool {
        self.access & flag != 0
    }

    /// Returns the name with dots, for messages.
    pub fn title(&self) -> String {
        self.name.replace('/', ".")
    }
}
