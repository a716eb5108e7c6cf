//! What the engine knows of a function's control flow: loops and their tests, and where branches come together.

use crate::exec::executor::Executor;
use crate::state::{PathEnd, State, Stop};
use touchstone_base::{Id, IndexMap, Span};
use touchstone_criteria::{Bound, PathsOf};
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
        if matches!(self.config.paths, PathsOf::Iterations(limit) if iterations > limit) {
            return Err(Stop::End(PathEnd::Longer));
        }
        if self.config.loop_bound.is_some_and(|limit| iterations > limit) {
            return Err(Stop::bound(Bound::LoopBound, span));
        }
        Ok(())
    }
}

impl Executor<'_> {
    /// Counts how often the call comes to a block, and stops at the bound (`block:K`).
    pub(crate) fn count_visit(&mut self, state: &mut State, target: BlockId, most: u32) -> Result<(), Stop> {
        let blocks = self.module.functions[state.top().func].blocks.len();
        let visits = &mut state.top_mut().visits;
        if visits.is_empty() {
            visits.resize(blocks, 0);
            // A call begins in its first block.
            visits[0] = 1;
        }
        visits[target.index()] += 1;
        match visits[target.index()] > most {
            true => Err(Stop::End(PathEnd::Longer)),
            false => Ok(()),
        }
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

/// Immediate post-dominators.
///
/// Ends that never return (errors, unsupported constructs) don't constrain where the others meet.
fn post_dominators(function: &Function, cfg: &Cfg) -> Vec<Option<BlockId>> {
    let returns = |block: BlockId| matches!(function.blocks[block].terminator.kind, TermKind::Return(_));
    let after: Vec<Vec<usize>> =
        function.blocks.ids().map(|block| cfg.successors(block).iter().map(|next| next.index()).collect()).collect();
    let ends: Vec<usize> = function.blocks.ids().filter(|block| returns(*block)).map(|block| block.index()).collect();
    immediate(&after, &ends).into_iter().map(|join| join.map(BlockId::new)).collect()
}

/// For every node the first one that all ways from it to an end pass, if there is one (Cooper, Harvey and Kennedy, "A simple,
/// fast dominance algorithm", on the reversed graph). Ways that come to no end don't count.
fn immediate(after: &[Vec<usize>], ends: &[usize]) -> Vec<Option<usize>> {
    // Behind all ends is one last node.
    let last = after.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); last + 1];
    before[last].extend(ends);
    for (from, targets) in after.iter().enumerate() {
        targets.iter().for_each(|&to| before[to].push(from));
    }
    let order = post_order(&before, last);
    let mut number: Vec<Option<usize>> = vec![None; last + 1];
    for (index, &node) in order.iter().enumerate() {
        number[node] = Some(index);
    }
    // By number in the order; a node's is higher than those of the nodes that it dominates.
    let top = order.len() - 1;
    let mut joins: Vec<Option<usize>> = vec![None; order.len()];
    joins[top] = Some(top);
    let is_end: Vec<bool> = {
        let mut is_end = vec![false; last];
        ends.iter().for_each(|&end| is_end[end] = true);
        is_end
    };
    loop {
        let mut changed = false;
        for index in (0..top).rev() {
            let node = order[index];
            let behind = after[node].iter().filter_map(|&next| number[next]).filter(|&next| joins[next].is_some());
            let behind = behind.chain(is_end[node].then_some(top));
            let join = behind.reduce(|a, b| meet(&joins, a, b));
            changed |= joins[index] != join;
            joins[index] = join;
        }
        if !changed {
            break;
        }
    }
    let of =
        |node: usize| number[node].and_then(|index| joins[index]).filter(|&join| join != top).map(|join| order[join]);
    (0..last).map(of).collect()
}

/// Where the ways up from two nodes meet.
fn meet(joins: &[Option<usize>], mut a: usize, mut b: usize) -> usize {
    let up = |from: usize| joins[from].expect("invariant: only nodes with a known way up are met");
    while a != b {
        if a < b { a = up(a) } else { b = up(b) }
    }
    a
}

/// The nodes that can be reached, each after what it leads to (but for cycles).
fn post_order(edges: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    seen[start] = true;
    let (mut order, mut stack) = (Vec::new(), vec![(start, 0)]);
    while let Some((node, next)) = stack.last_mut() {
        match edges[*node].get(*next) {
            Some(&target) => {
                *next += 1;
                if !std::mem::replace(&mut seen[target], true) {
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Whether an end can be reached from a node without passing another.
    fn comes_to_an_end(after: &[Vec<usize>], ends: &[usize], from: usize, without: Option<usize>) -> bool {
        let (mut pending, mut seen) = (vec![from], BTreeSet::new());
        while let Some(node) = pending.pop() {
            if Some(node) == without || !seen.insert(node) {
                continue;
            }
            if ends.contains(&node) {
                return true;
            }
            pending.extend(&after[node]);
        }
        false
    }

    #[test]
    fn ways_meet_where_the_definition_says() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        let mut random = move |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed >> 33) as usize % below
        };
        let mut met = 0;
        for _ in 0..2000 {
            let count = 1 + random(9);
            let after: Vec<Vec<usize>> = (0..count).map(|_| (0..random(3)).map(|_| random(count)).collect()).collect();
            let ends: Vec<usize> = (0..count).filter(|&node| after[node].is_empty() && random(4) > 0).collect();
            let found = immediate(&after, &ends);
            for (from, found) in found.into_iter().enumerate() {
                let passed: Vec<usize> = (0..count)
                    .filter(|&node| node != from && comes_to_an_end(&after, &ends, from, None))
                    .filter(|&node| !comes_to_an_end(&after, &ends, from, Some(node)))
                    .collect();
                // The first of them is the one from which all others still follow.
                let first = passed.iter().copied().find(|&node| {
                    passed.iter().all(|&other| other == node || !comes_to_an_end(&after, &ends, node, Some(other)))
                });
                assert_eq!(found, first, "{after:?} {ends:?} from {from}");
                met += usize::from(first.is_some());
            }
        }
        assert!(met > 1000, "only {met}");
    }
}
