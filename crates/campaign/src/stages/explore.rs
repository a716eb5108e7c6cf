//! The search: tests for all goals, and then tests that complete independence pairs. Tests arrive at the sink as they
//! are found.

use super::call_sequences::sequences;
use super::conclude::Proofs;
use super::constructed_objects::ObjectConstruction;
use super::grow::grow;
use super::progress::FunctionProgress;
use super::rerun::rerun_inputs;
use super::rounds::{RoundContext, TestCollector, rejection, round_coverage};
use super::sink::TestSink;
use super::symbolic_heaps::{reserve_time, search_symbolic_heaps};
use super::vary::{VariationTurn, vary};
use crate::java::InitialInputs;
use crate::plan::Work;
use crate::program::CampaignError;
use crate::program::Program;
use crate::request::Purpose;
use crate::request::{GrowthLimits, HeapChoice};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Deadline, work_time};
use touchstone_criteria::{CoveredObjective, FunctionResult, GoalId, IncompletePaths, Outcome, TestCase};
use touchstone_engine::{
    Config, EvaluatedRow, ExplorationResult, Goals, MachineTemplates, PairSearchInput, PairSearchResult, Search,
    SearchEvent, SeedPool, Sink, TestFilter, explore_goals_after, explore_pairs, explore_paths_and_goals,
};

/// The result of a search.
pub(crate) struct Explored<'s> {
    pub found: ExplorationResult,
    /// Proofs of infeasibility on the way.
    pub proofs: Proofs,
    /// The results for independence pairs, if they were searched for.
    pub pairs: Option<PairSearchResult>,
    pub tests: Vec<TestCase>,
    /// The sink with the tests; it is not finished.
    pub sink: Box<dyn TestSink + 's>,
}

/// Searches for tests.
pub(crate) fn explore<'s>(
    work: &Work<'_>,
    sink: Box<dyn TestSink + 's>,
    listener: &mut dyn FunctionProgress,
) -> Result<Explored<'s>, CampaignError> {
    let mut writer = Writer { work, sink, listener, tests: Vec::new(), untested: None, failed: None };
    let (func, growing) = (work.task.func, work.plan.request.growing());
    let machines = MachineTemplates::of(work.module());
    let made = work.plan.program.java.as_ref().filter(|java| java.tested(func) != func);
    let wants_any = growing.is_some() && work.plan.request.inputs.heaps == HeapChoice::Any;
    let any = made.filter(|java| wants_any && !java.symbolic_heap_rounds(func).is_empty());
    let deadline = any.map_or(work.config.deadline, |_| reserve_time(work.config.deadline));
    let first = Config { deadline, ..work.config.clone() };
    let first_inputs =
        made.map_or_else(InitialInputs::default, |java| java.initial_inputs(func, work.config.options.seed));
    let rounds = round_context(work, &machines, &first, first_inputs);
    rerun_inputs(&rounds, &work.earlier_inputs, &mut writer);
    let mut pool = SeedPool::default();
    if let Some(java) = made.filter(|_| growing.is_some() && !work.plan.request.wants_paths()) {
        // A few calls are more readable than a loop: loops follow for goals that stay open.
        vary(&rounds, None, &mut pool, &mut writer, VariationTurn::First(java.fill_selector(func)));
    }
    let calls = work.plan.request.calls(work.plan.entry);
    let construction = growing.and_then(|_| construction(work, &rounds));
    if let Some(construction) = &construction {
        construction.before(&rounds, &mut writer);
    }
    let mut found = search(work, &first, &mut writer);
    let config = match growing {
        Some(_) => grow(&rounds, &mut found, &mut pool, &mut writer),
        None => first.clone(),
    };
    let proofs = sequences(&work.plan.program, &rounds, &config, calls, &mut found, &mut writer);
    let pairs = match work.plan.request.purpose {
        Purpose::Tests if !work.plan.request.wants_paths() => {
            Some(pairs(work, config.clone(), &mut found.result, &mut writer))
        }
        _ => None,
    };
    if let Some(construction) = &construction {
        construction.after(&rounds, &config, &mut found, &mut writer);
    }
    if let Some(java) = any {
        let config = Config { deadline: work.config.deadline, ..config };
        search_symbolic_heaps(&rounds, java, &config, &mut found, &mut writer);
    }
    let Writer { sink, tests, failed, .. } = writer;
    if let Some(failed) = failed {
        return Err(failed);
    }
    Ok(Explored { found, proofs, pairs, tests, sink })
}

