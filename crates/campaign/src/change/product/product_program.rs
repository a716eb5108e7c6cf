//! Both versions of a function as one: a module that also has the old one (`merged.rs`), and a *driver* that calls both with the same inputs and then asks
//! whether they left the same. Whoever explores, runs or proves the driver needs to know nothing of versions.
//!
//! Where versions share memory, the driver keeps what inputs hold and gives it back (`maker.rs`); where objects have classes, each has objects of its own
//! (`twins.rs`). There is a driver only where neither sees what the other did, and nothing is asked of the world.

use super::driver_builder::{Maker, Objects, scalars};
use super::java::is_repeatable;
use super::merged_module::Merged;
use super::object_graphs::{Apart, Passed};
use crate::change::impact::Part;
use crate::change::impact::Versions;
use std::collections::BTreeSet;
use touchstone_engine::global_inputs;
use touchstone_ir::{
    Builtin, Callee, DataType, FuncId, GlobalId, GlobalRole, Inst, InstKind, Module, PointId, Touches,
};

/// Both versions in one module.
pub(crate) struct Together {
    pub module: Module,
    /// The old version of the function.
    pub old: FuncId,
    pub driver: Option<Driven>,
}

/// A driver of both versions.
pub(crate) struct Driven {
    pub func: FuncId,
    /// Is reached where they left something else.
    pub differs: PointId,
    /// Is reached where nobody can say whether they did.
    pub unsure: Option<PointId>,
    /// All that they leave is compared.
    pub whole: bool,
    /// One of them may end the program.
    pub exits: bool,
    /// Earlier calls may have left something that no test sets.
    pub hidden: bool,
}

impl Together {
    /// `None` where the versions can't be compared so. Where objects have classes, parameters are passed as it is said; those that nobody speaks of as
    /// they are.
    pub fn new(versions: &Versions<'_>, func: FuncId, passed: &[Passed]) -> Option<Together> {
        let old = versions.old_of(func)?;
        let merged = Merged::new(versions, old)?;
        let written = Written::of(versions, old, func);
        let here = merged.functions[&old];
        let mut module = merged.module.clone();
        let nothing = module.types.push(DataType::Void);
        let maker = Maker::begin(&module, func, nothing);
        let exits = some(versions, (old, func), ends);
        let made = written.and_then(|written| match module.has_classes() {
            false => {
                let mut globals = written.globals;
                if written.objects == Objects::Written {
                    // Pointers lead to what parameters lead to, and to any of these.
                    globals.extend(versions.variables(old, func)?);
                }
                let (driver, differs) = maker.make((func, here), &globals, written.objects)?;
                Some((driver, differs, None, (true, true)))
            }
            true => {
                let own = module.functions[func].own_params();
                let usual = |(index, param): (usize, &touchstone_ir::Param)| {
                    passed.get(index).copied().unwrap_or(Passed::AsItIs(param.data))
                };
                let params = own.iter().enumerate().map(usual).collect();
                let (apart, whole) = apart(versions, (old, func), &merged, &written, params)?;
                let (driver, places) = maker.make_apart((func, here), &apart)?;
                let hidden = merged.apart().count() > apart.given.len();
                Some((driver.made, places.differs, Some(places.unsure), (whole, hidden)))
            }
        });
        let driver = made.map(|(driver, differs, unsure, (whole, hidden))| {
            let func = module.functions.push(driver);
            Driven { func, differs, unsure, whole, exits, hidden }
        });
        touchstone_ir::verify(&module).is_empty().then_some(Together { module, old: here, driver })
    }
}

/// What either version may write.
struct Written {
    globals: BTreeSet<GlobalId>,
    /// Of the old version, unknown to the new one.
    gone: bool,
    /// Also what parameters lead to.
    objects: Objects,
}

impl Written {
    /// `None` if one may see what the other did.
    fn of(versions: &Versions<'_>, old: FuncId, new: FuncId) -> Option<Written> {
        let mut written = Written { globals: BTreeSet::new(), gone: false, objects: Objects::NotWritten };
        for (side, func) in [(&versions.old, old), (&versions.new, new)] {
            let called = side.calls.reachable_from(func);
            let insts = |id: &FuncId| side.module.functions[*id].blocks.values().flat_map(|block| &block.insts);
            let anybody = |inst: &Inst| matches!(inst.kind, InstKind::Call { callee: Callee::Indirect(_), .. });
            if called.iter().any(|id| !side.module.functions[*id].is_defined() || insts(id).any(anybody)) {
                return None;
            }
        }
        let classes = versions.new.module.has_classes();
        if classes && some(versions, (old, new), asks_the_world) {
            return None;
        }
        let of_runtime = |part: &Part| matches!(part, Part::Global(id) if versions.old.module.globals[*id].role == GlobalRole::Runtime);
        let parts = versions.old.of_call(old).writes.into_iter().filter(|part| !classes || !of_runtime(part));
        let parts = parts.map(|part| versions.renamed(part, |_| None));
        for part in parts.chain(versions.new.of_call(new).writes.into_iter().map(Some)) {
            match part {
                None if classes => written.gone = true,
                // Who asks the world is known better there.
                Some(Part::World) if classes => {}
                None | Some(Part::World) => return None,
                Some(Part::Global(id)) => drop(written.globals.insert(id)),
                Some(Part::Anything | Part::Field(..)) => written.objects = Objects::Written,
                Some(Part::Definedness | Part::Slot(_)) => {}
            }
        }
        Some(written)
    }
}

