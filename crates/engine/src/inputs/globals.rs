//! Globals in the initial state: those that a function can access, which of them are inputs, and the contents of the
//! others.

use crate::config::Calls;
use crate::exec::executor::Executor;
use crate::exec::executor::used_globals::UsedGlobals;
use crate::inputs::MAX_INPUT_OBJECT_BYTES;
use crate::state::inputs::NamedInput;
use crate::state::memory::{Cell, Contents, Memory, Object, ObjectKind, disassemble, global_object};
use crate::state::value::Value;
use crate::state::{State, Stop};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_criteria::{Caveat, Unsupported};
use touchstone_ir::{
    Expr, ExprKind, FuncId, GlobalId, GlobalRole, InstKind, Linkage, Module, PointKind, reachable_functions,
};

/// The maximum size of a modelled global in bytes.
const MAX_GLOBAL_BYTES: u64 = 1 << 24;

/// The maximum size of a global that holds state of earlier calls; a path that reads a larger one stops.
const MAX_HIDDEN_GLOBAL_BYTES: u64 = 4096;

impl Executor<'_> {
    /// Initialises the globals that are used. For a function under test, those that it or its precondition or oracle
    /// may read are inputs; a program starts with the initial values.
    pub(crate) fn globals(&mut self, state: &mut State, func: FuncId) -> Result<(), Stop> {
        let module = self.module;
        let helpers = [&self.config.precondition, &self.config.oracle].into_iter().flatten();
        let mut roots: Vec<FuncId> = helpers.filter_map(|name| module.function_named(name)).collect();
        roots.push(func);
        let known = match &self.used_globals {
            Some(known) if known.roots == roots => Rc::clone(known),
            _ => {
                let (constants, variables) =
                    reachable_globals(module).into_iter().partition(|id| module.globals[*id].constant);
                (self.reachable_constants, self.reachable_globals) = (constants, variables);
                let (all, written) = (used_globals(module, &roots), written_globals(module));
                let inputs = inputs_among(module, all.clone(), &written);
                let hidden = hidden_among(module, &all, &written);
                Rc::new(UsedGlobals { roots, all, inputs, hidden })
            }
        };
        self.used_globals = Some(Rc::clone(&known));
        let used = known.all.clone();
        let (mut inputs, hidden) = match self.config.entry {
            crate::Entry::Function => (known.inputs.clone(), known.hidden.clone()),
            crate::Entry::Program => (BTreeSet::new(), BTreeMap::new()),
        };
        inputs.retain(|id| !self.config.unnamed.contains(id));
        if self.config.calls.start_with_initial_globals() {
            inputs.retain(|id| module.globals[*id].linkage != Linkage::Internal);
        }
        if let Calls::Several { .. } = self.config.calls {
            let is_left = |id: &GlobalId| !module.globals[*id].constant && module.globals[*id].function.is_none();
            self.sequence_globals = used.iter().copied().filter(|id| is_left(id) && !inputs.contains(id)).collect();
        }
        if let Some(large) = used.iter().map(|id| &module.globals[*id]).find(|global| global.size > MAX_GLOBAL_BYTES) {
            let what = Unsupported::LargeGlobal(large.name.clone(), large.size);
            return Err(Stop::unsupported(what, large.span));
        }
        state.memory = self.blank_globals();
        let all = used.iter().fold(0u64, |sum, id| sum.saturating_add(module.globals[*id].size));
        if self.initial_globals.objects.is_empty() {
            self.ensure_memory(all, module.functions[func].span)?;
        }
        let mut constraints = Vec::new();
        for id in used {
            let (global, object) = (&module.globals[id], global_object(id));
            let mut cells = Vec::new();
            // In an unrestricted environment, globals that no test can set are inputs, too.
            let is_hidden =
                !inputs.contains(&id) && hidden.get(&id).is_some_and(|caveat| self.considers(caveat.clone()));
            let is_hidden = is_hidden && !is_injected(Fault::NoPersistentState);
            let is_input = inputs.contains(&id) || is_hidden;
            let too_large = (is_input && global.size > MAX_INPUT_OBJECT_BYTES)
                || (is_hidden && global.size > MAX_HIDDEN_GLOBAL_BYTES);
            if is_unknown(global, self.config.entry) || too_large {
                // No test can set all of it: a path that reads it stops.
                cells.resize(global.size as usize, Cell::Unmaterialised);
            } else if is_input && global.size == 0 {
                // The length of an array that another file defines is unknown: there is nothing to set, and a path that
                // reads it stops.
            } else if is_input {
                self.input_cells(state.inputs_mut(), global.data, &global.name, &mut constraints, &mut cells);
                let input = NamedInput { name: global.name.clone(), data: global.data, cells: cells.clone() };
                state.inputs_mut().globals.push(Rc::new(input));
            } else if global.role == GlobalRole::LibraryState && self.config.entry == crate::Entry::Function {
                cells.resize(global.size as usize, Cell::Unmaterialised);
            } else {
                let initial = self.initial_object(id, state.memory.get(object));
                state.memory.share(object, initial);
                continue;
            }
            // Elements of a flexible array member are behind the end of the type.
            cells.resize(global.size as usize, if is_input { Cell::Unmaterialised } else { Cell::Byte(0) });
            state.memory.get_mut(object).contents = Contents::Cells(cells);
        }
        Ok(self.assume_all(state, &constraints)?)
    }

    /// Returns all globals, without contents.
    fn blank_globals(&mut self) -> Memory {
        if let Some(known) = &self.initial_globals.blank {
            return known.clone();
        }
        let mut memory = Memory::default();
        for global in self.module.globals.values() {
            let kind = if global.constant { ObjectKind::Constant } else { ObjectKind::Global };
            let mut object = Object::with_cells(Vec::new(), kind, Some(global.data));
            object.size = global.size;
            memory.alloc(object);
        }
        self.initial_globals.blank = Some(memory.clone());
        memory
    }

    /// Returns a global with its initial value.
    fn initial_object(&mut self, id: GlobalId, blank: &Object) -> Rc<Object> {
        if let Some(known) = self.initial_globals.objects.get(&id) {
            return Rc::clone(known);
        }
        let object = Rc::new(Object { contents: Contents::Cells(self.initial_cells(id)), ..blank.clone() });
        self.initial_globals.objects.insert(id, Rc::clone(&object));
        object
    }

    fn initial_cells(&mut self, id: GlobalId) -> Vec<Cell> {
        let global = &self.module.globals[id];
        let mut cells = vec![Cell::Byte(0); global.size as usize];
        for piece in global.init.iter().flatten() {
            match piece {
                touchstone_ir::Init::Bytes { offset, bytes } => {
                    for (cell, byte) in cells[*offset as usize..].iter_mut().zip(bytes) {
                        *cell = Cell::Byte(*byte);
                    }
                }
                touchstone_ir::Init::GlobalAddr { offset, global, addend } => {
                    let value = Value::pointer(global_object(*global), *addend as u64);
                    let made = disassemble(&value, 8, &mut self.pointers);
                    for (cell, new) in cells[*offset as usize..].iter_mut().zip(made) {
                        *cell = new;
                    }
                }
            }
        }
        cells
    }
}

