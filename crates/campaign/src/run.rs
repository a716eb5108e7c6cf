//! Drives a plan: every function passes through the stages, several functions at a time.

use crate::cache::{Cache, StoredReplay};
use crate::change::{BehaviourComparison, ChangeImpact, Comparison, compare, mark_unaffected_goals};
use crate::plan::Work;
use crate::plan::{Plan, Task};
use crate::program::CampaignError;
use crate::request::stem;
use crate::request::{HeapChoice, Notice};
use crate::request::{Purpose, ReplayMode, TestForm};
use crate::reuse::baseline_suite::mark_uncovered_by_suite;
use crate::stages::conclude::{conclude, exclude_unreached_states};
use crate::stages::decision_tables::decision_tables;
use crate::stages::discover::{Discovery, discover, pass_to_sink};
use crate::stages::emit::{TestFiles, build_files, emit};
use crate::stages::existing_suites::{ExistingSuites, find_and_run};
use crate::stages::naming::name;
use crate::stages::progress::{FunctionProgress, ProgressListener};
use crate::stages::replay::observed_coverage::{
    ReachedElsewhere, ReplayedSuite, confirm, disagreement, require_replay, withdraw_proofs,
};
use crate::stages::replay::replay_queue::ReplayQueue;
use crate::stages::replay::{PendingReplay, replay_together, take};
use crate::stages::results::{CampaignResult, FunctionOutcome, results};
use crate::stages::sink::{DiscardingSinks, SinkResult, TestSinks};
use crate::stages::test_coverage::{TestRows, run_for_coverage};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use touchstone_criteria::{FunctionResult, NotCheckable, Replay, TestCase};
use touchstone_emit::Replayed;
use touchstone_engine::PairSearchResult;
use touchstone_report::FormSuites;

const UNPOISONED: &str = "invariant: no worker panics with the lock";

/// Runs a plan and writes tests to the files that the request asks for.
pub fn run(plan: &Plan, listener: &dyn ProgressListener) -> Result<CampaignResult, CampaignError> {
    run_into(plan, &TestFiles::new(plan), listener)
}

/// Runs a plan with the caller's sinks, whatever test forms the request names. Tests are replayed only if a sink leaves
/// a suite.
///
/// The result is in the order of the tasks, independent of scheduling.
pub fn run_into(
    plan: &Plan,
    sinks: &dyn TestSinks,
    listener: &dyn ProgressListener,
) -> Result<CampaignResult, CampaignError> {
    // The caller's stack may have the default size.
    touchstone_base::on_deep_stack(|| run_tasks(plan, sinks, listener))
}

fn run_tasks<'p>(
    plan: &'p Plan,
    sinks: &'p dyn TestSinks,
    listener: &dyn ProgressListener,
) -> Result<CampaignResult, CampaignError> {
    let cache = Cache::open(plan);
    let mut done = run_functions(plan, sinks, listener, cache.as_ref())?;
    let reached = confirm_coverage(plan, cache.as_ref(), &mut done)?;
    let mut finished = CampaignResult::of(plan);
    for function in done {
        finished.add(function.finish(sinks, &reached)?);
    }
    finished.notice(build_files(plan)?);
    finished.notice(cache.iter().flat_map(Cache::notices).collect());
    finished.note_protection(&plan.target);
    Ok(finished)
}

