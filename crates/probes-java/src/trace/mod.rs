//! Traces for state coverage: the events that a method records, and the code that records them.

pub mod emit_events;
pub(crate) mod events;
pub(crate) mod implied_events;
