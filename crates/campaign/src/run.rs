//! Drives a plan: every function goes through the stages, several functions at a time.

use crate::cache::{Cache, Known};
use crate::change::{ChangeImpact, Comparison, compare, mark_unaffected_goals};
use crate::plan::Work;
use crate::plan::{Plan, Task};
use crate::program::CampaignError;
use crate::request::Notice;
use crate::request::{Purpose, Replaying, TestForm};
use crate::reuse::measured_suite::keep_only_the_suite;
use crate::stages::conclude::conclude;
use crate::stages::decision_tables::decision_tables;
use crate::stages::discover::{Discovery, discover, give};
use crate::stages::emit::{TestFiles, build_files, emit};
use crate::stages::existing_suites::{Kept, look};
use crate::stages::naming::name;
use crate::stages::progress::{FunctionWatcher, Watcher};
use crate::stages::replay::{replay, take};
use crate::stages::results::{Done, Finished, results};
use crate::stages::sink::{Leaves, Nowhere, TestSink, TestSinks};
use crate::stages::test_coverage::{Watched, watch_tests};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;
use touchstone_criteria::{NotCheckable, Replay, TestCase};
use touchstone_emit::Replayed;
use touchstone_report::FormSuites;

/// Carries a plan out; tests go to the files that the request asks for.
pub fn run(plan: &Plan, watcher: &dyn Watcher) -> Result<Finished, CampaignError> {
    run_into(plan, &TestFiles(plan), watcher)
}

/// Carries a plan out with sinks of the caller's own, whatever forms the request asks for. Tests are replayed only if a sink
/// leaves a suite.
///
/// The result is in the order of the tasks, whoever finishes first.
pub fn run_into(plan: &Plan, sinks: &dyn TestSinks, watcher: &dyn Watcher) -> Result<Finished, CampaignError> {
    // The caller's stack may be a usual one.
    touchstone_base::on_deep_stack(|| run_tasks(plan, sinks, watcher))
}

fn run_tasks(plan: &Plan, sinks: &dyn TestSinks, watcher: &dyn Watcher) -> Result<Finished, CampaignError> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let jobs = plan.request.jobs.unwrap_or(cores).clamp(1, plan.tasks.len().max(1));
    let cache = Cache::open(plan);
    let comparison = Comparison::of(plan);
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<Done, CampaignError>>>> = plan.tasks.iter().map(|_| Mutex::new(None)).collect();
    let prepared = AtomicBool::new(!will_replay(plan));
    std::thread::scope(|scope| {
        let (cache, next, done, prepared) = (cache.as_ref(), &next, &done, &prepared);
        let comparison = comparison.as_ref();
        // Where all is known nothing is compiled.
        let prepare = move || {
            if !prepared.swap(true, Ordering::Relaxed) {
                scope.spawn(|| plan.target.prepare(&plan.program.module));
            }
        };
        let work = move || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = plan.tasks.get(index) else { break };
                // What was not begun is in the report, as unknown, and its files stay.
                let result = match plan.request.is_interrupted() {
                    true => function(
                        &Doing { plan, sinks: &Nowhere, cache: None, comparison, prepare: &|| {} },
                        task,
                        watcher,
                    ),
                    false => function(&Doing { plan, sinks, cache, comparison, prepare: &prepare }, task, watcher),
                };
                *done[index].lock().expect("invariant: no worker panics with the lock") = Some(result);
            }
        };
        let others = (1..jobs).filter_map(|_| touchstone_base::spawn_deep(scope, work)).count();
        // This stack is deep, too; what could not be begun elsewhere is done here.
        debug_assert!(others < jobs);
        work();
    });
    let mut finished = Finished::of(plan);
    for slot in done {
        if let Some(done) = slot.into_inner().expect("invariant: no worker panics with the lock") {
            finished.add(done?);
        }
    }
    finished.notice(build_files(plan)?);
    finished.notice(cache.iter().flat_map(Cache::notices).collect());
    finished.note_protection(&plan.target);
    Ok(finished)
}

/// Whether tests are going to be compiled.
fn will_replay(plan: &Plan) -> bool {
    let request = &plan.request;
    let replayed = |form: &TestForm| matches!(form, TestForm::C | TestForm::JUnit5 | TestForm::JUnit4);
    let tests = request.purpose == Purpose::Tests && request.emit.iter().any(replayed);
    tests && request.replay != Replaying::Off && !plan.tasks.is_empty()
}

/// What a function is worked on with.
struct Doing<'p> {
    plan: &'p Plan,
    sinks: &'p dyn TestSinks,
    /// What earlier runs found.
    cache: Option<&'p Cache<'p>>,
    /// What changed since an older version.
    comparison: Option<&'p Comparison<'p>>,
    /// Begins to make ready what a replay needs.
    prepare: &'p dyn Fn(),
}

