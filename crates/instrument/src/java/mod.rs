//! Java: what the probes of a class mean, once its source is known.
//!
//! The agent gives every class probes without knowing its source (`touchstone-probes-java`), and keeps the class. Here the
//! same layout is found out again, and its probes are given to the objectives that every verb has: a way through a group of jumps is
//! a row of each decision inside of it. `state/` follows what methods told, `suggest/` writes the assertions that are missing. What
//! only the source knows is asked for by a plan that the agent is told (`mutants.rs`).
//!
//! Deliberately not here: where sources are, and how they are compiled (a campaign's).

pub(crate) mod probes;
pub(crate) mod state;
pub(crate) mod suggest;
