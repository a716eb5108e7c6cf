//! Assignments: one (`model.rs`), all of a domain (`view.rs`, `enumerate.rs`), and guesses at better ones.

pub(crate) mod comparisons;
pub(crate) mod divisors;
pub(crate) mod enumerate;
pub(crate) mod float_guess;
pub(crate) mod guess;
pub(crate) mod model;
pub(crate) mod order;
pub(crate) mod program;
pub(crate) mod view;