/// Runs all functions through the stages up to the replay, several at a time. Returns them in the order of the tasks.
fn run_functions<'p>(
    plan: &'p Plan,
    sinks: &'p dyn TestSinks,
    listener: &dyn ProgressListener,
    cache: Option<&Cache<'p>>,
) -> Result<Vec<FunctionRun<'p>>, CampaignError> {
    let jobs = plan.cores.take(plan.tasks.len()).count().max(1);
    let comparison = Comparison::of(plan);
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<FunctionRun<'p>, CampaignError>>>> =
        plan.tasks.iter().map(|_| Mutex::new(None)).collect();
    let prepared = AtomicBool::new(!will_replay(plan));
    let queue = ReplayQueue::new(plan.tasks.iter().map(|task| plan.unit_of(task)));
    std::thread::scope(|scope| {
        let (next, done, prepared, queue) = (&next, &done, &prepared, &queue);
        let comparison = comparison.as_ref();
        let set = move |index: usize, run: Result<FunctionRun<'p>, CampaignError>| {
            *done[index].lock().expect("invariant: no worker panics with the lock") = Some(run);
        };
        // Nothing is compiled if all results come from the cache.
        let prepare = move || {
            if !prepared.swap(true, Ordering::Relaxed) {
                scope.spawn(|| plan.target.prepare(&plan.program.module));
            }
        };
        let replay = move |context: &FunctionContext<'_, 'p>, ready: Vec<(usize, WrittenFunction<'p, '_>)>| {
            let Some(first) = ready.first().map(|(index, _)| *index) else { return };
            match replay_written(context, ready) {
                Ok(replayed) => replayed.into_iter().for_each(|(index, run)| set(index, Ok(run))),
                Err(error) => set(first, Err(error)),
            }
        };
        let work = move || {
            // Free again when no function is left for this worker: then it helps with long searches of others.
            let _core = plan.cores.take(1);
            loop {
                // Functions that were not started are reported as unknown, and their files are kept.
                let context = match plan.request.is_interrupted() {
                    true => FunctionContext { plan, sinks: &DiscardingSinks, cache: None, comparison, prepare: &|| {} },
                    false => FunctionContext { plan, sinks, cache, comparison, prepare: &prepare },
                };
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = plan.tasks.get(index) else {
                    let ready = queue.take_waiting();
                    if ready.is_empty() {
                        break;
                    }
                    replay(&context, ready);
                    continue;
                };
                let written = match run_function(&context, task, listener) {
                    Ok(FunctionStep::Written(function)) => Some((index, *function)),
                    Ok(FunctionStep::Done(run)) => {
                        set(index, Ok(run));
                        None
                    }
                    Err(error) => {
                        set(index, Err(error));
                        None
                    }
                };
                replay(&context, queue.add(plan.unit_of(task), written));
            }
        };
        let others = (1..jobs).filter_map(|_| touchstone_base::spawn_deep(scope, work)).count();
        // This stack is deep, too: it takes over work for which no thread could be started.
        debug_assert!(others < jobs);
        work();
    });
    let done =
        done.into_iter().filter_map(|slot| slot.into_inner().expect("invariant: no worker panics with the lock"));
    done.collect()
}

/// Confirms the coverage of replayed suites with probes. Returns the objectives that suites of other functions reached.
fn confirm_coverage<'p>(
    plan: &'p Plan,
    cache: Option<&Cache<'p>>,
    done: &mut [FunctionRun<'p>],
) -> Result<ReachedElsewhere, CampaignError> {
    let reached: Mutex<ReachedElsewhere> = Mutex::default();
    if will_replay(plan) && !plan.request.is_interrupted() {
        let mut candidates = Vec::new();
        for mut candidate in done.iter_mut().filter_map(FunctionRun::candidate) {
            let known = cache.zip(candidate.key);
            match known.and_then(|(cache, key)| cache.observed(key, candidate.work)) {
                Some(observed) => {
                    candidate.judge(&observed);
                    reached.lock().expect(UNPOISONED).add(&observed);
                }
                None => candidates.push(candidate),
            }
        }
        confirm(plan, candidates, &|candidate, observed| {
            reached.lock().expect(UNPOISONED).add(observed);
            if let Some((cache, key)) = cache.zip(candidate.key).filter(|_| observed.is_complete()) {
                cache.keep_observed(key, candidate.work, observed);
            }
        })?;
    }
    Ok(reached.into_inner().expect(UNPOISONED))
}

