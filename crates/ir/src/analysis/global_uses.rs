//! The uses of the addresses of globals, computed once for a module.

use crate::{Builtin, Function, GlobalId, GlobalRole, Init, InstKind, Module, Operand, Reg, TermKind};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_base::Id;

/// The uses of the addresses of globals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GlobalUses {
    /// Globals that opaque code names, or with an address that is stored, passed, returned or converted to an integer.
    pub escaping: BTreeSet<GlobalId>,
    /// Globals that are written through their address.
    pub written: BTreeSet<GlobalId>,
}

/// Facts of a module that are computed when they are first needed. They are not part of its value: a copy has none, and all
/// are equal.
#[derive(Default)]
pub struct ModuleFacts {
    uses: Mutex<Option<(ModuleSize, Arc<GlobalUses>)>>,
}

/// The numbers of globals, functions and instructions. A module that was changed has others.
type ModuleSize = (usize, usize, usize);

impl Module {
    /// Returns the uses of the addresses of globals.
    pub fn global_uses(&self) -> Arc<GlobalUses> {
        let instructions = self.functions.values().flat_map(|function| function.blocks.values());
        let size =
            (self.globals.len(), self.functions.len(), instructions.map(|block| block.insts.len() + 1).sum::<usize>());
        let mut known = self.facts.uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, uses)) = known.as_ref().filter(|(of, _)| *of == size) {
            debug_assert_eq!(**uses, global_uses(self), "the module was changed after its facts were computed");
            return uses.clone();
        }
        known.insert((size, Arc::new(global_uses(self)))).1.clone()
    }
}

impl Clone for ModuleFacts {
    fn clone(&self) -> ModuleFacts {
        ModuleFacts::default()
    }
}

impl PartialEq for ModuleFacts {
    fn eq(&self, _: &ModuleFacts) -> bool {
        true
    }
}

impl Eq for ModuleFacts {}

impl std::fmt::Debug for ModuleFacts {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("ModuleFacts")
    }
}

fn global_uses(module: &Module) -> GlobalUses {
    let (mut escaping, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (id, global) in module.globals.iter() {
        if global.role == GlobalRole::Exposed {
            escaping.insert(id);
        }
        for piece in global.init.iter().flatten() {
            if let Init::GlobalAddr { global, .. } = piece {
                escaping.insert(*global);
            }
        }
    }
    for function in module.functions.values().filter(|function| names_globals(function)) {
        let derived = derived_from(function);
        let of = |operand: &Operand| match operand {
            Operand::Reg(reg) => derived[reg.index()].iter().copied(),
            Operand::Const(..) => Default::default(),
        };
        for block in function.blocks.values() {
            for inst in &block.insts {
                match &inst.kind {
                    InstKind::Store { addr, value, .. } => {
                        escaping.extend(of(value));
                        written.extend(of(addr));
                    }
                    InstKind::MemCopy { dst, .. } | InstKind::MemSet { dst, .. } => written.extend(of(dst)),
                    InstKind::Builtin {
                        builtin: Builtin::ObserveMember | Builtin::Refresh | Builtin::CastPointee,
                        ..
                    } => {}
                    InstKind::Call { args, .. } | InstKind::Builtin { args, .. } => {
                        escaping.extend(args.iter().flat_map(of));
                    }
                    InstKind::Cast { src, .. } => escaping.extend(of(src)),
                    _ => {}
                }
            }
            if let TermKind::Return(Some(result)) | TermKind::Throw(result) = &block.terminator.kind {
                escaping.extend(of(result));
            }
        }
    }
    GlobalUses { escaping, written }
}

/// Returns true if a function takes the address of a global.
fn names_globals(function: &Function) -> bool {
    let mut insts = function.blocks.values().flat_map(|block| &block.insts);
    insts.any(|inst| matches!(inst.kind, InstKind::GlobalAddr { .. }))
}

/// Returns for every register the globals that a pointer in it may be derived from, flow-insensitively. Registers are
/// reassigned, so the sets grow to a fixpoint.
pub fn derived_from(function: &Function) -> Vec<BTreeSet<GlobalId>> {
    let mut derived: Vec<BTreeSet<GlobalId>> = vec![BTreeSet::new(); function.regs.len()];
    let mut moves: Vec<(Reg, Reg)> = Vec::new();
    for inst in function.blocks.values().flat_map(|block| &block.insts) {
        match &inst.kind {
            InstKind::GlobalAddr { dst, global } => drop(derived[dst.index()].insert(*global)),
            InstKind::PtrAdd { dst, base: Operand::Reg(from), .. }
            | InstKind::Copy { dst, src: Operand::Reg(from) } => moves.push((*dst, *from)),
            _ => {}
        }
    }
    loop {
        let mut changed = false;
        for (dst, from) in &moves {
            if derived[from.index()].is_subset(&derived[dst.index()]) {
                continue;
            }
            let from = derived[from.index()].clone();
            derived[dst.index()].extend(from);
            changed = true;
        }
        if !changed {
            return derived;
        }
    }
}
