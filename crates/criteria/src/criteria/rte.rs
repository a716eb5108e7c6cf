//! Run-time errors: every place where something can go wrong does. An objective that is proved infeasible says that the
//! error can't happen there.
//!
//! Errors that end a path (division, memory) are goals of their own. Signed overflow (also of the least number divided by
//! -1), shift ranges and values that don't fit the signed type that they are converted to don't end a path in our
//! semantics (arithmetic wraps), so they are labels on the expressions that compute. Conversions to unsigned types are
//! defined to wrap, and no errors. An expression with side effects has no labels, but `++` and `--` have, and so have
//! builtins without a value for 0. Java has neither: there an error is an exception that the language throws and that leaves the
//! method, and the front end puts a point where that happens.

use crate::Goal;
use crate::criteria::wm::{TOO_DEEP, all_at_once, shown};
use crate::registry::{CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict, RecordedEvent};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_base::float;
use touchstone_ir::{
    BinOp, BlockId, CastOp, CmpOp, ErrorKind, Expr, ExprKind, Function, InstKind, Operand, PointId, PointKind, Reg,
    TermKind, Ty, mask, sign_extend, successors,
};

pub(crate) struct Rte;

impl GoalCriterion for Rte {
    fn name(&self) -> &'static str {
        "rte"
    }
    fn about(&self) -> &'static str {
        "every run-time error that could happen does, or is proved impossible"
    }
    fn requires_call(&self) -> bool {
        false
    }
    fn asks_for_errors(&self) -> bool {
        true
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Errors]
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        // Where errors are exceptions, nothing goes wrong but what has a point.
        let mut drafts = match scope.module.thrown {
            Some(_) => Vec::new(),
            None => path_errors(scope),
        };
        if scope.module.thrown.is_none() {
            drafts.extend(unset_variables(scope));
        }
        for (id, point) in scope.function().points.iter() {
            match &point.kind {
                PointKind::Value(expr) | PointKind::Condition { value: expr, .. } if scope.module.thrown.is_none() => {
                    arithmetic(scope, id, expr, &mut drafts);
                }
                PointKind::Hazard(predicate) => drafts.push(ObjectiveSpec {
                    goal: Goal::Label { func: scope.func, point: id, predicate: Some(predicate.clone()) },
                    span: point.span,
                    text: point.text.clone(),
                    known: None,
                }),
                PointKind::TooDeep => drafts.push(all_at_once(scope, id, "every error in", TOO_DEEP)),
                _ => {}
            }
        }
        drafts.sort_by_key(|draft| draft.span);
        drafts
    }
}

/// The base of an address.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// A variable, at a constant offset: can only be uninitialised.
    Variable,
    /// A variable, at an offset that is computed.
    Indexed,
    /// Anything.
    Pointer,
}

fn path_errors(scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
    let function = scope.function();
    let mut seen = BTreeSet::new();
    let mut drafts = Vec::new();
    for block in function.blocks.values() {
        let mut bases: Vec<Base> = vec![Base::Pointer; function.regs.len()];
        let base = |bases: &[Base], operand: &Operand| match operand {
            Operand::Reg(reg) => bases[reg.index()],
            Operand::Const(..) => Base::Pointer,
        };
        for inst in &block.insts {
            let mut kinds: Vec<ErrorKind> = Vec::new();
            let access = |base: Base| match base {
                Base::Variable => vec![],
                Base::Indexed => vec![ErrorKind::OutOfBounds],
                Base::Pointer => vec![ErrorKind::NullPointer, ErrorKind::OutOfBounds, ErrorKind::Dangling],
            };
            let mut made: Option<(Reg, Base)> = inst.kind.dst().map(|dst| (dst, Base::Pointer));
            match &inst.kind {
                InstKind::SlotAddr { dst, .. } | InstKind::GlobalAddr { dst, .. } => {
                    made = Some((*dst, Base::Variable));
                }
                InstKind::PtrAdd { dst, base: from, offset } => {
                    made = Some((
                        *dst,
                        match (base(&bases, from), offset) {
                            (Base::Pointer, _) => Base::Pointer,
                            (from, Operand::Const(..)) => from,
                            _ => Base::Indexed,
                        },
                    ));
                }
                InstKind::Copy { dst, src } => made = Some((*dst, base(&bases, src))),
                InstKind::Load { addr, .. } => {
                    kinds = access(base(&bases, addr));
                    kinds.push(ErrorKind::Uninitialised);
                }
                InstKind::Store { addr, .. } => kinds = access(base(&bases, addr)),
                InstKind::MemCopy { dst, src, .. } => {
                    kinds = access(base(&bases, dst));
                    kinds.extend(access(base(&bases, src)));
                }
                InstKind::MemSet { dst, .. } => kinds = access(base(&bases, dst)),
                InstKind::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, b, .. } if !matches!(b, Operand::Const(_, value) if *value != 0) =>
                {
                    kinds.push(ErrorKind::DivisionByZero);
                }
                _ => {}
            }
            if let Some((dst, base)) = made {
                bases[dst.index()] = base;
            }
            for kind in kinds {
                if inst.span.is_some() && seen.insert((inst.span, kind)) {
                    drafts.push(ObjectiveSpec {
                        goal: Goal::Error { func: scope.func, kind, span: inst.span },
                        span: inst.span,
                        text: kind.to_string(),
                        known: None,
                    });
                }
            }
        }
    }
    drafts
}

