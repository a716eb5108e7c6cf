//! Events of state coverage in the text of a unit. What they mean is in `crate::state`.

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
