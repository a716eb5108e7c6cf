//! State that one call leaves for the next: the variables that hold it, and the functions that change it.
//!
//! Deliberately not here: variables that other files can name. A test sets those, and code outside of the program may
//! change them.

use crate::inputs::globals::{used_globals, written_globals};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_ir::{
    CallGraph, DataType, FuncId, Function, GlobalId, GlobalRole, InstKind, Linkage, Module, Operand, PointeeShape,
    TermKind, derived_from,
};

/// The maximum number of functions that are called before the one under test: each multiplies the sequences.
const MAX_FUNCTIONS: usize = 8;

/// Returns the functions that may change the state that a call of `func` reads, itself included if it does: first those
/// that change what it uses, then those that change what these use. A caller of `func` can call all of them.
pub fn state_changers(module: &Module, func: FuncId) -> Vec<FuncId> {
    let written = written_globals(module);
    let uses =
        |root: FuncId| used_globals(module, &[root]).into_iter().filter(|id| is_persistent(module, *id, &written));
    let mut state: BTreeSet<GlobalId> = uses(func).collect();
    if state.is_empty() {
        return Vec::new();
    }
    let calls = CallGraph::new(module);
    let own: BTreeMap<FuncId, BTreeSet<GlobalId>> =
        module.functions.iter().map(|(id, function)| (id, written_by(function))).collect();
    let all = |root: FuncId| -> BTreeSet<GlobalId> {
        calls.reachable_from(root).iter().flat_map(|id| own[id].iter().copied()).collect()
    };
    let callable = module.functions.iter().filter(|(id, _)| *id == func || is_callable(module, func, *id));
    let candidates: Vec<(FuncId, BTreeSet<GlobalId>)> = callable.map(|(id, _)| (id, all(id))).collect();
    let mut found: Vec<FuncId> = Vec::new();
    loop {
        let changes = |(id, changed): &&(FuncId, BTreeSet<GlobalId>)| {
            !found.contains(id) && changed.iter().any(|global| state.contains(global))
        };
        let mut next: Vec<FuncId> = candidates.iter().filter(changes).map(|(id, _)| *id).collect();
        // Public functions replace private ones that change the same variables.
        let is_private = |id: FuncId| id != func && module.functions[id].internal;
        let changed = |id: FuncId| all(id).into_iter().filter(|global| state.contains(global)).collect::<BTreeSet<_>>();
        let public: BTreeSet<GlobalId> =
            next.iter().filter(|id| !is_private(**id)).flat_map(|id| changed(*id)).collect();
        next.retain(|id| !is_private(*id) || !changed(*id).is_subset(&public));
        // The function under test comes first: readers expect it to be called.
        next.sort_by_key(|id| *id != func);
        next.truncate(MAX_FUNCTIONS - found.len());
        if next.is_empty() {
            return found;
        }
        state.extend(next.iter().flat_map(|id| uses(*id)));
        found.extend(next);
    }
}

/// Returns the private variables that a function may read, that functions change, and that a test of its file can name.
pub fn private_state(module: &Module, func: FuncId) -> BTreeSet<GlobalId> {
    let written = written_globals(module);
    let is_private = |id: &GlobalId| module.globals[*id].linkage == Linkage::Internal;
    let used = used_globals(module, &[func]).into_iter();
    used.filter(|id| is_private(id) && is_persistent(module, *id, &written)).collect()
}

/// Returns true if some of these functions use a variable that functions of the program change.
pub(crate) fn use_changing_variables(module: &Module, roots: &[FuncId]) -> bool {
    let written = written_globals(module);
    used_globals(module, roots).into_iter().any(|id| {
        let global = &module.globals[id];
        let is_variable = matches!(global.role, GlobalRole::Variable | GlobalRole::Exposed);
        is_variable && !global.constant && global.function.is_none() && written.contains(&id)
    })
}

/// Returns true if a test of `func` can call `other` like a user.
pub(crate) fn is_callable(module: &Module, func: FuncId, other: FuncId) -> bool {
    let (function, beside) = (&module.functions[other], &module.functions[func]);
    let visible = !function.internal || function.span.file == beside.span.file;
    let is_entry = module.entry.as_ref() == Some(&function.name);
    let takes_list = function.params.iter().any(|param| match module.types[param.data] {
        DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. } => {
            matches!(module.pointee(to).stands, PointeeShape::Arguments | PointeeShape::Cursor)
        }
        _ => false,
    });
    function.is_defined() && !function.is_library() && visible && !is_entry && !takes_list
}

/// Returns true if a variable holds state left by calls and only functions of its file can name it.
pub(crate) fn is_persistent(module: &Module, id: GlobalId, written: &BTreeSet<GlobalId>) -> bool {
    let global = &module.globals[id];
    let private = matches!(global.linkage, Linkage::Local | Linkage::Internal);
    private
        && !global.constant
        && global.function.is_none()
        && matches!(global.role, GlobalRole::Variable | GlobalRole::Exposed)
        && written.contains(&id)
}

/// Returns the globals that a function writes itself, or that escape from it.
fn written_by(function: &Function) -> BTreeSet<GlobalId> {
    let derived = derived_from(function);
    let of = |operand: &Operand| match operand {
        Operand::Reg(reg) => derived[reg.index()].clone(),
        Operand::Const(..) => BTreeSet::new(),
    };
    let mut changed = BTreeSet::new();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::Store { addr, value } => changed.extend(of(addr).into_iter().chain(of(value))),
            InstKind::MemCopy { dst, .. } | InstKind::MemSet { dst, .. } => changed.extend(of(dst)),
            InstKind::Call { args, .. } | InstKind::Builtin { args, .. } => changed.extend(args.iter().flat_map(of)),
            InstKind::Cast { src, .. } => changed.extend(of(src)),
            _ => {}
        }
    }
    for block in function.blocks.values() {
        if let TermKind::Return(Some(value)) | TermKind::Throw(value) = &block.terminator.kind {
            changed.extend(of(value));
        }
    }
    changed
}
