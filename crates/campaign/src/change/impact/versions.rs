//! Two versions of a program side by side: which functions, globals and types correspond, and which are equal before
//! anything runs.

use super::memory_regions::{DifferingRegions, Region};
use super::side_effects::VersionFacts;
use crate::reuse::dependency_closure::DependencyClosures;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use touchstone_base::fault::{Fault, is_injected};
use touchstone_engine::state_changers;
use touchstone_front_c::DeclarationTexts;
use touchstone_ir::{
    DataType, DataTypeId, FuncId, Function, GlobalId, ItemStructures, Linkage, Module, ModuleItem as ModulePart,
    SlotId, without_location,
};

/// Two versions of a program. Facts that only few parts need are computed on demand.
pub(crate) struct Versions<'m> {
    pub old: VersionFacts<'m>,
    pub new: VersionFacts<'m>,
    /// Maps functions of the new version to those of the old one.
    functions: BTreeMap<FuncId, FuncId>,
    /// Maps globals of the old version to those of the new one with the same name; literals with the same contents.
    globals: BTreeMap<GlobalId, GlobalId>,
    /// The inverse of `globals`.
    old_globals: BTreeMap<GlobalId, GlobalId>,
    /// Types of the old version by name.
    named: BTreeMap<String, Vec<DataTypeId>>,
    /// True if class numbers have the same meaning in both versions.
    same_classes: bool,
    structures: [ItemStructures<'m>; 2],
    closures: [DependencyClosures<'m>; 2],
    hashes: [Mutex<BTreeMap<ModulePart, u128>>; 2],
    /// The source text of both versions, for code that is not lowered; read on demand. `None` if it cannot be read.
    texts: OnceLock<[Option<DeclarationTexts>; 2]>,
    read_texts: Box<dyn Fn() -> [Option<DeclarationTexts>; 2] + Send + Sync + 'm>,
    /// The state that calls of changed functions may leave different.
    differing_state: OnceLock<DifferingRegions>,
    /// Types of the new version by structural hash.
    types: OnceLock<BTreeMap<u128, DataTypeId>>,
    /// Methods for which it is known whether both versions behave the same on any object.
    on_any_object: Mutex<BTreeMap<FuncId, bool>>,
}

impl<'m> Versions<'m> {
    /// Compares two programs. `read_texts` reads the source text of both.
    pub fn new(
        before: &'m Module,
        now: &'m Module,
        read_texts: impl Fn() -> [Option<DeclarationTexts>; 2] + Send + Sync + 'm,
    ) -> Versions<'m> {
        let known: BTreeMap<&str, FuncId> =
            before.functions.iter().map(|(id, function)| (function.name.as_str(), id)).collect();
        let functions = now.functions.iter();
        let functions =
            functions.filter_map(|(id, function)| Some((id, *known.get(function.name.as_str())?))).collect();
        let mut named: BTreeMap<String, Vec<DataTypeId>> = BTreeMap::new();
        for (id, data) in before.types.iter() {
            named.entry(type_name(data).unwrap_or_default()).or_default().push(id);
        }
        let mut versions = Versions {
            old: VersionFacts::new(before),
            new: VersionFacts::new(now),
            functions,
            globals: BTreeMap::new(),
            old_globals: BTreeMap::new(),
            named,
            same_classes: class_names(before) == class_names(now),
            structures: [ItemStructures::new(before), ItemStructures::new(now)],
            closures: [DependencyClosures::new(before), DependencyClosures::new(now)],
            hashes: Default::default(),
            texts: OnceLock::new(),
            read_texts: Box::new(read_texts),
            differing_state: OnceLock::new(),
            types: OnceLock::new(),
            on_any_object: Mutex::default(),
        };
        versions.pair_globals();
        // A global that pointers point to in one version may be written through them there.
        let (old, known) = (&versions.old.unaliased, &versions.old_globals);
        versions.new.unaliased.retain(|id| known.get(id).is_none_or(|was| old.contains(was)));
        versions
    }

    /// Returns the structural hash of a part of a version, with everything that it depends on.
    pub fn hash(&self, version: usize, module_part: ModulePart) -> u128 {
        let known = || self.hashes[version].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = known().get(&module_part) {
            return *hash;
        }
        let hash = self.closures[version].of(&[module_part]).hash;
        known().insert(module_part, hash);
        hash
    }

    fn pair_globals(&mut self) {
        let (before, now) = (self.old.module, self.new.module);
        let mut literals: BTreeMap<u128, Vec<GlobalId>> = BTreeMap::new();
        let mut named: BTreeMap<&str, GlobalId> = BTreeMap::new();
        for (id, global) in now.globals.iter() {
            match global.linkage {
                Linkage::Literal => literals.entry(self.hash(1, ModulePart::Global(id))).or_default().push(id),
                _ => drop(named.insert(&global.name, id)),
            }
        }
        for (id, global) in before.globals.iter() {
            let became = match global.linkage {
                // Equal literals are interchangeable.
                Linkage::Literal => literals.get_mut(&self.hash(0, ModulePart::Global(id))).and_then(Vec::pop),
                _ => named.get(global.name.as_str()).copied().filter(|id| now.globals[*id].size == global.size),
            };
            if let Some(became) = became {
                self.globals.insert(id, became);
                self.old_globals.insert(became, id);
            }
        }
    }

    /// Returns the regions that differ when a run of a function begins.
    pub fn at_start(&self, new: FuncId) -> DifferingRegions {
        let initial = self.globals_of(1, new).into_iter().filter(|id| self.initial_value_differs(*id));
        initial.map(Region::Global).chain(self.left_by_earlier_calls(new)).collect()
    }

    /// Returns the regions that may differ when a run of a function begins, because calls before it left another state
    /// than before the change.
    pub fn left_by_earlier_calls(&self, new: FuncId) -> DifferingRegions {
        let state = self.globals_of(1, new).into_iter().filter(|id| self.keeps_state(*id));
        if self.new.module.has_classes() {
            return match self.earlier_calls_differ(new) {
                true => state.map(Region::Global).collect(),
                false => DifferingRegions::new(),
            };
        }
        let differing = self.differing_state.get_or_init(|| self.differing_state());
        let mut left = DifferingRegions::new();
        for id in state {
            left.extend(differing.get(&Region::Global(id)));
            // Objects that earlier calls allocated.
            if holds_pointers(self.new.module, self.new.module.globals[id].data) {
                left.extend(differing.get(&Region::Anything));
            }
        }
        left
    }

    /// Returns the state that may differ after the same calls in both versions: what a changed function leaves
    /// different, and what other functions compute from that.
    fn differing_state(&self) -> DifferingRegions {
        let mut differing = DifferingRegions::new();
        let add = |found: DifferingRegions, differing: &mut DifferingRegions| {
            let before = differing.len();
            for region in found {
                match region {
                    Region::Global(id) if self.keeps_state(id) => drop(differing.insert(region)),
                    Region::Anything | Region::Field(..) => {
                        let aliased = self.new.module.globals.ids().filter(|id| !self.new.unaliased.contains(id));
                        differing.extend(aliased.filter(|id| self.keeps_state(*id)).map(Region::Global));
                        differing.insert(Region::Anything);
                    }
                    _ => {}
                }
            }
            differing.len() > before
        };
        for id in self.state_changers() {
            add(self.left_differently(id), &mut differing);
        }
        add(self.written_by_unpaired_functions(), &mut differing);
        let own = self.own_functions();
        loop {
            let uses = |id: &FuncId| {
                self.globals_of(1, *id).into_iter().any(|global| differing.contains(&Region::Global(global)))
            };
            let users: Vec<FuncId> = own.iter().copied().filter(uses).collect();
            let mut changed = false;
            for id in users {
                changed |= add(self.new.call_effects(id).writes, &mut differing);
            }
            if !changed {
                return differing;
            }
        }
    }

    /// Returns the functions of the program that both versions have.
    fn own_functions(&self) -> Vec<FuncId> {
        let is_own = |id: &FuncId| !self.new.module.functions[*id].is_library();
        self.functions.keys().copied().filter(is_own).collect()
    }

    /// Returns the regions that functions write which only one version has, and which other files can call.
    fn written_by_unpaired_functions(&self) -> DifferingRegions {
        let is_entry = |function: &Function| function.is_defined() && !function.internal && !function.is_library();
        let unpaired = |facts: &VersionFacts<'_>, is_paired: &dyn Fn(FuncId) -> bool| -> DifferingRegions {
            let functions = facts.module.functions.iter();
            let alone = functions.filter(|(id, function)| is_entry(function) && !is_paired(*id));
            alone.flat_map(|(id, _)| facts.call_effects(id).writes).collect()
        };
        let paired: BTreeSet<FuncId> = self.functions.values().copied().collect();
        let before = unpaired(&self.old, &|id| paired.contains(&id)).into_iter();
        let before = before.filter_map(|region| self.in_new_version(region, |_| None));
        before.chain(unpaired(&self.new, &|id| self.functions.contains_key(&id))).collect()
    }

    /// Returns the changed functions after which state may differ, as far as the impact analysis knows.
    pub fn state_changers(&self) -> Vec<FuncId> {
        let is_state = |region: &Region| match region {
            Region::Global(id) => self.keeps_state(*id),
            Region::Anything | Region::Field(..) => true,
            Region::Slot(_) | Region::Environment | Region::Definedness => false,
        };
        if is_injected(Fault::EqualState) {
            return Vec::new();
        }
        let changes = |id: &FuncId| !self.is_same(*id) && self.left_differently(*id).iter().any(is_state);
        self.own_functions().into_iter().filter(changes).collect()
    }

    /// Returns the regions that either version of a function may write.
    pub(super) fn writes_of_both(&self, new: FuncId) -> DifferingRegions {
        let before = self.functions.get(&new).map(|old| self.old.call_effects(*old).writes).unwrap_or_default();
        let before = before.into_iter().filter_map(|region| self.in_new_version(region, |_| None));
        before.chain(self.new.call_effects(new).writes).collect()
    }

    /// Returns true if calls before a call of the function may leave another state than before the change.
    fn earlier_calls_differ(&self, new: FuncId) -> bool {
        let Some(old) = self.old_of(new) else { return true };
        let names = |module: &'m Module, func: FuncId| -> BTreeSet<&'m str> {
            state_changers(module, func).into_iter().map(|id| module.functions[id].name.as_str()).collect()
        };
        let before = state_changers(self.new.module, new);
        names(self.old.module, old) != names(self.new.module, new) || !before.into_iter().all(|id| self.is_same(id))
    }

    /// Returns true if a variable may hold what earlier calls left, not only what a test sets.
    fn keeps_state(&self, new: GlobalId) -> bool {
        let global = &self.new.module.globals[new];
        !global.constant && global.function.is_none() && matches!(global.linkage, Linkage::Local | Linkage::Internal)
    }

    /// Returns true if a global of the new version has another initial value than its counterpart.
    pub fn initial_value_differs(&self, new: GlobalId) -> bool {
        // The address of a function is the same; its behaviour is compared where it is called.
        let Some(old) = self.old_globals.get(&new) else { return true };
        let is_function = self.new.module.globals[new].function.is_some();
        !is_function && self.hash(0, ModulePart::Global(*old)) != self.hash(1, ModulePart::Global(new))
    }

    /// Returns true if a type of the new version has another layout than the old types of its name.
    fn layout_changed(&self, new: DataTypeId) -> bool {
        let data = &self.new.module.types[new];
        let Some(name) = type_name(data) else { return false };
        let shape = |version: usize, module: &'m Module, id: DataTypeId| {
            let structure = self.structures[version].of(ModulePart::Type(id));
            let part = |part: &ModulePart| match part {
                ModulePart::Type(id) => type_name(&module.types[*id]).unwrap_or_default(),
                ModulePart::Function(_) | ModulePart::Global(_) => String::new(),
            };
            (structure.own, structure.names.iter().map(part).collect::<Vec<String>>())
        };
        let own = shape(1, self.new.module, new);
        self.named.get(&name).is_some_and(|known| !known.iter().any(|old| shape(0, self.old.module, *old) == own))
    }

    /// Returns the types of the new version by structural hash.
    pub fn types(&self) -> &BTreeMap<u128, DataTypeId> {
        let hash = |id: DataTypeId| self.hash(1, ModulePart::Type(id));
        self.types.get_or_init(|| self.new.module.types.ids().map(|id| (hash(id), id)).collect())
    }

    /// Returns the globals that a function of a version depends on.
    pub fn globals_of(&self, version: usize, func: FuncId) -> Vec<GlobalId> {
        let closure = self.closures[version].of(&[ModulePart::Function(func)]);
        let global = |part: &ModulePart| if let ModulePart::Global(id) = part { Some(*id) } else { None };
        closure.parts().iter().filter_map(global).collect()
    }

    /// Returns the counterpart of an old global.
    pub fn new_global(&self, old: GlobalId) -> Option<GlobalId> {
        self.globals.get(&old).copied()
    }

    /// Returns the counterpart of a new function if their runs can be compared.
    pub fn old_of(&self, new: FuncId) -> Option<FuncId> {
        let old = *self.functions.get(&new)?;
        let (before, now) = (&self.old.module.functions[old], &self.new.module.functions[new]);
        let types = |facts: &VersionFacts<'_>, id: FuncId| -> Vec<_> {
            let function = &facts.module.functions[id];
            let params = function.params.iter().map(|param| (function.regs[param.reg].ty, param.aggregate));
            params.chain(function.result.map(|ty| (ty, false))).collect()
        };
        let same = types(&self.old, old) == types(&self.new, new) && before.is_defined() == now.is_defined();
        let shape = |function: &Function| (function.params.len(), function.aggregate_result, function.variadic);
        (same && shape(before) == shape(now)).then_some(old)
    }

    /// Returns true if a function is unchanged, with everything that it depends on.
    pub fn is_same(&self, new: FuncId) -> bool {
        let Some(old) = self.functions.get(&new) else { return false };
        self.hash(0, ModulePart::Function(*old)) == self.hash(1, ModulePart::Function(new)) && self.is_same_text(new)
    }

    /// Returns true if the code that is not lowered is unchanged, of a function and of everything that it depends on.
    pub(super) fn is_same_text(&self, new: FuncId) -> bool {
        let closure = self.closures[1].of(&[ModulePart::Function(new)]);
        let functions = closure.parts().iter().filter_map(|part| match part {
            ModulePart::Function(id) => Some(*id),
            ModulePart::Global(_) | ModulePart::Type(_) => None,
        });
        functions.filter(|id| self.new.is_opaque(*id) && !is_injected(Fault::EqualText)).all(|id| {
            let name = &self.new.module.functions[id].name;
            let texts = self.texts.get_or_init(|| (self.read_texts)());
            matches!(texts, [Some(old), Some(new)] if old.fingerprint(name) == new.fingerprint(name))
        })
    }

    /// Returns the callees of a function that changed, or `None` if it differs in anything else.
    pub fn changed_callees(&self, new: FuncId) -> Option<Vec<FuncId>> {
        let old = self.functions.get(&new)?;
        let now = self.structures[1].of(ModulePart::Function(new));
        let before = self.structures[0].of(ModulePart::Function(*old));
        if now.own != before.own || now.names.len() != before.names.len() {
            return None;
        }
        let mut changed = Vec::new();
        for (before, now) in before.names.iter().zip(&now.names) {
            match (before, now) {
                _ if self.hash(0, *before) == self.hash(1, *now) => {}
                (ModulePart::Function(before), ModulePart::Function(now))
                    if self.functions.get(now) == Some(before) =>
                {
                    changed.push(*now);
                }
                _ => return None,
            }
        }
        Some(changed)
    }

    /// Returns whether both versions of a method behave the same on any object; `find` is called once per method.
    pub fn on_any_object(&self, method: FuncId, find: impl FnOnce() -> bool) -> bool {
        let known = || self.on_any_object.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&method) {
            return *known;
        }
        let found = find();
        known().insert(method, found);
        found
    }

    /// Returns true if the two globals are counterparts.
    pub fn is_same_global(&self, old: GlobalId, new: GlobalId) -> bool {
        self.globals.get(&old) == Some(&new)
    }

    /// Translates a region of the old version into one of the new version; `slots` maps local variables.
    pub fn in_new_version(&self, region: Region, slots: impl Fn(SlotId) -> Option<Region>) -> Option<Region> {
        match region {
            Region::Slot(slot) => slots(slot),
            Region::Global(id) => self.globals.get(&id).copied().map(Region::Global),
            Region::Field(..) | Region::Anything | Region::Environment | Region::Definedness => Some(region),
        }
    }

    /// Returns true if both versions of a function can be given the same inputs with the same meaning: the data layout
    /// is unchanged.
    pub fn comparable(&self, new: FuncId) -> bool {
        if self.old_of(new).is_none() {
            return false;
        }
        let closure = self.closures[1].of(&[ModulePart::Function(new)]);
        let moved = |part: &ModulePart| matches!(part, ModulePart::Type(id) if self.layout_changed(*id));
        self.same_classes && !closure.parts().iter().any(moved)
    }
}

/// Returns true if an object of a type may hold a pointer.
fn holds_pointers(module: &Module, data: DataTypeId) -> bool {
    match &module.types[data] {
        DataType::Array { element, .. } => holds_pointers(module, *element),
        DataType::Struct { fields, .. } => fields.iter().any(|field| holds_pointers(module, field.ty)),
        DataType::Int { .. } | DataType::Bool { .. } | DataType::Enum { .. } | DataType::Float { .. } => false,
        _ => true,
    }
}

fn type_name(data: &DataType) -> Option<String> {
    match data {
        DataType::Struct { name, .. } | DataType::Union { name, .. } => Some(without_location(name)),
        _ => None,
    }
}

/// Returns the classes of inputs by number.
fn class_names(module: &Module) -> BTreeSet<(u64, String)> {
    let variants = module.types.values().filter_map(|data| match data {
        DataType::OneOf { variants, .. } => Some(variants),
        _ => None,
    });
    variants.flatten().map(|variant| (variant.tag, type_name(&module.types[variant.ty]).unwrap_or_default())).collect()
}
