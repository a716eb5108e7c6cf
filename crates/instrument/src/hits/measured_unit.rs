//! A unit with the tests that hit its probes.

use crate::record::{ProbedDecision, ProbedObjective, UnitRecord};
use std::collections::{BTreeMap, BTreeSet};

/// A unit with its hits.
#[derive(Clone, Debug)]
pub struct MeasuredUnit {
    /// The record that maps its probes to objectives.
    pub record: UnitRecord,
    /// For each probe, the tests that hit it, as indices into [`crate::MeasuredSuite::tests`].
    pub hits: BTreeMap<u32, BTreeSet<u32>>,
    /// For each probe, the number of its executions, if the unit's probes count.
    pub counts: Option<BTreeMap<u32, u64>>,
}

impl MeasuredUnit {
    /// Returns the tests that cover an objective.
    pub fn covered(&self, objective: &ProbedObjective) -> BTreeSet<u32> {
        objective.probes.iter().filter_map(|probe| self.hits.get(probe)).flatten().copied().collect()
    }
    /// Returns the number of executions of an objective, or `None` if the unit's probes don't count.
    pub fn count(&self, objective: &ProbedObjective) -> Option<u64> {
        self.counts.as_ref().map(|counts| objective.probes.iter().filter_map(|probe| counts.get(probe)).sum())
    }
    /// Returns the tests that evaluated a row of a decision.
    pub fn row(&self, decision: &ProbedDecision, row: usize) -> BTreeSet<u32> {
        self.hits.get(&(decision.first + row as u32)).cloned().unwrap_or_default()
    }
}
