//! Program points: the locations to which coverage criteria attach labels, and the formulas that labels refer to.
//!
//! `program_points.rs` emits the points; `formulas.rs` and `float_formulas.rs` translate side-effect-free expressions to
//! formulas. All are methods of the `Lowerer` in `lower/`, which calls `mark_…` at the location of a point. They emit no
//! other instruction.
//!
//! `formulas.rs` and `float_formulas.rs` use each other: a comparison of floats is a truth value, and a truth value may be
//! converted to a float.

mod float_formulas;
mod formulas;
mod program_points;
