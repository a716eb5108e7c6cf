//! The control-flow graph of a function: orders, reachability, loops, dominators, control dependence.
//!
//! A loop is found by its *retreating edges*: edges to a block that is not later in reverse post-order. In code without
//! jumps into loops these are exactly the back edges of natural loops. In other code they are still enough to cut every
//! cycle, which is what a bound on iterations needs, but which block counts as head depends on the order of blocks.

use crate::{BlockId, Function, TermKind};
use std::collections::BTreeSet;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{DominatorTree, Id, IndexMap, control_dependence, define_id};

define_id! {
    /// A loop of a function.
    LoopId, "loop"
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The block that every iteration begins with.
    pub head: BlockId,
    /// All blocks of the loop in order, the head included.
    pub blocks: Vec<BlockId>,
    /// The smallest other loop that has this one's blocks.
    pub parent: Option<LoopId>,
}

/// The role of an edge in loops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeKind {
    /// It begins no iteration.
    Plain,
    /// It enters the loop from outside: the first iteration begins.
    Enter(LoopId),
    /// It goes back to the head: another iteration begins.
    Back(LoopId),
}

/// The blocks that post-dominance regards as the ends of a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Exits {
    /// Blocks that return. Paths that end in an exception, an error or an unsupported construct don't constrain where the
    /// others meet.
    Returns,
    /// All blocks without a successor.
    All,
}

/// The control-flow graph of one function.
#[derive(Clone, Debug)]
pub struct Cfg {
    successors: IndexMap<BlockId, Vec<BlockId>>,
    predecessors: IndexMap<BlockId, Vec<BlockId>>,
    order: Vec<BlockId>,
    /// Index in `order`; `None` for unreachable blocks.
    position: IndexMap<BlockId, Option<usize>>,
    loops: IndexMap<LoopId, Loop>,
    loop_at: IndexMap<BlockId, Option<LoopId>>,
    innermost: IndexMap<BlockId, Option<LoopId>>,
}

