//! Points of values and conditions: the values of a block are tracked as expressions until they are used.
//!
//! Operands that were loaded or returned are registers, so an expression has no side effects and is stable. A mutant
//! replaces a variable by another only where the other one is in scope and definitely assigned. Code of the JDK has no
//! such points.

use crate::classes::layout::register_ty;
use crate::classes::type_names::short_type_name;
use crate::classes::wrappers::primitive_of;
use crate::classfile::{Arith, Attribute, Cond, Convert, Desc, Insn, LocalVariable, MemberRef, MethodDesc, SlotKind};
use crate::coverage::definite_assignment::DefiniteAssignment;
use crate::coverage::source_expressions::{self, UNKNOWN_TEXT};
use crate::lower::method_body::Body;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use touchstone_base::Span;
use touchstone_base::float::Format;
use touchstone_ir::{CondTag, DecisionId, Expr, ExprKind, InstKind, Operand, Point, PointKind, Reg, Ty};

/// The operands of a comparison that yields -1, 0 or 1.
#[derive(Debug)]
struct Comparison {
    kind: SlotKind,
    nan: i8,
    left: Expr,
    right: Expr,
}

/// The expressions of the values of a block.
#[derive(Debug, Default)]
pub(crate) struct BlockExpressions {
    of: FxHashMap<Reg, Expr>,
    compared: FxHashMap<Reg, Comparison>,
    /// Values that already have a point.
    marked: FxHashSet<Reg>,
    assigned: DefiniteAssignment,
}

impl BlockExpressions {
    pub fn new(assigned: DefiniteAssignment) -> BlockExpressions {
        BlockExpressions { assigned, ..BlockExpressions::default() }
    }

    /// Returns true if a local variable has a value of this kind before an instruction.
    pub fn is_assigned(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.assigned.is_assigned(at, local, kind)
    }

    /// Clears the state at the start of a block.
    pub fn forget(&mut self) {
        self.of.clear();
        self.compared.clear();
        self.marked.clear();
    }
}

/// Returns true if an expression reads a register.
fn reads(expr: &Expr, reg: Reg) -> bool {
    expr.kind == ExprKind::Reg(reg) || expr.parts().into_iter().any(|part| reads(part, reg))
}

fn read_elsewhere(expr: &mut Expr, reg: Reg, other: Reg) {
    if expr.kind == ExprKind::Reg(reg) {
        expr.kind = ExprKind::Reg(other);
    }
    expr.parts_mut().into_iter().for_each(|part| read_elsewhere(part, reg, other));
}

/// Maximum length of a call's arguments in the text of an expression; longer ones are elided.
const MAX_CALL_TEXT_CHARS: usize = 40;

