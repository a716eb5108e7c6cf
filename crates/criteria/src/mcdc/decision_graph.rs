//! Decisions compiled to graphs (Whalen et al., section III).
//!
//! Each node is a condition that is evaluated next, each edge one of its outcomes: the earlier conditions that it
//! masks, and the next step. Walking the graph with the outcomes of a run gives the paper's marking function: add the
//! outcome, remove what it masks, flush when the decision is done.
//!
//! There are two differences from figure 3 of the paper. The test of its line 18 must use the *parent's* operator: a
//! right operand that is false under `and`, or true under `or`, masks the left operand. And the paper has one table for
//! each condition, which cannot express exclusive or and equivalence (the next step depends on the left operand); here
//! a condition has one node for every context in which it is evaluated, and equal contexts share a node, so a decision
//! of `and`, `or` and `not` has exactly one node for each condition.

use crate::mcdc::masks::Masks;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{IndexMap, define_id};
use touchstone_ir::{BoolTree, CondId, Decision};

define_id! {
    /// A node of a decision graph.
    NodeId, "n"
}

/// A decision as a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionGraph {
    /// Nodes.
    pub nodes: IndexMap<NodeId, DecisionNode>,
    /// The first step of an evaluation.
    pub start: DecisionStep,
}

/// A condition in a context.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionNode {
    /// The condition that is evaluated.
    pub condition: CondId,
    /// The edges of its outcomes: false, true.
    pub edges: [DecisionEdge; 2],
}

/// The effect of an outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionEdge {
    /// Earlier conditions whose effect is masked by it.
    pub masks: Masks,
    /// The next step.
    pub target: DecisionStep,
}

/// The next step of an evaluation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecisionStep {
    /// Another condition.
    Node(NodeId),
    /// The decision has this outcome.
    Done(bool),
}

/// One complete evaluation of a decision.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub struct Row {
    /// The outcomes of the conditions, in evaluation order.
    pub outcomes: Vec<(CondId, bool)>,
    /// The conditions that were not masked: each of them independently affected the outcome.
    pub independent: Vec<(CondId, bool)>,
    /// The decision's outcome.
    pub result: bool,
}

impl Row {
    /// The outcome of a condition; `None` if it was not evaluated.
    pub fn value(&self, condition: CondId) -> Option<bool> {
        self.outcomes.iter().find(|(of, _)| *of == condition).map(|(_, value)| *value)
    }
}

impl DecisionGraph {
    /// Compiles a decision.
    pub fn new(decision: &Decision) -> DecisionGraph {
        let mut builder = Builder { nodes: Vec::new(), known: FxHashMap::default() };
        let (start, _) = builder.enter(&decision.tree, None);
        let finished = |node: Option<DecisionNode>| node.expect("invariant: every node that was begun was finished");
        DecisionGraph { nodes: builder.nodes.into_iter().map(finished).collect(), start }
    }

    /// All rows that short-circuit evaluation allows, at most `limit`; `None` if there are more.
    pub fn rows(&self, limit: usize) -> Option<Vec<Row>> {
        let mut rows = Vec::new();
        let mut pending = vec![DecisionEvaluation::default()];
        while let Some(walk) = pending.pop() {
            match walk.at(self) {
                DecisionStep::Done(result) => {
                    if rows.len() == limit {
                        return None;
                    }
                    rows.push(walk.row(result));
                }
                DecisionStep::Node(_) => {
                    for outcome in [false, true] {
                        let mut next = walk.clone();
                        next.step(self, outcome);
                        pending.push(next);
                    }
                }
            }
        }
        Some(rows)
    }

    /// The conditions that some evaluation evaluates; the others were cut off by constants.
    pub fn evaluated(&self) -> std::collections::BTreeSet<CondId> {
        self.nodes.values().map(|node| node.condition).collect()
    }
}

/// An evaluation under way: the paper's marking function.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct DecisionEvaluation {
    /// `None` at the start.
    target: Option<WalkTarget>,
    outcomes: Vec<(CondId, bool)>,
    unmasked: Vec<(CondId, bool)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum WalkTarget {
    Node(NodeId),
    Done(bool),
}

impl DecisionEvaluation {
    /// Returns the next step.
    pub fn at(&self, graph: &DecisionGraph) -> DecisionStep {
        match self.target {
            None => graph.start,
            Some(WalkTarget::Node(node)) => DecisionStep::Node(node),
            Some(WalkTarget::Done(result)) => DecisionStep::Done(result),
        }
    }

