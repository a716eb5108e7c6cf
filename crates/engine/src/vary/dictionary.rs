//! Numbers and strings that a function knows, and free choices.

use std::collections::BTreeSet;
use touchstone_ir::{Builtin, Callee, FuncId, Init, Inst, InstKind, Linkage, Module, Operand, TermKind};

/// Functions that are looked at, the one under test first.
const MAX_FUNCTIONS: usize = 48;

/// Numbers that are kept.
const MAX_NUMBERS: usize = 512;

/// Texts that are kept, and how long they are.
const MAX_STRINGS: usize = 128;

const MAX_STRING_BYTES: usize = 24;

/// What is worth trying.
pub(super) struct Dictionary {
    /// Numbers of the program.
    pub numbers: Vec<u64>,
    /// Its strings.
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
                // The number of a type is none of the program's.
                let of_program =
                    |inst: &&Inst| !matches!(inst.kind, InstKind::Builtin { builtin: Builtin::TakeFor, .. });
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

/// The text that a literal is.
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
