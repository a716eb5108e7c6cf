//! The probes that inspect values: hazards that throw implicit exceptions, labels, and the domains of parameters.

use crate::record::ProbeObstacle;
use touchstone_base::float::FloatOp;
use touchstone_criteria::ResultPredicate;
use touchstone_front_java::{CodeLocations, ImplicitException, InstructionPredicate};
use touchstone_ir::{CmpOp, Expr, ExprKind, Function, PointId, Reg, Ty, sign_extend};
use touchstone_probes_java::{DomainPart, MethodProbes, ValueCheck};

/// The probes that cover a goal, of which one suffices, and an obstacle if they may miss executions of it.
type ProbesOrObstacle = (Vec<u32>, Option<ProbeObstacle>);

/// Returns the probes of a label or hazard. The compiler copies `finally` blocks, so there may be several.
pub(super) fn label(probes: &MethodProbes, located: &CodeLocations, point: PointId) -> ProbesOrObstacle {
    let mut found = (Vec::new(), None);
    let mut places = 0;
    for (_, placed) in located.points.iter().filter(|(own, _)| *own == point) {
        places += 1;
        let question = match placed.predicate {
            InstructionPredicate::Label => ValueCheck::Label,
            InstructionPredicate::Throws(ImplicitException::NullPointer) => ValueCheck::Null,
            InstructionPredicate::Throws(ImplicitException::Arithmetic) => ValueCheck::Zero,
            InstructionPredicate::Throws(ImplicitException::Index) => ValueCheck::OutOfBounds,
            InstructionPredicate::Throws(ImplicitException::Cast) => ValueCheck::ClassCast,
            InstructionPredicate::Throws(ImplicitException::NegativeSize) => ValueCheck::NegativeLength,
            InstructionPredicate::Throws(ImplicitException::Store) => ValueCheck::ArrayStore,
        };
        match probes.check(placed.at, question) {
            Some(probe) => found.0.push(probe),
            None => found.1 = Some(ProbeObstacle::ObjectInTheMaking),
        }
    }
    if places == 0 {
        found.1 = Some(ProbeObstacle::NotForJava);
    }
    found
}

/// Returns the probe for a part of the domain of a parameter.
pub(super) fn entry(function: &Function, probes: &MethodProbes, predicate: &Expr) -> ProbesOrObstacle {
    let probe = part(predicate).and_then(|(reg, part)| {
        let index = function.params.iter().position(|param| param.reg == reg)?;
        // The first parameter of an instance method is its receiver.
        probes.input(index.checked_sub(function.params.len() - probes.inputs())?, part)
    });
    match probe {
        Some(probe) => (vec![probe], None),
        None => (Vec::new(), Some(ProbeObstacle::NotForJava)),
    }
}

/// Returns the probes of a predicate over the result.
pub(super) fn result(function: &Function, probes: &MethodProbes, predicate: ResultPredicate) -> ProbesOrObstacle {
    let parts: &[DomainPart] = match (function.result, predicate) {
        (Some(Ty::Ptr), ResultPredicate::Zero) => &[DomainPart::Null],
        (Some(Ty::Ptr), ResultPredicate::NonZero) => &[DomainPart::NotNull],
        (_, ResultPredicate::Zero) => &[DomainPart::Zero],
        // The extremes of a type have probes beside those of the sign.
        (_, ResultPredicate::NonZero) => &[DomainPart::Negative, DomainPart::Positive, DomainPart::NaN],
    };
    match parts.iter().map(|part| probes.result(*part)).collect() {
        Some(found) => (found, None),
        None => (Vec::new(), Some(ProbeObstacle::NotForJava)),
    }
}

/// Recognises a predicate that selects one of the standard parts of a parameter's domain.
fn part(predicate: &Expr) -> Option<(Reg, DomainPart)> {
    if let ExprKind::Not(inner) = &predicate.kind
        && let ExprKind::Float(FloatOp::Eq, _, sides) = &inner.kind
        && let [left, right] = sides.as_slice()
    {
        return reg(left).filter(|own| reg(right) == Some(*own)).map(|own| (own, DomainPart::NaN));
    }
    if let ExprKind::Float(op, _, sides) = &predicate.kind
        && let [left, right] = sides.as_slice()
    {
        return match (op, reg(left), reg(right)) {
            (FloatOp::Lt, Some(own), None) if constant(right) == Some(0) => Some((own, DomainPart::Negative)),
            (FloatOp::Eq, Some(own), None) if constant(right) == Some(0) => Some((own, DomainPart::Zero)),
            (FloatOp::Lt, None, Some(own)) if constant(left) == Some(0) => Some((own, DomainPart::Positive)),
            _ => None,
        };
    }
    let ExprKind::Cmp(op, left, right) = &predicate.kind else { return None };
    match (op, reg(left), reg(right)) {
        (CmpOp::Eq, Some(own), None) if left.ty == Ty::Ptr => Some((own, DomainPart::Null)),
        (CmpOp::Ne, Some(own), None) if left.ty == Ty::Ptr => Some((own, DomainPart::NotNull)),
        (CmpOp::Slt, Some(own), None) if constant(right) == Some(0) => Some((own, DomainPart::Negative)),
        (CmpOp::Slt | CmpOp::Ult, None, Some(own)) if constant(left) == Some(0) => Some((own, DomainPart::Positive)),
        (CmpOp::Eq, Some(own), None) => {
            // The criterion compares with zero, with true and with the bounds of a type.
            let part = match sign_extend(constant(right)?, left.ty.bits()) {
                0 => DomainPart::Zero,
                1 => DomainPart::Positive,
                ..0 => DomainPart::Minimum,
                _ => DomainPart::Maximum,
            };
            Some((own, part))
        }
        _ => None,
    }
}

fn reg(expr: &Expr) -> Option<Reg> {
    match &expr.kind {
        ExprKind::Reg(reg) => Some(*reg),
        ExprKind::AsFloat(_, inner) => reg(inner),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<u64> {
    match &expr.kind {
        ExprKind::Const(bits) => Some(*bits),
        ExprKind::AsFloat(_, inner) => constant(inner),
        _ => None,
    }
}
