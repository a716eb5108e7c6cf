//! Determines the coverage of tests by running them in the reference interpreter: the goals that they cover, and the
//! rows of decisions that they evaluate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_base::Deadline;
use touchstone_criteria::{Disagreement, GoalIndex, Replay, TestCase};
use touchstone_engine::{EvaluatedRow, MachineTemplates, RunObservation, watch_test};
use touchstone_ir::{FuncId, Module};

/// The rows that tests evaluated.
#[derive(Default)]
pub(crate) struct TestRows {
    /// The distinct rows of decisions, by test.
    pub rows: BTreeMap<String, Vec<EvaluatedRow>>,
    /// The number of tests that were not run for lack of time.
    pub left_out: usize,
}

impl TestRows {
    /// Returns the rows of a test; none if it did not run.
    pub fn rows(&self, test: &TestCase) -> &[EvaluatedRow] {
        self.rows.get(&test.id).map_or(&[], Vec::as_slice)
    }
}

/// Runs every test: afterwards it lists all goals that it covers, not only those that were open when it was found. This
/// also checks the engine, which reports the goals of a path without observing the run.
///
/// Tests that were not run for lack of time keep their goals.
pub(crate) fn run_for_coverage(
    module: &Module,
    entry: FuncId,
    tests: &mut [TestCase],
    watch: &GoalIndex,
    deadline: Deadline,
    interrupt: &AtomicBool,
) -> TestRows {
    let machines = MachineTemplates::of(module);
    let look = RunObservation { watch: Some(watch), ..RunObservation::default() };
    let mut evaluated = TestRows::default();
    for test in tests {
        if deadline.is_over() || interrupt.load(Ordering::Relaxed) {
            evaluated.left_out += 1;
            continue;
        }
        let run = watch_test(&machines, entry, test, look);
        let missed = test.covers.iter().find(|goal| run.path == test.path && !run.hits.contains(goal));
        if let Some(missed) = missed {
            test.replayed = Replay::Disagreed(Disagreement::GoalNotReached(*missed));
        }
        test.covers.extend(run.hits);
        test.covers.sort_unstable();
        test.covers.dedup();
        evaluated.rows.insert(test.id.clone(), run.rows);
    }
    evaluated
}
