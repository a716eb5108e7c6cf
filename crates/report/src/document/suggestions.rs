//! Assertions that are missing: what would check the state that tests change and do not look at; and the patch that adds them.

use serde::{Deserialize, Serialize};

/// What is suggested.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Suggestions {
    /// Assertions, in the order of files and lines.
    pub assertions: Vec<MissingAssertion>,
    /// Objectives that no assertion was found for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub none: Vec<NoAssertion>,
}

impl Suggestions {
    /// Whether nothing was asked for, or nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty() && self.none.is_empty()
    }
}

/// An assertion that is missing.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MissingAssertion {
    /// The test that it belongs to.
    pub test: String,
    /// The file of the test.
    pub file: String,
    /// The line that the test ends in.
    pub line: u32,
    /// The assertion.
    pub statement: String,
    /// The state that it checks.
    pub checks: Vec<String>,
    /// Its objectives,
    pub objectives: Vec<String>,
    /// and the file of each: functions of one name in several files have objectives of one id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objective_files: Vec<String>,
    /// What is to be put into the file.
    pub insertions: Vec<TextInsertion>,
}

impl MissingAssertion {
    /// Whether it checks an objective of a file.
    pub fn has(&self, file: &str, id: &str) -> bool {
        self.objective_files.iter().zip(&self.objectives).any(|(own, objective)| own == file && objective == id)
    }
}

/// Text that is to be put into a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TextInsertion {
    /// Before this line,
    pub line: u32,
    /// and this column of it, in characters: 1 is its beginning.
    pub column: u32,
    /// The text.
    pub text: String,
}

/// An objective that no assertion was found for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct NoAssertion {
    /// The objective.
    pub objective: String,
    /// The state.
    pub what: String,
    /// Why there is none.
    pub why: String,
}
