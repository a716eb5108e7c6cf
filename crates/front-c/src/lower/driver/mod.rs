//! The driver: source files and library models become one module.
//!
//! `files.rs` lowers all given files and links them, `library.rs` adds the models of library functions that they call, and
//! `translation.rs` runs clang on one text and lowers its declarations. `declaration_texts.rs` has declarations as text, for
//! code that is not lowered. There is no circle here.

pub(crate) mod declaration_texts;
pub(crate) mod files;
mod library;
mod translation;
