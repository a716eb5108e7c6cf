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

mod beside;
mod bounds;
mod cache;
mod change;
mod closure;
mod conclude;
mod discover;
mod document;
mod earlier;
mod emit;
mod error;
mod explain;
mod explore;
mod grow;
mod heaps;
mod java;
mod kept;
mod measure;
mod naming;
mod notice;
mod objectives;
mod old_version;
mod options_file;
mod out_dir;
mod outside;
mod plan;
mod precondition;
mod program;
mod read_back;
mod reduce;
mod replay;
mod request;
mod resume;
mod run;
mod sequences;
mod sink;
mod subject;
mod suite;
mod summary;
mod tables;
mod vary;
mod watched;
mod watcher;
mod work;
mod world;

pub use bounds::{BadBounds, parse_bounds};
pub use cache::{CacheSummary, clear_cache, summarize_cache};
pub use document::Finished;
pub use error::{CampaignError, ExplainError, PlanError, SubjectError, Takes};
pub use explain::{Answer, Question, Why};
pub use heaps::Heaps;
pub use java::JavaError;
pub use measure::{
    Earlier, Jvms, Measurement, Measuring, MeasuringError, Offline, Planning, Probed, Ran, Remark, Selection, Suggest,
    Surroundings, instrument_classes, measure, measured_document, merge, plan_classes,
};
pub use notice::Notice;
pub use objectives::Listed;
pub use old_version::OldVersion;
pub use options_file::{OptionsFileError, nearest_name, options_file_near, options_file_reading};
pub use out_dir::{OutDir, OutDirError};
pub use plan::{Plan, Task};
pub use program::{Program, ReadError, Reader};
pub use request::{
    CacheIn, Compilation, Effort, Inputs, ObjectivesOf, Purpose, Regeneration, Replaying, Request, Subject, TestForm,
    TestsGo,
};
pub use run::{run, run_into};
pub use sink::{Collect, Leaves, TestSink, TestSinks};
pub use suite::{Known, OnTop, Suite};
pub use summary::{FunctionCases, cases};
pub use watcher::{FunctionWatcher, Watcher};
