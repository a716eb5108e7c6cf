//! Symbolic execution: states, memory, late aliases, search.
//!
//! [`explore`] follows every feasible path of a function and passes one test case for each to its [`Sink`]. Folders,
//! each using only those before it:
//!
//! - `state/`: symbolic states, memory, the trail of a path;
//! - `goals/`: open goals, distances to them;
//! - `exec/`: the execution of one instruction (`executor/`, `memory/`, `environment/`, `instructions/`, `compose/`);
//! - `confirm/`: concrete confirmation of inputs by the reference interpreter, test cases;
//! - `inputs/`: symbolic inputs, lazy initialisation;
//! - `vary/`: mutation-based test generation;
//! - `prover/`: proofs that no run reaches a goal;
//! - `search/`: the exploration of paths and goals.
//!
//! `config.rs` and `growth.rs` are plain data for all of them.
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
mod sequences;
mod state;
mod vary;

pub use config::{
    Aliases, Calls, Config, Entry, ExcludedChoice, InteriorPointers, Labels, PrivateGlobals, Rounds, Search,
    SearchOptions, SequenceStates, Summaries,
};
pub use confirm::call_session::CallSession;
pub use confirm::case::SummaryCase;
pub use confirm::concrete_run::{
    PROGRAM_NAME, program_arguments, run_function, run_program, watch_function, watch_kind, watch_program, watch_test,
};
pub use confirm::minimisation::{round_numbers, shorten_objects};
pub use confirm::mutants::mutants;
pub use confirm::run_record::EdgeRecording;
pub use confirm::run_record::{CallInputs, ConcreteRun, EvaluatedRow, RunObservation};
pub use exec::executor::machine_templates::MachineTemplates;
pub use growth::{Growth, Room, Shortage};
pub use inputs::globals::{GlobalFacts, global_inputs};
pub use inputs::object_api::ObjectApis;
pub use inputs::persistent_state::{private_state, state_changers};
pub use prover::prove_infeasible;
pub use search::explanation::{Conflict, Explanation, Fact, explain};
pub use search::explore::{explore, explore_further, explore_goals, explore_goals_after, explore_paths_and_goals};
pub use search::independence_pairs::{PairSearchInput, PairSearchResult, explore_pairs, rows_of};
pub use search::path_following::InvalidPrefix;
pub use search::prefix::{Prefix, PrefixInput, explore_from, explore_turns};
pub use search::search_events::{Progress, SearchEvent, Sink, TestFilter};
pub use search::search_result::{ExplorationResult, Goals, SearchTarget};
pub use sequences::call_sequence::{ConstructedObject, Sequence, SequenceCall, SequencePlan};
pub use sequences::construction_plan::{ConstructionPlan, construction_plans};
pub use state::trail::Choice;
pub use touchstone_interp::{AddressLayout, End, Limits, Startup, StartupOwner, Value};
pub use touchstone_solver::{LoggedQuery, QueryLog, Satisfiability, SmtScript};
pub use vary::constructed_heaps::heap_constructors;
pub use vary::mutation_search::{MutationGoals, MutationSearch, SeedPool};
pub use vary::random::RandomGenerator;
