//! The search: tests for what is wanted, and then tests that complete independence pairs. Tests go to the sink as they are
//! found.

use crate::error::CampaignError;
use crate::request::Purpose;
use crate::sink::TestSink;
use crate::watcher::FunctionWatcher;
use crate::work::Work;
use std::collections::BTreeMap;
use touchstone_base::Span;
use touchstone_criteria::{Covered, FunctionResult, GoalId, Incomplete, IncompletePaths, Outcome, TestCase, Watch};
use touchstone_emit::unmakeable;
use touchstone_engine::{
    Before, Config, Event, Found, Goals, PairsFound, SeenRow, Sink, explore_goals, explore_pairs,
    explore_paths_and_goals,
};
use touchstone_ir::{FuncId, Module};

/// What a search found.
pub(crate) struct Explored<'s> {
    pub found: Found,
    /// What is known of independence pairs, if they were searched for.
    pub pairs: Option<PairsFound>,
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
    let mut writer = Writer { work, sink, watcher, tests: Vec::new(), refused: BTreeMap::new(), failed: None };
    let mut found = search(work, &mut writer);
    let pairs = match work.plan.request.purpose {
        Purpose::Tests if !work.plan.request.wants_paths() => Some(pairs(work, &mut found.result, &mut writer)),
        _ => None,
    };
    let Writer { sink, tests, refused, failed, .. } = writer;
    if let Some(failed) = failed {
        return Err(failed);
    }
    give_up(&mut found.result, refused, work.module().functions[work.task.func].span);
    Ok(Explored { found, pairs, tests, sink })
}

fn search(work: &Work<'_>, writer: &mut Writer<'_, '_>) -> Found {
    let (module, func, config) = (work.module(), work.task.func, &work.config);
    let paths = work.plan.request.wants_paths();
    if work.wanted.goals.is_empty() && paths {
        return Found::without_goals(touchstone_engine::explore(module, func, config, writer));
    }
    let closed = work.wanted.settled.iter().copied().collect();
    let goals = Goals { closed, watch: Watch::new(module, work.wanted.goals.clone()).into() };
    match paths {
        true => explore_paths_and_goals(module, func, goals, config, writer),
        false => explore_goals(module, func, goals, config, writer),
    }
}

/// Where MC/DC is asked for, tests that complete independence pairs.
fn pairs(work: &Work<'_>, result: &mut FunctionResult, writer: &mut Writer<'_, '_>) -> PairsFound {
    let module = work.module();
    let config = Config { questions: work.plan.request.effort.pair_questions, ..work.config.clone() };
    let watch = Watch::new(module, work.wanted.goals.clone());
    let tests = writer.tests.clone();
    let known: Vec<SeenRow> = work.known.iter().map(|(_, row)| row.clone()).collect();
    let before = Before { tests: &tests, known: &known, queries: result.solver.queries };
    let found = explore_pairs(module, work.task.func, &watch, before, &config, writer);
    result.seconds += found.seconds;
    result.solver.seconds += found.solver.seconds;
    result.solver.queries += found.solver.queries;
    found
}

/// How many paths are looked at for a test that only calls the function.
const FIRST_PATHS: u64 = 8;

/// A test that calls the function, without an error if one of the first paths has none; or why there is none.
pub(crate) fn any_test(work: &Work<'_>) -> Result<TestCase, Vec<IncompletePaths>> {
    let (module, func) = (work.module(), work.task.func);
    let mut found = Kept::default();
    let config = Config { max_paths: Some(FIRST_PATHS), ..work.config.clone() };
    let mut result = touchstone_engine::explore(module, func, &config, &mut found);
    refuse_unmakeable(module, func, &mut found.0, &mut result);
    let returns = found.0.iter().position(|test| !matches!(test.outcome, Outcome::Error { .. }));
    match found.0.is_empty() {
        true => Err(result.incomplete),
        false => Ok(found.0.swap_remove(returns.unwrap_or(0))),
    }
}

/// Gives up the tests whose inputs no test can make.
pub(crate) fn refuse_unmakeable(module: &Module, func: FuncId, tests: &mut Vec<TestCase>, result: &mut FunctionResult) {
    let mut refused = BTreeMap::new();
    tests.retain(|test| match unmakeable(module, test) {
        Some(why) => {
            *refused.entry(why).or_insert(0) += 1;
            false
        }
        None => true,
    });
    give_up(result, refused, module.functions[func].span);
}

/// Paths whose inputs no test can make are given up, each reason once.
fn give_up(result: &mut FunctionResult, refused: BTreeMap<String, u64>, span: Span) {
    result.exhaustive &= refused.is_empty();
    for (why, count) in refused {
        result.paths.explored = result.paths.explored.saturating_sub(count);
        result.paths.incomplete += count;
        result.incomplete.push(IncompletePaths { why: Incomplete::Unsupported(why), span, count });
    }
}

/// Keeps the tests.
#[derive(Default)]
pub(crate) struct Kept(pub Vec<TestCase>);

impl Sink for Kept {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

/// Writes tests as they are found.
struct Writer<'w, 's> {
    work: &'w Work<'w>,
    sink: Box<dyn TestSink + 's>,
    watcher: &'w mut dyn FunctionWatcher,
    tests: Vec<TestCase>,
    /// Paths that no test can take, by reason.
    refused: BTreeMap<String, u64>,
    failed: Option<CampaignError>,
}

impl Sink for Writer<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => self.watcher.explored(&progress),
            Event::Test(test) => {
                if let Some(why) = unmakeable(self.work.module(), test) {
                    *self.refused.entry(why).or_insert(0) += 1;
                    return;
                }
                let wanted = &self.work.wanted;
                let covered = |id: &GoalId| Some(Covered { objective: wanted.list.get(*id)?, alone: false });
                let covers: Vec<Covered> = test.covers.iter().filter_map(covered).collect();
                if let Err(error) = self.sink.add(test, &covers) {
                    self.failed.get_or_insert(error);
                }
                self.tests.push(test.clone());
            }
        }
    }
}
