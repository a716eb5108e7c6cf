//! The parameters that a run read. A function that constructs objects by calls has dozens of them, and most describe
//! objects that the run did not construct: mutating those has no effect.

use crate::confirm::goal_observer::ControlFlowEdge;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_ir::{BlockId, FuncId, Function, Module, Operand, Reg, TermKind};

/// Returns the indices of the parameters that a run read, from the edges that it took.
pub(super) fn read_parameters(module: &Module, func: FuncId, edges: &[u64]) -> Vec<usize> {
    let function = &module.functions[func];
    let mut seen: BTreeSet<BlockId> = BTreeSet::new();
    let mut open = vec![BlockId::new(0)];
    open.extend(edges.iter().filter_map(|edge| target(function, func, *edge)));
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

/// Returns the successor of a block that does not branch.
fn next(function: &Function, block: BlockId) -> Option<BlockId> {
    match function.blocks[block].terminator.kind {
        TermKind::Jump(next) | TermKind::Catch { next, .. } => Some(next),
        _ => None,
    }
}

/// Returns the target of an edge, if it belongs to the function.
fn target(function: &Function, func: FuncId, edge: u64) -> Option<BlockId> {
    let edge = ControlFlowEdge::from_record(edge);
    let block = function.blocks.get(edge.block).filter(|_| edge.func == func)?;
    match &block.terminator.kind {
        TermKind::Branch { then_block, else_block, .. } => Some(if edge.to == 1 { *then_block } else { *else_block }),
        TermKind::Switch { arms, default, .. } => Some(arms.get(edge.to).map_or(*default, |arm| arm.target)),
        _ => None,
    }
}