/// Whether one of the versions does something of this kind.
fn some(versions: &Versions<'_>, (old, new): (FuncId, FuncId), is: impl Fn(&Builtin) -> bool) -> bool {
    [(&versions.old, old), (&versions.new, new)].into_iter().any(|(side, func)| {
        let called = side.calls.reachable_from(func);
        let blocks = called.iter().flat_map(|id| side.module.functions[*id].blocks.values());
        let mut insts = blocks.flat_map(|block| &block.insts);
        insts.any(|inst| matches!(&inst.kind, InstKind::Builtin { builtin, .. } if is(builtin)))
    })
}

/// Whether a run may end there.
fn ends(builtin: &Builtin) -> bool {
    builtin.touches() == Touches::Ends
}

/// Whether it may be another one the next time, where objects have classes. Whoever speaks of all runs stops at what is known of one run only; and a text is
/// the same one for both versions.
fn asks_the_world(builtin: &Builtin) -> bool {
    !matches!(builtin, Builtin::RunOnly)
        && !is_repeatable(builtin)
        && !matches!(builtin.touches(), Touches::Nothing | Touches::Ends)
}

/// What versions get and leave that have objects of their own, and whether that is all; `None` if they can't get the same.
fn apart(
    versions: &Versions<'_>,
    (old, new): (FuncId, FuncId),
    merged: &Merged<'_, '_>,
    written: &Written,
    params: Vec<Passed>,
) -> Option<(Apart, bool)> {
    let (before, now) = (versions.old.module, versions.new.module);
    let (inputs_before, inputs) = (global_inputs(before, old), global_inputs(now, new));
    let mut apart = Apart { params, given: Vec::new(), left: Vec::new(), there: BTreeSet::new() };
    let mut whole = !written.gone;
    let mut paired = BTreeSet::new();
    for (was, became, here) in merged.apart() {
        let is_input = inputs_before.contains(&was);
        let Some(became) = became else {
            // Nobody can give it to both.
            if is_input {
                return None;
            }
            whole = false;
            continue;
        };
        paired.insert(became);
        match (is_input, inputs.contains(&became)) {
            (true, true) if scalars(now, now.globals[became].data).is_some() => apart.given.push((became, here)),
            // Whoever looks at it stops; whoever does not leaves it.
            (true, true) => whole = false,
            (false, false) => {}
            _ => return None,
        }
        let is_object = now.globals[became].role == GlobalRole::Heap;
        let may_change = written.globals.contains(&became) || is_object && written.objects == Objects::Written;
        match may_change {
            true if Maker::can_compare(now, became) => apart.left.push((became, here)),
            true => whole = false,
            false => {}
        }
    }
    // What only one of them knows.
    whole &= written.globals.iter().all(|id| paired.contains(id) || now.globals[*id].role == GlobalRole::Runtime);
    for (module, version, func) in [(before, 0, old), (now, 1, new)] {
        for id in versions.globals_of(version, func) {
            let global = &module.globals[id];
            if let (GlobalRole::Heap, DataType::Struct { name, .. }) = (global.role, &module.types[global.data]) {
                apart.there.insert(name.clone());
            }
        }
    }
    // Which of several objects that were there a variable leads to is not compared.
    whole &= lead_nowhere(now, &written.globals);
    Some((apart, whole))
}

/// Whether none of these variables holds a pointer.
fn lead_nowhere(module: &Module, globals: &BTreeSet<GlobalId>) -> bool {
    let holds = |id: &GlobalId| {
        let global = &module.globals[*id];
        global.role != GlobalRole::Runtime && scalars(module, global.data).is_none()
    };
    !globals.iter().any(holds)
}

impl Versions<'_> {
    /// All variables that either version of a function may reach; `None` if one of them is gone.
    fn variables(&self, old: FuncId, new: FuncId) -> Option<BTreeSet<GlobalId>> {
        let is_variable =
            |module: &Module, id: &GlobalId| !module.globals[*id].constant && module.globals[*id].function.is_none();
        let mut found: BTreeSet<GlobalId> =
            self.globals_of(1, new).into_iter().filter(|id| is_variable(self.new.module, id)).collect();
        for id in self.globals_of(0, old).into_iter().filter(|id| is_variable(self.old.module, id)) {
            found.insert(self.new_global(id)?);
        }
        Some(found)
    }
}
