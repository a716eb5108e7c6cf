//! Execution: one instruction at a time in one state, whoever drives.
//!
//! `executor.rs` is the core, `step.rs` one instruction, `fork.rs` what happens where inputs decide; `ledger.rs` is what
//! an execution leaves out, `throw.rs` how calls end without a return, `c.rs` the builtins that only C has. Memory is in `access.rs`, `aliases.rs` and `pointer.rs`, what a program may do to a function
//! in `world.rs`, goals on the way in `watch.rs`. Folding (`fold.rs`) is a driver of its own, for
//! preconditions and for calls that are composed (`compose.rs`).
//!
//! These files are one circle on purpose: they are the parts of one `impl Executor`, and each calls the others.

pub(crate) mod access;
mod again;
pub(crate) mod aliases;
pub(crate) mod arith;
mod builtins;
mod c;
mod calls;
mod compose;
pub(crate) mod executor;
mod expression;
mod floats;
mod fold;
pub(crate) mod fork;
mod graph;
pub(crate) mod guide;
mod java;
pub(crate) mod layout;
pub(crate) mod ledger;
pub(crate) mod machines;
pub(crate) mod pointer;
mod shortage;
pub(crate) mod step;
mod throw;
pub(crate) mod used_globals;
mod watch;
pub(crate) mod world;
