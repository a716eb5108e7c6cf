//! Executed lines, as far as a document determines them.
//!
//! - A line was executed if a test covers an objective on it. With the criterion `stmt`, only statements that begin on
//!   it count.
//! - It was not executed if no objective on it is covered and one of them belongs to a criterion that every execution
//!   of the
//!   line covers something of: statements, and decisions with their conditions. Mutants, errors and labels don't count, so a
//!   line without other objectives is not listed.
//! - The line of a state update was executed.
//! - Objectives that are infeasible, excluded or not measured don't count.

use crate::document::name::Name;
use crate::document::{Document, Objective, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{CoverageKind, coverage_kind};

/// The executions of a line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LineExecutions<'d> {
    /// The tests that executed it.
    pub tests: BTreeSet<&'d str>,
    /// For each variant of the code, the largest number of executions of an objective on the line, if they were
    /// counted.
    pub counts: BTreeMap<Option<&'d str>, u64>,
}

impl LineExecutions<'_> {
    /// Returns the number of executions if they were counted, otherwise the number of tests.
    pub fn hits(&self) -> u64 {
        self.counts.values().sum::<u64>().max(self.tests.len() as u64)
    }
}

/// Returns true if an objective is taken into account.
pub(crate) fn counts(objective: &Objective) -> bool {
    objective.excluded.is_none() && objective.status != Verdict::Infeasible && objective.not_measured().is_none()
}

/// Returns true if every execution of its line covers it or another objective of its criterion.
pub(crate) fn implies_execution(objective: &Objective) -> bool {
    coverage_kind(&objective.criterion) != CoverageKind::Other || !objective.tests.is_empty()
}

fn is_statement(objective: &Objective) -> bool {
    coverage_kind(&objective.criterion) == CoverageKind::Statements
}

/// Returns the lines with known execution, by file and number. `objectives` are those of the document without
/// duplicates.
pub(crate) fn ran<'d>(
    document: &'d Document,
    objectives: &[&'d Objective],
) -> BTreeMap<(&'d str, u32), LineExecutions<'d>> {
    let only_statements = objectives.iter().any(|objective| is_statement(objective));
    let mut lines: BTreeMap<(&str, u32), LineExecutions<'_>> = BTreeMap::new();
    for objective in objectives.iter().filter(|objective| counts(objective)) {
        let Some(at) = objective.at.start() else { continue };
        if !implies_execution(objective) || (only_statements && !is_statement(objective)) {
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
