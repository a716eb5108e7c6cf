//! Suites that existed before a run: the verdicts of their tests, and the file of new tests.

use serde::{Deserialize, Serialize};

/// A suite that existed before the run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportedSuite {
    /// Its first file.
    pub file: String,
    /// The function under test.
    pub function: String,
    /// True if the user edited it: then it is kept, otherwise it is regenerated.
    pub edited: bool,
    /// Its tests.
    pub tests: Vec<ReportedTest>,
    /// The reason why its tests were not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// The file of the additional tests; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tests: Option<String>,
    /// The number of regenerated tests with the inputs of an existing one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_again: Option<usize>,
    /// True if the file stays although it was not edited: it has passing tests that cannot be generated again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// The passing tests that were removed by `--prune`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pruned: Vec<String>,
}

/// A test of an existing suite.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReportedTest {
    /// Its name.
    pub name: String,
    /// Its verdict on the current program.
    pub verdict: ReportedVerdict,
    /// True for a test that ends in an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expects_error: bool,
    /// The expectations that failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FailedExpectation>,
    /// The reason why it fails or can't be run, as one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The verdict of an existing test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedVerdict {
    /// It passes.
    Passes,
    /// It fails.
    Fails,
    /// It no longer compiles.
    DoesNotCompile,
    /// Its result can't be checked.
    NotCheckable,
    /// It was not run.
    NotRun,
}

/// A failed expectation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FailedExpectation {
    /// The checked expression, as in the test.
    pub what: String,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub got: String,
}

impl ReportedTest {
    /// Returns true if it needs the user's attention.
    pub fn is_broken(&self) -> bool {
        matches!(self.verdict, ReportedVerdict::Fails | ReportedVerdict::DoesNotCompile)
    }
}

impl ReportedSuite {
    /// Returns true if it needs the user's attention.
    pub fn is_broken(&self) -> bool {
        self.edited && self.tests.iter().any(ReportedTest::is_broken)
    }
}

/// Parses the message of a failed check: `result: expected 5, got 6; x: expected 1, got 2`.
pub fn failed_expectations(message: &str) -> Vec<FailedExpectation> {
    let message = message.split(" (standard error: ").next().unwrap_or(message);
    let read = |part: &str| {
        let (what, rest) = part.split_once(": expected ")?;
        let (expected, got) = rest.rsplit_once(", got ")?;
        let text = |text: &str| text.to_string();
        Some(FailedExpectation { what: text(what), expected: text(expected), got: text(got) })
    };
    let all: Option<Vec<FailedExpectation>> = message.split("; ").map(read).collect();
    all.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_check_says_becomes_old_and_new_values() {
        let read = |message: &str| -> Vec<(String, String, String)> {
            failed_expectations(message).into_iter().map(|change| (change.what, change.expected, change.got)).collect()
        };
        let change = |a: &str, b: &str, c: &str| (a.to_string(), b.to_string(), c.to_string());
        assert_eq!(read("result: expected 5, got 6"), [change("result", "5", "6")]);
        assert_eq!(
            read("result: expected 5, got 6; s: expected \"a\", got NULL (standard error: x)"),
            [change("result", "5", "6"), change("s", "\"a\"", "NULL")]
        );
        assert!(read("ended with signal 11").is_empty());
    }
}
