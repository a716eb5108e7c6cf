//! Mutants of float expressions: the operators of the integers, where they mean something.

use super::{Mutant, made, shown};
use crate::Mutator;
use touchstone_base::float::{FloatOp, Format};
use touchstone_ir::{BinOp, Expr, ExprKind, Ty};

/// Two values differ: as numbers, or only one is a number. Zeros are equal.
pub(super) fn differs(format: Format, a: &Expr, b: &Expr) -> Expr {
    let equal = |x: &Expr, y: &Expr| Expr::float(FloatOp::Eq, format, vec![x.clone(), y.clone()]);
    let any_number = truth(ExprKind::Or(Box::new(equal(a, a)), Box::new(equal(b, b))));
    truth(ExprKind::And(Box::new(not(equal(a, b))), Box::new(any_number)))
}

fn truth(kind: ExprKind) -> Expr {
    Expr { kind, ty: Ty::I1, signed: false, text: String::new() }
}

fn not(expr: Expr) -> Expr {
    truth(ExprKind::Not(Box::new(expr)))
}

/// A variable of a float type.
pub(super) fn is_variable(expr: &Expr) -> bool {
    let plain = !expr.text.is_empty() && expr.text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let reads = |inner: &Expr| matches!(inner.kind, ExprKind::Reg(_) | ExprKind::Load(_));
    plain && matches!(&expr.kind, ExprKind::AsFloat(_, inner) if reads(inner))
}

/// Mutants of an expression itself, if it is about floats.
pub(super) fn mutants(expr: &Expr, variables: &[Expr], mutants: &mut Vec<Mutant>) {
    match &expr.kind {
        ExprKind::Float(op @ (FloatOp::Eq | FloatOp::Lt | FloatOp::Le), format, args) => {
            relations(expr, *op, *format, args, false, mutants);
        }
        ExprKind::Not(inner) => {
            if let ExprKind::Float(FloatOp::Eq, format, args) = &inner.kind {
                relations(expr, FloatOp::Eq, *format, args, true, mutants);
            }
        }
        _ => {}
    }
    let Some(format) = expr.format() else { return };
    if let ExprKind::Float(op, _, args) = &expr.kind {
        arithmetic(expr, *op, format, args, mutants);
    }
    if let ExprKind::AsFloat(_, inner) = &expr.kind
        && let ExprKind::Const(bits) = inner.kind
    {
        constants(expr, format, bits, mutants);
        return;
    }
    if is_variable(expr) {
        let others = variables.iter().filter(|other| other.format() == Some(format) && other.text != expr.text);
        for other in others {
            mutants.push(made(Mutator::Vrp, expr, other.clone(), other.text.clone()));
        }
    }
    let on_bits = |op: BinOp, of: &Expr, bits: u64| {
        let kind = ExprKind::Bin(op, Box::new(of.clone()), Box::new(Expr::constant(expr.ty, bits)));
        let inner = Expr { kind, ty: expr.ty, signed: false, text: String::new() };
        Expr { kind: ExprKind::AsFloat(format, Box::new(inner)), ty: expr.ty, signed: false, text: String::new() }
    };
    let absolute = on_bits(BinOp::And, expr, format.magnitude_mask());
    let minus_absolute = on_bits(BinOp::Xor, &absolute, format.sign_mask());
    mutants.push(made(Mutator::Abs, expr, absolute, format!("abs({})", expr.text)));
    mutants.push(made(Mutator::Abs, expr, minus_absolute, format!("-abs({})", expr.text)));
    mutants.push(made(Mutator::Uoi, expr, on_bits(BinOp::Xor, expr, format.sign_mask()), format!("-({})", expr.text)));
}

fn arithmetic(expr: &Expr, op: FloatOp, format: Format, args: &[Expr], mutants: &mut Vec<Mutant>) {
    let family = [(FloatOp::Add, "+"), (FloatOp::Sub, "-"), (FloatOp::Mul, "*"), (FloatOp::Div, "/")];
    let [a, b] = args else { return };
    if !family.iter().any(|(known, _)| *known == op) {
        return;
    }
    for (other, sign) in family.into_iter().filter(|(other, _)| *other != op) {
        let changed = Expr::float(other, format, args.to_vec());
        mutants.push(made(Mutator::Aor, expr, changed, format!("{} {sign} {}", shown(a), shown(b))));
    }
}

fn relations(expr: &Expr, op: FloatOp, format: Format, args: &[Expr], negated: bool, mutants: &mut Vec<Mutant>) {
    let [a, b] = args else { return };
    // (relation, operands swapped, outcome negated, sign)
    let family = [
        (FloatOp::Eq, false, false, "=="),
        (FloatOp::Eq, false, true, "!="),
        (FloatOp::Lt, false, false, "<"),
        (FloatOp::Le, false, false, "<="),
        (FloatOp::Lt, true, false, ">"),
        (FloatOp::Le, true, false, ">="),
    ];
    for (other, swapped, negate, sign) in family {
        if (other, swapped, negate) == (op, false, negated) {
            continue;
        }
        let (x, y) = if swapped { (b, a) } else { (a, b) };
        let relation = Expr::float(other, format, vec![x.clone(), y.clone()]);
        let changed = if negate { not(relation) } else { relation };
        mutants.push(made(Mutator::Ror, expr, changed, format!("{} {sign} {}", shown(a), shown(b))));
    }
    for value in [1, 0] {
        mutants.push(made(Mutator::Ror, expr, Expr::constant(Ty::I1, value), (value == 1).to_string()));
    }
    mutants.push(made(Mutator::Uoi, expr, not(expr.clone()), format!("!({})", expr.text)));
}

fn constants(expr: &Expr, format: Format, bits: u64, mutants: &mut Vec<Mutant>) {
    let value = format.value(bits);
    let mut others = Vec::new();
    for other in [0.0, 1.0, -1.0, value + 1.0, value - 1.0, -value] {
        let other = format.of(other);
        // Zeros are equal.
        let same = format.value(other) == value;
        if !same && !others.contains(&other) {
            others.push(other);
        }
    }
    for other in others {
        let inner = Expr::constant(expr.ty, other);
        let kind = ExprKind::AsFloat(format, Box::new(inner));
        let changed = Expr { kind, ty: expr.ty, signed: false, text: String::new() };
        mutants.push(made(Mutator::Crp, expr, changed, format!("{:?}", format.value(other))));
    }
}
