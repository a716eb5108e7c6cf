//! The common part of all rounds of a search: the goals, the tests so far, and how results are joined.

use crate::java::InitialInputs;
use crate::request::GrowthLimits;
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_criteria::{
    Bound, Goal, GoalId, GoalIndex, Incomplete, IncompletePaths, Objectives, Outcome, TestCase, Untestable,
};
use touchstone_engine::{Config, ExplorationResult, MachineTemplates, Shortage, Sink};
use touchstone_ir::{FuncId, Module};

/// The maximum number of instructions of a path in later rounds: these only search for tests, and long loops find none.
pub(crate) const MAX_STEPS_LATER_ROUNDS: u64 = 100_000;

/// The context of rounds.
pub(crate) struct RoundContext<'a, 'm> {
    pub module: &'a Module,
    /// The interpreters that tests run on.
    pub machines: &'a MachineTemplates<'m>,
    pub func: FuncId,
    pub objectives: &'a Objectives,
    pub watch: &'a Arc<GoalIndex>,
    /// The configuration of the first round.
    pub config: &'a Config,
    pub growing: GrowthLimits,
    /// Inputs that are run before random variation.
    pub first: InitialInputs,
}

/// Receives the tests of all rounds.
pub(crate) trait TestCollector: Sink {
    /// Returns the tests so far.
    fn tests(&self) -> &[TestCase];
    /// From now on, a failing test is accepted only if it covers one of these goals.
    fn begin_round(&mut self, untested: Option<BTreeSet<GoalId>>);
}

/// Returns the reason why a failing test is rejected in a round in which only these goals have no test.
pub(crate) fn rejection(untested: Option<&BTreeSet<GoalId>>, test: &TestCase) -> Option<Untestable> {
    match (untested, &test.outcome) {
        (Some(untested), Outcome::Error { kind, .. }) if !test.covers.iter().any(|goal| untested.contains(goal)) => {
            Some(Untestable::NothingNew(*kind))
        }
        _ => None,
    }
}

/// Returns true if a bound ended the round that would also end the next one.
pub(crate) fn stopped(incomplete: &[IncompletePaths]) -> bool {
    let ends = |why: &Incomplete| {
        matches!(why, Incomplete::Bound(Bound::MaxPaths | Bound::Memory | Bound::Interrupted | Bound::PairQueries))
    };
    incomplete.iter().any(|paths| ends(&paths.why))
}

/// The coverage of the tests so far.
pub(crate) struct RoundCoverage {
    /// Goals without any test.
    pub untested: BTreeSet<GoalId>,
    /// Goals that need no other test.
    pub closed: BTreeSet<GoalId>,
}

pub(crate) fn round_coverage(
    objectives: &Objectives,
    found: Option<&ExplorationResult>,
    tests: &[TestCase],
) -> RoundCoverage {
    let goals = &objectives.goals;
    let mut untested: BTreeSet<GoalId> = goals.ids().collect();
    let mut closed: BTreeSet<GoalId> = objectives.settled.clone();
    closed.extend(found.iter().flat_map(|found| &found.excluded));
    for test in tests {
        let goes_wrong = matches!(test.outcome, Outcome::Error { .. });
        for goal in &test.covers {
            untested.remove(goal);
            // Some goals are errors.
            if !goes_wrong || matches!(goals.get(*goal), Some(Goal::Error { .. })) {
                closed.insert(*goal);
            }
        }
    }
    if let Some(found) = found.filter(|found| found.result.exhaustive) {
        // The exploration was exhaustive, so no test reaches the others.
        closed.extend(&found.open);
    }
    untested.retain(|goal| !closed.contains(goal));
    RoundCoverage { untested, closed }
}

/// Adds the results of a round; returns the shortage that it reported.
pub(crate) fn add(found: &mut ExplorationResult, more: ExplorationResult) -> Shortage {
    let (result, round) = (&mut found.result, more.result);
    result.paths.explored += round.paths.explored;
    result.paths.error += round.paths.error;
    result.paths.infeasible += round.paths.infeasible;
    result.tests = round.tests;
    result.seconds += round.seconds;
    result.solver.queries += round.solver.queries;
    result.solver.seconds += round.solver.seconds;
    found.work += more.work;
    found.labels_asked += more.labels_asked;
    found.labels_found += more.labels_found;
    more.shortage
}
