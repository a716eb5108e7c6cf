//! What one probe says of several places.
//!
//! A probe costs a store each time that control passes it. Where nothing can happen between two places of a function, and
//! control gets to the second only from the first, one probe speaks for both: an outcome of a decision is known from the
//! next decision, and a statement from the outcome or the statement before it.
//!
//! "Nothing can happen" means: no call, and, where the compiler keeps the order of what it compiles ([`Order::Kept`]), no
//! access that could fault and no division that could trap. So a run that crashes, exits or is killed by its own deed leaves
//! what it would have left with all probes. An optimiser moves loads and divisions before probes anyway: there a crash may
//! take the outcome before it along, with all probes or with fewer.

use std::collections::BTreeMap;
use touchstone_base::IndexMap;
use touchstone_criteria::{DecisionGraph, DecisionStep};
use touchstone_ir::{
    BinOp, BlockId, BranchRole, Builtin, Cfg, CondId, CondTag, DecisionId, Function, GlobalId, Inst, InstKind, Module,
    Operand, PointId, PointKind, Reg, SlotId, TermKind,
};

/// What comes immediately before a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrecedingProbe {
    /// Another statement.
    Statement(PointId),
    /// The end of a decision.
    Outcome(DecisionId, bool),
}

/// Whether things happen in the order of the source, as far as a crash shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InstructionOrder {
    /// They do.
    Kept,
    /// An optimiser looks only at what a program that doesn't crash can see.
    Optimised,
}

/// Where control goes in one function.
pub(crate) struct SharingAnalysis<'a> {
    function: &'a Function,
    graphs: &'a [DecisionGraph],
    cfg: Cfg,
    /// By block: whether each instruction is one that nothing can happen in.
    quiet: IndexMap<BlockId, Vec<bool>>,
    /// By condition: the blocks that end with it.
    asked: BTreeMap<(DecisionId, CondId), Vec<BlockId>>,
    /// By statement: where it stands; `None` if in several places.
    statements: BTreeMap<PointId, Option<(BlockId, usize)>>,
}

/// Blocks of a straight line that are looked at.
const MAX_STRAIGHT_LINE_BLOCKS: usize = 16;

