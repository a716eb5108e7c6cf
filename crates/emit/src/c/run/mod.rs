//! Replay of a suite: compilation, execution in the sandbox, and the comparison of each result with the prediction.

pub(crate) mod merged_suites;
pub(crate) mod probed_run;
pub(crate) mod replay_verdict;
pub(crate) mod sanitizer_report;
pub(crate) mod suite_replay;
pub(crate) mod symbolizer;
