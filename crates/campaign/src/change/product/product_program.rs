//! The product program of two versions of a function: a module with both (`merged_module.rs`), and a *driver* that
//! calls both with the same inputs and checks that they leave the same state. Exploration, interpretation and proofs of
//! the driver need to know nothing about versions.
//!
//! Where the versions share memory, the driver saves and restores the inputs (`driver_builder.rs`); where objects have
//! classes, each version has its own objects (`object_graphs.rs`). A driver exists only if neither version sees what
//! the other did, and nothing depends on the environment.

use super::driver_builder::{DriverBuilder, PointeeWrites, scalars};
use super::java::is_repeatable;
use super::merged_module::MergedModule;
use super::object_graphs::{ParameterPassing, SeparateGraphs};
use crate::change::impact::Region;
use crate::change::impact::Versions;
use std::collections::BTreeSet;
use touchstone_engine::global_inputs;
use touchstone_ir::{
    Builtin, BuiltinEffect, Callee, DataType, FuncId, GlobalId, GlobalRole, Inst, InstKind, Module, PointId,
};

/// Both versions in one module.
pub(crate) struct ProductProgram {
    pub module: Module,
    /// The old version of the function.
    pub old: FuncId,
    pub driver: Option<Driver>,
}

/// The driver of both versions.
pub(crate) struct Driver {
    pub func: FuncId,
    /// The point that is reached if the versions left different states.
    pub differs: PointId,
    /// The point that is reached if the driver cannot decide.
    pub unsure: Option<PointId>,
    /// True if the complete state that they leave is compared.
    pub complete: bool,
    /// True if a version may end the program.
    pub exits: bool,
    /// True if earlier calls may have left state that no test sets.
    pub has_hidden_state: bool,
}

impl ProductProgram {
    /// Builds the product program, or returns `None` if the versions cannot be compared this way. With classes,
    /// parameters are passed as `passing` says; missing entries are passed unchanged.
    pub fn new(versions: &Versions<'_>, func: FuncId, passing: &[ParameterPassing]) -> Option<ProductProgram> {
        let old = versions.old_of(func)?;
        let merged = MergedModule::new(versions, old)?;
        let written_state = WrittenState::of(versions, old, func);
        let here = merged.functions[&old];
        let mut module = merged.module.clone();
        let nothing = module.types.push(DataType::Void);
        let builder = DriverBuilder::begin(&module, func, nothing);
        let exits = either_executes(versions, (old, func), may_end_run);
        let made = written_state.and_then(|written_state| match module.has_classes() {
            false => {
                let mut globals = written_state.globals;
                if written_state.objects == PointeeWrites::Written {
                    // Pointers may point to the pointees of parameters, and to any of these.
                    globals.extend(versions.variables(old, func)?);
                }
                let (driver, differs) = builder.build((func, here), &globals, written_state.objects)?;
                Some((driver, differs, None, (true, true)))
            }
            true => {
                let own = module.functions[func].own_params();
                let usual = |(index, param): (usize, &touchstone_ir::Param)| {
                    passing.get(index).copied().unwrap_or(ParameterPassing::Unchanged(param.data))
                };
                let params = own.iter().enumerate().map(usual).collect();
                let (graphs, complete) = separate_graphs(versions, (old, func), &merged, &written_state, params)?;
                let (driver, places) = builder.build_with_graphs((func, here), &graphs)?;
                let has_hidden_state = merged.copied_globals().count() > graphs.inputs.len();
                Some((driver.driver, places.differs, Some(places.unsure), (complete, has_hidden_state)))
            }
        });
        let driver = made.map(|(driver, differs, unsure, (complete, has_hidden_state))| {
            let func = module.functions.push(driver);
            Driver { func, differs, unsure, complete, exits, has_hidden_state }
        });
        touchstone_ir::verify(&module).is_empty().then_some(ProductProgram { module, old: here, driver })
    }
}

/// The state that a version may write.
struct WrittenState {
    globals: BTreeSet<GlobalId>,
    /// True if the old version writes globals that the new one does not have.
    gone: bool,
    /// Says whether the pointees of parameters are written, too.
    objects: PointeeWrites,
}

