//! The root of the document, and its JSON form.

use crate::document::decision_tables::Decision;
use crate::document::existing_suites::ReportedSuite;
use crate::document::form_suites::FormSuites;
use crate::document::objectives::{Objective, ReportedFunction};
use crate::document::stored_form;
use crate::document::suggestions::Suggestions;
use crate::document::test_results::{Test, TestState};
use crate::document::version_change::Change;
use serde::{Deserialize, Serialize};
use touchstone_criteria::SCHEMA_VERSION;

/// The result of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// The version of the schema.
    pub schema_version: u32,
    /// The source files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFile>,
    /// The results, one entry for each function and criterion.
    pub functions: Vec<ReportedFunction>,
    /// All objectives.
    pub objectives: Vec<Objective>,
    /// Truth tables.
    pub decisions: Vec<Decision>,
    /// All tests.
    pub tests: Vec<Test>,
    /// Tests of an earlier run for functions that a change does not affect: they exist and were not examined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<Test>,
    /// The protection that the replay of the tests lacked, as a sentence; absent if it was sandboxed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected_replay: Option<String>,
    /// For each test, the state that it changed, and whether an assertion depends on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<TestState>,
    /// Suggested assertions for unchecked state, if they were requested.
    #[serde(default, skip_serializing_if = "Suggestions::is_empty")]
    pub suggestions: Suggestions,
    /// Suites that existed before the run and were kept or run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<ReportedSuite>,
    /// The tests and the coverage of the emitted suites, one entry for each form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<FormSuites>,
    /// The change since an older version, if it was analysed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

impl Default for Document {
    fn default() -> Self {
        Document {
            schema_version: SCHEMA_VERSION,
            files: Vec::new(),
            functions: Vec::new(),
            objectives: Vec::new(),
            decisions: Vec::new(),
            tests: Vec::new(),
            left_alone: Vec::new(),
            unprotected_replay: None,
            state: Vec::new(),
            suggestions: Suggestions::default(),
            kept: Vec::new(),
            forms: Vec::new(),
            change: None,
        }
    }
}

/// The reason why a text is no document of this version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoDocument(pub String);

impl std::fmt::Display for NoDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDocument {}

impl Document {
    /// Parses the JSON form or the stored form.
    pub fn parse(text: &str) -> Result<Document, NoDocument> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u32,
        }
        let bad = |error: serde_json::Error| NoDocument(error.to_string());
        let head: Head = serde_json::from_str(text).map_err(bad)?;
        if head.schema_version != SCHEMA_VERSION {
            return Err(NoDocument(format!(
                "it has schema_version {}, this version reads {SCHEMA_VERSION}; run the campaign again",
                head.schema_version
            )));
        }
        stored_form::completed(serde_json::from_str(text).map_err(bad)?, text)
    }

    /// Returns the stored form for later reports, which [`Document::parse`] reads as well.
    pub fn to_stored(&self) -> String {
        stored_form::stored(self)
    }

    /// Returns the JSON form.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("invariant: every key is a string and nothing here refuses to be written")
    }
}

/// A source file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// The path, as in the rest of the document.
    pub path: String,
    /// The number of lines.
    pub lines: u32,
    /// A hash of the text, by which a later report detects that the file has changed.
    pub hash: String,
    /// The exclusions by its comments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusions: Vec<Exclusion>,
}

/// Lines that a comment excludes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exclusion {
    /// First line.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// The reason.
    pub reason: String,
    /// The excluded objectives.
    #[serde(default, skip_serializing_if = "Excludes::is_all")]
    pub what: Excludes,
}

/// The objectives that a comment excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excludes {
    /// All objectives on its lines.
    #[default]
    All,
    /// Decisions with their branches and conditions.
    Branches,
    /// The function that begins on its line.
    Function,
    /// The default arm of the switch that begins on its lines: the label is on an excluded line.
    DefaultArm,
}

impl Excludes {
    fn is_all(&self) -> bool {
        *self == Excludes::All
    }
}

impl Document {
    /// Returns the state of each test in the order of reports: the smallest checked share first.
    pub fn least_checked_first(&self) -> Vec<&TestState> {
        let mut tests: Vec<&TestState> = self.state.iter().collect();
        tests.sort_by_key(|test| {
            let (checked, total) = (test.checked(), test.updates.len());
            (checked * 1000 / total.max(1), std::cmp::Reverse(total - checked), &test.test)
        });
        tests
    }
}
