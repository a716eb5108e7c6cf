//! From what was found to verdicts, and from all tests to a small suite.

use crate::{GoalId, IncompletePaths, ObjectiveCounts, Objectives, Status, TestCase};
use std::collections::BTreeSet;
use touchstone_base::Files;

/// Gives every objective its verdict. `incomplete` is what the exploration gave up: if it is empty, nothing was left
/// unexplored, and an objective without test is infeasible.
/// `proved` are goals that a static proof rules out.
pub fn conclude(
    objectives: &mut Objectives,
    tests: &[TestCase],
    incomplete: &[IncompletePaths],
    proved: &[GoalId],
    files: &Files,
) {
    let ids: Vec<GoalId> = objectives.list.ids().collect();
    for id in ids {
        let covering: Vec<String> =
            tests.iter().filter(|test| test.covers.contains(&id)).map(|test| test.id.clone()).collect();
        let objective = &mut objectives.list[id];
        if !covering.is_empty() {
            objective.status = Status::Covered(covering);
        } else if !matches!(objective.status, Status::Infeasible(_)) {
            objective.status = match incomplete.first() {
                Some(_) if proved.contains(&id) => Status::Infeasible("static proof".to_string()),
                None => Status::Infeasible("exhaustive".to_string()),
                Some(first) => Status::Unknown(format!("{} at {}", first.why, first.span.display(files))),
            };
        }
    }
}

/// A small part of the tests that covers as much as all of them: greedy, the test that adds most first, earlier ones
/// where several add the same. Keeps the order of the tests.
pub fn reduce(tests: Vec<TestCase>) -> Vec<TestCase> {
    let mut missing: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let mut kept = BTreeSet::new();
    while !missing.is_empty() {
        let gain = |test: &TestCase| test.covers.iter().filter(|goal| missing.contains(goal)).count();
        let best = (0..tests.len()).max_by_key(|&index| (gain(&tests[index]), usize::MAX - index));
        let Some(best) = best else { break };
        for goal in &tests[best].covers {
            missing.remove(goal);
        }
        kept.insert(best);
    }
    tests.into_iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, test)| test).collect()
}

/// Objectives of a criterion by status.
pub fn count(objectives: &Objectives, criterion: &str) -> ObjectiveCounts {
    let mut counts = ObjectiveCounts::default();
    for objective in objectives.list.values().filter(|objective| objective.criterion == criterion) {
        counts.total += 1;
        match objective.status {
            Status::Covered(_) => counts.covered += 1,
            Status::Infeasible(_) => counts.infeasible += 1,
            Status::Unknown(_) => counts.unknown += 1,
        }
    }
    counts
}
