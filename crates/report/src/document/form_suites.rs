//! The emitted suites by form. A framework that runs all tests in one process can't run every test, and objectives that
//! only such tests cover are not covered by its suite.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The suites of one form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FormSuites {
    /// The form, as in `--emit`.
    pub form: String,
    /// The number of tests that run.
    pub tests: u64,
    /// The tests that don't run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedTest>,
    /// The number of covered objectives by criterion.
    #[serde(default)]
    pub covered: BTreeMap<String, u64>,
}

/// A test that its framework can't run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkippedTest {
    /// Its name.
    pub test: String,
    /// The reason.
    pub why: String,
}

impl FormSuites {
    /// Adds the suites of another function.
    fn join(&mut self, other: FormSuites) {
        self.tests += other.tests;
        self.skipped.extend(other.skipped);
        for (criterion, count) in other.covered {
            *self.covered.entry(criterion).or_default() += count;
        }
    }
}

/// Merges the suites of further functions into one entry for each form.
pub fn join_forms(all: &mut Vec<FormSuites>, more: Vec<FormSuites>) {
    for suites in more {
        match all.iter_mut().find(|known| known.form == suites.form) {
            Some(known) => known.join(suites),
            None => all.push(suites),
        }
    }
}
