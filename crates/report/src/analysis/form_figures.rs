//! The coverage of the emitted suites of each form.

use crate::analysis::figures::{Figures, Tally};
use crate::document::form_suites::FormSuites;
use crate::document::name::Name;
use crate::document::{Document, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The form that the replay runs.
const REPLAYED_FORM: &str = "c";

/// Computes the coverage of each form's suites. Suites of the replayed form that run every test are not listed.
pub fn count_forms(document: &mut Document) {
    document.forms.retain(|suites| suites.form != REPLAYED_FORM || !suites.skipped.is_empty());
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

/// Returns the forms that don't run every test.
pub(crate) fn short(document: &Document) -> impl Iterator<Item = &FormSuites> {
    document.forms.iter().filter(|suites| !suites.skipped.is_empty())
}

/// Describes a form: `2 tests skipped; without: mcdc 95.2% of 21`.
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

/// Returns the reasons for skipping tests with their counts, without source positions, which differ from test to test.
pub(crate) fn reasons(suites: &FormSuites) -> Vec<(&str, usize)> {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &suites.skipped {
        let why = one.why.rsplit_once(" at ").map_or(one.why.as_str(), |(why, _)| why);
        *found.entry(why).or_default() += 1;
    }
    found.into_iter().collect()
}
