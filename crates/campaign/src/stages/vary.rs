//! Tests that are others with small changes: cheap, so they come before every round of the search and after the last one, and where
//! tests make objects by calls before the first one. They only add tests.

use super::rounds::{Collector, Covered, Rounds, covered};
use crate::java::FirstInputs;
use crate::request::stem;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use touchstone_base::Deadline;
use touchstone_criteria::{GoalId, Outcome, TestCase};
use touchstone_engine::{ExplorationResult, MutationGoals, MutationSearch, SearchEvent, SeedPool};

/// Which turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Before anything else: sequences of calls are many, and to run some of them is cheap. One parameter may have to wait.
    First(Option<usize>),
    /// Before the round of the search with this number.
    Before(u64),
    /// When the search has nothing left to try.
    Last,
}

impl Turn {
    /// The time that it gets: a share of what is left, not much, and a little where a question took longer than it should.
    fn time(self, deadline: Deadline) -> Duration {
        let (share, most) = match self {
            Turn::First(_) => (6, 3),
            Turn::Before(_) => (6, 2),
            // Tests of several calls come after it.
            Turn::Last => (2, 4),
        };
        let most = Duration::from_secs(most);
        deadline.left().map_or(most, |left| (left / share).clamp(Duration::from_millis(300), most))
    }

    /// Runs that may show nothing new.
    fn patience(self) -> u32 {
        match self {
            Turn::First(_) | Turn::Before(_) => 4000,
            Turn::Last => 20_000,
        }
    }

    /// What is run before chance decides.
    fn first(self, first: &FirstInputs) -> &[Vec<(usize, u64)>] {
        match self {
            Turn::First(_) => &first.few,
            Turn::Before(0) => &first.many,
            Turn::Before(_) | Turn::Last => &[],
        }
    }

    /// The parameter that stays as it is.
    fn still(self) -> Option<usize> {
        match self {
            Turn::First(still) => still,
            Turn::Before(_) | Turn::Last => None,
        }
    }

    fn number(self) -> u64 {
        match self {
            Turn::First(_) => u64::MAX - 1,
            Turn::Before(number) => number,
            Turn::Last => u64::MAX,
        }
    }
}

/// Varies the tests so far; how long that took.
pub(crate) fn vary(
    rounds: &Rounds<'_, '_>,
    found: Option<&ExplorationResult>,
    pool: &mut SeedPool,
    collector: &mut dyn Collector,
    turn: Turn,
) -> Duration {
    let begun = Instant::now();
    let Covered { untested, closed } = covered(rounds.wanted, found, collector.tests());
    let is_open = |goal: &GoalId| !closed.contains(goal) && !untested.contains(goal);
    let unreturned: BTreeSet<GoalId> = rounds.wanted.goals.ids().filter(is_open).collect();
    if untested.is_empty() && unreturned.is_empty() {
        return Duration::ZERO;
    }
    let variation = MutationSearch {
        machines: rounds.machines,
        func: rounds.func,
        watch: rounds.watch,
        config: rounds.config,
        deadline: Deadline::after(turn.time(rounds.config.deadline)),
        longest: longest(rounds.growing.most),
        patience: turn.patience(),
        still: turn.still(),
        first: turn.first(&rounds.first),
        seed: rounds.config.seed.wrapping_add(turn.number()),
    };
    let seeds = collector.tests().to_vec();
    let name = &rounds.module.functions[rounds.func].name;
    let stem = stem(name);
    collector.begin_round(Some(untested.clone()));
    let mut take = |mut test: TestCase| {
        test.id = format!("{stem}_{}", collector.tests().len() + 1);
        // Large numbers ask for too much memory, and small ones do not: the search finds out where only large ones will do.
        let taken = !asks_for_too_much(&test) && collector.refuses(&test).is_none();
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
    begun.elapsed()
}

/// Whether a test only shows that memory is not endless.
fn asks_for_too_much(test: &TestCase) -> bool {
    matches!(&test.outcome, Outcome::Threw { class } if class == "java.lang.OutOfMemoryError")
}

/// Elements of objects, at most: where paths go far, runs go a little further at no cost.
fn longest(most: u64) -> usize {
    const FAR: u64 = 16;
    let longest = if most >= FAR { 4 * most.min(FAR) } else { most };
    usize::try_from(longest).unwrap_or(1)
}