fn round_context<'a, 'm>(
    work: &'a Work<'_>,
    machines: &'a MachineTemplates<'m>,
    config: &'a Config,
    first: InitialInputs,
) -> RoundContext<'a, 'm> {
    RoundContext {
        module: work.module(),
        machines,
        func: work.task.func,
        objectives: &work.objectives,
        watch: &work.watch,
        config,
        growing: work.plan.request.growing().unwrap_or(GrowthLimits::NONE),
        first,
    }
}

/// Returns the drivers of a C function that construct what it reads.
fn construction(work: &Work<'_>, rounds: &RoundContext<'_, '_>) -> Option<ObjectConstruction> {
    let request = &work.plan.request;
    let program = Some(&work.plan.program).filter(|program| program.java.is_none() && !request.wants_paths())?;
    ObjectConstruction::new(program, rounds, request.calls(work.plan.entry))
}

fn search(work: &Work<'_>, config: &Config, writer: &mut Writer<'_, '_>) -> ExplorationResult {
    let (module, func) = (work.module(), work.task.func);
    let paths = work.plan.request.wants_paths();
    let deadline = match work.plan.request.growing() {
        // Later rounds are cheap and find what is too hard for this one, in particular where objects are constructed by
        // calls.
        Some(_) => {
            let made = work.plan.program.java.as_ref().is_some_and(|java| java.tested(func) != func);
            let share = |left: Duration| if made { left * 5 / 8 } else { left * 3 / 4 };
            config.deadline.or_earlier(Deadline::within(config.deadline.left().map(share)))
        }
        None => config.deadline,
    };
    let config = &Config { deadline, ..config.clone() };
    if work.objectives.goals.is_empty() && paths {
        let begun = work_time();
        let result = touchstone_engine::explore(module, func, config, writer);
        return ExplorationResult { work: work_time() - begun, ..ExplorationResult::without_goals(result) };
    }
    let closed = round_coverage(&work.objectives, None, &writer.tests).closed.into_iter().collect();
    let goals = Goals { closed, watch: Arc::clone(&work.watch) };
    let tests = writer.tests.len() as u64;
    match paths {
        true => explore_paths_and_goals(module, func, goals, config, writer),
        false => explore_goals_after(module, func, goals, config, writer, tests),
    }
}

/// Searches for tests that complete independence pairs, if MC/DC is requested.
fn pairs(
    work: &Work<'_>,
    config: Config,
    result: &mut FunctionResult,
    writer: &mut Writer<'_, '_>,
) -> PairSearchResult {
    let module = work.module();
    let config = Config { questions: work.plan.request.effort.pair_queries, ..config };
    // Tests may be large: they are lent, not copied.
    let tests = std::mem::take(&mut writer.tests);
    let known: Vec<EvaluatedRow> = work.suite_rows.iter().map(|(_, row)| row.clone()).collect();
    let before = PairSearchInput { tests: &tests, known: &known, queries: result.solver.queries };
    let found = explore_pairs(module, work.task.func, &work.watch, before, &config, writer);
    let added = std::mem::replace(&mut writer.tests, tests);
    writer.tests.extend(added);
    result.seconds += found.seconds;
    result.solver.seconds += found.solver.seconds;
    result.solver.queries += found.solver.queries;
    found
}