/// Reads of variables that nothing may have written yet. What is in memory is there as loads.
fn unset_variables(scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
    let function = scope.function();
    let mut seen = BTreeSet::new();
    for (block, mut unset) in unset_on_entry(function) {
        let content = &function.blocks[block];
        let is_unset =
            |unset: &BTreeSet<Reg>, operand: &Operand| matches!(operand, Operand::Reg(reg) if unset.contains(reg));
        for inst in &content.insts {
            if inst.kind.operands().iter().any(|operand| is_unset(&unset, operand)) {
                seen.insert(inst.span);
            }
            if let Some(dst) = inst.kind.dst() {
                unset.remove(&dst);
            }
        }
        if content.terminator.kind.operands().iter().any(|operand| is_unset(&unset, operand)) {
            seen.insert(content.terminator.span);
        }
    }
    let kind = ErrorKind::Uninitialised;
    let draft = |span| ObjectiveSpec {
        goal: Goal::Error { func: scope.func, kind, span },
        span,
        text: kind.to_string(),
        known: None,
    };
    seen.into_iter().filter(|span| span.is_some()).map(draft).collect()
}

/// For blocks that control can get to, the variables that some way there leaves unwritten.
fn unset_on_entry(function: &Function) -> BTreeMap<BlockId, BTreeSet<Reg>> {
    let Some(entry) = function.blocks.ids().next() else { return BTreeMap::new() };
    let mut unset: BTreeSet<Reg> =
        function.regs.iter().filter(|(_, info)| info.name.is_some()).map(|(reg, _)| reg).collect();
    for param in &function.params {
        unset.remove(&param.reg);
    }
    let mut known = BTreeMap::from([(entry, unset)]);
    let mut pending = vec![entry];
    while let Some(block) = pending.pop() {
        let mut unset = known[&block].clone();
        for dst in function.blocks[block].insts.iter().filter_map(|inst| inst.kind.dst()) {
            unset.remove(&dst);
        }
        let end = &function.blocks[block].terminator.kind;
        for next in successors(end) {
            // What is caught is written on that way only.
            let mut unset = unset.clone();
            if let TermKind::Catch { thrown, handler, next: other } = end
                && next == *handler
                && handler != other
            {
                unset.remove(thrown);
            }
            let before = known.get(&next).map(BTreeSet::len);
            let at = known.entry(next).or_default();
            at.extend(unset.iter().copied());
            if before != Some(at.len()) {
                pending.push(next);
            }
        }
    }
    known
}

