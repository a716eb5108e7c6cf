//! Functions that run before or after `main`, in which order.

use touchstone_ir::FuncId;

/// When a function runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    Before,
    After,
}

/// A function that runs before or after `main`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starter {
    pub function: FuncId,
    pub when: When,
    pub priority: Priority,
}

/// Its place among the others. Lower numbers are nearer to the outside; those without one are nearest to `main`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Priority {
    Number(i64),
    None,
    /// Hidden in a macro.
    Unknown,
}
