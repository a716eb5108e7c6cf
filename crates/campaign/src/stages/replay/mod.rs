//! Replay: runs tests on the compiled, unmodified program, and compares with the prediction. `observed_coverage.rs` then runs
//! them with probes, in C (`c.rs`) or Java (`java.rs`); both return what `observed_coverage.rs` judges.

mod c;
mod java;
pub(crate) mod observed_coverage;
pub(crate) mod replay_queue;

use super::progress::FunctionProgress;
use crate::plan::{Plan, Work};
use crate::program::CampaignError;
use std::path::Path;
use touchstone_criteria::{NotCheckable, Replay, TestCase};
use touchstone_emit::{EmitError, Replayed, SuiteToReplay};

/// Returns the definite results of an interrupted replay.
fn only_agreed(replayed: Replayed, total: usize) -> Replayed {
    let mut verdicts = replayed.verdicts;
    verdicts.resize(total, Replay::NotRun);
    for verdict in verdicts.iter_mut().filter(|verdict| **verdict != Replay::Agreed) {
        *verdict = Replay::NotRun;
    }
    Replayed { verdicts, ..Replayed::default() }
}

/// Returns the result of a suite that was not run, because there is no sandbox.
fn without_sandbox(tests: usize) -> Replayed {
    Replayed { verdicts: vec![Replay::NotCheckable(NotCheckable::NoSandbox); tests], ..Replayed::default() }
}

/// A suite that waits for its replay.
pub(crate) struct PendingReplay<'a> {
    pub work: &'a Work<'a>,
    /// The first file of the suite.
    pub suite: &'a Path,
    pub tests: &'a [TestCase],
    pub listener: &'a mut dyn FunctionProgress,
}

/// Replays suites of one unit, and returns one result for each.
pub(crate) fn replay_together(plan: &Plan, pending: &mut [PendingReplay<'_>]) -> Result<Vec<Replayed>, CampaignError> {
    let suites: Vec<SuiteToReplay<'_>> = pending
        .iter()
        .map(|one| {
            let (work, suite, tests) = (one.work, one.suite, one.tests);
            SuiteToReplay { suite, function: &work.module().functions[work.task.func].name, tests }
        })
        .collect();
    let mut progress = |suite: usize, done| pending[suite].listener.replayed(done, suites[suite].tests.len());
    let replayed = plan.target.replay(&suites, &plan.program.module, &mut progress);
    match replayed {
        // The interruption also ended the running test, which says nothing.
        replayed if plan.request.is_interrupted() => {
            let mut replayed = replayed.unwrap_or_default();
            replayed.resize_with(pending.len(), Replayed::default);
            let each = replayed.into_iter().zip(pending.iter());
            Ok(each.map(|(replayed, one)| only_agreed(replayed, one.tests.len())).collect())
        }
        Err(EmitError::NoSandbox) => Ok(pending.iter().map(|one| without_sandbox(one.tests.len())).collect()),
        replayed => Ok(replayed?),
    }
}

/// Assigns the results to the tests.
pub(crate) fn take(mut replayed: Replayed, tests: &mut [TestCase]) -> Replayed {
    for (test, verdict) in tests.iter_mut().zip(std::mem::take(&mut replayed.verdicts)) {
        // A disagreement with the interpreter remains one.
        if !matches!(test.replayed, Replay::Disagreed(_)) {
            test.replayed = verdict;
        }
    }
    replayed
}
