//! What tests do when they run once more in the reference interpreter: the goals that they cover, and the rows of decisions
//! that they evaluate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_base::Deadline;
use touchstone_criteria::{Disagreement, GoalIndex, Replay, TestCase};
use touchstone_engine::{EvaluatedRow, MachineTemplates, RunObservation, distinct, watch_test};
use touchstone_ir::{FuncId, Module};

/// What tests evaluated when they ran once more.
#[derive(Default)]
pub(crate) struct Watched {
    /// The distinct rows of decisions, by test.
    pub rows: BTreeMap<String, Vec<EvaluatedRow>>,
    /// Tests that there was no time to run.
    pub left_out: usize,
}

impl Watched {
    /// The rows of a test; none if it did not run.
    pub fn rows(&self, test: &TestCase) -> &[EvaluatedRow] {
        self.rows.get(&test.id).map_or(&[], Vec::as_slice)
    }
}

/// Runs every test once more: each then names all goals that it covers, not only those that were open when it was found.
/// A second opinion, too: the engine tells what a path reaches without watching each run.
///
/// Tests for which there is no time keep what they were found for.
pub(crate) fn watch_tests(
    module: &Module,
    entry: FuncId,
    tests: &mut [TestCase],
    watch: &GoalIndex,
    deadline: Deadline,
    interrupt: &AtomicBool,
) -> Watched {
    let machines = MachineTemplates::of(module);
    let look = RunObservation { watch: Some(watch), ..RunObservation::default() };
    let mut watched = Watched::default();
    for test in tests {
        if deadline.is_over() || interrupt.load(Ordering::Relaxed) {
            watched.left_out += 1;
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
        watched.rows.insert(test.id.clone(), distinct(run.rows));
    }
    watched
}
