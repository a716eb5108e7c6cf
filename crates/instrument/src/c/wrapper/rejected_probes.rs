//! Probes that a compiler rejects: those of state coverage, of run-time errors, or all of some functions.
//!
//! A function is identified by the location of the error. If there is none, as in messages of an assembler or a back
//! end, functions are found by bisection. Every rejection carries the compiler's message.

use crate::c::text::TokenisedSource;
use crate::record::{ProbeObstacle, UnitRecord};
use std::collections::{BTreeMap, BTreeSet};

/// A function of a source, by the index of the source's word in the command.
pub(crate) type FunctionOfSource = (usize, String);

/// The rejected probes, with the compiler's messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct RejectedProbes {
    /// Those of state coverage, by the index of the source's word in the command.
    pub state: BTreeMap<usize, String>,
    /// Those of run-time errors.
    pub errors: Option<String>,
    /// True if the GoogleTest listener is rejected.
    pub listener: bool,
    /// Those of functions.
    pub functions: BTreeMap<FunctionOfSource, ProbeObstacle>,
}

impl RejectedProbes {
    /// Returns the rejections with those of more functions.
    pub fn and(&self, functions: BTreeMap<FunctionOfSource, ProbeObstacle>) -> RejectedProbes {
        let mut more = self.clone();
        more.functions.extend(functions);
        more
    }

    /// Returns the functions of a source without probes, and the obstacles. `text` is preprocessed.
    pub fn of(&self, source: usize, text: &str) -> BTreeMap<String, ProbeObstacle> {
        let own = self.functions.iter().filter(|((at, _), _)| *at == source);
        let own = own.map(|((_, name), said)| (name.clone(), said.clone()));
        let naked = naked(text).into_iter().map(|name| (name, ProbeObstacle::Naked));
        naked.chain(own).collect()
    }
}

/// Returns the words of declarations with the attribute `naked`: functions and other names.
fn naked(text: &str) -> BTreeSet<String> {
    if !text.contains("naked") {
        return BTreeSet::new();
    }
    let source = TokenisedSource::new(text);
    let ends = |index: &usize| matches!(source.word(*index), ";" | "{" | "}");
    let says = (0..source.tokens.len()).filter(|index| matches!(source.word(*index), "naked" | "__naked__"));
    let words = says.flat_map(|at| {
        let first = (0..at).rev().find(ends).map_or(0, |end| end + 1);
        let last = (at..source.tokens.len()).find(ends).unwrap_or(source.tokens.len());
        (first..last).map(|index| source.word(index).to_string())
    });
    words.collect()
}

/// Returns the first error among a compiler's messages.
pub(crate) fn first_error(said: &str) -> &str {
    said.lines().find(|line| line.to_lowercase().contains("error")).unwrap_or("no message")
}

/// Returns the functions of a unit in which errors are located, with the messages. `absolute` makes a path absolute.
pub(crate) fn functions_of_errors(
    said: &str,
    record: &UnitRecord,
    absolute: impl Fn(&str) -> String,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in said.lines() {
        let Some((file, number)) = place_of_error(line) else { continue };
        let file = absolute(file);
        let Some(file) = record.files.iter().position(|known| *known == file) else { continue };
        let before = record.functions.iter().filter(|(_, at)| at.file as usize == file && at.line <= number);
        if let Some((name, _)) = before.max_by_key(|(_, at)| at.line) {
            found.entry(name.clone()).or_insert_with(|| line.to_string());
        }
    }
    found
}

/// Returns the sources in which errors are located, with the messages; all of them if no error has a known location.
/// `sources` are their words in the command and the absolute paths of their files.
pub(crate) fn sources_of_errors(
    said: &str,
    sources: &[(usize, Vec<String>)],
    absolute: impl Fn(&str) -> String,
) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    for line in said.lines() {
        let Some((file, _)) = place_of_error(line) else { continue };
        let file = absolute(file);
        for (at, _) in sources.iter().filter(|(_, files)| files.contains(&file)) {
            found.entry(*at).or_insert_with(|| line.to_string());
        }
    }
    if found.is_empty() {
        found.extend(sources.iter().map(|(at, _)| (*at, first_error(said).to_string())));
    }
    found
}

/// Parses `file:12:3: error: …` to the file and the line.
fn place_of_error(line: &str) -> Option<(&str, u32)> {
    let (place, _) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    let mut parts = place.rsplitn(3, ':');
    let (last, middle, first) = (parts.next()?, parts.next()?, parts.next());
    let number = |word: &str| word.parse::<u32>().ok();
    match (first, number(middle)) {
        (Some(file), Some(line)) => number(last).map(|_column| (file, line)),
        _ => Some((place.strip_suffix(last)?.strip_suffix(':')?, number(last)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_naked_function_is_known_by_any_of_its_declarations() {
        let text = "int a(void); int b(void) __attribute__((naked)); int b(void) { }\n\
            __attribute__((__naked__)) static int c(int x) { return naked_not; } int d(void) { }";
        let found = naked(text);
        let is = |name: &str| found.contains(name);
        assert!(is("b") && is("c") && !is("a") && !is("d"), "{found:?}");
    }

    #[test]
    fn only_the_source_with_an_error_is_rejected() {
        let sources =
            [(1, vec!["/a.c".to_string(), "/h.h".to_string()]), (2, vec!["/b.c".to_string(), "/h.h".to_string()])];
        let check = |said: &str, expected: &[usize]| {
            let found = sources_of_errors(said, &sources, |file| format!("/{file}"));
            assert_eq!(found.into_keys().collect::<Vec<_>>(), expected, "{said}");
        };
        check("a.c: In function 'f':\na.c:12:3: error: no", &[1]);
        check("a.c:12:3: warning: no\nb.c:1:1: error: no", &[2]);
        check("h.h:12:3: error: no", &[1, 2]);
        check("as: error: no", &[1, 2]);
    }

    #[test]
    fn the_place_of_an_error_is_its_file_and_line() {
        let check = |line: &str, expected: Option<(&str, u32)>| assert_eq!(place_of_error(line), expected, "{line}");
        check("a.c:12:3: error: no", Some(("a.c", 12)));
        check("C:/a.c:12:3: fatal error: no", Some(("C:/a.c", 12)));
        check("a.c:12: error: no", Some(("a.c", 12)));
        check("a.c:12:3: warning: an error: no", None);
        check("cc1: error: no", None);
    }
}
