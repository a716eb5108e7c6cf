//! Pure expressions: what a label asks, and what mutants are made of.
//!
//! An expression is evaluated at a [`crate::Point`] over the registers and memory there. It has no side effects and is not
//! part of the program: executing a program never evaluates one, only whoever watches it does. An expression that would
//! go wrong (a load outside an object, a division by zero) has no value, and a label that asks for it does not hold.

use crate::{BinOp, CastOp, CmpOp, GlobalId, Reg, SlotId, Ty};
use touchstone_base::float;

/// A pure expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// Its type; truth values are `i1`.
    pub ty: Ty,
    /// Whether the source takes its bits as a signed number.
    pub signed: bool,
    /// How the source writes it; empty for what the source does not write (implicit conversions).
    pub text: String,
}

/// What a pure expression computes.
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
    /// What memory holds at an address.
    Load(Box<Expr>),
    /// Integer arithmetic.
    Bin(BinOp, Box<Expr>, Box<Expr>),
    /// A relation, `i1`.
    Cmp(CmpOp, Box<Expr>, Box<Expr>),
    /// A change of width, or between pointer and integer.
    Cast(CastOp, Box<Expr>),
    /// A float operation.
    Float(float::Op, float::Format, Vec<Expr>),
    /// The same bits, which the source reads as a float: what is float and not itself a float operation stands in one.
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
    /// How deep expressions may be nested (a leaf has depth 1): whoever works on them recurses. The verifier refuses
    /// deeper ones.
    pub const MAX_DEPTH: usize = 1000;

    /// How deep the source of an expression may be nested, so that the expression is not deeper than that; deeper ones are
    /// [`crate::PointKind::TooDeep`].
    pub const DEEPEST_SOURCE: usize = 200;

    /// How deep the expression is nested; a leaf has depth 1.
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
    pub fn float(op: float::Op, format: float::Format, args: Vec<Expr>) -> Expr {
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
