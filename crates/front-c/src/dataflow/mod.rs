//! Data flow of a preprocessed text, for the probes of state coverage: no IR, only source ranges.
//!
//! `c_unit.rs` analyses a translation unit of C, `cxx_tests.rs` the tests in one of C++; both traverse bodies with
//! `body_walk.rs`. `actions.rs` defines the result, which refers to no AST node. `observable_state.rs` finds the state that
//! can be read where a function returns, `object_names.rs` names objects for messages, `ast_walk.rs` reads and traverses
//! ASTs. `hazards.rs` finds divisions and memory accesses that can fail.
//!
//! `body_walk.rs` and `cxx_tests.rs` use each other: the bodies of C++ tests are C except for a few kinds of nodes, which
//! `cxx_tests.rs` handles.

pub(crate) mod actions;
mod ast_walk;
pub(crate) mod body_walk;
pub(crate) mod c_unit;
pub(crate) mod cxx_tests;
pub(crate) mod hazards;
mod object_names;
mod observable_state;
