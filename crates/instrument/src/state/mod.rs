//! State coverage: the state that a test modifies, compared with the state that its assertions depend on (Nascimento
//! and Vilain; Koster; Vanoverberghe; checked coverage by Schuler and Zeller).
//!
//! The technique is a dynamic backward slice. A trace yields a graph of dynamic data and control dependences
//! (`dependence_graph.rs`): every update of memory is a node that depends on the nodes that it was computed from, and
//! on the conditions that it was executed under. The assertions of a test are the slicing criterion. State is covered
//! if the last update of it is in the slice (`test_states.rs`). For other state an assertion may be suggested
//! (`suggested_assertion.rs`).
//!
//! `state_rules.rs` decides which calls and macros are assertions, and which functions modify or query containers.
//! Rules are applied when a trace is evaluated and not when a unit is compiled, so a change of the rules needs no new
//! run.
//!
//! Deliberately not here: traces, and how a graph is built from them (`c/state/`, `java/state/`).

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