/// Returns the globals that these functions and their callees name, and those that initial values point to.
pub(crate) fn used_globals(module: &Module, roots: &[FuncId]) -> BTreeSet<GlobalId> {
    let reachable = reachable_functions(module, roots.iter().copied());
    let mut pending: Vec<GlobalId> = Vec::new();
    for func in reachable {
        for inst in module.functions[func].blocks.values().flat_map(|block| &block.insts) {
            if let InstKind::GlobalAddr { global, .. } = &inst.kind {
                pending.push(*global);
            }
        }
        for point in module.functions[func].points.values() {
            if let PointKind::Label { predicate, .. } = &point.kind {
                globals_of(predicate, &mut pending);
            }
        }
    }
    let mut used = BTreeSet::new();
    while let Some(global) = pending.pop() {
        if used.insert(global) {
            for piece in module.globals[global].init.iter().flatten() {
                if let touchstone_ir::Init::GlobalAddr { global, .. } = piece {
                    pending.push(*global);
                }
            }
        }
    }
    used
}

/// Collects the globals that an expression names.
fn globals_of(expr: &Expr, found: &mut Vec<GlobalId>) {
    if let ExprKind::Global(global) = expr.kind {
        found.push(global);
    }
    for part in expr.parts() {
        globals_of(part, found);
    }
}

