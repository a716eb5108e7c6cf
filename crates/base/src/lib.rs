//! The ground floor: float arithmetic, typed ids, index maps, source files and spans, stable hashing, work time
//! and deadlines, and how reasons are declared.
//!
//! Nothing here knows programs, solvers or tests. No IO, but for the one way in which files are written (`atomic_write.rs`), and
//! the user's cache directory (`user_cache.rs`).

#![warn(missing_docs)]

mod append_list;
mod atomic_write;
mod cores;
mod corrupted_inputs;
mod deadline;
mod dominators;
pub mod extended;
pub mod fault;
pub mod float;
mod hash;
mod id;
pub mod math;
mod memory_limit;
mod reason;
mod span;
mod stack;
mod strict_math;
mod user_cache;
mod work_time;
mod worker_memory;

pub use append_list::AppendList;
pub use atomic_write::{check_confined, remove_partial_files, write_atomically, write_beside, write_confined};
pub use cores::{Cores, TakenCores};
pub use corrupted_inputs::CorruptedInputs;
pub use deadline::Deadline;
pub use dominators::{DominatorTree, control_dependence};
pub use hash::{StableHasher, WideHasher, stable_hash};
pub use id::{Id, IndexMap};
pub use memory_limit::MemoryLimit;
#[doc(hidden)]
pub use serde;
pub use span::{FileId, Files, Span};
pub use stack::{on_deep_stack, spawn_deep};
pub use user_cache::user_cache_dir;
pub use work_time::{WorkKind, advance_work_time, spend, work_time, work_time_from};
pub use worker_memory::WorkerMemory;
