//! Dead edges: outcomes of branches that no state has, whatever happened before, for example `(size_t)n != n` or a
//! check repeated a few lines later.
//!
//! A branch is executed symbolically with the blocks before it, as far back as each has one predecessor. At a join each
//! predecessor is followed, up to a limit: an outcome is excluded if it is excluded on every path. At the start of a
//! path everything is unknown: registers, and memory, which only stays unchanged until a write. So this also works
//! behind calls that are not modelled, where the other proofs know nothing. Unmodelled instructions produce fresh
//! variables.
//!
//! Pointers are unconstrained integers here: no two objects are known to be disjoint.

use crate::exec::instructions::arith::solver_op;
use crate::prover::c;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use touchstone_base::{Deadline, Id};
use touchstone_ir::{
    BinOp, BlockId, Builtin, CastOp, Cfg, CmpOp, Function, GlobalId, Inst, InstKind, Operand, Reg, SlotId, SwitchArm,
    TermKind, Ty,
};
use touchstone_solver::{Path, QueryLog, Rel, Side, Solver, TermId, Terms};

/// The maximum number of blocks before a branch.
const MAX_BLOCKS: usize = 16;
/// The maximum numbers of joins before a branch, and of paths to it.
const MAX_JOINS: usize = 3;
const MAX_PATHS: usize = 24;
/// The maximum number of arms of a switch that are modelled.
const MAX_SWITCH_ARMS: usize = 64;
/// The maximum number of conflicts per query.
const MAX_CONFLICTS: u64 = 200;

/// Outcomes of branches that no run takes.
pub(crate) type DeadEdges = BTreeSet<(BlockId, bool)>;

/// Returns the outcomes of a function's branches that no state has.
pub(crate) fn dead_edges(function: &Function, config: &crate::config::Config) -> DeadEdges {
    let deadline = config.deadline;
    let mut dead = DeadEdges::new();
    let resumes = function.blocks.values().flat_map(|block| &block.insts).any(|inst| is_mark(&inst.kind));
    // Control may arrive at blocks without an edge.
    if resumes {
        return dead;
    }
    let cfg = Cfg::new(function);
    for block in function.blocks.ids() {
        if deadline.is_over() {
            break;
        }
        if let TermKind::Branch { cond, .. } = &function.blocks[block].terminator.kind {
            let mut ways = BackwardWalk {
                function,
                cfg: &cfg,
                deadline,
                query_log: config.query_log.as_ref(),
                cond: *cond,
                left: MAX_PATHS,
            };
            for outcome in ways.excluded(vec![block], MAX_JOINS) {
                dead.insert((block, outcome));
            }
        }
    }
    dead
}

/// Returns true if control may arrive here without an edge of the function.
pub(super) fn is_mark(kind: &InstKind) -> bool {
    matches!(kind, InstKind::Builtin { builtin: Builtin::C(builtin), .. } if c::is_mark(*builtin))
}

/// A walk from a branch backwards over the paths to it.
struct BackwardWalk<'m> {
    function: &'m Function,
    cfg: &'m Cfg,
    deadline: Deadline,
    query_log: Option<&'m Arc<dyn QueryLog>>,
    cond: Operand,
    /// The number of paths left.
    left: usize,
}

impl BackwardWalk<'_> {
    /// Returns the outcomes that no run has that takes these blocks, given in reverse order.
    fn excluded(&mut self, mut way: Vec<BlockId>, joins: usize) -> Vec<bool> {
        let mut before = self.before(&way);
        while let [only] = before.as_slice()
            && way.len() < MAX_BLOCKS
        {
            way.push(*only);
            before = self.before(&way);
        }
        if self.left == 0 || self.deadline.is_over() {
            return Vec::new();
        }
        self.left -= 1;
        let chain: Vec<BlockId> = way.iter().rev().copied().collect();
        let known = ChainExecutor::new(self.function, self.deadline, self.query_log).excluded(&chain, self.cond);
        if !known.is_empty() || joins == 0 || before.len() < 2 || way.len() >= MAX_BLOCKS {
            return known;
        }
        let mut everywhere = vec![false, true];
        for block in before {
            let longer = way.iter().copied().chain([block]).collect();
            let excluded = self.excluded(longer, joins - 1);
            everywhere.retain(|outcome| excluded.contains(outcome));
            if everywhere.is_empty() {
                break;
            }
        }
        everywhere
    }

    /// Returns the predecessors of the first block, if they are its only origins.
    fn before(&self, way: &[BlockId]) -> Vec<BlockId> {
        let first = way[way.len() - 1];
        let all = self.cfg.predecessors(first);
        let goes_on = |block: &BlockId| {
            matches!(
                self.function.blocks[*block].terminator.kind,
                TermKind::Jump(_) | TermKind::Branch { .. } | TermKind::Switch { .. }
            )
        };
        // Control enters the entry block from outside, too.
        let known = first != BlockId::new(0) && all.iter().all(|block| goes_on(block) && !way.contains(block));
        let mut blocks = if known { all.to_vec() } else { Vec::new() };
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }
}

