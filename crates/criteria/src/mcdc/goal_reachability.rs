//! Reachability of goals inside of a decision. It is exact for the decision graph, so a search may prune an evaluation
//! that reaches no open goal, however many conditions are left.
//!
//! Deliberately not here: the outcomes that inputs allow, which executors know.

use crate::{DecisionEvaluation, DecisionGraph, DecisionNode, DecisionStep, Goal, NodeId, Row};
use rustc_hash::FxHashSet;
use touchstone_base::Id;
use touchstone_ir::CondId;

impl DecisionGraph {
    /// Returns true if some outcomes of the remaining conditions end this evaluation in a row that reaches the goal. A
    /// goal that is not about evaluations is never reached by one.
    pub fn can_reach(&self, walk: &DecisionEvaluation, goal: &Goal) -> bool {
        let at = walk.at(self);
        match goal {
            Goal::Outcome { value, .. } => self.can_reach_end(at, |_, _| true, |result| result == *value),
            Goal::Condition { condition, value, .. } => {
                walk.outcomes().contains(&(*condition, *value)) || !self.nodes_of(at, *condition).is_empty()
            }
            Goal::Independent { condition, value, .. } => self.can_decide(walk, *condition, *value),
            Goal::Row { outcomes, .. } => outcomes.starts_with(walk.outcomes()),
            Goal::Partner { condition, rows, .. } => rows.iter().any(|row| self.can_pair(walk, row, *condition)),
            Goal::Label { .. } | Goal::Entry { .. } | Goal::Return { .. } | Goal::Arm { .. } | Goal::Error { .. } => {
                false
            }
        }
    }

    /// The values with which conditions decide the outcome in some row, of rows whose outcomes are all allowed. All at once:
    /// asked one by one, decisions of thousands of conditions took minutes.
    pub fn deciding(&self, allows: impl Fn(CondId, bool) -> bool) -> FxHashSet<(CondId, bool)> {
        let open = |node: &DecisionNode| [false, true].map(|outcome| allows(node.condition, outcome));
        let order = self.later_first(open);
        let conditions = self.nodes.values().map(|node| node.condition.index() + 1).max().unwrap_or(0);
        let everything = vec![u64::MAX; conditions.div_ceil(64)];
        // Of each node, the conditions that something allowed behind it leaves unmasked.
        let mut spared: Vec<Vec<u64>> = vec![Vec::new(); self.nodes.len()];
        let mut found = FxHashSet::default();
        for id in order {
            let node = &self.nodes[id];
            let mut own = vec![0; everything.len()];
            for outcome in [false, true].into_iter().filter(|outcome| open(node)[usize::from(*outcome)]) {
                let edge = &node.edges[usize::from(outcome)];
                let mut behind = match edge.target {
                    DecisionStep::Node(target) => spared[target.index()].clone(),
                    DecisionStep::Done(_) => everything.clone(),
                };
                for masked in edge.masks.iter() {
                    behind[masked.index() / 64] &= !(1 << (masked.index() % 64));
                }
                if behind[node.condition.index() / 64] >> (node.condition.index() % 64) & 1 == 1 {
                    found.insert((node.condition, outcome));
                }
                own.iter_mut().zip(&behind).for_each(|(own, behind)| *own |= behind);
            }
            spared[id.index()] = own;
        }
        found
    }

    /// Returns the nodes that are reachable by open outcomes, in post-order.
    fn later_first(&self, open: impl Fn(&DecisionNode) -> [bool; 2]) -> Vec<NodeId> {
        let (mut order, mut seen) = (Vec::new(), vec![false; self.nodes.len()]);
        let mut pending = vec![(self.start, false)];
        while let Some((target, done)) = pending.pop() {
            let DecisionStep::Node(id) = target else { continue };
            if done {
                order.push(id);
            } else if !std::mem::replace(&mut seen[id.index()], true) {
                pending.push((target, true));
                let node = &self.nodes[id];
                for (edge, open) in node.edges.iter().zip(open(node)) {
                    if open {
                        pending.push((edge.target, false));
                    }
                }
            }
        }
        order
    }

    fn can_decide(&self, walk: &DecisionEvaluation, condition: CondId, value: bool) -> bool {
        let spares = |node: &DecisionNode, outcome: bool| !node.edges[usize::from(outcome)].masks.contains(condition);
        if walk.unmasked().contains(&(condition, value)) {
            return self.can_reach_end(walk.at(self), spares, |_| true);
        }
        self.nodes_of(walk.at(self), condition).iter().any(|node| {
            spares(node, value) && self.can_reach_end(node.edges[usize::from(value)].target, spares, |_| true)
        })
    }

    /// Returns true if the evaluation can end as a unique-cause partner of a row.
    fn can_pair(&self, walk: &DecisionEvaluation, row: &Row, condition: CondId) -> bool {
        let wanted = |of: CondId| row.value(of).map(|value| value != (of == condition));
        let keeps = |of: CondId, outcome: bool| wanted(of).is_none_or(|wanted| wanted == outcome);
        walk.outcomes().iter().all(|(of, outcome)| keeps(*of, *outcome))
            && self.can_reach_end(
                walk.at(self),
                |node, outcome| keeps(node.condition, outcome),
                |result| result != row.result,
            )
    }

    /// Returns true if an allowed end is reachable by allowed outcomes.
    fn can_reach_end(
        &self,
        from: DecisionStep,
        allows: impl Fn(&DecisionNode, bool) -> bool,
        ends: impl Fn(bool) -> bool,
    ) -> bool {
        self.visit(from, allows, |target| matches!(target, DecisionStep::Done(result) if ends(result)))
    }

