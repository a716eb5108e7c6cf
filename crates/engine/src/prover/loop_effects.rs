//! The effects of a loop: the registers that it assigns, and the memory that its writes can hit. Everything else keeps
//! its value on entry, which is the basis of induction over the loop.
//!
//! The analysis is static: pointers are tracked through copies and pointer arithmetic inside of the loop; one that is
//! loaded, returned or converted from an integer may point anywhere. Calls include all writes of their transitive
//! callees.

use crate::prover::c;
use crate::prover::function_facts::{derived_slots, escaped};
use crate::prover::transfer::may_fail;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_criteria::{DecisionStep, Goal, GoalIndex};
use touchstone_ir::{
    BlockId, Builtin, CallGraph, Cfg, CmpOp, CondTag, FuncId, Function, GlobalId, InstKind, Module, Operand, Reg,
    SlotId, TermKind, Ty, possible_callees,
};

/// An origin of a pointer in a loop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum PointerOrigin {
    /// The value of a register on entry to the loop.
    Entry(Reg),
    /// A slot of the frame.
    Slot(SlotId),
    /// A global.
    Global(GlobalId),
}

/// All origins of a pointer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PointerOrigins {
    pub known: BTreeSet<PointerOrigin>,
    /// True if the pointer may point anywhere.
    pub anywhere: bool,
}

impl PointerOrigins {
    fn of(root: PointerOrigin) -> PointerOrigins {
        PointerOrigins { known: BTreeSet::from([root]), anywhere: false }
    }

    fn anywhere() -> PointerOrigins {
        PointerOrigins { known: BTreeSet::new(), anywhere: true }
    }

    /// Adds origins; returns true if there was a new one.
    fn add(&mut self, other: &PointerOrigins) -> bool {
        let before = (self.known.len(), self.anywhere);
        self.known.extend(&other.known);
        self.anywhere |= other.anywhere;
        before != (self.known.len(), self.anywhere)
    }
}

/// The effects of one loop.
#[derive(Debug)]
pub(crate) struct LoopEffects {
    pub blocks: BTreeSet<BlockId>,
    /// Registers that the loop assigns.
    pub changed: BTreeSet<Reg>,
    /// Registers that are live at the head.
    pub live: BTreeSet<Reg>,
    /// The origins of pointers in assigned registers.
    pub pointers: BTreeMap<Reg, PointerOrigins>,
    /// The origins of pointers that the loop writes through.
    pub writes: PointerOrigins,
    /// Slots with a lifetime that begins in the loop.
    pub begun: BTreeSet<SlotId>,
    /// True if uninitialised bytes may be copied.
    pub copies: bool,
    /// The global of the error number.
    error_number: Option<GlobalId>,
}

/// The loops of one function.
pub(crate) struct Loops {
    /// The loops by head; `None` for a loop that is not supported.
    pub by_head: BTreeMap<BlockId, Option<LoopEffects>>,
    /// Slots that escape.
    pub escaped: BTreeSet<SlotId>,
    /// Constants in the code.
    pub constants: BTreeSet<u64>,
    /// Constants that the code assigns.
    pub assigned: BTreeSet<u64>,
    /// Divisors of remainder operations.
    pub moduli: BTreeSet<u64>,
    /// True if the code has signed comparisons, and if it has unsigned ones.
    pub compares: (bool, bool),
}

impl Loops {
    pub fn of(module: &Module, func: FuncId, calls: &CallGraph, watch: &GoalIndex) -> Loops {
        let function = &module.functions[func];
        let cfg = Cfg::new(function);
        let live = live_registers(function, func, &cfg, watch);
        let by_head = cfg.loops().values().map(|found| {
            let blocks: BTreeSet<BlockId> = found.blocks.iter().copied().collect();
            let treated =
                is_reducible(&cfg, found.head, &blocks) && !splits_decision(function, func, found.head, watch, &cfg);
            let made =
                treated.then(|| LoopEffects::of(module, function, blocks, &live[found.head.index()], calls)).flatten();
            (found.head, made)
        });
        let mut loops = Loops {
            by_head: by_head.collect(),
            escaped: escaped(function, &derived_slots(function)),
            constants: BTreeSet::new(),
            assigned: BTreeSet::new(),
            moduli: BTreeSet::new(),
            compares: (false, false),
        };
        // If a loop is irreducible, the function has no reliable loop heads.
        let proper =
            cfg.loops().values().all(|found| is_reducible(&cfg, found.head, &found.blocks.iter().copied().collect()));
        if !proper {
            loops.by_head.values_mut().for_each(|found| *found = None);
        }
        loops.collect_numbers(function);
        loops
    }

