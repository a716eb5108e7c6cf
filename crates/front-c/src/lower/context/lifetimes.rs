//! When locals die: at the end of their block, however control leaves it.
//!
//! While a body is lowered, what has been declared so far is a chain, and every block of the IR knows where in it the
//! block begins and ends. What is alive at the end of a block and not at the start of the next one dies on the way, at
//! that start; a closing brace that is reached ends lives where it stands. So `break`, `continue` and `goto` need nothing
//! of their own.
//!
//! Only locals whose address can outlive the expression that takes it have an end of their own: nobody can ask for the
//! others afterwards. A value without a name lives as long as its function, unless it is a compound literal.
//!
//! A `goto` back to a label of the same block is no way out of it: variables and literals that the block declares behind the
//! label stay the objects that they are (C11 6.2.4). Only an array of variable length dies there.

use crate::lower::context::func::{Draft, Lowerer};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};
use touchstone_ir::{Builtin, CBuiltin, Function, Inst, InstKind, Operand, Reg, SlotId, TermKind};

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
            Life::Array(pointer) => InstKind::Builtin {
                dst: None,
                builtin: Builtin::C(CBuiltin::Release),
                args: vec![Operand::Reg(pointer)],
            },
        }
    }
}

/// A place in the chain of declarations: the last one, if there is any.
pub(crate) type Mark = Option<usize>;

/// A block of the source: its number in [`Lives::blocks`].
pub(crate) type Nest = usize;

/// A declaration in the chain.
struct Declared {
    before: Mark,
    life: Life,
    /// The block whose end it dies at.
    nest: Nest,
}

/// What was declared, each with the one before it.
#[derive(Default)]
pub(crate) struct Lives {
    declared: Vec<Declared>,
    now: Mark,
    /// Blocks of the source behind the function's own, number 0, each with the one around it.
    blocks: Vec<Nest>,
    nest: Nest,
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
        self.declared.push(Declared { before: self.now, life, nest: self.nest });
        self.now = Some(self.declared.len() - 1);
    }
    /// The life of a compound literal begins.
    pub fn declare_literal(&mut self, slot: SlotId) {
        if !self.controls {
            self.declare(Life::Slot(slot));
        }
    }
    /// Returns the block of the source where lowering stands.
    pub fn nest(&self) -> Nest {
        self.nest
    }
    /// Enters a block of the source; [`Lives::leave`] takes what was around it.
    pub fn enter(&mut self) -> Nest {
        self.blocks.push(self.nest);
        std::mem::replace(&mut self.nest, self.blocks.len())
    }
    /// Leaves a block of the source.
    pub fn leave(&mut self, around: Nest) {
        self.nest = around;
    }
    /// Returns true if a block of the source is another one or around it.
    fn is_around(&self, outer: Nest, inner: Nest) -> bool {
        let parent = |nest: &Nest| nest.checked_sub(1).map(|index| self.blocks[index]);
        std::iter::successors(Some(inner), parent).any(|nest| nest == outer)
    }
    /// Goes back to a place in a block that control does not fall into.
    pub fn reset(&mut self, mark: Mark) {
        self.now = mark;
    }
    /// What is alive at one place and not at another one, the youngest first.
    fn between(&self, from: Mark, to: Mark) -> impl Iterator<Item = &Declared> {
        let kept: FxHashSet<usize> = self.chain(to).collect();
        self.chain(from).filter(move |index| !kept.contains(index)).map(|index| &self.declared[index])
    }
    fn chain(&self, from: Mark) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |index| self.declared[*index].before)
    }
    /// What dies on the way from one place to a label (if the target is one) of a block of the source.
    fn ended(&self, from: Mark, to: Mark, label: Option<Nest>) -> impl Iterator<Item = Life> {
        let stays = move |declared: &Declared| match (declared.life, label) {
            (Life::Slot(_), Some(label)) => self.is_around(declared.nest, label),
            _ => false,
        };
        self.between(from, to).filter(move |declared| !stays(declared)).map(|declared| declared.life)
    }
}

impl Lowerer<'_, '_> {
    /// A closing brace: what was declared since the mark dies.
    pub fn end_lives(&mut self, mark: Mark, span: Span) {
        let ended: Vec<Life> = self.lives.ended(self.lives.mark(), mark, None).collect();
        for life in ended {
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
        for target in crate::lower::context::func::targets(&terminator.kind) {
            let target = target.index();
            let Some(start) = blocks[target].scope_in else { continue };
            let list = ends.entry(target).or_default();
            for life in lives.ended(block.scope_out, start, blocks[target].label) {
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
fn outlived(blocks: &[Draft], function: &Function) -> FxHashSet<SlotId> {
    let mut from: Vec<FxHashSet<SlotId>> = vec![FxHashSet::default(); function.regs.len()];
    let mut found = FxHashSet::default();
    // Temporaries are made before they are used, but blocks need not be in that order.
    let mut grown = true;
    while grown {
        grown = false;
        for inst in blocks.iter().flat_map(|block| &block.insts) {
            let (dst, slots) = match &inst.kind {
                InstKind::SlotAddr { dst, slot } => (*dst, FxHashSet::from_iter([*slot])),
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
                | InstKind::Builtin {
                    builtin: Builtin::Settle | Builtin::Look | Builtin::Refresh | Builtin::TakeFor,
                    ..
                } => {}
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
