//! Execution: one instruction at a time in one symbolic state, independent of the driver.
//!
//! Folders, each naming only those before it:
//!
//! - `executor/`: the executor, its policy and the data that it carries from step to step;
//! - `memory/`: loads, stores, late aliases, pointer arithmetic;
//! - `environment/`: everything around the function under test that a proof must not assume away;
//! - `instructions/`: the instructions, forks, calls, and the goals that a step reaches;
//! - `compose/`: folding a call into one term, and composition of calls by it.
//!
//! All of them are parts of one `impl Executor`: the order is that of types and functions, while methods call each
//! other freely (a load may have to materialise a pointer, a call may be composed).

pub(crate) mod compose;
pub(crate) mod environment;
pub(crate) mod executor;
pub(crate) mod instructions;
pub(crate) mod memory;
