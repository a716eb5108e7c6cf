//! The functions that can be composed at call sites, with their sizes.

use crate::config::Summaries;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_criteria::GoalIndex;
use touchstone_ir::{Builtin, Callee, Cfg, FuncId, Function, Inst, InstKind, Module, TermKind};

/// The functions of a program that can be composed at call sites.
pub(in crate::exec) struct SummaryCandidates {
    summaries: Summaries,
    /// The goals of the search: a function with goals of its own is not composed.
    watch: Option<Arc<GoalIndex>>,
    /// For every function asked for so far its size, or `None` if it cannot be composed.
    sizes: Vec<Option<Option<FunctionSize>>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::exec) struct FunctionSize {
    pub instructions: u64,
    pub branches: u64,
}

impl SummaryCandidates {
    pub fn of(module: &Module, summaries: Summaries, watch: Option<Arc<GoalIndex>>) -> SummaryCandidates {
        SummaryCandidates { summaries, watch, sizes: vec![None; module.functions.len()] }
    }

    pub fn size(&mut self, module: &Module, func: FuncId) -> Option<FunctionSize> {
        if let Some(known) = self.sizes[func.index()] {
            return known;
        }
        // A recursive function cannot be composed.
        self.sizes[func.index()] = Some(None);
        let watched = self.watch.as_ref().is_some_and(|watch| watch.watches(func));
        let size = if watched { None } else { self.measure(module, &module.functions[func]) };
        self.sizes[func.index()] = Some(size);
        size
    }

    fn measure(&mut self, module: &Module, function: &Function) -> Option<FunctionSize> {
        let loops = self.summaries == Summaries::On || Cfg::new(function).loops().is_empty();
        if !function.is_defined() || function.variadic || !loops {
            return None;
        }
        let mut size = FunctionSize { instructions: 0, branches: 0 };
        for block in function.blocks.values() {
            for inst in &block.insts {
                size.instructions += 1;
                if let InstKind::Call { callee: Callee::Direct(callee), .. } = inst.kind {
                    let called = self.size(module, callee)?;
                    size.instructions = size.instructions.saturating_add(called.instructions);
                    size.branches = size.branches.saturating_add(called.branches);
                } else if !only_computes(inst) {
                    return None;
                }
            }
            match block.terminator.kind {
                TermKind::Branch { .. } | TermKind::Switch { .. } => size.branches += 1,
                TermKind::Catch { .. } => return None,
                _ => {}
            }
        }
        Some(size)
    }
}

/// Returns true if an instruction only computes, reads and writes.
fn only_computes(inst: &Inst) -> bool {
    match &inst.kind {
        InstKind::Copy { .. }
        | InstKind::Bin { .. }
        | InstKind::Cmp { .. }
        | InstKind::Cast { .. }
        | InstKind::Float { .. }
        | InstKind::SlotAddr { .. }
        | InstKind::GlobalAddr { .. }
        | InstKind::PtrAdd { .. }
        | InstKind::PtrDiff { .. }
        | InstKind::Load { .. }
        | InstKind::Store { .. }
        | InstKind::MemCopy { .. }
        | InstKind::MemSet { .. }
        | InstKind::SlotBegin { .. }
        | InstKind::SlotEnd { .. }
        | InstKind::Point { .. }
        | InstKind::Builtin { builtin: Builtin::Math(..), .. } => true,
        InstKind::Call { .. } | InstKind::Builtin { .. } => false,
    }
}
