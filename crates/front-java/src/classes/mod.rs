//! The class table of a program: classes are loaded by name when they are first needed, with their hierarchy, layouts and members.

mod class;
mod class_loading;
mod hierarchy;
pub(crate) mod layout;
mod method_spec;
pub(crate) mod synthetic;
pub(crate) mod type_names;
pub(crate) mod wrappers;

pub use class::{Class, ClassShape, Lambda, StubMember};
pub use class_loading::{ClassTable, LoweringError};
pub use method_spec::{MethodSpec, SpecifiedMethod};
pub use touchstone_fixture_java::{ClassId, FieldRef, MethodRef};
