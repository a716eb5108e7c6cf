//! Drives a plan: every function goes through the stages, several functions at a time.

use crate::conclude::{Grounds, conclude};
use crate::document::{Done, Finished, results};
use crate::emit::{TestFiles, build_files, emit};
use crate::error::CampaignError;
use crate::explore::{Explored, explore};
use crate::java::look_around;
use crate::kept::{Kept, look};
use crate::naming::name;
use crate::notice::Notice;
use crate::plan::{Plan, Task};
use crate::reduce::{Reduced, reduce};
use crate::replay::replay;
use crate::request::{Purpose, Replaying, TestForm};
use crate::sink::{Leaves, Nowhere, TestSink, TestSinks};
use crate::suite::keep_only_the_suite;
use crate::tables::decision_tables;
use crate::watched::Watched;
use crate::watcher::{FunctionWatcher, Watcher};
use crate::work::Work;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<Done, CampaignError>>>> = plan.tasks.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = plan.tasks.get(index) else { break };
            // What was not begun is in the report, as unknown, and its files stay.
            let result = match plan.request.is_interrupted() {
                true => function(plan, task, &Nowhere, watcher),
                false => function(plan, task, sinks, watcher),
            };
            *done[index].lock().expect("invariant: no worker panics with the lock") = Some(result);
        }
    };
    std::thread::scope(|scope| {
        if will_replay(plan) {
            scope.spawn(|| plan.target.prepare(&plan.program.module));
        }
        let others = (1..jobs).filter_map(|_| touchstone_base::spawn_deep(scope, &work)).count();
        // This stack is deep, too; what could not be begun elsewhere is done here.
        debug_assert!(others < jobs);
        work();
    });
    let mut finished = Finished::default();
    for slot in done {
        if let Some(done) = slot.into_inner().expect("invariant: no worker panics with the lock") {
            finished.add(done?);
        }
    }
    finished.notice(build_files(plan)?);
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

/// One function through all stages.
fn function(plan: &Plan, task: &Task, sinks: &dyn TestSinks, watcher: &dyn Watcher) -> Result<Done, CampaignError> {
    let mut work = Work::begin(plan, task);
    let mut watcher = watcher.function(work.name());
    let kept = if plan.request.is_interrupted() { Kept::default() } else { look(&work)? };
    kept.covers.iter().for_each(|suite| work.settle(suite));
    let sink = sinks.open(work.module(), task.func)?;
    let Explored { mut found, proofs, pairs, tests, mut sink } = explore(&work, sink, watcher.as_mut())?;
    let Reduced { mut tests, mut watched, not_called } = reduce(&work, tests);
    if !work.criteria.is_empty() {
        name(&mut tests, &mut watched, work.module(), &plan.earlier, &kept.names);
    }
    if let Some(java) = &plan.program.java {
        look_around(&work, java, &mut tests);
    }
    found.result.incomplete.extend(not_called);
    let notices = unnamed(&work, &watched, &tests);
    let grounds = Grounds { watch: &work.watch, tests: &tests, found: &found, proofs };
    conclude(&plan.program.module, task.func, &work.config, &mut work.wanted, grounds);
    if plan.suite.is_some() && plan.request.purpose == Purpose::Verdicts {
        keep_only_the_suite(&mut work.wanted);
    }
    if !work.criteria.is_empty() {
        // Tests were written as they were found; what stays is the smallest part that covers as much, and only now it is
        // known what each test covers alone.
        sink = emit(&work, sinks, &tests, &Replayed::default())?;
    }
    let new_tests = sink.path().filter(|_| !tests.is_empty());
    let Checked { seconds, forms } = check(&work, sinks, sink, &mut tests, watcher.as_mut())?;
    watcher.finish();
    let results = results(&work, found.result, seconds, tests.len() as u64);
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
        kept: kept.said(new_tests),
        forms,
        finished: !plan.request.is_interrupted(),
    })
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
struct Checked {
    /// What the replay took.
    seconds: f64,
    forms: Vec<FormSuites>,
}

/// Finishes the files and replays what they have. Tests that don't compile are written out of the files again.
fn check<'s>(
    work: &Work<'s>,
    sinks: &'s dyn TestSinks,
    mut sink: Box<dyn TestSink + 's>,
    tests: &mut [TestCase],
    watcher: &mut dyn FunctionWatcher,
) -> Result<Checked, CampaignError> {
    let suite = match sink.finish()? {
        Leaves::Suite(suite) => suite,
        Leaves::Nothing => return Ok(Checked { seconds: 0.0, forms: sink.forms() }),
        Leaves::Refused { why } => {
            tests
                .iter_mut()
                .for_each(|test| test.replayed = Replay::NotCheckable(NotCheckable::NoTestFile(why.clone())));
            return Ok(Checked { seconds: 0.0, forms: sink.forms() });
        }
    };
    if work.plan.request.replay == Replaying::Off {
        return Ok(Checked { seconds: 0.0, forms: sink.forms() });
    }
    let started = Instant::now();
    let replayed = replay(work, &suite, tests, watcher)?;
    if replayed.given_up.is_some() || !replayed.left_out.is_empty() {
        sink = emit(work, sinks, tests, &replayed)?;
        sink.finish()?;
    }
    Ok(Checked { seconds: started.elapsed().as_secs_f64(), forms: sink.forms() })
}
