//! Fragments of C that do not depend on a build: declarations of types, literals, identifiers, paths to subobjects, comments,
//! names of `errno` values, and the reasons for which something has no notation in C.

pub(crate) mod comment;
pub(crate) mod declarations;
pub(crate) mod errno;
pub(crate) mod limitation;
pub(crate) mod literal;
pub(crate) mod names;
pub(crate) mod subobject;
