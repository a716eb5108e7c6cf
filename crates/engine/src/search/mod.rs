//! Searches: every path or every goal (`explore.rs`), rounds for pairs (`pairs.rs`), the second look at what is open
//! (`wide.rs`), and why something can't be reached (`explain.rs`). Several calls are one function (`sequence.rs`).
//! A state that waits can go on elsewhere (`prefix.rs`), and waits as the way to it where many do (`parked.rs`) or memory
//! is scarce (`pressure.rs`). What comes next
//! is the frontier's business.

mod assumptions;
pub(crate) mod call_sequence;
mod environment_check;
pub(crate) mod events;
pub(crate) mod explanation;
mod exploration;
pub(crate) mod explore;
mod forking;
mod frontier;
pub(crate) mod independence_pairs;
mod memory_pressure;
mod parked_state;
pub(crate) mod path_following;
pub(crate) mod prefix;
pub(crate) mod search_result;
mod state_fingerprint;
mod test_emission;