    /// Visits every node that is reachable by allowed outcomes once, until `stops` returns true; returns true if it
    /// did.
    fn visit(
        &self,
        from: DecisionStep,
        allows: impl Fn(&DecisionNode, bool) -> bool,
        mut stops: impl FnMut(DecisionStep) -> bool,
    ) -> bool {
        let (mut pending, mut seen) = (vec![from], vec![false; self.nodes.len()]);
        while let Some(target) = pending.pop() {
            if let DecisionStep::Node(id) = target
                && std::mem::replace(&mut seen[id.index()], true)
            {
                continue;
            }
            if stops(target) {
                return true;
            }
            if let DecisionStep::Node(id) = target {
                let node = &self.nodes[id];
                let open = [false, true].into_iter().filter(|outcome| allows(node, *outcome));
                pending.extend(open.map(|outcome| node.edges[usize::from(outcome)].target));
            }
        }
        false
    }

    /// The nodes from here on that evaluate a condition.
    fn nodes_of(&self, from: DecisionStep, condition: CondId) -> Vec<&DecisionNode> {
        let mut found = Vec::new();
        self.visit(
            from,
            |_, _| true,
            |target| {
                if let DecisionStep::Node(id) = target
                    && self.nodes[id].condition == condition
                {
                    found.push(&self.nodes[id]);
                }
                false
            },
        );
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcdc::decision_graph::testing::{conditions_in, decision, random_tree};
    use touchstone_ir::{DecisionId, FuncId};

    /// All walks that are under way, and all rows, with the walks that they come from.
    fn walks(graph: &DecisionGraph) -> Vec<(DecisionEvaluation, Vec<Row>)> {
        let all = graph.rows(1 << 12).expect("few rows");
        let (mut pending, mut found) = (vec![DecisionEvaluation::default()], Vec::new());
        while let Some(walk) = pending.pop() {
            if let DecisionStep::Node(_) = walk.at(graph) {
                for outcome in [false, true] {
                    let mut next = walk.clone();
                    next.step(graph, outcome);
                    pending.push(next);
                }
                let ends = all.iter().filter(|row| row.outcomes.starts_with(walk.outcomes())).cloned().collect();
                found.push((walk, ends));
            }
        }
        found
    }

    #[test]
    fn a_condition_decides_if_and_only_if_an_allowed_row_says_so() {
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        let (mut decisions, mut yes, mut no) = (0, 0, 0);
        while decisions < 300 {
            let mut count = 0;
            let tree = random_tree(&mut seed, 3, &mut count);
            if !(1..=6).contains(&count) {
                continue;
            }
            decisions += 1;
            let graph = DecisionGraph::new(&decision(tree.clone()));
            let all = graph.rows(1 << 12).expect("few rows");
            for forbidden in 0..1u32 << (2 * count).min(8) {
                let allows = |of: CondId, value: bool| forbidden >> (2 * of.index() + usize::from(value)) & 1 == 0;
                let deciding = graph.deciding(allows);
                for condition in conditions_in(&tree) {
                    for value in [false, true] {
                        let expected = all.iter().any(|row| {
                            row.independent.contains(&(condition, value))
                                && row.outcomes.iter().all(|(of, value)| allows(*of, *value))
                        });
                        assert_eq!(deciding.contains(&(condition, value)), expected, "{tree:?} {forbidden:b}");
                        if expected { yes += 1 } else { no += 1 }
                    }
                }
            }
        }
        assert!(yes > 10_000 && no > 10_000, "only {yes} and {no}");
    }

    #[test]
    fn an_evaluation_can_reach_a_goal_if_and_only_if_one_of_its_rows_does() {
        let (func, decision_id) = (FuncId::new(0), DecisionId::new(0));
        let mut seed = 0x2545_f491_4f6c_dd1d;
        let (mut decisions, mut yes, mut no) = (0, 0, 0);
        while decisions < 150 {
            let mut count = 0;
            let tree = random_tree(&mut seed, 3, &mut count);
            if !(1..=6).contains(&count) {
                continue;
            }
            decisions += 1;
            let graph = DecisionGraph::new(&decision(tree.clone()));
            let all = graph.rows(1 << 12).expect("few rows");
            for (walk, rows) in walks(&graph) {
                let mut check = |goal: Goal, reaches: &dyn Fn(&Row) -> bool| {
                    let expected = rows.iter().any(reaches);
                    assert_eq!(graph.can_reach(&walk, &goal), expected, "{tree:?}\n{walk:?}\n{goal:?}");
                    if expected { yes += 1 } else { no += 1 }
                };
                for value in [false, true] {
                    check(Goal::Outcome { func, decision: decision_id, value }, &|row| row.result == value);
                    for condition in conditions_in(&tree) {
                        let side = (condition, value);
                        check(Goal::Condition { func, decision: decision_id, condition, value }, &|row| {
                            row.outcomes.contains(&side)
                        });
                        check(Goal::Independent { func, decision: decision_id, condition, value }, &|row| {
                            row.independent.contains(&side)
                        });
                    }
                }
                for seen in &all {
                    let outcomes = seen.outcomes.clone();
                    check(Goal::Row { func, decision: decision_id, outcomes }, &|row| row == seen);
                    for (condition, _) in seen.outcomes.iter().copied() {
                        let goal = Goal::Partner { func, decision: decision_id, condition, rows: vec![seen.clone()] };
                        check(goal, &|row| crate::mcdc::independence_pairs::unique_cause(seen, row) == Some(condition));
                    }
                }
            }
        }
        assert!(yes > 10_000 && no > 10_000, "only {yes} and {no}");
    }
}
