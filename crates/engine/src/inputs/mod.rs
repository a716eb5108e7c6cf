//! Inputs of the function under test: what is unknown when it is called, and what it asks for on the way.
//!
//! `start.rs` makes the states that a run can start in: of `globals.rs` and `arguments.rs`, out of fresh variables (`cells.rs`).
//! Pointers are decided when first looked at (`shapes.rs`); the class and the length of what they lead to stay open longer
//! (`variants.rs`, `counted.rs`), and later rounds give them more (`../growth.rs`), or lead them into parts of each other (`parts.rs`). What a program asks for is in `requests.rs`,
//! what calls leave for later ones in `kept.rs`, unions are in `unions.rs`, variable arguments in `variable.rs`, and what is at addresses that are numbers in
//! `registers.rs`.

mod arguments;
mod cells;
mod counted_objects;
mod device_registers;
mod external_effects;
mod flexible_arrays;
pub(crate) mod globals;
mod initial_states;
mod interior_pointers;
mod materialisation;
pub(crate) mod persistent_state;
mod requests;
mod unions;
mod variadic_arguments;
mod variants;

/// An object that is an input has at most so many bytes.
pub(crate) const MAX_INPUT_OBJECT_BYTES: u64 = 1 << 20;