/// The maximum number of paths that are explored for a test that only calls the function.
const MAX_FIRST_PATHS: u64 = 8;

/// Returns a test that calls the function, if possible without an error; or the reasons why there is none.
pub(crate) fn any_test(work: &Work<'_>, deadline: Deadline) -> Result<TestCase, Vec<IncompletePaths>> {
    let machines = MachineTemplates::of(work.module());
    let rounds = round_context(work, &machines, &work.config, InitialInputs::default());
    if let Some(mut test) = construction(work, &rounds).and_then(|drivers| drivers.any_test(&rounds, deadline)) {
        test.heap = work.plan.program.heap_of(work.task.func, &test);
        return Ok(test);
    }
    // The first path mostly returns, and further ones may be expensive. Where objects are constructed by calls, the
    // first path has the fewest.
    let mut config = Config { deadline, ..work.config.clone() };
    if work.plan.program.java.is_some() {
        config.search = Search::Dfs;
        // Any path will do: hard ones are abandoned.
        config.solver_timeout = Some(Duration::from_millis(200));
    }
    match some_test(work, 1, config.clone()) {
        Ok(test) if matches!(test.outcome, Outcome::Returned) => Ok(test),
        _ => some_test(work, MAX_FIRST_PATHS, config),
    }
}

fn some_test(work: &Work<'_>, paths: u64, config: Config) -> Result<TestCase, Vec<IncompletePaths>> {
    let (module, func) = (work.module(), work.task.func);
    let mut found = ExploredTests::of(&work.plan.program);
    let config = Config { max_paths: Some(paths), ..config };
    let result = touchstone_engine::explore(module, func, &config, &mut found);
    let returns = found.tests.iter().position(|test| !matches!(test.outcome, Outcome::Error { .. }));
    match found.tests.is_empty() {
        true => Err(result.incomplete),
        false => Ok(found.tests.swap_remove(returns.unwrap_or(0))),
    }
}

/// Collects tests in memory.
pub(crate) struct ExploredTests<'m> {
    program: &'m Program,
    /// The tests that can be constructed.
    pub tests: Vec<TestCase>,
    /// In a round after the first: goals without any test.
    untested: Option<BTreeSet<GoalId>>,
}

impl<'m> ExploredTests<'m> {
    pub fn of(program: &'m Program) -> ExploredTests<'m> {
        ExploredTests { program, tests: Vec::new(), untested: None }
    }
}

impl Sink for ExploredTests<'_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.tests.push(test.clone());
        }
    }

    fn filter(&self) -> Box<TestFilter<'_>> {
        let (untested, program) = (self.untested.as_ref(), self.program);
        Box::new(move |test| rejection(untested, test).or_else(|| program.unmakeable(test)))
    }
}

impl TestCollector for ExploredTests<'_> {
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
    listener: &'w mut dyn FunctionProgress,
    tests: Vec<TestCase>,
    /// In a round after the first: goals without any test.
    untested: Option<BTreeSet<GoalId>>,
    failed: Option<CampaignError>,
}

impl Sink for Writer<'_, '_> {
    fn event(&mut self, event: SearchEvent<'_>) {
        match event {
            SearchEvent::Progress(progress) => self.listener.explored(&progress),
            SearchEvent::Test(test) => {
                let objectives = &self.work.objectives;
                let covered =
                    |id: &GoalId| Some(CoveredObjective { objective: objectives.list.get(*id)?, alone: false });
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
    fn filter(&self) -> Box<TestFilter<'_>> {
        let (untested, program) = (self.untested.as_ref(), &self.work.plan.program);
        Box::new(move |test| rejection(untested, test).or_else(|| program.unmakeable(test)))
    }
}

impl TestCollector for Writer<'_, '_> {
    fn tests(&self) -> &[TestCase] {
        &self.tests
    }
    fn begin_round(&mut self, untested: Option<BTreeSet<GoalId>>) {
        self.untested = untested;
    }
}