/// The blocks that a terminator can go to, each once, in order of appearance.
pub fn successors(kind: &TermKind) -> Vec<BlockId> {
    let mut targets = match kind {
        TermKind::Jump(target) => vec![*target],
        TermKind::Branch { then_block, else_block, .. } => vec![*then_block, *else_block],
        TermKind::Switch { arms, default, .. } => arms.iter().map(|arm| arm.target).chain([*default]).collect(),
        TermKind::Catch { handler, next, .. } => vec![*next, *handler],
        TermKind::Return(_) | TermKind::Throw(_) | TermKind::Unsupported(_) | TermKind::Unreachable => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    targets.retain(|target| seen.insert(*target));
    targets
}

impl Cfg {
    /// The graph of a function that the verifier accepts.
    pub fn new(function: &Function) -> Cfg {
        let blocks = &function.blocks;
        let successors: IndexMap<BlockId, Vec<BlockId>> =
            blocks.values().map(|block| successors(&block.terminator.kind)).collect();
        let mut predecessors: IndexMap<BlockId, Vec<BlockId>> = blocks.values().map(|_| Vec::new()).collect();
        for (from, targets) in successors.iter() {
            for &to in targets {
                predecessors[to].push(from);
            }
        }
        let order = reverse_post_order(&successors);
        let mut position: IndexMap<BlockId, Option<usize>> = blocks.values().map(|_| None).collect();
        for (index, &block) in order.iter().enumerate() {
            position[block] = Some(index);
        }
        let none: IndexMap<BlockId, Option<LoopId>> = blocks.values().map(|_| None).collect();
        let loops = IndexMap::new();
        let mut cfg = Cfg { successors, predecessors, order, position, loops, loop_at: none.clone(), innermost: none };
        cfg.find_loops();
        cfg
    }

    /// Returns the successors of a block, each once.
    pub fn successors(&self, block: BlockId) -> &[BlockId] {
        &self.successors[block]
    }

    /// From where a block can be reached directly; also from unreachable blocks.
    pub fn predecessors(&self, block: BlockId) -> &[BlockId] {
        &self.predecessors[block]
    }

    /// The reachable blocks, each after all its predecessors but those of retreating edges; the entry is first.
    pub fn reverse_post_order(&self) -> &[BlockId] {
        &self.order
    }

    /// Returns true if the block is reachable from the entry.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.position[block].is_some()
    }

    /// All loops, ordered by the position of their heads: outer loops come before inner ones.
    pub fn loops(&self) -> &IndexMap<LoopId, Loop> {
        &self.loops
    }

    /// The loop that has this block as its head.
    pub fn loop_headed_by(&self, block: BlockId) -> Option<LoopId> {
        self.loop_at[block]
    }

    /// The smallest loop that the block lies in.
    pub fn innermost_loop(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block]
    }

    /// Returns the role of the edge between two reachable blocks.
    pub fn edge(&self, from: BlockId, to: BlockId) -> EdgeKind {
        match self.loop_at[to] {
            None => EdgeKind::Plain,
            Some(id) if self.retreats(from, to) => EdgeKind::Back(id),
            Some(id) => EdgeKind::Enter(id),
        }
    }

    /// Returns the immediate dominator of every block; `None` for the entry and for unreachable blocks.
    pub fn dominators(&self) -> IndexMap<BlockId, Option<BlockId>> {
        match self.successors.is_empty() {
            true => IndexMap::new(),
            false => self.immediate(&DominatorTree::dominators(&self.plain(), 0)),
        }
    }

    /// Returns the immediate post-dominator of every block of `function`, the function of this graph.
    ///
    /// It is `None` if only the end of the function is common to all paths from the block, and for blocks from which no
    /// exit is reachable. Paths that reach no exit, such as infinite loops, don't count.
    pub fn post_dominators(&self, function: &Function, exits: Exits) -> IndexMap<BlockId, Option<BlockId>> {
        if is_injected(Fault::WrongPostDominator) {
            let first = |(block, next): (usize, &Vec<usize>)| next.first().copied().filter(|next| *next > block);
            return self.plain().iter().enumerate().map(|each| first(each).map(BlockId::new)).collect();
        }
        self.immediate(&DominatorTree::post_dominators(&self.plain(), &self.exits(function, exits)))
    }

    /// Returns for every block the blocks whose terminators decide whether it is executed, in ascending order.
    ///
    /// A loop without an exit is treated as if it ended at its last block in reverse post-order.
    pub fn control_dependence(&self, function: &Function) -> IndexMap<BlockId, Vec<BlockId>> {
        let order: Vec<usize> = self.order.iter().map(|block| block.index()).collect();
        let branches = control_dependence(&self.plain(), &self.exits(function, Exits::All), &order);
        branches.into_iter().map(|blocks| blocks.into_iter().map(BlockId::new).collect()).collect()
    }

    fn exits(&self, function: &Function, exits: Exits) -> Vec<usize> {
        let is_exit = |block: &BlockId| match exits {
            Exits::Returns => matches!(function.blocks[*block].terminator.kind, TermKind::Return(_)),
            Exits::All => self.successors[*block].is_empty(),
        };
        self.successors.ids().filter(is_exit).map(BlockId::index).collect()
    }

    fn plain(&self) -> Vec<Vec<usize>> {
        self.successors.values().map(|targets| targets.iter().map(|target| target.index()).collect()).collect()
    }

    fn immediate(&self, tree: &DominatorTree) -> IndexMap<BlockId, Option<BlockId>> {
        self.successors.ids().map(|block| tree.immediate(block.index()).map(BlockId::new)).collect()
    }

    fn retreats(&self, from: BlockId, to: BlockId) -> bool {
        matches!((self.position[from], self.position[to]), (Some(from), Some(to)) if to <= from)
    }

    fn find_loops(&mut self) {
        for &head in &self.order {
            let sources: Vec<BlockId> =
                self.predecessors[head].iter().copied().filter(|&from| self.retreats(from, head)).collect();
            if sources.is_empty() {
                continue;
            }
            let blocks: Vec<BlockId> = self.body(head, sources).into_iter().collect();
            let id = self.loops.push(Loop { head, blocks, parent: None });
            self.loop_at[head] = Some(id);
        }
        // From big to small, so that the last writer is the smallest loop.
        let mut by_size: Vec<LoopId> = self.loops.ids().collect();
        by_size.sort_by_key(|&id| std::cmp::Reverse(self.loops[id].blocks.len()));
        for id in by_size {
            let Loop { head, blocks, .. } = self.loops[id].clone();
            self.loops[id].parent = self.innermost[head];
            for block in blocks {
                self.innermost[block] = Some(id);
            }
        }
    }

    /// The blocks on ways from `head` to one of `sources` that don't pass `head` again.
    fn body(&self, head: BlockId, sources: Vec<BlockId>) -> BTreeSet<BlockId> {
        let behind = closure(BTreeSet::new(), vec![head], &self.successors);
        let mut body = closure(BTreeSet::from([head]), sources, &self.predecessors);
        body.retain(|block| behind.contains(block));
        body
    }
}

