//! Outcomes of branches that no state has, whatever came before: `(size_t)n != n`, a check that was made a few lines above.
//!
//! A branch is looked at with the blocks that lead to it and to nothing else, as far back as each has one predecessor. At their
//! start everything is unknown: registers, and memory, which is only known to stay as it is where nothing writes. So this holds
//! behind calls that nobody can follow, where the other proofs know nothing. What it does not understand is a fresh unknown.
//!
//! Pointers are numbers here, any numbers: no two objects are known to be apart.

use crate::exec::arith::solver_op;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use touchstone_base::{Deadline, Id};
use touchstone_ir::{
    BinOp, BlockId, CastOp, Cfg, CmpOp, Function, GlobalId, Inst, InstKind, Operand, Reg, SlotId, TermKind, Ty,
};
use touchstone_solver::{Path, Rel, Side, Solver, TermId, Terms};

/// Blocks before a branch that are looked at.
const MOST_BLOCKS: usize = 16;
/// Effort for one branch.
const CONFLICTS: u64 = 200;

/// Outcomes of branches that no run takes.
pub(crate) type DeadEdges = BTreeSet<(BlockId, bool)>;

/// The outcomes of a function's branches that no state has.
pub(crate) fn dead_edges(function: &Function, deadline: Deadline) -> DeadEdges {
    let mut dead = DeadEdges::new();
    let resumes = function.blocks.values().flat_map(|block| &block.insts).any(|inst| super::is_mark(&inst.kind));
    // Control may come to places by no edge.
    if resumes {
        return dead;
    }
    let cfg = Cfg::new(function);
    for block in function.blocks.ids() {
        if deadline.is_over() {
            break;
        }
        if let TermKind::Branch { cond, .. } = &function.blocks[block].terminator.kind {
            let chain = chain(function, &cfg, block);
            for outcome in Local::new(function, deadline).excluded(&chain, *cond) {
                dead.insert((block, outcome));
            }
        }
    }
    dead
}

/// The blocks that control went through before it came to this one, as far as there is only one way, the first one first; this
/// one is the last.
fn chain(function: &Function, cfg: &Cfg, last: BlockId) -> Vec<BlockId> {
    let mut chain = vec![last];
    while chain.len() < MOST_BLOCKS {
        let first = chain[chain.len() - 1];
        // Control comes to the entry from outside, too.
        let [before] = cfg.predecessors(first) else { break };
        let goes_on = matches!(
            function.blocks[*before].terminator.kind,
            TermKind::Jump(_) | TermKind::Branch { .. } | TermKind::Switch { .. }
        );
        if first == BlockId::new(0) || !goes_on || chain.contains(before) {
            break;
        }
        chain.push(*before);
    }
    chain.reverse();
    chain
}

/// What is known on the way to one branch.
struct Local<'m> {
    function: &'m Function,
    terms: Terms,
    solver: Solver,
    regs: FxHashMap<Reg, TermId>,
    slots: FxHashMap<SlotId, TermId>,
    globals: FxHashMap<GlobalId, TermId>,
    /// What memory holds at an address, by its number of bits, since something was last written.
    memory: FxHashMap<(TermId, u8), TermId>,
}

