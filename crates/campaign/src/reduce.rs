//! The smallest part of the tests that covers as much. Where every path is to have its test, all stay.

use crate::explore;
use crate::work::Work;
use touchstone_criteria::{Goal, IncompletePaths, Objectives, Replay, Status, TestCase, Watch};
use touchstone_engine::{Look, SeenRow, rows_of, watch_test};
use touchstone_ir::{FuncId, Module};

/// Says of every test what it covers, and keeps those that are needed; also why a function is not called at all.
pub(crate) fn reduce(work: &Work<'_>, mut tests: Vec<TestCase>) -> (Vec<TestCase>, Vec<IncompletePaths>) {
    if work.criteria.is_empty() {
        return (tests, Vec::new());
    }
    watch_tests(work.module(), work.task.func, &mut tests, &work.wanted);
    if work.plan.request.wants_paths() {
        return (tests, Vec::new());
    }
    let rows = rows_for_pairs(work, &tests);
    tests = touchstone_criteria::reduce(tests, &rows, &work.wanted.settled);
    let called = work.wanted.list.values().any(|objective| matches!(objective.status, Status::Covered(_)));
    if tests.is_empty() && !called && work.criteria.iter().any(|criterion| criterion.wants_a_call()) {
        match explore::any_test(work) {
            Ok(test) => tests.push(test),
            Err(why) => return (tests, why),
        }
    }
    (tests, Vec::new())
}

/// Runs every test once more: each then names all goals that it covers, not only those that were open when it was found.
/// A second opinion, too: the engine tells what a path reaches without watching each run.
pub(crate) fn watch_tests(module: &Module, entry: FuncId, tests: &mut [TestCase], wanted: &Objectives) {
    let watch = Watch::new(module, wanted.goals.clone());
    let look = Look { watch: Some(&watch), ..Look::default() };
    for test in tests {
        let run = watch_test(module, entry, test, look);
        let missed = test.covers.iter().find(|goal| run.path == test.path && !run.hits.contains(goal));
        if let Some(missed) = missed {
            test.replayed = Replay::Disagreed(format!("the reference interpreter does not reach {missed}"));
        }
        test.covers.extend(run.hits);
        test.covers.sort_unstable();
        test.covers.dedup();
    }
}

/// The rows of decisions whose pairs must survive the reduction.
fn rows_for_pairs(work: &Work<'_>, tests: &[TestCase]) -> Vec<Vec<SeenRow>> {
    let wanted = &work.wanted;
    if !wanted.goals.values().any(|goal| matches!(goal, Goal::Independent { .. })) {
        return Vec::new();
    }
    let watch = Watch::new(work.module(), wanted.goals.clone());
    let mut rows = rows_of(work.module(), work.task.func, tests, &watch);
    if !work.known.is_empty() {
        rows.push(work.known.iter().map(|(_, row)| row.clone()).collect());
    }
    for rows in &mut rows {
        rows.retain(|(func, decision, _)| watch.asks_for_mcdc(*func, *decision));
    }
    rows
}