    /// The next condition had this outcome.
    pub fn step(&mut self, graph: &DecisionGraph, outcome: bool) {
        let DecisionStep::Node(node) = self.at(graph) else { return };
        let node = &graph.nodes[node];
        let edge = &node.edges[usize::from(outcome)];
        self.outcomes.push((node.condition, outcome));
        self.unmasked.push((node.condition, outcome));
        // A constant right after the condition can mask the condition itself.
        self.unmasked.retain(|(condition, _)| !edge.masks.contains(*condition) || is_injected(Fault::NothingMasked));
        self.target = Some(match edge.target {
            DecisionStep::Node(node) => WalkTarget::Node(node),
            DecisionStep::Done(result) => WalkTarget::Done(result),
        });
    }

    /// Returns to the start.
    pub fn restart(&mut self) {
        self.target = None;
        self.outcomes.clear();
        self.unmasked.clear();
    }

    /// The outcomes so far.
    pub fn outcomes(&self) -> &[(CondId, bool)] {
        &self.outcomes
    }

    /// Returns the conditions that are not masked so far.
    pub fn unmasked(&self) -> &[(CondId, bool)] {
        &self.unmasked
    }

    /// The row, once the decision has its outcome.
    pub fn row(self, result: bool) -> Row {
        Row { outcomes: self.outcomes, independent: self.unmasked, result }
    }
}

/// The operations that are pending on the value of a subtree, innermost first.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Pending<'t> {
    Negate,
    /// The left side of `and` or `or` is evaluated; the right follows unless it has the value that decides.
    Left {
        stop_at: bool,
        right: ByAddress<'t>,
    },
    /// The right side; the left one has these conditions.
    Right {
        stop_at: bool,
        left: ByAddress<'t>,
    },
    /// The left side of an exclusive or (false) or equivalence (true).
    EqualLeft {
        equal: bool,
        right: ByAddress<'t>,
    },
    /// The right side, with what the left one was.
    EqualRight {
        equal: bool,
        left: bool,
    },
    /// The first operand of a conditional.
    Choice {
        condition: ByAddress<'t>,
        yes: ByAddress<'t>,
        no: ByAddress<'t>,
    },
    /// The chosen operand of a conditional, with the condition that chose it and what it did not choose.
    Chosen {
        condition: ByAddress<'t>,
        other: ByAddress<'t>,
    },
}

/// A tree told apart by where it stands, not by what it says.
#[derive(Clone, Copy)]
struct ByAddress<'t>(&'t BoolTree);

impl PartialEq for ByAddress<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for ByAddress<'_> {}
impl std::hash::Hash for ByAddress<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::from_ref(self.0).hash(state);
    }
}

/// A stack of pending work, shared between contexts.
type Stack<'t> = Option<Rc<Link<'t>>>;

struct Link<'t> {
    first: Pending<'t>,
    rest: Stack<'t>,
    /// The hash of the whole stack, because stacks of thousands of links are looked up thousands of times.
    hash: u64,
}

impl PartialEq for Link<'_> {
    fn eq(&self, other: &Self) -> bool {
        let shared = match (&self.rest, &other.rest) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        self.hash == other.hash && self.first == other.first && (shared || self.rest == other.rest)
    }
}
impl Eq for Link<'_> {}
impl std::hash::Hash for Link<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

fn push<'t>(first: Pending<'t>, rest: &Stack<'t>) -> Stack<'t> {
    let mut hasher = FxHasher::default();
    first.hash(&mut hasher);
    rest.as_ref().map(|rest| rest.hash).hash(&mut hasher);
    Some(Rc::new(Link { first, rest: rest.clone(), hash: hasher.finish() }))
}

struct Builder<'t> {
    /// `None` while the node's edges are being made.
    nodes: Vec<Option<DecisionNode>>,
    known: FxHashMap<(CondId, Stack<'t>), NodeId>,
}

