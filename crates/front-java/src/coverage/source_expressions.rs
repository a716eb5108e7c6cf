//! Expressions of the IR with the source text of the bytecode that computes them. Mutation criteria work on them.
//!
//! A boolean has the type `i1` here, and a value narrower than `int` is an extension of its narrow type, so that a
//! mutant replaces a variable only by variables of the same type.

use crate::classes::layout::memory_ty;
use crate::classfile::{Arith, Cond, Convert, Desc, SlotKind};
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{BinOp, CastOp, CmpOp, Expr, ExprKind, Ty};

/// The text of an operand whose source text is not known.
pub(crate) const UNKNOWN_TEXT: &str = "(...)";

pub(crate) fn expr(kind: ExprKind, ty: Ty, text: impl Into<String>) -> Expr {
    Expr { kind, ty, signed: true, text: text.into() }
}

pub(crate) fn boolean(kind: ExprKind, text: impl Into<String>) -> Expr {
    Expr { kind, ty: Ty::I1, signed: false, text: text.into() }
}

fn cast(op: CastOp, ty: Ty, value: Expr, text: impl Into<String>) -> Expr {
    expr(ExprKind::Cast(op, Box::new(value)), ty, text)
}

fn format(kind: SlotKind) -> Option<Format> {
    match kind {
        SlotKind::Float => Some(Format::F32),
        SlotKind::Double => Some(Format::F64),
        _ => None,
    }
}

/// Returns the kind of slot that holds a type; `None` for references.
pub(crate) fn slot_kind(desc: &Desc) -> Option<SlotKind> {
    match desc {
        Desc::Long => Some(SlotKind::Long),
        Desc::Float => Some(SlotKind::Float),
        Desc::Double => Some(SlotKind::Double),
        Desc::Void | Desc::Ref(_) => None,
        _ => Some(SlotKind::Int),
    }
}

/// Returns an expression of a type for a value in a register, given by `bits`.
pub(crate) fn of_type(bits: ExprKind, desc: &Desc, text: impl Into<String>) -> Expr {
    let wide = |ty| expr(bits.clone(), ty, "");
    let narrow = |widen| {
        let value = cast(CastOp::Trunc, memory_ty(desc), wide(Ty::I32), "");
        (widen, value)
    };
    let (widen, value) = match desc {
        Desc::Boolean => return boolean(ExprKind::Cast(CastOp::Trunc, Box::new(wide(Ty::I32))), text),
        Desc::Long => return expr(bits, Ty::I64, text),
        Desc::Float => return as_float(Format::F32, expr(bits, Ty::I32, text)),
        Desc::Double => return as_float(Format::F64, expr(bits, Ty::I64, text)),
        Desc::Ref(_) => return expr(bits, Ty::Ptr, text),
        Desc::Int | Desc::Void => return expr(bits, Ty::I32, text),
        Desc::Byte | Desc::Short => narrow(CastOp::Sext),
        Desc::Char => narrow(CastOp::Zext),
    };
    cast(widen, Ty::I32, value, text)
}

/// Reinterprets the bits of an expression as a float; the text moves to the float.
fn as_float(format: Format, mut bits: Expr) -> Expr {
    let (text, ty) = (std::mem::take(&mut bits.text), bits.ty);
    Expr { kind: ExprKind::AsFloat(format, Box::new(bits)), ty, signed: false, text }
}

/// Returns a constant.
pub(crate) fn constant(ty: Ty, bits: u64, kind: SlotKind) -> Expr {
    match format(kind) {
        Some(of) => as_float(of, expr(ExprKind::Const(bits), ty, format!("{:?}", of.value(bits)))),
        None => expr(ExprKind::Const(bits), ty, touchstone_ir::sign_extend(bits, ty.bits()).to_string()),
    }
}

/// Converts an expression to the kind of number that an instruction expects.
pub(crate) fn of_kind(expr: Expr, kind: SlotKind) -> Expr {
    match format(kind) {
        Some(of) if expr.format() != Some(of) => as_float(of, expr),
        _ => expr,
    }
}

/// Converts an `int` to a boolean.
pub(crate) fn as_boolean(expr: Expr) -> Expr {
    match expr.kind {
        _ if expr.ty == Ty::I1 => expr,
        ExprKind::Const(bits) => boolean(ExprKind::Const(bits & 1), if bits & 1 == 1 { "true" } else { "false" }),
        _ => {
            Expr { text: expr.text.clone(), ..boolean(ExprKind::Cast(CastOp::Trunc, Box::new(without_text(expr))), "") }
        }
    }
}

