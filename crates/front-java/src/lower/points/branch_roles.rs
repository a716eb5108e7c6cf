//! The role of each jump and switch: a condition of the source, or a check of the compiler.

use crate::classfile::Cond;
use crate::coverage::source_marks::Selector;
use crate::coverage::switch_labels::LabelResolver;
use crate::lower::body::Body;
use touchstone_ir::{BranchRole, CondTag, InstKind};

/// What a jump is.
pub(crate) struct JumpRole {
    pub role: BranchRole,
    pub tag: Option<CondTag>,
    /// Whether it is taken if the condition of the source holds.
    pub taken: JumpSense,
}

/// When a jump is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum JumpSense {
    IfTrue,
    IfFalse,
}

/// The opposite of a comparison.
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
    /// Marks the statements that begin with an instruction.
    pub fn mark_statements(&mut self, at: usize) {
        let points = self.table.statements.get(&at).cloned().unwrap_or_default();
        points.into_iter().for_each(|point| self.b.emit(InstKind::Point { point }));
    }

    /// What the jump is that is being lowered.
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

    /// When the condition holds that a jump decides, which is taken if `cond` does.
    pub fn sense_at(&self, at: usize, cond: Cond) -> Cond {
        match self.table.jumps.get(&at) {
            Some((_, opcode)) if self.taken(at, *opcode) == JumpSense::IfFalse => opposite(cond),
            _ => cond,
        }
    }

    /// Whether the next instruction is a switch over something that the compiler made numbers of.
    pub fn is_for_switch(&self) -> bool {
        let next = self.insns.iter().find(|insn| insn.at > self.position).map(|insn| insn.at);
        let known = next.and_then(|at| self.table.switches.get(&at));
        known.is_some_and(|(selector, _)| *selector == Selector::Other)
    }

    fn labels_here(&mut self, default: usize, cases: &[(i32, usize)]) -> Vec<(usize, String)> {
        let mut labelling = LabelResolver { classes: &mut self.lowering.classes, file: &self.file, insns: self.insns };
        labelling.labels(self.position, default, cases)
    }

    /// What the switch is that is being lowered, and where its arms begin that have other labels than numbers. What
    /// the compiler makes of other values than numbers is a check where it comes before the arms themselves.
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
