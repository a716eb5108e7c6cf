//! The stages that every function passes through.
//!
//! - `explore.rs`: symbolic execution for the goals, with rounds (`rounds.rs`) that re-run earlier inputs (`rerun.rs`),
//!   vary tests (`vary.rs`), let objects grow (`grow.rs`), try sequences of calls (`call_sequences.rs`), objects that
//!   calls construct (`constructed_objects.rs`) and symbolic heaps (`symbolic_heaps.rs`);
//! - `reduce.rs`: the smallest suite with the same coverage, as determined in `test_coverage.rs`; `observers/`:
//!   assertions besides the result;
//! - `conclude.rs`: proofs and verdicts; `discover.rs` runs everything up to here;
//! - `existing_suites.rs`, `naming.rs`, `emit.rs`, `sink.rs`: suites that exist, names of tests, test files;
//! - `replay/`: replay, and the run with probes that confirms coverage;
//! - `decision_tables.rs`, `results.rs`, `progress.rs`: truth tables, the result of the campaign, progress reports.

pub(crate) mod call_sequences;
pub(crate) mod conclude;
mod constructed_objects;
pub(crate) mod decision_tables;
pub(crate) mod discover;
pub(crate) mod emit;
pub(crate) mod existing_suites;
pub(crate) mod explore;
pub(crate) mod grow;
pub(crate) mod naming;
mod observers;
pub(crate) mod progress;
mod reduce;
pub(crate) mod replay;
mod rerun;
pub(crate) mod results;
pub(crate) mod rounds;
pub(crate) mod sink;
mod symbolic_heaps;
pub(crate) mod test_coverage;
mod vary;
