//! How probes are made.

use crate::record::ProbeStorage;
use std::ffi::OsString;
use std::path::PathBuf;
use touchstone_criteria::{CriteriaOptions, GoalCriterion};

/// How probes are made.
pub struct ProbingOptions<'a> {
    /// Where records and hits go: `units/` and `hits/` in it.
    pub directory: PathBuf,
    /// Where a user keeps what all measurements can use.
    pub cache: Option<PathBuf>,
    /// What is measured.
    pub criteria: &'a [&'static dyn GoalCriterion],
    /// What users switch.
    pub options: CriteriaOptions,
    /// Our headers.
    pub include_dir: Option<PathBuf>,
    /// Whether state is followed,
    pub state: bool,
    /// and tests say what could be looked at where they end.
    pub suggest: bool,
    /// The path that compilers look for others on, if it is not ours.
    pub path: Option<OsString>,
    /// What probes keep.
    pub keeps: ProbeStorage,
}
