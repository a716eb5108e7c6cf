//! Side effects of code that the two versions do not execute in lockstep: what it may write, and whether control may
//! leave it.

use super::memory_regions::{DifferingRegions, PointsToSets, Region, Variable, may_fail};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{
    BuiltinEffect, CallGraph, Callee, FuncId, FunctionRole, GlobalId, InstKind, Module, Operand, SlotId, TermKind,
};

/// The side effects of some code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Effects {
    /// The regions that it may write, in terms of its own version.
    pub writes: DifferingRegions,
    /// True if it may throw an exception.
    pub throws: bool,
    /// True if it may end the program, or continue at an unknown location.
    pub ends: bool,
    /// True if an access or a division may fail.
    pub fails: bool,
}

impl Effects {
    pub fn havoc() -> Effects {
        Effects {
            writes: [Region::Anything, Region::Environment, Region::Definedness].into(),
            throws: true,
            ends: true,
            fails: true,
        }
    }

    fn writes(regions: DifferingRegions) -> Effects {
        Effects { writes: regions, ..Effects::default() }
    }

    /// Returns true if control may not reach the end of the code.
    pub fn may_leave(&self) -> bool {
        self.throws || self.ends || self.fails
    }

    fn add(&mut self, other: &Effects) {
        self.writes.extend(&other.writes);
        self.throws |= other.throws;
        self.ends |= other.ends;
        self.fails |= other.fails;
    }
}

/// One version of the program, with facts about each of its functions.
pub(crate) struct VersionFacts<'m> {
    pub module: &'m Module,
    pub calls: CallGraph,
    pub addresses: BTreeMap<FuncId, PointsToSets>,
    /// Globals that no pointer points to.
    pub unaliased: BTreeSet<GlobalId>,
    effects: BTreeMap<FuncId, Effects>,
}

