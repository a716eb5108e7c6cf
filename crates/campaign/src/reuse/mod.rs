//! Results of earlier runs and of other tools.
//!
//! `baseline_suite.rs` reads a measured suite, or through `foreign_coverage.rs` the coverage file of another tool.
//! `earlier_tests.rs` has the tests of an earlier run, with `input_parser.rs` parsing their inputs.
//! `dependency_closure.rs` computes what a result depends on, for cache keys and for comparing versions.

pub(crate) mod baseline_suite;
pub(crate) mod dependency_closure;
pub(crate) mod earlier_tests;
mod foreign_coverage;
pub(crate) mod input_parser;
