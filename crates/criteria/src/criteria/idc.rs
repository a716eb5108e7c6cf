//! Input domain coverage: every part of a partition of each input occurs. The partition comes from the user, or from the
//! type: negative, zero, positive and the extremes; null and not null.

use crate::Goal;
use crate::registry::{CriterionScope, GoalCriterion, ObjectiveSpec, RecordedEvent};
use touchstone_base::float;
use touchstone_ir::{CmpOp, DataType, Expr, ExprKind, Param, Ty, mask};

pub(crate) struct Idc;

impl GoalCriterion for Idc {
    fn name(&self) -> &'static str {
        "idc"
    }
    fn about(&self) -> &'static str {
        "every part of each input's domain occurs"
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Inputs]
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let function = scope.function();
        let mut drafts = Vec::new();
        let hidden = usize::from(function.aggregate_result);
        // The hidden parameter of variadic arguments is no input.
        let own = function.params.len() - usize::from(function.variadic);
        for param in function.params[..own].iter().skip(hidden).filter(|param| !param.aggregate) {
            for (text, predicate) in parts(scope, param) {
                drafts.push(ObjectiveSpec {
                    goal: Goal::Entry { func: scope.func, predicate },
                    span: function.span,
                    text,
                    known: None,
                });
            }
        }
        drafts
    }
}

/// The parts of a parameter's domain, with their text.
fn parts(scope: &CriterionScope<'_>, param: &Param) -> Vec<(String, Expr)> {
    let ty = scope.function().regs[param.reg].ty;
    let name = &param.name;
    let (signed, bits) = match &scope.module.types[param.data] {
        DataType::Int { signed, bits, .. } => (*signed, (*bits).min(ty.bits())),
        DataType::Enum { signed, .. } => (*signed, ty.bits()),
        DataType::Float { format, .. } => return float_parts(scope, param, *format),
        DataType::Bool { .. } => {
            let is = |value: u64| (format!("{name} == {value}"), relation(param, ty, CmpOp::Eq, value, true));
            return vec![is(0), is(1)];
        }
        DataType::Pointer { .. } => {
            let null = |op, sign: &str| (format!("{name} {sign} null"), relation(param, Ty::Ptr, op, 0, true));
            return vec![null(CmpOp::Eq, "=="), null(CmpOp::Ne, "!=")];
        }
        _ => return Vec::new(),
    };
    let (less, less_equal) = if signed { (CmpOp::Slt, CmpOp::Sle) } else { (CmpOp::Ult, CmpOp::Ule) };
    if let Some(ranges) = scope.options.partitions.get(name) {
        let part = |&(low, high): &(i128, i128)| {
            let above = relation(param, ty, less_equal, low as u64, false);
            let below = relation(param, ty, less_equal, high as u64, true);
            let both = Expr {
                kind: ExprKind::And(Box::new(above), Box::new(below)),
                ty: Ty::I1,
                signed: false,
                text: String::new(),
            };
            (format!("{name} in {low}..{high}"), both)
        };
        return ranges.iter().map(part).collect();
    }
    // A register may be wider than what it holds.
    let (least, greatest) = match signed {
        true => (mask((1u64 << (bits - 1)).wrapping_neg(), ty.bits()), (1u64 << (bits - 1)) - 1),
        false => (0, mask(u64::MAX, bits)),
    };
    let mut parts = Vec::new();
    if signed {
        parts.push((format!("{name} < 0"), relation(param, ty, less, 0, true)));
    }
    parts.push((format!("{name} == 0"), relation(param, ty, CmpOp::Eq, 0, true)));
    parts.push((format!("{name} > 0"), relation(param, ty, less, 0, false)));
    if signed {
        parts.push((format!("{name} is least"), relation(param, ty, CmpOp::Eq, least, true)));
    }
    parts.push((format!("{name} is greatest"), relation(param, ty, CmpOp::Eq, greatest, true)));
    parts
}

/// Negative, zero, positive and no number; or the ranges that the user gave.
fn float_parts(scope: &CriterionScope<'_>, param: &Param, format: float::Format) -> Vec<(String, Expr)> {
    let (name, ty) = (&param.name, Ty::Int(format.bits()));
    let as_float = |kind: ExprKind, text: &str| {
        let inner = Expr { kind, ty, signed: false, text: String::new() };
        Expr { kind: ExprKind::AsFloat(format, Box::new(inner)), ty, signed: false, text: text.to_string() }
    };
    let input = || as_float(ExprKind::Reg(param.reg), name);
    let number = |value: f64| as_float(ExprKind::Const(format.of(value)), "");
    let is = |op, a, b| Expr::float(op, format, vec![a, b]);
    let truth = |kind| Expr { kind, ty: Ty::I1, signed: false, text: String::new() };
    if let Some(ranges) = scope.options.partitions.get(name) {
        let part = |&(low, high): &(i128, i128)| {
            let above = is(float::FloatOp::Le, number(low as f64), input());
            let below = is(float::FloatOp::Le, input(), number(high as f64));
            (format!("{name} in {low}..{high}"), truth(ExprKind::And(Box::new(above), Box::new(below))))
        };
        return ranges.iter().map(part).collect();
    }
    let no_number = truth(ExprKind::Not(Box::new(is(float::FloatOp::Eq, input(), input()))));
    vec![
        (format!("{name} < 0"), is(float::FloatOp::Lt, input(), number(0.0))),
        (format!("{name} == 0"), is(float::FloatOp::Eq, input(), number(0.0))),
        (format!("{name} > 0"), is(float::FloatOp::Lt, number(0.0), input())),
        (format!("{name} is no number"), no_number),
    ]
}

/// `param op value`, or `value op param` if the parameter does not come first.
fn relation(param: &Param, ty: Ty, op: CmpOp, value: u64, param_first: bool) -> Expr {
    let input = Expr { kind: ExprKind::Reg(param.reg), ty, signed: true, text: param.name.clone() };
    let constant = Expr::constant(ty, value);
    if param_first { Expr::cmp(op, input, constant) } else { Expr::cmp(op, constant, input) }
}
