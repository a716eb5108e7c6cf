//! Tests of C: as C files (`suite.rs`, `body.rs`, `values.rs`, `form.rs`), as Test-Comp suites (`testcomp.rs`), compiled and run
//! (`compiler.rs`, `replay.rs`, `sandbox.rs`, `verdict.rs`).
//!
//! The files that write a test are one circle on purpose: a body has values, values have stubs, and stubs have bodies.

pub(crate) mod alone;
pub(crate) mod body;
pub(crate) mod build;
pub(crate) mod cache;
pub(crate) mod chunk;
pub(crate) mod comment;
pub(crate) mod compiler;
pub(crate) mod ctype;
mod earlier;
mod error_number;
pub(crate) mod flexible;
pub(crate) mod form;
pub(crate) mod kept;
pub(crate) mod literal;
pub(crate) mod makeable;
pub(crate) mod names;
pub(crate) mod once;
pub(crate) mod owned;
pub(crate) mod place;
pub(crate) mod preprocessed;
mod process;
pub(crate) mod projects;
pub(crate) mod replay;
pub(crate) mod row;
pub(crate) mod sandbox;
pub(crate) mod sanitizer;
pub(crate) mod stubs;
pub(crate) mod suite;
pub(crate) mod surroundings;
pub(crate) mod symbols;
pub(crate) mod testcomp;
pub(crate) mod through;
pub(crate) mod unchanged;
pub(crate) mod unwritable;
pub(crate) mod values;
pub(crate) mod variable;
pub(crate) mod verdict;
pub(crate) mod visibility;