    fn collect_numbers(&mut self, function: &Function) {
        for block in function.blocks.values() {
            for inst in &block.insts {
                for operand in inst.kind.operands() {
                    if let Operand::Const(Ty::Int(_), value) = operand {
                        self.constants.insert(value);
                    }
                }
                match inst.kind {
                    InstKind::Copy { src: Operand::Const(_, value), .. }
                    | InstKind::Store { value: Operand::Const(_, value), .. } => {
                        self.assigned.insert(value);
                    }
                    InstKind::Bin { op, b: Operand::Const(_, value), .. } if value > 1 => {
                        use touchstone_ir::BinOp;
                        match op {
                            BinOp::URem | BinOp::SRem => {
                                self.moduli.insert(value);
                            }
                            BinOp::And if value.checked_add(1).is_some_and(u64::is_power_of_two) => {
                                self.moduli.insert(value + 1);
                            }
                            _ => {}
                        }
                    }
                    InstKind::Cmp { op: CmpOp::Slt | CmpOp::Sle, .. } => self.compares.0 = true,
                    InstKind::Cmp { op: CmpOp::Ult | CmpOp::Ule, .. } => self.compares.1 = true,
                    _ => {}
                }
            }
            if let TermKind::Switch { arms, .. } = &block.terminator.kind {
                self.constants.extend(arms.iter().flat_map(|arm| [arm.low, arm.high]));
            }
        }
        // Parity is always tried.
        self.moduli.insert(2);
    }
}

impl LoopEffects {
    /// Returns the effects of a loop; `None` if objects may be freed in it, or an exception is caught there.
    fn of(
        module: &Module,
        function: &Function,
        blocks: BTreeSet<BlockId>,
        live: &BTreeSet<Reg>,
        calls: &CallGraph,
    ) -> Option<LoopEffects> {
        // An exception arrives from elsewhere: such a loop is not supported.
        if blocks.iter().any(|block| matches!(function.blocks[*block].terminator.kind, TermKind::Catch { .. })) {
            return None;
        }
        let insts = || blocks.iter().flat_map(|block| &function.blocks[*block].insts);
        let changed: BTreeSet<Reg> = insts().filter_map(|inst| inst.kind.dst()).collect();
        let from = roots(function, insts().map(|inst| &inst.kind), |reg| PointerOrigins::of(PointerOrigin::Entry(reg)));
        let mut made = LoopEffects {
            pointers: changed.iter().map(|reg| (*reg, from[reg.index()].clone())).collect(),
            changed,
            live: live.clone(),
            writes: PointerOrigins::default(),
            begun: BTreeSet::new(),
            copies: false,
            error_number: module.error_number(),
            blocks: BTreeSet::new(),
        };
        let mut callees = BTreeSet::new();
        for inst in insts() {
            match &inst.kind {
                InstKind::SlotBegin { slot } => {
                    made.begun.insert(*slot);
                    made.writes.add(&PointerOrigins::of(PointerOrigin::Slot(*slot)));
                }
                // An object that is freed in one iteration is dead in the next.
                InstKind::SlotEnd { .. } => return None,
                InstKind::Call { dst, callee, args } => {
                    for callee in possible_callees(module, function, *dst, callee, args) {
                        callees.extend(calls.reachable_from(callee));
                    }
                }
                other => made.add_write(other, &from)?,
            }
        }
        for callee in callees {
            made.add_callee(&module.functions[callee])?;
        }
        made.blocks = blocks;
        Some(made)
    }

    fn add_write(&mut self, inst: &InstKind, from: &[PointerOrigins]) -> Option<()> {
        if matches!(inst, InstKind::Builtin { builtin, .. } if may_fail(*builtin)) {
            self.writes.known.extend(self.error_number.map(PointerOrigin::Global));
        }
        let target = match inst {
            InstKind::Store { addr, .. } => Some(addr),
            InstKind::MemSet { dst, .. } => Some(dst),
            InstKind::MemCopy { dst, .. } => {
                self.copies = true;
                Some(dst)
            }
            InstKind::Builtin { builtin, args, .. } => match builtin {
                Builtin::MakeSymbolic(_) | Builtin::ZeroUninitialised => args.first(),
                // Effects of other code are not modelled; the size of an allocation may differ in each iteration.
                Builtin::RunOnly
                | Builtin::MayWrite
                | Builtin::HavocPointee
                | Builtin::Called
                | Builtin::ReadByte
                | Builtin::Allocate => {
                    return None;
                }
                Builtin::Java(_) => None,
                Builtin::C(builtin) => match c::writes(*builtin) {
                    c::CBuiltinWrites::Nothing => None,
                    c::CBuiltinWrites::Behind(argument) => args.get(argument),
                    c::CBuiltinWrites::Unknown => return None,
                },
                Builtin::FreshInt(_)
                | Builtin::CalledAsSpecified
                | Builtin::RecordEffect(_)
                | Builtin::ObserveMember
                | Builtin::CastPointee
                | Builtin::Refresh
                | Builtin::Hang
                | Builtin::Unspecified
                | Builtin::Assume
                | Builtin::Assert
                | Builtin::ObjectSize
                | Builtin::Write
                | Builtin::ParseFloat(_)
                | Builtin::Math(..)
                | Builtin::Exit
                | Builtin::Abort => None,
            },
            _ => None,
        };
        if let Some(Operand::Reg(reg)) = target {
            self.writes.add(&from[reg.index()]);
        }
        Some(())
    }

