//! The options of instrumentation.

use crate::record::ProbeStorage;
use std::ffi::OsString;
use std::path::PathBuf;
use touchstone_criteria::{CriteriaOptions, GoalCriterion};

/// The options of instrumentation.
pub struct ProbingOptions<'a> {
    /// The directory of the measurement, with `units/` and `hits/` in it.
    pub directory: PathBuf,
    /// The user's cache, which all measurements share.
    pub cache: Option<PathBuf>,
    /// The measured criteria.
    pub criteria: &'a [&'static dyn GoalCriterion],
    /// The options of the criteria.
    pub options: CriteriaOptions,
    /// The directory with the headers of this project.
    pub include_dir: Option<PathBuf>,
    /// True if state is traced.
    pub state: bool,
    /// True if the expressions at the end of tests are observed, for suggestions.
    pub suggest: bool,
    /// The `PATH` for compilers, if it is different from that of this process.
    pub path: Option<OsString>,
    /// The content of a probe.
    pub keeps: ProbeStorage,
}
