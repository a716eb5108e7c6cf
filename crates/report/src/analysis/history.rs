//! The figures of past campaigns: one JSON object a line, appended to after every run.

use crate::analysis::figures::Figures;
use serde::{Deserialize, Serialize};

/// The figures of one campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Past {
    /// When, in seconds since 1970.
    pub time: u64,
    /// The figures, in the order in which reports show criteria.
    pub figures: Vec<PastFigure>,
}

/// One criterion of a past campaign.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct PastFigure {
    pub criterion: String,
    pub covered: u64,
    pub infeasible: u64,
    pub total: u64,
}

impl PastFigure {
    /// Covered of the feasible in tenths of a percent.
    pub fn per_mille(&self) -> Option<u64> {
        let feasible = self.total.saturating_sub(self.infeasible);
        (feasible > 0).then(|| self.covered.min(feasible) * 1000 / feasible)
    }
}

impl Past {
    /// The line of a campaign.
    pub fn new(time: u64, figures: &Figures) -> Past {
        let figure = |(criterion, tally): (&str, &crate::analysis::figures::Tally)| PastFigure {
            criterion: criterion.to_string(),
            covered: tally.covered,
            infeasible: tally.infeasible,
            total: tally.total,
        };
        Past { time, figures: figures.total.iter().map(figure).collect() }
    }

    /// As a line of the file.
    pub fn to_line(&self) -> String {
        let text = serde_json::to_string(self);
        text.expect("invariant: every key is a string and nothing here refuses to be written") + "\n"
    }
}

/// Reads the file. A line that is no entry (a run that was killed while writing) is left out.
pub fn read_history(text: &str) -> Vec<Past> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
