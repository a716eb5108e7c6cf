//! Tracks the location in the JVM frame of each register of a block, for probes that evaluate value points.

use crate::classfile::{Cond, Insn, SlotKind};
use crate::coverage::value_locations::{PointPosition, ValueLocation, ValuePointLocation};
use crate::lower::method_body::Body;
use rustc_hash::FxHashMap;
use touchstone_ir::{Expr, ExprKind, Operand, Point, Reg, Ty};

/// The locations of the values of a block; `None` for values from another block.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    of: FxHashMap<Reg, Option<ValueLocation>>,
}

impl Sources {
    /// Clears the state at the start of a block; values on the stack come from predecessors.
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
    /// Records that the current instruction pushed the top of the stack.
    pub fn note_pushed(&mut self) {
        if let Some(Operand::Reg(reg)) = self.stack.last()
            && !self.table.is_library()
            && self.local_of(*reg).is_none()
        {
            self.sources.of.entry(*reg).or_insert(Some(ValueLocation::Pushed(self.position)));
        }
    }

    /// Records that a register holds the value of a local variable before the current instruction.
    pub fn note_old_value(&mut self, old: Reg, local: Reg) {
        let source = self.local_source(local).and_then(|source| match source {
            ValueLocation::Local(index, kind) => Some(ValueLocation::OldLocal(index, kind, self.position)),
            _ => None,
        });
        self.sources.of.insert(old, source);
    }

    /// Records that a register holds the outcome of a jump's reference comparison.
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
        // The position after an instruction is the one before the next instruction.
        let at = match self.when {
            PointPosition::Before => self.position,
            PointPosition::After => self.insns.iter().find(|insn| insn.at == self.position)?.next,
        };
        let kind = kinds.iter().find(|kind| self.expressions.is_assigned(at, index, **kind))?;
        Some(ValueLocation::Local(index, *kind))
    }

    /// Returns the locations of all registers that a point at the current position reads.
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
