//! The ground floor: float arithmetic, typed ids, index maps, source files and spans, stable hashing, work time
//! and deadlines, and how reasons are declared.
//!
//! Nothing here knows programs, solvers or tests. No IO, except for `files/`.

#![warn(missing_docs)]

mod append_list;
mod cores;
mod corrupted_inputs;
mod deadline;
mod dominators;
pub mod extended;
pub mod fault;
mod files;
pub mod float;
mod hash;
mod id;
pub mod math;
mod memory_limit;
mod reason;
mod span;
mod stack;
mod strict_math;
mod work_time;
mod worker_memory;

pub use append_list::AppendList;
pub use cores::{Cores, TakenCores};
pub use corrupted_inputs::CorruptedInputs;
pub use deadline::Deadline;
pub use dominators::{DominatorTree, control_dependence};
pub use files::{check_confined, remove_partial_files, user_cache_dir, write_atomically, write_beside, write_confined};
pub use hash::{StableHasher, WideHasher, stable_hash};
pub use id::{Id, IndexMap};
pub use memory_limit::MemoryLimit;
#[doc(hidden)]
pub use serde;
pub use span::{FileId, Files, Span};
pub use stack::{on_deep_stack, spawn_deep};
pub use work_time::{WorkKind, advance_work_time, spend, work_time, work_time_from};
pub use worker_memory::WorkerMemory;
