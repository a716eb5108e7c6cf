//! The cache: results of earlier runs on disk (verdicts with their assumptions, tests, and replay results). Unchanged
//! functions are not explored again.
//!
//! The dependency closure (`reuse/dependency_closure.rs`) identifies everything that the result for a function can
//! depend on, independent of moved and reformatted code; `key.rs` adds options and bounds; `entry.rs` is the stored
//! form, without ids and positions of a single run; `store.rs` manages the files, and `replays.rs` stores replay
//! results. A hit must equal what a run would find, so a doubtful result is not stored.
//!
//! Deliberately not here: partially explored functions, and the results of an interrupted run (`plan/resume.rs`).

mod entry;
mod key;
mod replays;
mod store;

pub(crate) use replays::StoredReplay;
pub use store::{CacheSummary, clear_cache, summarize_cache};

use crate::plan::Plan;
use crate::plan::Work;
use crate::request::CacheLocation;
use crate::stages::discover::{Discovery, ResultDependence};
use entry::{VerdictEntry, VerdictLimits};
use key::{CacheKey, CacheKeys};
use store::{EntryKind, Store};

/// The cached results for a plan's functions.
pub(crate) struct Cache<'p> {
    store: Store,
    keys: CacheKeys<'p>,
    replays: replays::Replays,
}

impl<'p> Cache<'p> {
    /// Opens the cache that the request names, if it does. A log of queries needs all searches, so there is none with it.
    pub fn open(plan: &'p Plan) -> Option<Cache<'p>> {
        let location = plan.request.cache.as_ref().filter(|_| plan.request.query_log.is_none());
        let CacheLocation { directory, build } = location?;
        let store = Store::open(directory, build);
        Some(Cache { keys: CacheKeys::new(plan), replays: replays::Replays::new(plan), store })
    }

    /// Returns the slot for the results of a function.
    pub fn slot(&self, work: &Work<'_>) -> CacheSlot<'_> {
        let request_hash = self.keys.request_hash(work);
        let narrow = self.keys.narrow(work, request_hash);
        CacheSlot { cache: self, request_hash, narrow }
    }

    /// Returns notices about the files.
    pub fn notices(&self) -> Vec<crate::request::Notice> {
        self.store.notices()
    }
}

/// The slot for the results of one function.
pub(crate) struct CacheSlot<'c> {
    cache: &'c Cache<'c>,
    request_hash: u128,
    narrow: CacheKey,
}

impl CacheSlot<'_> {
    /// Returns the stored results, if there are any.
    pub fn find(&self, work: &Work<'_>) -> Option<Discovery> {
        self.read(work, &self.narrow).or_else(|| self.read(work, &self.cache.keys.wide(work, self.request_hash)))
    }

    fn read(&self, work: &Work<'_>, known: &CacheKey) -> Option<Discovery> {
        let entry: VerdictEntry = self.cache.store.read(EntryKind::Verdicts, known.key)?;
        entry.discovery(work, &known.closure)
    }

    /// Stores results if they are reproducible.
    pub fn keep(&self, work: &Work<'_>, found: &Discovery) {
        if work.plan.request.is_interrupted() || found.evaluated.left_out > 0 {
            return;
        }
        let wide;
        let known = match found.dependence(work) {
            ResultDependence::OnFunction => &self.narrow,
            ResultDependence::OnEarlierCalls => {
                wide = self.cache.keys.wide(work, self.request_hash);
                &wide
            }
        };
        if let Some(entry) = VerdictEntry::new(work, found, &known.closure, VerdictLimits::of(work)) {
            self.cache.store.write(EntryKind::Verdicts, known.key, work.name(), &entry);
        }
    }
}
