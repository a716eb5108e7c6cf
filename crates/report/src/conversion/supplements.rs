//! The parts of a document that are not in the campaign.

use crate::document::Change;
use crate::document::existing_suites::ReportedSuite;
use crate::document::form_suites::FormSuites;
use std::collections::BTreeSet;
use touchstone_criteria::DecisionTable;

/// The parts of a document that are not in the campaign; empty by default.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Supplements {
    /// Truth tables of decisions, in display order.
    pub decisions: Vec<DecisionTable>,
    /// The protection that the replay lacked, as a sentence.
    pub sandbox: Option<String>,
    /// Suites that existed before the run.
    pub kept: Vec<ReportedSuite>,
    /// The emitted suites of each form.
    pub forms: Vec<FormSuites>,
    /// Functions with results of an earlier run.
    pub cached: BTreeSet<String>,
    /// The change since an older version.
    pub change: Option<Change>,
}
