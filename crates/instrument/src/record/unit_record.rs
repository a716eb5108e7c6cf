//! The record of an instrumented unit: maps each probe to the objectives that it covers. It is written when the unit is
//! compiled, and read when hits are evaluated.

use super::probe_obstacle::ProbeObstacle;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_criteria::Row;
use touchstone_ir::CondId;

/// The version of the record format. Records of other versions are rejected.
pub const RECORD_VERSION: u32 = 4;

/// The meaning of the probes of one instrumented unit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnitRecord {
    /// The version of the format.
    pub version: u32,
    /// The identity of the unit, in hexadecimal; hit files contain the same number.
    pub unit: String,
    /// The source file, as an absolute path.
    pub file: String,
    /// The number of probes.
    pub size: u32,
    /// The files that source ranges refer to; the first is the source file.
    pub files: Vec<String>,
    /// The functions with objectives, and their source ranges.
    pub functions: Vec<(String, SourceRange)>,
    /// The objectives of the unit.
    pub objectives: Vec<ProbedObjective>,
    /// The decisions with a probe for each row.
    pub decisions: Vec<ProbedDecision>,
    /// Probes without a statement of their own, and the probes that imply them. Each of the latter may be implied by
    /// earlier entries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implied: Vec<(u32, Vec<u32>)>,
    /// The semantic hash of each function ([`touchstone_ir::Module::meaning`], in hexadecimal). It distinguishes
    /// variants of one source.
    #[serde(default)]
    pub meanings: BTreeMap<String, String>,
    /// The macros that the command line defined or undefined, as flags.
    #[serde(default)]
    pub macros: Vec<String>,
    /// For each file, the hash of its text at compile time, or an empty string if it contains no function.
    #[serde(default)]
    pub texts: Vec<String>,
    /// The `#line` directives of files that contain functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<super::line_directives::LineDirective>,
    /// The content of a probe.
    #[serde(default)]
    pub keeps: ProbeStorage,
    /// The functions without probes, and the obstacles. The empty name stands for the whole file.
    pub untouched: Vec<(String, ProbeObstacle)>,
    /// The reason why objectives are those of the bytecode and not those of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_bytecode: Option<String>,
    /// The record for state coverage, if state is traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<crate::state::StateRecord>,
    /// The obstacle to state coverage, if it was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_state: Option<ProbeObstacle>,
}

impl UnitRecord {
    /// Writes the record to a directory of units.
    pub fn write(&self, units: &std::path::Path) -> std::io::Result<()> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        touchstone_base::write_atomically(&units.join(format!("{}.json", self.unit)), text)
    }

    /// Returns the ids of the objectives that a run covered, from the probes that it hit.
    pub(crate) fn covered_by(&self, mut hits: BTreeSet<u32>) -> BTreeSet<&str> {
        for (probe, by) in &self.implied {
            if by.iter().any(|by| hits.contains(by)) {
                hits.insert(*probe);
            }
        }
        let covered = |objective: &&ProbedObjective| objective.probes.iter().any(|probe| hits.contains(probe));
        self.objectives.iter().filter(covered).map(|objective| objective.id.as_str()).collect()
    }

    /// Returns the ids of the objectives that no execution covers without a hit.
    pub(crate) fn probed(&self) -> impl Iterator<Item = &str> {
        let probed = |objective: &&ProbedObjective| !objective.probes.is_empty() && objective.not_placed.is_none();
        self.objectives.iter().filter(probed).map(|objective| objective.id.as_str())
    }

    /// Returns the obstacle to a probe for each objective with one, by id.
    pub(crate) fn unprobed(&self) -> impl Iterator<Item = (&str, &ProbeObstacle)> {
        let objectives = self.objectives.iter();
        objectives.filter_map(|objective| Some((objective.id.as_str(), objective.not_placed.as_ref()?)))
    }

    /// Returns true if the two readings of the source differ, so that a probe is missing.
    pub(crate) fn differs(&self) -> bool {
        let different = |why: &ProbeObstacle| *why == ProbeObstacle::DifferentCode;
        self.untouched.iter().any(|(_, why)| different(why))
            || self.objectives.iter().filter_map(|objective| objective.not_placed.as_ref()).any(different)
    }
}

impl UnitRecord {
    /// Records the hashes of the files that contain functions.
    pub(crate) fn keep_texts(&mut self) {
        let used: BTreeSet<u32> = self.functions.iter().map(|(_, place)| place.file).collect();
        let text = |(index, file): (usize, &String)| {
            if used.contains(&(index as u32)) { text_now(file).unwrap_or_default() } else { String::new() }
        };
        self.texts = self.files.iter().enumerate().map(text).collect();
    }
}

/// Returns the hash of a file's current text, or `None` if the file does not exist.
pub(crate) fn text_now(file: &str) -> Option<String> {
    Some(format!("{:016x}", touchstone_base::stable_hash(&std::fs::read(file).ok()?)))
}

/// The content of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeStorage {
    /// One byte: 1 if the probe was hit.
    #[default]
    Hits,
    /// Eight bytes: the number of hits, little-endian.
    Counts,
}

impl ProbeStorage {
    /// Returns the size of a probe in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            ProbeStorage::Hits => 1,
            ProbeStorage::Counts => 8,
        }
    }
}

/// A range of a source file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SourceRange {
    /// The file, as an index into [`UnitRecord::files`].
    pub file: u32,
    /// The first line, counted from 1.
    pub line: u32,
    /// The first column, counted from 1.
    pub column: u32,
    /// The last line.
    pub end_line: u32,
    /// The column after the last character.
    pub end_column: u32,
}

/// An objective and the probes that cover it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedObjective {
    /// The id of the objective.
    pub id: String,
    /// The name of the criterion.
    pub criterion: String,
    /// The name of the function.
    pub function: String,
    /// The source range.
    pub place: SourceRange,
    /// The description of the objective.
    pub text: String,
    /// True if the objective is infeasible because the compiler folds it.
    pub constant: bool,
    /// The probes that cover the objective; one of them suffices.
    pub probes: Vec<u32>,
    /// The obstacle to a probe.
    pub not_placed: Option<ProbeObstacle>,
}

/// A decision and the probes of its rows.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedDecision {
    /// The name of the function.
    pub function: String,
    /// The index among the decisions of the function.
    pub decision: u32,
    /// The source range.
    pub place: SourceRange,
    /// The source text.
    pub text: String,
    /// The source range and text of each condition.
    pub conditions: Vec<(SourceRange, String)>,
    /// The rows, by number.
    pub rows: Vec<ProbedRow>,
    /// The probe of the first row; those of the other rows follow.
    pub first: u32,
}

/// A short-circuit row: the outcomes of the evaluated conditions, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProbedRow {
    /// The conditions and their outcomes.
    pub outcomes: Vec<(u32, bool)>,
    /// Those of them that were not masked.
    pub independent: Vec<(u32, bool)>,
    /// The outcome of the decision.
    pub result: bool,
}

impl ProbedRow {
    /// Converts the row to the type of the criteria.
    pub fn row(&self) -> Row {
        let list = |from: &[(u32, bool)]| from.iter().map(|(c, value)| (CondId::new(*c as usize), *value)).collect();
        Row { outcomes: list(&self.outcomes), independent: list(&self.independent), result: self.result }
    }
}