impl<'a> SharingAnalysis<'a> {
    /// `graphs` are the function's decisions. `None` where control may go ways that are not known.
    pub(crate) fn new(
        module: &Module,
        function: &'a Function,
        graphs: &'a [DecisionGraph],
        order: InstructionOrder,
    ) -> Option<SharingAnalysis<'a>> {
        let ends = function.blocks.values().map(|block| &block.terminator.kind);
        if ends.into_iter().any(|kind| matches!(kind, TermKind::Unsupported(_))) {
            return None;
        }
        let mut asked: BTreeMap<(DecisionId, CondId), Vec<BlockId>> = BTreeMap::new();
        let mut statements = BTreeMap::new();
        for (id, block) in function.blocks.iter() {
            if let Some(tag) = tag(&block.terminator.kind) {
                asked.entry((tag.decision, tag.condition)).or_default().push(id);
            }
            for (at, inst) in block.insts.iter().enumerate() {
                if let InstKind::Point { point } = inst.kind
                    && function.points[point].kind == PointKind::Statement
                {
                    statements.entry(point).and_modify(|place| *place = None).or_insert(Some((id, at)));
                }
            }
        }
        let quiet = function.blocks.values().map(|block| quiet(module, function, &block.insts, order)).collect();
        Some(SharingAnalysis { function, graphs, cfg: Cfg::new(function), quiet, asked, statements })
    }

    /// The decision that is evaluated next, to its end, after an outcome of this one, and never otherwise.
    pub(crate) fn decision_after(&self, decision: DecisionId, value: bool) -> Option<DecisionId> {
        let mut block = self.only_entry(decision, value)?;
        for _ in 0..MAX_STRAIGHT_LINE_BLOCKS {
            match self.end(block)? {
                TermKind::Jump(next) if *self.cfg.predecessors(*next) == [block] => block = *next,
                kind => {
                    let CondTag { decision: next, condition } = tag(kind)?;
                    let graph = &self.graphs[index(next)];
                    let is_start =
                        matches!(graph.start, DecisionStep::Node(node) if graph.nodes[node].condition == condition);
                    return (is_start && next != decision && self.is_quiet(next)).then_some(next);
                }
            }
        }
        None
    }

    /// What control has just passed when it gets to a statement, and passes only then.
    pub(crate) fn before(&self, statement: PointId) -> Option<PrecedingProbe> {
        let (mut block, mut at) = (*self.statements.get(&statement)?)?;
        for _ in 0..MAX_STRAIGHT_LINE_BLOCKS {
            for before in (0..at).rev() {
                match self.function.blocks[block].insts[before].kind {
                    InstKind::Point { point } if self.statements.contains_key(&point) => {
                        return self.statements[&point].map(|_| PrecedingProbe::Statement(point));
                    }
                    _ if !self.quiet[block][before] => return None,
                    _ => {}
                }
            }
            let [from] = self.cfg.predecessors(block) else { break };
            if !matches!(self.function.blocks[*from].terminator.kind, TermKind::Jump(_)) {
                break;
            }
            (block, at) = (*from, self.function.blocks[*from].insts.len());
        }
        let from = self.cfg.predecessors(block).first()?;
        let decision = tag(&self.function.blocks[*from].terminator.kind)?.decision;
        let value = [false, true].into_iter().find(|value| self.only_entry(decision, *value) == Some(block))?;
        Some(PrecedingProbe::Outcome(decision, value))
    }

    /// The block that an outcome of a decision leads to, if nothing else does.
    fn only_entry(&self, decision: DecisionId, value: bool) -> Option<BlockId> {
        let mut edges: Vec<(BlockId, bool)> = Vec::new();
        let mut entry = None;
        for node in self.graphs[index(decision)].nodes.values() {
            for outcome in
                [false, true].into_iter().filter(|at| node.edges[usize::from(*at)].target == DecisionStep::Done(value))
            {
                // A condition that stands in several places of the decision ends it in some of them only.
                let [from] = self.asked.get(&(decision, node.condition))?.as_slice() else { return None };
                if edges.contains(&(*from, outcome)) {
                    return None;
                }
                edges.push((*from, outcome));
                let to = self.target(*from, outcome)?;
                if entry.is_some_and(|entry| entry != to) {
                    return None;
                }
                entry = Some(to);
            }
        }
        let entry = entry?;
        let leads = |from: BlockId, outcome: bool| self.target(from, outcome) == Some(entry);
        let only = self.cfg.predecessors(entry).iter().all(|from| {
            let known = |outcome: bool| !leads(*from, outcome) || edges.contains(&(*from, outcome));
            tag(&self.function.blocks[*from].terminator.kind).is_some() && known(false) && known(true)
        });
        let is_first = self.function.blocks.iter().next().is_some_and(|(first, _)| first == entry);
        (only && !is_first).then_some(entry)
    }

    /// Whether a decision that begins to be evaluated is so to its end.
    fn is_quiet(&self, decision: DecisionId) -> bool {
        let graph = &self.graphs[index(decision)];
        graph.nodes.values().all(|node| {
            let blocks = self.asked.get(&(decision, node.condition)).map_or(&[][..], Vec::as_slice);
            let [from] = blocks else { return false };
            [false, true].into_iter().all(|outcome| match node.edges[usize::from(outcome)].target {
                DecisionStep::Done(_) => true,
                DecisionStep::Node(next) => {
                    self.gets_to(self.target(*from, outcome), decision, graph.nodes[next].condition)
                }
            })
        })
    }

    /// Whether control surely gets from a block to a condition.
    fn gets_to(&self, block: Option<BlockId>, decision: DecisionId, condition: CondId) -> bool {
        let mut block = block;
        for _ in 0..MAX_STRAIGHT_LINE_BLOCKS {
            let Some(at) = block else { return false };
            match self.end(at) {
                Some(TermKind::Jump(next)) => block = Some(*next),
                Some(kind) => return tag(kind) == Some(CondTag { decision, condition }),
                None => return false,
            }
        }
        false
    }

    /// How a block ends, if nothing can happen in it.
    fn end(&self, block: BlockId) -> Option<&TermKind> {
        self.quiet[block].iter().all(|quiet| *quiet).then_some(&self.function.blocks[block].terminator.kind)
    }

    fn target(&self, block: BlockId, outcome: bool) -> Option<BlockId> {
        match &self.function.blocks[block].terminator.kind {
            TermKind::Branch { then_block, else_block, .. } => Some(if outcome { *then_block } else { *else_block }),
            _ => None,
        }
    }
}