/// Returns true if tests are going to be compiled.
fn will_replay(plan: &Plan) -> bool {
    let request = &plan.request;
    let replayed = |form: &TestForm| matches!(form, TestForm::C | TestForm::JUnit5 | TestForm::JUnit4);
    let tests = request.purpose == Purpose::Tests && request.emit.iter().any(replayed);
    tests && request.replay != ReplayMode::Off && !plan.tasks.is_empty()
}

/// The context of the work on one function.
struct FunctionContext<'c, 'p> {
    plan: &'p Plan,
    sinks: &'p dyn TestSinks,
    /// Results of earlier runs.
    cache: Option<&'c Cache<'p>>,
    /// The comparison with an old version.
    comparison: Option<&'c Comparison<'p>>,
    /// Starts the preparation of the replay.
    prepare: &'c dyn Fn(),
}

/// A function after the replay of its tests.
enum FunctionRun<'p> {
    /// The change does not affect it.
    Unaffected(Box<FunctionOutcome>),
    Replayed(Box<ReplayedFunction<'p>>),
}

/// A function whose tests were replayed. Its coverage is confirmed after those of all functions.
struct ReplayedFunction<'p> {
    work: Work<'p>,
    result: FunctionResult,
    tests: Vec<TestCase>,
    evaluated: TestRows,
    pairs: Option<PairSearchResult>,
    compared: Option<BehaviourComparison>,
    existing: ExistingSuites,
    /// The file with new tests.
    new_tests: Option<PathBuf>,
    replay: ReplayOutcome,
    notices: Vec<Notice>,
    cached: bool,
    /// A contradiction between the model and the real program.
    contradiction: Option<String>,
    finished: bool,
}

/// A function whose tests are written, and wait to be replayed together with those of other functions of its unit.
struct WrittenFunction<'p, 'l> {
    function: ReplayedFunction<'p>,
    /// The first file of its suite.
    suite: PathBuf,
    /// The cache key of the replay.
    key: Option<u128>,
    forms: Vec<FormSuites>,
    listener: Box<dyn FunctionProgress + 'l>,
}

