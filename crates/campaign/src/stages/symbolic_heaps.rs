//! Rounds on heaps that no calls may make, where only code of the program makes objects whole: what calls leave open is tried on
//! objects with whatever their fields hold. They only add tests, and such a test says what it rests on.

use super::grow::more_objects;
use super::rounds::{Collector, Covered, LATER_STEPS, Rounds, add, covered, stopped};
use crate::java::{AnyHeap, JavaProgram};
use crate::request::Objects;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, GoalId, Incomplete, IncompletePaths};
use touchstone_engine::{Config, ExcludedChoice, ExplorationResult, Goals, Growth, explore_further};

/// Objects of one path in the first round, texts and arrays included.
const FIRST_OBJECTS: u32 = 4;

/// What calls leave of the time.
const SHARE: u32 = 6;

/// When rounds with objects that calls make are over, if others follow.
pub(crate) fn leave_time(deadline: Deadline) -> Deadline {
    let most = |left: Duration| left - left / SHARE;
    deadline.or_earlier(Deadline::within(deadline.left().map(most)))
}

/// Looks for tests on any heap; `config` is what the last round was asked, with the time of all.
pub(crate) fn any_heap(
    rounds: &Rounds<'_, '_>,
    java: &JavaProgram,
    config: &Config,
    found: &mut ExplorationResult,
    collector: &mut dyn Collector,
) {
    let mut bound = None;
    for turn in java.any_heap(rounds.func) {
        bound = one_turn(rounds, &turn, config, found, collector).or(bound);
    }
    let covered: BTreeSet<GoalId> = collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect();
    found.open.retain(|goal| !covered.contains(goal));
    if !found.open.is_empty() {
        found.result.incomplete.extend(bound);
    }
}

/// Rounds in which the same objects are inputs; which paths had too few objects at last.
fn one_turn(
    rounds: &Rounds<'_, '_>,
    turn: &AnyHeap,
    config: &Config,
    found: &mut ExplorationResult,
    collector: &mut dyn Collector,
) -> Option<IncompletePaths> {
    let (mut max_objects, mut bound) = match rounds.growing.objects {
        Objects::Said => (config.max_objects, None),
        Objects::Grow => (FIRST_OBJECTS, None),
    };
    while !config.deadline.is_over() && !stopped(&found.result.incomplete) {
        let Covered { untested, closed } = covered(rounds.wanted, Some(found), collector.tests());
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
            steps: config.steps.min(LATER_STEPS),
            ..config.clone()
        };
        let goals = Goals { closed: closed.into_iter().collect(), watch: Rc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
        collector.begin_round(None);
        let wider = match rounds.growing.objects {
            Objects::Said => max_objects,
            Objects::Grow => more_objects(max_objects, &more.result.incomplete),
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
