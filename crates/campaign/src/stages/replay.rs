//! Tests on the compiled, unmodified program: whether it does what was predicted.

use super::progress::FunctionWatcher;
use crate::plan::Work;
use crate::program::CampaignError;
use std::path::Path;
use touchstone_criteria::{Replay, TestCase};
use touchstone_emit::Replayed;

/// What is sure of a replay that was interrupted.
fn only_agreed(replayed: Replayed, total: usize) -> Replayed {
    let mut verdicts = replayed.verdicts;
    verdicts.resize(total, Replay::NotRun);
    for verdict in verdicts.iter_mut().filter(|verdict| **verdict != Replay::Agreed) {
        *verdict = Replay::NotRun;
    }
    Replayed { verdicts, ..Replayed::default() }
}

/// Replays the tests of a suite.
pub(crate) fn replay(
    work: &Work<'_>,
    suite: &Path,
    tests: &[TestCase],
    watcher: &mut dyn FunctionWatcher,
) -> Result<Replayed, CampaignError> {
    if tests.is_empty() {
        return Ok(Replayed::default());
    }
    let total = tests.len();
    let mut progress = |done| watcher.replayed(done, total);
    Ok(match work.plan.target.replay(suite, work.module(), work.task.func, tests, &mut progress) {
        // What was going on was ended, too, and says nothing.
        replayed if work.plan.request.is_interrupted() => only_agreed(replayed.unwrap_or_default(), total),
        replayed => replayed?,
    })
}

/// Gives each test its verdict.
pub(crate) fn take(mut replayed: Replayed, tests: &mut [TestCase]) -> Replayed {
    for (test, verdict) in tests.iter_mut().zip(std::mem::take(&mut replayed.verdicts)) {
        // What the interpreter disagreed with stays disagreed.
        if !matches!(test.replayed, Replay::Disagreed(_)) {
            test.replayed = verdict;
        }
    }
    replayed
}