impl<'t> Builder<'t> {
    /// Begins to evaluate a subtree; `masks` come from constants on the way.
    fn enter(&mut self, tree: &'t BoolTree, stack: Stack<'t>) -> (DecisionStep, Vec<CondId>) {
        match tree {
            BoolTree::Cond(condition) => (DecisionStep::Node(self.node(*condition, stack)), Vec::new()),
            BoolTree::Const(value) => self.leave(*value, stack),
            BoolTree::Not(inner) => self.enter(inner, push(Pending::Negate, &stack)),
            BoolTree::And(left, right) => self.enter(left, short_circuit(false, left, right, &stack)),
            BoolTree::Or(left, right) => self.enter(left, short_circuit(true, left, right, &stack)),
            BoolTree::Xor(left, right) => {
                self.enter(left, push(Pending::EqualLeft { equal: false, right: ByAddress(right) }, &stack))
            }
            BoolTree::Iff(left, right) => {
                self.enter(left, push(Pending::EqualLeft { equal: true, right: ByAddress(right) }, &stack))
            }
            BoolTree::Ite(condition, yes, no) => {
                let (yes, no) = (ByAddress(yes.as_ref()), ByAddress(no.as_ref()));
                self.enter(condition, push(Pending::Choice { condition: ByAddress(condition), yes, no }, &stack))
            }
        }
    }

    fn node(&mut self, condition: CondId, stack: Stack<'t>) -> NodeId {
        use touchstone_base::Id;
        if let Some(&known) = self.known.get(&(condition, stack.clone())) {
            return known;
        }
        let id = NodeId::new(self.nodes.len());
        self.nodes.push(None);
        self.known.insert((condition, stack.clone()), id);
        let edges = [false, true].map(|outcome| {
            let (target, masks) = self.leave(outcome, stack.clone());
            DecisionEdge { masks: Masks::of(masks), target }
        });
        self.nodes[id.index()] = Some(DecisionNode { condition, edges });
        id
    }

    /// The subtree on top of the stack has this value.
    fn leave(&mut self, value: bool, stack: Stack<'t>) -> (DecisionStep, Vec<CondId>) {
        let Some(link) = stack else { return (DecisionStep::Done(value), Vec::new()) };
        let rest = link.rest.clone();
        match &link.first {
            Pending::Negate => self.leave(!value, rest),
            Pending::Left { stop_at, right } => {
                // Below a `Left` lies the `Right` that remembers the left side; it is for the right side only.
                if value == *stop_at {
                    let below = rest.as_ref().expect("invariant: a `Right` lies below every `Left`");
                    let (target, mut masks) = self.leave(value, below.rest.clone());
                    // Constants can make the right side unable to give anything else.
                    if let Pending::Right { left, .. } = &below.first
                        && !can_be(right.0, !value)
                    {
                        conditions_of(left.0, &mut masks);
                    }
                    (target, masks)
                } else {
                    self.enter(right.0, rest)
                }
            }
            Pending::Right { stop_at, left } => {
                let (target, mut masks) = self.leave(value, rest);
                if value == *stop_at {
                    conditions_of(left.0, &mut masks);
                }
                (target, masks)
            }
            Pending::EqualLeft { equal, right } => {
                self.enter(right.0, push(Pending::EqualRight { equal: *equal, left: value }, &rest))
            }
            Pending::EqualRight { equal, left } => self.leave((value == *left) == *equal, rest),
            Pending::Choice { condition, yes, no } => {
                let (chosen, other) = if value { (yes.0, *no) } else { (no.0, *yes) };
                self.enter(chosen, push(Pending::Chosen { condition: *condition, other }, &rest))
            }
            Pending::Chosen { condition, other } => {
                let (target, mut masks) = self.leave(value, rest);
                // The other operand could only have given the same.
                if !can_be(other.0, !value) {
                    conditions_of(condition.0, &mut masks);
                }
                (target, masks)
            }
        }
    }
}

/// Returns the pending operations while the left operand of `and` (which stops at false) or `or` (true) is evaluated:
/// below it is what the right operand needs.
fn short_circuit<'t>(stop_at: bool, left: &'t BoolTree, right: &'t BoolTree, stack: &Stack<'t>) -> Stack<'t> {
    let below = push(Pending::Right { stop_at, left: ByAddress(left) }, stack);
    push(Pending::Left { stop_at, right: ByAddress(right) }, &below)
}

/// Returns true if some values of its conditions give a tree this value. Only constants can exclude one, because every
/// condition occurs once.
fn can_be(tree: &BoolTree, value: bool) -> bool {
    match tree {
        BoolTree::Cond(_) => true,
        BoolTree::Const(constant) => *constant == value,
        BoolTree::Not(a) => can_be(a, !value),
        BoolTree::And(a, b) if value => can_be(a, true) && can_be(b, true),
        BoolTree::And(a, b) => can_be(a, false) || can_be(b, false),
        BoolTree::Or(a, b) if value => can_be(a, true) || can_be(b, true),
        BoolTree::Or(a, b) => can_be(a, false) && can_be(b, false),
        BoolTree::Xor(a, b) => [false, true].into_iter().any(|left| can_be(a, left) && can_be(b, left != value)),
        BoolTree::Iff(a, b) => [false, true].into_iter().any(|left| can_be(a, left) && can_be(b, left == value)),
        BoolTree::Ite(c, a, b) => (can_be(c, true) && can_be(a, value)) || (can_be(c, false) && can_be(b, value)),
    }
}

