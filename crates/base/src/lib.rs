//! The ground floor: float arithmetic, typed ids, index maps, source files and spans, stable hashing, the clock that work asks,
//! and how reasons are declared.
//!
//! Nothing here knows programs, solvers or tests. No IO, but for the one way in which files are written (`whole_file.rs`).

#![warn(missing_docs)]

mod deadline;
mod dominators;
pub mod extended;
pub mod float;
mod grown;
mod hash;
mod id;
pub mod math;
mod memory_held;
mod memory_limit;
mod mutations;
mod reason;
mod span;
mod stack;
mod whole_file;

pub use deadline::Deadline;
pub use dominators::{DominatorTree, control_dependence};
pub use grown::Grown;
pub use hash::{StableHasher, WideHasher, stable_hash};
pub use id::{Id, IndexMap};
pub use memory_held::MemoryHeld;
pub use memory_limit::MemoryLimit;
pub use mutations::Mutations;
#[doc(hidden)]
pub use serde;
pub use span::{FileId, Files, Span};
pub use stack::{on_deep_stack, spawn_deep};
pub use whole_file::{remove_parts, write_whole};