/// A function after the stages that concern it alone.
enum FunctionStep<'p, 'l> {
    /// There is nothing to replay.
    Done(FunctionRun<'p>),
    Written(Box<WrittenFunction<'p, 'l>>),
}

/// Sends one function through all stages up to the replay.
fn run_function<'p, 'l>(
    context: &FunctionContext<'_, 'p>,
    task: &'p Task,
    listener: &'l dyn ProgressListener,
) -> Result<FunctionStep<'p, 'l>, CampaignError> {
    let FunctionContext { plan, sinks, cache, comparison, prepare } = context;
    let mut work = Work::begin(plan, task);
    // A test that constructs its objects by changed functions may fail, although the tested function is the same.
    let rests_on_same_code = |comparison: &Comparison| {
        comparison.are_same(&plan.earlier.calls_before(&work.module().functions[task.func].name))
    };
    let impact = comparison.map(|comparison| match rests_on_same_code(comparison) {
        true => comparison.change_impact(task.func),
        false => ChangeImpact::All,
    });
    if let Some(impact) = &impact {
        mark_unaffected_goals(&mut work, impact);
    }
    let mut listener = listener.function(work.name());
    if impact == Some(ChangeImpact::Unaffected) {
        listener.finish();
        return Ok(FunctionStep::Done(FunctionRun::Unaffected(Box::new(FunctionOutcome::unaffected(&work)))));
    }
    let existing = if plan.request.is_interrupted() { ExistingSuites::default() } else { find_and_run(&work)? };
    existing.covers.iter().for_each(|suite| work.settle(suite));
    if !existing.retained.is_empty() {
        sinks.retain(work.module(), task.func, existing.retained.clone());
    }
    let mut sink = sinks.open(work.module(), task.func)?;
    let slot = cache.map(|cache| cache.slot(&work));
    let discovery = match slot.as_ref().and_then(|slot| slot.find(&work)) {
        Some(known) => {
            pass_to_sink(&work, &known.tests, sink.as_mut())?;
            known
        }
        None => {
            prepare();
            let (found, filled) = discover(&work, sink, listener.as_mut())?;
            slot.iter().for_each(|slot| slot.keep(&work, &found));
            sink = filled;
            found
        }
    };
    let Discovery { found, proofs, pairs, mut tests, mut evaluated, cached, .. } = discovery;
    let mut compared = comparison.zip(impact).map(|(both, impact)| compare(&work, &both.versions, &impact, &mut tests));
    if let Some(test) = compared.as_mut().and_then(|compared| compared.test.take()) {
        add_distinct(&work, test, &mut tests, &mut evaluated);
    }
    let needed = tests.len();
    for test in &existing.passing {
        let id = |number: usize| format!("{}_{number}", stem(work.name()));
        let is_free = |number: &usize| !tests.iter().any(|test| test.id == id(*number));
        let number = (tests.len() + 1..).find(is_free).unwrap_or_default();
        let test = TestCase { id: id(number), ..test.clone() };
        add_distinct(&work, test, &mut tests, &mut evaluated);
    }
    if work.criteria.is_empty() {
        pass_to_sink(&work, &tests[needed..], sink.as_mut())?;
    } else {
        let reserved =
            if plan.request.keeps_passing_tests() { plan.earlier.names(work.name()) } else { BTreeSet::new() };
        name(&mut tests, &mut evaluated, work.module(), &plan.earlier, &existing.names, &reserved);
    }
    let notices = incomplete_coverage(&work, &evaluated, &tests);
    conclude(&plan.program.module, &mut work.objectives, &tests, &found, &proofs);
    if plan.request.inputs.heaps == HeapChoice::Calls && plan.program.java.is_none() {
        exclude_unreached_states(&mut work.objectives, &mut tests);
    }
    if plan.suite.is_some() && plan.request.purpose == Purpose::Verdicts {
        mark_uncovered_by_suite(&mut work.objectives);
    }
    if !work.criteria.is_empty() {
        // Tests were written as they were found. What remains is the reduced suite, and only now is it known which
        // objectives a test covers alone.
        sink = emit(&work, *sinks, &tests, &Replayed::default())?;
    }
    let new_tests = sink.path().filter(|_| !tests.is_empty());
    let finished = sink.finish()?;
    if let SinkResult::Refused { why } = &finished {
        let refused = || Replay::NotCheckable(NotCheckable::NoTestFile(why.clone()));
        tests.iter_mut().for_each(|test| test.replayed = refused());
    }
    let forms = sink.forms();
    let mut function = ReplayedFunction {
        result: found.result,
        contradiction: None,
        work,
        tests,
        evaluated,
        pairs,
        compared,
        existing,
        new_tests,
        replay: ReplayOutcome::default(),
        notices,
        cached,
        finished: !plan.request.is_interrupted(),
    };
    match finished {
        SinkResult::Suite(suite) if plan.request.replay != ReplayMode::Off => {
            let key = cache.and_then(|cache| cache.replay_key(&function.work, &suite, &function.tests));
            Ok(FunctionStep::Written(Box::new(WrittenFunction { function, suite, key, forms, listener })))
        }
        finished => {
            listener.finish();
            let refused = matches!(finished, SinkResult::Refused { .. });
            function.replay = ReplayOutcome { forms, refused, ..ReplayOutcome::default() };
            function.contradiction = disagreement(&function.tests);
            Ok(FunctionStep::Done(FunctionRun::Replayed(Box::new(function))))
        }
    }
}

impl<'p> FunctionRun<'p> {
    /// Returns the function if its tests were replayed and should cover something.
    fn candidate(&mut self) -> Option<ReplayedSuite<'_, 'p>> {
        let FunctionRun::Replayed(function) = self else { return None };
        let ReplayedFunction { work, tests, replay, contradiction, .. } = &mut **function;
        if work.criteria.is_empty() || tests.is_empty() {
            return None;
        }
        let (suite, key) = (replay.suite.clone()?, replay.key);
        Some(ReplayedSuite { work, tests, suite, key, contradiction, changed: &mut replay.changed })
    }

