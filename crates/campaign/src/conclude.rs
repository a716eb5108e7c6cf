//! Verdicts: what a test covers, what no input can, and what is not known. Where exploration left something open, the static
//! prover is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use touchstone_criteria::{GoalId, Objectives, Proof, TestCase, Watch};
use touchstone_engine::{Config, Found, prove_infeasible};
use touchstone_ir::{FuncId, Module};

/// What the static prover said so far. It takes its time, so nobody asks it twice.
#[derive(Default)]
pub(crate) struct Proofs {
    asked: BTreeSet<GoalId>,
    proved: BTreeMap<GoalId, Proof>,
}

impl Proofs {
    /// Asks about goals of which nobody asked yet.
    pub fn ask(&mut self, module: &Module, func: FuncId, watch: &Watch, goals: &[GoalId], config: &Config) {
        let new: Vec<GoalId> = goals.iter().copied().filter(|goal| self.asked.insert(*goal)).collect();
        if !new.is_empty() {
            self.proved.extend(prove_infeasible(module, func, watch, &new, config));
        }
    }

    /// Whether no run reaches a goal.
    pub fn excludes(&self, goal: GoalId) -> bool {
        self.proved.contains_key(&goal)
    }
}

/// What there is to conclude from.
pub(crate) struct Grounds<'a> {
    pub watch: &'a Watch,
    pub tests: &'a [TestCase],
    pub found: &'a Found,
    pub proofs: Proofs,
}

/// Gives every objective its verdict.
pub(crate) fn conclude(module: &Module, func: FuncId, config: &Config, wanted: &mut Objectives, grounds: Grounds<'_>) {
    let Grounds { watch, tests, found, mut proofs } = grounds;
    let covered: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let open = |id: &GoalId| !covered.contains(id) && !wanted.settled.contains(id) && !found.excluded.contains(id);
    let open: Vec<GoalId> = wanted.goals.ids().filter(open).collect();
    let interrupted = config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    if !interrupted {
        proofs.ask(module, func, watch, &open, config);
    }
    touchstone_criteria::conclude(wanted, tests, &found.ruling(&proofs.proved), &module.files);
}
