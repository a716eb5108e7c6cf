//! A campaign: what a run of `generate` or `prove` is, for anyone who wants to run one.
//!
//! A [`Request`] says what is wanted; a [`Plan`] has everything decided, and the program read; [`run`] sends every function
//! through the stages, one a file: `explore.rs`, `reduce.rs`, `conclude.rs` (verdicts and proofs), `emit.rs`, `replay.rs`;
//! `document.rs` has what comes out. Tests go to a [`TestSink`], progress to a [`Watcher`], and what users should know is a
//! [`Notice`]. [`Question`] explains one objective, [`Listed`] lists them all. [`measure()`] runs a suite that is there.
//!
//! ```
//! use touchstone_campaign::{Collect, Plan, Request, run_into};
//! use touchstone_criteria::Status;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scratch = tempfile::tempdir()?;
//! let source = scratch.path().join("max.c");
//! std::fs::write(&source, "int max(int a, int b) { if (a > b && a != 7) return a; return b; }")?;
//! let mut request = Request::new([source], scratch.path().join("out"));
//! request.criteria = vec!["mcdc".parse()?, "branch".parse()?];
//! let (plan, tests) = (Plan::new(&request)?, Collect::default());
//! let finished = run_into(&plan, &tests, &())?;
//! assert!(finished.campaign.objectives.iter().all(|objective| matches!(objective.status, Status::Covered(_))));
//! assert_eq!(tests.into_tests()["max"].len(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! [`run`] instead of [`run_into`] writes the tests as C and replays them on the compiled program.
//!
//! Deliberately not here: the command line, the terminal, environment variables, exit codes and reports (all `cli`'s), and
//! whatever only looks at one path (`touchstone_engine`'s).

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
pub use explain::{Answer, Question, Why};
pub use java::JavaError;
pub use measure::{
    Earlier, Jvms, Measurement, Measuring, MeasuringError, Offline, Planning, Probed, Ran, Remark, Selection, Suggest,
    Surroundings, instrument_classes, measure, measured_document, merge, plan_classes,
};
pub use plan::{Listed, Plan, Task};
pub use program::{CampaignError, ExplainError, PlanError, Program, ReadError, Reader, SubjectError, Takes};
pub use request::{
    BadBounds, CacheIn, Compilation, Effort, Heaps, Inputs, Notice, ObjectivesOf, OldVersion, OptionsFileError, OutDir,
    OutDirError, Purpose, Regeneration, Replaying, Request, Subject, TestForm, TestsGo, nearest_name,
    options_file_near, options_file_reading, parse_bounds,
};
pub use reuse::measured_suite::{Known, OnTop, Suite};
pub use run::{run, run_into};
pub use stages::progress::{FunctionWatcher, Watcher};
pub use stages::results::Finished;
pub use stages::sink::{Collect, Leaves, TestSink, TestSinks};
