//! Where the values are, in a frame of the JVM, that points about values ask for: whoever puts probes into the code asks there.

use crate::classfile::{Cond, Insn, SlotKind};
use crate::coverage::value_locations::{PointPosition, ValueLocation, ValuePointLocation};
use crate::lower::body::Body;
use rustc_hash::FxHashMap;
use touchstone_ir::{Expr, ExprKind, Operand, Point, Reg, Ty};

/// What is known of the values of a block.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    of: FxHashMap<Reg, Option<ValueLocation>>,
}

impl Sources {
    /// Another block begins; these are on the stack, and only what came before knows where from.
    pub fn forget(&mut self, stack: &[Operand]) {
        self.of.clear();
        self.of.extend(stack.iter().filter_map(register).map(|reg| (reg, None)));
    }
}

fn register(value: &Operand) -> Option<Reg> {
    match value {
        Operand::Reg(reg) => Some(*reg),
        Operand::Const(..) => None,
    }
}

impl Body<'_> {
    /// An instruction was lowered: what is new on top of the stack is what it left there.
    pub fn note_pushed(&mut self) {
        if let Some(Operand::Reg(reg)) = self.stack.last()
            && !self.table.is_library()
            && self.local_of(*reg).is_none()
        {
            self.sources.of.entry(*reg).or_insert(Some(ValueLocation::Pushed(self.position)));
        }
    }

    /// A register holds what a local variable held before the instruction.
    pub fn note_old_value(&mut self, old: Reg, local: Reg) {
        let source = self.local_source(local).and_then(|source| match source {
            ValueLocation::Local(index, kind) => Some(ValueLocation::OldLocal(index, kind, self.position)),
            _ => None,
        });
        self.sources.of.insert(old, source);
    }

    /// A register holds whether the condition of a jump holds, which is taken if `taken` says so.
    pub fn note_outcome(&mut self, holds: Operand, insn: &Insn, holds_if_taken: bool) {
        if let (Operand::Reg(reg), Insn::IfRefs(cond, _) | Insn::IfNull(cond, _)) = (holds, insn) {
            let value = (*cond == Cond::Eq) == holds_if_taken;
            self.sources.of.insert(reg, Some(ValueLocation::SameReferences { value }));
        }
    }

    fn local_source(&self, reg: Reg) -> Option<ValueLocation> {
        let index = self.local_of(reg)?;
        let kinds: &[SlotKind] = match self.b.ty(Operand::Reg(reg)) {
            Ty::Int(64) => &[SlotKind::Long, SlotKind::Double],
            Ty::Int(_) => &[SlotKind::Int, SlotKind::Float],
            Ty::Ptr => &[SlotKind::Ref],
        };
        // Behind an instruction stands what is before the next one.
        let at = match self.when {
            PointPosition::Before => self.position,
            PointPosition::After => self.insns.iter().find(|insn| insn.at == self.position)?.next,
        };
        let kind = kinds.iter().find(|kind| self.expressions.is_assigned(at, index, **kind))?;
        Some(ValueLocation::Local(index, *kind))
    }

    /// Where the values are that a point asks for here.
    pub fn value_point_location(&self, point: &Point) -> ValuePointLocation {
        fn collect(expr: &Expr, found: &mut Vec<Reg>) {
            if let ExprKind::Reg(reg) = expr.kind {
                found.push(reg);
            }
            expr.parts().into_iter().for_each(|part| collect(part, found));
        }
        let mut read = Vec::new();
        point.kind.exprs().into_iter().for_each(|expr| collect(expr, &mut read));
        point.variables.iter().flat_map(|variables| variables.iter()).for_each(|expr| collect(expr, &mut read));
        let source = |reg: &Reg| match self.sources.of.get(reg) {
            Some(known) => *known,
            None => self.local_source(*reg),
        };
        let sources = read.iter().filter_map(|reg| Some((*reg, source(reg)?))).collect();
        ValuePointLocation { at: self.position, when: self.when, sources }
    }
}
