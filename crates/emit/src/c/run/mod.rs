//! TODO

pub(crate) mod replay;
pub(crate) mod replay_verdict;
pub(crate) mod sanitizer_report;
pub(crate) mod symbolizer;
