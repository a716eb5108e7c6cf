//! Lifetimes of locals: they end with their block, however control leaves it.
//!
//! During lowering, the declarations so far form a chain, and every block of the IR records its position in the chain
//! at its beginning and end. Objects that are alive at the end of a block and not at the start of its successor end at
//! that start; a closing brace that control reaches ends lifetimes itself. So `break`, `continue` and `goto` need no
//! special treatment.
//!
//! Only locals with an address that can outlive the expression that takes it have an explicit end: the others can't be
//! accessed afterwards. An unnamed value lives as long as its function, unless it is a compound literal.
//!
//! A backward `goto` to a label of the same block does not leave it: variables and literals that the block declares
//! after the label remain the same objects (C11 6.2.4). Only a variable-length array ends there.

use crate::lower::context::func::{BlockDraft, Lowerer};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use touchstone_base::{Id, Span};
use touchstone_ir::{Builtin, CBuiltin, Function, Inst, InstKind, Operand, Reg, SlotId, TermKind};

/// An object that ends with its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ScopedObject {
    Slot(SlotId),
    /// The variable-length array that a register points to.
    Array(Reg),
}

impl ScopedObject {
    fn end(self) -> InstKind {
        match self {
            ScopedObject::Slot(slot) => InstKind::SlotEnd { slot },
            ScopedObject::Array(pointer) => InstKind::Builtin {
                dst: None,
                builtin: Builtin::C(CBuiltin::Release),
                args: vec![Operand::Reg(pointer)],
            },
        }
    }
}

/// A position in the chain of declarations: the last declaration, if any.
pub(crate) type ScopeMark = Option<usize>;

/// A block of the source: its index in [`Lifetimes::blocks`].
pub(crate) type SourceBlock = usize;

/// A declaration in the chain.
struct Declared {
    before: ScopeMark,
    life: ScopedObject,
    /// The block that the object ends with.
    nest: SourceBlock,
}

/// The chain of declarations.
#[derive(Default)]
pub(crate) struct Lifetimes {
    declared: Vec<Declared>,
    now: ScopeMark,
    /// The enclosing block of each block of the source; the function's own block is number 0.
    blocks: Vec<SourceBlock>,
    nest: SourceBlock,
    /// True in the controlling expression of a loop: its literals live as long as the loop.
    controls: bool,
}

impl Lifetimes {
    /// Returns the current position.
    pub fn mark(&self) -> ScopeMark {
        self.now
    }
    /// Begins a lifetime.
    pub fn declare(&mut self, life: ScopedObject) {
        self.declared.push(Declared { before: self.now, life, nest: self.nest });
        self.now = Some(self.declared.len() - 1);
    }
    /// Begins the lifetime of a compound literal.
    pub fn declare_literal(&mut self, slot: SlotId) {
        if !self.controls {
            self.declare(ScopedObject::Slot(slot));
        }
    }
    /// Returns the current block of the source.
    pub fn nest(&self) -> SourceBlock {
        self.nest
    }
    /// Enters a block of the source; returns the enclosing one, for [`Lifetimes::leave`].
    pub fn enter(&mut self) -> SourceBlock {
        self.blocks.push(self.nest);
        std::mem::replace(&mut self.nest, self.blocks.len())
    }
    /// Leaves a block of the source.
    pub fn leave(&mut self, around: SourceBlock) {
        self.nest = around;
    }
    /// Returns true if a block of the source is or encloses another one.
    fn is_around(&self, outer: SourceBlock, inner: SourceBlock) -> bool {
        let parent = |nest: &SourceBlock| nest.checked_sub(1).map(|index| self.blocks[index]);
        std::iter::successors(Some(inner), parent).any(|nest| nest == outer)
    }
    /// Returns to a position, in a block that control does not fall into.
    pub fn reset(&mut self, mark: ScopeMark) {
        self.now = mark;
    }
    /// Returns the objects that are alive at one position and not at another one, the youngest first.
    fn between(&self, from: ScopeMark, to: ScopeMark) -> impl Iterator<Item = &Declared> {
        let kept: FxHashSet<usize> = self.chain(to).collect();
        self.chain(from).filter(move |index| !kept.contains(index)).map(|index| &self.declared[index])
    }
    fn chain(&self, from: ScopeMark) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(from, |index| self.declared[*index].before)
    }
    /// Returns the objects that end on a jump from one position to another, which may be a label of a block of the
    /// source.
    fn ended(&self, from: ScopeMark, to: ScopeMark, label: Option<SourceBlock>) -> impl Iterator<Item = ScopedObject> {
        let stays = move |declared: &Declared| match (declared.life, label) {
            (ScopedObject::Slot(_), Some(label)) => self.is_around(declared.nest, label),
            _ => false,
        };
        self.between(from, to).filter(move |declared| !stays(declared)).map(|declared| declared.life)
    }
}

impl Lowerer<'_, '_> {
    /// Ends the lifetimes of objects declared since the mark, at a closing brace.
    pub fn end_lifetimes(&mut self, mark: ScopeMark, span: Span) {
        let ended: Vec<ScopedObject> = self.lifetimes.ended(self.lifetimes.mark(), mark, None).collect();
        for life in ended {
            self.emit(life.end(), span);
        }
        self.lifetimes.reset(mark);
    }
    /// Lowers the controlling expression of a loop.
    pub fn controlling(&mut self, lower: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.lifetimes.controls, true);
        lower(self);
        self.lifetimes.controls = outside;
    }
}

/// Inserts ends of lifetimes where jumps leave blocks, and removes those that are not observable.
pub(crate) fn end_on_jumps(blocks: &mut [BlockDraft], function: &Function, lifetimes: &Lifetimes) {
    let mut ends: BTreeMap<usize, Vec<(ScopedObject, Span)>> = BTreeMap::new();
    for block in blocks.iter() {
        let Some(terminator) = &block.terminator else { continue };
        for target in crate::lower::context::func::targets(&terminator.kind) {
            let target = target.index();
            let Some(start) = blocks[target].scope_in else { continue };
            let list = ends.entry(target).or_default();
            for life in lifetimes.ended(block.scope_out, start, blocks[target].label) {
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

/// Returns the slots with an address that escapes: to a variable, to memory, to a callee, to an integer.
fn outlived(blocks: &[BlockDraft], function: &Function) -> FxHashSet<SlotId> {
    let mut from: Vec<FxHashSet<SlotId>> = vec![FxHashSet::default(); function.regs.len()];
    let mut found = FxHashSet::default();
    // Iterated to a fixpoint: temporaries are defined before they are used, but blocks need not be in that order.
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
                    builtin:
                        Builtin::ZeroUninitialised | Builtin::ObserveMember | Builtin::Refresh | Builtin::CastPointee,
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
