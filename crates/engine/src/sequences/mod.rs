//! Call sequences: several calls as one function, so that searches need no knowledge of them.
//!
//! `call_sequence.rs` builds the driver, `sequence_test.rs` converts its tests, and `construction_plan.rs` selects calls
//! that construct the arguments of a function.

pub(crate) mod call_sequence;
pub(crate) mod construction_plan;
mod sequence_test;
