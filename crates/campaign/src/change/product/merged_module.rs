//! The new version's module with functions of the old one, under other names.
//!
//! Globals are the same ones to both, but for constants that changed: whoever runs both keeps what they hold, and gives it back. Where objects have classes,
//! static variables lead to objects which lead to others; there the old version has copies of all that may be written, so that neither sees what the other did.

use crate::change::impact::Versions;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_base::{FileId, Id, IndexMap, Span};
use touchstone_ir::{
    Builtin, Callee, DataTypeId, FuncId, GlobalId, GlobalRole, Init, InstKind, Linkage, Module, Operand, Part as Piece,
};

/// The new version with functions of the old one.
pub(super) struct Merged<'v, 'm> {
    versions: &'v Versions<'m>,
    pub module: Module,
    /// What functions of the old version are here.
    pub functions: BTreeMap<FuncId, FuncId>,
    globals: BTreeMap<GlobalId, GlobalId>,
    files: BTreeMap<FileId, FileId>,
    /// Globals of the old version that it has for itself.
    own: BTreeSet<GlobalId>,
}

impl<'v, 'm> Merged<'v, 'm> {
    /// Both versions; `None` if they can't be in one module.
    pub fn new(versions: &'v Versions<'m>, old: FuncId) -> Option<Merged<'v, 'm>> {
        let mut merged = Merged {
            versions,
            module: versions.new.module.clone(),
            functions: BTreeMap::new(),
            globals: BTreeMap::new(),
            files: BTreeMap::new(),
            own: match versions.new.module.has_classes() {
                true => own_globals(versions, old),
                false => BTreeSet::new(),
            },
        };
        for id in merged.functions_to_copy(old) {
            merged.copy(id)?;
        }
        Some(merged)
    }

    /// The globals that the old version has for itself: what the new one knows them as, if it does, and what they are here.
    pub fn apart(&self) -> impl Iterator<Item = (GlobalId, Option<GlobalId>, GlobalId)> + '_ {
        let known = self.globals.iter().filter(|(old, _)| self.own.contains(old));
        known.map(|(old, here)| (*old, self.versions.new_global(*old), *here))
    }

    /// The functions that are not there yet; those that are the same in both are.
    fn functions_to_copy(&mut self, root: FuncId) -> Vec<FuncId> {
        let old = &self.versions.old;
        let mut copies = Vec::new();
        for id in old.calls.reachable_from(root) {
            let name = &old.module.functions[id].name;
            let same = self.versions.new.module.function_named(name).filter(|new| self.versions.is_same(*new));
            let shares = || !self.versions.globals_of(0, id).iter().any(|global| self.own.contains(global));
            let same = same.filter(|_| self.own.is_empty() || shares());
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
        // Nothing is asked of it.
        function.points = IndexMap::new();
        for block in function.blocks.values_mut() {
            block.insts.retain(|inst| !matches!(inst.kind, InstKind::Point { .. }));
            self.place(&mut block.terminator.span);
            for inst in &mut block.insts {
                self.place(&mut inst.span);
                match &mut inst.kind {
                    InstKind::GlobalAddr { global, .. } => *global = self.global(*global)?,
                    InstKind::Call { callee: Callee::Direct(callee), .. } => *callee = *self.functions.get(callee)?,
                    InstKind::Builtin { builtin: Builtin::TakeFor, args, .. } => {
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

    /// A global of the old version. A constant that changed is there twice.
    fn global(&mut self, old: GlobalId) -> Option<GlobalId> {
        if let Some(known) = self.globals.get(&old) {
            return Some(*known);
        }
        let global = &self.versions.old.module.globals[old];
        if self.own.contains(&old) {
            return self.own_global(old);
        }
        let became = self.versions.new_global(old);
        let here = match became {
            Some(id) if !self.versions.begins_otherwise(id) => id,
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
            // Functions that are the same in both versions lead to nothing that is not.
            _ if global.role == GlobalRole::Runtime => return self.own_global(old),
            _ => return None,
        };
        self.globals.insert(old, here);
        Some(here)
    }

    /// A copy that only the old version has, with copies of all that it leads to.
    fn own_global(&mut self, old: GlobalId) -> Option<GlobalId> {
        let mut copy = self.versions.old.module.globals[old].clone();
        copy.name = format!("{} before", copy.name);
        copy.data = self.data(copy.data)?;
        // No test sets it: the driver does.
        copy.linkage = Linkage::Local;
        if copy.role == GlobalRole::Variable {
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

/// What a version may write of what is there before it runs, and what leads to that. What the language's own library has makes no difference to any run.
fn own_globals(versions: &Versions<'_>, old: FuncId) -> BTreeSet<GlobalId> {
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
            let leads = |piece: &Init| matches!(piece, Init::GlobalAddr { global, .. } if own.contains(global));
            !own.contains(id) && globals[**id].init.iter().flatten().any(leads)
        };
        let more: Vec<GlobalId> = all.iter().filter(leads_there).copied().collect();
        if more.is_empty() {
            return own;
        }
        own.extend(more);
    }
}

impl Versions<'_> {
    /// What a type of the old version is here.
    pub(super) fn new_type(&self, old: DataTypeId) -> Option<DataTypeId> {
        self.types().get(&self.hash(0, Piece::Type(old))).copied()
    }
}
