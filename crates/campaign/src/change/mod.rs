//! What changed between two versions of a program: functions are matched by their names and compared by what they became, so moved and
//! reformatted code is unchanged. A function that depends on nothing that changed does the same in both: no test can tell them apart.
//!
//! Inside of functions, both versions are followed side by side (`walk.rs`), which says what a change reaches (`impact.rs`). Deliberately not here:
//! where the other version comes from.

mod comparison;
mod impact;
mod product;

pub(crate) use comparison::Comparison;
pub(crate) use impact::{Touched, leave_alone};
pub(crate) use product::compare;
