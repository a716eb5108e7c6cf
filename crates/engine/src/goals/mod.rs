//! Goals on symbolic paths, each file using only those before it: open goals (`coverage.rs`), distances to them
//! (`distance.rs`), and goals that were reached (`tracker.rs`). Detection itself is in
//! `exec/instructions/goal_detection.rs`.

pub(crate) mod coverage;
pub(crate) mod distance;
pub(crate) mod tracker;