fn index(decision: DecisionId) -> usize {
    touchstone_base::Id::index(decision)
}

fn tag(kind: &TermKind) -> Option<CondTag> {
    match kind {
        TermKind::Branch { role: BranchRole::Condition, tag, .. } => *tag,
        _ => None,
    }
}

/// Where an address of this block leads.
#[derive(Clone, Copy)]
enum AddressRoot {
    Slot(SlotId),
    Global(GlobalId),
}

/// By instruction of a block: whether nothing can happen in it.
fn quiet(module: &Module, function: &Function, insts: &[Inst], order: InstructionOrder) -> Vec<bool> {
    let mut known: BTreeMap<Reg, (AddressRoot, u64)> = BTreeMap::new();
    // What an access certainly reaches.
    let reached = |known: &BTreeMap<Reg, (AddressRoot, u64)>, address: &Operand, bytes: u64| {
        let Operand::Reg(reg) = address else { return None };
        let (root, offset) = *known.get(reg)?;
        let size = match root {
            AddressRoot::Slot(slot) => function.slots[slot].size,
            // One that is defined elsewhere may be weak.
            AddressRoot::Global(global) if module.globals[global].init.is_none() => return None,
            AddressRoot::Global(global) => module.globals[global].size,
        };
        offset.checked_add(bytes).filter(|end| *end <= size).map(|_| root)
    };
    let is_constant =
        |root: AddressRoot| matches!(root, AddressRoot::Global(global) if module.globals[global].constant);
    let width = |operand: &Operand| match operand {
        Operand::Reg(reg) => u64::from(function.regs[*reg].ty.bytes()),
        Operand::Const(ty, _) => u64::from(ty.bytes()),
    };
    let mut made = Vec::with_capacity(insts.len());
    for inst in insts {
        let quiet = match &inst.kind {
            InstKind::Copy { .. }
            | InstKind::Cmp { .. }
            | InstKind::Cast { .. }
            | InstKind::Float { .. }
            | InstKind::SlotAddr { .. }
            | InstKind::GlobalAddr { .. }
            | InstKind::PtrAdd { .. }
            | InstKind::PtrDiff { .. }
            | InstKind::SlotBegin { .. }
            | InstKind::SlotEnd { .. }
            | InstKind::Point { .. } => true,
            InstKind::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, .. } => {
                order == InstructionOrder::Optimised
            }
            InstKind::Bin { .. } => true,
            InstKind::Load { .. } | InstKind::Store { .. } if order == InstructionOrder::Optimised => true,
            InstKind::Load { dst, addr } => reached(&known, addr, width(&Operand::Reg(*dst))).is_some(),
            InstKind::Store { addr, value } => {
                reached(&known, addr, width(value)).is_some_and(|root| !is_constant(root))
            }
            InstKind::MemCopy { .. } | InstKind::MemSet { .. } => order == InstructionOrder::Optimised,
            // These only say something to others.
            InstKind::Builtin { builtin: Builtin::Look | Builtin::TakeFor | Builtin::Settle, .. } => true,
            InstKind::Call { .. } | InstKind::Builtin { .. } => false,
        };
        made.push(quiet);
        if let Some(dst) = inst.kind.dst() {
            let address = match &inst.kind {
                InstKind::SlotAddr { slot, .. } => Some((AddressRoot::Slot(*slot), 0)),
                InstKind::GlobalAddr { global, .. } => Some((AddressRoot::Global(*global), 0)),
                InstKind::Copy { src: Operand::Reg(from), .. } => known.get(from).copied(),
                InstKind::PtrAdd { base: Operand::Reg(base), offset: Operand::Const(_, value), .. } => {
                    let moved = |(root, offset): &(AddressRoot, u64)| Some((*root, offset.checked_add(*value)?));
                    known.get(base).and_then(moved)
                }
                _ => None,
            };
            match address {
                Some(address) => known.insert(dst, address),
                None => known.remove(&dst),
            };
        }
    }
    made
}
