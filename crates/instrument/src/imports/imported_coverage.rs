//! Coverage data of other tools, by position where the tool knows columns and by line otherwise.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Coverage that another tool measured.
#[derive(Clone, Debug, Default)]
pub struct ImportedCoverage {
    /// The files, by canonical path if they exist.
    pub files: BTreeMap<String, FileCoverage>,
}

/// The coverage of a file.
#[derive(Clone, Debug, Default)]
pub struct FileCoverage {
    /// The regions, each up to the next one: true if it was executed, `None` if it contains no code.
    pub regions: Vec<(LineColumn, Option<bool>)>,
    /// The coverage of each line.
    pub lines: BTreeMap<u32, LineCoverage>,
    /// The conditions by their first position: true if they were true, and if they were false.
    pub conditions: BTreeMap<LineColumn, (bool, bool)>,
    /// For each line, true for each branch that was taken.
    pub branches: BTreeMap<u32, Vec<bool>>,
    /// The decisions by their first position: true for each condition that was shown to have an independent effect.
    pub decisions: BTreeMap<LineColumn, Vec<bool>>,
    /// The decisions by line and number of conditions: for each condition, the independent effect when true and when
    /// false. `None` if there are several such decisions.
    pub decisions_in_line: BTreeMap<(u32, usize), Option<OutcomePairs>>,
}

/// For each condition, true if its effect was shown when true, and when false.
pub type OutcomePairs = Vec<(bool, bool)>;

/// A line and a column, both counted from 1.
pub type LineColumn = (u32, u32);

/// The coverage of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineCoverage {
    /// Nothing on it was executed.
    Not,
    /// Something on it was executed.
    Some,
    /// Everything on it was executed.
    All,
}

impl ImportedCoverage {
    pub(super) fn file(&mut self, name: &str, folder: Option<&str>) -> &mut FileCoverage {
        let path = folder.map_or_else(|| PathBuf::from(name), |folder| Path::new(folder).join(name));
        let whole = path.canonicalize().unwrap_or(path);
        self.files.entry(whole.display().to_string()).or_default()
    }

    /// Returns true if it contains MC/DC.
    pub fn has_mcdc(&self) -> bool {
        self.files.values().any(|seen| !seen.decisions.is_empty() || !seen.decisions_in_line.is_empty())
    }

    /// Returns true if it contains branches.
    pub fn has_branches(&self) -> bool {
        self.files.values().any(|seen| !seen.conditions.is_empty() || !seen.branches.is_empty())
    }
}

impl FileCoverage {
    /// Returns true if the code at a position was executed, or `None` if the tool has no columns.
    pub fn executed(&self, place: LineColumn) -> Option<bool> {
        let next = self.regions.partition_point(|(at, _)| *at <= place);
        next.checked_sub(1).and_then(|index| self.regions[index].1)
    }

    /// Adds a decision in a line.
    pub(super) fn add_decision(&mut self, line: u32, conditions: Vec<(bool, bool)>) {
        let known = self.decisions_in_line.entry((line, conditions.len()));
        known.and_modify(|known| *known = None).or_insert(Some(conditions));
    }
}
