//! Symbolic execution: states, memory, late aliases, search.
//!
//! [`explore`] follows every feasible path of a function and tells its [`Sink`] one test case for each. Entry points to
//! read the code from: `explore.rs` (the search), `step.rs` (one instruction), `access.rs` and `aliases.rs` (memory),
//! `inputs.rs` (what is unknown), `fold.rs` (preconditions and oracles), `testcase.rs` (from a path to a test).
//!
//! Deliberately not here: files, printing, any front end, any source language.

#![warn(missing_docs)]

mod access;
mod aliases;
mod assumptions;
mod builtins;
mod concrete;
mod config;
mod coverage;
mod executor;
mod explain;
mod explore;
mod flexible;
mod floats;
mod fold;
mod found;
mod frontier;
mod globals;
mod graph;
mod inputs;
mod memory;
mod pairs;
mod pointer;
mod prover;
mod reach;
mod start;
mod state;
mod step;
mod testcase;
mod value;
mod watcher;
mod wide;
mod world;

pub use concrete::{
    Call, ConcreteRun, Look, PROGRAM_NAME, SeenRow, program_arguments, run_function, run_program, watch_function,
    watch_program, watch_test,
};
pub use config::{Aliases, Config, Entry, Labels, Search};
pub use explain::{Conflict, Explanation, Fact, explain};
pub use explore::{Event, Progress, Sink, explore, explore_goals, explore_paths_and_goals};
pub use found::{Found, Goals};
pub use globals::global_inputs;
pub use pairs::{Before, PairsFound, distinct, explore_pairs, rows_of};
pub use prover::prove_infeasible;
