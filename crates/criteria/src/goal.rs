//! Goals: the events of a run that cover an objective, in terms of the IR.
//!
//! Goals are the closed vocabulary between criteria and executors: a criterion lists the goals that it needs; the
//! engine, the interpreter's observer and the probes report which were reached. A new criterion is a new combination of
//! goals and needs no change in an executor.

use crate::Row;
use touchstone_base::{Span, define_id};
use touchstone_ir::{
    BlockId, CmpOp, CondId, DataType, DecisionId, ErrorKind, Expr, ExprKind, FuncId, Module, Operand, PointId, Ty,
};

define_id! {
    /// A goal of a [`crate::GoalIndex`].
    GoalId, "goal"
}

/// An event that a run must reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Reach a point, in a state in which the predicate (if there is one) holds.
    Label {
        /// The function.
        func: FuncId,
        /// The point.
        point: PointId,
        /// The predicate that must hold; `None` is true.
        predicate: Option<Expr>,
    },
    /// Enter a function with inputs for which the predicate holds.
    Entry {
        /// The function.
        func: FuncId,
        /// The predicate over parameters and globals that must hold.
        predicate: Expr,
    },
    /// Return from a function with a result for which the predicate holds.
    Return {
        /// The function.
        func: FuncId,
        /// The predicate over its result.
        predicate: ResultPredicate,
    },
    /// Take an arm of a switch.
    Arm {
        /// The function.
        func: FuncId,
        /// The block that ends in the switch.
        block: BlockId,
        /// The target of the arm.
        target: BlockId,
    },
    /// Evaluate a decision to a value.
    Outcome {
        /// The function.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The value.
        value: bool,
    },
    /// Evaluate a condition to a value, whether or not its decision gets an outcome.
    Condition {
        /// The function.
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
        /// The function.
        func: FuncId,
        /// The decision.
        decision: DecisionId,
        /// The outcomes, in evaluation order.
        outcomes: Vec<(CondId, bool)>,
    },
    /// Evaluate a condition to a value that is not masked: it independently affects the outcome of the decision.
    Independent {
        /// The function.
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
        /// The function.
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
        /// The function of the instruction.
        func: FuncId,
        /// The kind of error.
        kind: ErrorKind,
        /// The place that the error names.
        span: Span,
    },
}

impl Goal {
    /// Returns the function of the goal.
    pub fn func(&self) -> FuncId {
        match self {
            Goal::Label { func, .. }
            | Goal::Entry { func, .. }
            | Goal::Return { func, .. }
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

/// A predicate over the result of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ResultPredicate {
    /// The result is zero, null or false.
    Zero,
    /// The result is not zero, null or false; this includes NaN.
    NonZero,
}

impl ResultPredicate {
    /// Returns the predicate over the operand of a `return` of a function.
    pub fn over(self, operand: Operand, func: FuncId, module: &Module) -> Expr {
        let function = &module.functions[func];
        let ty = function.operand_ty(operand);
        let kind = match operand {
            Operand::Reg(reg) => ExprKind::Reg(reg),
            Operand::Const(_, value) => ExprKind::Const(value),
        };
        let value = Expr { kind, ty, signed: true, text: String::new() };
        let is_zero = match module.types[function.result_data] {
            DataType::Float { format, .. } if ty == Ty::Int(format.bits()) => {
                let as_float = |inner: Expr| Expr {
                    kind: ExprKind::AsFloat(format, Box::new(inner)),
                    ty,
                    signed: false,
                    text: String::new(),
                };
                let zero = as_float(Expr::constant(ty, format.of(0.0)));
                Expr::float(touchstone_base::float::FloatOp::Eq, format, vec![as_float(value), zero])
            }
            _ => Expr::cmp(CmpOp::Eq, value, Expr::constant(ty, 0)),
        };
        match self {
            ResultPredicate::Zero => is_zero,
            ResultPredicate::NonZero => {
                Expr { kind: ExprKind::Not(Box::new(is_zero)), ty: Ty::I1, signed: false, text: String::new() }
            }
        }
    }
}
