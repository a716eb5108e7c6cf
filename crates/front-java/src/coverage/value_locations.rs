//! Locations of values in a JVM frame.

use crate::classfile::SlotKind;
use std::collections::BTreeMap;
use touchstone_ir::Reg;

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ValueLocation {
    /// A local variable, as it is at the point.
    Local(u16, SlotKind),
    /// A local variable, as it was before the instruction at a position, which stands before the point in the same block.
    OldLocal(u16, SlotKind, usize),
    /// What an instruction at a position, before the point in the same block, left on top of the stack.
    Pushed(usize),
    /// Whether the jump at the point, of references, finds them the same (or null), or finds them not.
    SameReferences {
        /// What the value is if they are.
        value: bool,
    },
}

/// When a point is reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PointPosition {
    /// Before an instruction.
    Before,
    /// Behind it.
    After,
}

/// A point about values, in the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValuePointLocation {
    /// Position of an instruction.
    pub at: usize,
    /// Before or behind it.
    pub when: PointPosition,
    /// Registers that the point, or what may stand in the place of its variables, reads. One that is missing came from another block.
    pub sources: BTreeMap<Reg, ValueLocation>,
}
