//! Globals whose contents are known only in a real run: the time of compilation, a field that depends on the environment.

use crate::{Builtin, Function, Global, GlobalId, Init, Inst, InstKind, Module, Operand, RegInfo, Ty};
use std::collections::BTreeMap;
use touchstone_base::Id;

impl Module {
    /// Ends every path that uses one of these globals, with a description of the global as the reason.
    pub fn end_paths_at(&mut self, globals: BTreeMap<GlobalId, String>) {
        let mut texts: BTreeMap<GlobalId, GlobalId> = BTreeMap::new();
        for (id, text) in globals {
            let bytes = text.into_bytes();
            let size = bytes.len() as u64 + 1;
            let init = Some(vec![Init::Bytes { offset: 0, bytes }]);
            let name = format!("<environment {}>", id.index());
            texts.insert(id, self.globals.push(Global { name, size, init, ..self.globals[id].clone() }));
        }
        if texts.is_empty() {
            return;
        }
        for function in self.functions.values_mut() {
            end_paths_in(function, &texts);
        }
    }
}

fn end_paths_in(function: &mut Function, texts: &BTreeMap<GlobalId, GlobalId>) {
    let Function { blocks, regs, .. } = function;
    let text = |inst: &Inst| match inst.kind {
        InstKind::GlobalAddr { global, .. } => texts.get(&global).copied(),
        _ => None,
    };
    for block in blocks.values_mut() {
        if !block.insts.iter().any(|inst| text(inst).is_some()) {
            continue;
        }
        let mut insts = Vec::with_capacity(block.insts.len() + 2);
        for inst in std::mem::take(&mut block.insts) {
            if let Some(global) = text(&inst) {
                let dst = regs.push(RegInfo { ty: Ty::Ptr, name: None });
                let (args, span) = (vec![Operand::Reg(dst)], inst.span);
                insts.push(Inst { kind: InstKind::GlobalAddr { dst, global }, span });
                insts.push(Inst { kind: InstKind::Builtin { dst: None, builtin: Builtin::RunOnly, args }, span });
            }
            insts.push(inst);
        }
        block.insts = insts;
    }
}
