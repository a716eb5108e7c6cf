//! Types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What another tool measured.
#[derive(Clone, Debug, Default)]
pub struct ImportedCoverage {
    /// By file, as its whole path where it is there.
    pub files: BTreeMap<String, FileCoverage>,
}

/// What is known of a file.
#[derive(Clone, Debug, Default)]
pub struct FileCoverage {
    /// From each place on, until the next: whether it was executed. `None` where there is no code.
    pub regions: Vec<(LineColumn, Option<bool>)>,
    /// By line: whether something on it was executed, or all of it.
    pub lines: BTreeMap<u32, LineCoverage>,
    /// Conditions by where they begin: whether they were true, and false.
    pub conditions: BTreeMap<LineColumn, (bool, bool)>,
    /// By line: whether each of its branches was taken.
    pub branches: BTreeMap<u32, Vec<bool>>,
    /// Decisions by where they begin: of each condition, whether it was shown to decide.
    pub decisions: BTreeMap<LineColumn, Vec<bool>>,
    /// By line and number of conditions: of each condition, whether it was shown to decide when true, and when false.
    /// `None` if there are several such decisions.
    pub decisions_in_line: BTreeMap<(u32, usize), Option<OutcomePairs>>,
}

/// Of each condition, whether something was shown of it when true, and when false.
pub type OutcomePairs = Vec<(bool, bool)>;

/// A line and a column, both from 1.
pub type LineColumn = (u32, u32);

/// What is known of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineCoverage {
    /// Nothing on it was executed.
    Not,
    /// Something was.
    Some,
    /// Everything was.
    All,
}

impl ImportedCoverage {
    pub(super) fn file(&mut self, name: &str, folder: Option<&str>) -> &mut FileCoverage {
        let path = folder.map_or_else(|| PathBuf::from(name), |folder| Path::new(folder).join(name));
        let whole = path.canonicalize().unwrap_or(path);
        self.files.entry(whole.display().to_string()).or_default()
    }

    /// Whether it knows the conditions of decisions.
    pub fn has_mcdc(&self) -> bool {
        self.files.values().any(|seen| !seen.decisions.is_empty() || !seen.decisions_in_line.is_empty())
    }

    /// Whether it knows which way branches went.
    pub fn has_branches(&self) -> bool {
        self.files.values().any(|seen| !seen.conditions.is_empty() || !seen.branches.is_empty())
    }
}

impl FileCoverage {
    /// Whether the code at a place was executed, where columns are known.
    pub fn executed(&self, place: LineColumn) -> Option<bool> {
        let next = self.regions.partition_point(|(at, _)| *at <= place);
        next.checked_sub(1).and_then(|index| self.regions[index].1)
    }

    /// Adds the condition of a decision in a line.
    pub(super) fn add_decision(&mut self, line: u32, conditions: Vec<(bool, bool)>) {
        let known = self.decisions_in_line.entry((line, conditions.len()));
        known.and_modify(|known| *known = None).or_insert(Some(conditions));
    }
}
