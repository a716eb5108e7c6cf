//! Functions and objectives of a document, with their verdicts.

use crate::document::name::Name;
use serde::{Deserialize, Serialize};

/// What was found for one function and criterion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What a later run knows it by that resumes this one, which was interrupted; not there if it was not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The file it stands in.
    pub file: String,
    /// First line.
    #[serde(default)]
    pub line: Option<u32>,
    /// Last line.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// The criterion.
    pub criterion: String,
    /// Objectives by status.
    pub objectives: Counts,
    /// Paths by how they ended.
    pub paths: Paths,
    /// Number of tests.
    pub tests: u64,
    /// Nothing was left unexplored.
    pub exhaustive: bool,
    /// An earlier run found all this, and it was kept; seconds are those that it took then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Seconds of exploration.
    pub seconds: f64,
    /// Seconds of compiling and replaying.
    pub replay_seconds: f64,
    /// The solver's share.
    pub solver: Solver,
    /// What was given up.
    pub incomplete: Vec<IncompletePaths>,
    /// What verdicts and the completeness of paths rest on beside the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
}

impl Function {
    /// Whether its objectives are paths.
    pub fn counts_paths(&self) -> bool {
        ["paths", "block"].contains(&self.criterion.split(':').next().unwrap_or_default())
    }
}

/// Something that verdicts rest on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// What is assumed.
    pub text: String,
    /// Who says so: an option, `declaration`, or `tests` (how tests are made; no infeasible verdict rests on it).
    pub by: String,
}

impl Assumption {
    /// Whether verdicts rest on it, too, and not only the paths of tests.
    pub fn binds_verdicts(&self) -> bool {
        !["declaration", "tests"].contains(&self.by.as_str())
    }
}

/// Objectives by status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub total: u64,
    pub covered: u64,
    pub infeasible: u64,
    pub unknown: u64,
    /// Of a measured suite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncovered: u64,
    /// Of the covered ones, those that only tests cover which end in an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_error: u64,
    /// Beside the total: what a change does not touch was not asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unaffected: u64,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Paths by how they ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Paths {
    pub explored: u64,
    pub infeasible: u64,
    pub error: u64,
    pub incomplete: u64,
    pub longer: u64,
}

/// The solver's share.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Solver {
    pub queries: u64,
    pub seconds: f64,
}

/// Paths that were given up for one reason at one place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IncompletePaths {
    /// Why.
    pub why: String,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where.
    #[serde(flatten)]
    pub at: Position,
    /// How many.
    pub count: u64,
}

/// A position; all three are null where there is none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Position {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Position {
    /// `file.c:12:7`, as compilers print it.
    pub fn display(&self) -> String {
        display(self.file.as_deref(), self.line, self.column)
    }
}

fn display(file: Option<&str>, line: Option<u32>, column: Option<u32>) -> String {
    match (file, line, column) {
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(file), Some(line), None) => format!("{file}:{line}"),
        _ => "<no position>".to_string(),
    }
}

/// A stretch of a file; all are null where there is none. Columns count bytes from 1, the end is exclusive.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Stretch {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    #[serde(default)]
    pub end_line: Option<u32>,
    #[serde(default)]
    pub end_column: Option<u32>,
}

impl Stretch {
    /// The file and the first line, where they are known.
    pub fn start(&self) -> Option<(&str, u32)> {
        Some((self.file.as_deref()?, self.line?))
    }

    /// `file.c:12:7`, as compilers print it.
    pub fn display(&self) -> String {
        display(self.file.as_deref(), self.line, self.column)
    }
}

/// Something to be covered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Objective {
    /// Identity that survives edits elsewhere.
    pub id: String,
    /// Its criterion.
    pub criterion: String,
    /// The function it stands in.
    pub function: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// What it asks.
    pub text: String,
    /// What is known.
    pub status: Verdict,
    /// How that is known, or why it isn't.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tests that cover it.
    pub tests: Vec<Name>,
    /// It is covered, but only by tests that end in an error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_error: bool,
    /// Why the user doesn't want it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
    /// Which variant of the code it belongs to, where one source was compiled in several ways that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// How often it was executed, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// How the reason begins why a measurement can say nothing about an objective.
pub const NOT_MEASURED: &str = "not measured: ";

impl Objective {
    /// Why a measurement can say nothing about it, if that is so: it is neither covered nor uncovered.
    pub fn not_measured(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.status == Verdict::Unknown)?.strip_prefix(NOT_MEASURED)
    }
}

/// What is known of an objective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Some test covers it.
    Covered,
    /// No test can.
    Infeasible,
    /// Not known.
    Unknown,
    /// No test of the suite covers it; whether one could was not asked.
    Uncovered,
    /// A change does not touch it: the inputs that reach it are those that reached it in the old version.
    Unaffected,
}

impl Verdict {
    /// As in the JSON form.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Covered => "covered",
            Verdict::Infeasible => "infeasible",
            Verdict::Unknown => "unknown",
            Verdict::Uncovered => "uncovered",
            Verdict::Unaffected => "unaffected",
        }
    }
}
