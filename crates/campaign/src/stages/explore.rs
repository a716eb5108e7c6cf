//! The search: tests for what is wanted, and then tests that complete independence pairs. Tests go to the sink as they are
//! found.

use super::call_sequences::sequences;
use super::conclude::Proofs;
use super::grow::grow;
use super::progress::FunctionWatcher;
use super::rerun::run_again;
use super::rounds::{Collector, Rounds, covered, no_gain};
use super::sink::TestSink;
use super::symbolic_heaps::{any_heap, leave_time};
use super::vary::{Turn, vary};
use crate::java::FirstInputs;
use crate::plan::Work;
use crate::program::CampaignError;
use crate::program::Program;
use crate::request::Purpose;
use crate::request::{Growing, Heaps};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{CoveredObjective, FunctionResult, GoalId, IncompletePaths, Outcome, TestCase, Untestable};
use touchstone_engine::{
    Config, EvaluatedRow, ExplorationResult, Goals, MachineTemplates, PairSearchInput, PairSearchResult, Search,
    SearchEvent, SeedPool, Sink, explore_goals_after, explore_pairs, explore_paths_and_goals,
};

/// What a search found.
pub(crate) struct Explored<'s> {
    pub found: ExplorationResult,
    /// What was proved on the way.
    pub proofs: Proofs,
    /// What is known of independence pairs, if they were searched for.
    pub pairs: Option<PairSearchResult>,
    pub tests: Vec<TestCase>,
    /// Has the tests, and is not finished.
    pub sink: Box<dyn TestSink + 's>,
}

/// Explores for what is wanted.
pub(crate) fn explore<'s>(
    work: &Work<'_>,
    sink: Box<dyn TestSink + 's>,
    watcher: &mut dyn FunctionWatcher,
) -> Result<Explored<'s>, CampaignError> {
    let mut writer = Writer { work, sink, watcher, tests: Vec::new(), untested: None, failed: None };
    let (module, func, growing) = (work.module(), work.task.func, work.plan.request.growing());
    let machines = MachineTemplates::of(module);
    let made = work.plan.program.java.as_ref().filter(|java| java.tested(func) != func);
    let wants_any = growing.is_some() && work.plan.request.inputs.heaps == Heaps::Any;
    let any = made.filter(|java| wants_any && !java.any_heap(func).is_empty());
    let deadline = any.map_or(work.config.deadline, |_| leave_time(work.config.deadline));
    let first = Config { deadline, ..work.config.clone() };
    let rounds = Rounds {
        module,
        machines: &machines,
        func,
        wanted: &work.wanted,
        watch: &work.watch,
        config: &first,
        growing: growing.unwrap_or(Growing::NOT),
        first: made.map_or_else(FirstInputs::default, |java| java.first_inputs(func, work.config.seed)),
    };
    run_again(&rounds, &work.again, &mut writer);
    let mut pool = SeedPool::default();
    if let Some(java) = made.filter(|_| growing.is_some() && !work.plan.request.wants_paths()) {
        // Whoever reads tests would rather see a few calls than a loop: that comes for what stays open.
        vary(&rounds, None, &mut pool, &mut writer, Turn::First(java.fills(func)));
    }
    let mut found = search(work, &first, &mut writer);
    let config = match growing {
        Some(_) => grow(&rounds, &mut found, &mut pool, &mut writer),
        None => first.clone(),
    };
    let calls = work.plan.request.calls(work.plan.entry);
    let proofs = sequences(&work.plan.program, &rounds, &config, calls, &mut found, &mut writer);
    let pairs = match work.plan.request.purpose {
        Purpose::Tests if !work.plan.request.wants_paths() => {
            Some(pairs(work, config.clone(), &mut found.result, &mut writer))
        }
        _ => None,
    };
    if let Some(java) = any {
        let config = Config { deadline: work.config.deadline, ..config };
        any_heap(&rounds, java, &config, &mut found, &mut writer);
    }
    let Writer { sink, tests, failed, .. } = writer;
    if let Some(failed) = failed {
        return Err(failed);
    }
    Ok(Explored { found, proofs, pairs, tests, sink })
}

fn search(work: &Work<'_>, config: &Config, writer: &mut Writer<'_, '_>) -> ExplorationResult {
    let (module, func) = (work.module(), work.task.func);
    let paths = work.plan.request.wants_paths();
    let deadline = match work.plan.request.growing() {
        // What comes later is cheap, and finds what is too hard for this: where objects are made by calls, most of all.
        Some(_) => {
            let made = work.plan.program.java.as_ref().is_some_and(|java| java.tested(func) != func);
            let share = |left: Duration| if made { left * 5 / 8 } else { left * 3 / 4 };
            config.deadline.or_earlier(Deadline::within(config.deadline.left().map(share)))
        }
        None => config.deadline,
    };
    let config = &Config { deadline, ..config.clone() };
    if work.wanted.goals.is_empty() && paths {
        return ExplorationResult::without_goals(touchstone_engine::explore(module, func, config, writer));
    }
    let closed = covered(&work.wanted, None, &writer.tests).closed.into_iter().collect();
    let goals = Goals { closed, watch: Rc::clone(&work.watch) };
    let tests = writer.tests.len() as u64;
    match paths {
        true => explore_paths_and_goals(module, func, goals, config, writer),
        false => explore_goals_after(module, func, goals, config, writer, tests),
    }
}

