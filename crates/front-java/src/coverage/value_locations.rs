//! Locations of values in a JVM frame, for probes that evaluate the predicates of points in instrumented classes.

use crate::classfile::SlotKind;
use std::collections::BTreeMap;
use touchstone_ir::Reg;

/// The location of a value in a frame.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ValueLocation {
    /// A local variable at the point.
    Local(u16, SlotKind),
    /// The value of a local variable before the instruction at an offset, which precedes the point in the same block.
    OldLocal(u16, SlotKind, usize),
    /// The value that the instruction at an offset, which precedes the point in the same block, pushed.
    Pushed(usize),
    /// The outcome of the reference comparison by the jump at the point.
    SameReferences {
        /// The value if the references are the same (or the reference is null).
        value: bool,
    },
}

/// The position of a point relative to an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PointPosition {
    /// Before the instruction.
    Before,
    /// After the instruction.
    After,
}

/// The location of a point about values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValuePointLocation {
    /// Offset of the instruction.
    pub at: usize,
    /// The position relative to the instruction.
    pub when: PointPosition,
    /// The locations of all registers that the point or a mutant of it reads. A register without location was computed
    /// in another block.
    pub sources: BTreeMap<Reg, ValueLocation>,
}
