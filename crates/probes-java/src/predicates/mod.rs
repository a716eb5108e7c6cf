//! Predicates over values of frames: checks that follow from the bytecode, and predicates of the source that a plan adds.
//!
//! Both are evaluated by static methods that get copies of the values and hit probes, so woven code has no new jumps.

pub(crate) mod check_class;
pub(crate) mod emit_checks;
pub(crate) mod emit_predicates;
pub(crate) mod frame_types;
pub(crate) mod predicate_class;
pub(crate) mod predicate_plan;
pub(crate) mod value_checks;
