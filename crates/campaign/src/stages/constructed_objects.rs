//! Tests that start from states that functions of the program construct: `queue_create(4)`, two calls of `queue_push`,
//! then the tested call. They replace tests that set the same objects field by field, or set private variables: a caller
//! can reach their states.
//!
//! The search follows all others and only adds tests; reduction prefers them. No verdict rests on it.

use super::call_sequences::{SequenceTests, precondition_of};
use super::rounds::{MAX_STEPS_LATER_ROUNDS, RoundContext, TestCollector, add};
use crate::program::Program;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{GoalId, HeapOrigin, Outcome, TestCase, TestKind};
use touchstone_engine::{
    Config, ConstructionPlan, ExplorationResult, Goals, MachineTemplates, MutationGoals, MutationSearch,
    PrivateGlobals, SearchEvent, Sequence, SequencePlan, SequenceStates, Sink, construction_plans, explore_further,
};

/// The maximum number of elements of objects that random runs lengthen.
const LONGEST_OBJECT: usize = 16;
/// The maximum number of random runs without gain.
const PATIENCE: u32 = 4000;
/// Integers that creators take in the inputs that are mutated first: sizes, capacities, flags.
const FIRST_NUMBERS: [u64; 3] = [0, 1, 8];
/// The minimum time of the search.
const MIN_TIME: Duration = Duration::from_millis(500);
/// The search takes at most this many times as long as the searches before it.
const TIME_FACTOR: u32 = 1;
/// The share of the remaining time that the search gets at most is one of this many.
const TIME_SHARES: u32 = 3;

/// Searches for tests of at most `calls` calls besides those that create objects; `config` is that of the last round.
pub(crate) fn construct_objects(
    program: &Program,
    rounds: &RoundContext<'_, '_>,
    config: &Config,
    calls: u32,
    found: &mut ExplorationResult,
    collector: &mut dyn TestCollector,
) {
    if calls < 2 || config.deadline.is_over() || replaceable(rounds, collector.tests()).is_empty() {
        return;
    }
    let precondition = |func| precondition_of(program, config, rounds.func, func);
    let plans = construction_plans(rounds.module, program.object_apis(), rounds.func, &precondition);
    let share = Deadline::within(config.deadline.left().map(|left| left / TIME_SHARES));
    let deadline = config.deadline.or_earlier(share).or_earlier(Deadline::after(MIN_TIME + TIME_FACTOR * found.work));
    let config = Config {
        deadline,
        first_round: Deadline::NEVER,
        steps: config.steps.min(MAX_STEPS_LATER_ROUNDS),
        ..config.clone()
    };
    for ConstructionPlan { objects, ways, last } in &plans {
        let plan = SequencePlan { objects, ways, last, earlier: calls as usize - 1, optional: true };
        let sequence = Sequence::new(rounds.module, plan);
        for search in [Search::Runs, Search::Paths] {
            let open = replaceable(rounds, collector.tests());
            if open.is_empty() || deadline.is_over() {
                return;
            }
            let driver = Driver { sequence: &sequence, config: &config };
            driver.search(search, rounds, open, found, collector);
        }
    }
}

/// Returns the goals that only tests on states cover that were not shown reachable.
fn replaceable(rounds: &RoundContext<'_, '_>, tests: &[TestCase]) -> BTreeSet<GoalId> {
    let fails = |test: &&TestCase| matches!(test.outcome, Outcome::Error { .. });
    let (unreachable, others): (Vec<&TestCase>, Vec<&TestCase>) =
        tests.iter().filter(|test| !fails(test)).partition(|test| test.heap == HeapOrigin::NotShownReachable);
    let goals = |tests: &[&TestCase]| -> BTreeSet<GoalId> {
        tests.iter().flat_map(|test| test.covers.iter().copied()).collect()
    };
    let covered = goals(&others);
    let open = goals(&unreachable).into_iter();
    open.filter(|goal| !covered.contains(goal) && !rounds.objectives.settled.contains(goal)).collect()
}

/// The kinds of search, the cheap one first.
#[derive(Clone, Copy)]
enum Search {
    /// Random arguments and calls, in the interpreter.
    Runs,
    /// Symbolic execution.
    Paths,
}

/// A driver that constructs objects, and the configuration of the search before it.
struct Driver<'d> {
    sequence: &'d Sequence,
    config: &'d Config,
}

impl Driver<'_> {
    fn search(
        &self,
        search: Search,
        rounds: &RoundContext<'_, '_>,
        open: BTreeSet<GoalId>,
        found: &mut ExplorationResult,
        collector: &mut dyn TestCollector,
    ) {
        let sequence = self.sequence;
        let config = sequence.config(self.config, PrivateGlobals::Initial, SequenceStates::Few);
        let own = collector.tests().iter().filter(|test| !test.has_constructed_objects()).map(Some);
        let seeds = own.chain([None]).flat_map(|test| FIRST_NUMBERS.map(|number| sequence.seed(test, number)));
        let seeds: Vec<TestKind> = seeds.flatten().collect();
        // A failing test has no advantage over those that there are.
        collector.begin_round(Some(BTreeSet::new()));
        let tests = collector.tests().len() as u64;
        let mut sequence_tests = SequenceTests {
            machines: rounds.machines,
            sequence,
            module: rounds.module,
            func: rounds.func,
            watch: rounds.watch,
            oracle: config.oracle.as_ref(),
            collector: &mut *collector,
        };
        match search {
            Search::Runs => {
                let half = Deadline::within(config.deadline.left().map(|left| left / 2));
                let variation = MutationSearch {
                    machines: &MachineTemplates::of(&sequence.module),
                    func: sequence.driver,
                    watch: rounds.watch,
                    config: &config,
                    deadline: config.deadline.or_earlier(half),
                    longest: LONGEST_OBJECT,
                    patience: PATIENCE,
                    seed: config.options.seed,
                    still: None,
                    first: &[],
                };
                let mut number = tests;
                let mut take = |mut test: TestCase| {
                    number += 1;
                    test.id = format!("driver_{number}");
                    let taken = sequence_tests.filter()(&test).is_none();
                    if taken {
                        sequence_tests.event(SearchEvent::Test(&test));
                    }
                    taken
                };
                let goals = MutationGoals { untested: BTreeSet::new(), unreturned: open };
                variation.run_from(&seeds, goals, &mut take);
            }
            Search::Paths => {
                let closed = rounds.objectives.goals.ids().filter(|goal| !open.contains(goal)).collect();
                let goals = Goals { closed, watch: Arc::clone(rounds.watch) };
                let (module, driver) = (&sequence.module, sequence.driver);
                let more = explore_further(module, driver, goals, &config, &mut sequence_tests, tests);
                add(found, more);
            }
        }
        collector.begin_round(None);
    }
}
