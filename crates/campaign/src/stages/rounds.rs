//! What all rounds of a search share.

use crate::java::FirstInputs;
use crate::request::Growing;
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_criteria::{
    Bound, Goal, GoalId, GoalIndex, Incomplete, IncompletePaths, Objectives, Outcome, TestCase, Untestable,
};
use touchstone_engine::{Config, ExplorationResult, MachineTemplates, Shortage, Sink};
use touchstone_ir::{FuncId, Module};

/// Steps of a path in later rounds, at most: they only look for tests, and who walks in circles finds none.
pub(crate) const LATER_STEPS: u64 = 100_000;

/// What rounds are for.
pub(crate) struct Rounds<'a, 'm> {
    pub module: &'a Module,
    /// What tests run on.
    pub machines: &'a MachineTemplates<'m>,
    pub func: FuncId,
    pub wanted: &'a Objectives,
    pub watch: &'a Rc<GoalIndex>,
    /// What the first round was asked.
    pub config: &'a Config,
    pub growing: Growing,
    /// What is run before tests are varied by chance.
    pub first: FirstInputs,
}

/// Takes the tests of all rounds.
pub(crate) trait Collector: Sink {
    /// Those so far.
    fn tests(&self) -> &[TestCase];
    /// From now on, a test that goes wrong is no gain but for these.
    fn begin_round(&mut self, untested: Option<BTreeSet<GoalId>>);
}

/// Why a test is no gain in a round in which only these goals have none.
pub(crate) fn no_gain(untested: Option<&BTreeSet<GoalId>>, test: &TestCase) -> Option<Untestable> {
    match (untested, &test.outcome) {
        (Some(untested), Outcome::Error { kind, .. }) if !test.covers.iter().any(|goal| untested.contains(goal)) => {
            Some(Untestable::NothingNew(*kind))
        }
        _ => None,
    }
}

/// Whether a bound ended the round that would end the next as well.
pub(crate) fn stopped(incomplete: &[IncompletePaths]) -> bool {
    let ends = |why: &Incomplete| {
        matches!(why, Incomplete::Bound(Bound::MaxPaths | Bound::Memory | Bound::Interrupted | Bound::Questions))
    };
    incomplete.iter().any(|paths| ends(&paths.why))
}

/// What the tests so far cover.
pub(crate) struct Covered {
    /// Goals without any test.
    pub untested: BTreeSet<GoalId>,
    /// Goals that need no other.
    pub closed: BTreeSet<GoalId>,
}

pub(crate) fn covered(wanted: &Objectives, found: Option<&ExplorationResult>, tests: &[TestCase]) -> Covered {
    let goals = &wanted.goals;
    let mut untested: BTreeSet<GoalId> = goals.ids().collect();
    let mut closed: BTreeSet<GoalId> = wanted.settled.clone();
    closed.extend(found.iter().flat_map(|found| &found.excluded));
    for test in tests {
        let goes_wrong = matches!(test.outcome, Outcome::Error { .. });
        for goal in &test.covers {
            untested.remove(goal);
            // To go wrong is all that is asked of some.
            if !goes_wrong || matches!(goals.get(*goal), Some(Goal::Error { .. })) {
                closed.insert(*goal);
            }
        }
    }
    if let Some(found) = found.filter(|found| found.result.exhaustive) {
        // What tests can make was all tried.
        closed.extend(&found.open);
    }
    untested.retain(|goal| !closed.contains(goal));
    Covered { untested, closed }
}

/// Adds what a round did; what was too short for it.
pub(crate) fn add(found: &mut ExplorationResult, more: ExplorationResult) -> Shortage {
    let (result, round) = (&mut found.result, more.result);
    result.paths.explored += round.paths.explored;
    result.paths.error += round.paths.error;
    result.paths.infeasible += round.paths.infeasible;
    result.tests = round.tests;
    result.seconds += round.seconds;
    result.solver.queries += round.solver.queries;
    result.solver.seconds += round.solver.seconds;
    found.labels_asked += more.labels_asked;
    found.labels_found += more.labels_found;
    more.shortage
}
