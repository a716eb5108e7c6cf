//! Pure expressions: the predicates of labels and the operands of mutants.
//!
//! An expression is evaluated at a [`crate::Point`] over the registers and memory there. It has no side effects and is
//! not part of the program: only observers evaluate it. An expression that would fail (a load outside of an object, a
//! division by zero) has no value, and a label with such a predicate does not hold.

use crate::{BinOp, CastOp, CmpOp, GlobalId, Reg, SlotId, Ty};
use std::collections::BTreeSet;
use touchstone_base::float;

/// A pure expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// The operation.
    pub kind: ExprKind,
    /// Its type; truth values are `i1`.
    pub ty: Ty,
    /// True if the source uses its bits as a signed number.
    pub signed: bool,
    /// The source text; empty for expressions that the source does not write (implicit conversions).
    pub text: String,
}

/// The operation of a pure expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// A constant, masked to the type's width.
    Const(u64),
    /// A register of the frame.
    Reg(Reg),
    /// The address of a slot of the frame.
    Slot(SlotId),
    /// The address of a global.
    Global(GlobalId),
    /// The contents of memory at an address.
    Load(Box<Expr>),
    /// Integer arithmetic.
    Bin(BinOp, Box<Expr>, Box<Expr>),
    /// A relation, `i1`.
    Cmp(CmpOp, Box<Expr>, Box<Expr>),
    /// A change of width, or between pointer and integer.
    Cast(CastOp, Box<Expr>),
    /// A float operation.
    Float(float::FloatOp, float::Format, Vec<Expr>),
    /// The same bits, read as a float by the source. Every float expression that is not itself a float operation is
    /// wrapped in one.
    AsFloat(float::Format, Box<Expr>),
    /// Pointer plus bytes.
    PtrAdd(Box<Expr>, Box<Expr>),
    /// Negation of a truth value.
    Not(Box<Expr>),
    /// Short-circuit and of truth values.
    And(Box<Expr>, Box<Expr>),
    /// Short-circuit or of truth values.
    Or(Box<Expr>, Box<Expr>),
    /// A conditional on a truth value.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// The maximum nesting depth of expressions (a leaf has depth 1), because functions over them are recursive. The
    /// verifier rejects deeper ones.
    pub const MAX_DEPTH: usize = 1000;

    /// The maximum nesting depth of source expressions that are lowered to expressions; deeper ones are
    /// [`crate::PointKind::TooDeep`].
    pub const DEEPEST_SOURCE: usize = 200;

    /// Returns the nesting depth; a leaf has depth 1.
    pub fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut pending = vec![(self, 1)];
        while let Some((expr, depth)) = pending.pop() {
            deepest = deepest.max(depth);
            pending.extend(expr.parts().into_iter().map(|part| (part, depth + 1)));
        }
        deepest
    }

    /// A constant.
    pub fn constant(ty: Ty, value: u64) -> Expr {
        Expr { kind: ExprKind::Const(crate::mask(value, ty.bits())), ty, signed: true, text: String::new() }
    }

    /// A relation between two expressions of one type.
    pub fn cmp(op: CmpOp, a: Expr, b: Expr) -> Expr {
        Expr { kind: ExprKind::Cmp(op, Box::new(a), Box::new(b)), ty: Ty::I1, signed: false, text: String::new() }
    }

    /// A float operation.
    pub fn float(op: float::FloatOp, format: float::Format, args: Vec<Expr>) -> Expr {
        let ty = Ty::Int(op.result_bits(format));
        Expr { kind: ExprKind::Float(op, format, args), ty, signed: false, text: String::new() }
    }

    /// The format, if the source reads the value as a float.
    pub fn format(&self) -> Option<float::Format> {
        match self.kind {
            ExprKind::AsFloat(format, _) => Some(format),
            ExprKind::Float(op, format, _) => op.result_format(format),
            _ => None,
        }
    }

    /// The direct parts, in evaluation order.
    pub fn parts(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Reg(_) | ExprKind::Slot(_) | ExprKind::Global(_) => vec![],
            ExprKind::Load(a) | ExprKind::Cast(_, a) | ExprKind::AsFloat(_, a) | ExprKind::Not(a) => vec![a],
            ExprKind::Float(_, _, args) => args.iter().collect(),
            ExprKind::Bin(_, a, b)
            | ExprKind::Cmp(_, a, b)
            | ExprKind::PtrAdd(a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b) => vec![a, b],
            ExprKind::Ite(c, a, b) => vec![c, a, b],
        }
    }

    /// Adds the registers that the expression reads.
    pub fn add_registers(&self, found: &mut BTreeSet<Reg>) {
        let mut pending = vec![self];
        while let Some(expr) = pending.pop() {
            if let ExprKind::Reg(reg) = expr.kind {
                found.insert(reg);
            }
            pending.extend(expr.parts());
        }
    }

    /// The direct parts, in evaluation order, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Const(_) | ExprKind::Reg(_) | ExprKind::Slot(_) | ExprKind::Global(_) => vec![],
            ExprKind::Load(a) | ExprKind::Cast(_, a) | ExprKind::AsFloat(_, a) | ExprKind::Not(a) => vec![a],
            ExprKind::Float(_, _, args) => args.iter_mut().collect(),
            ExprKind::Bin(_, a, b)
            | ExprKind::Cmp(_, a, b)
            | ExprKind::PtrAdd(a, b)
            | ExprKind::And(a, b)
            | ExprKind::Or(a, b) => vec![a, b],
            ExprKind::Ite(c, a, b) => vec![c, a, b],
        }
    }
}
