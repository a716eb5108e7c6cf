//! A unit and its hits.

use crate::record::{ProbedDecision, ProbedObjective, UnitRecord};
use std::collections::{BTreeMap, BTreeSet};

/// A unit and its hits.
#[derive(Clone, Debug)]
pub struct MeasuredUnit {
    /// What its probes mean.
    pub record: UnitRecord,
    /// By probe: the tests that hit it, as positions in [`Measured::tests`].
    pub hits: BTreeMap<u32, BTreeSet<u32>>,
    /// By probe: how often it was hit, if the unit's probes count.
    pub counts: Option<BTreeMap<u32, u64>>,
}

impl MeasuredUnit {
    /// The tests that cover an objective.
    pub fn covered(&self, objective: &ProbedObjective) -> BTreeSet<u32> {
        objective.probes.iter().filter_map(|probe| self.hits.get(probe)).flatten().copied().collect()
    }
    /// How often an objective was executed, where that was counted.
    pub fn count(&self, objective: &ProbedObjective) -> Option<u64> {
        self.counts.as_ref().map(|counts| objective.probes.iter().filter_map(|probe| counts.get(probe)).sum())
    }
    /// The tests that evaluated a row of a decision.
    pub fn row(&self, decision: &ProbedDecision, row: usize) -> BTreeSet<u32> {
        self.hits.get(&(decision.first + row as u32)).cloned().unwrap_or_default()
    }
}
