//! Searches: every path or every goal (`explore.rs`), rounds for pairs (`pairs.rs`), the second look at what is open
//! (`wide.rs`), and why something can't be reached (`explain.rs`). Several calls are one function (`sequence.rs`).
//! A state that waits can go on elsewhere (`prefix.rs`), and waits as the way to it where many do (`parked.rs`) or memory
//! is scarce (`pressure.rs`). What comes next
//! is the frontier's business.

mod assumptions;
pub(crate) mod explain;
pub(crate) mod explore;
mod fingerprint;
pub(crate) mod found;
mod frontier;
pub(crate) mod pairs;
mod parked;
pub(crate) mod prefix;
mod pressure;
pub(crate) mod sequence;
mod wide;
