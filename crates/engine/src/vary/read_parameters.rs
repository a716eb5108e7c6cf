//! The parameters that a run asked for. A function that makes objects by calls has dozens of them, and most say how things are made
//! that the run did not make: to change one of those shows nothing.

use crate::confirm::goal_observer::ControlFlowEdge;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_ir::{BlockId, FuncId, Function, Module, Operand, Reg, TermKind};

/// Which parameters of a function a run asked for that took these ways.
pub(super) fn read_parameters(module: &Module, func: FuncId, ways: &[u64]) -> Vec<usize> {
    let function = &module.functions[func];
    let mut seen: BTreeSet<BlockId> = BTreeSet::new();
    let mut open = vec![BlockId::new(0)];
    open.extend(ways.iter().filter_map(|way| target(function, func, *way)));
    while let Some(block) = open.pop() {
        if seen.insert(block) {
            open.extend(next(function, block));
        }
    }
    let blocks = seen.iter().map(|block| &function.blocks[*block]);
    let operands = blocks.flat_map(|block| {
        block.insts.iter().flat_map(|inst| inst.kind.operands()).chain(block.terminator.kind.operands())
    });
    let regs: BTreeSet<Reg> = operands
        .filter_map(|operand| match operand {
            Operand::Reg(reg) => Some(reg),
            Operand::Const(..) => None,
        })
        .collect();
    let params = function.params.iter().enumerate();
    params.filter(|(_, param)| regs.contains(&param.reg)).map(|(index, _)| index).collect()
}

/// Where control goes on without a choice.
fn next(function: &Function, block: BlockId) -> Option<BlockId> {
    match function.blocks[block].terminator.kind {
        TermKind::Jump(next) | TermKind::Catch { next, .. } => Some(next),
        _ => None,
    }
}

/// Where a way leads, if it is one of the function.
fn target(function: &Function, func: FuncId, way: u64) -> Option<BlockId> {
    let way = ControlFlowEdge::from_record(way);
    let block = function.blocks.get(way.block).filter(|_| way.func == func)?;
    match &block.terminator.kind {
        TermKind::Branch { then_block, else_block, .. } => Some(if way.to == 1 { *then_block } else { *else_block }),
        TermKind::Switch { arms, default, .. } => Some(arms.get(way.to).map_or(*default, |arm| arm.target)),
        _ => None,
    }
}
