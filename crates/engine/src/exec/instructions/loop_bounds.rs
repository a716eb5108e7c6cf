//! Bounds on loop iterations (`paths:K`, `--loop-bound`) and on visits of a block (`block:K`).

use crate::exec::executor::Executor;
use crate::exec::executor::flow_graph::branch_tag;
use crate::state::{PathEnd, State, Stop};
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Bound, PathsOf};
use touchstone_ir::{BlockId, CondTag, EdgeKind};

impl Executor<'_> {
    /// Counts loop iterations on the edge to `target` and stops at the bound.
    ///
    /// A loop that tests first begins an iteration where its decision enters the body; any other loop begins one
    /// whenever control arrives at its head.
    pub(crate) fn count_iteration(
        &mut self,
        state: &mut State,
        target: BlockId,
        tag: Option<CondTag>,
        span: Span,
    ) -> Result<(), Stop> {
        let (func, from) = (state.top().func, state.top().block);
        let function = &self.module.functions[func];
        let graph = self.flow_graph(func);
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
            return Err(Stop::End(PathEnd::ExceedsCriterion));
        }
        if self.config.loop_bound.is_some_and(|limit| iterations > limit) {
            return Err(Stop::bound(Bound::LoopBound, span));
        }
        Ok(())
    }

    /// Counts the visits of a block in one call and stops at the bound.
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
            true => Err(Stop::End(PathEnd::ExceedsCriterion)),
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
