//! The record of a unit: what each of its probes means. Written when a unit is compiled, read when hits are judged.

use super::probe_obstacle::ProbeObstacle;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_criteria::Row;
use touchstone_ir::CondId;

/// Version of the record; a reader of another one refuses.
pub const RECORD_VERSION: u32 = 4;

/// What the probes of one compiled unit mean.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnitRecord {
    /// Version of this form.
    pub version: u32,
    /// The unit's identity, in hexadecimal: it stands in every hit file, too.
    pub unit: String,
    /// The source file, absolute.
    pub file: String,
    /// Bytes of probes.
    pub size: u32,
    /// All files that places refer to; the first is the source file.
    pub files: Vec<String>,
    /// All functions that have objectives: where they stand.
    pub functions: Vec<(String, SourceRange)>,
    /// All objectives of the unit.
    pub objectives: Vec<ProbedObjective>,
    /// All decisions whose rows are probed.
    pub decisions: Vec<ProbedDecision>,
    /// Probes that stand nowhere, and those of which any says the same; these may have been in the list before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implied: Vec<(u32, Vec<u32>)>,
    /// What each function does ([`touchstone_ir::Module::meaning`], in hexadecimal): it tells the variants of one source apart.
    #[serde(default)]
    pub meanings: BTreeMap<String, String>,
    /// The macros that the command defined or undefined.
    #[serde(default)]
    pub macros: Vec<String>,
    /// By file: what its text was when it was compiled; empty where no function stands in it.
    #[serde(default)]
    pub texts: Vec<String>,
    /// Lines that come from elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<super::line_directives::LineDirective>,
    /// What its probes keep.
    #[serde(default)]
    pub keeps: ProbeStorage,
    /// Functions that have no probes, and why.
    pub untouched: Vec<(String, ProbeObstacle)>,
    /// What its events mean, if its state is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<crate::state::StateRecord>,
    /// Why its state is not followed although that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_state: Option<ProbeObstacle>,
}

impl UnitRecord {
    /// Writes it to a directory of units.
    pub fn write(&self, units: &std::path::Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        touchstone_base::write_atomically(&units.join(format!("{}.json", self.unit)), text)
    }

    /// Whether something has no probe because its two readings differ.
    pub(crate) fn differs(&self) -> bool {
        let different = |why: &ProbeObstacle| *why == ProbeObstacle::DifferentCode;
        self.untouched.iter().any(|(_, why)| different(why))
            || self.objectives.iter().filter_map(|objective| objective.not_placed.as_ref()).any(different)
    }
}

impl UnitRecord {
    /// Keeps what the texts are that functions stand in.
    pub(crate) fn keep_texts(&mut self) {
        let used: BTreeSet<u32> = self.functions.iter().map(|(_, place)| place.file).collect();
        let text = |(index, file): (usize, &String)| {
            if used.contains(&(index as u32)) { text_now(file).unwrap_or_default() } else { String::new() }
        };
        self.texts = self.files.iter().enumerate().map(text).collect();
    }
}

/// What a file's text is now; `None` if it is not there.
pub(crate) fn text_now(file: &str) -> Option<String> {
    Some(format!("{:016x}", touchstone_base::stable_hash(&std::fs::read(file).ok()?)))
}

/// What a probe keeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeStorage {
    /// Whether it was hit: one byte.
    #[default]
    Hits,
    /// How often it was hit: eight bytes, the lowest first.
    Counts,
}

impl ProbeStorage {
    /// Bytes of a probe.
    pub fn bytes(self) -> u32 {
        match self {
            ProbeStorage::Hits => 1,
            ProbeStorage::Counts => 8,
        }
    }
}

/// A place in a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceRange {
    /// Position in [`UnitRecord::files`].
    pub file: u32,
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the end.
    pub end_column: u32,
}

/// An objective and the probes that cover it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedObjective {
    /// Its id, as everywhere.
    pub id: String,
    /// Criterion.
    pub criterion: String,
    /// Function.
    pub function: String,
    /// Where.
    pub place: SourceRange,
    /// What it asks.
    pub text: String,
    /// No run can cover it: the compiler folds it.
    pub constant: bool,
    /// Any of these probes covers it.
    pub probes: Vec<u32>,
    /// Why it has no probe.
    pub not_placed: Option<ProbeObstacle>,
}

/// A decision and the probes of its rows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedDecision {
    /// Function.
    pub function: String,
    /// Position among the function's decisions.
    pub decision: u32,
    /// Where.
    pub place: SourceRange,
    /// Source text.
    pub text: String,
    /// Conditions: where, and their text.
    pub conditions: Vec<(SourceRange, String)>,
    /// The rows, by number.
    pub rows: Vec<ProbedRow>,
    /// The probe of the first row; the others follow.
    pub first: u32,
}

/// One evaluation of a decision: the outcomes of its conditions in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedRow {
    /// Condition and outcome.
    pub outcomes: Vec<(u32, bool)>,
    /// Those that were not masked.
    pub independent: Vec<(u32, bool)>,
    /// The decision's outcome.
    pub result: bool,
}

impl ProbedRow {
    /// The row.
    pub fn row(&self) -> Row {
        let list = |from: &[(u32, bool)]| from.iter().map(|(c, value)| (CondId::new(*c as usize), *value)).collect();
        Row { outcomes: list(&self.outcomes), independent: list(&self.independent), result: self.result }
    }
}
