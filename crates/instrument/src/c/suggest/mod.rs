//! Suggests assertions that would check the state that a C test leaves unchecked.
//!
//! At the end of a test function, probes record the values and addresses of its variables and of those of its unit
//! (`c/state/state_probes.rs`), so the updates that each expression reads are known. One that reads unchecked state
//! becomes an assertion in the framework of the test.

mod assertion_macros;

use crate::hits::MeasuredUnit;
use crate::state::{
    ModifiedState, NoSuggestion, ObservedExpression, ObservedTestEnd, SourceInsertion, StateLocation,
    SuggestedAssertion, SuggestionOutcome, TestStateCoverage,
};
use assertion_macros::AssertionMacros;
use std::collections::BTreeMap;

/// Suggests assertions for the state that tests left unchecked.
pub(crate) fn suggest(
    tests: &[&TestStateCoverage],
    ends: &[ObservedTestEnd],
    units: &[MeasuredUnit],
) -> Vec<SuggestionOutcome> {
    let mut texts: BTreeMap<String, Option<CTestSource>> = BTreeMap::new();
    let mut found = Vec::new();
    for test in tests {
        for used in test.uses.iter().filter(|used| !used.checked) {
            let made = match &used.piece {
                _ if test.cut_off => Err(NoSuggestion::CutOff),
                StateLocation::Inherited => Err(NoSuggestion::Inherited),
                StateLocation::Left(numbers) => {
                    let of_test: Vec<&ObservedTestEnd> = ends.iter().filter(|end| end.test == test.test).collect();
                    SuggestionQuery { test, numbers, units, ends: &of_test, all: ends }.suggestion(&mut texts)
                }
                _ => continue,
            };
            found.push(SuggestionOutcome { test: test.test.clone(), unit: used.unit, id: used.id.clone(), made });
        }
    }
    found
}

struct SuggestionQuery<'a> {
    test: &'a TestStateCoverage,
    numbers: &'a [u32],
    units: &'a [MeasuredUnit],
    /// The functions that ended in the test.
    ends: &'a [&'a ObservedTestEnd],
    /// The functions that ended in all tests: a function that runs in several must have the same value in each.
    all: &'a [ObservedTestEnd],
}

impl SuggestionQuery<'_> {
    fn suggestion(
        &self,
        texts: &mut BTreeMap<String, Option<CTestSource>>,
    ) -> Result<SuggestedAssertion, NoSuggestion> {
        let ends = self.own_ends();
        let mut why = if ends.is_empty() { NoSuggestion::NoEnd } else { NoSuggestion::NotReachable };
        for end in ends {
            let shows = |seen: &&ObservedExpression| seen.updates.iter().any(|number| self.numbers.contains(number));
            let mut fitting: Vec<&ObservedExpression> = end.seen.iter().filter(shows).collect();
            fitting.sort_by_key(|seen| (assertion_macros::rank(seen), seen.text.len(), seen.text.clone()));
            if !fitting.is_empty() {
                why = NoSuggestion::Differs;
            }
            for seen in fitting {
                let elsewhere =
                    self.all.iter().filter(|other| (other.unit, other.function) == (end.unit, end.function));
                let same = |other: &ObservedTestEnd| {
                    other.seen.iter().any(|it| it.text == seen.text && it.bytes == seen.bytes)
                };
                if !elsewhere.into_iter().all(same) {
                    continue;
                }
                match self.written(end, seen, texts) {
                    Ok(made) => return Ok(made),
                    Err(other) => why = other,
                }
            }
        }
        Err(why)
    }

    /// Returns the ends of the test's own function, or of all functions in the file of `main` if it is unknown.
    fn own_ends(&self) -> Vec<&ObservedTestEnd> {
        let called = |name: &str, end: &ObservedTestEnd| self.name(end).is_some_and(|known| known == name);
        let own: Vec<&ObservedTestEnd> = self.ends.iter().filter(|end| called(&self.test.test, end)).copied().collect();
        if !own.is_empty() {
            return own;
        }
        let main = self.ends.iter().find(|end| called("main", end)).map(|end| end.unit);
        self.ends.iter().filter(|end| Some(end.unit) == main).copied().collect()
    }

    fn name(&self, end: &ObservedTestEnd) -> Option<&str> {
        let record = self.units.get(end.unit)?.record.state.as_ref()?;
        record.functions.get(end.function as usize).map(|name| name.strip_suffix("_fn").unwrap_or(name))
    }

    fn written(
        &self,
        end: &ObservedTestEnd,
        seen: &ObservedExpression,
        texts: &mut BTreeMap<String, Option<CTestSource>>,
    ) -> Result<SuggestedAssertion, NoSuggestion> {
        let record =
            self.units.get(end.unit).and_then(|unit| unit.record.state.as_ref()).ok_or(NoSuggestion::NoSource)?;
        let place = record.ends.iter().find(|place| place.function == end.function).ok_or(NoSuggestion::NoPlace)?;
        let file = record.files.get(place.file as usize).ok_or(NoSuggestion::NoSource)?;
        let read = || std::fs::read(file).ok().map(|bytes| CTestSource::new(&String::from_utf8_lossy(&bytes)));
        let source = texts.entry(file.clone()).or_insert_with(read).as_ref().ok_or(NoSuggestion::NoSource)?;
        let (style, include) = source.style(place.begin, place.line);
        let statement = style.assertion(seen).ok_or(NoSuggestion::Differs)?;
        let insertion = source.before(place.begin, place.line, &statement).ok_or(NoSuggestion::NoPlace)?;
        let shown = |used: &&ModifiedState| match &used.piece {
            StateLocation::Left(numbers) => numbers.iter().any(|number| seen.updates.contains(number)),
            _ => false,
        };
        let checks = self.test.uses.iter().filter(shown).map(|used| used.piece.clone()).collect();
        let insertions = include.into_iter().chain([insertion]).collect();
        Ok(SuggestedAssertion { file: file.clone(), line: place.line, statement, insertions, checks })
    }
}

