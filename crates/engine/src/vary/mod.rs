//! Mutation-based test generation: inputs of existing tests are mutated and run in the reference interpreter.
//!
//! `mutation_search.rs` is the search; candidates (`candidate.rs`) come from tests, from repaired inputs
//! (`input_repair.rs`), from heaps that functions of the program construct (`constructed_heaps.rs`,
//! `heap_snapshot.rs`), and from mutation (`mutation.rs`; `class_mutation.rs` for objects with classes,
//! `variadic_mutation.rs` for variadic arguments) with a dictionary of the program's constants (`dictionary.rs`) and a
//! random generator (`random.rs`). `read_parameters.rs` finds the parameters worth mutating.
//!
//! `mutation.rs` and `class_mutation.rs` call each other: the latter implements the former for modules with classes.

mod candidate;
mod class_mutation;
pub(crate) mod constructed_heaps;
pub(crate) mod dictionary;
mod heap_snapshot;
mod input_repair;
mod mutation;
pub(crate) mod mutation_search;
pub(crate) mod random;
mod read_parameters;
mod variadic_mutation;
