//! TODO

pub(crate) mod comment;
pub(crate) mod ctype;
pub(crate) mod errno;
pub(crate) mod limitation;
pub(crate) mod literal;
pub(crate) mod names;
pub(crate) mod subobject;
