//! Variation: tests that are mutations of others. They are cheap, so they come before every round of the search and
//! after the last one, and where tests construct objects by calls also before the first one. They only add tests.

use super::rounds::{RoundContext, RoundCoverage, TestCollector, round_coverage};
use crate::java::InitialInputs;
use crate::request::stem;
use std::collections::BTreeSet;
use std::time::Duration;
use touchstone_base::{Deadline, work_time};
use touchstone_criteria::{GoalId, Outcome, TestCase};
use touchstone_engine::{ExplorationResult, MutationGoals, MutationSearch, SearchEvent, SeedPool};

/// The occasion of a variation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VariationTurn {
    /// Before the search, where the many call sequences are cheap to run. One parameter may be held constant.
    First(Option<usize>),
    /// Before the round of the search with this number.
    Before(u64),
    /// After the search.
    Last,
}

impl VariationTurn {
    /// Returns the time: a small share of what is left, with a minimum for slow queries.
    fn time(self, deadline: Deadline) -> Duration {
        let (share, most) = match self {
            VariationTurn::First(_) => (6, 3),
            VariationTurn::Before(_) => (6, 2),
            // Call sequences follow.
            VariationTurn::Last => (2, 4),
        };
        let most = Duration::from_secs(most);
        deadline.left().map_or(most, |left| (left / share).clamp(Duration::from_millis(300), most))
    }

    /// Returns the maximum number of runs without gain.
    fn patience(self) -> u32 {
        match self {
            VariationTurn::First(_) | VariationTurn::Before(_) => 4000,
            VariationTurn::Last => 20_000,
        }
    }

    /// Returns the inputs that are run before random variation.
    fn first(self, first: &InitialInputs) -> &[Vec<(usize, u64)>] {
        match self {
            VariationTurn::First(_) => &first.few,
            VariationTurn::Before(0) => &first.many,
            VariationTurn::Before(_) | VariationTurn::Last => &[],
        }
    }

    /// Returns the parameter that is held constant.
    fn still(self) -> Option<usize> {
        match self {
            VariationTurn::First(still) => still,
            VariationTurn::Before(_) | VariationTurn::Last => None,
        }
    }

    fn number(self) -> u64 {
        match self {
            VariationTurn::First(_) => u64::MAX - 1,
            VariationTurn::Before(number) => number,
            VariationTurn::Last => u64::MAX,
        }
    }
}

/// Varies the tests so far; returns the work time.
pub(crate) fn vary(
    rounds: &RoundContext<'_, '_>,
    found: Option<&ExplorationResult>,
    pool: &mut SeedPool,
    collector: &mut dyn TestCollector,
    turn: VariationTurn,
) -> Duration {
    let begun = work_time();
    let RoundCoverage { untested, closed } = round_coverage(rounds.objectives, found, collector.tests());
    let is_open = |goal: &GoalId| !closed.contains(goal) && !untested.contains(goal);
    let unreturned: BTreeSet<GoalId> = rounds.objectives.goals.ids().filter(is_open).collect();
    if untested.is_empty() && unreturned.is_empty() {
        return Duration::ZERO;
    }
    let variation = MutationSearch {
        machines: rounds.machines,
        func: rounds.func,
        watch: rounds.watch,
        config: rounds.config,
        deadline: Deadline::after(turn.time(rounds.config.deadline)),
        longest: longest(rounds.growing.max_elements),
        patience: turn.patience(),
        still: turn.still(),
        first: turn.first(&rounds.first),
        seed: rounds.config.options.seed.wrapping_add(turn.number()),
    };
    let seeds = collector.tests().to_vec();
    let name = &rounds.module.functions[rounds.func].name;
    let stem = stem(name);
    collector.begin_round(Some(untested.clone()));
    let mut take = |mut test: TestCase| {
        test.id = format!("{stem}_{}", collector.tests().len() + 1);
        // Large numbers exhaust memory where small ones do not: the search finds out where only large ones reach a
        // goal.
        let taken = !asks_for_too_much(&test) && collector.filter()(&test).is_none();
        if taken {
            let goes_wrong = matches!(test.outcome, Outcome::Error { .. });
            debug_assert!(
                goes_wrong
                    || test.covers.iter().all(|goal| { found.is_none_or(|found| !found.excluded.contains(goal)) })
            );
            collector.event(SearchEvent::Test(&test));
        }
        taken
    };
    variation.run(pool, &seeds, MutationGoals { untested, unreturned }, &mut take);
    collector.begin_round(None);
    work_time() - begun
}

/// Returns true if a test only shows that memory is limited.
fn asks_for_too_much(test: &TestCase) -> bool {
    matches!(&test.outcome, Outcome::Threw { class } if class == "java.lang.OutOfMemoryError")
}

/// Returns the maximum number of elements of objects: runs can go a little further than paths at no cost.
fn longest(most: u64) -> usize {
    const MIN_EXTENDED_LENGTH: u64 = 16;
    let longest = if most >= MIN_EXTENDED_LENGTH { 4 * most.min(MIN_EXTENDED_LENGTH) } else { most };
    usize::try_from(longest).unwrap_or(1)
}
