//! Memory regions of the relational analysis, and a flow-insensitive points-to analysis inside each function. A
//! variable whose address does not escape is a region of its own; all other memory is one region, which is divided by
//! offsets where objects have classes.

use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{
    BinOp, Callee, FuncId, Function, GlobalId, Init, InstKind, Linkage, Module, Operand, Reg, SlotId, TermKind,
};

/// A memory region. Variables are those of the new version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Region {
    /// A local variable whose address does not escape.
    Slot(SlotId),
    /// A global variable.
    Global(GlobalId),
    /// A range of bytes of any object: offset and length.
    Field(u64, u64),
    /// All memory that pointers may point to.
    Anything,
    /// The environment: inputs that calls return, and output.
    Environment,
    /// The set of bytes that have been written.
    Definedness,
}

/// Regions that are not known to be equal.
pub(crate) type DifferingRegions = BTreeSet<Region>;

/// Returns the globals that no pointer points to.
pub(crate) fn unaliased(module: &Module, addresses: &BTreeMap<FuncId, PointsToSets>) -> BTreeSet<GlobalId> {
    // A test can name these globals and let pointers point to them. With classes, tests never do that.
    let is_reachable = |linkage: Linkage| linkage != Linkage::Local && linkage != Linkage::Literal;
    let mut found: BTreeSet<GlobalId> = module
        .globals
        .iter()
        .filter(|(_, global)| module.has_classes() || !is_reachable(global.linkage))
        .map(|(id, _)| id)
        .collect();
    for piece in module.globals.values().filter_map(|global| global.init.as_ref()).flatten() {
        if let Init::GlobalAddr { global, .. } = piece {
            found.remove(global);
        }
    }
    addresses.values().flat_map(|addresses| &addresses.escaping_globals).for_each(|id| {
        found.remove(id);
    });
    found
}

/// The points-to sets of a function's registers, as far as its own code determines them.
#[derive(Default, Debug)]
pub(crate) struct PointsToSets {
    points_to: BTreeMap<Reg, PointsToSet>,
    /// Slots whose address is used for more than accesses.
    pub escaping_slots: BTreeSet<SlotId>,
    pub escaping_globals: BTreeSet<GlobalId>,
}

/// The objects that a register may point to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PointsToSet {
    pub slots: BTreeSet<SlotId>,
    pub globals: BTreeSet<GlobalId>,
    /// True if it may point to other memory as well.
    pub other: bool,
    /// The offset from the beginning of these objects, if it is one number.
    offset: Offset,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Offset {
    /// No assignment has been seen yet.
    #[default]
    None,
    RelationalState(u64),
    Any,
}

impl Offset {
    fn join(self, other: Offset) -> Offset {
        match (self, other) {
            (Offset::None, it) | (it, Offset::None) => it,
            (one, other) if one == other => one,
            _ => Offset::Any,
        }
    }
}

impl PointsToSet {
    fn unknown() -> PointsToSet {
        PointsToSet { other: true, offset: Offset::RelationalState(0), ..PointsToSet::default() }
    }

    /// Returns the offset if it is known.
    pub fn offset(&self) -> Option<u64> {
        match self.offset {
            Offset::RelationalState(offset) => Some(offset),
            Offset::None | Offset::Any => None,
        }
    }

    /// Returns the variable if it is the only object in the set.
    pub fn only(&self) -> Option<Variable> {
        match (self.other, self.slots.len(), self.globals.len()) {
            (false, 1, 0) => self.slots.first().copied().map(Variable::Slot),
            (false, 0, 1) => self.globals.first().copied().map(Variable::Global),
            _ => None,
        }
    }

    fn join(&mut self, other: &PointsToSet) -> bool {
        let before = self.clone();
        self.slots.extend(&other.slots);
        self.globals.extend(&other.globals);
        self.other |= other.other;
        self.offset = self.offset.join(other.offset);
        *self != before
    }
}

/// A variable that has an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variable {
    Slot(SlotId),
    Global(GlobalId),
}

impl PointsToSets {
    pub fn of(function: &Function) -> PointsToSets {
        let mut found = PointsToSets::default();
        function.params.iter().for_each(|param| {
            found.points_to.insert(param.reg, PointsToSet::unknown());
        });
        while found.follow(function) {}
        found.find_escapes(function);
        found
    }

    /// Returns the points-to set of an address.
    pub fn points_to(&self, operand: Operand) -> PointsToSet {
        match operand {
            Operand::Reg(reg) => self.points_to.get(&reg).cloned().unwrap_or_else(PointsToSet::unknown),
            Operand::Const(..) => PointsToSet { other: true, offset: Offset::Any, ..PointsToSet::default() },
        }
    }

