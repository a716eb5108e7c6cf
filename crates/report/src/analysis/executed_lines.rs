//! Which lines ran, as far as a document says so.
//!
//! - A line ran if a test covers something on it. With the criterion `stmt` only statements that begin on it count.
//! - It did not run if nothing of it is covered and a criterion was asked that a run through it covers something of:
//!   statements, and decisions with their conditions. That no mutant was killed, no error seen and no label's predicate held
//!   says nothing about whether the line ran, so a line with nothing else is no line here.
//! - State that a test changed was changed by running its line, whoever looked at it afterwards.
//! - What is not measured, infeasible or excluded says nothing.

use crate::document::name::Name;
use crate::document::{Document, Objective, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Criteria of which a run covers something wherever it comes.
const TELLING: [&str; 7] = ["stmt", "branch", "decision", "condition", "dcc", "mcc", "mcdc"];

/// How a line ran.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Ran<'d> {
    /// The tests that ran it.
    pub tests: BTreeSet<&'d str>,
    /// By variant of the code: the largest number of executions of something on it, where they were counted.
    pub counts: BTreeMap<Option<&'d str>, u64>,
}

impl Ran<'_> {
    /// Executions where they were counted, else tests.
    pub fn hits(&self) -> u64 {
        self.counts.values().sum::<u64>().max(self.tests.len() as u64)
    }
}

/// Whether an objective counts at all.
pub(crate) fn counts(objective: &Objective) -> bool {
    objective.excluded.is_none() && objective.status != Verdict::Infeasible && objective.not_measured().is_none()
}

/// Whether a run through its line covers it, or something beside it of the same criterion.
pub(crate) fn is_telling(objective: &Objective) -> bool {
    TELLING.contains(&objective.criterion.as_str()) || !objective.tests.is_empty()
}

/// The lines of which it is known whether they ran, by file and number. `objectives` are those of the document, each once.
pub(crate) fn ran<'d>(document: &'d Document, objectives: &[&'d Objective]) -> BTreeMap<(&'d str, u32), Ran<'d>> {
    let only_statements = objectives.iter().any(|objective| objective.criterion == "stmt");
    let mut lines: BTreeMap<(&str, u32), Ran<'_>> = BTreeMap::new();
    for objective in objectives.iter().filter(|objective| counts(objective)) {
        let Some(at) = objective.at.start() else { continue };
        if !is_telling(objective) || (only_statements && objective.criterion != "stmt") {
            continue;
        }
        let line = lines.entry(at).or_default();
        line.tests.extend(objective.tests.iter().map(Name::as_str));
        if let Some(count) = objective.count {
            let known = line.counts.entry(objective.variant.as_deref()).or_default();
            *known = count.max(*known);
        }
    }
    if only_statements {
        return lines;
    }
    let excluded: BTreeSet<(&str, u32)> =
        objectives.iter().filter(|o| o.excluded.is_some()).filter_map(|o| o.at.start()).collect();
    for test in &document.state {
        for update in &test.updates {
            let Some(at) = update.at.file.as_deref().zip(update.at.line).filter(|at| !excluded.contains(at)) else {
                continue;
            };
            lines.entry(at).or_default().tests.insert(&test.test);
        }
    }
    lines
}