/// One function through all stages.
fn function(doing: &Doing<'_>, task: &Task, watcher: &dyn Watcher) -> Result<Done, CampaignError> {
    let Doing { plan, sinks, cache, comparison, prepare } = doing;
    let mut work = Work::begin(plan, task);
    let impact = comparison.map(|comparison| comparison.change_impact(task.func));
    if let Some(impact) = &impact {
        mark_unaffected_goals(&mut work, impact);
    }
    let mut watcher = watcher.function(work.name());
    if impact == Some(ChangeImpact::Unaffected) {
        watcher.finish();
        return Ok(Done::unaffected(&work));
    }
    let kept = if plan.request.is_interrupted() { Kept::default() } else { look(&work)? };
    kept.covers.iter().for_each(|suite| work.settle(suite));
    let mut sink = sinks.open(work.module(), task.func)?;
    let place = cache.map(|cache| cache.place(&work));
    let discovery = match place.as_ref().and_then(|place| place.find(&work)) {
        Some(known) => {
            give(&work, &known.tests, sink.as_mut())?;
            known
        }
        None => {
            prepare();
            let (found, filled) = discover(&work, sink, watcher.as_mut())?;
            place.iter().for_each(|place| place.keep(&work, &found));
            sink = filled;
            found
        }
    };
    let Discovery { found, proofs, pairs, mut tests, mut watched, cached, .. } = discovery;
    let mut compared = comparison.zip(impact).map(|(both, impact)| compare(&work, &both.versions, &impact, &mut tests));
    if let Some(test) = compared.as_mut().and_then(|compared| compared.test.take()) {
        add(&work, test, &mut tests, &mut watched);
    }
    if !work.criteria.is_empty() {
        name(&mut tests, &mut watched, work.module(), &plan.earlier, &kept.names);
    }
    let notices = unnamed(&work, &watched, &tests);
    conclude(&plan.program.module, &mut work.wanted, &tests, &found, &proofs);
    if plan.suite.is_some() && plan.request.purpose == Purpose::Verdicts {
        keep_only_the_suite(&mut work.wanted);
    }
    if !work.criteria.is_empty() {
        // Tests were written as they were found; what stays is the smallest part that covers as much, and only now it is
        // known what each test covers alone.
        sink = emit(&work, *sinks, &tests, &Replayed::default())?;
    }
    let new_tests = sink.path().filter(|_| !tests.is_empty());
    let Checked { seconds, unprotected, forms } = check(&work, doing, sink, &mut tests, watcher.as_mut())?;
    watcher.finish();
    let results = results(&work, found.result, seconds, tests.len() as u64);
    let was_there = |test: &&TestCase| plan.earlier.name_of(test, work.module()).is_some();
    let used_again = if work.again.is_empty() { 0 } else { tests.iter().filter(was_there).count() };
    let change = compared.map(|compared| compared.changed_function(&work, &tests));
    let decisions = match work.criteria.is_empty() {
        true => Vec::new(),
        false => decision_tables(&work, &tests, &watched, pairs.as_ref()),
    };
    Ok(Done {
        decisions,
        results,
        objectives: work.wanted.list.values().cloned().collect(),
        tests,
        notices,
        kept: kept.said(new_tests, used_again),
        forms,
        unprotected,
        cached,
        change,
        finished: !plan.request.is_interrupted(),
    })
}

/// One test more, unless there is one with its inputs.
fn add(work: &Work<'_>, test: TestCase, tests: &mut Vec<TestCase>, watched: &mut Watched) {
    let given = |test: &TestCase| touchstone_report::test_inputs(test, work.module());
    if tests.iter().any(|other| given(other) == given(&test)) {
        return;
    }
    tests.push(test);
    let (module, func, deadline) = (work.module(), work.task.func, work.plan.deadline());
    let added = tests.len() - 1..;
    let seen = watch_tests(module, func, &mut tests[added], &work.watch, deadline, &work.plan.request.interrupt);
    watched.rows.extend(seen.rows);
}

/// That there was no time to ask every test what it covers.
fn unnamed(work: &Work<'_>, watched: &Watched, tests: &[TestCase]) -> Vec<Notice> {
    let function = work.name().to_string();
    match watched.left_out {
        0 => Vec::new(),
        some => vec![Notice::NotNamed { function, some, all: tests.len() }],
    }
}

/// What became of the files of a function.
#[derive(Default)]
struct Checked {
    /// What the replay took.
    seconds: f64,
    /// What nothing kept a replay of an earlier run from.
    unprotected: Option<String>,
    forms: Vec<FormSuites>,
}

/// Finishes the files and replays what they have. Tests that don't compile are written out of the files again.
fn check<'s>(
    work: &Work<'s>,
    doing: &Doing<'s>,
    mut sink: Box<dyn TestSink + 's>,
    tests: &mut [TestCase],
    watcher: &mut dyn FunctionWatcher,
) -> Result<Checked, CampaignError> {
    let suite = match sink.finish()? {
        Leaves::Suite(suite) => suite,
        Leaves::Nothing => return Ok(Checked { forms: sink.forms(), ..Checked::default() }),
        Leaves::Refused { why } => {
            tests
                .iter_mut()
                .for_each(|test| test.replayed = Replay::NotCheckable(NotCheckable::NoTestFile(why.clone())));
            return Ok(Checked { forms: sink.forms(), ..Checked::default() });
        }
    };
    if work.plan.request.replay == Replaying::Off {
        return Ok(Checked { forms: sink.forms(), ..Checked::default() });
    }
    let started = Instant::now();
    let key = doing.cache.and_then(|cache| Some((cache, cache.replay_key(work, &suite, tests)?)));
    let known = key.and_then(|(cache, key)| cache.replayed(key, tests));
    let (replayed, seconds, unprotected) = match known {
        Some(Known { replayed, seconds, unprotected }) => (replayed, seconds, unprotected),
        None => {
            let replayed = replay(work, &suite, tests, watcher)?;
            let seconds = started.elapsed().as_secs_f64();
            key.iter().for_each(|(cache, key)| cache.keep_replayed(*key, work, &replayed, seconds));
            (replayed, seconds, None)
        }
    };
    let replayed = take(replayed, tests);
    if let Some(older) = doing.comparison.and_then(|comparison| comparison.target.as_ref()) {
        older.run(work.task.func, tests)?;
    }
    let differs = tests.iter().any(|test| test.older.is_some());
    if replayed.given_up.is_some() || !replayed.left_out.is_empty() || differs {
        sink = emit(work, doing.sinks, tests, &replayed)?;
        sink.finish()?;
    }
    Ok(Checked { seconds, unprotected, forms: sink.forms() })
}
