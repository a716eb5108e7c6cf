//! Empty infinite loops: `for (;;);` after a failed check. A run that enters one never leaves it, so the loop is
//! replaced by [`Builtin::Hang`], and executors need not unroll it.

use crate::lower::context::func::BlockDraft;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_ir::{Builtin, Inst, InstKind, TermKind, Terminator};

/// Replaces the terminators of blocks in empty loops.
pub(crate) fn mark(blocks: &mut [BlockDraft]) {
    let next: Vec<Option<usize>> = blocks.iter().map(empty_successor).collect();
    let endless: Vec<usize> = (0..blocks.len()).filter(|&block| is_on_cycle(&next, block)).collect();
    for block in endless {
        let Some(Terminator { span, .. }) = blocks[block].terminator else { continue };
        blocks[block]
            .insts
            .push(Inst { kind: InstKind::Builtin { dst: None, builtin: Builtin::Hang, args: vec![] }, span });
        blocks[block].terminator = Some(Terminator { kind: TermKind::Unreachable, span });
    }
}

/// Returns the successor of a block that only jumps.
fn empty_successor(block: &BlockDraft) -> Option<usize> {
    let nothing = block.insts.iter().all(|inst| matches!(inst.kind, InstKind::Point { .. }));
    match &block.terminator {
        Some(Terminator { kind: TermKind::Jump(target), .. }) if nothing => Some(target.index()),
        _ => None,
    }
}

/// Returns true if a block is on a cycle of blocks that only jump.
fn is_on_cycle(next: &[Option<usize>], block: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut at = block;
    while let Some(target) = next[at] {
        if target == block {
            return true;
        }
        if !seen.insert(target) {
            return false;
        }
        at = target;
    }
    false
}
