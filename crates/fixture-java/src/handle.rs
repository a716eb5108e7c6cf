//! Handles of classes and members: indices into the front end's class table, opaque to other crates.

use touchstone_base::define_id;

define_id! {
    /// A loaded class. The class word of its objects is the index plus one.
    ClassId, "class"
}

/// A method of a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct MethodRef {
    /// The declaring class.
    pub class: ClassId,
    /// Index among the methods of its class file.
    pub index: u16,
}

/// A static field of a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FieldRef {
    /// The declaring class.
    pub class: ClassId,
    /// Index among the fields of its class file.
    pub index: u16,
}
