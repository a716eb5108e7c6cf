//! Constructors and destructors with their order.

use touchstone_ir::FuncId;

/// The time at which a function runs, relative to `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StartupTime {
    Before,
    After,
}

/// A function that runs before or after `main`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartupFunction {
    pub function: FuncId,
    pub when: StartupTime,
    pub priority: Priority,
}

/// The order among functions of the same time. Lower numbers are further away from `main`; functions without a number
/// are next to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Priority {
    Number(i64),
    None,
    /// The number is in a macro and could not be read.
    Unknown,
}
