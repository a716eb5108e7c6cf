//! Points: where coverage speaks of the source, and the expressions that it asks about there.
//!
//! `mark.rs` makes the points; `pure.rs` and `float_formula.rs` make formulas of expressions without effects. All are methods
//! of `lower/`'s `Lowerer`, which calls `mark_…` where a point stands. They emit nothing but the point.
//!
//! The two kinds of formulas know each other: a comparison of floats is a truth value, and a truth value may become a float.

mod float_formula;
mod mark;
mod pure;
