//! Verdicts: what a test covers, what no input can, and what is not known. Where exploration left something open, the static
//! prover is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use touchstone_criteria::{GoalId, Objectives, TestCase, Watch};
use touchstone_engine::{Config, Found, prove_infeasible};
use touchstone_ir::{FuncId, Module};

/// Gives every objective its verdict.
pub(crate) fn conclude(
    module: &Module,
    func: FuncId,
    config: &Config,
    wanted: &mut Objectives,
    watch: &Watch,
    tests: &[TestCase],
    found: &Found,
) {
    let covered: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let open = |id: &GoalId| !covered.contains(id) && !wanted.settled.contains(id) && !found.excluded.contains(id);
    let open: Vec<GoalId> = wanted.goals.ids().filter(open).collect();
    let interrupted = config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
    let proved = match open.is_empty() || interrupted {
        true => BTreeMap::new(),
        false => prove_infeasible(module, func, watch, &open, config),
    };
    touchstone_criteria::conclude(wanted, tests, &found.ruling(&proved), &module.files);
}
