//! Tests that start from states that functions of the program construct: `queue_create(4)`, two calls of `queue_push`,
//! then the tested call. They replace tests that set the same objects field by field, or set private variables: a caller
//! can reach their states.
//!
//! Random runs come before all other searches, because they are cheap and the others then need not reach the same
//! goals; for the rest, symbolic execution of the driver follows the other searches. Both only add tests, which reduction
//! prefers. No verdict rests on them.

use super::call_sequences::{SequenceTests, precondition_of};
use super::rounds::{MAX_STEPS_LATER_ROUNDS, RoundContext, TestCollector, add, round_coverage};
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
/// The maximum number of random runs without gain, before the other searches and after them.
const FIRST_PATIENCE: u32 = 1000;
const PATIENCE: u32 = 4000;
/// The maximum time of random runs before the other searches.
const FIRST_TIME: Duration = Duration::from_secs(1);
/// Integers that creators take in the inputs that are mutated first: sizes, capacities, flags.
const FIRST_NUMBERS: [u64; 3] = [0, 1, 8];
/// The minimum time of the search.
const MIN_TIME: Duration = Duration::from_millis(200);
/// The search takes at most this many times as long as the searches before it.
const TIME_FACTOR: u32 = 1;
/// The share of the remaining time that the search gets at most is one of this many.
const TIME_SHARES: u32 = 8;

/// The drivers that construct the arguments of a function.
pub(crate) struct ObjectConstruction {
    drivers: Vec<Sequence>,
}

impl ObjectConstruction {
    /// Returns the drivers of tests with at most `calls` calls besides those that create objects; `None` if no function
    /// of the program constructs what the function reads.
    pub fn new(program: &Program, rounds: &RoundContext<'_, '_>, calls: u32) -> Option<ObjectConstruction> {
        let precondition = |func| precondition_of(program, rounds.config, rounds.func, func);
        let plans = match calls {
            0 | 1 => Vec::new(),
            _ => construction_plans(rounds.module, program.object_apis(), rounds.func, &precondition),
        };
        let driver = |plan: &ConstructionPlan| {
            let ConstructionPlan { objects, ways, last } = plan;
            let plan = SequencePlan { objects, ways, last, earlier: calls as usize - 1, optional: true };
            Sequence::new(rounds.module, plan)
        };
        (!plans.is_empty()).then(|| ObjectConstruction { drivers: plans.iter().map(driver).collect() })
    }

    /// Runs random calls and arguments, before all other searches: what they cover needs no query.
    pub fn before(&self, rounds: &RoundContext<'_, '_>, collector: &mut dyn TestCollector) {
        let deadline = rounds.config.deadline.or_earlier(Deadline::after(FIRST_TIME));
        let config = Config { deadline, ..rounds.config.clone() };
        let open = |tests: &[TestCase]| -> BTreeSet<GoalId> {
            let closed = round_coverage(rounds.objectives, None, tests).closed;
            rounds.objectives.goals.ids().filter(|goal| !closed.contains(goal)).collect()
        };
        for sequence in &self.drivers {
            let open = open(collector.tests());
            if open.is_empty() || deadline.is_over() {
                return;
            }
            Driver { sequence, config: &config }.run(rounds, open, FIRST_PATIENCE, collector);
        }
    }

    /// Returns a test that calls the function and returns, if the first paths of a driver are enough.
    pub fn any_test(&self, rounds: &RoundContext<'_, '_>, deadline: Deadline) -> Option<TestCase> {
        const MAX_PATHS: u64 = 8;
        let config = Config { deadline, max_paths: Some(MAX_PATHS), ..rounds.config.clone() };
        for sequence in &self.drivers {
            let mut found = ReturningTests::default();
            let driver = Driver { sequence, config: &config };
            let config = driver.config();
            let mut tests = driver.sequence_tests(rounds, &config, &mut found);
            touchstone_engine::explore(&sequence.module, sequence.driver, &config, &mut tests);
            if let Some(test) = found.0.into_iter().next() {
                return Some(test);
            }
        }
        None
    }

