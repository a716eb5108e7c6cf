//! Points of compound decisions: the outcome of the whole decision, computed before its first condition is evaluated.
//!
//! A mutant of `a && b` may evaluate `b` where the program does not. The conditions must therefore be computable in
//! advance: they may read variables, constants and fields of `this`, and may not divide. Other decisions have no such
//! point.

use crate::classes::layout::memory_ty;
use crate::classfile::{Arith, Cond, Constant, Decoded, Desc, Insn, SlotKind};
use crate::coverage::source_expressions::{self, Connective};
use crate::lower::method_body::Body;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use touchstone_base::Id;
use touchstone_base::float::Format;
use touchstone_ir::{BoolTree, CastOp, CmpOp, DecisionId, Expr, ExprKind, Ty};

/// An entry of the operand stack while a condition is computed.
enum StackEntry {
    Value(Expr),
    /// The result of `lcmp`, `fcmpl` and the like.
    Comparison(SlotKind, i8, Expr, Expr),
    /// The receiver.
    This(Expr),
}

/// The decisions that begin at each offset.
pub(crate) type DecisionStarts = FxHashMap<usize, Vec<DecisionId>>;

/// The instructions of a condition, up to its jump.
#[derive(Clone, Copy)]
struct CodeRange {
    first: usize,
    jump: usize,
}

/// Returns the number of operands of an instruction that pushes one value, or `None` if it can't be computed in
/// advance.
fn operand_count(insn: &Insn) -> Option<usize> {
    match insn {
        Insn::PushInt(_) | Insn::PushLong(_) | Insn::PushFloat(_) | Insn::PushDouble(_) => Some(0),
        Insn::Constant(_) | Insn::Load(..) | Insn::Null => Some(0),
        Insn::Neg(_) | Insn::Convert(_) | Insn::GetField(_) => Some(1),
        Insn::Arith(Arith::Div | Arith::Rem, SlotKind::Int | SlotKind::Long) => None,
        Insn::Arith(..) | Insn::Compare(..) => Some(2),
        _ => None,
    }
}

/// Returns the instructions that compute the operands of a jump.
fn range(insns: &[Decoded], jump: usize, leaders: &FxHashSet<usize>) -> Option<CodeRange> {
    let mut wanted = match insns[jump].insn {
        Insn::If(..) | Insn::IfNull(..) => 1,
        Insn::IfInts(..) => 2,
        _ => return None,
    };
    let mut first = jump;
    while wanted > 0 {
        if leaders.contains(&insns[first].at) {
            return None;
        }
        first = first.checked_sub(1)?;
        wanted = wanted - 1 + operand_count(&insns[first].insn)?;
    }
    Some(CodeRange { first, jump })
}

