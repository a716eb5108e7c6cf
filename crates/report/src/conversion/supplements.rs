//! What a report can show beside the campaign.

use crate::document::Change;
use crate::document::existing_suites::KeptSuite;
use crate::document::form_suites::FormSuites;
use std::collections::BTreeSet;
use touchstone_criteria::DecisionTable;

/// What a report can show beside the campaign; by default nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extras {
    /// Truth tables of decisions, in the order in which they are to be shown.
    pub decisions: Vec<DecisionTable>,
    /// What nothing kept the replay from, as a sentence.
    pub sandbox: Option<String>,
    /// Suites that were there before.
    pub kept: Vec<KeptSuite>,
    /// What the suites of each form run.
    pub forms: Vec<FormSuites>,
    /// Functions of which an earlier run found what is said here.
    pub cached: BTreeSet<String>,
    /// What changed since an older version.
    pub change: Option<Change>,
}
