//! The points that a function has so far, and calls that ask for one.
//!
//! Only what lowering itself has to keep. `points/` makes them.

use rustc_hash::FxHashMap;
use touchstone_ir::{CondTag, DecisionId, PointId};

/// What a point is about: clang's id of the node, or the condition.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Subject {
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
pub(crate) struct Marks {
    /// `None` for what has no point.
    pub known: FxHashMap<Subject, Option<PointId>>,
    pub labels: u32,
    /// Inside of code that a system header's macro made: its own statements and values are not the user's.
    pub hidden: bool,
}

/// How the arguments of a call that marks a label are ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LabelCall {
    /// `touchstone_label(id, condition)`.
    IdFirst,
    /// `pc_label(condition)`, `pc_label(condition, id)`, `pc_label(condition, id, tag)`.
    ConditionFirst,
}

/// Whether a function of this name marks a label. Its definition, if the program has one, is only for ordinary builds.
pub(crate) fn label_call(name: &str) -> Option<LabelCall> {
    match name {
        "touchstone_label" => Some(LabelCall::IdFirst),
        "pc_label" => Some(LabelCall::ConditionFirst),
        _ => None,
    }
}
