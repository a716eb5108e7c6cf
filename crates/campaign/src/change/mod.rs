//! What changed between two versions of a program: functions are matched by their names and compared by what they became, so moved and
//! reformatted code is unchanged. A function that depends on nothing that changed does the same in both: no test can tell them apart.
//!
//! Inside of functions, both versions are followed side by side (`walk.rs`), which says what a change reaches (`impact.rs`). Deliberately not here:
//! where the other version comes from.

mod divergence;
mod effects;
mod equal;
mod execute;
mod flow;
mod impact;
mod matching;
mod memory;
mod together;
mod versions;
mod walk;

pub(crate) use divergence::compare;
pub(crate) use impact::{Comparison, Touched, untouched};

use crate::closure::Closures;
use crate::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_engine::changers;
use touchstone_ir::{FuncId, Function, Linkage, Module, Part, Structures};

/// What a change is to a function of the new version. What other functions leave behind for it, where no test can set it, counts as well.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Impact {
    /// Neither it nor anything that it depends on changed.
    Unaffected,
    /// It stays as it was, and something that it depends on changed: a callee, a global, who leaves something behind for it.
    Reached,
    /// Its own code, types or literals changed.
    Changed,
    /// The old version does not have it.
    Added,
}

/// What changed between two versions of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// By name: what the change is to each function of the new version.
    pub functions: BTreeMap<String, Impact>,
    /// Functions that only the old version has.
    pub removed: BTreeSet<String>,
}

/// Compares two versions of a program, as they were read with the same options.
pub fn difference(old: &Program, new: &Program) -> Difference {
    let (before, now) = (&old.module, &new.module);
    let (old_closures, new_closures) = (Closures::new(before), Closures::new(now));
    let own = Own { old: (before, Structures::new(before)), new: (now, Structures::new(now)) };
    let named = |module: &Module| -> BTreeMap<String, FuncId> {
        let functions = module.functions.iter().filter(|(_, function)| is_own(function));
        functions.map(|(id, function)| (function.name.clone(), id)).collect()
    };
    let (known, mut found) = (named(before), Difference::default());
    for (name, id) in named(now) {
        let impact = match known.get(&name) {
            None => Impact::Added,
            Some(was) => match depends(before, &old_closures, *was) == depends(now, &new_closures, id) {
                true => Impact::Unaffected,
                false if own.is_same(*was, id) => Impact::Reached,
                false => Impact::Changed,
            },
        };
        found.functions.insert(name, impact);
    }
    found.removed = known.into_keys().filter(|name| !found.functions.contains_key(name)).collect();
    found
}

/// All that runs of a function depend on, with who is called before.
fn depends(module: &Module, closures: &Closures<'_>, func: FuncId) -> u128 {
    let mut before = changers(module, func);
    before.sort_by_key(|id| &module.functions[*id].name);
    let roots: Vec<Part> = [func].into_iter().chain(before).map(Part::Function).collect();
    closures.of(&roots).hash
}

fn is_own(function: &Function) -> bool {
    function.is_defined() && !function.is_library()
}

/// Compares functions by themselves.
struct Own<'m> {
    old: (&'m Module, Structures<'m>),
    new: (&'m Module, Structures<'m>),
}

impl Own<'_> {
    fn is_same(&self, old: FuncId, new: FuncId) -> bool {
        self.are_same(Part::Function(old), Part::Function(new))
    }

    /// Whether two parts are the same, if what they name by name is. Types lead back to themselves: what is asked already is true
    /// unless something else is not.
    fn are_same(&self, old: Part, new: Part) -> bool {
        let (mut pending, mut asked) = (vec![(old, new)], BTreeSet::new());
        while let Some(pair) = pending.pop() {
            if !asked.insert(pair) {
                continue;
            }
            let (one, other) = (self.old.1.of(pair.0), self.new.1.of(pair.1));
            if one.own != other.own || one.names.len() != other.names.len() {
                return false;
            }
            for (one, other) in one.names.iter().copied().zip(other.names.iter().copied()) {
                match (name(self.old.0, one), name(self.new.0, other)) {
                    (Some(one), Some(other)) if one == other => {}
                    (None, None) => pending.push((one, other)),
                    _ => return false,
                }
            }
        }
        true
    }
}

/// The name by which others know a part; none if they know it by what it is.
fn name(module: &Module, part: Part) -> Option<&str> {
    match part {
        Part::Function(id) => Some(&module.functions[id].name),
        Part::Global(id) => {
            let global = &module.globals[id];
            (global.linkage != Linkage::Literal).then_some(global.name.as_str())
        }
        Part::Type(_) => None,
    }
}
