//! Truth tables of decisions, as a part of the document.

use crate::document::name::Name;
use crate::document::objectives::ReportedRange;
use serde::{Deserialize, Serialize};

/// The truth table of a decision. Conditions and rows are numbered from 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The enclosing function.
    pub function: String,
    /// The source range.
    #[serde(flatten)]
    pub at: ReportedRange,
    /// The source text.
    pub text: String,
    /// Its conditions, in evaluation order.
    pub conditions: Vec<Condition>,
    /// The evaluated rows.
    pub rows: Vec<ReportedRow>,
    /// Rows that would show what no evaluated row shows; no test has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<ReportedRow>,
    /// Independence pairs among the rows.
    pub pairs: Vec<Pair>,
    /// The number of pairs that were found and are not listed.
    pub pairs_left_out: usize,
    /// The search for unique-cause pairs.
    #[serde(default)]
    pub pair_search: ReportedPairSearch,
    /// The variant of the code that it belongs to, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl Decision {
    /// Returns the number of condition values that were shown, and the number of all.
    pub fn shown(&self) -> (usize, usize) {
        let sides = self.conditions.iter().flat_map(|condition| [&condition.r#true, &condition.r#false]);
        (sides.filter(|side| side.status == SideStatus::Shown).count(), 2 * self.conditions.len())
    }

    /// Returns the first pair of a condition of this kind.
    pub fn pair(&self, condition: usize, kind: PairKind) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.condition == condition && pair.kind == kind)
    }

    /// Returns true if every condition was shown with both values, and by a pair of rows with different outcomes.
    pub fn is_complete(&self) -> bool {
        let (shown, all) = self.shown();
        let is_paired = |condition| self.pairs.iter().any(|pair| pair.condition == condition);
        shown == all && (0..self.conditions.len()).all(is_paired)
    }

    /// Returns true if every condition has a unique-cause pair.
    pub fn is_unique_cause_complete(&self) -> bool {
        (0..self.conditions.len()).all(|condition| self.pair(condition, PairKind::UniqueCause).is_some())
    }
}

/// The result of the search for unique-cause pairs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ReportedPairSearch {
    /// The status word.
    pub status: SearchStatus,
    /// The reason why the search was stopped.
    pub why: Option<String>,
    /// The stable word for the reason; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The status of the search for unique-cause pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SearchStatus {
    #[default]
    NotAsked,
    Finished,
    Stopped,
}

/// A condition of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// The source text.
    pub text: String,
    /// The source range.
    #[serde(flatten)]
    pub at: ReportedRange,
    /// The verdict for the value true: whether it independently affects the outcome.
    pub r#true: ConditionVerdict,
    /// The verdict for the value false.
    pub r#false: ConditionVerdict,
}

/// The verdict for one value of a condition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ConditionVerdict {
    /// The status word.
    pub status: SideStatus,
    /// The proof or the reason.
    pub why: Option<String>,
    /// The stable word for the reason; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The status of one value of a condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideStatus {
    /// A row shows that it independently affects the outcome.
    Shown,
    /// No test can show it.
    Infeasible,
    /// Neither a row nor a proof was found.
    Unknown,
    /// No row shows it; feasibility was not examined.
    NotShown,
}

/// A distinct evaluation of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedRow {
    /// The value of each condition; null if it was not evaluated.
    pub values: Vec<Option<bool>>,
    /// The outcome.
    pub result: bool,
    /// The conditions that are not masked.
    pub shows: Vec<usize>,
    /// The tests that evaluated it.
    pub tests: Vec<Name>,
}

/// An independence pair: two rows that show that a condition affects the outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The condition.
    pub condition: usize,
    /// `unique_cause` or `masking`.
    pub kind: PairKind,
    /// The rows.
    pub rows: [usize; 2],
}

/// The kind of an independence pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum PairKind {
    UniqueCause,
    Masking,
}
