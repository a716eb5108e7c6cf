//! Suggested assertions for state that tests change and don't check.

use serde::{Deserialize, Serialize};

/// The suggestions for a suite.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Suggestions {
    /// The assertions, in the order of files and lines.
    pub assertions: Vec<MissingAssertion>,
    /// The objectives without a suggestion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<NoAssertion>,
}

impl Suggestions {
    /// Returns true if nothing was requested or nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty() && self.none.is_empty()
    }
}

/// A suggested assertion.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MissingAssertion {
    /// The test that it belongs to.
    pub test: String,
    /// The file of the test.
    pub file: String,
    /// The last line of the test.
    pub line: u32,
    /// The source text of the assertion.
    pub statement: String,
    /// The state that it checks.
    pub checks: Vec<String>,
    /// The objectives that it covers.
    pub objectives: Vec<String>,
    /// The file of each objective: functions of the same name in several files have the same ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objective_files: Vec<String>,
    /// The insertions into the file.
    pub insertions: Vec<TextInsertion>,
}

impl MissingAssertion {
    /// Returns true if it covers an objective of a file.
    pub fn has(&self, file: &str, id: &str) -> bool {
        self.objective_files.iter().zip(&self.objectives).any(|(own, objective)| own == file && objective == id)
    }
}

/// An insertion of text into a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TextInsertion {
    /// The line before which it is inserted.
    pub line: u32,
    /// The column in that line, in characters from 1.
    pub column: u32,
    /// The text.
    pub text: String,
}

/// An objective without a suggestion.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct NoAssertion {
    /// The objective.
    pub objective: String,
    /// The state.
    pub what: String,
    /// The reason.
    pub why: String,
}