/// `reached`, and what can be reached from `pending` without passing `reached`.
fn closure(
    mut reached: BTreeSet<BlockId>,
    mut pending: Vec<BlockId>,
    edges: &IndexMap<BlockId, Vec<BlockId>>,
) -> BTreeSet<BlockId> {
    while let Some(block) = pending.pop() {
        if reached.insert(block) {
            pending.extend(&edges[block]);
        }
    }
    reached
}

fn reverse_post_order(successors: &IndexMap<BlockId, Vec<BlockId>>) -> Vec<BlockId> {
    let mut order = Vec::new();
    if successors.is_empty() {
        return order;
    }
    let entry = BlockId::new(0);
    let mut visited = BTreeSet::from([entry]);
    let mut stack = vec![(entry, 0)];
    while let Some((block, next)) = stack.last_mut() {
        // The last successor is visited first, so that the first one comes first in the reversed order.
        let targets = &successors[*block];
        match targets.len().checked_sub(*next + 1) {
            Some(index) => {
                *next += 1;
                let target = targets[index];
                if visited.insert(target) {
                    stack.push((target, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    /// The graph of a function whose block `n` goes to `edges[n]`.
    fn graph(edges: &[&[usize]]) -> Cfg {
        Cfg::new(&function(edges))
    }

    fn function(edges: &[&[usize]]) -> Function {
        let mut text = String::from("func @f(%0: i32) {\n");
        for (index, targets) in edges.iter().enumerate() {
            text += &match targets {
                [] => format!("b{index}: return\n"),
                [rest @ .., default] => {
                    let arms: String =
                        rest.iter().enumerate().map(|(value, target)| format!("{value} => b{target}, ")).collect();
                    format!("b{index}: switch %0 {{ {arms}else => b{default} }}\n")
                }
            };
        }
        let module = parse(&(text + "}")).expect("well-formed");
        module.functions.values().next().expect("a function").clone()
    }

    fn check(edges: &[&[usize]], order: &[usize], loops: &[(usize, &[usize], Option<usize>)]) {
        let cfg = graph(edges);
        let found: Vec<usize> = cfg.reverse_post_order().iter().map(|block| block.index()).collect();
        assert_eq!(found, order, "order of {edges:?}");
        let found: Vec<(usize, Vec<usize>, Option<usize>)> = cfg
            .loops()
            .values()
            .map(|it| {
                let blocks = it.blocks.iter().map(|block| block.index()).collect();
                (it.head.index(), blocks, it.parent.map(LoopId::index))
            })
            .collect();
        let expected: Vec<_> = loops.iter().map(|(head, blocks, parent)| (*head, blocks.to_vec(), *parent)).collect();
        assert_eq!(found, expected, "loops of {edges:?}");
    }

    #[test]
    fn orders_and_loops_are_found() {
        check(&[&[]], &[0], &[]);
        check(&[&[1, 2], &[3], &[3], &[]], &[0, 1, 2, 3], &[]);
        // A while loop, and unreachable code that jumps into it.
        check(&[&[1], &[2, 3], &[1], &[], &[2]], &[0, 1, 2, 3], &[(1, &[1, 2], None)]);
        // A loop of one block.
        check(&[&[0, 1], &[]], &[0, 1], &[(0, &[0], None)]);
        // Two loops, one in the other; the inner one has two back edges.
        check(
            &[&[1], &[2, 6], &[3, 5], &[2, 4], &[2], &[1], &[]],
            &[0, 1, 2, 3, 4, 5, 6],
            &[(1, &[1, 2, 3, 4, 5], None), (2, &[2, 3, 4], Some(0))],
        );
        // A jump into a loop: the block that comes first in the order is the head.
        check(&[&[1, 2], &[2], &[1, 3], &[]], &[0, 2, 1, 3], &[(2, &[1, 2], None)]);
    }

    #[test]
    fn edges_tell_a_first_iteration_from_another() {
        let cfg = graph(&[&[1], &[2, 3], &[1], &[]]);
        let block = |index| BlockId::new(index);
        let id = cfg.loop_headed_by(block(1)).expect("a loop");
        assert_eq!(cfg.edge(block(0), block(1)), EdgeKind::Enter(id));
        assert_eq!(cfg.edge(block(2), block(1)), EdgeKind::Back(id));
        assert_eq!(cfg.edge(block(1), block(2)), EdgeKind::Plain);
        assert_eq!(cfg.innermost_loop(block(2)), Some(id));
        assert_eq!(cfg.innermost_loop(block(3)), None);
        assert!(!graph(&[&[], &[0]]).is_reachable(block(1)));
    }

    /// Checks immediate dominators, immediate post-dominators (one function has returns only) and control dependence.
    fn check_dominators(edges: &[&[usize]], before: &[Option<usize>], behind: &[Option<usize>], branches: &[&[usize]]) {
        let function = function(edges);
        let cfg = Cfg::new(&function);
        let plain = |tree: IndexMap<BlockId, Option<BlockId>>| -> Vec<Option<usize>> {
            tree.values().map(|block| block.map(BlockId::index)).collect()
        };
        assert_eq!(plain(cfg.dominators()), before, "dominators of {edges:?}");
        assert_eq!(plain(cfg.post_dominators(&function, Exits::All)), behind, "post-dominators of {edges:?}");
        assert_eq!(plain(cfg.post_dominators(&function, Exits::Returns)), behind, "post-dominators of {edges:?}");
        let found: Vec<Vec<usize>> = cfg
            .control_dependence(&function)
            .values()
            .map(|blocks| blocks.iter().map(|block| block.index()).collect())
            .collect();
        assert_eq!(found, branches, "control dependence of {edges:?}");
    }

    #[test]
    fn dominators_and_control_dependence_are_found() {
        check_dominators(
            &[&[1, 2], &[3], &[3], &[]],
            &[None, Some(0), Some(0), Some(0)],
            &[Some(3), Some(3), Some(3), None],
            &[&[], &[0], &[0], &[]],
        );
        // A while loop: its condition decides whether it is evaluated again.
        check_dominators(
            &[&[1], &[2, 3], &[1], &[]],
            &[None, Some(0), Some(1), Some(1)],
            &[Some(1), Some(3), Some(1), None],
            &[&[], &[1], &[1], &[]],
        );
        // Two returns meet nowhere; an infinite loop has no post-dominators.
        check_dominators(
            &[&[1, 2], &[], &[3, 4], &[], &[4]],
            &[None, Some(0), Some(0), Some(2), Some(2)],
            &[None, None, Some(3), None, None],
            &[&[], &[0], &[0], &[2], &[2]],
        );
    }

    #[test]
    fn paths_that_end_in_an_error_do_not_constrain_where_the_others_meet() {
        let text = "func @f(%0: i32) {\nb0: switch %0 { 0 => b1, else => b2 }\nb1: unreachable\nb2: return\n}";
        let module = parse(text).expect("well-formed");
        let function = module.functions.values().next().expect("a function");
        let cfg = Cfg::new(function);
        let entry = BlockId::new(0);
        assert_eq!(cfg.post_dominators(function, Exits::Returns)[entry], Some(BlockId::new(2)));
        assert_eq!(cfg.post_dominators(function, Exits::All)[entry], None);
    }
}
