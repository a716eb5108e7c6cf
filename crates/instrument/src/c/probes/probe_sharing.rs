//! Sharing of probes: one probe can record several program points.
//!
//! A probe costs one store at each execution. If nothing observable happens between two points of a function and the
//! second is reached only from the first, one probe covers both: the next decision implies an outcome of the decision
//! before it, and a statement is implied by the outcome or the statement before it.
//!
//! Nothing observable is: no call, and, if the compiler preserves the order ([`InstructionOrder::Kept`]), no access
//! that could fault and no division that could trap. So a run that crashes, exits or is killed leaves the same hits as
//! with all probes. An optimiser moves loads and divisions before probes anyway: there a crash may lose the outcome
//! before it, with or without sharing.

use std::collections::BTreeMap;
use touchstone_base::IndexMap;
use touchstone_criteria::{DecisionGraph, DecisionStep};
use touchstone_ir::{
    BinOp, BlockId, BranchRole, Builtin, Cfg, CondId, CondTag, DecisionId, Function, GlobalId, Inst, InstKind, Module,
    Operand, PointId, PointKind, Reg, SlotId, TermKind,
};

/// The program point immediately before a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrecedingProbe {
    /// Another statement.
    Statement(PointId),
    /// The end of a decision, with its outcome.
    Outcome(DecisionId, bool),
}

/// The relation between the order of the source and of the compiled code, as far as a crash can show it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InstructionOrder {
    /// The compiler preserves the order.
    Kept,
    /// An optimiser may reorder whatever a program without crashes can't observe.
    Optimised,
}

/// The control flow of one function.
pub(crate) struct SharingAnalysis<'a> {
    function: &'a Function,
    graphs: &'a [DecisionGraph],
    cfg: Cfg,
    /// For each block, true for each instruction that can't fault or have an observable effect.
    quiet: IndexMap<BlockId, Vec<bool>>,
    /// For each condition, the blocks that end with it.
    asked: BTreeMap<(DecisionId, CondId), Vec<BlockId>>,
    /// For each statement, its position, or `None` if it has several.
    statements: BTreeMap<PointId, Option<(BlockId, usize)>>,
}

/// The maximum number of blocks of a straight line.
const MAX_STRAIGHT_LINE_BLOCKS: usize = 16;

impl<'a> SharingAnalysis<'a> {
    /// Creates the analysis; `graphs` are the function's decisions. Returns `None` if the control flow is not known
    /// completely.
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

    /// Returns the decision that is completely evaluated after an outcome of this one, and only then.
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

    /// Returns the point that control passes immediately before a statement, and only then.
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

    /// Returns the block that is entered by an outcome of a decision and nothing else.
    fn only_entry(&self, decision: DecisionId, value: bool) -> Option<BlockId> {
        let mut edges: Vec<(BlockId, bool)> = Vec::new();
        let mut entry = None;
        for node in self.graphs[index(decision)].nodes.values() {
            for outcome in
                [false, true].into_iter().filter(|at| node.edges[usize::from(*at)].target == DecisionStep::Done(value))
            {
                // A condition with several nodes ends the decision at some of them only.
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
        let is_entry_edge = |from: BlockId, outcome: bool| self.target(from, outcome) == Some(entry);
        let only = self.cfg.predecessors(entry).iter().all(|from| {
            let known = |outcome: bool| !is_entry_edge(*from, outcome) || edges.contains(&(*from, outcome));
            tag(&self.function.blocks[*from].terminator.kind).is_some() && known(false) && known(true)
        });
        let is_first = self.function.blocks.iter().next().is_some_and(|(first, _)| first == entry);
        (only && !is_first).then_some(entry)
    }

    /// Returns true if the evaluation of a decision is always completed.
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

    /// Returns true if control certainly reaches a condition from a block.
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

    /// Returns the terminator of a block without observable instructions.
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

/// The object that an address of this block points into.
#[derive(Clone, Copy)]
enum AddressRoot {
    Slot(SlotId),
    Global(GlobalId),
}

/// Returns true for each instruction of a block that can't fault or have an observable effect.
fn quiet(module: &Module, function: &Function, insts: &[Inst], order: InstructionOrder) -> Vec<bool> {
    let mut known: BTreeMap<Reg, (AddressRoot, u64)> = BTreeMap::new();
    // Returns the object that an access certainly stays within.
    let reached = |known: &BTreeMap<Reg, (AddressRoot, u64)>, address: &Operand, bytes: u64| {
        let Operand::Reg(reg) = address else { return None };
        let (root, offset) = *known.get(reg)?;
        let size = match root {
            AddressRoot::Slot(slot) => function.slots[slot].size,
            // An external global may be a weak symbol.
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
            // These only pass information to the analysis.
            InstKind::Builtin {
                builtin: Builtin::ObserveMember | Builtin::CastPointee | Builtin::ZeroUninitialised,
                ..
            } => true,
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
