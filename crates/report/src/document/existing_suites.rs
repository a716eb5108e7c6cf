//! Suites that were there before a run: whether their tests still hold, and where the new ones went.

use serde::{Deserialize, Serialize};

/// A suite that was there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptSuite {
    /// Its first file.
    pub file: String,
    /// Whose tests it has.
    pub function: String,
    /// Its user edited it, so it stayed as it is; others are written again.
    pub edited: bool,
    /// Its tests.
    pub tests: Vec<KeptTest>,
    /// Why nothing is known of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// Where the tests went that it lacks; not there if it lacks none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_tests: Option<String>,
    /// How many of the tests that are written again have the inputs of one that was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_again: Option<usize>,
}

/// A test of a suite that was there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptTest {
    /// Its name.
    pub name: String,
    /// What it said of the program as it is now.
    pub verdict: KeptVerdict,
    /// It is a test that ends in an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expects_error: bool,
    /// What it expects, and what it got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Why it fails, or can't be run, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a test that was there said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptVerdict {
    /// It holds.
    Passes,
    /// It does not.
    Fails,
    /// It does not compile any more.
    DoesNotCompile,
    /// Nobody can say.
    NotCheckable,
    /// It was not run.
    NotRun,
}

/// An expectation that does not hold any more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The place, as the test has it.
    pub what: String,
    /// What the test expects.
    pub expected: String,
    /// What it is now.
    pub got: String,
}

impl KeptTest {
    /// Whether its user must look at it.
    pub fn is_broken(&self) -> bool {
        matches!(self.verdict, KeptVerdict::Fails | KeptVerdict::DoesNotCompile)
    }
}

impl KeptSuite {
    /// Whether its user must look at it.
    pub fn is_broken(&self) -> bool {
        self.edited && self.tests.iter().any(KeptTest::is_broken)
    }
}

/// Reads what a failed check says: `result: expected 5, got 6; x: expected 1, got 2`.
pub fn changes(message: &str) -> Vec<Change> {
    let message = message.split(" (standard error: ").next().unwrap_or(message);
    let read = |part: &str| {
        let (what, rest) = part.split_once(": expected ")?;
        let (expected, got) = rest.rsplit_once(", got ")?;
        let text = |text: &str| text.to_string();
        Some(Change { what: text(what), expected: text(expected), got: text(got) })
    };
    let all: Option<Vec<Change>> = message.split("; ").map(read).collect();
    all.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_check_says_becomes_old_and_new_values() {
        let read = |message: &str| -> Vec<(String, String, String)> {
            changes(message).into_iter().map(|change| (change.what, change.expected, change.got)).collect()
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
