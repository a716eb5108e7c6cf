//! Truth tables of decisions, as a part of the document.

use crate::document::name::Name;
use crate::document::objectives::Stretch;
use serde::{Deserialize, Serialize};

/// The truth table of a decision. Conditions and rows are named by their position, from 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The function it stands in.
    pub function: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// Its text.
    pub text: String,
    /// Its conditions, in evaluation order.
    pub conditions: Vec<Condition>,
    /// The rows that were seen.
    pub rows: Vec<ReportedRow>,
    /// Rows that would show what none of them shows; no test has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<ReportedRow>,
    /// Independence pairs among the rows.
    pub pairs: Vec<Pair>,
    /// Pairs that were found and are not listed.
    pub pairs_left_out: usize,
    /// The search for unique-cause pairs.
    #[serde(default)]
    pub pair_search: PairSearch,
    /// Which variant of the code it belongs to, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl Decision {
    /// How many of the conditions' values are shown, and how many there are.
    pub fn shown(&self) -> (usize, usize) {
        let sides = self.conditions.iter().flat_map(|condition| [&condition.r#true, &condition.r#false]);
        (sides.filter(|side| side.status == SideStatus::Shown).count(), 2 * self.conditions.len())
    }

    /// The first pair of a condition in this sense.
    pub fn pair(&self, condition: usize, kind: PairKind) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.condition == condition && pair.kind == kind)
    }

    /// Whether every condition is shown with both values, and by a pair of rows with different outcomes.
    pub fn is_complete(&self) -> bool {
        let (shown, all) = self.shown();
        let is_paired = |condition| self.pairs.iter().any(|pair| pair.condition == condition);
        shown == all && (0..self.conditions.len()).all(is_paired)
    }

    /// Whether every condition has a unique-cause pair.
    pub fn is_unique_cause_complete(&self) -> bool {
        (0..self.conditions.len()).all(|condition| self.pair(condition, PairKind::UniqueCause).is_some())
    }
}

/// How the search for unique-cause pairs ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PairSearch {
    /// In one word.
    pub status: SearchStatus,
    /// Why it was stopped.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How the search for unique-cause pairs ended, in one word.
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
    /// Its text.
    pub text: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// What is known of it deciding when true.
    pub r#true: Side,
    /// What is known of it deciding when false.
    pub r#false: Side,
}

/// What is known of a condition deciding with a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Side {
    /// In one word.
    pub status: SideStatus,
    /// How that is known, or why it isn't.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is known of a condition deciding with a value, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideStatus {
    /// Some row shows it.
    Shown,
    /// No test can show it.
    Infeasible,
    /// Not known whether one can.
    Unknown,
    /// No row shows it; nothing more was asked.
    NotShown,
}

/// A distinct evaluation of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedRow {
    /// One a condition; null where it was not evaluated.
    pub values: Vec<Option<bool>>,
    /// The outcome.
    pub result: bool,
    /// The conditions that are not masked.
    pub shows: Vec<usize>,
    /// The tests that evaluated it.
    pub tests: Vec<Name>,
}

/// Two rows that show together that a condition matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The condition.
    pub condition: usize,
    /// `unique_cause` or `masking`.
    pub kind: PairKind,
    /// The rows.
    pub rows: [usize; 2],
}

/// In which sense two rows are a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum PairKind {
    UniqueCause,
    Masking,
}
