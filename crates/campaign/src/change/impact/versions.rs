//! Two versions of a program side by side: who is who in the other one, and what is the same before anything runs.

use super::memory_regions::{Differing, Part};
use super::side_effects::Side;
use crate::reuse::dependency_closure::Closures;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use touchstone_engine::changers;
use touchstone_ir::{
    DataType, DataTypeId, FuncId, Function, GlobalId, Linkage, Module, Part as Piece, SlotId, Structures, placeless,
};

/// Two versions. What is asked of few of many parts is found when somebody asks.
pub(crate) struct Versions<'m> {
    pub old: Side<'m>,
    pub new: Side<'m>,
    /// What a function of the new version was.
    functions: BTreeMap<FuncId, FuncId>,
    /// Globals of the old version that are known by the same name in the new one, or by what they are.
    globals: BTreeMap<GlobalId, GlobalId>,
    /// The same from the new version on.
    old_globals: BTreeMap<GlobalId, GlobalId>,
    /// Types of the old version by their names.
    named: BTreeMap<String, Vec<DataTypeId>>,
    /// Numbers of classes mean the same in both.
    same_classes: bool,
    structures: [Structures<'m>; 2],
    closures: [Closures<'m>; 2],
    hashes: [Mutex<BTreeMap<Piece, u128>>; 2],
    /// Types of the new version by what they are.
    types: OnceLock<BTreeMap<u128, DataTypeId>>,
    /// Methods that were asked whether they do the same on any object.
    on_any_object: Mutex<BTreeMap<FuncId, bool>>,
}

impl<'m> Versions<'m> {
    pub fn new(before: &'m Module, now: &'m Module) -> Versions<'m> {
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
            old: Side::new(before),
            new: Side::new(now),
            functions,
            globals: BTreeMap::new(),
            old_globals: BTreeMap::new(),
            named,
            same_classes: class_names(before) == class_names(now),
            structures: [Structures::new(before), Structures::new(now)],
            closures: [Closures::new(before), Closures::new(now)],
            hashes: Default::default(),
            types: OnceLock::new(),
            on_any_object: Mutex::default(),
        };
        versions.pair_globals();
        // What pointers lead to in one version they may write there.
        let (old, known) = (&versions.old.only_named, &versions.old_globals);
        versions.new.only_named.retain(|id| known.get(id).is_none_or(|was| old.contains(was)));
        versions
    }

    /// What a part of a version is, with all that it depends on.
    pub fn hash(&self, version: usize, piece: Piece) -> u128 {
        let known = || self.hashes[version].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hash) = known().get(&piece) {
            return *hash;
        }
        let hash = self.closures[version].of(&[piece]).hash;
        known().insert(piece, hash);
        hash
    }

    fn pair_globals(&mut self) {
        let (before, now) = (self.old.module, self.new.module);
        let mut literals: BTreeMap<u128, Vec<GlobalId>> = BTreeMap::new();
        let mut named: BTreeMap<&str, GlobalId> = BTreeMap::new();
        for (id, global) in now.globals.iter() {
            match global.linkage {
                Linkage::Literal => literals.entry(self.hash(1, Piece::Global(id))).or_default().push(id),
                _ => drop(named.insert(&global.name, id)),
            }
        }
        for (id, global) in before.globals.iter() {
            let became = match global.linkage {
                // Equal literals are equal whichever is taken.
                Linkage::Literal => literals.get_mut(&self.hash(0, Piece::Global(id))).and_then(Vec::pop),
                _ => named.get(global.name.as_str()).copied().filter(|id| now.globals[*id].size == global.size),
            };
            if let Some(became) = became {
                self.globals.insert(id, became);
                self.old_globals.insert(became, id);
            }
        }
    }

    /// What differs when a run of a function begins.
    pub fn at_start(&self, new: FuncId) -> Differing {
        let globals = self.globals_of(1, new);
        let left = self.left_otherwise(new);
        let differs = |id: &GlobalId| self.begins_otherwise(*id) || left && self.is_left_behind(*id);
        globals.into_iter().filter(differs).map(Part::Global).collect()
    }

    /// Whether calls before one of a function may leave something else than before.
    fn left_otherwise(&self, new: FuncId) -> bool {
        let Some(old) = self.old_of(new) else { return true };
        let names = |module: &'m Module, func: FuncId| -> BTreeSet<&'m str> {
            changers(module, func).into_iter().map(|id| module.functions[id].name.as_str()).collect()
        };
        let before = changers(self.new.module, new);
        names(self.old.module, old) != names(self.new.module, new) || !before.into_iter().all(|id| self.is_same(id))
    }

    /// Whether a variable may hold what calls left, and not only what a test sets.
    fn is_left_behind(&self, new: GlobalId) -> bool {
        let global = &self.new.module.globals[new];
        !global.constant && global.function.is_none() && matches!(global.linkage, Linkage::Local | Linkage::Internal)
    }

    /// Whether a global of the new version holds something else at first than it did.
    pub fn begins_otherwise(&self, new: GlobalId) -> bool {
        // The address of a function is the same one; what the function does is asked where it is called.
        let Some(old) = self.old_globals.get(&new) else { return true };
        let is_function = self.new.module.globals[new].function.is_some();
        !is_function && self.hash(0, Piece::Global(*old)) != self.hash(1, Piece::Global(new))
    }

    /// Whether a type of the new version is laid out otherwise than the one of its name was.
    fn is_moved(&self, new: DataTypeId) -> bool {
        let data = &self.new.module.types[new];
        let Some(name) = type_name(data) else { return false };
        let shape = |version: usize, module: &'m Module, id: DataTypeId| {
            let structure = self.structures[version].of(Piece::Type(id));
            let part = |part: &Piece| match part {
                Piece::Type(id) => type_name(&module.types[*id]).unwrap_or_default(),
                Piece::Function(_) | Piece::Global(_) => String::new(),
            };
            (structure.own, structure.names.iter().map(part).collect::<Vec<String>>())
        };
        let own = shape(1, self.new.module, new);
        self.named.get(&name).is_some_and(|known| !known.iter().any(|old| shape(0, self.old.module, *old) == own))
    }

    /// Types of the new version by what they are.
    pub fn types(&self) -> &BTreeMap<u128, DataTypeId> {
        let hash = |id: DataTypeId| self.hash(1, Piece::Type(id));
        self.types.get_or_init(|| self.new.module.types.ids().map(|id| (hash(id), id)).collect())
    }

    /// The globals that a function of a version depends on.
    pub fn globals_of(&self, version: usize, func: FuncId) -> Vec<GlobalId> {
        let closure = self.closures[version].of(&[Piece::Function(func)]);
        let global = |part: &Piece| if let Piece::Global(id) = part { Some(*id) } else { None };
        closure.parts().iter().filter_map(global).collect()
    }

    /// What a global of the old version is in the new one.
    pub fn new_global(&self, old: GlobalId) -> Option<GlobalId> {
        self.globals.get(&old).copied()
    }

    /// What a function was, if its runs can be compared.
    pub fn old_of(&self, new: FuncId) -> Option<FuncId> {
        let old = *self.functions.get(&new)?;
        let (before, now) = (&self.old.module.functions[old], &self.new.module.functions[new]);
        let types = |side: &Side<'_>, id: FuncId| -> Vec<_> {
            let function = &side.module.functions[id];
            let params = function.params.iter().map(|param| (function.regs[param.reg].ty, param.aggregate));
            params.chain(function.result.map(|ty| (ty, false))).collect()
        };
        let same = types(&self.old, old) == types(&self.new, new) && before.is_defined() == now.is_defined();
        let shape = |function: &Function| (function.params.len(), function.aggregate_result, function.variadic);
        (same && shape(before) == shape(now)).then_some(old)
    }

    /// Whether a function is the same with all that it depends on.
    pub fn is_same(&self, new: FuncId) -> bool {
        let Some(old) = self.functions.get(&new) else { return false };
        self.hash(0, Piece::Function(*old)) == self.hash(1, Piece::Function(new))
    }

    /// The functions that a function calls which are not the same; `None` if it differs in anything else.
    pub fn changed_callees(&self, new: FuncId) -> Option<Vec<FuncId>> {
        let old = self.functions.get(&new)?;
        let now = self.structures[1].of(Piece::Function(new));
        let before = self.structures[0].of(Piece::Function(*old));
        if now.own != before.own || now.names.len() != before.names.len() {
            return None;
        }
        let mut changed = Vec::new();
        for (before, now) in before.names.iter().zip(&now.names) {
            match (before, now) {
                _ if self.hash(0, *before) == self.hash(1, *now) => {}
                (Piece::Function(before), Piece::Function(now)) if self.functions.get(now) == Some(before) => {
                    changed.push(*now);
                }
                _ => return None,
            }
        }
        Some(changed)
    }

    /// What is known of a method on any object; `find` is asked once.
    pub fn on_any_object(&self, method: FuncId, find: impl FnOnce() -> bool) -> bool {
        let known = || self.on_any_object.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&method) {
            return *known;
        }
        let found = find();
        known().insert(method, found);
        found
    }

    /// Whether a global of the old version is this one of the new.
    pub fn is_same_global(&self, old: GlobalId, new: GlobalId) -> bool {
        self.globals.get(&old) == Some(&new)
    }

    /// A part of the old version's memory, in terms of the new one; `slots` says what variables of the frame became.
    pub fn renamed(&self, part: Part, slots: impl Fn(SlotId) -> Option<Part>) -> Option<Part> {
        match part {
            Part::Slot(slot) => slots(slot),
            Part::Global(id) => self.globals.get(&id).copied().map(Part::Global),
            Part::Field(..) | Part::Anything | Part::World | Part::Definedness => Some(part),
        }
    }

    /// Whether the same inputs can be given to both versions of a function, and mean the same: data is laid out as before.
    pub fn comparable(&self, new: FuncId) -> bool {
        if self.old_of(new).is_none() {
            return false;
        }
        let closure = self.closures[1].of(&[Piece::Function(new)]);
        let moved = |part: &Piece| matches!(part, Piece::Type(id) if self.is_moved(*id));
        self.same_classes && !closure.parts().iter().any(moved)
    }
}

fn type_name(data: &DataType) -> Option<String> {
    match data {
        DataType::Struct { name, .. } | DataType::Union { name, .. } => Some(placeless(name)),
        _ => None,
    }
}

/// The classes of inputs by their numbers.
fn class_names(module: &Module) -> BTreeSet<(u64, String)> {
    let variants = module.types.values().filter_map(|data| match data {
        DataType::OneOf { variants, .. } => Some(variants),
        _ => None,
    });
    variants.flatten().map(|variant| (variant.tag, type_name(&module.types[variant.ty]).unwrap_or_default())).collect()
}