    /// Replaces tests that start from states that were not shown reachable; `config` is that of the last round.
    pub fn after(
        &self,
        rounds: &RoundContext<'_, '_>,
        config: &Config,
        found: &mut ExplorationResult,
        collector: &mut dyn TestCollector,
    ) {
        let share = Deadline::within(config.deadline.left().map(|left| left / TIME_SHARES));
        let most = Deadline::after(MIN_TIME + TIME_FACTOR * found.work);
        let deadline = config.deadline.or_earlier(share).or_earlier(most);
        let steps = config.steps.min(MAX_STEPS_LATER_ROUNDS);
        let config = Config { deadline, first_round: Deadline::NEVER, steps, ..config.clone() };
        for sequence in &self.drivers {
            let driver = Driver { sequence, config: &config };
            for search in [Search::Runs, Search::Paths] {
                let open = replaceable(rounds, collector.tests());
                if open.is_empty() || deadline.is_over() {
                    return;
                }
                match search {
                    Search::Runs => driver.run(rounds, open, PATIENCE, collector),
                    Search::Paths => driver.explore(rounds, open, found, collector),
                }
            }
        }
    }
}

/// Collects tests that return.
#[derive(Default)]
struct ReturningTests(Vec<TestCase>);

impl Sink for ReturningTests {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event
            && test.outcome == Outcome::Returned
        {
            self.0.push(test.clone());
        }
    }
}

impl TestCollector for ReturningTests {
    fn tests(&self) -> &[TestCase] {
        &[]
    }
    fn begin_round(&mut self, _: Option<BTreeSet<GoalId>>) {}
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
    fn config(&self) -> Config {
        self.sequence.config(self.config, PrivateGlobals::Initial, SequenceStates::Few)
    }

    /// Returns the receiver of tests of the driver.
    fn sequence_tests<'a, 'm>(
        &'a self,
        rounds: &'a RoundContext<'a, 'm>,
        config: &'a Config,
        collector: &'a mut dyn TestCollector,
    ) -> SequenceTests<'a, 'm> {
        // A failing test has no advantage over those that other searches find.
        collector.begin_round(Some(BTreeSet::new()));
        SequenceTests {
            machines: rounds.machines,
            sequence: self.sequence,
            module: rounds.module,
            func: rounds.func,
            watch: rounds.watch,
            oracle: config.oracle.as_ref(),
            collector,
        }
    }

    /// Runs the driver on mutated inputs.
    fn run(
        &self,
        rounds: &RoundContext<'_, '_>,
        open: BTreeSet<GoalId>,
        patience: u32,
        collector: &mut dyn TestCollector,
    ) {
        let (sequence, config) = (self.sequence, self.config());
        let own = collector.tests().iter().filter(|test| !test.has_constructed_objects()).map(Some);
        let seeds = own.chain([None]).flat_map(|test| FIRST_NUMBERS.map(|number| sequence.seed(test, number)));
        let seeds: Vec<TestKind> = seeds.flatten().collect();
        let mut number = collector.tests().len();
        let mut tests = self.sequence_tests(rounds, &config, &mut *collector);
        let half = Deadline::within(config.deadline.left().map(|left| left / 2));
        let variation = MutationSearch {
            machines: &MachineTemplates::of(&sequence.module),
            func: sequence.driver,
            watch: rounds.watch,
            config: &config,
            deadline: config.deadline.or_earlier(half),
            longest: LONGEST_OBJECT,
            patience,
            seed: config.options.seed,
            still: None,
            first: &[],
        };
        let mut take = |mut test: TestCase| {
            number += 1;
            test.id = format!("driver_{number}");
            let taken = tests.filter()(&test).is_none();
            if taken {
                tests.event(SearchEvent::Test(&test));
            }
            taken
        };
        let goals = MutationGoals { untested: BTreeSet::new(), unreturned: open };
        variation.run_from(&seeds, goals, &mut take);
        collector.begin_round(None);
    }

    /// Explores the driver.
    fn explore(
        &self,
        rounds: &RoundContext<'_, '_>,
        open: BTreeSet<GoalId>,
        found: &mut ExplorationResult,
        collector: &mut dyn TestCollector,
    ) {
        let config = self.config();
        let closed = rounds.objectives.goals.ids().filter(|goal| !open.contains(goal)).collect();
        let goals = Goals { closed, watch: Arc::clone(rounds.watch) };
        let number = collector.tests().len() as u64;
        let mut tests = self.sequence_tests(rounds, &config, &mut *collector);
        let (module, driver) = (&self.sequence.module, self.sequence.driver);
        let more = explore_further(module, driver, goals, &config, &mut tests, number);
        collector.begin_round(None);
        add(found, more);
    }
}
