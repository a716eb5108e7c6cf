//! State coverage of a measured suite: modified state becomes objectives, and a list by test.

use crate::measure::measured_files::Selection;
use crate::measure::suggest::{SuggestionScope, suggestions};
use crate::measure::variants::Variants;
use std::collections::BTreeMap;
use std::path::Path;
use touchstone_criteria::STATE;
use touchstone_instrument::{MeasuredSuite, ModifiedState, ProbeObstacle, StateRules, measure_states};
use touchstone_report::document::{
    NOT_MEASURED, Objective, Position, ReportedRange, ReportedUpdate, TestState, Verdict,
};
use touchstone_report::{Document, Name};

/// The maximum number of tests that are named for a piece of state.
const MAX_TESTS_NAMED: usize = 2;

/// Remarks that users need to interpret the figures of state coverage.
#[derive(Default)]
pub(super) struct StateRemarks {
    /// Tests with truncated traces.
    pub cut_off: Vec<String>,
    /// True if no test reached a known assertion.
    pub no_assertion: bool,
    /// The number of steps that did not match the known program.
    pub unfit: u64,
}

/// Adds state coverage to a document that has its other objectives.
pub(super) fn add(
    document: &mut Document,
    measured: &MeasuredSuite,
    (selection, variants): (&Selection, &Variants),
    rules: &StateRules,
    suggest: Option<SuggestionScope>,
) -> StateRemarks {
    if !measured.has_traces() {
        return StateRemarks::default();
    }
    let states = measure_states(measured, rules);
    let (tests, unfit) = (&states.tests, states.unexplained);
    let cut_off = tests.iter().filter(|test| test.cut_off).map(|test| test.test.clone()).collect();
    let no_assertion = tests.iter().any(|test| !test.uses.is_empty()) && !tests.iter().any(|test| test.asserts);
    let mut objectives: BTreeMap<Key, Objective> = BTreeMap::new();
    let mut changed_by: BTreeMap<Key, Vec<&str>> = BTreeMap::new();
    for test in tests {
        let uses = test.uses.iter().filter(|used| selection.counts(Path::new(&used.file)));
        let name = Name::from(&test.test);
        let obstacle = match (test.cut_off, test.beside) {
            (true, _) => Some(ProbeObstacle::CutOff(test.test.clone())),
            (false, true) => Some(ProbeObstacle::Beside(test.test.clone())),
            (false, false) => None,
        };
        let mut updates: Vec<ReportedUpdate> = Vec::new();
        for used in uses {
            let file = selection.shown(&used.file);
            let line = Some(used.line).filter(|line| *line > 0);
            let column = Some(used.column).filter(|column| *column > 0);
            updates.push(ReportedUpdate {
                what: what(used),
                at: Position { file: Some(file.clone()), line, column },
                checked: used.checked,
            });
            let variant = measured.units.get(used.unit).and_then(|unit| variants.of(unit, &used.function));
            let key = key(used, measured, (selection, variants));
            let id = key.1.clone();
            let changers = changed_by.entry(key.clone()).or_default();
            if changers.last() != Some(&test.test.as_str()) {
                changers.push(&test.test);
            }
            let known = objectives.entry(key).or_insert_with(|| Objective {
                by_error: false,
                id,
                criterion: STATE.to_string(),
                function: used.function.clone(),
                at: ReportedRange { file: Some(file), line, column, end_line: line, end_column: column },
                text: format!("{} is checked", used.name),
                status: Verdict::Uncovered,
                why: None,
                reason: None,
                tests: Vec::new(),
                excluded: None,
                variant: variant.map(|variant| variant.name.to_string()),
                count: None,
            });
            if used.checked {
                (known.status, known.why, known.reason) = (Verdict::Covered, None, None);
                if known.tests.last() != Some(&name) {
                    known.tests.push(name.clone());
                }
            } else if let Some(why) = obstacle.as_ref().filter(|_| known.status == Verdict::Uncovered) {
                known.status = Verdict::Unknown;
                (known.why, known.reason) = (Some(why.to_string()), Some(why.word().to_string()));
            }
        }
        if !updates.is_empty() {
            let unknown = obstacle.filter(|_| updates.iter().any(|update| !update.checked));
            let unknown = unknown.map(|why| why.to_string());
            document.state.push(TestState { test: test.test.clone(), updates, unknown });
        }
    }
    for (key, objective) in &mut objectives {
        if no_assertion && objective.status == Verdict::Uncovered {
            let why = ProbeObstacle::NoAssertion;
            objective.status = Verdict::Unknown;
            (objective.why, objective.reason) = (Some(format!("{NOT_MEASURED}{why}")), Some(why.word().to_string()));
        } else if objective.status == Verdict::Uncovered {
            objective.why = changed_by.get(key).map(|tests| changers(tests));
        }
    }
    if let Some(which) = suggest {
        document.suggestions = suggestions(which, measured, (selection, variants), &states, &objectives);
    }
    document.objectives.extend(objectives.into_values());
    StateRemarks { cut_off, no_assertion, unfit }
}

/// Returns the objective of a piece of state.
pub(super) fn key(
    used: &ModifiedState,
    measured: &MeasuredSuite,
    (selection, variants): (&Selection, &Variants),
) -> Key {
    let variant = measured.units.get(used.unit).and_then(|unit| variants.of(unit, &used.function));
    let suffix = variant.as_ref().map_or("", |variant| &variant.suffix);
    (selection.shown(&used.file), format!("{}{suffix}", used.id))
}

/// An objective: file and id.
pub(super) type Key = (String, String);

/// Returns `changed by test_push, test_pop and 3 more`.
fn changers(tests: &[&str]) -> String {
    let more = if tests.len() > MAX_TESTS_NAMED {
        format!(" and {} more", tests.len() - MAX_TESTS_NAMED)
    } else {
        String::new()
    };
    format!("changed by {}{more}", tests[..tests.len().min(MAX_TESTS_NAMED)].join(", "))
}

/// Returns `stack.size (s of test_push)`.
fn what(used: &ModifiedState) -> String {
    // A variable that is modified itself needs no explanation; `pair.x` does not begin with the variable `p`.
    let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if used.object.is_empty() || used.name.strip_prefix(&used.object).is_some_and(|rest| !goes_on(rest)) {
        used.name.clone()
    } else {
        format!("{} ({})", used.name, used.object)
    }
}
