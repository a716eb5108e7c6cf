//! The result of one run of a verb, as every report shows it.

use crate::{Assumption, Criterion, IncompletePaths, Objective, TestCase};

/// Version of the JSON form; grows when a key changes meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything that a run found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Campaign {
    /// One entry a function and criterion.
    pub functions: Vec<FunctionResult>,
    /// All objectives.
    pub objectives: Vec<Objective>,
    /// All tests.
    pub tests: Vec<TestCase>,
}

/// The result for one function and criterion.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionResult {
    /// Function.
    pub name: String,
    /// The file of the function.
    pub file: String,
    /// Criterion.
    pub criterion: Criterion,
    /// Objectives by status.
    pub objectives: ObjectiveCounts,
    /// Paths by how they ended.
    pub paths: PathCounts,
    /// Paths that were given up, by reason and place.
    pub incomplete: Vec<IncompletePaths>,
    /// Number of tests.
    pub tests: u64,
    /// The whole space was explored: no bound hit, nothing unsupported, no solver unknown, no doubt about a verdict.
    pub exhaustive: bool,
    /// The assumptions of the paths and of every verdict.
    pub assumptions: Vec<Assumption>,
    /// Seconds spent exploring.
    pub seconds: f64,
    /// Seconds spent compiling and replaying.
    pub replay_seconds: f64,
    /// The solver's share.
    pub solver: SolverUse,
}

impl FunctionResult {
    /// Adds why some verdicts are open though all paths were followed: once by reason and place.
    pub fn doubt<'a>(&mut self, reasons: impl Iterator<Item = &'a IncompletePaths>) {
        for reason in reasons {
            if !self.incomplete.iter().any(|known| known.why == reason.why && known.span == reason.span) {
                self.incomplete.push(IncompletePaths { count: 1, ..reason.clone() });
            }
        }
        self.incomplete.sort();
        self.paths.incomplete = self.incomplete.iter().map(|paths| paths.count).sum();
        self.exhaustive = self.incomplete.is_empty();
    }
}

/// Objectives by status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct ObjectiveCounts {
    pub total: u64,
    pub covered: u64,
    pub infeasible: u64,
    pub unknown: u64,
    /// The number of uncovered objectives of a measured suite.
    pub uncovered: u64,
    /// Beside the total: what a change does not touch.
    pub unaffected: u64,
}

/// Paths by how they ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PathCounts {
    /// Followed to an end, error ends included.
    pub explored: u64,
    /// Branch sides that no input takes.
    pub infeasible: u64,
    /// Ended in an error.
    pub error: u64,
    /// Given up.
    pub incomplete: u64,
    /// Left out because they have more loop iterations than `paths:K`, or more visits of a block than `block:K`, asks for.
    pub longer: u64,
}

/// The solver's share.
#[derive(Clone, Copy, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct SolverUse {
    /// Questions asked.
    pub queries: u64,
    /// Seconds.
    pub seconds: f64,
}
