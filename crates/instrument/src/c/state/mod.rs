//! State coverage of C: the probes that record events, and the evaluation of traces.
//!
//! Probes around every read, write, call, return and condition (`state_probes.rs`) record events with addresses
//! (`event_trace.rs`, `runtime/state.c`). `dependence/` reads the events once and builds a dynamic dependence graph.
//! `trace_evaluation.rs` computes the state that each test modified and the slice of its assertions.

mod dependence;
mod event_trace;
mod library_effects;
mod state_probes;
mod state_targets;
mod trace_evaluation;
mod uninstrumented_copy;

pub(crate) use event_trace::EventTrace;
pub(crate) use state_probes::{DECLARATIONS, StateProbeRequest, insert_state_probes};
pub use state_targets::{LocatedStateTarget, state_targets};
pub(crate) use trace_evaluation::{TraceEvaluation, evaluate_traces};
pub(crate) use uninstrumented_copy::UninstrumentedCopies;
