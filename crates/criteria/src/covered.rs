//! Which objectives a test covers: the other direction of [`Status::Covered`].

use crate::{Objective, Status};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// An objective that a test covers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Covered<'a> {
    /// The objective.
    pub objective: &'a Objective,
    /// No other test of the suite covers it.
    pub alone: bool,
}

/// What each test covers, by the test's id, in the order of the objectives. An objective that stands twice (as a callee's
/// in the campaigns of two callers) counts once.
pub fn covered_by_test<'a>(objectives: impl IntoIterator<Item = &'a Objective>) -> BTreeMap<&'a str, Vec<Covered<'a>>> {
    let mut found: BTreeMap<&str, Vec<Covered>> = BTreeMap::new();
    let mut known = FxHashSet::default();
    for objective in objectives {
        let Status::Covered(tests) = &objective.status else { continue };
        for test in tests {
            let own = found.entry(test).or_default();
            if known.insert((test.as_str(), objective.id.as_str())) {
                own.push(Covered { objective, alone: tests.len() == 1 });
            }
        }
    }
    found
}
