//! Paths (`path.rs`), the questions about them (`solver.rs`) and how they are answered (`answers.rs`, `values.rs`) and recorded (`query_log.rs`).
//!
//! One circle on purpose: a group of constraints keeps what searches found out about it.

pub(crate) mod answers;
pub(crate) mod constraint_path;
pub(crate) mod partial;
pub(crate) mod products;
pub(crate) mod query_log;
pub(crate) mod solver;
pub(crate) mod term_values;
