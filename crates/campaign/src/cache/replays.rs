//! What the replay of a suite said, for as long as everything is the same that was compiled and run: the suite, the program's
//! files, what the compiler makes of them, and the compiler.
//!
//! Only what is sure is kept: that the program did what was predicted, or that nobody can see whether it did. A disagreement is
//! looked at again each time, and so is what took too long.

use super::Cache;
use super::store::Kind;
use crate::plan::Plan;
use crate::plan::Work;
use crate::request::Replaying;
use serde::{Deserialize, Serialize};
use std::hash::Hash;
use std::path::Path;
use std::sync::OnceLock;
use touchstone_base::WideHasher;
use touchstone_criteria::{NotCheckable, Replay, TestCase};
use touchstone_emit::Replayed;

/// What replays of a plan rest on.
pub(crate) struct Replays {
    /// What all suites are compiled with; nothing if that can't be said.
    program: OnceLock<Option<u128>>,
    options: u128,
}

/// What is written down.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// What it took.
    seconds: f64,
    /// What nothing kept it from.
    unprotected: Option<String>,
    /// One for each test.
    said: Vec<Said>,
}

/// A replay of an earlier run.
pub(crate) struct Known {
    pub replayed: Replayed,
    /// What it took.
    pub seconds: f64,
    /// What nothing kept it from.
    pub unprotected: Option<String>,
}

/// What the replay of one test said.
#[derive(Serialize, Deserialize)]
enum Said {
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
    /// The key for the replay of a suite that is written.
    pub fn replay_key(&self, work: &Work<'_>, suite: &Path, tests: &[TestCase]) -> Option<u128> {
        // What is really written somewhere may be what is asked for.
        if work.plan.request.replay == Replaying::Unprotected {
            return None;
        }
        let program = self.replays.program.get_or_init(|| work.plan.target.fingerprint());
        let mut hasher = WideHasher::default();
        (*program)?.hash(&mut hasher);
        (self.replays.options, work.name()).hash(&mut hasher);
        for test in tests {
            // What is compared beside the file: where errors are.
            (&test.id, format!("{:?}", test.outcome)).hash(&mut hasher);
        }
        work.plan.target.suite_fingerprint(suite, work.name())?.hash(&mut hasher);
        Some(hasher.wide())
    }

    /// What an earlier replay said.
    pub fn replayed(&self, key: u128, tests: &[TestCase]) -> Option<Known> {
        let Entry { seconds, unprotected, said } = self.store.read(Kind::Replays, key)?;
        let verdict = |said: Said| match said {
            Said::Agreed => Replay::Agreed,
            Said::NotCheckable(why) => Replay::NotCheckable(why),
        };
        let verdicts: Vec<Replay> = said.into_iter().map(verdict).collect();
        let replayed = Replayed { verdicts, ..Replayed::default() };
        (replayed.verdicts.len() == tests.len()).then_some(Known { replayed, seconds, unprotected })
    }

    /// Keeps what a replay said that took so many seconds.
    pub fn keep_replayed(&self, key: u128, work: &Work<'_>, replayed: &Replayed, seconds: f64) {
        let sure = |verdict: &Replay| match verdict {
            Replay::Agreed => Some(Said::Agreed),
            Replay::NotCheckable(NotCheckable::Timeout | NotCheckable::RunnerGaveUp(_)) => None,
            Replay::NotCheckable(why) => Some(Said::NotCheckable(why.clone())),
            Replay::NotRun | Replay::Disagreed(_) => None,
        };
        let whole = replayed.given_up.is_none() && replayed.left_out.is_empty();
        let said: Option<Vec<Said>> = replayed.verdicts.iter().map(sure).collect();
        if let (Some(said), true, false) = (said, whole, work.plan.request.is_interrupted()) {
            let unprotected = work.plan.target.unprotected();
            self.store.write(Kind::Replays, key, work.name(), &Entry { seconds, unprotected, said });
        }
    }
}
