//! The module of the new version, extended by functions of the old one under other names.
//!
//! Both versions share the globals, except for constants that changed: the driver saves and restores their contents.
//! With classes, static variables point to objects that point to others; there the old version gets copies of
//! everything that may be written, so that neither version sees what the other did.

use crate::change::impact::Versions;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_ir::{
    Builtin, Callee, DataTypeId, FuncId, GlobalId, GlobalRole, Init, InstKind, Linkage, Module,
    ModuleItem as ModulePart, Operand,
};

/// The new version with functions of the old one.
pub(super) struct MergedModule<'v, 'm> {
    versions: &'v Versions<'m>,
    pub module: Module,
    /// Maps functions of the old version to their ids in this module.
    pub functions: BTreeMap<FuncId, FuncId>,
    globals: BTreeMap<GlobalId, GlobalId>,
    files: BTreeMap<FileId, FileId>,
    /// Globals of the old version of which it has its own copy.
    copied: BTreeSet<GlobalId>,
}

impl<'v, 'm> MergedModule<'v, 'm> {
    /// Merges both versions, or returns `None` if they cannot be in one module.
    pub fn new(versions: &'v Versions<'m>, old: FuncId) -> Option<MergedModule<'v, 'm>> {
        let mut merged = MergedModule {
            versions,
            module: versions.new.module.clone(),
            functions: BTreeMap::new(),
            globals: BTreeMap::new(),
            files: BTreeMap::new(),
            copied: match versions.new.module.has_classes() {
                true => globals_to_copy(versions, old),
                false => BTreeSet::new(),
            },
        };
        for id in merged.functions_to_copy(old) {
            merged.copy(id)?;
        }
        Some(merged)
    }

