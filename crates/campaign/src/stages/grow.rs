//! Rounds in which input objects grow, while goals are open and time is left. A goal is also open if only failing tests
//! cover it: a larger object may reach it without the failure.

use super::rounds::{MAX_STEPS_LATER_ROUNDS, RoundContext, RoundCoverage, TestCollector, add, round_coverage, stopped};
use super::vary::{VariationTurn, vary};
use crate::request::{GrowthLimits, ObjectLimit};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Deadline, work_time};
use touchstone_criteria::{Bound, Caveat, GoalId, Incomplete, IncompletePaths, Unsupported};
use touchstone_engine::{Config, ExplorationResult, Goals, Growth, InteriorPointers, SeedPool, explore_further};

/// The maximum number of objects per path.
const MAX_OBJECTS: u32 = 16;

/// The share of the search time that variation may take, except for the first and the last time.
const VARIATION_TIME_SHARE: f64 = 0.3;

/// Rounds are quick while the remaining time is this many times what they took.
const QUICK_ROUND_FACTOR: u32 = 10;

/// Explores further as long as that may help; returns the configuration of the last round.
pub(crate) fn grow(
    rounds: &RoundContext<'_, '_>,
    found: &mut ExplorationResult,
    pool: &mut SeedPool,
    collector: &mut dyn TestCollector,
) -> Config {
    let mut last = rounds.config.clone();
    let GrowthLimits { max_elements: most, max_while_quick, objects } = rounds.growing;
    if stopped(&found.result.incomplete) {
        return last;
    }
    let more_objects = |now, incomplete: &[IncompletePaths]| match objects {
        ObjectLimit::Fixed => now,
        ObjectLimit::Grow => more_objects(now, incomplete),
    };
    let longer_arrays = |now, incomplete: &[IncompletePaths]| match rounds.module.has_classes() {
        true => longer_arrays(now, most, incomplete),
        false => now,
    };
    let mut array_length = longer_arrays(rounds.config.array_length, &found.result.incomplete);
    let mut max_objects = more_objects(rounds.config.max_objects, &found.result.incomplete);
    let mut next = Growth::default().after(&found.shortage, most);
    let RoundCoverage { untested, closed } = round_coverage(rounds.objectives, Some(found), collector.tests());
    let wider = max_objects > rounds.config.max_objects || array_length > rounds.config.array_length;
    if wider || untested.len() + closed.len() < rounds.objectives.goals.len() {
        // Assumptions about callers may be enough.
        next = next.or_else(|| Some(Growth::default()));
    }
    let (deadline, begun) = (rounds.config.deadline, work_time());
    let (mut turn, mut varied) = (0, Duration::ZERO);
    while !deadline.is_over() {
        // Rounds may be many and short.
        if turn == 0 || varied < found.work.mul_f64(VARIATION_TIME_SHARE) {
            varied += vary(rounds, Some(found), pool, collector, VariationTurn::Before(turn));
            found.result.tests = collector.tests().len() as u64;
        }
        turn += 1;
        let RoundCoverage { untested, closed } = round_coverage(rounds.objectives, Some(found), collector.tests());
        if closed.len() >= rounds.objectives.goals.len() {
            break;
        }
        let Some(growth) = next else { break };
        let so_far = found.work;
        let round_time = |length: u64| {
            let half = deadline.left().map(|left| left / 2);
            // Long strings have too many paths to explore: a goal that needs them is found soon.
            let soon = (length > rounds.config.array_length).then(|| (2 * so_far).max(MIN_ROUND_TIME));
            half.map_or(soon, |half| Some(soon.map_or(half, |soon| half.min(soon))))
        };
        let config = Config {
            growth: Some(growth.clone()),
            // Later rounds may do better.
            deadline: deadline.or_earlier(Deadline::within(round_time(array_length))),
            first_round: Deadline::NEVER,
            max_objects,
            array_length,
            steps: rounds.config.steps.min(MAX_STEPS_LATER_ROUNDS),
            ..rounds.config.clone()
        };
        let goals = Goals { closed: closed.into_iter().collect(), watch: Arc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
        collector.begin_round(None);
        let wider = more_objects(max_objects, &more.result.incomplete);
        let longer = longer_arrays(array_length, &more.result.incomplete);
        let shortage = add(found, more);
        last = Config { deadline, steps: rounds.config.steps, ..config };
        let is_quick = deadline.left().is_none_or(|left| (work_time() - begun) * QUICK_ROUND_FACTOR < left);
        let differs = wider > max_objects || longer > array_length;
        next = growth.after(&shortage, most).or(differs.then(|| growth.clone()));
        next = next.or_else(|| growth.after(&shortage, max_while_quick).filter(|_| is_quick));
        (max_objects, array_length) = (wider, longer);
    }
    inside(rounds, found, &last, collector);
    vary(rounds, Some(found), pool, collector, VariationTurn::Last);
    found.result.tests = collector.tests().len() as u64;
    let round_coverage: BTreeSet<GoalId> =
        collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect();
    found.open.retain(|goal| !round_coverage.contains(goal));
    last
}

/// Runs a round in which pointers may point into other objects, if an open goal may need that.
fn inside(
    rounds: &RoundContext<'_, '_>,
    found: &mut ExplorationResult,
    last: &Config,
    collector: &mut dyn TestCollector,
) {
    let deadline = rounds.config.deadline;
    let overlaps = |why: &Incomplete| {
        matches!(why, Incomplete::Doubt(Caveat::Overlap) | Incomplete::Unsupported(Unsupported::OverwrittenPointer))
    };
    let doubted = found.result.incomplete.iter().any(|paths| overlaps(&paths.why));
    let RoundCoverage { untested, closed } = round_coverage(rounds.objectives, Some(found), collector.tests());
    if !doubted || untested.is_empty() || deadline.is_over() || stopped(&found.result.incomplete) {
        return;
    }
    let config = Config {
        growth: last.growth.clone().or_else(|| Some(Growth::default())),
        interior_pointers: InteriorPointers::Included,
        deadline: deadline.or_earlier(Deadline::within(deadline.left().map(|left| left / 2))),
        first_round: Deadline::NEVER,
        ..last.clone()
    };
    let goals = Goals { closed: closed.into_iter().collect(), watch: Arc::clone(rounds.watch) };
    collector.begin_round(Some(untested));
    let tests = collector.tests().len() as u64;
    let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
    collector.begin_round(None);
    add(found, more);
}

/// Returns the next limit on objects per path: it grows if some path exceeded it.
pub(crate) fn more_objects(now: u32, incomplete: &[IncompletePaths]) -> u32 {
    let too_few = incomplete.iter().any(|paths| paths.why == Incomplete::Bound(Bound::MaxObjects));
    if too_few { (2 * now).min(MAX_OBJECTS).max(now) } else { now }
}

/// Returns the next limit on the length of arrays: it grows if some path exceeded it.
fn longer_arrays(now: u64, most: u64, incomplete: &[IncompletePaths]) -> u64 {
    let too_short = incomplete.iter().any(|paths| paths.why == Incomplete::Bound(Bound::Length));
    if too_short { (2 * now).min(most).max(now) } else { now }
}

/// A round with longer arrays takes at most this time, or twice the time of all rounds before.
const MIN_ROUND_TIME: Duration = Duration::from_secs(1);