/// All conditions of a tree.
fn conditions_of(tree: &BoolTree, conditions: &mut Vec<CondId>) {
    match tree {
        BoolTree::Cond(condition) => conditions.push(*condition),
        BoolTree::Const(_) => {}
        BoolTree::Not(inner) => conditions_of(inner, conditions),
        BoolTree::And(a, b) | BoolTree::Or(a, b) | BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => {
            conditions_of(a, conditions);
            conditions_of(b, conditions);
        }
        BoolTree::Ite(c, a, b) => {
            conditions_of(c, conditions);
            conditions_of(a, conditions);
            conditions_of(b, conditions);
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Decisions for tests.

    use super::*;
    use touchstone_base::{Id, Span};
    use touchstone_ir::{Condition, DecisionKind};

    pub(crate) fn conditions_in(tree: &BoolTree) -> Vec<CondId> {
        let mut all = Vec::new();
        conditions_of(tree, &mut all);
        all
    }

    pub(crate) fn decision(tree: BoolTree) -> Decision {
        let all = conditions_in(&tree);
        let condition = |id: CondId| Condition { span: Span::none(), text: id.to_string() };
        let conditions = (0..all.len()).map(|index| condition(CondId::new(index))).collect();
        Decision { kind: DecisionKind::If, span: Span::none(), text: String::new(), tree, conditions }
    }

    /// A tree with conditions numbered from left to right, from a stream of numbers.
    pub(crate) fn random_tree(seed: &mut u64, depth: u32, next: &mut usize) -> BoolTree {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        let mut sub = |seed: &mut u64| Box::new(random_tree(seed, depth - 1, next));
        match if depth == 0 { 0 } else { *seed % 12 } {
            1 => BoolTree::Not(sub(seed)),
            2..=4 => BoolTree::And(sub(seed), sub(seed)),
            5..=7 => BoolTree::Or(sub(seed), sub(seed)),
            8 => BoolTree::Xor(sub(seed), sub(seed)),
            9 => BoolTree::Iff(sub(seed), sub(seed)),
            10 => BoolTree::Ite(sub(seed), sub(seed), sub(seed)),
            11 => BoolTree::Const(*seed & 64 == 0),
            _ => {
                *next += 1;
                BoolTree::Cond(CondId::new(*next - 1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{decision, random_tree};
    use super::*;
    use touchstone_base::Id;

    /// The definition, by recursion over the tree: value, outcomes in order, and what is not masked.
    #[allow(clippy::type_complexity)]
    fn evaluate(tree: &BoolTree, values: &[bool]) -> (bool, Vec<(CondId, bool)>, Vec<(CondId, bool)>) {
        match tree {
            BoolTree::Cond(id) => {
                let value = values[id.index()];
                (value, vec![(*id, value)], vec![(*id, value)])
            }
            BoolTree::Const(value) => (*value, vec![], vec![]),
            BoolTree::Not(a) => {
                let (value, order, free) = evaluate(a, values);
                (!value, order, free)
            }
            BoolTree::And(a, b) | BoolTree::Or(a, b) => {
                let stop = matches!(tree, BoolTree::Or(..));
                let (left, mut order, mut free) = evaluate(a, values);
                if left == stop {
                    let free = if can_be(b, !stop) { free } else { Vec::new() };
                    return (left, order, free);
                }
                let (right, more, own) = evaluate(b, values);
                order.extend(more);
                if right == stop {
                    free = Vec::new();
                }
                free.extend(own);
                (right, order, free)
            }
            BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => {
                let (left, mut order, mut free) = evaluate(a, values);
                let (right, more, own) = evaluate(b, values);
                order.extend(more);
                free.extend(own);
                ((left == right) == matches!(tree, BoolTree::Iff(..)), order, free)
            }
            BoolTree::Ite(c, a, b) => {
                let (chosen, mut order, mut free) = evaluate(c, values);
                let (value, more, own) = evaluate(if chosen { a } else { b }, values);
                order.extend(more);
                if !can_be(if chosen { b } else { a }, !value) {
                    free = Vec::new();
                }
                free.extend(own);
                (value, order, free)
            }
        }
    }

    /// Tries all values of what was not evaluated: the definition word by word.
    fn decides(tree: &BoolTree, order: &[(CondId, bool)], condition: CondId, count: usize) -> bool {
        let known = |id: usize| order.iter().find(|(known, _)| known.index() == id).map(|(_, value)| *value);
        (0..1u32 << count).any(|bits| {
            let mut values: Vec<bool> = (0..count).map(|id| known(id).unwrap_or(bits >> id & 1 == 1)).collect();
            let before = evaluate(tree, &values).0;
            values[condition.index()] ^= true;
            evaluate(tree, &values).0 != before
        })
    }

    #[test]
    fn what_wide_decisions_mask_takes_no_more_than_the_decisions() {
        let leaf = |number: usize| Box::new(BoolTree::Cond(CondId::new(number)));
        let count = 400;
        let left = (1..count).fold(leaf(0), |tree, number| Box::new(BoolTree::Or(tree, leaf(number))));
        let right =
            (0..count - 1).rev().fold(leaf(count - 1), |tree, number| Box::new(BoolTree::And(leaf(number), tree)));
        for tree in [left, right] {
            let graph = DecisionGraph::new(&decision(*tree));
            let ranges = graph.nodes.values().flat_map(|node| &node.edges).map(|edge| edge.masks.ranges().len());
            assert!(ranges.sum::<usize>() <= count);
            let masked = graph.nodes.values().flat_map(|node| &node.edges).map(|edge| edge.masks.iter().count());
            assert_eq!(masked.sum::<usize>(), count * (count - 1) / 2);
        }
    }

    #[test]
    fn walking_the_graph_gives_what_the_definition_says() {
        let mut seed = 0x9e37_79b9_7f4a_7c15;
        let (mut decisions, mut rows) = (0, 0);
        while decisions < 400 {
            let mut count = 0;
            let tree = random_tree(&mut seed, 4, &mut count);
            if count == 0 || count > 10 {
                continue;
            }
            decisions += 1;
            let graph = DecisionGraph::new(&decision(tree.clone()));
            let mut seen = std::collections::BTreeSet::new();
            for bits in 0..1u32 << count {
                let values: Vec<bool> = (0..count).map(|index| bits >> index & 1 == 1).collect();
                let (value, order, free) = evaluate(&tree, &values);
                if count <= 6 {
                    let tried = order.iter().filter(|(condition, _)| decides(&tree, &order, *condition, count));
                    assert_eq!(tried.copied().collect::<Vec<_>>(), free, "{tree:?} {values:?}");
                }
                let mut walk = DecisionEvaluation::default();
                for (condition, outcome) in &order {
                    let DecisionStep::Node(node) = walk.at(&graph) else { panic!("{tree:?}: done too early") };
                    assert_eq!(graph.nodes[node].condition, *condition);
                    walk.step(&graph, *outcome);
                }
                assert_eq!(walk.at(&graph), DecisionStep::Done(value), "{tree:?}");
                let row = walk.row(value);
                let sorted = |mut list: Vec<(CondId, bool)>| {
                    list.sort_unstable();
                    list
                };
                assert_eq!(sorted(row.independent.clone()), sorted(free), "{tree:?} {values:?}");
                seen.insert(row);
            }
            let all: std::collections::BTreeSet<Row> = graph.rows(1 << 12).expect("few rows").into_iter().collect();
            assert_eq!(all, seen, "{tree:?}: all rows are rows of some values");
            rows += all.len();
        }
        assert!(rows > 2000, "only {rows} rows");
    }

    #[test]
    fn a_decision_of_and_or_not_has_one_node_a_condition() {
        let cond = |index: usize| Box::new(BoolTree::Cond(CondId::new(index)));
        let mut tree = BoolTree::Cond(CondId::new(0));
        for index in 1..200 {
            tree = match index % 3 {
                0 => BoolTree::And(Box::new(tree), cond(index)),
                1 => BoolTree::Or(Box::new(tree), cond(index)),
                _ => BoolTree::Not(Box::new(BoolTree::And(Box::new(tree), cond(index)))),
            };
        }
        assert_eq!(DecisionGraph::new(&decision(tree)).nodes.len(), 200);
    }
}
