//! The figures of past campaigns: a file with one JSON object per line, appended to after every run.

use crate::analysis::figures::Figures;
use serde::{Deserialize, Serialize};

/// The figures of one campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HistoryEntry {
    /// The time, in seconds since 1970.
    pub time: u64,
    /// The figures, in the order in which reports show criteria.
    pub figures: Vec<HistoryFigure>,
}

/// The figure of one criterion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct HistoryFigure {
    pub criterion: String,
    pub covered: u64,
    pub infeasible: u64,
    pub total: u64,
}

impl HistoryFigure {
    /// Returns the covered share of the feasible objectives in tenths of a percent.
    pub fn per_mille(&self) -> Option<u64> {
        let feasible = self.total.saturating_sub(self.infeasible);
        (feasible > 0).then(|| self.covered.min(feasible) * 1000 / feasible)
    }
}

impl HistoryEntry {
    /// Creates the entry of a campaign.
    pub fn new(time: u64, figures: &Figures) -> HistoryEntry {
        let figure = |(criterion, tally): (&str, &crate::analysis::figures::Tally)| HistoryFigure {
            criterion: criterion.to_string(),
            covered: tally.covered,
            infeasible: tally.infeasible,
            total: tally.total,
        };
        HistoryEntry { time, figures: figures.total.iter().map(figure).collect() }
    }

    /// Returns the line of the file.
    pub fn to_line(&self) -> String {
        let text = serde_json::to_string(self);
        text.expect("invariant: every key is a string and nothing here refuses to be written") + "\n"
    }
}

/// Parses the file. Invalid lines (of a run that was killed while writing) are skipped.
pub fn read_history(text: &str) -> Vec<HistoryEntry> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
