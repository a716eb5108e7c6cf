//! The stages of a campaign.

pub(crate) mod call_sequences;
pub(crate) mod conclude;
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
