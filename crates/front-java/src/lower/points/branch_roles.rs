//! The role of each jump and switch: a condition of the source, or a check of the compiler.

use crate::classfile::Cond;
use crate::coverage::source_marks::Selector;
use crate::coverage::switch_labels::LabelResolver;
use crate::lower::method_body::Body;
use touchstone_ir::{BranchRole, CondTag, InstKind};

/// The role of a conditional jump.
pub(crate) struct JumpRole {
    pub role: BranchRole,
    pub tag: Option<CondTag>,
    /// The sense in which the jump evaluates the condition.
    pub taken: JumpSense,
}

/// The outcome of the source's condition for which a jump is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpSense {
    IfTrue,
    IfFalse,
}

/// Returns the negation of a comparison.
pub(crate) fn opposite(cond: Cond) -> Cond {
    match cond {
        Cond::Eq => Cond::Ne,
        Cond::Ne => Cond::Eq,
        Cond::Lt => Cond::Ge,
        Cond::Ge => Cond::Lt,
        Cond::Gt => Cond::Le,
        Cond::Le => Cond::Gt,
    }
}

impl Body<'_> {
    /// Emits the points of the statements that begin at an offset.
    pub fn mark_statements(&mut self, at: usize) {
        let points = self.table.statements.get(&at).cloned().unwrap_or_default();
        points.into_iter().for_each(|point| self.b.emit(InstKind::Point { point }));
    }

    /// Returns the role of the jump that is being lowered.
    pub fn jump_role(&self) -> JumpRole {
        match self.table.jumps.get(&self.position) {
            Some((tag, opcode)) => {
                let taken = self.taken(self.position, *opcode);
                JumpRole { role: BranchRole::Condition, tag: Some(*tag), taken }
            }
            None => JumpRole { role: BranchRole::Check, tag: None, taken: JumpSense::IfTrue },
        }
    }

    fn taken(&self, at: usize, opcode: u8) -> JumpSense {
        match self.code.bytes.get(at) == Some(&opcode) {
            true => JumpSense::IfTrue,
            false => JumpSense::IfFalse,
        }
    }

    /// Returns the comparison that is equivalent to the source's condition, for a jump that is taken if `cond` holds.
    pub fn sense_at(&self, at: usize, cond: Cond) -> Cond {
        match self.table.jumps.get(&at) {
            Some((_, opcode)) if self.taken(at, *opcode) == JumpSense::IfFalse => opposite(cond),
            _ => cond,
        }
    }

    /// Returns true if the next instruction is a switch whose selector the compiler mapped to integers.
    pub fn is_for_switch(&self) -> bool {
        let next = self.insns.iter().find(|insn| insn.at > self.position).map(|insn| insn.at);
        let known = next.and_then(|at| self.table.switches.get(&at));
        known.is_some_and(|(selector, _)| *selector == Selector::Other)
    }

    fn labels_here(&mut self, default: usize, cases: &[(i32, usize)]) -> Vec<(usize, String)> {
        let mut labelling = LabelResolver { classes: &mut self.lowering.classes, file: &self.file, insns: self.insns };
        labelling.labels(self.position, default, cases)
    }

    /// Returns the role of the switch that is being lowered, and the targets of arms with labels other than integers. A
    /// switch that only maps a selector to integers is a check.
    pub fn switch_role(&mut self, default: usize, cases: &[(i32, usize)]) -> (BranchRole, Vec<(usize, String)>) {
        if self.table.is_library {
            return (BranchRole::Check, Vec::new());
        }
        let known = self.table.switches.get(&self.position).copied();
        if let Some((_, span)) = known {
            self.b.span = span;
        }
        match (self.table.all_switches, known.map(|(selector, _)| selector)) {
            (_, Some(Selector::Number)) => (BranchRole::Condition, Vec::new()),
            (true, None) => (BranchRole::Condition, self.labels_here(default, cases)),
            (_, Some(Selector::Other)) => match self.labels_here(default, cases) {
                labels if labels.is_empty() => (BranchRole::Check, labels),
                labels => (BranchRole::Condition, labels),
            },
            (false, None) => (BranchRole::Check, Vec::new()),
        }
    }
}
