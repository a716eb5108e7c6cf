//! The objectives that a test covers: the inverse of [`Status::Covered`].

use crate::{HeapOrigin, Objective, Outcome, REGISTRY, Status, TestCase};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// An objective that a test covers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CoveredObjective<'a> {
    /// The objective.
    pub objective: &'a Objective,
    /// No other test of the suite covers it.
    pub alone: bool,
}

/// Maps the id of each test to the objectives that it covers, in their order. An objective that occurs twice (as a
/// callee's in the results of two callers) counts once.
pub fn objectives_by_test<'a>(
    objectives: impl IntoIterator<Item = &'a Objective>,
) -> BTreeMap<&'a str, Vec<CoveredObjective<'a>>> {
    let mut found: BTreeMap<&str, Vec<CoveredObjective>> = BTreeMap::new();
    let mut known = FxHashSet::default();
    for objective in objectives {
        let Status::Covered(tests) = &objective.status else { continue };
        for test in tests {
            let own = found.entry(test).or_default();
            if known.insert((test.as_str(), objective.id.as_str())) {
                own.push(CoveredObjective { objective, alone: tests.len() == 1 });
            }
        }
    }
    found
}

/// The tests on heaps that were not shown reachable, by id: what only they cover rests on that.
pub struct HeapTests<'a> {
    ids: BTreeSet<&'a str>,
}

impl<'a> HeapTests<'a> {
    /// Returns those among the given tests.
    pub fn among(tests: &'a [TestCase]) -> Self {
        let own = tests.iter().filter(|test| test.heap == HeapOrigin::NotShownReachable);
        HeapTests { ids: own.map(|test| test.id.as_str()).collect() }
    }

    /// Returns true if only such tests cover an objective.
    pub fn cover(&self, objective: &Objective) -> bool {
        match &objective.status {
            Status::Covered(tests) => !tests.is_empty() && tests.iter().all(|test| self.ids.contains(test.as_str())),
            _ => false,
        }
    }
}

/// The tests that go wrong, by id: what only they cover is covered by an error.
pub struct ErrorTests<'a> {
    ids: BTreeSet<&'a str>,
}

impl<'a> ErrorTests<'a> {
    /// Returns those among the given tests.
    pub fn among(tests: &'a [TestCase]) -> Self {
        let goes_wrong = |test: &&TestCase| matches!(test.outcome, Outcome::Error { .. });
        ErrorTests { ids: tests.iter().filter(goes_wrong).map(|test| test.id.as_str()).collect() }
    }

    /// The same with more of them.
    pub fn and(mut self, ids: impl Iterator<Item = &'a str>) -> Self {
        self.ids.extend(ids);
        self
    }

    /// Returns true if only tests that end in an error cover an objective that does not ask for an error.
    pub fn cover(&self, objective: &Objective) -> bool {
        let asks = REGISTRY.iter().any(|known| known.name() == objective.criterion && known.asks_for_errors());
        match &objective.status {
            Status::Covered(tests) => {
                !asks && !tests.is_empty() && tests.iter().all(|test| self.ids.contains(test.as_str()))
            }
            _ => false,
        }
    }
}