/// Returns the globals that a function may read through its callees and that are not constants of the program.
///
/// Not an input: a constant, a literal, a static local (no test can set it), and a global that has an explicit
/// initialiser and that no code of the module writes or lets escape: its value is always the initialiser's.
pub fn global_inputs(module: &Module, func: FuncId) -> BTreeSet<GlobalId> {
    inputs_among(module, used_globals(module, &[func]), &written_globals(module))
}

fn inputs_among(module: &Module, mut used: BTreeSet<GlobalId>, written: &BTreeSet<GlobalId>) -> BTreeSet<GlobalId> {
    used.retain(|id| {
        let global = &module.globals[*id];
        let settable = !matches!(global.linkage, Linkage::Local | Linkage::Literal);
        // A test defines what another file defines, even a constant.
        let fixed = global.constant && global.linkage != Linkage::Undefined;
        settable && !fixed && (global.init.is_none() || written.contains(id))
    });
    used
}

/// Returns the globals that no test sets and that earlier calls or other files may change.
fn hidden_among(
    module: &Module,
    used: &BTreeSet<GlobalId>,
    written: &BTreeSet<GlobalId>,
) -> BTreeMap<GlobalId, Caveat> {
    let hidden = used.iter().filter_map(|id| {
        let global = &module.globals[*id];
        let name = || global.quoted_name();
        let caveat = match global.linkage {
            _ if global.constant || global.function.is_some() => return None,
            _ if matches!(global.role, GlobalRole::LibraryState | GlobalRole::Runtime) => return None,
            Linkage::Literal | Linkage::Undefined => return None,
            Linkage::Local | Linkage::Internal if written.contains(id) => Caveat::EarlierCalls(name()),
            Linkage::Local | Linkage::Internal => return None,
            Linkage::External => Caveat::OtherFiles(name()),
        };
        Some((*id, caveat))
    });
    hidden.collect()
}

/// Returns the globals that may differ from their initialisers and from what a test sets. Used by proofs.
pub(crate) fn changeable_globals(module: &Module, func: FuncId) -> BTreeSet<GlobalId> {
    let used = used_globals(module, &[func]);
    let written = written_globals(module);
    let hidden = hidden_among(module, &used, &written);
    let mut all = inputs_among(module, used, &written);
    all.extend(hidden.into_keys());
    all
}

/// Returns true if the initial contents of a variable are unknown: another file defines it, and no test can set it.
fn is_unknown(global: &touchstone_ir::Global, entry: crate::Entry) -> bool {
    global.linkage == Linkage::Undefined && global.function.is_none() && entry == crate::Entry::Program
}

/// Returns the globals that a pointer from outside may point to: those that other files can name, those that escape,
/// and literals, which compilers and linkers merge with equal ones. Constants and functions have addresses, too.
fn reachable_globals(module: &Module) -> BTreeSet<GlobalId> {
    let uses = module.global_uses();
    let reachable = module.globals.iter().filter(|(id, global)| {
        let named = !matches!(global.linkage, Linkage::Internal | Linkage::Local);
        named || uses.escaping.contains(id)
    });
    reachable.map(|(id, _)| id).collect()
}

/// Facts about globals that also code outside of a function's call graph determines.
#[derive(Clone, Debug)]
pub struct GlobalFacts {
    /// Globals that some code writes, or may write.
    pub written: BTreeSet<GlobalId>,
    /// Globals that a pointer from outside may point to.
    pub reachable: BTreeSet<GlobalId>,
}

impl GlobalFacts {
    /// Computes the facts of a module.
    pub fn of(module: &Module) -> GlobalFacts {
        GlobalFacts { written: written_globals(module), reachable: reachable_globals(module) }
    }
}

/// Returns the globals that some code writes, or that escape.
pub(crate) fn written_globals(module: &Module) -> BTreeSet<GlobalId> {
    let uses = module.global_uses();
    uses.escaping.union(&uses.written).copied().collect()
}
