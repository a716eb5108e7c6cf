//! The program that the files are linked into, and what is around it.
//!
//! `program.rs` is the program so far; `models.rs` lists the models of the C library, `externals.rs` makes inputs of what
//! nobody defines, `described.rs` does what somebody says of it, `memory.rs` says what pointers may lead to, `startup.rs` lets constructors and destructors (`starter.rs`) run around `main`, `tidy.rs` drops what nothing mentions.
//!
//! No circle here; `startup.rs` is a part of `impl Program`.

pub(crate) mod described;
pub(crate) mod externals;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod program;
pub(crate) mod starter;
mod startup;
pub(crate) mod tidy;
