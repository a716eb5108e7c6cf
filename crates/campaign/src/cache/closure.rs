//! All that the result for a function can depend on, in an order that follows from the program's structure alone: whatever numbers
//! functions, globals and types have, and wherever they stand, the same program has the same closure.
//!
//! Calls through pointers may call every function whose address is taken. What other code says about globals (whether anybody writes
//! them) counts for the globals that are met.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::Hash;
use touchstone_base::{Span, WideHasher};
use touchstone_engine::GlobalFacts;
use touchstone_ir::{DataTypeId, GlobalId, Module, Part, Structures};

/// Finds closures in a module.
pub(crate) struct Closures<'m> {
    module: &'m Module,
    structures: Structures<'m>,
    facts: GlobalFacts,
    /// What stands for functions, by name.
    standing: Vec<GlobalId>,
    /// The names of functions that a pointer to this type may lead to.
    functions: BTreeMap<DataTypeId, Vec<&'m str>>,
}

/// The parts of a module that some of them depend on.
pub(crate) struct Closure {
    /// What it is, as one number.
    pub hash: u128,
    parts: Vec<Part>,
    numbers: FxHashMap<Part, u32>,
    places: Vec<Span>,
    place_numbers: FxHashMap<Span, u32>,
}

impl<'m> Closures<'m> {
    pub fn new(module: &'m Module) -> Closures<'m> {
        let name = |global: GlobalId| Some(module.functions[module.globals[global].function?].name.as_str());
        let mut standing: Vec<GlobalId> = module.globals.ids().filter(|id| name(*id).is_some()).collect();
        standing.sort_by_key(|id| name(*id));
        let mut functions: BTreeMap<DataTypeId, Vec<&'m str>> = BTreeMap::new();
        for id in &standing {
            functions.entry(module.globals[*id].data).or_default().extend(name(*id));
        }
        let (structures, facts) = (Structures::new(module), GlobalFacts::of(module));
        Closures { module, structures, facts, standing, functions }
    }

    /// What these parts depend on.
    pub fn of(&self, roots: &[Part]) -> Closure {
        let mut met = Met::default();
        let own: Vec<u32> = roots.iter().map(|part| met.number(*part)).collect();
        let (mut next, mut anybody) = (0, false);
        while let Some(part) = met.parts.get(next).copied() {
            next += 1;
            let structure = self.structures.of(part);
            for name in &structure.names {
                met.number(*name);
            }
            if structure.calls_anybody && !std::mem::replace(&mut anybody, true) {
                for id in &self.standing {
                    met.number(Part::Global(*id));
                }
            }
        }
        let mut hasher = WideHasher::default();
        own.hash(&mut hasher);
        let (mut places, mut place_numbers) = (Vec::new(), FxHashMap::default());
        let mut classes: [BTreeMap<DataTypeId, u32>; 2] = Default::default();
        for part in &met.parts {
            let structure = self.structures.of(*part);
            structure.own.hash(&mut hasher);
            structure.names.iter().for_each(|name| met.numbers[name].hash(&mut hasher));
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

    /// What the rest of the program says about a part.
    fn beside(&self, part: Part, hasher: &mut WideHasher) {
        match part {
            Part::Function(_) => {}
            Part::Global(id) => {
                (self.facts.written.contains(&id), self.facts.reachable.contains(&id)).hash(hasher);
            }
            Part::Type(id) => self.functions.get(&id).hash(hasher),
        }
    }

    /// The functions of these names.
    pub fn named<'n>(&self, names: impl Iterator<Item = &'n String>) -> Vec<Part> {
        names.filter_map(|name| self.module.function_named(name)).map(Part::Function).collect()
    }
}

/// Parts in the order in which they are met.
#[derive(Default)]
struct Met {
    parts: Vec<Part>,
    numbers: FxHashMap<Part, u32>,
}

impl Met {
    fn number(&mut self, part: Part) -> u32 {
        let next = self.parts.len() as u32;
        *self.numbers.entry(part).or_insert_with(|| {
            self.parts.push(part);
            next
        })
    }
}

impl Closure {
    /// The number that a part has in every program with this closure.
    pub fn number(&self, part: Part) -> Option<u32> {
        self.numbers.get(&part).copied()
    }

    /// The part with a number.
    pub fn part(&self, number: u32) -> Option<Part> {
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