/// Labels for overflow, shifts and conversions in an expression and its parts.
fn arithmetic(scope: &CriterionScope<'_>, point: PointId, expr: &Expr, drafts: &mut Vec<ObjectiveSpec>) {
    for (index, part) in expr.parts().into_iter().enumerate() {
        // Conditions have points of their own.
        let of_decision = matches!(expr.kind, ExprKind::And(..) | ExprKind::Or(..))
            || matches!(expr.kind, ExprKind::Ite(..)) && index == 0;
        if !of_decision || matches!(part.kind, ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Not(..)) {
            arithmetic(scope, point, part, drafts);
        }
    }
    if let ExprKind::Cast(CastOp::Trunc, wide) = &expr.kind
        && expr.signed
        && expr.ty != Ty::I1
    {
        return narrowing(scope, point, expr, wide, drafts);
    }
    if let ExprKind::Float(op, format, args) = &expr.kind {
        return bad_conversion(scope, point, *op, *format, args, drafts);
    }
    let ExprKind::Bin(op, a, b) = &expr.kind else { return };
    // A negative literal is a minus before a number, too.
    let literal = matches!((&a.kind, &b.kind), (ExprKind::Const(_), ExprKind::Const(_))) && a.text.is_empty();
    if expr.text.is_empty() || literal {
        return;
    }
    let (predicate, what) = match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul if expr.signed => match overflow(*op, expr, a, b) {
            Some(predicate) => (predicate, "overflows"),
            None => return,
        },
        BinOp::SDiv | BinOp::SRem => {
            let least = Expr::cmp(CmpOp::Eq, (**a).clone(), Expr::constant(expr.ty, 1 << (expr.ty.bits() - 1)));
            let minus_one = Expr::cmp(CmpOp::Eq, (**b).clone(), Expr::constant(expr.ty, u64::MAX));
            let both = ExprKind::And(Box::new(least), Box::new(minus_one));
            (Expr { kind: both, ty: Ty::I1, signed: false, text: String::new() }, "overflows")
        }
        BinOp::Shl | BinOp::LShr | BinOp::AShr => {
            let width = Expr::constant(b.ty, u64::from(expr.ty.bits()));
            (Expr::cmp(CmpOp::Ule, width, (**b).clone()), "shifts too far")
        }
        _ => return,
    };
    let location = &scope.function().points[point];
    if *op == BinOp::Shl && expr.signed {
        drafts.push(ObjectiveSpec {
            goal: Goal::Label { func: scope.func, point, predicate: Some(shifted_out(expr, a, b)) },
            span: location.span,
            text: format!("{} overflows", expr.text),
            known: None,
        });
    }
    let fits = match &b.kind {
        ExprKind::Const(amount) if matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr) => {
            *amount < u64::from(expr.ty.bits())
        }
        ExprKind::Const(divisor) if matches!(op, BinOp::SDiv | BinOp::SRem) => {
            *divisor != mask(u64::MAX, expr.ty.bits())
        }
        _ => false,
    };
    drafts.push(ObjectiveSpec {
        goal: Goal::Label { func: scope.func, point, predicate: Some(predicate) },
        span: location.span,
        text: format!("{} {what}", expr.text),
        known: PresetVerdict::constant(fits),
    });
}

/// A value is not what it was after a conversion to a narrower signed type.
fn narrowing(scope: &CriterionScope<'_>, point: PointId, expr: &Expr, wide: &Expr, drafts: &mut Vec<ObjectiveSpec>) {
    let text = if expr.text.is_empty() { shown(wide) } else { expr.text.clone() };
    if text.is_empty() {
        return;
    }
    let back = ExprKind::Cast(CastOp::Sext, Box::new(expr.clone()));
    let back = Expr { kind: back, ty: wide.ty, signed: true, text: String::new() };
    let constant = match wide.kind {
        ExprKind::Const(value) => {
            let bits = expr.ty.bits();
            mask(sign_extend(mask(value, bits), bits) as u64, wide.ty.bits()) == value
        }
        _ => false,
    };
    drafts.push(ObjectiveSpec {
        goal: Goal::Label { func: scope.func, point, predicate: Some(Expr::cmp(CmpOp::Ne, back, wide.clone())) },
        span: scope.function().points[point].span,
        text: format!("{text} does not fit in {} bits", expr.ty.bits()),
        known: PresetVerdict::constant(constant),
    });
}

