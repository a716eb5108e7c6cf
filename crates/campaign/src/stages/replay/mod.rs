//! Replay: runs tests on the compiled, unmodified program, and compares with the prediction. `observed_coverage.rs` then runs
//! them with probes, in C (`c.rs`) or Java (`java.rs`); both return what `observed_coverage.rs` judges.

mod c;
mod java;
pub(crate) mod observed_coverage;

use super::progress::FunctionProgress;
use crate::plan::Work;
use crate::program::CampaignError;
use std::path::Path;
use touchstone_criteria::{Replay, TestCase};
use touchstone_emit::Replayed;

/// Returns the definite results of an interrupted replay.
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
    listener: &mut dyn FunctionProgress,
) -> Result<Replayed, CampaignError> {
    if tests.is_empty() {
        return Ok(Replayed::default());
    }
    let total = tests.len();
    let mut progress = |done| listener.replayed(done, total);
    Ok(match work.plan.target.replay(suite, work.module(), work.task.func, tests, &mut progress) {
        // The interruption also ended the running test, which says nothing.
        replayed if work.plan.request.is_interrupted() => only_agreed(replayed.unwrap_or_default(), total),
        replayed => replayed?,
    })
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
