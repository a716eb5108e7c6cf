//! The driver: source files and library models become one module.
//!
//! `files.rs` lowers all given files and links them, `library.rs` adds the models of library functions that they call, and
//! `translation.rs` runs clang on one text and lowers its declarations. There is no circle here.

pub(crate) mod files;
mod library;
mod translation;