/// A label for a float that does not fit the integer it becomes.
fn bad_conversion(
    scope: &CriterionScope<'_>,
    point: PointId,
    op: float::FloatOp,
    format: float::Format,
    args: &[Expr],
    drafts: &mut Vec<ObjectiveSpec>,
) {
    let (bits, signed) = match op {
        float::FloatOp::ToSigned(bits) => (bits, true),
        float::FloatOp::ToUnsigned(bits) => (bits, false),
        _ => return,
    };
    let [value] = args else { return };
    let (low, high) = float::integer_limits(format, bits, signed);
    let bound = |bits: u64| Expr::constant(value.ty, bits);
    let bound = |bits: u64| Expr { kind: ExprKind::AsFloat(format, Box::new(bound(bits))), ..bound(0) };
    let node = |kind: ExprKind| Expr { kind, ty: Ty::I1, signed: false, text: String::new() };
    let above = Expr::float(float::FloatOp::Lt, format, vec![bound(low), value.clone()]);
    let below = Expr::float(float::FloatOp::Lt, format, vec![value.clone(), bound(high)]);
    let fits = node(ExprKind::And(Box::new(above), Box::new(below)));
    let kind = if signed { "a signed" } else { "an unsigned" };
    drafts.push(ObjectiveSpec {
        goal: Goal::Label { func: scope.func, point, predicate: Some(node(ExprKind::Not(Box::new(fits)))) },
        span: scope.function().points[point].span,
        text: format!("{} does not fit {kind} integer of {bits} bits", value.text),
        known: None,
    });
}

/// A left shift of a negative number, or of one whose bits get lost or become the sign (C11 6.5.7).
fn shifted_out(expr: &Expr, a: &Expr, b: &Expr) -> Expr {
    let node = |kind: ExprKind, ty: Ty| Expr { kind, ty, signed: true, text: String::new() };
    let back = node(ExprKind::Bin(BinOp::AShr, Box::new(expr.clone()), Box::new(b.clone())), expr.ty);
    let lost = Expr::cmp(CmpOp::Ne, back, a.clone());
    let negative = Expr::cmp(CmpOp::Slt, a.clone(), Expr::constant(a.ty, 0));
    let wrong = node(ExprKind::Or(Box::new(negative), Box::new(lost)), Ty::I1);
    let in_range = Expr::cmp(CmpOp::Ult, b.clone(), Expr::constant(b.ty, u64::from(expr.ty.bits())));
    node(ExprKind::And(Box::new(in_range), Box::new(wrong)), Ty::I1)
}

/// The exact result does not fit.
fn overflow(op: BinOp, expr: &Expr, a: &Expr, b: &Expr) -> Option<Expr> {
    let node = |kind: ExprKind, ty: Ty| Expr { kind, ty, signed: true, text: String::new() };
    let bits = expr.ty.bits();
    if bits < 64 && 2 * bits <= 64 {
        let wide = |e: &Expr| node(ExprKind::Cast(CastOp::Sext, Box::new(e.clone())), Ty::I64);
        let exact = node(ExprKind::Bin(op, Box::new(wide(a)), Box::new(wide(b))), Ty::I64);
        return Some(Expr::cmp(CmpOp::Ne, exact, wide(expr)));
    }
    let bin = |op: BinOp, x: Expr, y: Expr| node(ExprKind::Bin(op, Box::new(x), Box::new(y)), expr.ty);
    let zero = || Expr::constant(expr.ty, 0);
    match op {
        // The result's sign differs from both operands'.
        BinOp::Add => {
            let (x, y) = (bin(BinOp::Xor, a.clone(), expr.clone()), bin(BinOp::Xor, b.clone(), expr.clone()));
            Some(Expr::cmp(CmpOp::Slt, bin(BinOp::And, x, y), zero()))
        }
        // The operands' signs differ, and the result's differs from the left one's.
        BinOp::Sub => {
            let (x, y) = (bin(BinOp::Xor, a.clone(), b.clone()), bin(BinOp::Xor, a.clone(), expr.clone()));
            Some(Expr::cmp(CmpOp::Slt, bin(BinOp::And, x, y), zero()))
        }
        // Division undoes an exact product.
        BinOp::Mul => {
            let nonzero = Expr::cmp(CmpOp::Ne, a.clone(), zero());
            let undone = Expr::cmp(CmpOp::Ne, bin(BinOp::SDiv, expr.clone(), a.clone()), b.clone());
            Some(node(ExprKind::And(Box::new(nonzero), Box::new(undone)), Ty::I1))
        }
        _ => None,
    }
}
