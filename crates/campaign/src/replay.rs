//! Tests on the compiled, unmodified program: whether it does what was predicted.

use crate::error::CampaignError;
use crate::watcher::FunctionWatcher;
use crate::work::Work;
use std::path::Path;
use touchstone_criteria::{Replay, TestCase};
use touchstone_emit::Replayed;

/// Replays the tests of a suite; each gets its verdict.
pub(crate) fn replay(
    work: &Work<'_>,
    suite: &Path,
    tests: &mut [TestCase],
    watcher: &mut dyn FunctionWatcher,
) -> Result<Replayed, CampaignError> {
    if tests.is_empty() {
        return Ok(Replayed::default());
    }
    let total = tests.len();
    let mut progress = |done| watcher.replayed(done, total);
    let mut replayed = touchstone_emit::replay(suite, work.module(), &work.plan.target, tests, &mut progress)?;
    for (test, verdict) in tests.iter_mut().zip(std::mem::take(&mut replayed.verdicts)) {
        // What the interpreter disagreed with stays disagreed.
        if !matches!(test.replayed, Replay::Disagreed(_)) {
            test.replayed = verdict;
        }
    }
    Ok(replayed)
}
