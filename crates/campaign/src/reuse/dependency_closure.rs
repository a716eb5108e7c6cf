//! The dependency closure of a function: everything that its result can depend on, in an order that follows from the
//! program's structure alone. The same program has the same closure, whatever ids and positions its parts have.
//!
//! An indirect call may call every function of a matching type with its address taken. Facts from other code (whether a
//! global is written) are included for the globals of the closure.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::Hash;
use touchstone_base::{Span, WideHasher};
use touchstone_engine::GlobalFacts;
use touchstone_ir::{CallGraph, DataTypeId, GlobalId, ItemStructures, Module, ModuleItem};

/// Computes closures in a module.
pub(crate) struct DependencyClosures<'m> {
    module: &'m Module,
    structures: ItemStructures<'m>,
    facts: GlobalFacts,
    calls: CallGraph,
    /// The names of functions that a pointer to this type may point to.
    functions: BTreeMap<DataTypeId, Vec<&'m str>>,
}

/// The parts of a module that some of them depend on.
pub(crate) struct DependencyClosure {
    /// The hash of the closure.
    pub hash: u128,
    parts: Vec<ModuleItem>,
    numbers: FxHashMap<ModuleItem, u32>,
    places: Vec<Span>,
    place_numbers: FxHashMap<Span, u32>,
}

impl<'m> DependencyClosures<'m> {
    pub fn new(module: &'m Module) -> DependencyClosures<'m> {
        let name = |global: GlobalId| Some(module.functions[module.globals[global].function?].name.as_str());
        let mut functions: BTreeMap<DataTypeId, Vec<&'m str>> = BTreeMap::new();
        for (id, global) in module.globals.iter().filter(|(_, global)| global.function.is_some()) {
            functions.entry(global.data).or_default().extend(name(id));
        }
        functions.values_mut().for_each(|names| names.sort_unstable());
        let (structures, facts, calls) = (ItemStructures::new(module), GlobalFacts::of(module), CallGraph::new(module));
        DependencyClosures { module, structures, facts, calls, functions }
    }

    /// Computes the closure of these parts.
    pub fn of(&self, roots: &[ModuleItem]) -> DependencyClosure {
        let mut met = PartNumbering::default();
        let own: Vec<u32> = roots.iter().map(|part| met.number(*part)).collect();
        let mut next = 0;
        while let Some(part) = met.parts.get(next).copied() {
            next += 1;
            for name in self.names(part) {
                met.number(name);
            }
        }
        let mut hasher = WideHasher::default();
        own.hash(&mut hasher);
        let (mut places, mut place_numbers) = (Vec::new(), FxHashMap::default());
        let mut classes: [BTreeMap<DataTypeId, u32>; 2] = Default::default();
        for part in &met.parts {
            let structure = self.structures.of(*part);
            structure.own.hash(&mut hasher);
            self.names(*part).iter().for_each(|name| met.numbers[name].hash(&mut hasher));
            self.beside(*part, &mut hasher);
            for (known, class) in classes.iter_mut().zip(structure.classes.iter().flatten()) {
                let next = known.len() as u32;
                known.entry(*class).or_insert(next).hash(&mut hasher);
            }
            for span in &structure.places {
                // Functions share positions where a macro or a header defines them.
                let number = *place_numbers.entry(*span).or_insert_with(|| {
                    places.push(*span);
                    places.len() as u32 - 1
                });
                number.hash(&mut hasher);
            }
        }
        DependencyClosure { hash: hasher.wide(), parts: met.parts, numbers: met.numbers, places, place_numbers }
    }

    /// Returns the parts that a part refers to, and its possible indirect callees by name.
    fn names(&self, part: ModuleItem) -> Vec<ModuleItem> {
        let structure = self.structures.of(part);
        let mut names = structure.names.clone();
        if let (ModuleItem::Function(id), true) = (part, structure.has_indirect_calls) {
            let mut anybody = self.calls.callees(id).to_vec();
            anybody.sort_by_key(|id| &self.module.functions[*id].name);
            names.extend(anybody.into_iter().map(ModuleItem::Function));
        }
        names
    }

    /// Hashes the facts from other code about a part.
    fn beside(&self, part: ModuleItem, hasher: &mut WideHasher) {
        match part {
            ModuleItem::Function(_) => {}
            ModuleItem::Global(id) => {
                (self.facts.written.contains(&id), self.facts.reachable.contains(&id)).hash(hasher);
            }
            ModuleItem::Type(id) => self.functions.get(&id).hash(hasher),
        }
    }

    /// Returns the functions of these names.
    pub fn named<'n>(&self, names: impl Iterator<Item = &'n String>) -> Vec<ModuleItem> {
        names.filter_map(|name| self.module.function_named(name)).map(ModuleItem::Function).collect()
    }
}

/// Parts in the order in which they are reached.
#[derive(Default)]
struct PartNumbering {
    parts: Vec<ModuleItem>,
    numbers: FxHashMap<ModuleItem, u32>,
}

impl PartNumbering {
    fn number(&mut self, part: ModuleItem) -> u32 {
        let next = self.parts.len() as u32;
        *self.numbers.entry(part).or_insert_with(|| {
            self.parts.push(part);
            next
        })
    }
}

impl DependencyClosure {
    /// Returns the number that a part has in every program with this closure.
    pub fn number(&self, part: ModuleItem) -> Option<u32> {
        self.numbers.get(&part).copied()
    }

    /// Returns all parts.
    pub fn parts(&self) -> &[ModuleItem] {
        &self.parts
    }

    /// Returns the part with a number.
    pub fn part(&self, number: u32) -> Option<ModuleItem> {
        self.parts.get(number as usize).copied()
    }

    /// Returns the number of a source position.
    pub fn place_number(&self, span: Span) -> Option<u32> {
        self.place_numbers.get(&span).copied()
    }

    /// Returns the source position with a number.
    pub fn place(&self, number: u32) -> Option<Span> {
        self.places.get(number as usize).copied()
    }
}
