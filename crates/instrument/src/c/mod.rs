//! C: labels and probes in C sources, the compiler wrapper, state coverage and suggested assertions.
//!
//! The folders, each of which uses only those before it:
//!
//! - `text`: tokens, statements and insertions of a C text;
//! - `annotate`: objectives as labels in the user's text, and the placement of labels, which probes share;
//! - `state`: probes and traces of state coverage;
//! - `probes`: probes in preprocessed text, and the runtime that goes with them;
//! - `wrapper`: the compiler wrapper, which instruments the sources of a build;
//! - `suggest`: suggests assertions.

pub(crate) mod annotate;
pub(crate) mod probes;
pub(crate) mod state;
pub(crate) mod suggest;
pub(crate) mod text;
pub(crate) mod wrapper;
