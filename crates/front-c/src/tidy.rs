//! Drops registers that nothing mentions: a symbolic state carries every register of a frame.

use touchstone_base::{Id, IndexMap};
use touchstone_ir::{Function, InstKind, Operand, Reg, TermKind};

/// Renumbers the registers so that only parameters and mentioned ones remain, in their order.
pub(crate) fn drop_unused_registers(function: &mut Function) {
    let mut used = vec![false; function.regs.len()];
    for param in &function.params {
        used[param.reg.index()] = true;
    }
    each_register(function, |reg| used[reg.index()] = true);
    let mut new_ids = vec![Reg::new(0); used.len()];
    let mut regs = IndexMap::new();
    for (reg, info) in function.regs.iter() {
        if used[reg.index()] {
            new_ids[reg.index()] = regs.push(info.clone());
        }
    }
    function.regs = regs;
    for param in &mut function.params {
        param.reg = new_ids[param.reg.index()];
    }
    each_register(function, |reg| *reg = new_ids[reg.index()]);
}

fn each_register(function: &mut Function, mut visit: impl FnMut(&mut Reg)) {
    for block in function.blocks.values_mut() {
        for inst in &mut block.insts {
            registers(&mut inst.kind, &mut visit);
        }
        match &mut block.terminator.kind {
            TermKind::Branch { cond: operand, .. }
            | TermKind::Switch { value: operand, .. }
            | TermKind::Return(Some(operand)) => read(operand, &mut visit),
            TermKind::Jump(_) | TermKind::Return(None) | TermKind::Unsupported(_) | TermKind::Unreachable => {}
        }
    }
}

fn read(operand: &mut Operand, visit: &mut impl FnMut(&mut Reg)) {
    if let Operand::Reg(reg) = operand {
        visit(reg);
    }
}

fn registers(kind: &mut InstKind, visit: &mut impl FnMut(&mut Reg)) {
    match kind {
        InstKind::Copy { dst, src } | InstKind::Cast { dst, src, .. } => {
            visit(dst);
            read(src, visit);
        }
        InstKind::Bin { dst, a, b, .. } | InstKind::Cmp { dst, a, b, .. } | InstKind::PtrDiff { dst, a, b } => {
            visit(dst);
            read(a, visit);
            read(b, visit);
        }
        InstKind::SlotAddr { dst, .. } | InstKind::GlobalAddr { dst, .. } => visit(dst),
        InstKind::PtrAdd { dst, base, offset } => {
            visit(dst);
            read(base, visit);
            read(offset, visit);
        }
        InstKind::Load { dst, addr } => {
            visit(dst);
            read(addr, visit);
        }
        InstKind::Store { addr, value } => {
            read(addr, visit);
            read(value, visit);
        }
        InstKind::MemCopy { dst, src, size } => {
            read(dst, visit);
            read(src, visit);
            read(size, visit);
        }
        InstKind::MemSet { dst, value, size } => {
            read(dst, visit);
            read(value, visit);
            read(size, visit);
        }
        InstKind::SlotBegin { .. } => {}
        InstKind::Call { dst, args, .. } | InstKind::Builtin { dst, args, .. } => {
            if let Some(dst) = dst {
                visit(dst);
            }
            args.iter_mut().for_each(|arg| read(arg, visit));
        }
    }
}
