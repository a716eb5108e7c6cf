//! The source's view of a method's code: which jumps are conditions of which decisions, where statements begin, what
//! expressions and switch labels the source writes. All of it is data that lowering attaches to functions.
//!
//! Deliberately not here: the points themselves, which `lower/points` emits while it lowers a method.

mod changed_code;
pub(crate) mod definite_assignment;
pub(crate) mod implicit_exceptions;
pub(crate) mod method_decisions;
pub(crate) mod source_expressions;
pub(crate) mod source_marks;
pub(crate) mod switch_labels;
pub(crate) mod value_locations;

pub use implicit_exceptions::ImplicitException;
pub use method_decisions::{InstructionPredicate, PointLocation};
pub use source_marks::{JumpCounts, SourceMarks};
pub use value_locations::{PointPosition, ValueLocation, ValuePointLocation};