impl Local<'_> {
    fn new(function: &Function, deadline: Deadline) -> Local<'_> {
        let config = touchstone_solver::Config { conflicts: Some(CONFLICTS), deadline, ..Default::default() };
        Local {
            function,
            terms: Terms::new(),
            solver: Solver::new(config),
            regs: FxHashMap::default(),
            slots: FxHashMap::default(),
            globals: FxHashMap::default(),
            memory: FxHashMap::default(),
        }
    }

    /// The outcomes that the condition at the end of the chain never has.
    fn excluded(&mut self, chain: &[BlockId], cond: Operand) -> Vec<bool> {
        let mut path = Path::new();
        for (at, &block) in chain.iter().enumerate() {
            let function = self.function;
            for inst in &function.blocks[block].insts {
                self.step(inst);
            }
            if let (Some(next), TermKind::Branch { cond, then_block, else_block, .. }) =
                (chain.get(at + 1), &function.blocks[block].terminator.kind)
                && then_block != else_block
            {
                let cond = self.value(*cond);
                let holds = if next == then_block { cond } else { self.terms.not(cond) };
                match self.solver.assume(&mut self.terms, &path, holds) {
                    Side::Feasible(narrower) => path = narrower,
                    // Nobody comes here.
                    Side::Infeasible => return vec![false, true],
                    // To know less is no harm.
                    Side::Unknown(_) => {}
                }
            }
        }
        let cond = self.value(cond);
        let negated = self.terms.not(cond);
        let mut excluded = Vec::new();
        for (outcome, holds) in [(true, cond), (false, negated)] {
            if matches!(self.solver.assume(&mut self.terms, &path, holds), Side::Infeasible) {
                excluded.push(outcome);
            }
        }
        excluded
    }

    fn fresh(&mut self, bits: u8) -> TermId {
        let name = format!("v{}", self.terms.var_count());
        self.terms.var(bits, &name)
    }

    fn value(&mut self, operand: Operand) -> TermId {
        match operand {
            Operand::Const(ty, value) => self.terms.constant(ty.bits(), value),
            Operand::Reg(reg) => match self.regs.get(&reg) {
                Some(term) => *term,
                None => {
                    let term = self.fresh(self.function.regs[reg].ty.bits());
                    self.regs.insert(reg, term);
                    term
                }
            },
        }
    }

    fn set(&mut self, reg: Reg, term: TermId) {
        let bits = self.function.regs[reg].ty.bits();
        let term = if self.terms.width(term) == bits { term } else { self.fresh(bits) };
        self.regs.insert(reg, term);
    }

    fn forget(&mut self, reg: Option<Reg>) {
        if let Some(reg) = reg {
            let term = self.fresh(self.function.regs[reg].ty.bits());
            self.regs.insert(reg, term);
        }
    }

    fn step(&mut self, inst: &Inst) {
        match &inst.kind {
            InstKind::Copy { dst, src } => {
                let value = self.value(*src);
                self.set(*dst, value);
            }
            InstKind::Bin { dst, op, a, b } => match self.binary(*op, *a, *b) {
                Some(value) => self.set(*dst, value),
                None => self.forget(Some(*dst)),
            },
            InstKind::Cmp { dst, op, a, b } => {
                let value = self.compare(*op, *a, *b);
                self.set(*dst, value);
            }
            InstKind::Cast { dst, op, src } => {
                let value = self.value(*src);
                let (from, to) = (self.terms.width(value), self.function.regs[*dst].ty.bits());
                let value = match op {
                    CastOp::Zext if to >= from => self.terms.zext(value, to),
                    CastOp::Sext if to >= from => self.terms.sext(value, to),
                    CastOp::Trunc if to <= from => self.terms.extract(value, 0, to),
                    _ => return self.forget(Some(*dst)),
                };
                self.set(*dst, value);
            }
            InstKind::SlotAddr { dst, slot } => {
                let address = match self.slots.get(slot) {
                    Some(term) => *term,
                    None => self.fresh(64),
                };
                self.slots.insert(*slot, address);
                self.set(*dst, address);
            }
            InstKind::GlobalAddr { dst, global } => {
                let address = match self.globals.get(global) {
                    Some(term) => *term,
                    None => self.fresh(64),
                };
                self.globals.insert(*global, address);
                self.set(*dst, address);
            }
            InstKind::PtrAdd { dst, base, offset } => {
                let (base, offset) = (self.value(*base), self.value(*offset));
                match self.terms.width(offset) {
                    64 => {
                        let value = self.terms.add(base, offset);
                        self.set(*dst, value);
                    }
                    _ => self.forget(Some(*dst)),
                }
            }
            InstKind::Load { dst, addr } => {
                let (addr, bits) = (self.value(*addr), self.function.regs[*dst].ty.bits());
                // A pointer and a number of its size are not the same.
                let key = (addr, if self.function.regs[*dst].ty == Ty::Ptr { 0 } else { bits });
                let value = match self.memory.get(&key) {
                    Some(value) => *value,
                    None => self.fresh(bits),
                };
                self.memory.insert(key, value);
                self.set(*dst, value);
            }
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => {
                self.memory.clear();
                self.slots.remove(slot);
            }
            InstKind::Store { .. } | InstKind::MemCopy { .. } | InstKind::MemSet { .. } => self.memory.clear(),
            InstKind::Point { .. } => {}
            InstKind::Call { dst, .. } | InstKind::Builtin { dst, .. } => {
                self.memory.clear();
                self.forget(*dst);
            }
            InstKind::Float { dst, .. } | InstKind::PtrDiff { dst, .. } => self.forget(Some(*dst)),
        }
    }

    fn binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Option<TermId> {
        let amount = match b {
            Operand::Const(_, amount) => Some(amount),
            Operand::Reg(_) => None,
        };
        let (a, b) = (self.value(a), self.value(b));
        let width = self.terms.width(a);
        let is_plain = match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor => true,
            BinOp::UDiv | BinOp::URem => amount.is_some_and(|by| by != 0),
            BinOp::SDiv | BinOp::SRem => amount.is_some_and(|by| by != 0 && by >> (width - 1) == 0),
            BinOp::Shl | BinOp::LShr | BinOp::AShr => amount.is_some_and(|by| by < u64::from(width)),
        };
        (is_plain && self.terms.width(b) == width).then(|| self.terms.bin(solver_op(op), a, b))
    }

    fn compare(&mut self, op: CmpOp, a: Operand, b: Operand) -> TermId {
        let (a, b) = (self.value(a), self.value(b));
        if self.terms.width(a) != self.terms.width(b) {
            return self.fresh(1);
        }
        match op {
            CmpOp::Eq => self.terms.eq(a, b),
            CmpOp::Ne => self.terms.ne(a, b),
            CmpOp::Ult => self.terms.cmp(Rel::Ult, a, b),
            CmpOp::Ule => self.terms.cmp(Rel::Ule, a, b),
            CmpOp::Slt => self.terms.cmp(Rel::Slt, a, b),
            CmpOp::Sle => self.terms.cmp(Rel::Sle, a, b),
        }
    }
}
