//! Rounds on symbolic heaps: goals that API sequences leave open are tried on objects with arbitrary field values,
//! which no API sequence may construct. Such rounds only add tests, and their tests are marked.

use super::grow::more_objects;
use super::rounds::{MAX_STEPS_LATER_ROUNDS, RoundContext, RoundCoverage, TestCollector, add, round_coverage, stopped};
use crate::java::{JavaProgram, SymbolicHeapRound};
use crate::request::ObjectLimit;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, GoalId, Incomplete, IncompletePaths};
use touchstone_engine::{Config, ExcludedChoice, ExplorationResult, Goals, Growth, explore_further};

/// The limit on objects per path in the first round, strings and arrays included.
const FIRST_ROUND_OBJECTS: u32 = 4;

/// The share of the time that is reserved for these rounds, as a divisor.
const RESERVED_TIME_DIVISOR: u32 = 6;

/// Returns the deadline of rounds with constructed objects, if rounds on symbolic heaps follow.
pub(crate) fn reserve_time(deadline: Deadline) -> Deadline {
    let most = |left: Duration| left - left / RESERVED_TIME_DIVISOR;
    deadline.or_earlier(Deadline::within(deadline.left().map(most)))
}

/// Searches for tests on symbolic heaps; `config` is that of the last round, with the deadline of the function.
pub(crate) fn search_symbolic_heaps(
    rounds: &RoundContext<'_, '_>,
    java: &JavaProgram,
    config: &Config,
    found: &mut ExplorationResult,
    collector: &mut dyn TestCollector,
) {
    let mut bound = None;
    for turn in java.symbolic_heap_rounds(rounds.func) {
        bound = heap_round(rounds, &turn, config, found, collector).or(bound);
    }
    let round_coverage: BTreeSet<GoalId> =
        collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect();
    found.open.retain(|goal| !round_coverage.contains(goal));
    if !found.open.is_empty() {
        found.result.incomplete.extend(bound);
    }
}

/// Runs rounds in which the same objects are symbolic; returns the paths that exceeded the limit on objects at last.
fn heap_round(
    rounds: &RoundContext<'_, '_>,
    turn: &SymbolicHeapRound,
    config: &Config,
    found: &mut ExplorationResult,
    collector: &mut dyn TestCollector,
) -> Option<IncompletePaths> {
    let (mut max_objects, mut bound) = match rounds.growing.objects {
        ObjectLimit::Fixed => (config.max_objects, None),
        ObjectLimit::Grow => (FIRST_ROUND_OBJECTS, None),
    };
    while !config.deadline.is_over() && !stopped(&found.result.incomplete) {
        let RoundCoverage { untested, closed } = round_coverage(rounds.objectives, Some(found), collector.tests());
        if untested.is_empty() {
            break;
        }
        let forced = |way: &ExcludedChoice| (way.choice.clone(), (i128::from(way.value), i128::from(way.value)));
        let mut ranges = config.ranges.clone();
        ranges.extend(turn.inputs.iter().map(forced));
        let config = Config {
            ranges,
            excluded_choices: turn.not_taken.clone(),
            max_objects,
            growth: Some(Growth::default()),
            first_round: Deadline::NEVER,
            deadline: config.deadline.or_earlier(Deadline::within(config.deadline.left().map(|left| left / 2))),
            steps: config.steps.min(MAX_STEPS_LATER_ROUNDS),
            ..config.clone()
        };
        let goals = Goals { closed: closed.into_iter().collect(), watch: Arc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
        collector.begin_round(None);
        let wider = match rounds.growing.objects {
            ObjectLimit::Fixed => max_objects,
            ObjectLimit::Grow => more_objects(max_objects, &more.result.incomplete),
        };
        let is_bound = |paths: &&IncompletePaths| paths.why == Incomplete::Bound(Bound::MaxObjects);
        bound = more.result.incomplete.iter().find(is_bound).cloned();
        add(found, more);
        if wider == max_objects {
            break;
        }
        max_objects = wider;
    }
    bound
}
