//! What earlier runs found, kept on disk: verdicts with all they rest on, tests, and what their replay said. What is unchanged is
//! not explored again.
//!
//! `../closure.rs` has what the result for a function can depend on, as one number that moved and reformatted code does not change;
//! `key.rs` adds options and bounds; `entry.rs` is what is written down, without numbers or places that only one run knows;
//! `store.rs` has the files, `replayed.rs` what a replay said. A hit must be what would come again, so in doubt there is none.
//!
//! Deliberately not here: half-explored functions, and what an interrupted run left (`resume.rs` is about that).

mod entry;
mod key;
mod replays;
mod store;

pub(crate) use replays::Known;
pub use store::{CacheSummary, clear_cache, summarize_cache};

use crate::plan::Plan;
use crate::plan::Work;
use crate::request::CacheIn;
use crate::stages::discover::{Discovery, Relies};
use entry::{Entry, Limits};
use key::{Key, Keys};
use store::{Kind, Store};

/// What is known of a plan's functions from earlier runs.
pub(crate) struct Cache<'p> {
    store: Store,
    keys: Keys<'p>,
    replays: replays::Replays,
}

impl<'p> Cache<'p> {
    /// The one that the request names, if it does.
    pub fn open(plan: &'p Plan) -> Option<Cache<'p>> {
        let CacheIn { directory, build } = plan.request.cache.as_ref()?;
        let store = Store::open(directory, build);
        Some(Cache { keys: Keys::new(plan), replays: replays::Replays::new(plan), store })
    }

    /// The place for what is found of a function, before anything is.
    pub fn place(&self, work: &Work<'_>) -> Place<'_> {
        let given = self.keys.given(work);
        let narrow = self.keys.narrow(work, given);
        Place { cache: self, given, narrow }
    }

    /// What should be told of the files.
    pub fn notices(&self) -> Vec<crate::request::Notice> {
        self.store.notices()
    }
}

/// The place for what is found of one function.
pub(crate) struct Place<'c> {
    cache: &'c Cache<'c>,
    given: u128,
    narrow: Key,
}

impl Place<'_> {
    /// What an earlier run found.
    pub fn find(&self, work: &Work<'_>) -> Option<Discovery> {
        self.read(work, &self.narrow).or_else(|| self.read(work, &self.cache.keys.wide(work, self.given)))
    }

    fn read(&self, work: &Work<'_>, known: &Key) -> Option<Discovery> {
        let entry: Entry = self.cache.store.read(Kind::Verdicts, known.key)?;
        entry.discovery(work, &known.closure)
    }

    /// Keeps what was found, if it would come again.
    pub fn keep(&self, work: &Work<'_>, found: &Discovery) {
        if work.plan.request.is_interrupted() || found.watched.left_out > 0 {
            return;
        }
        let wide;
        let known = match found.relies(work) {
            Relies::OnItself => &self.narrow,
            Relies::OnOthers => {
                wide = self.cache.keys.wide(work, self.given);
                &wide
            }
        };
        if let Some(entry) = Entry::new(work, found, &known.closure, Limits::of(work)) {
            self.cache.store.write(Kind::Verdicts, known.key, work.name(), &entry);
        }
    }
}
