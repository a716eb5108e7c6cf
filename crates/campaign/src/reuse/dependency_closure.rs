//! All that the result for a function can depend on, in an order that follows from the program's structure alone: whatever numbers
//! functions, globals and types have, and wherever they stand, the same program has the same closure.
//!
//! A call through a pointer may call every function that fits and whose address is taken. What other code says about globals (whether anybody writes
//! them) counts for the globals that are met.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::Hash;
use touchstone_base::{Span, WideHasher};
use touchstone_engine::GlobalFacts;
use touchstone_ir::{CallGraph, DataTypeId, GlobalId, ItemStructures, Module, ModuleItem};

/// Finds closures in a module.
pub(crate) struct Closures<'m> {
    module: &'m Module,
    structures: ItemStructures<'m>,
    facts: GlobalFacts,
    calls: CallGraph,
    /// The names of functions that a pointer to this type may lead to.
    functions: BTreeMap<DataTypeId, Vec<&'m str>>,
}

/// The parts of a module that some of them depend on.
pub(crate) struct Closure {
    /// What it is, as one number.
    pub hash: u128,
    parts: Vec<ModuleItem>,
    numbers: FxHashMap<ModuleItem, u32>,
    places: Vec<Span>,
    place_numbers: FxHashMap<Span, u32>,
}

impl<'m> Closures<'m> {
    pub fn new(module: &'m Module) -> Closures<'m> {
        let name = |global: GlobalId| Some(module.functions[module.globals[global].function?].name.as_str());
        let mut functions: BTreeMap<DataTypeId, Vec<&'m str>> = BTreeMap::new();
        for (id, global) in module.globals.iter().filter(|(_, global)| global.function.is_some()) {
            functions.entry(global.data).or_default().extend(name(id));
        }
        functions.values_mut().for_each(|names| names.sort_unstable());
        let (structures, facts, calls) = (ItemStructures::new(module), GlobalFacts::of(module), CallGraph::new(module));
        Closures { module, structures, facts, calls, functions }
    }

    /// What these parts depend on.
    pub fn of(&self, roots: &[ModuleItem]) -> Closure {
        let mut met = Met::default();
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
                // Functions share places where a macro or a header made them.
                let number = *place_numbers.entry(*span).or_insert_with(|| {
                    places.push(*span);
                    places.len() as u32 - 1
                });
                number.hash(&mut hasher);
            }
        }
        Closure { hash: hasher.wide(), parts: met.parts, numbers: met.numbers, places, place_numbers }
    }

    /// What a part names, and whom it may call through pointers, by their names.
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

    /// What the rest of the program says about a part.
    fn beside(&self, part: ModuleItem, hasher: &mut WideHasher) {
        match part {
            ModuleItem::Function(_) => {}
            ModuleItem::Global(id) => {
                (self.facts.written.contains(&id), self.facts.reachable.contains(&id)).hash(hasher);
            }
            ModuleItem::Type(id) => self.functions.get(&id).hash(hasher),
        }
    }

    /// The functions of these names.
    pub fn named<'n>(&self, names: impl Iterator<Item = &'n String>) -> Vec<ModuleItem> {
        names.filter_map(|name| self.module.function_named(name)).map(ModuleItem::Function).collect()
    }
}

/// Parts in the order in which they are met.
#[derive(Default)]
struct Met {
    parts: Vec<ModuleItem>,
    numbers: FxHashMap<ModuleItem, u32>,
}

impl Met {
    fn number(&mut self, part: ModuleItem) -> u32 {
        let next = self.parts.len() as u32;
        *self.numbers.entry(part).or_insert_with(|| {
            self.parts.push(part);
            next
        })
    }
}

impl Closure {
    /// The number that a part has in every program with this closure.
    pub fn number(&self, part: ModuleItem) -> Option<u32> {
        self.numbers.get(&part).copied()
    }

    /// All parts.
    pub fn parts(&self) -> &[ModuleItem] {
        &self.parts
    }

    /// The part with a number.
    pub fn part(&self, number: u32) -> Option<ModuleItem> {
        self.parts.get(number as usize).copied()
    }

    /// The number of a place.
    pub fn place_number(&self, span: Span) -> Option<u32> {
        self.place_numbers.get(&span).copied()
    }

    /// The place with a number.
    pub fn place(&self, number: u32) -> Option<Span> {
        self.places.get(number as usize).copied()
    }
}
