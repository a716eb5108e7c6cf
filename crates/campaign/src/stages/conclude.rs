//! Verdicts: covered by a test, infeasible, or unknown. The static prover decides goals that exploration left open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use touchstone_criteria::{
    Bound, GoalId, GoalIndex, HeapOrigin, Incomplete, Objectives, Proof, Status, TestCase, WhyUnknown,
};
use touchstone_engine::{Config, ExplorationResult, prove_infeasible};
use touchstone_ir::{FuncId, Module};

/// The results of the static prover so far. It is expensive, so every goal is tried once.
#[derive(Default)]
pub(crate) struct Proofs {
    pub tried: BTreeSet<GoalId>,
    pub proved: BTreeMap<GoalId, Proof>,
}

impl Proofs {
    /// Tries to prove goals infeasible that have not been tried yet.
    pub fn prove(&mut self, module: &Module, func: FuncId, watch: &GoalIndex, goals: &[GoalId], config: &Config) {
        let new: Vec<GoalId> = goals.iter().copied().filter(|goal| self.tried.insert(*goal)).collect();
        if !new.is_empty() {
            self.proved.extend(prove_infeasible(module, func, watch, &new, config));
        }
    }

    /// Tries all goals that tests and the search left open.
    pub fn prove_open(&mut self, at: &ProofContext<'_>, tests: &[TestCase], found: &ExplorationResult) {
        let covered: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let settled = &at.objectives.settled;
        let open = |id: &GoalId| !covered.contains(id) && !settled.contains(id) && !found.excluded.contains(id);
        let open: Vec<GoalId> = at.objectives.goals.ids().filter(open).collect();
        let interrupted = at.config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        if !interrupted {
            self.prove(at.module, at.func, at.watch, &open, at.config);
        }
    }

    /// Returns true if a goal is proved infeasible.
    pub fn excludes(&self, goal: GoalId) -> bool {
        self.proved.contains_key(&goal)
    }
}

/// The context of a proof.
pub(crate) struct ProofContext<'a> {
    pub module: &'a Module,
    pub func: FuncId,
    pub watch: &'a GoalIndex,
    pub config: &'a Config,
    pub objectives: &'a Objectives,
}

/// Assigns a verdict to every objective.
pub(crate) fn conclude(
    module: &Module,
    objectives: &mut Objectives,
    tests: &[TestCase],
    found: &ExplorationResult,
    proofs: &Proofs,
) {
    touchstone_criteria::conclude(objectives, tests, &found.ruling(&proofs.proved), &module.files);
}

/// Removes the tests that start from states which no API sequence was shown to construct. What only they cover is
/// unknown, because the user excluded such states.
pub(crate) fn exclude_unreached_states(objectives: &mut Objectives, tests: &mut Vec<TestCase>) {
    let is_excluded = |test: &TestCase| test.heap == HeapOrigin::NotShownReachable;
    let excluded: BTreeSet<String> =
        tests.iter().filter(|test| is_excluded(test)).map(|test| test.id.clone()).collect();
    tests.retain(|test| !excluded.contains(&test.id));
    for objective in objectives.list.values_mut() {
        if let Status::Covered(by) = &mut objective.status {
            by.retain(|test| !excluded.contains(test));
            if by.is_empty() {
                let why = vec![Incomplete::Bound(Bound::Inputs)];
                let place = objective.function.clone();
                objective.status = Status::Unknown(WhyUnknown::GivenUp { why, place });
            }
        }
    }
}
