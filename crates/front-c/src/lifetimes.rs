//! When locals die: at the end of their block, however control leaves it.
//!
//! While a body is lowered, what has been declared so far is a chain, and every block of the IR knows where in it the
//! block begins and ends. What is alive at the end of a block and not at the start of the next one dies on the way, at
//! that start; a closing brace that is reached ends lives where it stands. So `break`, `continue` and `goto` need nothing
//! of their own.
//!
//! Only locals whose address can outlive the expression that takes it have an end of their own: nobody can ask for the
//! others afterwards. A value without a name lives as long as its function, unless it is a compound literal.

use crate::func::{Draft, Lowerer};
use std::collections::{BTreeMap, HashSet};
use touchstone_base::{Id, Span};
use touchstone_ir::{Builtin, Function, Inst, InstKind, Operand, Reg, SlotId, TermKind};

/// Something that dies with its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Life {
    Slot(SlotId),
    /// The array of variable length behind a register.
    Array(Reg),
}

impl Life {
    fn end(self) -> InstKind {
        match self {
            Life::Slot(slot) => InstKind::SlotEnd { slot },
            Life::Array(pointer) => {
                InstKind::Builtin { dst: None, builtin: Builtin::Release, args: vec![Operand::Reg(pointer)] }
            }
        }
    }
}

/// A place in the chain of declarations: the last one, if there is any.
pub(crate) type Mark = Option<usize>;

/// What was declared, each with the one before it.
#[derive(Default)]
pub(crate) struct Lives {
    declared: Vec<(Mark, Life)>,
    now: Mark,
    /// In the controlling part of a loop, whose literals live as long as the loop.
    controls: bool,
}

impl Lives {
    /// Where lowering stands.
    pub fn mark(&self) -> Mark {
        self.now
    }
    /// A life begins.
    pub fn declare(&mut self, life: Life) {
        self.declared.push((self.now, life));
        self.now = Some(self.declared.len() - 1);
    }
    /// The life of a compound literal begins.
    pub fn declare_literal(&mut self, slot: SlotId) {
        if !self.controls {
            self.declare(Life::Slot(slot));
        }
    }
    /// Goes back to a place in a block that control does not fall into.
    pub fn reset(&mut self, mark: Mark) {
        self.now = mark;
    }
    /// What is alive at one place and not at another one, the youngest first.
    fn between(&self, from: Mark, to: Mark) -> Vec<Life> {
        let kept: HashSet<usize> = self.chain(to).collect();
        self.chain(from).filter(|index| !kept.contains(index)).map(|index| self.declared[index].1).collect()
    }
    fn chain(&self, from: Mark) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |index| self.declared[*index].0)
    }
}

impl Lowerer<'_, '_> {
    /// A closing brace: what was declared since the mark dies.
    pub fn end_lives(&mut self, mark: Mark, span: Span) {
        for life in self.lives.between(self.lives.mark(), mark) {
            self.emit(life.end(), span);
        }
        self.lives.reset(mark);
    }
    /// Lowers the controlling part of a loop.
    pub fn controlling(&mut self, lower: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.lives.controls, true);
        lower(self);
        self.lives.controls = outside;
    }
}

/// Puts ends of lives where jumps leave blocks, and drops those that nobody can tell.
pub(crate) fn end_on_jumps(blocks: &mut [Draft], function: &Function, lives: &Lives) {
    let mut ends: BTreeMap<usize, Vec<(Life, Span)>> = BTreeMap::new();
    for block in blocks.iter() {
        let Some(terminator) = &block.terminator else { continue };
        for target in crate::func::targets(&terminator.kind) {
            let target = target.index();
            let Some(start) = blocks[target].scope_in else { continue };
            let list = ends.entry(target).or_default();
            for life in lives.between(block.scope_out, start) {
                if !list.iter().any(|(known, _)| *known == life) {
                    list.push((life, terminator.span));
                }
            }
        }
    }
    for (block, ends) in ends {
        let ends = ends.into_iter().map(|(life, span)| Inst { kind: life.end(), span });
        blocks[block].insts.splice(0..0, ends);
    }
    let outlived = outlived(blocks, function);
    for block in blocks {
        let returns = matches!(&block.terminator, Some(terminator) if matches!(terminator.kind, TermKind::Return(_)));
        while returns && matches!(block.insts.last(), Some(Inst { kind: InstKind::SlotEnd { .. }, .. })) {
            block.insts.pop();
        }
        block.insts.retain(|inst| match &inst.kind {
            InstKind::SlotEnd { slot } => outlived.contains(slot),
            _ => true,
        });
    }
}

/// Slots whose address is kept somewhere: in a variable, in memory, by a callee, as a number.
fn outlived(blocks: &[Draft], function: &Function) -> HashSet<SlotId> {
    let mut from: Vec<HashSet<SlotId>> = vec![HashSet::new(); function.regs.len()];
    let mut found = HashSet::new();
    // Temporaries are made before they are used, but blocks need not be in that order.
    let mut grown = true;
    while grown {
        grown = false;
        for inst in blocks.iter().flat_map(|block| &block.insts) {
            let (dst, slots) = match &inst.kind {
                InstKind::SlotAddr { dst, slot } => (*dst, HashSet::from([*slot])),
                InstKind::PtrAdd { dst, base: Operand::Reg(base), .. } => (*dst, from[base.index()].clone()),
                _ => continue,
            };
            if function.regs[dst].name.is_some() {
                found.extend(slots);
            } else if !slots.is_subset(&from[dst.index()]) {
                from[dst.index()].extend(slots);
                grown = true;
            }
        }
    }
    let mut keep = |operand: &Operand| {
        if let Operand::Reg(reg) = operand {
            found.extend(from[reg.index()].iter().copied());
        }
    };
    for block in blocks {
        for inst in &block.insts {
            match &inst.kind {
                InstKind::PtrAdd { .. }
                | InstKind::Cmp { .. }
                | InstKind::PtrDiff { .. }
                | InstKind::Load { .. }
                | InstKind::MemCopy { .. }
                | InstKind::MemSet { .. }
                | InstKind::Builtin { builtin: Builtin::Settle, .. } => {}
                InstKind::Store { value, .. } => keep(value),
                other => other.operands().iter().for_each(&mut keep),
            }
        }
        if let Some(terminator) = &block.terminator {
            terminator.kind.operands().iter().for_each(&mut keep);
        }
    }
    found
}
