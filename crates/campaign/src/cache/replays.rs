//! Stored replay results. They are valid as long as everything that was compiled and run is the same: the suite, the
//! program's files, their preprocessed form, and the compiler.
//!
//! Only definite results are stored: the program agreed with the prediction, or the test is not checkable. A
//! disagreement is replayed again each time, and so is a timeout.

use super::Cache;
use super::store::EntryKind;
use crate::plan::Plan;
use crate::plan::Work;
use crate::request::ReplayMode;
use crate::stages::replay::observed_coverage::Observed;
use serde::{Deserialize, Serialize};
use std::hash::Hash;
use std::path::Path;
use std::sync::OnceLock;
use touchstone_base::WideHasher;
use touchstone_criteria::{NotCheckable, Replay, TestCase};
use touchstone_emit::Replayed;

/// The common part of all replay keys of a plan.
pub(crate) struct Replays {
    /// The fingerprint of what all suites are compiled with, or `None` if it is unknown.
    program: OnceLock<Option<u128>>,
    options: u128,
}

/// The stored results of one suite.
#[derive(Serialize, Deserialize)]
struct ReplayEntry {
    /// The duration of the replay.
    seconds: f64,
    /// The protection that it lacked.
    unprotected: Option<String>,
    /// One result per test.
    said: Vec<StoredVerdict>,
}

/// The replay results of an earlier run.
pub(crate) struct StoredReplay {
    pub replayed: Replayed,
    /// The duration of the replay.
    pub seconds: f64,
    /// The protection that it lacked.
    pub unprotected: Option<String>,
}

/// The result of one test.
#[derive(Serialize, Deserialize)]
enum StoredVerdict {
    Agreed,
    NotCheckable(NotCheckable),
}

impl Replays {
    pub fn new(plan: &Plan) -> Replays {
        let mut hasher = WideHasher::default();
        hasher.debug(&(plan.request.replay, &plan.request.effort.timeout));
        Replays { program: OnceLock::new(), options: hasher.wide() }
    }
}

impl Cache<'_> {
    /// Returns what the probes of an earlier replay observed.
    pub fn observed(&self, replay: u128, work: &Work<'_>) -> Option<Observed> {
        self.store.read(EntryKind::Observed, observation_key(replay, work))
    }

    /// Stores what the probes of a replay observed.
    pub fn keep_observed(&self, replay: u128, work: &Work<'_>, observed: &Observed) {
        self.store.write(EntryKind::Observed, observation_key(replay, work), work.name(), observed);
    }

    /// Returns the key of the replay of a written suite.
    pub fn replay_key(&self, work: &Work<'_>, suite: &Path, tests: &[TestCase]) -> Option<u128> {
        // The effects of an unprotected replay may be intended.
        if work.plan.request.replay == ReplayMode::Unprotected {
            return None;
        }
        let program = self.replays.program.get_or_init(|| work.plan.target.fingerprint());
        let mut hasher = WideHasher::default();
        (*program)?.hash(&mut hasher);
        (self.replays.options, work.name()).hash(&mut hasher);
        for test in tests {
            // The positions of errors are compared, too, and are not in the file.
            (&test.id, format!("{:?}", test.outcome)).hash(&mut hasher);
        }
        work.plan.target.suite_fingerprint(suite, work.name())?.hash(&mut hasher);
        Some(hasher.wide())
    }

    /// Returns the results of an earlier replay.
    pub fn replayed(&self, key: u128, tests: &[TestCase]) -> Option<StoredReplay> {
        let ReplayEntry { seconds, unprotected, said } = self.store.read(EntryKind::Replays, key)?;
        let verdict = |said: StoredVerdict| match said {
            StoredVerdict::Agreed => Replay::Agreed,
            StoredVerdict::NotCheckable(why) => Replay::NotCheckable(why),
        };
        let verdicts: Vec<Replay> = said.into_iter().map(verdict).collect();
        let replayed = Replayed { verdicts, ..Replayed::default() };
        (replayed.verdicts.len() == tests.len()).then_some(StoredReplay { replayed, seconds, unprotected })
    }

    /// Stores the results of a replay.
    pub fn keep_replayed(&self, key: u128, work: &Work<'_>, replayed: &Replayed, seconds: f64) {
        let sure = |verdict: &Replay| match verdict {
            Replay::Agreed => Some(StoredVerdict::Agreed),
            Replay::NotCheckable(NotCheckable::Timeout | NotCheckable::RunnerGaveUp(_) | NotCheckable::NoSandbox) => {
                None
            }
            Replay::NotCheckable(why) => Some(StoredVerdict::NotCheckable(why.clone())),
            Replay::NotRun | Replay::Disagreed(_) => None,
        };
        let whole =
            replayed.given_up.is_none() && replayed.left_out.is_empty() && replayed.only_without_assertions.is_empty();
        let said: Option<Vec<StoredVerdict>> = replayed.verdicts.iter().map(sure).collect();
        if let (Some(said), true, false) = (said, whole, work.plan.request.is_interrupted()) {
            let unprotected = work.plan.target.unprotected();
            self.store.write(EntryKind::Replays, key, work.name(), &ReplayEntry { seconds, unprotected, said });
        }
    }
}

/// Returns the key of an observation: other criteria have other probes.
fn observation_key(replay: u128, work: &Work<'_>) -> u128 {
    let mut hasher = WideHasher::default();
    replay.hash(&mut hasher);
    let criteria: Vec<&str> = work.criteria.iter().map(|criterion| criterion.name()).collect();
    hasher.debug(&(criteria, &work.task.criteria));
    hasher.wide()
}
