//! Suggests missing assertions: selects those that are worth writing.

use crate::measure::measured_files::Selection;
use crate::measure::states::{Key, key};
use crate::measure::variants::Variants;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use touchstone_instrument::{
    MeasuredSuite, ModifiedState, StateMeasurement, SuggestedAssertion, SuggestionOutcome, TestStateCoverage,
};
use touchstone_report::document::{Objective, Verdict};
use touchstone_report::{MissingAssertion, NoAssertion, Suggestions, TextInsertion};

/// The state for which assertions are suggested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuggestionScope {
    /// Each piece of state that no test checks: one assertion in one test.
    Once,
    /// Each piece of state of each test that does not check it.
    Every,
}

/// Returns suggestions for the state that tests leave unchecked.
pub(super) fn suggestions(
    which: SuggestionScope,
    measured: &MeasuredSuite,
    selected: (&Selection, &Variants),
    states: &StateMeasurement,
    objectives: &BTreeMap<Key, Objective>,
) -> Suggestions {
    let mut made =
        Choosing { which, measured, selected, objectives, promised: BTreeSet::new(), found: BTreeMap::new() };
    let by_name: BTreeMap<&str, &TestStateCoverage> =
        states.tests.iter().map(|test| (test.test.as_str(), test)).collect();
    let mut none: BTreeMap<Key, NoAssertion> = BTreeMap::new();
    for suggested in touchstone_instrument::suggest_assertions(measured, states) {
        let Some(test) = by_name.get(suggested.test.as_str()) else { continue };
        let is_it = |used: &&ModifiedState| used.unit == suggested.unit && used.id == suggested.id && !used.checked;
        let Some(used) = test.uses.iter().find(is_it) else { continue };
        let key = key(used, measured, selected);
        let Some(objective) = objectives.get(&key) else { continue };
        match &suggested.made {
            Ok(suggestion) => made.take(test, &suggested, suggestion, &key),
            Err(why) if objective.status != Verdict::Covered => {
                let (objective, what) = (key.1.clone(), used.name.clone());
                none.entry(key).or_insert(NoAssertion { objective, what, why: why.to_string() });
            }
            Err(_) => {}
        }
    }
    let promised = |key: &Key| made.promised.iter().any(|(_, known)| known == key);
    let none = none.into_iter().filter(|(key, _)| !promised(key)).map(|(_, none)| none).collect();
    Suggestions { assertions: made.found.into_values().collect(), none }
}

struct Choosing<'c> {
    which: SuggestionScope,
    measured: &'c MeasuredSuite,
    selected: (&'c Selection, &'c Variants),
    objectives: &'c BTreeMap<Key, Objective>,
    /// The state that the suggestions so far would check, by test.
    promised: BTreeSet<(String, Key)>,
    /// The suggestions by file, line and statement.
    found: BTreeMap<(String, u32, String), MissingAssertion>,
}

impl Choosing<'_> {
    fn take(
        &mut self,
        test: &TestStateCoverage,
        suggested: &SuggestionOutcome,
        suggestion: &SuggestedAssertion,
        key: &Key,
    ) {
        let objectives = self.objectives;
        let is_covered = |key: &Key| objectives.get(key).is_some_and(|known| known.status == Verdict::Covered);
        let is_known = match self.which {
            SuggestionScope::Once => is_covered(key) || self.promised.iter().any(|(_, known)| known == key),
            SuggestionScope::Every => self.promised.contains(&(test.test.clone(), key.clone())),
        };
        if is_known {
            return;
        }
        let file = self.selected.0.shown(&suggestion.file);
        let insertion = |made: &touchstone_instrument::SourceInsertion| TextInsertion {
            line: made.line,
            column: made.column,
            text: made.text.clone(),
        };
        let at = (file.clone(), suggestion.line, suggestion.statement.clone());
        let assertion = self.found.entry(at).or_insert_with(|| MissingAssertion {
            test: suggested.test.clone(),
            file,
            line: suggestion.line,
            statement: suggestion.statement.clone(),
            checks: Vec::new(),
            objectives: Vec::new(),
            objective_files: Vec::new(),
            insertions: suggestion.insertions.iter().map(insertion).collect(),
        });
        let is_counted = |used: &&ModifiedState| self.selected.0.counts(Path::new(&used.file));
        let unchecked = test.uses.iter().filter(|used| !used.checked).filter(is_counted);
        for used in unchecked.filter(|used| suggestion.checks.contains(&used.piece)) {
            let checked = crate::measure::states::key(used, self.measured, self.selected);
            if !assertion.checks.contains(&used.name) {
                assertion.checks.push(used.name.clone());
            }
            // State that another test checks is no gain.
            let is_gain = self.which == SuggestionScope::Every || !is_covered(&checked);
            if is_gain && !assertion.has(&checked.0, &checked.1) {
                assertion.objective_files.push(checked.0.clone());
                assertion.objectives.push(checked.1.clone());
            }
            self.promised.insert((test.test.clone(), checked));
        }
    }
}
