//! What the emitted suites give, form by form: a framework that runs all tests in one process can't run every test, and what
//! only such tests cover is not covered by its suite.

use crate::document::{Document, Verdict};
use crate::figures::{Figures, Tally};
use crate::name::Name;
use crate::style::{Paint, Style, cut, heading, longest};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The form that the replay runs.
const OUR_OWN: &str = "c";

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

/// Says of each form what its suites cover. Those of our own form that run everything are not listed.
pub fn count_forms(document: &mut Document) {
    document.forms.retain(|suites| suites.form != OUR_OWN || !suites.skipped.is_empty());
    let (forms, objectives) = (&mut document.forms, &document.objectives);
    for suites in forms {
        let skipped: BTreeSet<&str> = suites.skipped.iter().map(|one| one.test.as_str()).collect();
        let runs = |tests: &[Name]| tests.is_empty() || tests.iter().any(|test| !skipped.contains(test.as_str()));
        let mut known = BTreeSet::new();
        suites.covered.clear();
        for objective in objectives.iter().filter(|one| one.excluded.is_none() && one.not_measured().is_none()) {
            let count = suites.covered.entry(objective.criterion.clone()).or_default();
            let covered = objective.status == Verdict::Covered && runs(&objective.tests);
            *count += u64::from(covered && known.insert((objective.at.file.as_deref(), objective.id.as_str())));
        }
    }
}

/// The forms that don't run everything: what they cover, and why not the rest.
pub(crate) fn forms(out: &mut String, document: &Document, style: Style) {
    let short: Vec<&FormSuites> = short(document).collect();
    if short.is_empty() {
        return;
    }
    heading(out, style, Paint::Yellow, "tests that a framework cannot run");
    let (names, figures) = (longest(short.iter().map(|suites| &suites.form)), Figures::new(document));
    for suites in short {
        let line = format!("  {:<names$}  {}", suites.form, said(suites, &figures));
        out.push_str(&cut(&line, style.width));
        out.push('\n');
        for (why, count) in reasons(suites) {
            out.push_str(&style.paint(Paint::Dim, &cut(&format!("    {count}: {why}"), style.width)));
            out.push('\n');
        }
    }
}

/// Forms that don't run everything.
pub(crate) fn short(document: &Document) -> impl Iterator<Item = &FormSuites> {
    document.forms.iter().filter(|suites| !suites.skipped.is_empty())
}

/// `2 tests skipped; the others cover mcdc 95.2% of 21`, by criterion.
pub(crate) fn said(suites: &FormSuites, figures: &Figures) -> String {
    let share = |(criterion, covered): (&String, &u64)| {
        let tally = figures.total.get(criterion)?;
        let tally = Tally { covered: *covered, ..*tally };
        Some(format!("{criterion} {} of {}", tally.percent(), tally.feasible()))
    };
    let shares: Vec<String> = suites.covered.iter().filter_map(share).collect();
    let skipped = suites.skipped.len();
    let tests = if skipped == 1 { "test" } else { "tests" };
    match shares.is_empty() {
        true => format!("{skipped} {tests} skipped"),
        false => format!("{skipped} {tests} skipped; without: {}", shares.join(", ")),
    }
}

/// Why tests are skipped, and how many for each reason. Places differ from test to test and are left out.
pub(crate) fn reasons(suites: &FormSuites) -> Vec<(&str, usize)> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &suites.skipped {
        let why = one.why.rsplit_once(" at ").map_or(one.why.as_str(), |(why, _)| why);
        *found.entry(why).or_default() += 1;
    }
    found.into_iter().collect()
}
