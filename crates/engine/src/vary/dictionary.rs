//! The dictionary of a function: constants and strings of its code, as candidates for inputs.

use std::collections::BTreeSet;
use touchstone_ir::{Builtin, Callee, FuncId, Init, Inst, InstKind, Linkage, Module, Operand, TermKind};

/// The maximum number of functions that are searched, the one under test first.
const MAX_FUNCTIONS: usize = 48;

/// The maximum number of constants.
const MAX_NUMBERS: usize = 512;

/// The maximum number of strings, and their maximum length in bytes.
const MAX_STRINGS: usize = 128;

const MAX_STRING_BYTES: usize = 24;

/// Constants and strings of the program.
pub(super) struct Dictionary {
    /// Integer constants.
    pub numbers: Vec<u64>,
    /// String literals.
    pub strings: Vec<Vec<u8>>,
}

impl Dictionary {
    pub fn of(module: &Module, func: FuncId) -> Dictionary {
        let (mut open, mut known) = (vec![func], BTreeSet::from([func]));
        let (mut numbers, mut strings) = (BTreeSet::new(), Vec::new());
        let mut next = 0;
        while let Some(func) = open.get(next).copied() {
            next += 1;
            let function = &module.functions[func];
            for block in function.blocks.values() {
                // The operand of a cast is the number of a type, not a constant of the program.
                let of_program =
                    |inst: &&Inst| !matches!(inst.kind, InstKind::Builtin { builtin: Builtin::CastPointee, .. });
                let operands = block.insts.iter().filter(of_program).flat_map(|inst| inst.kind.operands());
                for operand in operands.chain(block.terminator.kind.operands()) {
                    if let Operand::Const(_, number) = operand {
                        numbers.insert(number);
                    }
                }
                if let TermKind::Switch { arms, .. } = &block.terminator.kind {
                    numbers.extend(arms.iter().flat_map(|arm| [arm.low, arm.high]));
                }
                for inst in &block.insts {
                    match &inst.kind {
                        InstKind::Call { callee: Callee::Direct(callee), .. }
                            if open.len() < MAX_FUNCTIONS && known.insert(*callee) =>
                        {
                            open.push(*callee);
                        }
                        InstKind::GlobalAddr { global, .. } if strings.len() < MAX_STRINGS => {
                            strings.extend(text(module, *global));
                        }
                        _ => {}
                    }
                }
            }
        }
        strings.dedup();
        Dictionary { numbers: numbers.into_iter().take(MAX_NUMBERS).collect(), strings }
    }
}

/// Returns the string of a literal.
fn text(module: &Module, global: touchstone_ir::GlobalId) -> Option<Vec<u8>> {
    let global = &module.globals[global];
    if global.linkage != Linkage::Literal {
        return None;
    }
    let mut bytes = Vec::new();
    for init in global.init.as_ref()? {
        match init {
            Init::Bytes { bytes: more, .. } => bytes.extend(more),
            Init::GlobalAddr { .. } => return None,
        }
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    bytes.truncate(end.min(MAX_STRING_BYTES));
    (!bytes.is_empty()).then_some(bytes)
}
