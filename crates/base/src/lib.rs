//! The ground floor: typed ids, index maps, source files and spans, stable hashing.
//!
//! Nothing here knows programs, solvers or tests. No IO.

#![warn(missing_docs)]

mod hash;
mod id;
mod span;

pub use hash::{StableHasher, stable_hash};
pub use id::{Id, IndexMap};
pub use span::{FileId, Files, Span};
