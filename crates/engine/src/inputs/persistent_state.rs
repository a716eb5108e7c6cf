//! State that one call leaves for the next: which variables have it, and which functions change it.
//!
//! Deliberately not here: what other files can name. A test sets that, and whoever changes it need not be of this program.

use crate::inputs::globals::{derived_from, used_globals, written_globals};
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::Id;
use touchstone_ir::{
    CallGraph, DataType, FuncId, Function, GlobalId, GlobalRole, InstKind, Linkage, Module, Operand, Stands, TermKind,
};

/// More functions than this are not called before the one under test: each multiplies the sequences.
const MAX_FUNCTIONS: usize = 8;

/// The functions that may change what a call of `func` finds, itself included if it does: first those that change what it
/// uses, then those that change what those use. All can be called by whoever can call `func`.
pub fn changers(module: &Module, func: FuncId) -> Vec<FuncId> {
    let calls = CallGraph::new(module);
    let written = written_globals(module);
    let own: BTreeMap<FuncId, BTreeSet<GlobalId>> =
        module.functions.iter().map(|(id, function)| (id, written_by(function))).collect();
    let all = |root: FuncId| -> BTreeSet<GlobalId> {
        calls.reachable_from(root).iter().flat_map(|id| own[id].iter().copied()).collect()
    };
    let callable = module.functions.iter().filter(|(id, _)| *id == func || is_callable(module, func, *id));
    let candidates: Vec<(FuncId, BTreeSet<GlobalId>)> = callable.map(|(id, _)| (id, all(id))).collect();
    let uses =
        |root: FuncId| used_globals(module, &[root]).into_iter().filter(|id| is_persistent(module, *id, &written));
    let mut state: BTreeSet<GlobalId> = uses(func).collect();
    let mut found: Vec<FuncId> = Vec::new();
    loop {
        let changes = |(id, changed): &&(FuncId, BTreeSet<GlobalId>)| {
            !found.contains(id) && changed.iter().any(|global| state.contains(global))
        };
        let mut next: Vec<FuncId> = candidates.iter().filter(changes).map(|(id, _)| *id).collect();
        // What a user can call does for what is private, as far as it changes the same.
        let is_private = |id: FuncId| id != func && module.functions[id].internal;
        let changed = |id: FuncId| all(id).into_iter().filter(|global| state.contains(global)).collect::<BTreeSet<_>>();
        let public: BTreeSet<GlobalId> =
            next.iter().filter(|id| !is_private(**id)).flat_map(|id| changed(*id)).collect();
        next.retain(|id| !is_private(*id) || !changed(*id).is_subset(&public));
        // The function under test is what a reader expects to be called.
        next.sort_by_key(|id| *id != func);
        next.truncate(MAX_FUNCTIONS - found.len());
        if next.is_empty() {
            return found;
        }
        state.extend(next.iter().flat_map(|id| uses(*id)));
        found.extend(next);
    }
}

/// Whether a test of `func` can call `other` as a user would.
fn is_callable(module: &Module, func: FuncId, other: FuncId) -> bool {
    let (function, beside) = (&module.functions[other], &module.functions[func]);
    let visible = !function.internal || function.span.file == beside.span.file;
    let is_entry = module.entry.as_ref() == Some(&function.name);
    let takes_list = function.params.iter().any(|param| match module.types[param.data] {
        DataType::Pointer { pointee: to, .. } | DataType::Array { element: to, .. } => {
            matches!(module.pointee(to).stands, Stands::Arguments | Stands::Cursor)
        }
        _ => false,
    });
    function.is_defined() && !function.is_library() && visible && !is_entry && !takes_list
}

/// Whether a variable holds what calls left, and only functions of its file name it.
pub(crate) fn is_persistent(module: &Module, id: GlobalId, written: &BTreeSet<GlobalId>) -> bool {
    let global = &module.globals[id];
    let private = matches!(global.linkage, Linkage::Local | Linkage::Internal);
    private
        && !global.constant
        && global.function.is_none()
        && global.role == GlobalRole::Variable
        && written.contains(&id)
}

/// The globals that a function writes itself, or whose address it hands to somebody.
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