/// Converts a boolean to an `int`.
pub(crate) fn as_int(expr: Expr) -> Expr {
    match expr.ty {
        Ty::I1 => cast(CastOp::Zext, Ty::I32, expr, ""),
        _ => expr,
    }
}

fn without_text(expr: Expr) -> Expr {
    Expr { text: String::new(), ..expr }
}

/// Returns the text of an expression; an implicit conversion has the text of its operand.
pub(crate) fn display(expr: &Expr) -> String {
    let mut inner = expr;
    while let (true, [only, ..]) = (inner.text.is_empty(), inner.parts().as_slice()) {
        inner = only;
    }
    inner.text.clone()
}

/// Returns the precedence of an expression's operator (JLS §15): operands with a lower one need parentheses.
fn precedence(expr: &Expr) -> u8 {
    const UNARY: u8 = 12;
    let mut inner = expr;
    while let (true, [only, ..]) = (inner.text.is_empty(), inner.parts().as_slice()) {
        inner = only;
    }
    match &inner.kind {
        ExprKind::Bin(BinOp::Sub, zero, _) if zero.text.is_empty() => UNARY,
        ExprKind::Bin(op, ..) => binary_precedence(*op),
        ExprKind::Float(FloatOp::Mul | FloatOp::Div | FloatOp::Rem, ..) => binary_precedence(BinOp::Mul),
        ExprKind::Float(FloatOp::Add | FloatOp::Sub, ..) => binary_precedence(BinOp::Add),
        ExprKind::Cmp(..) | ExprKind::Float(FloatOp::Eq | FloatOp::Lt | FloatOp::Le, ..) => 7,
        ExprKind::Not(of) if matches!(of.kind, ExprKind::Float(..)) && of.text.is_empty() => 7,
        ExprKind::And(..) => 3,
        ExprKind::Or(..) => 2,
        ExprKind::Ite(..) => 1,
        _ if inner.text.starts_with(['(', '-', '!']) => UNARY,
        _ if inner.text.contains(" instanceof ") => 8,
        _ => UNARY + 1,
    }
}

fn binary_precedence(op: BinOp) -> u8 {
    match op {
        BinOp::Mul | BinOp::SDiv | BinOp::SRem | BinOp::UDiv | BinOp::URem => 11,
        BinOp::Add | BinOp::Sub => 10,
        BinOp::Shl | BinOp::AShr | BinOp::LShr => 9,
        BinOp::And => 6,
        BinOp::Xor => 5,
        BinOp::Or => 4,
    }
}

/// Returns the text of an operand, in parentheses if its precedence is less than `needed`.
fn parenthesised(expr: &Expr, needed: u8) -> String {
    let text = display(expr);
    if precedence(expr) < needed { format!("({text})") } else { text }
}

/// Returns the text of the operand of a unary operator or a cast.
fn unary_operand(expr: &Expr) -> String {
    parenthesised(expr, 12)
}

fn sign(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "/",
        Arith::Rem => "%",
        Arith::Shl => "<<",
        Arith::Shr => ">>",
        Arith::Ushr => ">>>",
        Arith::And => "&",
        Arith::Or => "|",
        Arith::Xor => "^",
    }
}

