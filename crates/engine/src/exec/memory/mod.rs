//! Memory accesses of a state.

pub(crate) mod access;
mod default_length;
pub(crate) mod late_aliases;
pub(crate) mod object_layout;
pub(crate) mod pointer;
