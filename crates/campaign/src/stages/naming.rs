//! The names of tests: consecutive numbers, and the same name for the same inputs in the next run.
//!
//! A search numbers tests as it finds them, and the reduction drops most of them. The others are renumbered from 1. A
//! test with the inputs of an earlier one keeps its name; names of tests in edited suites are reserved.

use super::test_coverage::TestRows;
use crate::reuse::earlier_tests::EarlierTests;
use std::collections::BTreeSet;
use touchstone_criteria::TestCase;
use touchstone_ir::Module;

/// Names tests, and sorts them by number. `taken` are the names of other tests, and `reserved` those of earlier tests with
/// other inputs.
pub(crate) fn name(
    tests: &mut [TestCase],
    evaluated: &mut TestRows,
    module: &Module,
    earlier: &EarlierTests,
    taken: &BTreeSet<String>,
    reserved: &BTreeSet<String>,
) {
    let Some(stem) = tests.first().and_then(|test| test.id.rsplit_once('_')).map(|(stem, _)| stem.to_string()) else {
        return;
    };
    let mut used = taken.clone();
    let kept: Vec<Option<String>> = tests
        .iter()
        .map(|test| earlier.name_of(test, module).filter(|name| used.insert(name.to_string())).cloned())
        .collect();
    let mut rows = std::mem::take(&mut evaluated.rows);
    let mut next = 1;
    for (test, kept) in tests.iter_mut().zip(kept) {
        if let Some(description) = earlier.description_of(test, module) {
            test.description = description.to_string();
        }
        let name = kept.unwrap_or_else(|| {
            let mut name = format!("{stem}_{next}");
            while reserved.contains(&name) || !used.insert(name.clone()) {
                next += 1;
                name = format!("{stem}_{next}");
            }
            name
        });
        if let Some(seen) = rows.remove(&test.id) {
            evaluated.rows.insert(name.clone(), seen);
        }
        test.id = name;
    }
    tests.sort_by_key(|test| number(&test.id));
}

fn number(id: &str) -> usize {
    id.rsplit_once('_').and_then(|(_, number)| number.parse().ok()).unwrap_or(usize::MAX)
}
