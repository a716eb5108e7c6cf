//! The program that the files are linked into, and what is around it.
//!
//! `program.rs` is the program so far; `models.rs` lists the models of the C library, `externals.rs` makes inputs of what
//! nobody defines, `startup.rs` is what runs around `main`, `tidy.rs` drops what nothing mentions.
//!
//! `program.rs` and `startup.rs` know each other: a program keeps its constructors, and calls them when it is finished.

pub(crate) mod externals;
pub(crate) mod models;
pub(crate) mod program;
pub(crate) mod startup;
pub(crate) mod tidy;
