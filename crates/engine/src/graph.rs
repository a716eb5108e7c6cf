//! What the engine knows of a function's control flow: loops and their tests, and where branches come together.

use crate::executor::Executor;
use crate::state::{PathEnd, State, Stop};
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap, Span};
use touchstone_criteria::Bound;
use touchstone_ir::{BlockId, Cfg, CondTag, DecisionId, DecisionKind, EdgeKind, Function, LoopId, TermKind};

/// One function's control flow.
pub(crate) struct Graph {
    cfg: Cfg,
    /// The decision that is asked before each iteration; `None` for loops that test at the end or not at all.
    tests: IndexMap<LoopId, Option<DecisionId>>,
    /// For every block its immediate post-dominator; `None` where only the return is common to all ways on.
    joins: Vec<Option<BlockId>>,
}

impl Graph {
    pub fn of(function: &Function) -> Graph {
        let cfg = Cfg::new(function);
        let tests = cfg.loops().ids().map(|id| loop_test(function, &cfg, id)).collect();
        let joins = post_dominators(function, &cfg);
        Graph { cfg, tests, joins }
    }

    /// Whether going from one block to the other leaves the innermost loop.
    pub fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        self.cfg.innermost_loop(from).is_some_and(|id| !self.cfg.loops()[id].blocks.contains(&to))
    }

    /// Where the ways on from a block come together again.
    pub fn join(&self, block: BlockId) -> Option<BlockId> {
        self.joins[block.index()]
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

fn branch_tag(function: &Function, block: BlockId) -> Option<CondTag> {
    match &function.blocks[block].terminator.kind {
        TermKind::Branch { tag, .. } => *tag,
        _ => None,
    }
}

impl Executor<'_> {
    /// Counts loop iterations on the way to `target` and stops at the bound (`paths:K`, `--loop-bound`).
    ///
    /// A loop that tests first begins an iteration where its decision lets control into the body; any other loop begins
    /// one whenever control arrives at its head.
    pub(crate) fn count_iteration(
        &mut self,
        state: &mut State,
        target: BlockId,
        tag: Option<CondTag>,
        span: Span,
    ) -> Result<(), Stop> {
        let (func, from) = (state.top().func, state.top().block);
        let function = &self.module.functions[func];
        let graph = self.graph(func);
        let edge = graph.cfg.edge(from, target);
        let arrived = match edge {
            EdgeKind::Plain => None,
            EdgeKind::Enter(id) | EdgeKind::Back(id) => Some((id, graph.cfg.loops()[id].head)),
        };
        let tests_first = arrived.is_some_and(|(id, _)| graph.tests[id].is_some());
        let body_of = tag.and_then(|tag| {
            let id = graph.cfg.innermost_loop(from)?;
            let own = graph.tests[id] == Some(tag.decision) && graph.cfg.loops()[id].blocks.contains(&target);
            let on = branch_tag(function, target).is_none_or(|next| next.decision != tag.decision);
            (own && on).then(|| graph.cfg.loops()[id].head)
        });
        let mut iterations = 0;
        if let Some((_, head)) = arrived {
            let count = arrivals(state, head);
            *count = if matches!(edge, EdgeKind::Enter(_)) { 1 } else { *count + 1 };
            if !tests_first {
                iterations = *count;
            }
        }
        if let Some(head) = body_of {
            iterations = iterations.max(*arrivals(state, head));
        }
        if self.config.iterations.is_some_and(|limit| iterations > limit) {
            return Err(Stop::End(PathEnd::Longer));
        }
        if self.config.loop_bound.is_some_and(|limit| iterations > limit) {
            return Err(Stop::bound(Bound::LoopBound, span));
        }
        Ok(())
    }
}

fn arrivals(state: &mut State, head: BlockId) -> &mut u32 {
    let arrivals = &mut state.top_mut().arrivals;
    let index = match arrivals.iter().position(|(known, _)| *known == head) {
        Some(index) => index,
        None => {
            arrivals.push((head, 0));
            arrivals.len() - 1
        }
    };
    &mut arrivals[index].1
}

/// Immediate post-dominators, by plain iteration over sets: functions are small.
///
/// Ends that never return (errors, unsupported constructs) don't constrain where the others meet.
fn post_dominators(function: &Function, cfg: &Cfg) -> Vec<Option<BlockId>> {
    let count = function.blocks.len();
    let returns = |block: BlockId| matches!(function.blocks[block].terminator.kind, TermKind::Return(_));
    // sets[b]: blocks that every way from b to a return passes, b included; `None` while no way is known.
    let mut sets: Vec<Option<BTreeSet<BlockId>>> = vec![None; count];
    loop {
        let mut changed = false;
        for block in function.blocks.ids().rev() {
            let mut common: Option<BTreeSet<BlockId>> = returns(block).then(BTreeSet::new);
            for next in cfg.successors(block) {
                if let Some(set) = &sets[next.index()] {
                    common = Some(match common {
                        None => set.clone(),
                        Some(known) => known.intersection(set).copied().collect(),
                    });
                }
            }
            if let Some(mut set) = common {
                set.insert(block);
                if sets[block.index()].as_ref() != Some(&set) {
                    sets[block.index()] = Some(set);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let size = |block: BlockId| sets[block.index()].as_ref().map_or(0, BTreeSet::len);
    // The immediate one is post-dominated by all the others: it has the largest set among them.
    let immediate = |block: BlockId| {
        let set = sets[block.index()].as_ref()?;
        set.iter().copied().filter(|&other| other != block).max_by_key(|&other| size(other))
    };
    function.blocks.ids().map(immediate).collect()
}
