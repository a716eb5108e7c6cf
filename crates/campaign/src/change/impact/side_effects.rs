//! What code may do where the two versions do not run side by side: what it writes, and whether control comes out of it at all.

use super::memory_regions::{Addresses, Differing, Part, Variable, may_fail};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{CallGraph, Callee, FuncId, GlobalId, InstKind, Module, Operand, SlotId, TermKind, Touches};

/// What some code may do.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Effects {
    /// In terms of its own version.
    pub writes: Differing,
    /// It may throw.
    pub throws: bool,
    /// It may end the program, or go nobody knows where.
    pub ends: bool,
    /// An access or a division may go wrong.
    pub fails: bool,
}

impl Effects {
    pub fn anything() -> Effects {
        Effects {
            writes: [Part::Anything, Part::World, Part::Definedness].into(),
            throws: true,
            ends: true,
            fails: true,
        }
    }

    fn writes(parts: Differing) -> Effects {
        Effects { writes: parts, ..Effects::default() }
    }

    /// Whether control may not come to its end.
    pub fn leaves(&self) -> bool {
        self.throws || self.ends || self.fails
    }

    fn add(&mut self, other: &Effects) {
        self.writes.extend(&other.writes);
        self.throws |= other.throws;
        self.ends |= other.ends;
        self.fails |= other.fails;
    }
}

/// One version, with what is known of each function.
pub(crate) struct Side<'m> {
    pub module: &'m Module,
    pub calls: CallGraph,
    pub addresses: BTreeMap<FuncId, Addresses>,
    /// Globals that only their names lead to.
    pub only_named: BTreeSet<GlobalId>,
    effects: BTreeMap<FuncId, Effects>,
}

impl<'m> Side<'m> {
    pub fn new(module: &'m Module) -> Side<'m> {
        let addresses: BTreeMap<FuncId, Addresses> =
            module.functions.iter().map(|(id, function)| (id, Addresses::of(function))).collect();
        let only_named = super::memory_regions::only_named(module, &addresses);
        let mut side = Side { module, calls: CallGraph::new(module), addresses, only_named, effects: BTreeMap::new() };
        let components = side.calls.components().to_vec();
        for component in components {
            // Callees come first; what calls itself begins with nothing, and grows.
            loop {
                let mut changed = false;
                for id in &component {
                    let effects = side.of_body(*id);
                    changed |= side.effects.get(id) != Some(&effects);
                    side.effects.insert(*id, effects);
                }
                if !changed || component.len() == 1 && !side.calls.is_recursive(component[0]) {
                    break;
                }
            }
        }
        side
    }

    fn of_body(&self, id: FuncId) -> Effects {
        let function = &self.module.functions[id];
        if !function.is_defined() {
            return Effects::anything();
        }
        let mut all = Effects::default();
        for block in function.blocks.values() {
            block.insts.iter().for_each(|inst| all.add(&self.of(id, &inst.kind)));
            all.throws |= matches!(block.terminator.kind, TermKind::Throw(_));
            all.ends |= matches!(block.terminator.kind, TermKind::Unsupported(_) | TermKind::Unreachable);
        }
        // Its frame is gone.
        all.writes.retain(|part| !matches!(part, Part::Slot(_)));
        all
    }

    /// What a call of a function may do.
    pub fn of_call(&self, id: FuncId) -> Effects {
        // In a circle, what is not known yet comes with a later round.
        self.effects.get(&id).cloned().unwrap_or_default()
    }

    /// What an instruction of a function may do.
    pub fn of(&self, func: FuncId, kind: &InstKind) -> Effects {
        let function = &self.module.functions[func];
        let addresses = &self.addresses[&func];
        let mut made = match kind {
            InstKind::Store { addr, value } => {
                let bytes = function.operand_ty(*value).bytes();
                Effects::writes(self.parts(func, *addr, Some(bytes.into())))
            }
            InstKind::MemCopy { dst, .. } | InstKind::MemSet { dst, .. } => {
                Effects::writes(self.parts(func, *dst, None))
            }
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => {
                Effects::writes([self.slot(func, *slot)].into())
            }
            InstKind::Call { callee: Callee::Direct(callee), .. } => self.of_call(*callee),
            InstKind::Call { callee: Callee::Indirect(_), .. } => Effects::anything(),
            InstKind::Builtin { builtin, .. } => match builtin.touches() {
                Touches::Nothing => Effects::default(),
                Touches::Ends => Effects { ends: true, ..Effects::default() },
                Touches::World => Effects::writes([Part::World].into()),
                // What it prints must be there.
                Touches::Shows => Effects { ends: true, ..Effects::writes([Part::World].into()) },
                Touches::Anything => Effects::anything(),
            },
            _ => Effects::default(),
        };
        made.fails |= may_fail(self.module, function, addresses, kind);
        made
    }

    /// The parts of memory that an address leads to.
    pub fn parts(&self, func: FuncId, address: Operand, bytes: Option<u64>) -> Differing {
        let origins = self.addresses[&func].origins(address);
        let mut parts: Differing = origins.slots.iter().map(|slot| self.slot(func, *slot)).collect();
        parts.extend(origins.globals.iter().map(|global| Part::Global(*global)));
        if origins.other {
            let known = origins.offset().zip(bytes).filter(|_| self.module.has_classes());
            parts.insert(known.map_or(Part::Anything, |(offset, bytes)| Part::Field(offset, bytes)));
        }
        parts
    }

    /// A variable of a frame.
    pub fn slot(&self, func: FuncId, slot: SlotId) -> Part {
        match self.addresses[&func].leaked_slots.contains(&slot) {
            true => Part::Anything,
            false => Part::Slot(slot),
        }
    }

    /// The variable that all of an access of so many bytes is, if it is one.
    pub fn whole(&self, func: FuncId, address: Operand, bytes: u64) -> Option<Part> {
        let origins = self.addresses[&func].origins(address);
        let (size, part) = match origins.only()? {
            Variable::Slot(slot) => (self.module.functions[func].slots[slot].size, self.slot(func, slot)),
            Variable::Global(global) => (self.module.globals[global].size, Part::Global(global)),
        };
        (origins.offset() == Some(0) && size == bytes && part != Part::Anything).then_some(part)
    }

    /// Whether two parts of memory may share bytes.
    pub fn overlap(&self, one: Part, other: Part) -> bool {
        let behind_pointers = |global: GlobalId| !self.only_named.contains(&global);
        match (one, other) {
            (one, other) if one == other => true,
            (Part::World | Part::Slot(_) | Part::Definedness, _) => false,
            (_, Part::World | Part::Slot(_) | Part::Definedness) => false,
            (Part::Global(_), Part::Global(_)) => false,
            (Part::Global(id), Part::Anything | Part::Field(..))
            | (Part::Anything | Part::Field(..), Part::Global(id)) => behind_pointers(id),
            (Part::Field(a, size), Part::Field(b, other)) => a < b.saturating_add(other) && b < a.saturating_add(size),
            (Part::Anything, _) | (_, Part::Anything) => true,
        }
    }
}

/// Whether control may leave a function at the end of a block, other than by returning.
pub(crate) fn leaves(kind: &TermKind) -> bool {
    matches!(kind, TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable)
}
