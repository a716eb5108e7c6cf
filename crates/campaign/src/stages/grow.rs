//! Rounds after the first: while something is open and time is left, objects behind input pointers grow. Something is also
//! open if only tests that go wrong cover it: a caller who passes enough may see it without.

use super::rounds::{Collector, Covered, LATER_STEPS, Rounds, add, covered, stopped};
use super::vary::{Turn, vary};
use crate::request::{Growing, Objects};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, Caveat, GoalId, Incomplete, IncompletePaths, Unsupported};
use touchstone_engine::{Config, ExplorationResult, Goals, Growth, InteriorPointers, SeedPool, explore_further};

/// Objects behind pointers of one path, at most.
const MOST_OBJECTS: u32 = 16;

/// Tests are varied for at most this share of the time that rounds of the search took, but for the first time and the last.
const VARIED: f64 = 0.3;

/// Rounds are quick while the time that is left is so many times what they took.
const QUICK: u32 = 10;

/// Explores further, as long as that may help; what the last round was asked.
pub(crate) fn grow(
    rounds: &Rounds<'_, '_>,
    found: &mut ExplorationResult,
    pool: &mut SeedPool,
    collector: &mut dyn Collector,
) -> Config {
    let mut last = rounds.config.clone();
    let Growing { most, while_quick, objects } = rounds.growing;
    if stopped(&found.result.incomplete) {
        return last;
    }
    let more_objects = |now, incomplete: &[IncompletePaths]| match objects {
        Objects::Said => now,
        Objects::Grow => more_objects(now, incomplete),
    };
    let longer_arrays = |now, incomplete: &[IncompletePaths]| match rounds.module.has_classes() {
        true => longer_arrays(now, most, incomplete),
        false => now,
    };
    let mut array_length = longer_arrays(rounds.config.array_length, &found.result.incomplete);
    let mut max_objects = more_objects(rounds.config.max_objects, &found.result.incomplete);
    let mut next = Growth::default().after(&found.shortage, most);
    let Covered { untested, closed } = covered(rounds.wanted, Some(found), collector.tests());
    let wider = max_objects > rounds.config.max_objects || array_length > rounds.config.array_length;
    if wider || untested.len() + closed.len() < rounds.wanted.goals.len() {
        // To take for granted what callers do may be enough.
        next = next.or_else(|| Some(Growth::default()));
    }
    let (deadline, begun) = (rounds.config.deadline, Instant::now());
    let (mut turn, mut varied) = (0, Duration::ZERO);
    while !deadline.is_over() {
        // Rounds may be many and short.
        if turn == 0 || varied.as_secs_f64() < VARIED * found.result.seconds {
            varied += vary(rounds, Some(found), pool, collector, Turn::Before(turn));
            found.result.tests = collector.tests().len() as u64;
        }
        turn += 1;
        let Covered { untested, closed } = covered(rounds.wanted, Some(found), collector.tests());
        if closed.len() >= rounds.wanted.goals.len() {
            break;
        }
        let Some(growth) = next else { break };
        let so_far = Duration::from_secs_f64(found.result.seconds.max(0.0));
        let round_time = |length: u64| {
            let half = deadline.left().map(|left| left / 2);
            // Longer texts have more paths than anybody follows: what they are for is found soon.
            let soon = (length > rounds.config.array_length).then(|| (2 * so_far).max(AT_LEAST));
            half.map_or(soon, |half| Some(soon.map_or(half, |soon| half.min(soon))))
        };
        let config = Config {
            growth: Some(growth.clone()),
            // What follows may do better still.
            deadline: deadline.or_earlier(Deadline::within(round_time(array_length))),
            first_round: Deadline::NEVER,
            max_objects,
            array_length,
            steps: rounds.config.steps.min(LATER_STEPS),
            ..rounds.config.clone()
        };
        let goals = Goals { closed: closed.into_iter().collect(), watch: Rc::clone(rounds.watch) };
        collector.begin_round(Some(untested));
        let tests = collector.tests().len() as u64;
        let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
        collector.begin_round(None);
        let wider = more_objects(max_objects, &more.result.incomplete);
        let longer = longer_arrays(array_length, &more.result.incomplete);
        let shortage = add(found, more);
        last = Config { deadline, steps: rounds.config.steps, ..config };
        let is_quick = deadline.left().is_none_or(|left| begun.elapsed() * QUICK < left);
        let differs = wider > max_objects || longer > array_length;
        next = growth.after(&shortage, most).or(differs.then(|| growth.clone()));
        next = next.or_else(|| growth.after(&shortage, while_quick).filter(|_| is_quick));
        (max_objects, array_length) = (wider, longer);
    }
    inside(rounds, found, &last, collector);
    vary(rounds, Some(found), pool, collector, Turn::Last);
    found.result.tests = collector.tests().len() as u64;
    let covered: BTreeSet<GoalId> = collector.tests().iter().flat_map(|test| test.covers.iter().copied()).collect();
    found.open.retain(|goal| !covered.contains(goal));
    last
}

/// A round in which pointers lead into parts of other things, if something is open that may be so.
fn inside(rounds: &Rounds<'_, '_>, found: &mut ExplorationResult, last: &Config, collector: &mut dyn Collector) {
    let deadline = rounds.config.deadline;
    let overlaps = |why: &Incomplete| {
        matches!(why, Incomplete::Doubt(Caveat::Overlap) | Incomplete::Unsupported(Unsupported::OverwrittenPointer))
    };
    let doubted = found.result.incomplete.iter().any(|paths| overlaps(&paths.why));
    let Covered { untested, closed } = covered(rounds.wanted, Some(found), collector.tests());
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
    let goals = Goals { closed: closed.into_iter().collect(), watch: Rc::clone(rounds.watch) };
    collector.begin_round(Some(untested));
    let tests = collector.tests().len() as u64;
    let more = explore_further(rounds.module, rounds.func, goals, &config, collector, tests);
    collector.begin_round(None);
    add(found, more);
}

/// How many objects a path may have next, if some had too few.
pub(crate) fn more_objects(now: u32, incomplete: &[IncompletePaths]) -> u32 {
    let too_few = incomplete.iter().any(|paths| paths.why == Incomplete::Bound(Bound::MaxObjects));
    if too_few { (2 * now).min(MOST_OBJECTS).max(now) } else { now }
}

/// How many elements arrays that say their length may have next, if some had too few.
fn longer_arrays(now: u64, most: u64, incomplete: &[IncompletePaths]) -> u64 {
    let too_short = incomplete.iter().any(|paths| paths.why == Incomplete::Bound(Bound::Length));
    if too_short { (2 * now).min(most).max(now) } else { now }
}

/// A round with longer arrays takes at most so long, or twice as long as all before it.
const AT_LEAST: Duration = Duration::from_secs(1);
