//! Results of earlier runs and of other tools.

pub(crate) mod dependency_closure;
pub(crate) mod earlier_tests;
mod foreign_coverage;
pub(crate) mod input_reader;
pub(crate) mod measured_suite;
