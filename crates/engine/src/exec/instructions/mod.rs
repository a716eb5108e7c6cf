//! Instructions of symbolic execution.
//!
//! `step.rs` dispatches an instruction and `fork.rs` takes an outcome where inputs decide; these two call each other,
//! since an outcome is taken by a step and a step returns a fork. `constant_run.rs` executes many instructions over
//! constants at once. The others implement groups of instructions:
//! `arith.rs`, `floats.rs`, `expression.rs` (predicates of labels), `calls.rs`, `throw.rs`, `builtins.rs` with `c.rs`
//! and `java.rs`. `loop_bounds.rs` and `deduplication.rs` end paths early, `goal_detection.rs` reports the goals that a
//! step reaches.

pub(crate) mod arith;
mod builtins;
mod c;
mod calls;
mod constant_run;
mod deduplication;
mod expression;
mod floats;
pub(crate) mod fork;
mod goal_detection;
mod java;
mod loop_bounds;
pub(crate) mod step;
mod throw;
