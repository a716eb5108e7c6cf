//! State coverage: what a test changes, against what its assertions depend on (Nascimento and Vilain; Koster; Vanoverberghe).
//!
//! The technique is dynamic dependence. Probes around every read, write, call, return and condition (`c/state/`) leave a
//! trace of events with real addresses (`trace.rs`, `runtime/state.c`). `flow.rs` runs over the trace once: every update of
//! memory is a node that depends on the nodes that it was computed from and on those of the conditions that let it happen.
//! A test's assertions mark what they depend on; what a test changed last and no assertion marks is not covered
//! (`judge.rs`). `rules.rs` says which calls and macros are assertions, and which functions change or ask containers.
//!
//! Rules are applied when a trace is judged, not when a unit is compiled, so that other rules need no new run.

mod dependence_graph;
mod state_record;
mod state_rules;
mod suggested_assertion;
mod test_states;

pub(crate) use dependence_graph::{Deps, Graph, NONE, NodeId};
pub(crate) use state_record::{SiteArgument, SiteKind, StateEnd};
pub use state_record::{StateRecord, StateSite, StateTarget};
pub use state_rules::StateRules;
pub use suggested_assertion::{NoSuggestion, SourceInsertion, SuggestedAssertion, SuggestionOutcome};
pub use test_states::{ModifiedState, ObservedExpression, ObservedTestEnd, StateLocation, TestStateCoverage};
