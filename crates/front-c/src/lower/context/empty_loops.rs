//! Loops that have no end and do nothing: `for (;;);` behind a failed check. A run that gets there stays there, which is said in the
//! module by [`Builtin::Hang`], so that nobody follows it round and round.

use crate::lower::context::func::Draft;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_ir::{Builtin, Inst, InstKind, TermKind, Terminator};

/// Ends the blocks of such loops.
pub(crate) fn mark(blocks: &mut [Draft]) {
    let next: Vec<Option<usize>> = blocks.iter().map(goes_on).collect();
    let endless: Vec<usize> = (0..blocks.len()).filter(|&block| comes_back(&next, block)).collect();
    for block in endless {
        let Some(Terminator { span, .. }) = blocks[block].terminator else { continue };
        blocks[block]
            .insts
            .push(Inst { kind: InstKind::Builtin { dst: None, builtin: Builtin::Hang, args: vec![] }, span });
        blocks[block].terminator = Some(Terminator { kind: TermKind::Unreachable, span });
    }
}

/// Returns the block behind one that does nothing but go on.
fn goes_on(block: &Draft) -> Option<usize> {
    let nothing = block.insts.iter().all(|inst| matches!(inst.kind, InstKind::Point { .. }));
    match &block.terminator {
        Some(Terminator { kind: TermKind::Jump(target), .. }) if nothing => Some(target.index()),
        _ => None,
    }
}

/// Returns true if control gets back to a block by blocks that only go on.
fn comes_back(next: &[Option<usize>], block: usize) -> bool {
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
