//! Verdicts: what a test covers, what no input can, and what is not known. Where exploration left something open, the static
//! prover is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use touchstone_criteria::{GoalId, GoalIndex, Objectives, Proof, TestCase};
use touchstone_engine::{Config, ExplorationResult, prove_infeasible};
use touchstone_ir::{FuncId, Module};

/// What the static prover said so far. It takes its time, so nobody asks it twice.
#[derive(Default)]
pub(crate) struct Proofs {
    pub asked: BTreeSet<GoalId>,
    pub proved: BTreeMap<GoalId, Proof>,
}

impl Proofs {
    /// Asks about goals of which nobody asked yet.
    pub fn ask(&mut self, module: &Module, func: FuncId, watch: &GoalIndex, goals: &[GoalId], config: &Config) {
        let new: Vec<GoalId> = goals.iter().copied().filter(|goal| self.asked.insert(*goal)).collect();
        if !new.is_empty() {
            self.proved.extend(prove_infeasible(module, func, watch, &new, config));
        }
    }

    /// Asks about all that tests and the search left open.
    pub fn ask_about_open(&mut self, at: &Asked<'_>, tests: &[TestCase], found: &ExplorationResult) {
        let covered: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let settled = &at.wanted.settled;
        let open = |id: &GoalId| !covered.contains(id) && !settled.contains(id) && !found.excluded.contains(id);
        let open: Vec<GoalId> = at.wanted.goals.ids().filter(open).collect();
        let interrupted = at.config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if !interrupted {
            self.ask(at.module, at.func, at.watch, &open, at.config);
        }
    }

    /// Whether no run reaches a goal.
    pub fn excludes(&self, goal: GoalId) -> bool {
        self.proved.contains_key(&goal)
    }
}

/// What the prover is asked about.
pub(crate) struct Asked<'a> {
    pub module: &'a Module,
    pub func: FuncId,
    pub watch: &'a GoalIndex,
    pub config: &'a Config,
    pub wanted: &'a Objectives,
}

/// Gives every objective its verdict.
pub(crate) fn conclude(
    module: &Module,
    wanted: &mut Objectives,
    tests: &[TestCase],
    found: &ExplorationResult,
    proofs: &Proofs,
) {
    touchstone_criteria::conclude(wanted, tests, &found.ruling(&proofs.proved), &module.files);
}
