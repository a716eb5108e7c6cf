//! The document: what a run found, as plain data that every renderer reads and that the JSON form is.
//!
//! It needs neither the program's IR nor its sources, so a stored document can be rendered again at any time. Keys come
//! in the order of the structures here, never in the order of a hash map. Keys may be added; one that changes meaning or
//! goes away makes [`touchstone_criteria::SCHEMA_VERSION`] grow.
//!
//! Deliberately not here: how a document is made of a campaign (`json.rs`), and what it adds up to (`figures.rs`).

use crate::document::decision_tables::Decision;
use crate::document::existing_suites::KeptSuite;
use crate::document::form_suites::FormSuites;
use crate::document::objectives::{Function, Objective};
use crate::document::stored_form;
use crate::document::suggestions::Suggestions;
use crate::document::test_results::{Test, TestState};
use crate::document::version_change::Change;
use serde::{Deserialize, Serialize};
use touchstone_criteria::SCHEMA_VERSION;

/// What a run found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// Version of the form.
    pub schema_version: u32,
    /// The source files that something is known of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFile>,
    /// One entry a function and criterion.
    pub functions: Vec<Function>,
    /// All objectives.
    pub objectives: Vec<Objective>,
    /// Truth tables.
    pub decisions: Vec<Decision>,
    /// All tests.
    pub tests: Vec<Test>,
    /// Tests that an earlier run left of functions that a change does not touch: they are there, and nobody looked at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<Test>,
    /// What nothing kept the replay of the tests from, as a sentence; not there if it was kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected_replay: Option<String>,
    /// Per test, the state that it changed and whether an assertion looked at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<TestState>,
    /// Assertions that would check what is not checked, if somebody asked for them.
    #[serde(default, skip_serializing_if = "Suggestions::is_empty")]
    pub suggestions: Suggestions,
    /// Suites that were there before the run and stayed, or were asked whether they still pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptSuite>,
    /// What the emitted suites run and cover, one entry a form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<FormSuites>,
    /// What changed since an older version, if that was asked.
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

/// Why a text is no document that this version can read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoDocument(pub String);

impl std::fmt::Display for NoDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDocument {}

impl Document {
    /// Reads the JSON form.
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

    /// The form that is kept for later reports, which [`Document::parse`] reads as well.
    pub fn to_stored(&self) -> String {
        stored_form::stored(self)
    }

    /// The JSON form.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("invariant: every key is a string and nothing here refuses to be written")
    }
}

/// A source file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path, as in the rest of the document.
    pub path: String,
    /// Its number of lines.
    pub lines: u32,
    /// A hash of its text, so that a later report can tell that the file has changed since.
    pub hash: String,
    /// What its comments exclude.
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
    /// Why.
    pub reason: String,
    /// What of them.
    #[serde(default, skip_serializing_if = "Excludes::is_all")]
    pub what: Excludes,
}

/// What a comment excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excludes {
    /// Everything on its lines.
    #[default]
    All,
    /// Decisions with their branches and conditions.
    Branches,
    /// The function that begins on its line.
    Function,
}

impl Excludes {
    fn is_all(&self) -> bool {
        *self == Excludes::All
    }
}

impl Document {
    /// The state of each test, that of which least is checked first: so every report lists it.
    pub fn least_checked_first(&self) -> Vec<&TestState> {
        let mut tests: Vec<&TestState> = self.state.iter().collect();
        tests.sort_by_key(|test| {
            let (checked, total) = (test.checked(), test.updates.len());
            (checked * 1000 / total.max(1), std::cmp::Reverse(total - checked), &test.test)
        });
        tests
    }
}
