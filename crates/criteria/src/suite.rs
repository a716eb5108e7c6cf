//! From what was found to verdicts, and from all tests to a small suite.

use crate::mcdc::independence_pairs::{EvaluatedRows, unique_cause};
use crate::{
    GoalId, HeapOrigin, IncompletePaths, ObjectiveCounts, Objectives, Outcome, Proof, Row, Status, TestCase,
    WhyInfeasible, WhyUnknown,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use touchstone_base::{Deadline, Files};
use touchstone_ir::{DecisionId, FuncId};

/// Gives every objective its verdict: covered by a test, or as the ruling says.
pub fn conclude(objectives: &mut Objectives, tests: &[TestCase], ruling: &UncoveredEvidence<'_>, files: &Files) {
    let Objectives { list, settled, .. } = objectives;
    let mut by_goal: BTreeMap<GoalId, Vec<String>> = BTreeMap::new();
    for test in tests {
        for goal in test.covers.iter().copied().collect::<BTreeSet<_>>() {
            by_goal.entry(goal).or_default().push(test.id.clone());
        }
    }
    for id in list.ids() {
        let covering = by_goal.remove(&id).unwrap_or_default();
        let objective = &mut list[id];
        if let Status::Covered(known) = &mut objective.status {
            // A suite that was there before.
            known.extend(covering);
        } else if objective.status != Status::Unaffected && !covering.is_empty() {
            objective.status = Status::Covered(covering);
        } else if !settled.contains(&id) && !matches!(objective.status, Status::Infeasible(_)) {
            objective.status = ruling.of(id, files);
        }
    }
}

/// The evidence about goals that no test covers.
#[derive(Clone, Debug)]
pub struct UncoveredEvidence<'a> {
    /// Goals that no run reaches: everything was explored.
    pub excluded: &'a BTreeSet<GoalId>,
    /// Goals that some static proof rules out.
    pub proved: &'a BTreeMap<GoalId, Proof>,
    /// The reasons that are known for single goals.
    pub doubted: &'a BTreeMap<GoalId, Vec<IncompletePaths>>,
    /// The reasons that hold for all goals.
    pub incomplete: &'a [IncompletePaths],
}

impl UncoveredEvidence<'_> {
    fn of(&self, id: GoalId, files: &Files) -> Status {
        if self.excluded.contains(&id) {
            return Status::Infeasible(WhyInfeasible::Exhaustive);
        }
        if let Some(proof) = self.proved.get(&id) {
            return Status::Infeasible(WhyInfeasible::Proved(*proof));
        }
        let own = self.doubted.get(&id).map(Vec::as_slice).filter(|reasons| !reasons.is_empty());
        let reasons = own.unwrap_or(&self.incomplete[..self.incomplete.len().min(1)]);
        let Some(first) = reasons.first() else { return Status::Unknown(WhyUnknown::NotFollowed) };
        let why = reasons.iter().map(|paths| paths.why.clone()).collect();
        Status::Unknown(WhyUnknown::GivenUp { why, place: first.span.display(files).to_string() })
    }
}

