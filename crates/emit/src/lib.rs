//! Emits test cases as readable source of the language under test, compiles and replays them, and compares the results
//! with the predictions.
//!
//! [`CSuite`] writes one C file per function while tests are found: the file is complete after every [`CSuite::add`],
//! so a run that is killed leaves a usable suite. [`replay`] compiles the suite against the *unmodified* source, runs
//! every test in a process of its own and returns, for each test, whether the real program behaved as predicted.
//!
//! A test file includes the source of the function under test, so static functions and private types are accessible. It
//! is linked with the other files of the program and with a small runner (`runtime/touchstone_test.c`) that prints TAP.
//! Error paths are replayed in a second build with sanitizers, whose report must name the predicted kind of error and
//! line.
//!
//! [`replay_suites`] does that for the suites of a unit at once.
//!
//! Replay runs the user's code on generated inputs, so it runs in a sandbox ([`Sandbox`]).
//!
//! The same tests can be written for other frameworks ([`CTestForm`]); only the form of our own harness is replayed.
//!
//! Folders, in order of use: `c/` (`syntax/`, `build/`, `text/`, `files/`, `run/`), then `java/`, which uses the
//! launcher of C's sandbox. The files beside them know both languages (`target.rs`, `fingerprint.rs`) or none
//! (`archive.rs`, `tap.rs`, `sha256.rs`, `error.rs`).
//!
//! Deliberately not here: the search for inputs, and the use of the verdicts.

#![warn(missing_docs)]

mod archive;
mod c;
mod error;
mod fingerprint;
mod java;
mod sha256;
mod tap;
mod target;

pub use c::build::configuration::{Build, ReplayLimits, SourceUnit};
pub use c::build::object_cache::clear_compiled_runtime;
pub use c::build::preprocessor::PreprocessedUnits;
pub use c::build::sandbox::{Layer, Sandbox};
pub use c::build::unit_objects::UnitObjects;
pub use c::files::build_files::write_build_files;
pub use c::files::c_suite::{CSuite, SuitePlace};
pub use c::files::checksum::is_emitted;
pub use c::files::edited_suites::{
    ExistingSuite, RetainedSuites, existing_suites, existing_tests, remove_tests, retained_suite_count,
    suite_test_names,
};
pub use c::files::staged_suite::{SuiteDestination, deliver_file, deliver_suite, discard_staged_suites};
pub use c::files::testcomp::TestCompSuite;
pub use c::files::unity_replay::replayable_unity_suite;
pub use c::run::probed_run::{ProbedProgram, ProbedRun, ProbedSuite, run_with_probes};
pub use c::run::suite_replay::{Replayed, SuiteToReplay, replay, replay_suites};
pub use c::syntax::declarations::{parameter_list, parameter_list_with_names, result_declaration};
pub use c::syntax::limitation::EmitLimitation;
pub use c::text::form::CTestForm;
pub use c::text::library_types::construction_obstacle;
pub use c::text::tested_program::ProgramFacts;
pub use error::EmitError;
pub use java::existing_classes::{
    ExistingJUnitClass, existing_junit_classes, replay_existing_junit_class, retain_junit_tests,
};
pub use java::java_target::{JavaField, JavaMethod, JavaTarget, JavaTools, TestCompiler};
pub use java::junit_replay::replay_java_suites;
pub use java::junit_suite::{JUnit, JUnitSuite, deliver_junit_tests, edited_junit_files};
pub use java::jvm::Jvm;
pub use java::jvm_sandbox::SandboxMode;
pub use java::probed_junit_run::{ProbedClassFiles, ProbedClassPath, ProbedJUnitSuite, run_junit_with_probes};
pub use tap::ProbeHits;
pub use target::Target;
