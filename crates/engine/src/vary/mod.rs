//! Variations: inputs of tests that are there, changed a little and run in the reference interpreter.
//!
//! Paths are the wrong way to what lies behind one hard question (a checksum, a division by an input, a sum of floats) or behind
//! very many easy ones. There a run costs next to nothing, and thousands of them are as cheap as one question. Whatever shows a
//! way through the program that no run took is varied further. Nothing here is a verdict: a test is kept because its run reaches
//! what is wished for, and a run that does not says nothing.
//!
//! Deliberately not here: choices that a user narrowed (ranges, lengths, whole programs; a precondition, unless objects have classes),
//! and calls before the one under test.

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