impl<'m> VersionFacts<'m> {
    pub fn new(module: &'m Module) -> VersionFacts<'m> {
        let addresses: BTreeMap<FuncId, PointsToSets> =
            module.functions.iter().map(|(id, function)| (id, PointsToSets::of(function))).collect();
        let unaliased = super::memory_regions::unaliased(module, &addresses);
        let mut facts =
            VersionFacts { module, calls: CallGraph::new(module), addresses, unaliased, effects: BTreeMap::new() };
        let components = facts.calls.components().to_vec();
        for component in components {
            // Callees come first. A recursive component starts with no effects and iterates to a fixed point.
            loop {
                let mut changed = false;
                for id in &component {
                    let effects = facts.body_effects(*id);
                    changed |= facts.effects.get(id) != Some(&effects);
                    facts.effects.insert(*id, effects);
                }
                if !changed || component.len() == 1 && !facts.calls.is_recursive(component[0]) {
                    break;
                }
            }
        }
        facts
    }

    fn body_effects(&self, id: FuncId) -> Effects {
        let function = &self.module.functions[id];
        if !function.is_defined() {
            return Effects::havoc();
        }
        let mut all = Effects::default();
        for block in function.blocks.values() {
            block.insts.iter().for_each(|inst| all.add(&self.of(id, &inst.kind)));
            all.throws |= matches!(block.terminator.kind, TermKind::Throw(_));
            all.ends |= matches!(block.terminator.kind, TermKind::Unreachable);
        }
        if self.has_unsupported(id) {
            all.add(&Effects::havoc());
        }
        // The frame no longer exists after the call.
        all.writes.retain(|region| !matches!(region, Region::Slot(_)));
        all
    }

    /// Returns true if a function contains an unsupported construct, which may do anything.
    pub fn has_unsupported(&self, id: FuncId) -> bool {
        let mut blocks = self.module.functions[id].blocks.values();
        blocks.any(|block| matches!(block.terminator.kind, TermKind::Unsupported(_)))
    }

    /// Returns true if a call of a function may execute an unsupported construct.
    pub fn executes_unsupported(&self, id: FuncId) -> bool {
        self.calls.reachable_from(id).into_iter().any(|id| self.has_unsupported(id))
    }

    /// Returns true if a function of the program has code that is not lowered: an unsupported construct, or assembly at
    /// file scope.
    pub fn is_opaque(&self, id: FuncId) -> bool {
        let function = &self.module.functions[id];
        match function.role {
            FunctionRole::Program => !function.is_defined() || self.has_unsupported(id),
            FunctionRole::External => true,
            _ => false,
        }
    }

    /// Returns the side effects of a call.
    pub fn call_effects(&self, id: FuncId) -> Effects {
        // Inside a recursive component, a later iteration adds what is missing.
        self.effects.get(&id).cloned().unwrap_or_default()
    }

    /// Returns the side effects of an instruction.
    pub fn of(&self, func: FuncId, kind: &InstKind) -> Effects {
        let function = &self.module.functions[func];
        let addresses = &self.addresses[&func];
        let mut made = match kind {
            InstKind::Store { addr, value } => {
                let bytes = function.operand_ty(*value).bytes();
                Effects::writes(self.regions(func, *addr, Some(bytes.into())))
            }
            InstKind::MemCopy { dst, .. } | InstKind::MemSet { dst, .. } => {
                Effects::writes(self.regions(func, *dst, None))
            }
            InstKind::SlotBegin { slot } | InstKind::SlotEnd { slot } => {
                Effects::writes([self.slot(func, *slot)].into())
            }
            InstKind::Call { callee: Callee::Direct(callee), .. } => self.call_effects(*callee),
            InstKind::Call { callee: Callee::Indirect(_), .. } => Effects::havoc(),
            InstKind::Builtin { builtin, .. } => match builtin.effect() {
                BuiltinEffect::Nothing => Effects::default(),
                BuiltinEffect::Ends => Effects { ends: true, ..Effects::default() },
                BuiltinEffect::Environment => Effects::writes([Region::Environment].into()),
                // The memory that it prints has to be readable.
                BuiltinEffect::OutputsMemory => Effects { ends: true, ..Effects::writes([Region::Environment].into()) },
                BuiltinEffect::Anything => Effects::havoc(),
            },
            _ => Effects::default(),
        };
        made.fails |= may_fail(self.module, function, addresses, kind);
        made
    }

    /// Returns the regions that an address may point to.
    pub fn regions(&self, func: FuncId, address: Operand, bytes: Option<u64>) -> DifferingRegions {
        let points_to = self.addresses[&func].points_to(address);
        let mut regions: DifferingRegions = points_to.slots.iter().map(|slot| self.slot(func, *slot)).collect();
        regions.extend(points_to.globals.iter().map(|global| Region::Global(*global)));
        if points_to.other {
            let known = points_to.offset().zip(bytes).filter(|_| self.module.has_classes());
            regions.insert(known.map_or(Region::Anything, |(offset, bytes)| Region::Field(offset, bytes)));
        }
        regions
    }

    /// Returns the region of a local variable.
    pub fn slot(&self, func: FuncId, slot: SlotId) -> Region {
        match self.addresses[&func].escaping_slots.contains(&slot) {
            true => Region::Anything,
            false => Region::Slot(slot),
        }
    }

    /// Returns the variable that an access of `bytes` bytes covers completely, or `None` if it is not exactly one.
    pub fn whole_variable(&self, func: FuncId, address: Operand, bytes: u64) -> Option<Region> {
        let points_to = self.addresses[&func].points_to(address);
        let (size, region) = match points_to.only()? {
            Variable::Slot(slot) => (self.module.functions[func].slots[slot].size, self.slot(func, slot)),
            Variable::Global(global) => (self.module.globals[global].size, Region::Global(global)),
        };
        (points_to.offset() == Some(0) && size == bytes && region != Region::Anything).then_some(region)
    }

    /// Returns true if two regions may share bytes.
    pub fn may_overlap(&self, one: Region, other: Region) -> bool {
        let behind_pointers = |global: GlobalId| !self.unaliased.contains(&global);
        match (one, other) {
            (one, other) if one == other => true,
            (Region::Environment | Region::Slot(_) | Region::Definedness, _) => false,
            (_, Region::Environment | Region::Slot(_) | Region::Definedness) => false,
            (Region::Global(_), Region::Global(_)) => false,
            (Region::Global(id), Region::Anything | Region::Field(..))
            | (Region::Anything | Region::Field(..), Region::Global(id)) => behind_pointers(id),
            (Region::Field(a, size), Region::Field(b, other)) => {
                a < b.saturating_add(other) && b < a.saturating_add(size)
            }
            (Region::Anything, _) | (_, Region::Anything) => true,
        }
    }
}

/// Returns true if control may leave the function at this terminator, other than by returning.
pub(crate) fn may_leave(kind: &TermKind) -> bool {
    matches!(kind, TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable)
}
