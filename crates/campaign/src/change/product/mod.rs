//! Product programs.

mod differential_runs;
mod divergence;
mod driver_builder;
mod java;
mod merged_module;
mod object_graphs;
mod old_target;
mod product_program;

pub(crate) use divergence::compare;
pub(super) use old_target::OldTarget;