    /// Propagates points-to sets through all instructions once; returns true if one grew.
    fn follow(&mut self, function: &Function) -> bool {
        let mut changed = false;
        let from = |this: &PointsToSets, operand: Operand| match operand {
            Operand::Reg(reg) => this.points_to.get(&reg).cloned().unwrap_or_default(),
            Operand::Const(..) => PointsToSet::unknown(),
        };
        for block in function.blocks.values() {
            for inst in &block.insts {
                let Some(dst) = inst.kind.dst() else { continue };
                let points_to = match &inst.kind {
                    InstKind::SlotAddr { slot, .. } => PointsToSet {
                        slots: [*slot].into(),
                        offset: Offset::RelationalState(0),
                        ..PointsToSet::default()
                    },
                    InstKind::GlobalAddr { global, .. } => PointsToSet {
                        globals: [*global].into(),
                        offset: Offset::RelationalState(0),
                        ..PointsToSet::default()
                    },
                    InstKind::Copy { src, .. } => from(self, *src),
                    InstKind::PtrAdd { base, offset, .. } => {
                        let mut base = from(self, *base);
                        base.offset = match (base.offset, offset) {
                            (Offset::RelationalState(at), Operand::Const(_, more)) => {
                                Offset::RelationalState(at.wrapping_add(*more))
                            }
                            (Offset::None, _) => Offset::None,
                            _ => Offset::Any,
                        };
                        base
                    }
                    _ => PointsToSet::unknown(),
                };
                changed |= self.points_to.entry(dst).or_default().join(&points_to);
            }
            if let Some(dst) = block.terminator.kind.dst() {
                changed |= self.points_to.entry(dst).or_default().join(&PointsToSet::unknown());
            }
        }
        changed
    }

    fn find_escapes(&mut self, function: &Function) {
        let mut escaping = Vec::new();
        for block in function.blocks.values() {
            for inst in &block.insts {
                match &inst.kind {
                    // The result is tracked, or carries no address.
                    InstKind::Copy { .. }
                    | InstKind::PtrAdd { .. }
                    | InstKind::Cmp { .. }
                    | InstKind::PtrDiff { .. }
                    | InstKind::Load { .. }
                    | InstKind::MemSet { .. }
                    | InstKind::MemCopy { .. } => {}
                    InstKind::Store { value, .. } => escaping.push(*value),
                    other => escaping.extend(other.operands()),
                }
            }
            if let TermKind::Return(Some(value)) | TermKind::Throw(value) = &block.terminator.kind {
                escaping.push(*value);
            }
        }
        for operand in escaping {
            let points_to = self.points_to(operand);
            self.escaping_slots.extend(points_to.slots);
            self.escaping_globals.extend(points_to.globals);
        }
    }
}

/// Returns true if an instruction may fail by itself: its form alone does not guarantee that it succeeds.
pub(crate) fn may_fail(module: &Module, function: &Function, addresses: &PointsToSets, kind: &InstKind) -> bool {
    let fits = |address: Operand, bytes: u64| {
        let points_to = addresses.points_to(address);
        let size = match points_to.only() {
            Some(Variable::Slot(slot)) => function.slots[slot].size,
            Some(Variable::Global(global)) => module.globals[global].size,
            None => return false,
        };
        points_to.offset().and_then(|offset| offset.checked_add(bytes)).is_some_and(|end| end <= size)
    };
    // With classes, the code checks before every access and every division.
    if module.has_classes() {
        return matches!(kind, InstKind::Call { callee: Callee::Indirect(_), .. });
    }
    match kind {
        InstKind::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, b, .. } => {
            !matches!(b, Operand::Const(_, value) if *value != 0)
        }
        InstKind::Load { dst, addr } => !fits(*addr, function.regs[*dst].ty.bytes().into()),
        InstKind::Store { addr, value } => !fits(*addr, function.operand_ty(*value).bytes().into()),
        InstKind::MemCopy { dst, src, size } => {
            let bytes = |size: &Operand| if let Operand::Const(_, size) = size { Some(*size) } else { None };
            !bytes(size).is_some_and(|bytes| fits(*dst, bytes) && fits(*src, bytes))
        }
        InstKind::MemSet { dst, size, .. } => !matches!(size, Operand::Const(_, size) if fits(*dst, *size)),
        InstKind::Call { callee: Callee::Indirect(_), .. } => true,
        _ => false,
    }
}
