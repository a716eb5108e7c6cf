//! The classes of a program: loaded by name when they are first needed, with their hierarchy, layouts and members.

mod class;
mod described;
mod hierarchy;
mod loading;

pub use class::{Class, Lambda, Shape, StubMember};
pub use described::{DescribedMethod, SpokenOf};
pub use loading::{BOX_HIDDEN, BOXES, Classes, HANDLE_HIDDEN, MIRROR_HIDDEN, Refusal};
pub use touchstone_fixture_java::{ClassId, FieldRef, MethodRef};

/// Where every object has its class.
pub const CLASS_WORD: i64 = 0;
/// Where every object has its identity hash; zero before anybody asked for it.
pub const HASH_WORD: i64 = 4;
/// Where an array has its length.
pub const ARRAY_LENGTH: i64 = 8;
/// Where the elements of an array begin.
pub const ARRAY_BASE: i64 = 16;
/// Where fields begin.
pub const FIELDS: u64 = 8;
