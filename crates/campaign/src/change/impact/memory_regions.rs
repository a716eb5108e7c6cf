//! Where memory may differ between two versions that run side by side, and where an address may lead: variables by themselves where
//! only their names lead to them, everything else together, by offsets where objects have classes.

use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{
    BinOp, Callee, FuncId, Function, GlobalId, Init, InstKind, Linkage, Module, Operand, Reg, SlotId, TermKind,
};

/// A part of memory. Variables are those of the new version.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Part {
    /// A variable of the frame, which nothing but its name leads to.
    Slot(SlotId),
    /// A global.
    Global(GlobalId),
    /// These bytes of any object: offset and number.
    Field(u64, u64),
    /// Anything that pointers lead to.
    Anything,
    /// What comes in and goes out: inputs that calls give, output.
    World,
    /// Which bytes were ever written.
    Definedness,
}

/// What is not known to be equal.
pub(crate) type Differing = BTreeSet<Part>;

/// Which globals only their names lead to.
pub(crate) fn only_named(module: &Module, addresses: &BTreeMap<FuncId, Addresses>) -> BTreeSet<GlobalId> {
    // Whoever writes a test can name these, and let pointers lead to them; objects with classes are never so named.
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
    addresses.values().flat_map(|addresses| &addresses.leaked_globals).for_each(|id| {
        found.remove(id);
    });
    found
}

/// Where the pointers of a function lead, as far as its own code says so.
#[derive(Default, Debug)]
pub(crate) struct Addresses {
    origins: BTreeMap<Reg, Origins>,
    /// Slots whose address is more than an address of accesses.
    pub leaked_slots: BTreeSet<SlotId>,
    pub leaked_globals: BTreeSet<GlobalId>,
}

/// What a register may be the address of.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Origins {
    pub slots: BTreeSet<SlotId>,
    pub globals: BTreeSet<GlobalId>,
    /// Also of something else.
    pub other: bool,
    /// Bytes behind where these begin, if it is one number.
    offset: Offset,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Offset {
    /// Nothing was seen yet.
    #[default]
    None,
    Known(u64),
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

impl Origins {
    fn unknown() -> Origins {
        Origins { other: true, offset: Offset::Known(0), ..Origins::default() }
    }

    /// The bytes behind the beginning, if they are known.
    pub fn offset(&self) -> Option<u64> {
        match self.offset {
            Offset::Known(offset) => Some(offset),
            Offset::None | Offset::Any => None,
        }
    }

    /// The one variable that it leads to.
    pub fn only(&self) -> Option<Variable> {
        match (self.other, self.slots.len(), self.globals.len()) {
            (false, 1, 0) => self.slots.first().copied().map(Variable::Slot),
            (false, 0, 1) => self.globals.first().copied().map(Variable::Global),
            _ => None,
        }
    }

    fn join(&mut self, other: &Origins) -> bool {
        let before = self.clone();
        self.slots.extend(&other.slots);
        self.globals.extend(&other.globals);
        self.other |= other.other;
        self.offset = self.offset.join(other.offset);
        *self != before
    }
}

/// A variable with an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Variable {
    Slot(SlotId),
    Global(GlobalId),
}

impl Addresses {
    pub fn of(function: &Function) -> Addresses {
        let mut found = Addresses::default();
        function.params.iter().for_each(|param| {
            found.origins.insert(param.reg, Origins::unknown());
        });
        while found.follow(function) {}
        found.find_leaks(function);
        found
    }

    /// What an address may lead to.
    pub fn origins(&self, operand: Operand) -> Origins {
        match operand {
            Operand::Reg(reg) => self.origins.get(&reg).cloned().unwrap_or_else(Origins::unknown),
            Operand::Const(..) => Origins { other: true, offset: Offset::Any, ..Origins::default() },
        }
    }

    /// One round; whether something new was found.
    fn follow(&mut self, function: &Function) -> bool {
        let mut changed = false;
        let from = |this: &Addresses, operand: Operand| match operand {
            Operand::Reg(reg) => this.origins.get(&reg).cloned().unwrap_or_default(),
            Operand::Const(..) => Origins::unknown(),
        };
        for block in function.blocks.values() {
            for inst in &block.insts {
                let Some(dst) = inst.kind.dst() else { continue };
                let origins = match &inst.kind {
                    InstKind::SlotAddr { slot, .. } => {
                        Origins { slots: [*slot].into(), offset: Offset::Known(0), ..Origins::default() }
                    }
                    InstKind::GlobalAddr { global, .. } => {
                        Origins { globals: [*global].into(), offset: Offset::Known(0), ..Origins::default() }
                    }
                    InstKind::Copy { src, .. } => from(self, *src),
                    InstKind::PtrAdd { base, offset, .. } => {
                        let mut base = from(self, *base);
                        base.offset = match (base.offset, offset) {
                            (Offset::Known(at), Operand::Const(_, more)) => Offset::Known(at.wrapping_add(*more)),
                            (Offset::None, _) => Offset::None,
                            _ => Offset::Any,
                        };
                        base
                    }
                    _ => Origins::unknown(),
                };
                changed |= self.origins.entry(dst).or_default().join(&origins);
            }
            if let Some(dst) = block.terminator.kind.dst() {
                changed |= self.origins.entry(dst).or_default().join(&Origins::unknown());
            }
        }
        changed
    }

    fn find_leaks(&mut self, function: &Function) {
        let mut leaked = Vec::new();
        for block in function.blocks.values() {
            for inst in &block.insts {
                match &inst.kind {
                    // Where it leads is followed, or it leads nowhere.
                    InstKind::Copy { .. }
                    | InstKind::PtrAdd { .. }
                    | InstKind::Cmp { .. }
                    | InstKind::PtrDiff { .. }
                    | InstKind::Load { .. }
                    | InstKind::MemSet { .. }
                    | InstKind::MemCopy { .. } => {}
                    InstKind::Store { value, .. } => leaked.push(*value),
                    other => leaked.extend(other.operands()),
                }
            }
            if let TermKind::Return(Some(value)) | TermKind::Throw(value) = &block.terminator.kind {
                leaked.push(*value);
            }
        }
        for operand in leaked {
            let origins = self.origins(operand);
            self.leaked_slots.extend(origins.slots);
            self.leaked_globals.extend(origins.globals);
        }
    }
}

/// Whether an instruction may go wrong by itself, whatever came before: what it needs is not there by its form alone.
pub(crate) fn may_fail(module: &Module, function: &Function, addresses: &Addresses, kind: &InstKind) -> bool {
    let fits = |address: Operand, bytes: u64| {
        let origins = addresses.origins(address);
        let size = match origins.only() {
            Some(Variable::Slot(slot)) => function.slots[slot].size,
            Some(Variable::Global(global)) => module.globals[global].size,
            None => return false,
        };
        origins.offset().and_then(|offset| offset.checked_add(bytes)).is_some_and(|end| end <= size)
    };
    // Where objects have classes, code asks before every access and every division.
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