    fn finish(self, sinks: &'p dyn TestSinks, reached: &ReachedElsewhere) -> Result<FunctionOutcome, CampaignError> {
        match self {
            FunctionRun::Unaffected(outcome) => Ok(*outcome),
            FunctionRun::Replayed(function) => function.finish(sinks, reached),
        }
    }
}

impl<'p> ReplayedFunction<'p> {
    /// Draws the conclusions from the replay.
    fn finish(
        mut self,
        sinks: &'p dyn TestSinks,
        reached: &ReachedElsewhere,
    ) -> Result<FunctionOutcome, CampaignError> {
        self.contradiction = self.contradiction.take().or_else(|| reached.contradiction(&self.work));
        let ReplayedFunction { mut work, mut result, tests, evaluated, pairs, compared, existing, replay, .. } = self;
        let plan = work.plan;
        let mut forms = replay.forms;
        if replay.refused && will_replay(plan) && !plan.request.is_interrupted() {
            require_replay(&mut work, &tests);
        }
        if let Some(contradiction) = &self.contradiction {
            withdraw_proofs(&mut work, contradiction);
            result.exhaustive = false;
        }
        if replay.changed {
            // The comments of tests name what they cover.
            let mut sink = emit(&work, sinks, &tests, &replay.replayed)?;
            sink.finish()?;
            forms = sink.forms();
        }
        if self.finished {
            sinks.deliver(work.module(), work.task.func)?;
        }
        let results = results(&work, result, replay.seconds, tests.len() as u64);
        let was_there = |test: &&TestCase| plan.earlier.name_of(test, work.module()).is_some();
        let used_again = if work.earlier_inputs.is_empty() { 0 } else { tests.iter().filter(was_there).count() };
        let change = compared.map(|compared| {
            let compared = if self.contradiction.is_some() { compared.contradicted() } else { compared };
            compared.changed_function(&work, &tests)
        });
        let names: BTreeSet<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        let kept = existing.report_entries(self.new_tests, &names, plan.request.unneeded, used_again);
        let decisions = match work.criteria.is_empty() {
            true => Vec::new(),
            false => decision_tables(&work, &tests, &evaluated, pairs.as_ref()),
        };
        Ok(FunctionOutcome {
            decisions,
            results,
            objectives: work.objectives.list.values().cloned().collect(),
            tests,
            notices: self.notices,
            kept,
            forms,
            unprotected: replay.unprotected,
            cached: self.cached,
            change,
            finished: self.finished,
        })
    }
}

/// Adds a test unless one with the same inputs exists.
fn add_distinct(work: &Work<'_>, test: TestCase, tests: &mut Vec<TestCase>, evaluated: &mut TestRows) {
    let given = |test: &TestCase| touchstone_report::test_inputs(test, work.module());
    if tests.iter().any(|other| given(other) == given(&test)) {
        return;
    }
    tests.push(test);
    let (module, func, deadline) = (work.module(), work.task.func, work.plan.deadline());
    let added = tests.len() - 1..;
    let seen = run_for_coverage(module, func, &mut tests[added], &work.watch, deadline, &work.plan.request.interrupt);
    evaluated.rows.extend(seen.rows);
}

/// Returns a notice if there was no time to determine the coverage of every test.
fn incomplete_coverage(work: &Work<'_>, evaluated: &TestRows, tests: &[TestCase]) -> Vec<Notice> {
    let function = work.name().to_string();
    match evaluated.left_out {
        0 => Vec::new(),
        some => vec![Notice::NotNamed { function, some, all: tests.len() }],
    }
}

/// The result of finishing and replaying the files of a function.
#[derive(Default)]
struct ReplayOutcome {
    /// The duration of the replay.
    seconds: f64,
    /// The protection that the replay of an earlier run lacked.
    unprotected: Option<String>,
    forms: Vec<FormSuites>,
    /// True if no test can be written for the function.
    refused: bool,
    /// The first file of the suite, if it was replayed.
    suite: Option<PathBuf>,
    /// The cache key of the replay.
    key: Option<u128>,
    /// The tests that don't compile.
    replayed: Replayed,
    /// True if the files name objectives that were not confirmed.
    changed: bool,
}

/// Replays the tests of functions of one unit. Tests that don't compile are removed from the files.
fn replay_written<'p>(
    context: &FunctionContext<'_, 'p>,
    mut written: Vec<(usize, WrittenFunction<'p, '_>)>,
) -> Result<Vec<(usize, FunctionRun<'p>)>, CampaignError> {
    let started = Instant::now();
    let stored = |function: &WrittenFunction<'_, '_>| {
        context.cache.zip(function.key).and_then(|(cache, key)| cache.replayed(key, &function.function.tests))
    };
    let mut known: Vec<Option<StoredReplay>> = written.iter().map(|(_, function)| stored(function)).collect();
    let mut pending: Vec<PendingReplay<'_>> = written
        .iter_mut()
        .zip(&known)
        .filter(|(_, known)| known.is_none())
        .map(|((_, of), _)| PendingReplay {
            work: &of.function.work,
            suite: &of.suite,
            tests: &of.function.tests,
            listener: of.listener.as_mut(),
        })
        .collect();
    let all: usize = pending.iter().map(|one| one.tests.len()).sum();
    let replayed = replay_together(context.plan, &mut pending)?;
    let seconds_per_test = started.elapsed().as_secs_f64() / all.max(1) as f64;
    let mut replayed = replayed.into_iter();
    let mut runs = Vec::new();
    for ((index, function), known) in written.into_iter().zip(&mut known) {
        let result = known.take().unwrap_or_else(|| {
            let replayed = replayed.next().unwrap_or_default();
            let seconds = seconds_per_test * function.function.tests.len() as f64;
            if let Some((cache, key)) = context.cache.zip(function.key) {
                cache.keep_replayed(key, &function.function.work, &replayed, seconds);
            }
            StoredReplay { replayed, seconds, unprotected: None }
        });
        runs.push((index, function.with_results(context, result)?));
    }
    Ok(runs)
}

