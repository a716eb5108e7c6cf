//! A hash of the meaning of a function: equal for the same code in another module.
//!
//! Source positions, names of locals and positions in the module do not count. Every instruction with its constants
//! does, so one source under two sets of macros has two hashes wherever they make a difference. A literal that names a
//! source file does not count: asserts contain one, spelled as the file was.

use crate::{BranchRole, Callee, FuncId, Function, Global, GlobalId, Init, InstKind, Linkage, Module, TermKind};
use std::hash::{Hash, Hasher};
use touchstone_base::StableHasher;

impl Module {
    /// Returns the hash of a function.
    pub fn function_hash(&self, func: FuncId) -> u64 {
        let function = &self.functions[func];
        let mut hasher = StableHasher::default();
        function.name.hash(&mut hasher);
        self.code(function, &mut hasher);
        hasher.finish()
    }

    /// Returns the hash of a function without its name, which identifies its file if several files define it.
    pub fn body_hash(&self, func: FuncId) -> u64 {
        let mut hasher = StableHasher::default();
        self.code(&self.functions[func], &mut hasher);
        hasher.finish()
    }

    fn code(&self, function: &Function, hasher: &mut StableHasher) {
        for param in &function.params {
            (param.reg, param.aggregate).hash(hasher);
        }
        function.regs.values().for_each(|reg| reg.ty.hash(hasher));
        function.slots.values().for_each(|slot| slot.size.hash(hasher));
        for decision in function.decisions.values() {
            (decision.kind, &decision.tree).hash(hasher);
        }
        self.blocks(function, hasher);
    }

    fn blocks(&self, function: &Function, hasher: &mut StableHasher) {
        for block in function.blocks.values() {
            for inst in &block.insts {
                match &inst.kind {
                    InstKind::Point { .. } => {}
                    InstKind::GlobalAddr { dst, global } => {
                        dst.hash(hasher);
                        self.hash_global(*global, hasher);
                    }
                    InstKind::Call { dst, callee: Callee::Direct(callee), args } => {
                        (dst, &self.functions[*callee].name, args).hash(hasher);
                    }
                    other => format!("{other:?}").hash(hasher),
                }
            }
            hash_terminator_text(&block.terminator.kind).hash(hasher);
        }
    }

    /// Hashes a literal by its contents, and every other global by its name.
    fn hash_global(&self, id: GlobalId, hasher: &mut StableHasher) {
        let global = &self.globals[id];
        if global.linkage != Linkage::Literal {
            global.name.hash(hasher);
        } else if !self.names_a_file(global) {
            format!("{:?}", global.init).hash(hasher);
        }
    }

    fn names_a_file(&self, literal: &Global) -> bool {
        let Some([Init::Bytes { offset: 0, bytes }]) = literal.init.as_deref() else { return false };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end_matches('\0');
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_string();
        !text.is_empty() && self.files.values().any(|file| last(file) == last(text))
    }
}

/// Returns a terminator in words. The default role and arms without names are omitted, so that stored hashes stay
/// valid.
fn hash_terminator_text(kind: &TermKind) -> String {
    let words = format!("{kind:?}").replacen(", names: []", "", 1);
    match kind {
        TermKind::Branch { role: BranchRole::Condition, .. } | TermKind::Switch { role: BranchRole::Condition, .. } => {
            words.replacen(", role: Condition", "", 1)
        }
        _ => words,
    }
}