/// Returns an arithmetic expression; the distance of a shift is an `int`.
pub(crate) fn arithmetic(op: Arith, kind: SlotKind, a: Expr, b: Expr) -> Expr {
    let own = match op {
        Arith::Mul | Arith::Div | Arith::Rem => binary_precedence(BinOp::Mul),
        Arith::Add | Arith::Sub => binary_precedence(BinOp::Add),
        Arith::Shl | Arith::Shr | Arith::Ushr => binary_precedence(BinOp::Shl),
        Arith::And => binary_precedence(BinOp::And),
        Arith::Or => binary_precedence(BinOp::Or),
        Arith::Xor => binary_precedence(BinOp::Xor),
    };
    let text = format!("{} {} {}", parenthesised(&a, own), sign(op), parenthesised(&b, own + 1));
    if let Some(format) = format(kind) {
        let op = match op {
            Arith::Add => FloatOp::Add,
            Arith::Sub => FloatOp::Sub,
            Arith::Mul => FloatOp::Mul,
            Arith::Div => FloatOp::Div,
            _ => FloatOp::Rem,
        };
        return Expr { text, ..Expr::float(op, format, vec![a, b]) };
    }
    let bitwise = match op {
        Arith::And => Some(BinOp::And),
        Arith::Or => Some(BinOp::Or),
        Arith::Xor => Some(BinOp::Xor),
        _ => None,
    };
    if let (Some(op), true) = (bitwise, a.ty == Ty::I1 || b.ty == Ty::I1) {
        return boolean(ExprKind::Bin(op, Box::new(as_boolean(a)), Box::new(as_boolean(b))), text);
    }
    let (a, b) = (as_int(a), as_int(b));
    let ty = a.ty;
    let (op, b) = match op {
        Arith::Add => (BinOp::Add, b),
        Arith::Sub => (BinOp::Sub, b),
        Arith::Mul => (BinOp::Mul, b),
        Arith::Div => (BinOp::SDiv, b),
        Arith::Rem => (BinOp::SRem, b),
        Arith::And => (BinOp::And, b),
        Arith::Or => (BinOp::Or, b),
        Arith::Xor => (BinOp::Xor, b),
        Arith::Shl => (BinOp::Shl, shift_distance(b, ty)),
        Arith::Shr => (BinOp::AShr, shift_distance(b, ty)),
        Arith::Ushr => (BinOp::LShr, shift_distance(b, ty)),
    };
    expr(ExprKind::Bin(op, Box::new(a), Box::new(b)), ty, text)
}

/// Masks the distance of a shift to the low bits that count.
fn shift_distance(by: Expr, ty: Ty) -> Expr {
    let wide = if by.ty == ty { by } else { cast(CastOp::Zext, ty, by, "") };
    let most = Expr::constant(ty, u64::from(ty.bits()) - 1);
    expr(ExprKind::Bin(BinOp::And, Box::new(wide), Box::new(most)), ty, "")
}

/// Returns `-a`.
pub(crate) fn negation(kind: SlotKind, a: Expr) -> Expr {
    let (text, ty) = (format!("-{}", unary_operand(&a)), a.ty);
    match format(kind) {
        Some(format) => {
            let sign = Expr::constant(ty, format.sign_mask());
            as_float(format, expr(ExprKind::Bin(BinOp::Xor, Box::new(a), Box::new(sign)), ty, text))
        }
        None => {
            let a = as_int(a);
            let ty = a.ty;
            expr(ExprKind::Bin(BinOp::Sub, Box::new(Expr::constant(ty, 0)), Box::new(a)), ty, text)
        }
    }
}

/// Returns a conversion; one that is implicit in source has no text.
pub(crate) fn conversion(convert: Convert, a: Expr) -> Expr {
    let written = |word: &str, a: &Expr| format!("({word}) {}", unary_operand(a));
    let narrow = |ty, widen, word| {
        let text = written(word, &a);
        cast(widen, Ty::I32, cast(CastOp::Trunc, ty, as_int(a.clone()), ""), text)
    };
    let (from, to) = match convert {
        Convert::Byte => return narrow(Ty::I8, CastOp::Sext, "byte"),
        Convert::Short => return narrow(Ty::I16, CastOp::Sext, "short"),
        Convert::Char => return narrow(Ty::I16, CastOp::Zext, "char"),
        Convert::Kinds(from, to) => (from, to),
    };
    let bits = |kind: SlotKind| if kind.is_wide() { 64 } else { 32 };
    let word = if to == SlotKind::Long { "long" } else { "int" };
    let (a, ty) = (as_int(a), Ty::Int(bits(to)));
    match (format(from), format(to)) {
        (None, None) if to == SlotKind::Long => cast(CastOp::Sext, ty, a, ""),
        (None, None) => {
            let text = written(word, &a);
            cast(CastOp::Trunc, ty, a, text)
        }
        (None, Some(to)) => Expr::float(FloatOp::FromSigned(bits(from)), to, vec![a]),
        (Some(from), None) => {
            let text = written(word, &a);
            Expr { signed: true, text, ..Expr::float(FloatOp::Saturate(ty.bits()), from, vec![a]) }
        }
        (Some(from), Some(to)) => {
            let text = if to == Format::F32 { written("float", &a) } else { String::new() };
            Expr { text, ..Expr::float(FloatOp::Convert(to), from, vec![a]) }
        }
    }
}

fn relation_sign(cond: Cond) -> &'static str {
    match cond {
        Cond::Eq => "==",
        Cond::Ne => "!=",
        Cond::Lt => "<",
        Cond::Ge => ">=",
        Cond::Gt => ">",
        Cond::Le => "<=",
    }
}

