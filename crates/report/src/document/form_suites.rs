//! What the emitted suites give, form by form: a framework that runs all tests in one process can't run every test, and what
//! only such tests cover is not covered by its suite.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The suites of one form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FormSuites {
    /// The form, as `--emit` calls it.
    pub form: String,
    /// Tests that run.
    pub tests: u64,
    /// Tests that don't.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedTest>,
    /// By criterion, what the tests that run cover.
    #[serde(default)]
    pub covered: BTreeMap<String, u64>,
}

/// A test that its framework can't run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SkippedTest {
    /// Its name.
    pub test: String,
    /// Why.
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

/// The same forms of several functions as one entry each.
pub fn join_forms(all: &mut Vec<FormSuites>, more: Vec<FormSuites>) {
    for suites in more {
        match all.iter_mut().find(|known| known.form == suites.form) {
            Some(known) => known.join(suites),
            None => all.push(suites),
        }
    }
}
