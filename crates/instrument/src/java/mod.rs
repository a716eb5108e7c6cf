//! Java: probes in class files, state coverage and suggested assertions.
//!
//! The folders, each of which uses only those before it:
//!
//! - `probes`: maps the probes of a class to objectives; attaches the agent; weaves class files offline;
//! - `state`: interprets traces to compute state coverage;
//! - `suggest`: suggests assertions.
//!
//! The agent inserts probes into every class without its source (`touchstone-probes-java`), and saves the class. Here
//! the same layout is computed again and its probes are mapped to the objectives of the source: a path through a group
//! of jumps is a row of each decision in it. Predicates that only the source determines are passed to the agent as a
//! plan (`probes/mutant_predicates.rs`).
//!
//! Deliberately not here: where sources are, and how they are compiled (`touchstone_campaign`).

pub(crate) mod probes;
pub(crate) mod state;
pub(crate) mod suggest;
