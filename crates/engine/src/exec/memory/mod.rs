//! Memory accesses of a state, each file using only those before it: objects by type (`object_layout.rs`), input
//! objects of default length (`default_length.rs`), symbolic offsets (`late_aliases.rs`), loads and stores
//! (`access.rs`), pointer arithmetic (`pointer.rs`).

pub(crate) mod access;
mod default_length;
pub(crate) mod late_aliases;
pub(crate) mod object_layout;
pub(crate) mod pointer;
