//! Observers: assertions of Java tests besides the result of the call. `selection.rs` chooses them, by running tests
//! and mutants in the reference interpreter (`observation.rs`).

mod observation;
mod selection;

pub(super) use selection::add_observers;
