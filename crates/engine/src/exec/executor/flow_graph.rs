//! The control-flow graph of a function with what execution needs of it: loops with their decisions, and immediate
//! post-dominators.

use touchstone_base::IndexMap;
use touchstone_ir::{BlockId, Cfg, CondTag, DecisionId, DecisionKind, Exits, Function, LoopId, TermKind};

/// The control-flow facts of one function.
pub(crate) struct FlowGraph {
    pub cfg: Cfg,
    /// For every loop the decision that is evaluated before each iteration; `None` for loops that test at the end or
    /// not at all.
    pub tests: IndexMap<LoopId, Option<DecisionId>>,
    /// For every block its immediate post-dominator; `None` if only the return is common to all paths from it.
    joins: IndexMap<BlockId, Option<BlockId>>,
}

impl FlowGraph {
    pub fn of(function: &Function) -> FlowGraph {
        let cfg = Cfg::new(function);
        let tests = cfg.loops().ids().map(|id| loop_test(function, &cfg, id)).collect();
        let joins = cfg.post_dominators(function, Exits::Returns);
        FlowGraph { cfg, tests, joins }
    }

    /// Returns true if the edge leaves the innermost loop of `from`.
    pub fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        self.cfg.innermost_loop(from).is_some_and(|id| !self.cfg.loops()[id].blocks.contains(&to))
    }

    /// Returns the immediate post-dominator of a block, where the paths from it join.
    pub fn join(&self, block: BlockId) -> Option<BlockId> {
        self.joins[block]
    }
}

fn loop_test(function: &Function, cfg: &Cfg, id: LoopId) -> Option<DecisionId> {
    let own = |block: &&BlockId| cfg.innermost_loop(**block) == Some(id);
    cfg.loops()[id].blocks.iter().filter(own).find_map(|block| {
        let tag = branch_tag(function, *block)?;
        let kind = function.decisions[tag.decision].kind;
        matches!(kind, DecisionKind::While | DecisionKind::For).then_some(tag.decision)
    })
}

pub(in crate::exec) fn branch_tag(function: &Function, block: BlockId) -> Option<CondTag> {
    match &function.blocks[block].terminator.kind {
        TermKind::Branch { tag, .. } => *tag,
        _ => None,
    }
}
