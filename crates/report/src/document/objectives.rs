//! Functions and objectives of a document, with their verdicts.

use crate::document::name::Name;
use serde::{Deserialize, Serialize};
use touchstone_criteria::Criterion;

/// The results for one function and criterion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedFunction {
    /// Its name.
    pub name: String,
    /// The cache key by which a later run resumes this one, if it was interrupted; absent if the function was not
    /// finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The source file.
    pub file: String,
    /// First line.
    #[serde(default)]
    pub line: Option<u32>,
    /// Last line.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// The criterion.
    pub criterion: String,
    /// The numbers of objectives by status.
    pub objectives: Counts,
    /// The numbers of paths by their end.
    pub paths: Paths,
    /// The number of tests.
    pub tests: u64,
    /// True if every feasible path was explored.
    pub exhaustive: bool,
    /// True if the results come from an earlier run; the times are those of that run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The time of exploration, in seconds.
    pub seconds: f64,
    /// The time of compilation and replay, in seconds.
    pub replay_seconds: f64,
    /// The queries and the time of the solver.
    pub solver: SolverUsage,
    /// The incomplete paths.
    pub incomplete: Vec<IncompletePaths>,
    /// The assumptions of the verdicts and of the completeness of paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
}

impl ReportedFunction {
    /// Returns true if its objectives are paths.
    pub fn counts_paths(&self) -> bool {
        Criterion::counts_paths(&self.criterion)
    }
}

/// An assumption of a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// The assumed statement.
    pub text: String,
    /// Its origin: an option, `declaration`, or `tests` (a limit of the test inputs; no infeasible verdict depends on
    /// it).
    pub by: String,
}

impl Assumption {
    /// Returns true if verdicts depend on it, and not only the completeness of paths.
    pub fn binds_verdicts(&self) -> bool {
        !["declaration", "tests"].contains(&self.by.as_str())
    }
}

/// Numbers of objectives by status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub total: u64,
    pub covered: u64,
    pub infeasible: u64,
    pub unknown: u64,
    /// Uncovered objectives of a measured suite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncovered: u64,
    /// The covered objectives that only tests with an error cover.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_error: u64,
    /// Objectives that a change does not affect; not included in the total.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unaffected: u64,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Numbers of paths by their end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Paths {
    pub explored: u64,
    pub infeasible: u64,
    pub error: u64,
    pub incomplete: u64,
    pub longer: u64,
}

/// The queries and the time of the solver.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SolverUsage {
    pub queries: u64,
    pub seconds: f64,
}

/// Paths that are incomplete for one reason at one position.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IncompletePaths {
    /// The reason as a sentence.
    pub why: String,
    /// The stable word for the reason; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The source position.
    #[serde(flatten)]
    pub at: Position,
    /// The number of paths.
    pub count: u64,
}

/// A source position; all fields are null if it is unknown.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Position {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Position {
    /// Returns the position in the format of compilers: `file.c:12:7`.
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

/// A source range; all fields are null if it is unknown. Columns are bytes from 1, and the end is exclusive.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ReportedRange {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    #[serde(default)]
    pub end_line: Option<u32>,
    #[serde(default)]
    pub end_column: Option<u32>,
}

impl ReportedRange {
    /// Returns the file and the first line, if they are known.
    pub fn start(&self) -> Option<(&str, u32)> {
        Some((self.file.as_deref()?, self.line?))
    }

    /// Returns the start in the format of compilers: `file.c:12:7`.
    pub fn display(&self) -> String {
        display(self.file.as_deref(), self.line, self.column)
    }
}

/// An objective.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Objective {
    /// The identity, which is stable under edits elsewhere.
    pub id: String,
    /// Its criterion.
    pub criterion: String,
    /// The enclosing function.
    pub function: String,
    /// The source range.
    #[serde(flatten)]
    pub at: ReportedRange,
    /// The requirement.
    pub text: String,
    /// The verdict.
    pub status: Verdict,
    /// The proof or the reason.
    pub why: Option<String>,
    /// The stable word for the reason; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tests that cover it.
    pub tests: Vec<Name>,
    /// True if only tests that end in an error cover it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_error: bool,
    /// The reason why a comment excludes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
    /// The variant of the code that it belongs to, if one source was compiled in several variants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The number of executions, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// The prefix of the reason why an objective was not measured.
pub const NOT_MEASURED: &str = "not measured: ";

impl Objective {
    /// Returns the reason why it was not measured, if so: then it counts neither as covered nor as uncovered.
    pub fn not_measured(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.status == Verdict::Unknown)?.strip_prefix(NOT_MEASURED)
    }
}

/// The verdict for an objective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A test covers it.
    Covered,
    /// No test can cover it.
    Infeasible,
    /// Neither a test nor a proof was found.
    Unknown,
    /// No test of the suite covers it; feasibility was not examined.
    Uncovered,
    /// A change does not affect it: the same inputs reach it as in the old version.
    Unaffected,
}

impl Verdict {
    /// Returns the word in the JSON form.
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