/// A small part of the tests that covers as much as all of them: greedy, the test that adds most first, earlier ones
/// where several add the same. Keeps the order of the tests.
///
/// `rows` are what each test evaluated of the decisions whose independence pairs matter: a condition that has a
/// unique-cause pair in all tests has one in those that stay.
/// `stay` are tests that stay whatever they cover. `settled` needs no test; if there are more `rows` than tests, the last ones are of tests that stay anyway.
/// Without the time to look for pairs, all tests stay.
pub fn reduce(
    tests: Vec<TestCase>,
    rows: &[Vec<(FuncId, DecisionId, Row)>],
    settled: &BTreeSet<GoalId>,
    stay: &BTreeSet<usize>,
    deadline: Deadline,
) -> Vec<TestCase> {
    let mut missing: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    missing.retain(|goal| !settled.contains(goal));
    let mut kept: BTreeSet<usize> = (tests.len()..rows.len()).collect();
    let goes_wrong = |test: &TestCase| matches!(test.outcome, Outcome::Error { .. } | Outcome::Hung);
    // The gain of a test only decreases, so a test whose gain is unchanged since its last evaluation is the best. Tests
    // that end in an error come after the others, and tests on a heap that may be unreachable come last.
    let reachable = |heap: HeapOrigin| match heap {
        HeapOrigin::Constructed => 2,
        HeapOrigin::Made => 1,
        HeapOrigin::NotShownReachable => 0,
    };
    let rank = |test: &TestCase| (!goes_wrong(test), reachable(test.heap));
    let mut waiting: BinaryHeap<((bool, u8), usize, Reverse<usize>)> =
        tests.iter().enumerate().map(|(index, test)| (rank(test), test.covers.len(), Reverse(index))).collect();
    while let Some((rank, known, Reverse(index))) = waiting.pop().filter(|_| !missing.is_empty()) {
        let gain = tests[index].covers.iter().filter(|goal| missing.contains(goal)).count();
        if gain < known {
            waiting.push((rank, gain, Reverse(index)));
        } else if gain > 0 {
            for goal in &tests[index].covers {
                missing.remove(goal);
            }
            kept.insert(index);
        }
    }
    kept.extend(stay);
    keep_pairs(&mut kept, rows, deadline);
    if deadline.is_over() && !rows.is_empty() {
        return tests;
    }
    tests.into_iter().enumerate().filter(|(index, _)| kept.contains(index)).map(|(_, test)| test).collect()
}

/// Adds tests until every condition that has a unique-cause pair has one in what is kept: one test more where that is
/// enough, else two. Stops at the deadline, unfinished.
pub(crate) fn keep_pairs(kept: &mut BTreeSet<usize>, rows: &[Vec<(FuncId, DecisionId, Row)>], deadline: Deadline) {
    let seen = |tests: &BTreeSet<usize>| {
        let mut seen = EvaluatedRows::default();
        tests.iter().filter_map(|test| rows.get(*test)).for_each(|rows| seen.add(rows));
        seen.paired(deadline)
    };
    let all = seen(&(0..rows.len()).collect());
    loop {
        let paired = seen(kept);
        let Some(&(func, decision, condition)) = all.difference(&paired).next() else { return };
        let own = |test: usize| rows[test].iter().filter(move |row| (row.0, row.1) == (func, decision));
        let is_pair =
            |a: usize, b: usize| own(a).any(|(_, _, a)| own(b).any(|(_, _, b)| unique_cause(a, b) == Some(condition)));
        let late = || deadline.is_over();
        let completes = |test: &usize| late() || kept.iter().any(|other| *other < rows.len() && is_pair(*test, *other));
        let pair = || {
            (0..rows.len()).flat_map(|a| (a..rows.len()).map(move |b| (a, b))).find(|(a, b)| late() || is_pair(*a, *b))
        };
        if late() {
            return;
        }
        match (0..rows.len()).find(completes).map(|one| (one, one)).or_else(pair) {
            Some((a, b)) => kept.extend([a, b]),
            None => return,
        }
    }
}

/// Objectives of a criterion by status.
pub fn count(objectives: &Objectives, criterion: &str) -> ObjectiveCounts {
    let mut counts = ObjectiveCounts::default();
    for objective in objectives.list.values().filter(|objective| objective.criterion == criterion) {
        if objective.status == Status::Unaffected {
            counts.unaffected += 1;
            continue;
        }
        counts.total += 1;
        match objective.status {
            Status::Covered(_) => counts.covered += 1,
            Status::Infeasible(_) => counts.infeasible += 1,
            Status::Unknown(_) => counts.unknown += 1,
            Status::Uncovered => counts.uncovered += 1,
            Status::Unaffected => {}
        }
    }
    counts
}
