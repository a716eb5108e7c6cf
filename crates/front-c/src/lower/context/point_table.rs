//! The program points of a function, and the calls that mark labels.
//!
//! Only the state that lowering keeps; `points/` creates the points.

use rustc_hash::FxHashMap;
use touchstone_ir::{CondTag, DecisionId, PointId};

/// The subject of a point: a node, by clang's id, or a condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum PointSubject {
    Statement(u64),
    Value(u64),
    Hazard(u64),
    Decision(DecisionId),
    Store(u64),
    Condition(CondTag),
    Label(u64),
}

/// The points of a function so far.
#[derive(Default)]
pub(crate) struct PointTable {
    /// The point of each subject; `None` for subjects without one.
    pub known: FxHashMap<PointSubject, Option<PointId>>,
    pub labels: u32,
    /// True inside code from a system header's macro: its statements and values are not the user's.
    pub hidden: bool,
}

/// The order of arguments in a call that marks a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelCall {
    /// `touchstone_label(id, condition)`.
    IdFirst,
    /// `pc_label(condition)`, `pc_label(condition, id)`, `pc_label(condition, id, tag)`.
    ConditionFirst,
}

/// Returns the argument order of a function that marks a label. The program's own definition, if any, only serves
/// ordinary builds.
pub(crate) fn label_call(name: &str) -> Option<LabelCall> {
    match name {
        "touchstone_label" => Some(LabelCall::IdFirst),
        "pc_label" => Some(LabelCall::ConditionFirst),
        _ => None,
    }
}
