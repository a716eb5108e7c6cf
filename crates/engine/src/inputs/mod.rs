//! Inputs of the function under test: everything that is unknown when it is called, and what it requests while it runs.
//!
//! `initial_states.rs` creates the states that a run can start in, from `globals.rs` and `arguments.rs`, with fresh
//! variables (`cells.rs`). Pointers are materialised at their first dereference (`materialisation.rs`); the class and
//! the length of their pointees stay symbolic longer (`tagged_objects.rs`, `counted_objects.rs`, `flexible_arrays.rs`), later
//! rounds lengthen them (`../growth.rs`) or add interior pointers (`interior_pointers.rs`). `requests.rs` holds the
//! requests of a program, `external_effects.rs` the writes of external functions, `persistent_state.rs` the state that
//! calls leave for later ones, `object_api.rs` the functions that construct objects, `unions.rs` unions, `variadic_arguments.rs` variadic arguments, `device_registers.rs`
//! memory at constant addresses.

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
pub(crate) mod object_api;
pub(crate) mod persistent_state;
mod requests;
mod tagged_objects;
mod unions;
mod variadic_arguments;

/// The maximum size of an input object in bytes.
pub(crate) const MAX_INPUT_OBJECT_BYTES: u64 = 1 << 20;
