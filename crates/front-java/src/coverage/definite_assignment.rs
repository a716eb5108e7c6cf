//! Definite assignment: a forward data-flow analysis of the local variables, with their kinds, that have a value before
//! each instruction.
//!
//! The class file's tables of local variables are not verified by the JVM and may be wrong; this analysis is sound.

use crate::classfile::{Code, Decoded, Insn, MethodDesc, SlotKind, access};
use crate::coverage::source_expressions;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The assigned local variables and the kinds of their values.
type Locals = BTreeMap<u16, SlotKind>;

/// The assigned local variables before each reachable instruction.
#[derive(Debug, Default)]
pub(crate) struct DefiniteAssignment {
    before: FxHashMap<usize, Locals>,
}

fn parameters(flags: u16, desc: &MethodDesc) -> Locals {
    let mut locals = Locals::new();
    let mut next = 0;
    if flags & access::STATIC == 0 {
        locals.insert(0, SlotKind::Ref);
        next = 1;
    }
    for param in &desc.params {
        locals.insert(next, source_expressions::slot_kind(param).unwrap_or(SlotKind::Ref));
        next += if param.is_wide() { 2 } else { 1 };
    }
    locals
}

fn store(locals: &mut Locals, index: u16, kind: SlotKind) {
    // Overwriting one half of a wide value invalidates it.
    if let Some(below) = index.checked_sub(1)
        && locals.get(&below).is_some_and(|kind| kind.is_wide())
    {
        locals.remove(&below);
    }
    if kind.is_wide() {
        locals.remove(&index.saturating_add(1));
    }
    locals.insert(index, kind);
}

impl DefiniteAssignment {
    /// Computes the fixed point. Methods with subroutines (`jsr`), which old compilers emitted, have no assigned
    /// variables.
    pub fn new(flags: u16, desc: &MethodDesc, code: &Code, insns: &[Decoded]) -> DefiniteAssignment {
        if insns.iter().any(|insn| matches!(insn.insn, Insn::Jsr(_) | Insn::Ret(_))) {
            return DefiniteAssignment::default();
        }
        let index_of: FxHashMap<usize, usize> =
            insns.iter().enumerate().map(|(index, insn)| (insn.at, index)).collect();
        let mut flow = DefiniteAssignment::default();
        let mut worklist = Vec::new();
        flow.join(0, &parameters(flags, desc), &mut worklist);
        while let Some(at) = worklist.pop() {
            let (Some(index), Some(locals)) = (index_of.get(&at), flow.before.get(&at).cloned()) else { continue };
            let Decoded { next, insn, .. } = &insns[*index];
            for handler in &code.handlers {
                if (usize::from(handler.start)..usize::from(handler.end)).contains(&at) {
                    flow.join(usize::from(handler.handler), &locals, &mut worklist);
                }
            }
            let mut after = locals;
            if let Insn::Store(kind, local) = insn {
                store(&mut after, *local, *kind);
            }
            for target in insn.targets() {
                flow.join(target, &after, &mut worklist);
            }
            if !insn.ends() {
                flow.join(*next, &after, &mut worklist);
            }
        }
        flow
    }

    /// Joins the state of a predecessor: a variable is assigned if it is assigned on all paths.
    fn join(&mut self, at: usize, locals: &Locals, worklist: &mut Vec<usize>) {
        match self.before.get_mut(&at) {
            None => {
                self.before.insert(at, locals.clone());
                worklist.push(at);
            }
            Some(known) => {
                let size = known.len();
                known.retain(|local, kind| locals.get(local) == Some(kind));
                if known.len() != size {
                    worklist.push(at);
                }
            }
        }
    }

    /// Returns true if a local variable has a value of this kind before an instruction.
    pub fn is_assigned(&self, at: usize, local: u16, kind: SlotKind) -> bool {
        self.before.get(&at).is_some_and(|locals| locals.get(&local) == Some(&kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insns(list: &[Insn]) -> Vec<Decoded> {
        list.iter().enumerate().map(|(at, insn)| Decoded { at, next: at + 1, insn: insn.clone() }).collect()
    }

    #[test]
    fn a_variable_assigned_on_one_path_only_is_not_assigned_at_the_join() {
        use crate::classfile::Cond;
        let list = insns(&[
            Insn::Load(SlotKind::Int, 0),
            Insn::If(Cond::Eq, 5),
            Insn::PushInt(1),
            Insn::Store(SlotKind::Int, 1),
            Insn::Nop,
            Insn::PushInt(2),
            Insn::Store(SlotKind::Int, 2),
            Insn::Return(None),
        ]);
        let code = Code {
            max_stack: 1,
            max_locals: 3,
            bytes: Box::default(),
            offset: 0,
            handlers: Vec::new(),
            attributes: Vec::new(),
        };
        let desc = MethodDesc::parse("(I)V").expect("a descriptor");
        let assigned = DefiniteAssignment::new(access::STATIC, &desc, &code, &list);
        assert!(assigned.is_assigned(4, 1, SlotKind::Int));
        assert!(!assigned.is_assigned(5, 1, SlotKind::Int));
        assert!(assigned.is_assigned(7, 2, SlotKind::Int));
        assert!(!assigned.is_assigned(7, 2, SlotKind::Float));
        assert!(assigned.is_assigned(7, 0, SlotKind::Int));
    }
}
