//! Traces for state coverage: the events that a method records, and the code that records them.
//!
//! One circle: `events.rs` and `implied_events.rs`. A traced method records no event that another event implies, and
//! implication is a relation of events.

pub mod emit_events;
pub(crate) mod events;
pub(crate) mod implied_events;
