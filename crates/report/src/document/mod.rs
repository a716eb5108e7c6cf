//! The document: the result of a run as plain data, which every renderer reads and which the JSON form serialises.
//!
//! It needs neither the program's IR nor its sources, so that a stored document can be rendered again at any time. Keys have
//! the order of the structures here, never that of a hash map. Keys may be added; a key that changes its meaning or is
//! removed increments [`touchstone_criteria::SCHEMA_VERSION`].
//!
//! `run_document.rs` is the root; `objectives.rs`, `decision_tables.rs`, `test_results.rs`, `version_change.rs`,
//! `existing_suites.rs`, `form_suites.rs` and `suggestions.rs` are its parts; `name.rs` interns names; `stored_form.rs` is the
//! compact form that is kept for later reports. `run_document.rs` and `stored_form.rs` use each other: parsing accepts both
//! forms.
//!
//! Deliberately not here: the conversion of a campaign (`conversion/`), and figures (`analysis/`).

mod decision_tables;
pub(crate) mod existing_suites;
pub(crate) mod form_suites;
pub(crate) mod name;
mod objectives;
mod run_document;
mod stored_form;
pub(crate) mod suggestions;
mod test_results;
mod version_change;

pub use decision_tables::{
    Condition, ConditionVerdict, Decision, Pair, PairKind, ReportedPairSearch, ReportedRow, SearchStatus, SideStatus,
};
pub use objectives::{
    Assumption, Counts, IncompletePaths, NOT_MEASURED, Objective, Paths, Position, ReportedFunction, ReportedRange,
    SolverUsage, Verdict,
};
pub use run_document::{Document, Excludes, Exclusion, NoDocument, SourceFile};
pub(crate) use test_results::given;
pub use test_results::{EarlierCall, Json, MEASURED, ON_ANY_HEAP, Replay, ReportedUpdate, Test, TestError, TestState};
pub use version_change::{Behaviour, Change, ChangedFunction};
