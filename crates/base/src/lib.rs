//! The ground floor: float arithmetic, typed ids, index maps, source files and spans, stable hashing.
//!
//! Nothing here knows programs, solvers or tests. No IO.

#![warn(missing_docs)]

pub mod extended;
pub mod float;
mod hash;
mod id;
pub mod math;
mod span;

pub use hash::{StableHasher, stable_hash};
pub use id::{Id, IndexMap};
pub use span::{FileId, Files, Span};
