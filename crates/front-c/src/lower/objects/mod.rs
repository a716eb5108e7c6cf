//! Objects that need more than a load or a store.
//!
//! `aggregate.rs` lowers values of structure and union types, `vla.rs` variable-length arrays, `array_params.rs` array
//! parameters as declared, `variadic.rs` variable arguments, `volatile.rs` volatile objects and `atomic.rs` atomic
//! operations.
//!
//! There is no circle here.

mod aggregate;
pub(crate) mod array_params;
pub(crate) mod atomic;
mod variadic;
mod vla;
mod volatile;