/// Where MC/DC is asked for, tests that complete independence pairs.
fn pairs(
    work: &Work<'_>,
    config: Config,
    result: &mut FunctionResult,
    writer: &mut Writer<'_, '_>,
) -> PairSearchResult {
    let module = work.module();
    let config = Config { questions: work.plan.request.effort.pair_questions, ..config };
    // Tests may be large: those so far are lent, not copied.
    let tests = std::mem::take(&mut writer.tests);
    let known: Vec<EvaluatedRow> = work.known.iter().map(|(_, row)| row.clone()).collect();
    let before = PairSearchInput { tests: &tests, known: &known, queries: result.solver.queries };
    let found = explore_pairs(module, work.task.func, &work.watch, before, &config, writer);
    let added = std::mem::replace(&mut writer.tests, tests);
    writer.tests.extend(added);
    result.seconds += found.seconds;
    result.solver.seconds += found.solver.seconds;
    result.solver.queries += found.solver.queries;
    found
}

/// How many paths are looked at for a test that only calls the function.
const FIRST_PATHS: u64 = 8;

/// A test that calls the function, without an error if one of the first paths has none; or why there is none.
pub(crate) fn any_test(work: &Work<'_>, deadline: Deadline) -> Result<TestCase, Vec<IncompletePaths>> {
    // The first path mostly returns, and further ones may be dear. Where objects are made by calls, the first is that of few calls.
    let mut config = Config { deadline, ..work.config.clone() };
    if work.plan.program.java.is_some() {
        config.search = Search::Dfs;
        // Any path will do: one that is hard is left.
        config.solver_timeout = Some(Duration::from_millis(200));
    }
    match some_test(work, 1, config.clone()) {
        Ok(test) if matches!(test.outcome, Outcome::Returned) => Ok(test),
        _ => some_test(work, FIRST_PATHS, config),
    }
}

fn some_test(work: &Work<'_>, paths: u64, config: Config) -> Result<TestCase, Vec<IncompletePaths>> {
    let (module, func) = (work.module(), work.task.func);
    let mut found = Kept::of(&work.plan.program);
    let config = Config { max_paths: Some(paths), ..config };
    let result = touchstone_engine::explore(module, func, &config, &mut found);
    let returns = found.tests.iter().position(|test| !matches!(test.outcome, Outcome::Error { .. }));
    match found.tests.is_empty() {
        true => Err(result.incomplete),
        false => Ok(found.tests.swap_remove(returns.unwrap_or(0))),
    }
}

/// Keeps the tests.
pub(crate) struct Kept<'m> {
    program: &'m Program,
    /// Those that can be made.
    pub tests: Vec<TestCase>,
    /// In a round after the first: goals without any test.
    untested: Option<BTreeSet<GoalId>>,
}

impl<'m> Kept<'m> {
    pub fn of(program: &'m Program) -> Kept<'m> {
        Kept { program, tests: Vec::new(), untested: None }
    }
}

impl Sink for Kept<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.tests.push(test.clone());
        }
    }

    fn refuses(&self, test: &TestCase) -> Option<Untestable> {
        no_gain(self.untested.as_ref(), test).or_else(|| self.program.unmakeable(test))
    }
}

impl Collector for Kept<'_> {
    fn tests(&self) -> &[TestCase] {
        &self.tests
    }
    fn begin_round(&mut self, untested: Option<BTreeSet<GoalId>>) {
        self.untested = untested;
    }
}

/// Writes tests as they are found.
struct Writer<'w, 's> {
    work: &'w Work<'w>,
    sink: Box<dyn TestSink + 's>,
    watcher: &'w mut dyn FunctionWatcher,
    tests: Vec<TestCase>,
    /// In a round after the first: goals without any test.
    untested: Option<BTreeSet<GoalId>>,
    failed: Option<CampaignError>,
}

impl Sink for Writer<'_, '_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        match event {
            SearchEvent::Progress(progress) => self.watcher.explored(&progress),
            SearchEvent::Test(test) => {
                let wanted = &self.work.wanted;
                let covered = |id: &GoalId| Some(CoveredObjective { objective: wanted.list.get(*id)?, alone: false });
                let covers: Vec<CoveredObjective> = test.covers.iter().filter_map(covered).collect();
                let mut test = test.clone();
                test.heap = self.work.plan.program.heap_of(self.work.task.func, &test);
                if let Err(error) = self.sink.add(&test, &covers) {
                    self.failed.get_or_insert(error);
                }
                self.tests.push(test);
            }
        }
    }
    fn refuses(&self, test: &TestCase) -> Option<Untestable> {
        no_gain(self.untested.as_ref(), test).or_else(|| self.work.plan.program.unmakeable(test))
    }
}

impl Collector for Writer<'_, '_> {
    fn tests(&self) -> &[TestCase] {
        &self.tests
    }
    fn begin_round(&mut self, untested: Option<BTreeSet<GoalId>>) {
        self.untested = untested;
    }
}
