//! Symbolic execution: states, memory, late aliases, search.
//!
//! [`explore`] follows every feasible path of a function and tells its [`Sink`] one test case for each. Folders, each
//! using only those before it: `state/` (what a path knows), `goals/` (what is wanted), `exec/` (one step), `inputs/` (what
//! is unknown), `confirm/` (from inputs to a test), `vary/` (tests that are changed a little), `prover/` (what no run reaches), `search/` (which paths are followed).
//!
//! Deliberately not here: files, printing, any front end, any source language.

#![warn(missing_docs)]

mod config;
mod confirm;
mod exec;
mod goals;
mod growth;
mod inputs;
mod prover;
mod search;
mod state;
mod vary;

pub use config::{Aliases, Calls, Config, Entry, GoingOn, Labels, NotTaken, Parts, Privates, Search, Summaries};
pub use confirm::case::Case;
pub use confirm::concrete::{
    Call, ConcreteRun, Look, PROGRAM_NAME, SeenRow, program_arguments, run_function, run_program, watch_function,
    watch_kind, watch_program, watch_test,
};
pub use confirm::following::Following;
pub use confirm::mutants::mutants;
pub use confirm::rounding::{round_numbers, shorten_objects};
pub use confirm::watcher::Ways;
pub use exec::executor::machine_templates::Machines;
pub use growth::{Growth, Room, Shortage};
pub use inputs::globals::{GlobalFacts, global_inputs};
pub use inputs::kept::changers;
pub use prover::prove_infeasible;
pub use search::explain::{Conflict, Explanation, Fact, explain};
pub use search::explore::{
    Event, Progress, Sink, explore, explore_further, explore_goals, explore_goals_after, explore_paths_and_goals,
};
pub use search::found::{Found, Goals, Wanted};
pub use search::pairs::{Before, PairsFound, distinct, explore_pairs, rows_of};
pub use search::prefix::{LostPrefix, Prefix, PrefixInput, explore_from, explore_turns};
pub use search::sequence::{Sequence, SequenceCall, Sequencing};
pub use state::trail::Choice;
pub use touchstone_interp::{End, Layout, Limits, Starting, Value, Whose};
pub use vary::heaps::builders;
pub use vary::hints::Chance;
pub use vary::{Pool, Variation, Wishes};