impl<'p> WrittenFunction<'p, '_> {
    /// Assigns the results of the replay, and writes the files again if they name tests that have to go.
    fn with_results(
        self,
        context: &FunctionContext<'_, 'p>,
        results: StoredReplay,
    ) -> Result<FunctionRun<'p>, CampaignError> {
        let WrittenFunction { mut function, suite, key, mut forms, mut listener } = self;
        let StoredReplay { replayed, seconds, unprotected } = results;
        let (work, tests) = (&function.work, &mut function.tests);
        let replayed = take(replayed, tests);
        if let Some(older) = context.comparison.and_then(|comparison| comparison.target.as_ref()) {
            older.run(work.task.func, tests)?;
        }
        let differs = tests.iter().any(|test| test.older.is_some());
        let differs = differs || !replayed.only_without_assertions.is_empty();
        if replayed.given_up.is_some() || !replayed.left_out.is_empty() || differs {
            let mut sink = emit(work, context.sinks, tests, &replayed)?;
            sink.finish()?;
            forms = sink.forms();
        }
        listener.finish();
        function.finished &= !context.plan.request.is_interrupted();
        function.contradiction = disagreement(&function.tests);
        let suite = Some(suite);
        function.replay =
            ReplayOutcome { seconds, unprotected, forms, suite, key, replayed, ..ReplayOutcome::default() };
        Ok(FunctionRun::Replayed(Box::new(function)))
    }
}
