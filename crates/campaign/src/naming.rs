//! The names of tests: numbers without gaps, and the same name for the same inputs in the next run.
//!
//! A search numbers tests as it finds them, and most of them go. Those that stay get numbers from 1 on. A test with the inputs
//! of a test that an earlier run left keeps that one's name; names of tests that their user edited are taken.

use crate::watched::Watched;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::TestCase;
use touchstone_ir::Module;
use touchstone_report::Document;
use touchstone_report::document::MEASURED;

/// What tests of an earlier run were called.
#[derive(Debug, Default)]
pub(crate) struct EarlierNames {
    /// By function and inputs.
    names: BTreeMap<(String, String), String>,
}

impl EarlierNames {
    /// Those of a document.
    pub fn of(document: &Document) -> EarlierNames {
        let tests = document.tests.iter().filter(|test| test.outcome != MEASURED);
        let names = tests.map(|test| ((test.function.clone(), test.inputs.text().to_string()), test.id.clone()));
        EarlierNames { names: names.collect() }
    }

    fn of_test(&self, test: &TestCase, module: &Module) -> Option<&String> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get(&(test.function.clone(), touchstone_report::test_inputs(test, module)))
    }
}

/// Names tests; they are in the order of their numbers afterwards.
pub(crate) fn name(
    tests: &mut [TestCase],
    watched: &mut Watched,
    module: &Module,
    earlier: &EarlierNames,
    taken: &BTreeSet<String>,
) {
    let Some(stem) = tests.first().and_then(|test| test.id.rsplit_once('_')).map(|(stem, _)| stem.to_string()) else {
        return;
    };
    let mut used = taken.clone();
    let kept: Vec<Option<String>> = tests
        .iter()
        .map(|test| earlier.of_test(test, module).filter(|name| used.insert(name.to_string())).cloned())
        .collect();
    let mut rows = std::mem::take(&mut watched.rows);
    let mut next = 1;
    for (test, kept) in tests.iter_mut().zip(kept) {
        let name = kept.unwrap_or_else(|| {
            while !used.insert(format!("{stem}_{next}")) {
                next += 1;
            }
            format!("{stem}_{next}")
        });
        if let Some(seen) = rows.remove(&test.id) {
            watched.rows.insert(name.clone(), seen);
        }
        test.id = name;
    }
    tests.sort_by_key(|test| number(&test.id));
}

fn number(id: &str) -> usize {
    id.rsplit_once('_').and_then(|(_, number)| number.parse().ok()).unwrap_or(usize::MAX)
}
