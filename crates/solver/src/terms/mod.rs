//! Terms: hash-consed and simplified when they are made (`store.rs`, `rewrite.rs`), the variables in each (`support.rs`), with what is known of each by itself
//! (`facts.rs`) or under constraints (`bounds.rs`); and as scripts for other solvers (`smt_script.rs`, `smt_floats.rs`).
//!
//! One circle on purpose: a term's facts are computed when it is made, from those of its parts.

pub(crate) mod array_access;
pub(crate) mod display;
pub(crate) mod facts;
pub(crate) mod float_facts;
pub(crate) mod float_order;
pub(crate) mod float_rewrite;
pub(crate) mod infix;
pub(crate) mod path_bounds;
pub(crate) mod rewrite;
pub(crate) mod semantics;
pub(crate) mod smt_floats;
pub(crate) mod smt_script;
pub(crate) mod support;
pub(crate) mod term;
pub(crate) mod term_store;
