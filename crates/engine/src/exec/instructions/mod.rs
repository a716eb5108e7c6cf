//! Instructions.

pub(crate) mod arith;
mod builtins;
mod c;
mod calls;
mod deduplication;
mod expression;
mod floats;
pub(crate) mod fork;
mod goal_detection;
mod java;
mod loop_bounds;
pub(crate) mod step;
mod throw;
