//! Campaigns: a run of `generate`, `prove` or `measure` as a library.
//!
//! A [`Request`] is plain data; a [`Plan`] has all decisions made and the program read; [`run`] sends every function
//! through the stages. Tests arrive at a [`TestSink`], progress at a [`ProgressListener`], and remarks for users are
//! [`Notice`]s. [`ObjectiveQuestion`] explains one objective, [`ObjectiveList`] lists them all. [`measure()`] runs an
//! existing test suite.
//!
//! ```
//! use touchstone_campaign::{CollectedTests, Plan, Request, run_into};
//! use touchstone_criteria::Status;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scratch = tempfile::tempdir()?;
//! let source = scratch.path().join("max.c");
//! std::fs::write(&source, "int max(int a, int b) { if (a > b && a != 7) return a; return b; }")?;
//! let mut request = Request::new([source], scratch.path().join("out"));
//! request.criteria = vec!["mcdc".parse()?, "branch".parse()?];
//! let (plan, tests) = (Plan::new(&request)?, CollectedTests::default());
//! let result = run_into(&plan, &tests, &())?;
//! assert!(result.campaign.objectives.iter().all(|objective| matches!(objective.status, Status::Covered(_))));
//! assert_eq!(tests.into_tests()["max"].len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! [`run`] instead of [`run_into`] writes the tests as C and replays them on the compiled program.
//!
//! The folders, each using only those before it:
//!
//! 1. `request/`: what is asked for, as plain data; notices for users; the output directory.
//! 2. `externals/`: specifications of external functions that users write, and their translation to C and Java.
//! 3. `java/`: reading Java programs.
//! 4. `program/`: reading programs of any language; which functions are under test; errors.
//! 5. `reuse/`: results of earlier runs and of other tools: measured suites, earlier tests, dependency closures.
//! 6. `plan/`: the resolved plan, the work on one function, resumption of an interrupted run.
//! 7. `change/`: impact analysis and product programs for two versions.
//! 8. `stages/`: exploration, reduction, verdicts, emission, replay, results.
//! 9. `cache/`: stored results of the stages.
//! 10. `measure/`: measurement of existing suites.
//!
//! `run.rs`, `explain.rs` and `cases.rs` use all of them.
//!
//! Deliberately not here: the command line, the terminal, environment variables, exit codes and reports (all `cli`'s),
//! and the exploration of single paths (`touchstone_engine`'s).

#![warn(missing_docs)]

mod cache;
mod cases;
mod change;
mod explain;
mod externals;
mod java;
mod measure;
mod plan;
mod program;
mod request;
mod reuse;
mod run;
mod stages;

pub use cache::{CacheSummary, clear_cache, summarize_cache};
pub use cases::{FunctionCases, cases};
pub use explain::{ExplainedObjective, ObjectiveQuestion, VerdictReason};
pub use java::JavaError;
pub use measure::{
    CommandEnvironment, CommandOutput, EarlierMeasurement, JvmOptions, MeasureRequest, MeasuredRun, Measurement,
    MeasuringError, OfflineRequest, PlansRequest, ProbedClasses, Remark, Selection, SuggestionScope,
    instrument_classes, measure, measured_document, merge, plan_classes, store_exclusions,
};
pub use plan::{ObjectiveList, Plan, Task};
pub use program::{CampaignError, ExplainError, HelperParameters, PlanError, Program, ReadError, Reader, SubjectError};
pub use request::{
    BadBounds, CAMPAIGN, CAMPAIGN_HISTORY, CacheLocation, Compilation, Effort, HeapChoice, InputAssumptions,
    MEASUREMENT, MEASUREMENT_HISTORY, Notice, ObjectiveScope, OldVersion, OptionsFileError, OutDir, OutDirError,
    Purpose, Regeneration, ReplayMode, Request, Subject, TestDestination, TestForm, UnneededTests, nearest_name,
    options_file_near, options_file_reading, parse_bounds,
};
pub use reuse::baseline_suite::{BaselineSuite, SuiteGain, SuiteMembership};
pub use run::{run, run_into};
pub use stages::progress::{FunctionProgress, ProgressListener};
pub use stages::results::CampaignResult;
pub use stages::sink::{CollectedTests, SinkResult, TestSink, TestSinks};
pub use touchstone_emit::clear_compiled_runtime;