/// Returns the IR comparison of a condition, with its operands in order.
pub(crate) fn comparison<T>(cond: Cond, a: T, b: T) -> (CmpOp, T, T) {
    match cond {
        Cond::Eq => (CmpOp::Eq, a, b),
        Cond::Ne => (CmpOp::Ne, a, b),
        Cond::Lt => (CmpOp::Slt, a, b),
        Cond::Ge => (CmpOp::Sle, b, a),
        Cond::Gt => (CmpOp::Slt, b, a),
        Cond::Le => (CmpOp::Sle, a, b),
    }
}

/// Returns `a cond b` for integers, booleans or references.
pub(crate) fn relation(cond: Cond, a: Expr, b: Expr) -> Expr {
    let (a, b) = match a.ty == Ty::I1 || b.ty == Ty::I1 {
        true if matches!(cond, Cond::Eq | Cond::Ne) => (as_boolean(a), as_boolean(b)),
        _ => (as_int(a), as_int(b)),
    };
    let text = format!("{} {} {}", parenthesised(&a, 8), relation_sign(cond), parenthesised(&b, 8));
    let (op, a, b) = comparison(cond, a, b);
    Expr { signed: true, text, ..Expr::cmp(op, a, b) }
}

/// Returns `a cond b` for floats; an unordered comparison yields `nan`, as in `fcmpl` and `fcmpg`.
pub(crate) fn float_relation(cond: Cond, nan: i8, format: Format, a: Expr, b: Expr) -> Expr {
    let text = format!("{} {} {}", parenthesised(&a, 8), relation_sign(cond), parenthesised(&b, 8));
    let relation = |op, x: &Expr, y: &Expr| Expr::float(op, format, vec![x.clone(), y.clone()]);
    let not = |inner: Expr| boolean(ExprKind::Not(Box::new(inner)), "");
    let made = match (cond, nan) {
        (Cond::Eq, _) => relation(FloatOp::Eq, &a, &b),
        (Cond::Ne, _) => not(relation(FloatOp::Eq, &a, &b)),
        (Cond::Lt, -1) => not(relation(FloatOp::Le, &b, &a)),
        (Cond::Le, -1) => not(relation(FloatOp::Lt, &b, &a)),
        (Cond::Gt, -1) => relation(FloatOp::Lt, &b, &a),
        (Cond::Ge, -1) => relation(FloatOp::Le, &b, &a),
        (Cond::Lt, _) => relation(FloatOp::Lt, &a, &b),
        (Cond::Le, _) => relation(FloatOp::Le, &a, &b),
        (Cond::Gt, _) => not(relation(FloatOp::Le, &a, &b)),
        (Cond::Ge, _) => not(relation(FloatOp::Lt, &a, &b)),
    };
    Expr { text, ..made }
}

/// Compares a value with zero; for a boolean the result is the value itself or its negation.
pub(crate) fn compared_with_zero(cond: Cond, a: Expr) -> Expr {
    match (a.ty == Ty::I1, cond) {
        (true, Cond::Ne) => a,
        (true, Cond::Eq) => negated(a),
        _ => relation(cond, a, constant(Ty::I32, 0, SlotKind::Int)),
    }
}

/// Returns `!a`.
pub(crate) fn negated(a: Expr) -> Expr {
    let text = format!("!{}", unary_operand(&a));
    boolean(ExprKind::Not(Box::new(a)), text)
}

/// Returns `a && b` or `a || b`.
pub(crate) fn connected(by: Connective, a: Expr, b: Expr) -> Expr {
    let own = if by == Connective::And { 3 } else { 2 };
    let (left, right) = (parenthesised(&a, own), parenthesised(&b, own));
    let (a, b) = (Box::new(a), Box::new(b));
    match by {
        Connective::And => boolean(ExprKind::And(a, b), format!("{left} && {right}")),
        Connective::Or => boolean(ExprKind::Or(a, b), format!("{left} || {right}")),
    }
}

/// A logical connective.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connective {
    And,
    Or,
}

/// Returns `c ? a : b` for booleans.
pub(crate) fn conditional(c: Expr, a: Expr, b: Expr) -> Expr {
    let text = format!("{} ? {} : {}", unary_operand(&c), unary_operand(&a), unary_operand(&b));
    boolean(ExprKind::Ite(Box::new(c), Box::new(a), Box::new(b)), text)
}