/// The symbolic execution of one chain of blocks.
struct ChainExecutor<'m> {
    function: &'m Function,
    terms: Terms,
    solver: Solver,
    regs: FxHashMap<Reg, TermId>,
    slots: FxHashMap<SlotId, TermId>,
    globals: FxHashMap<GlobalId, TermId>,
    /// The contents of memory by address and width, since the last write.
    memory: FxHashMap<(TermId, u8), TermId>,
}

impl ChainExecutor<'_> {
    fn new<'f>(function: &'f Function, deadline: Deadline, query_log: Option<&Arc<dyn QueryLog>>) -> ChainExecutor<'f> {
        let config = touchstone_solver::Config {
            conflicts: Some(MAX_CONFLICTS),
            deadline,
            query_log: query_log.cloned(),
            ..Default::default()
        };
        ChainExecutor {
            function,
            terms: Terms::new(),
            solver: Solver::new(config),
            regs: FxHashMap::default(),
            slots: FxHashMap::default(),
            globals: FxHashMap::default(),
            memory: FxHashMap::default(),
        }
    }

    /// Returns the outcomes that the condition at the end of a chain never has.
    fn excluded(&mut self, chain: &[BlockId], cond: Operand) -> Vec<bool> {
        let mut path = Path::new();
        for (at, &block) in chain.iter().enumerate() {
            let function = self.function;
            for inst in &function.blocks[block].insts {
                self.step(inst);
            }
            let Some(&next) = chain.get(at + 1) else { continue };
            if let Some(holds) = self.edge_condition(&function.blocks[block].terminator.kind, next) {
                match self.solver.assume(&mut self.terms, &path, holds) {
                    Side::Feasible(narrower) => path = narrower,
                    // The chain is infeasible.
                    Side::Infeasible => return vec![false, true],
                    // Knowing less is sound.
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

    /// Returns the condition of the edge to a block; `None` if there is none.
    fn edge_condition(&mut self, kind: &TermKind, next: BlockId) -> Option<TermId> {
        match kind {
            TermKind::Branch { cond, then_block, else_block, .. } if then_block != else_block => {
                let cond = self.value(*cond);
                Some(if next == *then_block { cond } else { self.terms.not(cond) })
            }
            TermKind::Switch { value, arms, default, .. } if arms.len() <= MAX_SWITCH_ARMS => {
                let value = self.value(*value);
                let (mut here, mut elsewhere) = (self.terms.constant(1, 0), self.terms.constant(1, 0));
                for arm in arms {
                    let inside = self.in_arm(value, arm);
                    let side = if arm.target == next { &mut here } else { &mut elsewhere };
                    *side = self.terms.or(*side, inside);
                }
                let others = self.terms.not(elsewhere);
                Some(if *default == next { others } else { here })
            }
            _ => None,
        }
    }

    fn in_arm(&mut self, value: TermId, arm: &SwitchArm) -> TermId {
        let width = self.terms.width(value);
        let (low, high) = (self.terms.constant(width, arm.low), self.terms.constant(width, arm.high));
        if arm.low == arm.high {
            return self.terms.eq(value, low);
        }
        let rel = if arm.signed { Rel::Sle } else { Rel::Ule };
        let (above, below) = (self.terms.cmp(rel, low, value), self.terms.cmp(rel, value, high));
        self.terms.and(above, below)
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
                // A pointer and an integer of its size are different values.
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
            InstKind::Builtin { dst: None, builtin: Builtin::ObserveMember | Builtin::CastPointee, .. } => {}
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