impl Body<'_> {
    fn variables(&self) -> impl Iterator<Item = &LocalVariable> {
        let tables = self.code.attributes.iter().filter_map(|attribute| match attribute {
            Attribute::LocalVariableTable(rows) => Some(rows),
            _ => None,
        });
        tables.flatten()
    }

    /// Returns the source variable that a local variable holds at an offset.
    fn variable_at(&self, index: u16, at: usize) -> Option<(&LocalVariable, Desc)> {
        let row = self.variables().find(|row| row.index == index && is_live(row, at))?;
        Some((row, Desc::parse(&row.desc)?))
    }

    /// Returns the source variables in scope at an offset that are definitely assigned.
    fn readable_variables(&mut self, at: usize) -> Arc<[Expr]> {
        let rows: Vec<LocalVariable> = self.variables().filter(|row| is_live(row, at)).cloned().collect();
        let mut found = Vec::new();
        for row in rows {
            let Some((desc, kind)) = Desc::parse(&row.desc)
                .and_then(|desc| Some((source_expressions::slot_kind(&desc)?, desc)))
                .map(|(kind, desc)| (desc, kind))
            else {
                continue;
            };
            if self.expressions.assigned.is_assigned(at, row.index, kind) {
                let reg = self.local(row.index, register_ty(&desc));
                found.push(source_expressions::of_type(ExprKind::Reg(reg), &desc, &*row.name));
            }
        }
        found.into()
    }

    /// Returns the expression of a value as an operand of a kind.
    fn expression_of(&self, value: Operand, kind: SlotKind) -> Expr {
        let expr = match value {
            Operand::Const(ty, bits) => source_expressions::constant(ty, bits, kind),
            Operand::Reg(reg) => match self.expressions.of.get(&reg) {
                Some(expr) => expr.clone(),
                None => self.register_expression(reg),
            },
        };
        source_expressions::of_kind(expr, kind)
    }

    /// Returns the expression of a local variable at an offset, if it is definitely assigned with this kind.
    pub fn read_variable(&mut self, index: u16, kind: SlotKind, at: usize) -> Option<Expr> {
        let ty = match kind {
            SlotKind::Int | SlotKind::Float => Ty::I32,
            SlotKind::Long | SlotKind::Double => Ty::I64,
            SlotKind::Ref => Ty::Ptr,
        };
        let (name, desc) = self.variable_at(index, at).map(|(row, desc)| (row.name.clone(), desc))?;
        let fits = register_ty(&desc) == ty && self.expressions.assigned.is_assigned(self.position, index, kind);
        let reg = self.local(index, ty);
        fits.then(|| source_expressions::of_type(ExprKind::Reg(reg), &desc, &*name))
    }

    /// Returns the expression of a register that has no other: a variable, or an opaque value.
    fn register_expression(&self, reg: Reg) -> Expr {
        let ty = self.b.ty(Operand::Reg(reg));
        let variable = self.local_of(reg).and_then(|index| self.variable_at(index, self.position));
        if let Some((row, desc)) = variable
            && register_ty(&desc) == ty
        {
            return source_expressions::of_type(ExprKind::Reg(reg), &desc, &*row.name);
        }
        let text = self.origin(Operand::Reg(reg)).map(|origin| origin.display()).filter(|text| !text.is_empty());
        source_expressions::expr(ExprKind::Reg(reg), ty, text.unwrap_or_else(|| UNKNOWN_TEXT.to_string()))
    }

    /// Returns the source text of an `int`.
    pub fn shown_int(&self, value: Operand) -> String {
        source_expressions::display(&self.expression_of(value, SlotKind::Int))
    }

    /// Returns the source text of a reference.
    pub fn shown_object(&self, value: Operand) -> String {
        self.origin(value).map_or(UNKNOWN_TEXT.to_string(), |origin| origin.display())
    }

    /// Records the expression of a value. One that is nested too deep becomes opaque, with a point that says so.
    fn note(&mut self, value: Operand, expr: Expr) {
        let Operand::Reg(reg) = value else { return };
        if self.table.is_library() {
            return;
        }
        if expr.depth() <= Expr::DEEPEST_SOURCE {
            self.expressions.of.insert(reg, expr);
            return;
        }
        let span = self.span_here();
        let point = self.table.add(Point::new(PointKind::TooDeep, span, UNKNOWN_TEXT.to_string()));
        self.b.emit(InstKind::Point { point });
    }

    /// Records a value that was loaded or returned.
    pub fn note_read(&mut self, value: Operand, desc: &Desc, text: impl FnOnce(&Self) -> String) {
        if let (Operand::Reg(reg), false) = (value, self.table.is_library()) {
            let text = text(self);
            self.note(value, source_expressions::of_type(ExprKind::Reg(reg), desc, text));
        }
    }

    /// Records the result of a call, with its receiver and arguments as text.
    pub fn note_call(&mut self, member: &MemberRef, desc: &MethodDesc, args: &[Operand]) {
        let Some(value) = self.stack.last().copied() else { return };
        if self.table.is_library() || source_expressions::slot_kind(&desc.result).is_none() {
            return;
        }
        let shown = |body: &Self, value: Operand, desc: Option<&Desc>| {
            let kind = desc.map_or(SlotKind::Ref, |desc| source_expressions::slot_kind(desc).unwrap_or(SlotKind::Ref));
            match (kind, value) {
                (SlotKind::Ref, Operand::Const(..)) => "null".to_string(),
                _ => source_expressions::display(&body.expression_of(value, kind)),
            }
        };
        let split = args.len() - desc.params.len().min(args.len());
        let (receiver, args) = args.split_at(split);
        let args: Vec<String> =
            args.iter().zip(&desc.params).map(|(arg, param)| shown(self, *arg, Some(param))).collect();
        let on = match receiver.first() {
            Some(receiver) => shown(self, *receiver, None),
            None => short_type_name(&Desc::Ref(member.class.clone())),
        };
        // Unboxing is implicit in source.
        let unboxes = primitive_of(&member.class).is_some() && member.name.ends_with("Value");
        let args = args.join(", ");
        let args = if args.len() > MAX_CALL_TEXT_CHARS { "..." } else { &args };
        let text = if unboxes { on } else { format!("{on}.{}({args})", member.name) };
        self.note_read(value, &desc.result, |_| text);
    }

    pub fn note_arithmetic(&mut self, value: Operand, op: Arith, kind: SlotKind, left: Operand, right: Operand) {
        if self.table.is_library() {
            return;
        }
        let right_kind = if matches!(op, Arith::Shl | Arith::Shr | Arith::Ushr) { SlotKind::Int } else { kind };
        let (left, right) = (self.expression_of(left, kind), self.expression_of(right, right_kind));
        self.note(value, source_expressions::arithmetic(op, kind, left, right));
    }

    pub fn note_negation(&mut self, value: Operand, kind: SlotKind, of: Operand) {
        if self.table.is_library() {
            return;
        }
        let of = self.expression_of(of, kind);
        self.note(value, source_expressions::negation(kind, of));
    }

    pub fn note_conversion(&mut self, value: Operand, convert: Convert, of: Operand) {
        if self.table.is_library() {
            return;
        }
        let of = self.expression_of(of, convert.from());
        self.note(value, source_expressions::conversion(convert, of));
    }

    pub fn note_comparison(&mut self, value: Operand, kind: SlotKind, nan: i8, left: Operand, right: Operand) {
        if self.table.is_library() {
            return;
        }
        let (left, right) = (self.expression_of(left, kind), self.expression_of(right, kind));
        if let Operand::Reg(reg) = value {
            self.expressions.compared.insert(reg, Comparison { kind, nan, left, right });
        }
    }

    /// Copies the old value of a local variable before it is overwritten, for the values on the stack that read it.
    pub fn preserve_old_value(&mut self, reg: Reg) {
        let on_stack = |body: &Self, value: &Operand| match value {
            Operand::Reg(entry) => *entry == reg || body.expressions.of.get(entry).is_some_and(|expr| reads(expr, reg)),
            Operand::Const(..) => false,
        };
        if !self.stack.iter().any(|value| on_stack(self, value)) {
            self.expressions.of.retain(|_, expr| !reads(expr, reg));
            return;
        }
        let leaf = self.expression_of(Operand::Reg(reg), SlotKind::Ref);
        let Operand::Reg(old) = self.b.copied(Operand::Reg(reg)) else { return };
        self.note_old_value(old, reg);
        for entry in self.stack.iter_mut().filter(|entry| **entry == Operand::Reg(reg)) {
            *entry = Operand::Reg(old);
        }
        if !self.table.is_library() {
            self.expressions.of.values_mut().for_each(|expr| read_elsewhere(expr, reg, old));
            let mut leaf = leaf;
            read_elsewhere(&mut leaf, reg, old);
            self.expressions.of.insert(old, leaf);
        }
    }

    // Points.

    /// Returns the source position of the current statement.
    fn span_here(&self) -> Span {
        self.table.statement_before(self.position).map_or(self.b.span, |statement| statement.span)
    }

    fn mark(&mut self, kind: PointKind, span: Span, text: String) {
        let variables = Some(self.readable_variables(self.position));
        let point = Point { kind, span, text, variables };
        let valued = self.value_point_location(&point);
        let point = self.table.add_once(point);
        self.table.place_values(point, valued);
        self.b.emit(InstKind::Point { point });
    }

    /// Emits a value point where a value of a type is used.
    pub fn mark_use(&mut self, value: Operand, desc: &Desc) {
        let Some(kind) = source_expressions::slot_kind(desc) else { return };
        if self.table.is_library() || matches!(value, Operand::Reg(reg) if self.expressions.marked.contains(&reg)) {
            return;
        }
        let expr = self.expression_of(value, kind);
        let expr = match desc {
            Desc::Boolean => source_expressions::as_boolean(expr),
            _ => source_expressions::as_int(expr),
        };
        let text = source_expressions::display(&expr);
        // Variables without a name are the compiler's.
        let is_hidden = text.contains("<local") && self.variables().next().is_some();
        if is_hidden || text == UNKNOWN_TEXT || text.is_empty() {
            return;
        }
        if let (Operand::Reg(reg), None) = (value, self.local_of_operand(value)) {
            self.expressions.marked.insert(reg);
        }
        let span = self.span_here();
        self.mark(PointKind::Value(expr), span, text);
    }

    fn local_of_operand(&self, value: Operand) -> Option<u16> {
        match value {
            Operand::Reg(reg) => self.local_of(reg),
            Operand::Const(..) => None,
        }
    }

    /// Emits value points for the arguments of a call.
    pub fn mark_arguments(&mut self, desc: &MethodDesc, args: &[Operand]) {
        let first = args.len() - desc.params.len().min(args.len());
        for (arg, param) in args[first..].iter().zip(&desc.params) {
            self.mark_use(*arg, param);
        }
    }

    /// Emits a value point for the assignment of a local variable.
    pub fn mark_assignment(&mut self, index: u16, kind: SlotKind, value: Operand, next: usize) {
        if kind == SlotKind::Ref || self.table.is_library() {
            return;
        }
        let variable = self.variable_at(index, next).map(|(_, desc)| desc);
        let plain = match kind {
            SlotKind::Long => Desc::Long,
            SlotKind::Float => Desc::Float,
            SlotKind::Double => Desc::Double,
            SlotKind::Int | SlotKind::Ref => Desc::Int,
        };
        match variable {
            Some(desc) => self.mark_use(value, &desc),
            None if self.variables().next().is_none() => self.mark_use(value, &plain),
            None => {}
        }
    }

    /// Emits value points for the values that remain on the stack at the end of a block.
    pub fn mark_stack_uses(&mut self) {
        let computed = |body: &Self, value: &Operand| match value {
            Operand::Reg(reg) => body.expressions.of.get(reg).map(|expr| (expr.format(), expr.ty)),
            Operand::Const(..) => None,
        };
        for value in self.stack.clone() {
            let desc = match computed(self, &value) {
                Some((Some(format), _)) => {
                    if format == Format::F32 {
                        Desc::Float
                    } else {
                        Desc::Double
                    }
                }
                Some((None, Ty::I1)) => Desc::Boolean,
                Some((None, Ty::Int(64))) => Desc::Long,
                Some((None, Ty::Int(_))) => Desc::Int,
                _ => continue,
            };
            self.mark_use(value, &desc);
        }
    }

    /// Returns the expression of a condition that compares two values; `right` is unused for comparisons with zero.
    pub fn condition_expression(&self, insn: &Insn, cond: Cond, left: Operand, right: Operand, holds: Operand) -> Expr {
        let compared = match (insn, left) {
            (Insn::If(..), Operand::Reg(reg)) => self.expressions.compared.get(&reg),
            _ => None,
        };
        if let Some(Comparison { kind, nan, left, right }) = compared {
            let (left, right) = (left.clone(), right.clone());
            return match kind {
                SlotKind::Float => source_expressions::float_relation(cond, *nan, Format::F32, left, right),
                SlotKind::Double => source_expressions::float_relation(cond, *nan, Format::F64, left, right),
                _ => source_expressions::relation(cond, left, right),
            };
        }
        match insn {
            Insn::If(..) => source_expressions::compared_with_zero(cond, self.expression_of(left, SlotKind::Int)),
            Insn::IfInts(..) => source_expressions::relation(
                cond,
                self.expression_of(left, SlotKind::Int),
                self.expression_of(right, SlotKind::Int),
            ),
            _ => match holds {
                Operand::Reg(reg) => source_expressions::boolean(ExprKind::Reg(reg), ""),
                Operand::Const(_, bits) => source_expressions::boolean(ExprKind::Const(bits), ""),
            },
        }
    }

    /// Emits a value point for a relation whose boolean is stored. The compiler jumps if it does not hold.
    pub fn mark_stored_relation(&mut self, value: Expr) {
        let text = source_expressions::display(&value);
        if !text.is_empty() {
            let span = self.span_here();
            self.mark(PointKind::Value(value), span, text);
        }
    }

    /// Emits the point of a compound decision before it is evaluated.
    pub fn mark_decision(&mut self, decision: DecisionId, value: Expr) {
        let (span, text) = self.table.decision(decision);
        self.mark(PointKind::Decision(value), span, text);
    }

    /// Emits the point of a condition before its jump.
    pub fn mark_condition(&mut self, tag: CondTag, mut value: Expr) {
        let (span, text) = (self.table.span_of(tag), self.table.text_of(tag));
        if value.text.is_empty() {
            value.text = text.clone();
        }
        self.mark(PointKind::Condition { tag, value }, span, text);
    }
}

fn is_live(row: &LocalVariable, at: usize) -> bool {
    let start = usize::from(row.start);
    start <= at && at < start + usize::from(row.length)
}
