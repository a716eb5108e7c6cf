//! Rounds after the first: while something is open and time is left, objects behind input pointers grow. Something is also
//! open if only tests that go wrong cover it: a caller who passes enough may see it without.

use crate::explore::Writer;
use crate::work::Work;
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::Deadline;
use touchstone_criteria::{Bound, Goal, GoalId, Incomplete, IncompletePaths, Outcome, TestCase};
use touchstone_engine::{Config, Found, Goals, Growth, Shortage, explore_further};

/// Objects behind pointers of one path, at most.
const MOST_OBJECTS: u32 = 16;

/// Explores further, as long as that may help; what the last round was asked.
pub(crate) fn grow(work: &Work<'_>, found: &mut Found, writer: &mut Writer<'_, '_>) -> Config {
    let mut last = work.config.clone();
    let most = work.plan.request.inputs.grow;
    // The first of these rounds takes for granted what callers do, and may need no longer objects for it.
    let mut next = Some(Growth::default().after(&found.shortage, most).unwrap_or_default());
    let said = work.plan.request.inputs.max_objects.is_some();
    let more_objects = |now, incomplete: &[IncompletePaths]| if said { now } else { more_objects(now, incomplete) };
    let mut max_objects = more_objects(work.config.max_objects, &found.result.incomplete);
    let deadline = work.config.deadline;
    while !deadline.is_over() {
        let Covered { untested, closed } = covered(work, found, &writer.tests);
        if closed.len() >= work.wanted.goals.len() {
            break;
        }
        let Some(growth) = next else { break };
        let config = Config {
            growth: Some(growth.clone()),
            // What follows may do better still.
            deadline: deadline.or_earlier(Deadline::within(deadline.left().map(|left| left / 2))),
            first_round: Deadline::NEVER,
            max_objects,
            ..work.config.clone()
        };
        let goals = Goals { closed: closed.into_iter().collect(), watch: Rc::clone(&work.watch) };
        writer.untested = Some(untested);
        let tests = writer.tests.len() as u64;
        let more = explore_further(work.module(), work.task.func, goals, &config, writer, tests);
        writer.untested = None;
        let wider = more_objects(max_objects, &more.result.incomplete);
        let shortage = add(found, more);
        last = Config { deadline, ..config };
        next = growth.after(&shortage, most).or((wider > max_objects).then_some(growth));
        max_objects = wider;
    }
    let covered: BTreeSet<GoalId> = writer.tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    found.open.retain(|goal| !covered.contains(goal));
    last
}

/// How many objects a path may have next, if some had too few.
fn more_objects(now: u32, incomplete: &[IncompletePaths]) -> u32 {
    let too_few = incomplete.iter().any(|paths| paths.why == Incomplete::Bound(Bound::MaxObjects));
    if too_few { (2 * now).min(MOST_OBJECTS).max(now) } else { now }
}

/// What the tests so far cover.
struct Covered {
    /// Goals without any test.
    untested: BTreeSet<GoalId>,
    /// Goals that need no other.
    closed: BTreeSet<GoalId>,
}

fn covered(work: &Work<'_>, found: &Found, tests: &[TestCase]) -> Covered {
    let goals = &work.wanted.goals;
    let mut untested: BTreeSet<GoalId> = goals.ids().collect();
    let mut closed: BTreeSet<GoalId> = work.wanted.settled.union(&found.excluded).copied().collect();
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
    if found.result.exhaustive {
        // What tests can make was all tried.
        closed.extend(&found.open);
    }
    untested.retain(|goal| !closed.contains(goal));
    Covered { untested, closed }
}

/// Adds what a round did; what was too short for it.
fn add(found: &mut Found, more: Found) -> Shortage {
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