    /// Returns the globals of which the old version has a copy: old id, counterpart in the new version, and id of the
    /// copy.
    pub fn copied_globals(&self) -> impl Iterator<Item = (GlobalId, Option<GlobalId>, GlobalId)> + '_ {
        let known = self.globals.iter().filter(|(old, _)| self.copied.contains(old));
        known.map(|(old, here)| (*old, self.versions.new_global(*old), *here))
    }

    /// Returns the functions that have to be copied; unchanged ones are shared.
    fn functions_to_copy(&mut self, root: FuncId) -> Vec<FuncId> {
        let old = &self.versions.old;
        let mut copies = Vec::new();
        for id in old.calls.reachable_from(root) {
            let name = &old.module.functions[id].name;
            let same = self.versions.new.module.function_named(name).filter(|new| self.versions.is_same(*new));
            let shares = || !self.versions.globals_of(0, id).iter().any(|global| self.copied.contains(global));
            let same = same.filter(|_| self.copied.is_empty() || shares());
            let here = match same {
                Some(new) => new,
                None => {
                    let placeholder = old.module.functions[id].clone();
                    copies.push(id);
                    self.module.functions.push(placeholder)
                }
            };
            self.functions.insert(id, here);
        }
        copies
    }

    fn copy(&mut self, id: FuncId) -> Option<()> {
        let mut function = self.versions.old.module.functions[id].clone();
        function.name = format!("{} before", function.name);
        function.internal = true;
        self.place(&mut function.span);
        for param in &mut function.params {
            param.data = self.data(param.data)?;
        }
        function.result_data = self.data(function.result_data)?;
        for slot in function.slots.values_mut() {
            slot.data = self.data(slot.data)?;
        }
        // No goal refers to the old version.
        function.points = IndexMap::new();
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| !matches!(inst.kind, InstKind::Point { .. }));
            self.place(&mut block.terminator.span);
            for inst in &mut block.insts {
                self.place(&mut inst.span);
                match &mut inst.kind {
                    InstKind::GlobalAddr { global, .. } => *global = self.global(*global)?,
                    InstKind::Call { callee: Callee::Direct(callee), .. } => *callee = *self.functions.get(callee)?,
                    InstKind::Builtin { builtin: Builtin::CastPointee, args, .. } => {
                        let Some(Operand::Const(_, number)) = args.get_mut(1) else { return None };
                        *number = self.data(DataTypeId::new(usize::try_from(*number).ok()?))?.index() as u64;
                    }
                    _ => {}
                }
            }
        }
        for decision in function.decisions.values_mut() {
            self.place(&mut decision.span);
            decision.conditions.values_mut().for_each(|condition| self.place(&mut condition.span));
        }
        let here = self.functions[&id];
        self.module.functions[here] = function;
        Some(())
    }

    fn place(&mut self, span: &mut Span) {
        if let Some(path) = self.versions.old.module.files.get(span.file) {
            let files = &mut self.module.files;
            span.file = *self.files.entry(span.file).or_insert_with(|| files.push(path.clone()));
        }
    }

    fn data(&self, old: DataTypeId) -> Option<DataTypeId> {
        self.versions.new_type(old)
    }

    /// Returns the id of a global of the old version in this module. A constant that changed is copied.
    fn global(&mut self, old: GlobalId) -> Option<GlobalId> {
        if let Some(known) = self.globals.get(&old) {
            return Some(*known);
        }
        let global = &self.versions.old.module.globals[old];
        if self.copied.contains(&old) {
            return self.copy_global(old);
        }
        let became = self.versions.new_global(old);
        let here = match became {
            Some(id) if !self.versions.initial_value_differs(id) => id,
            _ if global.constant || global.linkage == Linkage::Literal => {
                let mut copy = global.clone();
                copy.name = format!("{} before", copy.name);
                copy.data = self.data(copy.data)?;
                if copy.init.iter().flatten().any(|piece| matches!(piece, Init::GlobalAddr { .. }))
                    || copy.function.is_some()
                {
                    return None;
                }
                self.module.globals.push(copy)
            }
            // Functions that are unchanged point to nothing that changed.
            _ if global.role == GlobalRole::Runtime => return self.copy_global(old),
            _ => return None,
        };
        self.globals.insert(old, here);
        Some(here)
    }

    /// Copies a global for the old version, with everything that it points to.
    fn copy_global(&mut self, old: GlobalId) -> Option<GlobalId> {
        let mut copy = self.versions.old.module.globals[old].clone();
        copy.name = format!("{} before", copy.name);
        copy.data = self.data(copy.data)?;
        // The driver sets it; tests cannot.
        copy.linkage = Linkage::Local;
        if matches!(copy.role, GlobalRole::Variable | GlobalRole::Exposed) {
            copy.role = GlobalRole::Runtime;
        }
        let mut init = copy.init.take();
        let here = self.module.globals.push(copy);
        self.globals.insert(old, here);
        for piece in init.iter_mut().flatten() {
            if let Init::GlobalAddr { global, .. } = piece {
                *global = self.global(*global)?;
            }
        }
        self.module.globals[here].init = init;
        Some(here)
    }
}

/// Returns the globals that a version may write, and those that point to them. State of the language's own library
/// makes no difference to any run.
fn globals_to_copy(versions: &Versions<'_>, old: FuncId) -> BTreeSet<GlobalId> {
    let globals = &versions.old.module.globals;
    let all = versions.globals_of(0, old);
    let is_own = |id: &GlobalId| {
        let global = &globals[*id];
        let fixed = global.constant || global.function.is_some() || global.linkage == Linkage::Literal;
        !fixed && global.role != GlobalRole::Runtime
    };
    let mut own: BTreeSet<GlobalId> = all.iter().copied().filter(is_own).collect();
    loop {
        let leads_there = |id: &&GlobalId| {
            let points_to_own = |piece: &Init| matches!(piece, Init::GlobalAddr { global, .. } if own.contains(global));
            !own.contains(id) && globals[**id].init.iter().flatten().any(points_to_own)
        };
        let more: Vec<GlobalId> = all.iter().filter(leads_there).copied().collect();
        if more.is_empty() {
            return own;
        }
        own.extend(more);
    }
}

impl Versions<'_> {
    /// Returns the counterpart of an old type.
    pub(super) fn new_type(&self, old: DataTypeId) -> Option<DataTypeId> {
        self.types().get(&self.hash(0, ModulePart::Type(old))).copied()
    }
}