    /// Adds the writes of a callee: its own slots die with it, its parameters may point anywhere.
    fn add_callee(&mut self, function: &Function) -> Option<()> {
        let insts = || function.blocks.values().flat_map(|block| &block.insts).map(|inst| &inst.kind);
        let params: BTreeSet<Reg> = function.params.iter().map(|param| param.reg).collect();
        let start =
            |reg: Reg| if params.contains(&reg) { PointerOrigins::anywhere() } else { PointerOrigins::default() };
        let mut from = roots(function, insts(), start);
        for roots in &mut from {
            roots.known.retain(|root| !matches!(root, PointerOrigin::Slot(_)));
        }
        insts().try_for_each(|inst| self.add_write(inst, &from))
    }
}

/// Returns for every register the origins of a pointer in it, where `start` gives those before.
fn roots<'i>(
    function: &Function,
    insts: impl Iterator<Item = &'i InstKind> + Clone,
    start: impl Fn(Reg) -> PointerOrigins,
) -> Vec<PointerOrigins> {
    let mut from: Vec<PointerOrigins> = function.regs.ids().map(start).collect();
    loop {
        let mut changed = false;
        for inst in insts.clone() {
            let Some(dst) = inst.dst() else { continue };
            let new = match inst {
                InstKind::SlotAddr { slot, .. } => PointerOrigins::of(PointerOrigin::Slot(*slot)),
                InstKind::GlobalAddr { global, .. } => PointerOrigins::of(PointerOrigin::Global(*global)),
                InstKind::Copy { src: Operand::Reg(reg), .. } | InstKind::PtrAdd { base: Operand::Reg(reg), .. } => {
                    from[reg.index()].clone()
                }
                // Null points nowhere; an integer added to it may be any address.
                InstKind::Copy { src: Operand::Const(_, 0), .. } => PointerOrigins::default(),
                _ => PointerOrigins::anywhere(),
            };
            changed |= from[dst.index()].add(&new);
        }
        if !changed {
            return from;
        }
    }
}

/// Returns true if the loop is reducible: control enters it only through its head.
fn is_reducible(cfg: &Cfg, head: BlockId, blocks: &BTreeSet<BlockId>) -> bool {
    blocks
        .iter()
        .filter(|block| **block != head)
        .all(|block| cfg.predecessors(*block).iter().all(|from| blocks.contains(from) || !cfg.is_reachable(*from)))
}

/// Returns true if a decision may be under evaluation at the head: the cut would split the evaluation.
fn splits_decision(function: &Function, func: FuncId, head: BlockId, watch: &GoalIndex, cfg: &Cfg) -> bool {
    let tag_of = |block: BlockId| match &function.blocks[block].terminator.kind {
        TermKind::Branch { tag, .. } => *tag,
        _ => None,
    };
    function.decisions.ids().any(|decision| {
        let Some(found) = watch.decision(func, decision) else { return false };
        let DecisionStep::Node(first) = found.graph.start else { return false };
        let first = CondTag { decision, condition: found.graph.nodes[first].condition };
        let mut pending = vec![head];
        let mut seen = BTreeSet::from([head]);
        while let Some(block) = pending.pop() {
            match tag_of(block) {
                Some(tag) if tag == first => continue,
                Some(tag) if tag.decision == decision => return true,
                _ => {}
            }
            pending.extend(cfg.successors(block).iter().copied().filter(|next| seen.insert(*next)));
        }
        false
    })
}

/// Returns for every block the registers that are live at its start, for the program or for a label.
fn live_registers(function: &Function, func: FuncId, cfg: &Cfg, watch: &GoalIndex) -> Vec<BTreeSet<Reg>> {
    let mut live: Vec<BTreeSet<Reg>> = vec![BTreeSet::new(); function.blocks.len()];
    let read = |operands: Vec<Operand>, now: &mut BTreeSet<Reg>| {
        for operand in operands {
            if let Operand::Reg(reg) = operand {
                now.insert(reg);
            }
        }
    };
    loop {
        let mut changed = false;
        for (block, content) in function.blocks.iter().rev() {
            let mut now: BTreeSet<Reg> =
                cfg.successors(block).iter().flat_map(|next| live[next.index()].iter().copied()).collect();
            read(content.terminator.kind.operands(), &mut now);
            for inst in content.insts.iter().rev() {
                if let Some(dst) = inst.kind.dst() {
                    now.remove(&dst);
                }
                read(inst.kind.operands(), &mut now);
                // A call may return nothing: the old value is kept then.
                if let InstKind::Call { dst: Some(dst), .. } | InstKind::Builtin { dst: Some(dst), .. } = &inst.kind {
                    now.insert(*dst);
                }
                if let InstKind::Point { point } = inst.kind {
                    for goal in watch.point(func, point) {
                        if let Goal::Label { predicate: Some(predicate), .. } = &watch.goals[*goal] {
                            predicate.add_registers(&mut now);
                        }
                    }
                }
            }
            if now != live[block.index()] {
                live[block.index()] = now;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}