impl WrittenState {
    /// Computes the written state, or returns `None` if one version may see what the other did.
    fn of(versions: &Versions<'_>, old: FuncId, new: FuncId) -> Option<WrittenState> {
        let mut written_state =
            WrittenState { globals: BTreeSet::new(), gone: false, objects: PointeeWrites::NotWritten };
        for (side, func) in [(&versions.old, old), (&versions.new, new)] {
            let called = side.calls.reachable_from(func);
            let insts = |id: &FuncId| side.module.functions[*id].blocks.values().flat_map(|block| &block.insts);
            let anybody = |inst: &Inst| matches!(inst.kind, InstKind::Call { callee: Callee::Indirect(_), .. });
            if called.iter().any(|id| !side.module.functions[*id].is_defined() || insts(id).any(anybody)) {
                return None;
            }
        }
        let classes = versions.new.module.has_classes();
        if classes && either_executes(versions, (old, new), reads_environment) {
            return None;
        }
        let of_runtime = |part: &Region| matches!(part, Region::Global(id) if versions.old.module.globals[*id].role == GlobalRole::Runtime);
        let parts = versions.old.call_effects(old).writes.into_iter().filter(|part| !classes || !of_runtime(part));
        let parts = parts.map(|part| versions.in_new_version(part, |_| None));
        for part in parts.chain(versions.new.call_effects(new).writes.into_iter().map(Some)) {
            match part {
                None if classes => written_state.gone = true,
                // `reads_environment` is more precise.
                Some(Region::Environment) if classes => {}
                None | Some(Region::Environment) => return None,
                Some(Region::Global(id)) => drop(written_state.globals.insert(id)),
                Some(Region::Anything | Region::Field(..)) => written_state.objects = PointeeWrites::Written,
                Some(Region::Definedness | Region::Slot(_)) => {}
            }
        }
        Some(written_state)
    }
}

/// Returns true if one of the versions executes such a builtin.
fn either_executes(versions: &Versions<'_>, (old, new): (FuncId, FuncId), is: impl Fn(&Builtin) -> bool) -> bool {
    [(&versions.old, old), (&versions.new, new)].into_iter().any(|(side, func)| {
        let called = side.calls.reachable_from(func);
        let blocks = called.iter().flat_map(|id| side.module.functions[*id].blocks.values());
        let mut insts = blocks.flat_map(|block| &block.insts);
        insts.any(|inst| matches!(&inst.kind, InstKind::Builtin { builtin, .. } if is(builtin)))
    })
}

/// Returns true if a builtin may end the run.
fn may_end_run(builtin: &Builtin) -> bool {
    builtin.effect() == BuiltinEffect::Ends
}

/// Returns true if a builtin may return another value the next time, where objects have classes. Proofs stop at facts
/// about a single run, and strings are the same for both versions.
fn reads_environment(builtin: &Builtin) -> bool {
    !matches!(builtin, Builtin::RunOnly)
        && !is_repeatable(builtin)
        && !matches!(builtin.effect(), BuiltinEffect::Nothing | BuiltinEffect::Ends)
}

/// Computes the inputs and the compared state of versions with separate object graphs, and whether that state is
/// complete. Returns `None` if they cannot be given the same inputs.
fn separate_graphs(
    versions: &Versions<'_>,
    (old, new): (FuncId, FuncId),
    merged: &MergedModule<'_, '_>,
    written_state: &WrittenState,
    params: Vec<ParameterPassing>,
) -> Option<(SeparateGraphs, bool)> {
    let (before, now) = (versions.old.module, versions.new.module);
    let (inputs_before, inputs) = (global_inputs(before, old), global_inputs(now, new));
    let mut graphs = SeparateGraphs { params, inputs: Vec::new(), outputs: Vec::new(), existing: BTreeSet::new() };
    let mut complete = !written_state.gone;
    let mut paired = BTreeSet::new();
    for (was, became, here) in merged.copied_globals() {
        let is_input = inputs_before.contains(&was);
        let Some(became) = became else {
            // No input can be given to both.
            if is_input {
                return None;
            }
            complete = false;
            continue;
        };
        paired.insert(became);
        match (is_input, inputs.contains(&became)) {
            (true, true) if scalars(now, now.globals[became].data).is_some() => graphs.inputs.push((became, here)),
            // A path that reads it stops; others leave it unchanged.
            (true, true) => complete = false,
            (false, false) => {}
            _ => return None,
        }
        let is_object = now.globals[became].role == GlobalRole::Heap;
        let may_change =
            written_state.globals.contains(&became) || is_object && written_state.objects == PointeeWrites::Written;
        match may_change {
            true if DriverBuilder::can_compare(now, became) => graphs.outputs.push((became, here)),
            true => complete = false,
            false => {}
        }
    }
    // Globals that only one version has.
    complete &=
        written_state.globals.iter().all(|id| paired.contains(id) || now.globals[*id].role == GlobalRole::Runtime);
    for (module, version, func) in [(before, 0, old), (now, 1, new)] {
        for id in versions.globals_of(version, func) {
            let global = &module.globals[id];
            if let (GlobalRole::Heap, DataType::Struct { name, .. }) = (global.role, &module.types[global.data]) {
                graphs.existing.insert(name.clone());
            }
        }
    }
    // It is not compared to which of several existing objects a variable points.
    complete &= hold_no_pointers(now, &written_state.globals);
    Some((graphs, complete))
}

/// Returns true if none of these variables holds a pointer.
fn hold_no_pointers(module: &Module, globals: &BTreeSet<GlobalId>) -> bool {
    let holds = |id: &GlobalId| {
        let global = &module.globals[*id];
        global.role != GlobalRole::Runtime && scalars(module, global.data).is_none()
    };
    !globals.iter().any(holds)
}

impl Versions<'_> {
    /// Returns all variables that either version may access, or `None` if one has no counterpart.
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
