//! Test suite reduction: keeps the smallest set of tests with the same coverage. If every path gets a test, or time ran
//! out, all tests are kept.

use super::explore;
use super::test_coverage::{TestRows, run_for_coverage};
use crate::plan::Work;
use crate::program::precondition;
use std::collections::BTreeSet;
use touchstone_criteria::{Goal, HeapOrigin, IncompletePaths, Objective, Outcome, Status, TestCase, TestKind};
use touchstone_engine::{EvaluatedRow, round_numbers, shorten_objects};
use touchstone_ir::ErrorKind;

/// The reduced tests.
pub(crate) struct Reduced {
    pub tests: Vec<TestCase>,
    /// The rows that they evaluate.
    pub evaluated: TestRows,
    /// Reasons why the function is not called at all.
    pub not_called: Vec<IncompletePaths>,
}

/// Determines the coverage of every test, and keeps those that are needed.
pub(crate) fn reduce(work: &Work<'_>, mut tests: Vec<TestCase>) -> Reduced {
    let mut not_called = Vec::new();
    if work.criteria.is_empty() {
        return Reduced { tests, evaluated: TestRows::default(), not_called };
    }
    // Naming and reduction may take as long as the search.
    let deadline = work.plan.deadline();
    let mut evaluated = run_for_coverage(
        work.module(),
        work.task.func,
        &mut tests,
        &work.watch,
        deadline,
        &work.plan.request.interrupt,
    );
    if work.plan.request.wants_paths() {
        return Reduced { tests, evaluated, not_called };
    }
    if evaluated.left_out == 0 {
        let rows = rows_for_pairs(work, &tests, &evaluated);
        let stay = if is_complete(work) { BTreeSet::new() } else { findings(work, &tests) };
        tests = touchstone_criteria::reduce(tests, &rows, &work.objectives.settled, &stay, deadline);
    }
    let called = work.objectives.list.values().any(|objective| matches!(objective.status, Status::Covered(_)));
    // A suite may call the function: a test that covers no objective would add nothing to it.
    let wants_call = tests.is_empty() && !called && work.plan.suite.is_none();
    if wants_call && work.criteria.iter().any(|criterion| criterion.requires_call()) {
        match explore::any_test(work, deadline) {
            Ok(test) => {
                let mut once = [test.clone()];
                let own = run_for_coverage(
                    work.module(),
                    work.task.func,
                    &mut once,
                    &work.watch,
                    deadline,
                    &work.plan.request.interrupt,
                );
                evaluated.rows.extend(own.rows);
                tests.push(test);
            }
            Err(why) => not_called = why,
        }
    }
    round(work, &mut tests);
    Reduced { tests, evaluated, not_called }
}

/// Returns true if a measured suite covers everything that a test can cover.
fn is_complete(work: &Work<'_>) -> bool {
    let is_missing = |(id, objective): (_, &Objective)| {
        !work.objectives.settled.contains(&id) && !matches!(objective.status, Status::Infeasible(_))
    };
    work.plan.suite.is_some() && !work.objectives.list.iter().any(is_missing)
}

/// Shortens objects and rounds numbers where no test depends on them. User-specified constraints on inputs are unknown
/// to these runs, so tests with such constraints stay as they are.
fn round(work: &Work<'_>, tests: &mut [TestCase]) {
    const RUNS: u32 = 2_000;
    let program = &work.plan.program;
    let limits =
        |function: &str| [precondition::SUFFIX, "_pre"].iter().any(|suffix| program.helper(function, suffix).is_some());
    if !work.config.ranges.is_empty() || work.config.precondition.is_some() {
        return;
    }
    let mut runs = RUNS;
    for test in tests {
        if !limits(&test.function) && !test.earlier().iter().any(|call| limits(&call.function)) {
            if work.config.lengths.is_empty() && work.config.strings.is_none() {
                shorten_objects(work.module(), work.task.func, test, &work.watch, &mut runs);
            }
            round_numbers(work.module(), work.task.func, test, &work.watch, &mut runs);
            test.heap = program.heap_of(work.task.func, test);
        }
    }
}

/// Selects one test for each error that callers should know; not for a null pointer or a short object if the length of
/// pointees is unspecified, and not for a state that no call sequence was shown to reach.
fn findings(work: &Work<'_>, tests: &[TestCase]) -> BTreeSet<usize> {
    let is_short = |test: &TestCase| {
        let objects = matches!(&test.kind, TestKind::Function { objects, .. } if !objects.is_empty());
        objects && work.config.lengths.is_empty()
    };
    let (mut known, mut found) = (BTreeSet::new(), BTreeSet::new());
    for (index, test) in tests.iter().enumerate() {
        let Outcome::Error { kind, span } = test.outcome else { continue };
        let expected = kind == ErrorKind::NullPointer || (kind == ErrorKind::OutOfBounds && is_short(test));
        let is_reachable = test.heap != HeapOrigin::NotShownReachable;
        if !expected && is_reachable && known.insert((kind, span)) {
            found.insert(index);
        }
    }
    found
}

/// Returns the rows of decisions with independence pairs that must survive the reduction.
fn rows_for_pairs(work: &Work<'_>, tests: &[TestCase], evaluated: &TestRows) -> Vec<Vec<EvaluatedRow>> {
    if !work.watch.goals.values().any(|goal| matches!(goal, Goal::Independent { .. })) {
        return Vec::new();
    }
    let mut rows: Vec<Vec<EvaluatedRow>> = tests.iter().map(|test| evaluated.rows(test).to_vec()).collect();
    if !work.suite_rows.is_empty() {
        rows.push(work.suite_rows.iter().map(|(_, row)| row.clone()).collect());
    }
    for rows in &mut rows {
        rows.retain(|(func, decision, _)| work.watch.asks_for_mcdc(*func, *decision));
    }
    rows
}
