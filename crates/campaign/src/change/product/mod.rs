//! Product programs: an input on which both versions of a function differ observably, or a proof that none exists.
//!
//! `divergence.rs` decides. It runs both versions on the same inputs in the reference interpreter
//! (`differential_runs.rs`), and searches the product program (`product_program.rs`): one module with both versions
//! (`merged_module.rs`) and a driver that calls both and compares. `driver_builder.rs` builds the driver where the
//! versions share memory, `object_graphs.rs` where each version gets its own copy of all objects. `old_target.rs`
//! replays tests on the compiled old version. What only Java has is in `java.rs`.

mod differential_runs;
mod divergence;
mod driver_builder;
mod java;
mod merged_module;
mod object_graphs;
mod old_target;
mod product_program;

pub(crate) use divergence::{BehaviourComparison, compare};
pub(super) use old_target::OldTarget;
