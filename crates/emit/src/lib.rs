//! Test cases as readable C; compile, replay, compare.
//!
//! [`CSuite`] writes one C file a function as tests are found: after every [`CSuite::add`] the file is whole, so a run
//! that is killed leaves a usable suite. [`replay`] compiles the suite against the *unmodified* source, runs every test
//! in a process of its own and says for each whether the real program did what was predicted.
//!
//! A test file includes the source of the function under test, so static functions and private types are in reach, and
//! is linked with the program's other files and with a small runner (`runtime/touchstone_test.c`) that prints TAP.
//! Error paths are replayed in a second build with sanitizers, and the report that these print must name the predicted
//! kind of error and line.
//!
//! What is replayed is the user's code on inputs that nobody chose, so it runs in a sandbox ([`Sandbox`]).
//!
//! The same tests can be written for other frameworks ([`Form`]); what is replayed is always our own form.
//!
//! Deliberately not here: how inputs are found, and what is done with the verdicts.

#![warn(missing_docs)]

mod archive;
mod body;
mod chunk;
mod comment;
mod compiler;
mod ctype;
mod error;
mod flexible;
mod form;
mod literal;
mod makeable;
mod names;
mod place;
mod preprocessed;
mod replay;
mod row;
mod sandbox;
mod sanitizer;
mod sha256;
mod stubs;
mod suite;
mod surroundings;
mod symbols;
mod tap;
mod target;
mod testcomp;
mod values;
mod verdict;
mod visibility;

pub use ctype::parameter_list;
pub use error::EmitError;
pub use form::Form;
pub use makeable::unmakeable;
pub use preprocessed::Preprocessed;
pub use replay::{Replayed, replay};
pub use sandbox::{Layer, Sandbox};
pub use suite::CSuite;
pub use target::{ReplayLimits, Target, Unit};
pub use testcomp::TestCompSuite;
