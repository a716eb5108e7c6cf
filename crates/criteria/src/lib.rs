//! What is to be tested and what was found: test cases, criteria, verdicts, campaigns.
//!
//! These are the data that the verbs share. Nothing here executes, solves or prints.

#![warn(missing_docs)]

mod campaign;
mod criterion;
mod testcase;
mod verdict;

pub use campaign::{Campaign, FunctionResult, ObjectiveCounts, PathCounts, SCHEMA_VERSION, SolverUse};
pub use criterion::{Criterion, CriterionParseError};
pub use testcase::{Expected, MadeInput, NamedValue, ObjectInput, Outcome, Replay, TestCase, TestKind};
pub use verdict::{Bound, Incomplete, IncompletePaths, Objective, Status};