impl Body<'_> {
    /// Finds the offsets at which decisions begin whose conditions are computable in advance.
    pub fn find_decision_starts(&mut self, leaders: &FxHashSet<usize>) {
        if self.table.is_library() {
            return;
        }
        for decision in self.table.compound_decisions() {
            if let Some(ranges) = self.ranges(decision, leaders)
                && let Some(first) = ranges.values().map(|range| range.first).min()
            {
                self.decision_starts.entry(self.insns[first].at).or_default().push(decision);
            }
        }
    }

    /// Returns the code of each condition of a decision, or `None` if a condition has several copies.
    fn ranges(&self, decision: DecisionId, leaders: &FxHashSet<usize>) -> Option<BTreeMap<usize, CodeRange>> {
        let mut found = BTreeMap::new();
        for (index, insn) in self.insns.iter().enumerate() {
            let Some(condition) = self.table.condition_at(insn.at, decision) else { continue };
            if found.insert(condition.index(), range(self.insns, index, leaders)?).is_some() {
                return None;
            }
        }
        (found.len() == self.table.conditions(decision)).then_some(found)
    }

    /// Emits the points of the decisions that begin at an offset.
    pub fn mark_decisions(&mut self, at: usize, leaders: &FxHashSet<usize>) {
        for decision in self.decision_starts.get(&at).cloned().unwrap_or_default() {
            let Some(ranges) = self.ranges(decision, leaders) else { continue };
            let conditions: Option<BTreeMap<usize, Expr>> =
                ranges.into_iter().map(|(condition, range)| Some((condition, self.precomputed(range)?))).collect();
            let tree = self.table.tree(decision).clone();
            if let Some(value) = conditions.and_then(|conditions| decision_expression(&tree, &conditions))
                && value.depth() <= Expr::DEEPEST_SOURCE
            {
                self.mark_decision(decision, value);
            }
        }
    }

    /// Returns the expression of a condition over the values before its code runs.
    fn precomputed(&mut self, range: CodeRange) -> Option<Expr> {
        let mut stack: Vec<StackEntry> = Vec::new();
        let insns = self.insns;
        for insn in &insns[range.first..range.jump] {
            let entry = self.stack_entry(insn, &mut stack)?;
            stack.push(entry);
        }
        let jump = &insns[range.jump];
        let sense = |cond: Cond, body: &Self| body.sense_at(jump.at, cond);
        match (&jump.insn, stack.pop()?, stack.pop()) {
            (Insn::If(cond, _), StackEntry::Comparison(kind, nan, left, right), None) => {
                let cond = sense(*cond, self);
                Some(match kind {
                    SlotKind::Float => source_expressions::float_relation(cond, nan, Format::F32, left, right),
                    SlotKind::Double => source_expressions::float_relation(cond, nan, Format::F64, left, right),
                    _ => source_expressions::relation(cond, left, right),
                })
            }
            (Insn::If(cond, _), StackEntry::Value(value), None) => {
                Some(source_expressions::compared_with_zero(sense(*cond, self), value))
            }
            (Insn::IfInts(cond, _), StackEntry::Value(right), Some(StackEntry::Value(left))) => {
                Some(source_expressions::relation(sense(*cond, self), left, right))
            }
            (Insn::IfNull(cond, _), StackEntry::Value(value), None) if value.ty == Ty::Ptr => {
                let null = source_expressions::expr(ExprKind::Const(0), Ty::Ptr, "null");
                let (op, sign) = match sense(*cond, self) {
                    Cond::Eq => (CmpOp::Eq, "=="),
                    _ => (CmpOp::Ne, "!="),
                };
                let text = format!("{} {sign} null", source_expressions::display(&value));
                Some(Expr { text, ..Expr::cmp(op, value, null) })
            }
            _ => None,
        }
    }

    fn stack_entry(&mut self, decoded: &Decoded, stack: &mut Vec<StackEntry>) -> Option<StackEntry> {
        let mut value = |kind: SlotKind| match stack.pop()? {
            StackEntry::Value(expr) => Some(source_expressions::of_kind(expr, kind)),
            _ => None,
        };
        Some(StackEntry::Value(match &decoded.insn {
            Insn::PushInt(value) => source_expressions::constant(Ty::I32, u64::from(*value as u32), SlotKind::Int),
            Insn::PushLong(value) => source_expressions::constant(Ty::I64, *value as u64, SlotKind::Long),
            Insn::PushFloat(bits) => source_expressions::constant(Ty::I32, u64::from(*bits), SlotKind::Float),
            Insn::PushDouble(bits) => source_expressions::constant(Ty::I64, *bits, SlotKind::Double),
            Insn::Constant(index) => match self.file.pool.get(*index).ok()? {
                Constant::Integer(value) => {
                    source_expressions::constant(Ty::I32, u64::from(*value as u32), SlotKind::Int)
                }
                Constant::Long(value) => source_expressions::constant(Ty::I64, *value as u64, SlotKind::Long),
                Constant::Float(bits) => source_expressions::constant(Ty::I32, u64::from(*bits), SlotKind::Float),
                Constant::Double(bits) => source_expressions::constant(Ty::I64, *bits, SlotKind::Double),
                _ => return None,
            },
            Insn::Load(SlotKind::Ref, 0) if self.this().is_some() => {
                let this = self.this()?;
                return Some(StackEntry::This(source_expressions::expr(ExprKind::Reg(this), Ty::Ptr, "this")));
            }
            Insn::Load(kind, index) => self.read_variable(*index, *kind, decoded.at)?,
            Insn::GetField(index) => {
                let Some(StackEntry::This(this)) = stack.pop() else { return None };
                return self.field_of(this, *index).map(StackEntry::Value);
            }
            Insn::Neg(kind) => source_expressions::negation(*kind, value(*kind)?),
            Insn::Convert(convert) => source_expressions::conversion(*convert, value(convert.from())?),
            Insn::Arith(op, kind) => {
                let shifts = matches!(op, Arith::Shl | Arith::Shr | Arith::Ushr);
                let right = value(if shifts { SlotKind::Int } else { *kind })?;
                source_expressions::arithmetic(*op, *kind, value(*kind)?, right)
            }
            Insn::Compare(kind, nan) => {
                let right = value(*kind)?;
                return Some(StackEntry::Comparison(*kind, *nan, value(*kind)?, right));
            }
            _ => return None,
        }))
    }

    /// Returns a load of a field of the receiver.
    fn field_of(&mut self, this: Expr, index: u16) -> Option<Expr> {
        let member = self.file.pool.field(index).ok()?;
        let field = self.lowering.classes.resolve_field(&member).ok()?;
        let text = format!("this.{}", field.name);
        self.own_fields.insert(field.offset, index);
        let offset = Expr::constant(Ty::I64, field.offset);
        let place = source_expressions::expr(ExprKind::PtrAdd(Box::new(this), Box::new(offset)), Ty::Ptr, "");
        let held = source_expressions::expr(ExprKind::Load(Box::new(place)), memory_ty(&field.desc), "");
        let widened = |op| ExprKind::Cast(op, Box::new(held.clone()));
        Some(match &field.desc {
            Desc::Boolean => source_expressions::boolean(widened(CastOp::Trunc), text),
            Desc::Char => source_expressions::expr(widened(CastOp::Zext), Ty::I32, text),
            Desc::Byte | Desc::Short => source_expressions::expr(widened(CastOp::Sext), Ty::I32, text),
            desc => source_expressions::of_type(held.kind, desc, text),
        })
    }
}

/// Combines the expressions of conditions to that of their decision.
fn decision_expression(tree: &BoolTree, conditions: &BTreeMap<usize, Expr>) -> Option<Expr> {
    let part = |tree: &BoolTree| decision_expression(tree, conditions);
    Some(match tree {
        BoolTree::Cond(own) => conditions.get(&own.index())?.clone(),
        BoolTree::Not(a) => source_expressions::negated(part(a)?),
        BoolTree::And(a, b) => source_expressions::connected(Connective::And, part(a)?, part(b)?),
        BoolTree::Or(a, b) => source_expressions::connected(Connective::Or, part(a)?, part(b)?),
        BoolTree::Ite(c, a, b) => source_expressions::conditional(part(c)?, part(a)?, part(b)?),
        BoolTree::Const(_) | BoolTree::Xor(..) | BoolTree::Iff(..) => return None,
    })
}
