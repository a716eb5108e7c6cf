//! Goals: what a run must do to cover an objective, in terms of the IR.
//!
//! Goals are the closed vocabulary between criteria and whoever executes: a criterion says which goals it wants, the
//! engine, the interpreter's watcher and (later) probes say which were reached. A new criterion is a new combination of
//! these, or of labels, and needs no change in an executor.

use crate::Row;
use touchstone_base::{Span, define_id};
use touchstone_ir::{BlockId, CondId, DecisionId, ErrorKind, Expr, FuncId, PointId};

define_id! {
    /// A goal of a [`crate::GoalIndex`].
    GoalId, "goal"
}

/// What a run must do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Reach a point, in a state in which the predicate (if there is one) holds.
    Label {
        /// Where.
        func: FuncId,
        /// The point.
        point: PointId,
        /// What must hold; `None` is true.
        predicate: Option<Expr>,
    },
    /// Enter a function with inputs for which the predicate holds.
    Entry {
        /// The function.
        func: FuncId,
        /// What must hold over its parameters and globals.
        predicate: Expr,
    },
    /// Take an arm of a switch.
    Arm {
        /// Where.
        func: FuncId,
        /// The block that ends in the switch.
        block: BlockId,
        /// Where the arm goes.
        target: BlockId,
    },
    /// Evaluate a decision to a value.
    Outcome {
        /// Where.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The value.
        value: bool,
    },
    /// Evaluate a condition to a value, whether or not its decision gets an outcome.
    Condition {
        /// Where.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: CondId,
        /// The value.
        value: bool,
    },
    /// Evaluate a decision with exactly these outcomes of its conditions.
    Row {
        /// Where.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The outcomes, in evaluation order.
        outcomes: Vec<(CondId, bool)>,
    },
    /// Evaluate a condition to a value that is not masked: it decides the decision's outcome.
    Independent {
        /// Where.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: CondId,
        /// The value.
        value: bool,
    },
    /// Evaluate a decision in a row that is, with one of these rows, a unique-cause pair for a condition.
    Partner {
        /// Where.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: CondId,
        /// Rows that tests have already.
        rows: Vec<Row>,
    },
    /// End in an error at this place.
    Error {
        /// Where the instruction is.
        func: FuncId,
        /// How it goes wrong.
        kind: ErrorKind,
        /// The place that the error names.
        span: Span,
    },
}

impl Goal {
    /// The function that the goal stands in.
    pub fn func(&self) -> FuncId {
        match self {
            Goal::Label { func, .. }
            | Goal::Entry { func, .. }
            | Goal::Arm { func, .. }
            | Goal::Outcome { func, .. }
            | Goal::Condition { func, .. }
            | Goal::Row { func, .. }
            | Goal::Independent { func, .. }
            | Goal::Partner { func, .. }
            | Goal::Error { func, .. } => *func,
        }
    }
}