/// The source of a test.
struct CTestSource {
    lines: Vec<String>,
    end: &'static str,
}

impl CTestSource {
    fn new(text: &str) -> CTestSource {
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        CTestSource { lines: text.lines().map(str::to_string).collect(), end }
    }

    /// Determines the assertions of the test in these lines, or else those of its file. A file without assertions gets
    /// those of `assert.h`, with the missing include.
    fn style(&self, begin: u32, line: u32) -> (AssertionMacros, Option<SourceInsertion>) {
        let all = self.lines.join("\n");
        let from = (begin as usize).saturating_sub(1).min(self.lines.len());
        let own = self.lines[from..(line as usize).clamp(from, self.lines.len())].join("\n");
        if let Some(known) = AssertionMacros::of(&own, &all).or_else(|| AssertionMacros::of(&all, &all)) {
            return (known, None);
        }
        let is_include = |line: &String| line.trim_start().starts_with("#include");
        let behind = self.lines.iter().rposition(is_include).map_or(1, |last| last as u32 + 2);
        let text = format!("#include <assert.h>{}", self.end);
        (AssertionMacros::plain(&all), Some(SourceInsertion { line: behind, column: 1, text }))
    }

    /// Inserts a last statement before the line with the closing brace or `return`, or before these within a line.
    fn before(&self, begin: u32, line: u32, statement: &str) -> Option<SourceInsertion> {
        let text = self.lines.get((line as usize).checked_sub(1)?)?;
        let code = text.trim_start();
        let indent = &text[..text.len() - code.len()];
        let is_return = code.starts_with("return");
        if is_return || code.starts_with('}') || code.starts_with("END_TEST") {
            let body = self.lines.get(begin as usize..line as usize - 1).unwrap_or_default();
            let inner = body.iter().find(|line| !line.trim().is_empty() && line.trim() != "{");
            let indent = match inner {
                _ if is_return => indent.to_string(),
                Some(inner) => inner[..inner.len() - inner.trim_start().len()].to_string(),
                None if indent.contains('\t') => format!("{indent}\t"),
                None => format!("{indent}    "),
            };
            return Some(SourceInsertion { line, column: 1, text: format!("{indent}{statement}{}", self.end) });
        }
        let at = text.rfind("return ").or_else(|| text.rfind('}'))?;
        let column = text[..at].chars().count() as u32 + 1;
        Some(SourceInsertion { line, column, text: format!("{statement} ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_go_where_the_test_ends() {
        let source = CTestSource::new(
            "void a(void) {\n    for (;;)\n        x();\n}\nint b(void) {\n\tx();\n\treturn 0;\n}\nvoid c(void) { x(); }\n",
        );
        let at = |begin, line| source.before(begin, line, "s();").map(|made| (made.line, made.column, made.text));
        assert_eq!(at(1, 4), Some((4, 1, "    s();\n".to_string())));
        assert_eq!(at(5, 7), Some((7, 1, "\ts();\n".to_string())));
        assert_eq!(at(9, 9), Some((9, 21, "s(); ".to_string())));
        assert_eq!(at(90, 99), None);
    }
}
