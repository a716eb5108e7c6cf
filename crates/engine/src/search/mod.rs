//! Searches.
//!
//! `explore.rs` is the interface: an exploration for all paths or all goals, which reports `search_events.rs` and returns a
//! `search_result.rs`. `exploration.rs` holds the state of an exploration with its `frontier.rs`; `forking.rs` executes
//! and forks states, `test_emission.rs` turns reached goals and ended paths into tests; these three are parts of one
//! `impl Exploration`. `independence_pairs.rs` adds rounds for MC/DC, `environment_check.rs` repeats a search in an
//! unrestricted environment, `explanation.rs` finds the conditions that exclude a goal, `assumptions.rs` lists what
//! a result rests on.
//!
//! A waiting state can be continued elsewhere from its prefix (`prefix.rs`, `path_following.rs`,
//! `state_fingerprint.rs`); if there are many (`parked_state.rs`) or memory is scarce (`memory_pressure.rs`), only the
//! prefix is kept. A long exploration goes on in `exploration_rounds.rs`, whose `batch.rs` other cores explore.

mod assumptions;
mod batch;
mod environment_check;
pub(crate) mod explanation;
mod exploration;
mod exploration_rounds;
pub(crate) mod explore;
mod forking;
mod frontier;
pub(crate) mod independence_pairs;
mod memory_pressure;
mod parked_state;
pub(crate) mod path_following;
pub(crate) mod prefix;
pub(crate) mod search_events;
pub(crate) mod search_result;
mod state_fingerprint;
mod test_emission;
