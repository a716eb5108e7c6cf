//! What the engine knows of a function's control flow: loops and their tests, and where branches come together.

use touchstone_base::IndexMap;
use touchstone_ir::{BlockId, Cfg, CondTag, DecisionId, DecisionKind, Exits, Function, LoopId, TermKind};

/// One function's control flow.
pub(crate) struct FlowGraph {
    pub cfg: Cfg,
    /// The decision that is asked before each iteration; `None` for loops that test at the end or not at all.
    pub tests: IndexMap<LoopId, Option<DecisionId>>,
    /// For every block its immediate post-dominator; `None` where only the return is common to all ways on.
    joins: IndexMap<BlockId, Option<BlockId>>,
}

impl FlowGraph {
    pub fn of(function: &Function) -> FlowGraph {
        let cfg = Cfg::new(function);
        let tests = cfg.loops().ids().map(|id| loop_test(function, &cfg, id)).collect();
        let joins = cfg.post_dominators(function, Exits::Returns);
        FlowGraph { cfg, tests, joins }
    }

    /// Whether going from one block to the other leaves the innermost loop.
    pub fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        self.cfg.innermost_loop(from).is_some_and(|id| !self.cfg.loops()[id].blocks.contains(&to))
    }

    /// Where the ways on from a block come together again.
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
