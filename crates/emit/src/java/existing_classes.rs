//! Existing JUnit classes: the tests of a method that they contain, and the replay of these.
//!
//! Deliberately not here: their coverage. Classes under test are not instrumented here.

use crate::EmitError;
use crate::java::java_target::{JavaTarget, RetainedTest};
use crate::java::junit_replay::{after_test_annotation, run_tests};
use crate::java::junit_suite::{SECTION, files_of, is_edited_or_foreign};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_criteria::Replay;

/// A JUnit class on disk with tests of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExistingJUnitClass {
    /// The file.
    pub path: PathBuf,
    /// True if the user edited it.
    pub edited: bool,
    /// The names of the method's tests.
    pub tests: Vec<String>,
}

/// Returns the classes of a directory that contain tests of a method.
pub fn existing_junit_classes(out: &Path, target: &JavaTarget, function: &str) -> Vec<ExistingJUnitClass> {
    let Some(method) = target.methods.get(function) else { return Vec::new() };
    let there = files_of(out, method).filter_map(|path| {
        let tests = tests_of(&std::fs::read_to_string(&path).ok()?, function);
        (!tests.is_empty()).then(|| ExistingJUnitClass { edited: is_edited_or_foreign(&path), path, tests })
    });
    there.collect()
}

/// Runs the tests of a method in a class, and returns one verdict per test.
pub fn replay_existing_junit_class(
    there: &ExistingJUnitClass,
    target: &JavaTarget,
    function: &str,
) -> Result<Vec<Replay>, EmitError> {
    let Some(method) = target.methods.get(function) else { return Ok(Vec::new()) };
    Ok(run_tests(&there.path, method, target, &there.tests)?.verdicts)
}

/// Keeps tests of a method in a class without edits: they stay as they are when the class is written again.
pub fn retain_junit_tests(there: &ExistingJUnitClass, target: &JavaTarget, function: &str, names: &BTreeSet<String>) {
    let Ok(text) = std::fs::read_to_string(&there.path) else { return };
    let tests = test_texts(&text, function).into_iter().filter(|test| names.contains(&test.name)).collect();
    let mut retained = target.retained.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    retained.insert((there.path.clone(), function.to_string()), tests);
}

/// Returns a method's tests as they are written.
fn test_texts(text: &str, function: &str) -> Vec<RetainedTest> {
    let mut sections = text.split(SECTION).skip(1);
    let own = sections.find(|section| section.lines().next() == Some(function)).unwrap_or_default();
    let mut tests = Vec::new();
    let mut lines: Vec<&str> = Vec::new();
    for line in own.lines().skip(1) {
        // Tests that were left out are comments of one line.
        if line.starts_with("    // ") && [" is left out", " does not compile"].iter().any(|what| line.contains(what)) {
            continue;
        }
        if !(lines.is_empty() && line.trim().is_empty()) {
            lines.push(line);
        }
        if line == "    }" {
            let text = lines.drain(..).fold(String::new(), |text, line| text + line + "\n");
            let mut names = tests_of(&format!("{SECTION}x\n{text}"), "x").into_iter();
            tests.extend(names.next().map(|name| RetainedTest { name, text }));
        }
    }
    tests
}

/// Returns the names of a method's tests, which are found in the section that was written for the method.
fn tests_of(text: &str, function: &str) -> Vec<String> {
    let mut sections = text.split(SECTION).skip(1);
    let own = sections.find(|section| section.lines().next() == Some(function));
    let mut names = Vec::new();
    let mut is_test = false;
    for line in own.unwrap_or_default().lines().map(str::trim) {
        let rest = after_test_annotation(line);
        is_test |= rest.is_some();
        let declared = declared_method(rest.unwrap_or(line));
        if let Some(name) = declared.filter(|_| is_test) {
            names.push(name.to_string());
            is_test = false;
        }
    }
    names
}

/// Returns the name of a method without a result that a line declares.
fn declared_method(line: &str) -> Option<&str> {
    let mut rest = line;
    while let Some((word, after)) = rest.split_once(char::is_whitespace)
        && matches!(word, "public" | "protected" | "private" | "final" | "static" | "synchronized")
    {
        rest = after.trim_start();
    }
    let (name, _) = rest.strip_prefix("void ")?.split_once('(')?;
    Some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_those_of_the_section_of_their_method() {
        let text = "class XTest {\n    // ---- X.a\n\n    @Test\n    void a_1() throws Throwable {\n    }\n\n    \
                    // ---- X.b\n\n    @Test\n    @DisplayName(\"void no()\")\n    public void mine() {\n    }\n    void helper() {\n    }\n}\n";
        assert_eq!(tests_of(text, "X.a"), ["a_1"]);
        assert_eq!(tests_of(text, "X.b"), ["mine"]);
        assert_eq!(tests_of(text, "X.c"), [""; 0]);
        let texts = test_texts(text, "X.b");
        let mine = "    @Test\n    @DisplayName(\"void no()\")\n    public void mine() {\n    }\n";
        assert_eq!(texts, [RetainedTest { name: "mine".to_string(), text: mine.to_string() }]);
        let other = "// ---- X.a\n    @org.junit.jupiter.api.Test\n    void a() {\n    @Test public final void b() {\n\
                     \x20   @TestFactory\n    void c() {\n    @Test // why\n    void d () {\n";
        assert_eq!(tests_of(&format!("    {other}"), "X.a"), ["a", "b", "d"]);
    }
}
