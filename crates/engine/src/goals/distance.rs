//! Distances to open goals, in blocks across calls and returns; states that can reach no open goal are pruned.
//!
//! The distance is static and an over-approximation of reachability: control flow alone counts, and for a decision
//! under evaluation its decision graph. A state that can reach no open goal is pruned without loss.

use crate::goals::coverage::Coverage;
use crate::state::State;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use touchstone_base::Id;
use touchstone_criteria::{DecisionStep, Goal};
use touchstone_ir::{
    BlockId, CondTag, DecisionId, FuncId, InstKind, Module, PointId, TermKind, possible_callees, reachable_functions,
    successors,
};

/// The distance that each frame between a state and a goal adds.
const BLOCKS_PER_FRAME: u32 = 4;

/// The distance added to states that have not entered any function with goals. If code constructs the inputs, there are
/// very many of them, and states that have finished construction would wait for all the others.
const SETUP_PENALTY_BLOCKS: u32 = 64;

/// The distance of blocks that only reach an unsupported construct: farther than everything else.
const UNSUPPORTED_DISTANCE_BLOCKS: u32 = 1 << 20;

/// The index of a block among the blocks of the functions that can be reached.
type Node = usize;

/// The distances of all blocks to open goals.
pub(crate) struct GoalDistances {
    /// For every function that can be reached, its first block.
    first: FxHashMap<FuncId, Node>,
    /// For every block, its predecessors by control flow or by a call; a return is no edge.
    previous: Vec<Vec<Node>>,
    /// Blocks that end in an unsupported construct: a state there must be executed until it reports that.
    unsupported: Vec<Node>,
    /// For every goal, the blocks in which its evaluation begins.
    goal_blocks: Vec<Vec<Node>>,
    /// The functions with goals.
    with_goals: BTreeSet<FuncId>,
    /// For every block, whether an open goal is located in it.
    has_open_goal: Vec<bool>,
    /// For every block, the distance to an open goal; `None` if none is reachable.
    distance: Vec<Option<u32>>,
    version: u64,
}

impl GoalDistances {
    /// Measures the distances in the functions that calls from the roots can reach, and in those with goals.
    pub fn new(module: &Module, coverage: &Coverage, roots: impl IntoIterator<Item = FuncId>) -> GoalDistances {
        let with_goals: BTreeSet<FuncId> = coverage.watch.goals.values().map(Goal::func).collect();
        let reachable = reachable_functions(module, roots.into_iter().chain(with_goals.iter().copied()));
        let mut first = FxHashMap::default();
        let mut blocks = 0;
        for &func in &reachable {
            first.insert(func, blocks);
            blocks += module.functions[func].blocks.len();
        }
        let mut reach = GoalDistances {
            first,
            previous: vec![Vec::new(); blocks],
            unsupported: Vec::new(),
            goal_blocks: Vec::new(),
            with_goals,
            has_open_goal: Vec::new(),
            distance: Vec::new(),
            version: coverage.version,
        };
        for &func in &reachable {
            let function = &module.functions[func];
            for (block, content) in function.blocks.iter() {
                let from = reach.node(func, block);
                for next in successors(&content.terminator.kind) {
                    let to = reach.node(func, next);
                    reach.previous[to].push(from);
                }
                for inst in &content.insts {
                    if let InstKind::Call { dst, callee, args } = &inst.kind {
                        for callee in possible_callees(module, function, *dst, callee, args) {
                            if !module.functions[callee].blocks.is_empty() {
                                let to = reach.first[&callee];
                                reach.previous[to].push(from);
                            }
                        }
                    }
                }
                if matches!(content.terminator.kind, TermKind::Unsupported(_)) {
                    reach.unsupported.push(from);
                }
            }
        }
        let mut points: FxHashMap<(FuncId, PointId), Vec<Node>> = FxHashMap::default();
        let mut decisions: FxHashMap<(FuncId, DecisionId), Vec<Node>> = FxHashMap::default();
        let mut nodes = |goal: &Goal| -> Vec<Node> {
            let find = || {
                goal_blocks(module, coverage, goal).into_iter().map(|block| reach.node(goal.func(), block)).collect()
            };
            match goal {
                // A point may have many labels.
                Goal::Label { func, point, .. } => points.entry((*func, *point)).or_insert_with(find).clone(),
                // A decision may have many goals.
                Goal::Outcome { func, decision, .. }
                | Goal::Condition { func, decision, .. }
                | Goal::Row { func, decision, .. }
                | Goal::Independent { func, decision, .. }
                | Goal::Partner { func, decision, .. } => {
                    decisions.entry((*func, *decision)).or_insert_with(find).clone()
                }
                Goal::Entry { .. } | Goal::Return { .. } | Goal::Arm { .. } | Goal::Error { .. } => find(),
            }
        };
        reach.goal_blocks = coverage.watch.goals.values().map(&mut nodes).collect();
        reach.has_open_goal = reach.has_open_goal(coverage);
        reach.measure();
        reach
    }

    fn node(&self, func: FuncId, block: BlockId) -> Node {
        self.first[&func] + block.index()
    }

    /// Returns true if the functions on the stack of a state are among those that were measured.
    pub fn includes(&self, state: &State) -> bool {
        state.frames.iter().all(|frame| self.first.contains_key(&frame.func))
    }

    fn has_open_goal(&self, coverage: &Coverage) -> Vec<bool> {
        let mut has_open_goal = vec![false; self.previous.len()];
        for goal in coverage.open_goals() {
            for &node in &self.goal_blocks[goal.index()] {
                has_open_goal[node] = true;
            }
        }
        has_open_goal
    }

    /// Updates the distances to the goals that are still open.
    pub fn update(&mut self, coverage: &Coverage) {
        if self.version == coverage.version {
            return;
        }
        self.version = coverage.version;
        let has_open_goal = self.has_open_goal(coverage);
        // Most goals share their block with others, so distances rarely change.
        if has_open_goal != self.has_open_goal {
            self.has_open_goal = has_open_goal;
            self.measure();
        }
    }

    fn measure(&mut self) {
        self.distance = vec![None; self.previous.len()];
        let goals = (0..self.has_open_goal.len()).filter(|node| self.has_open_goal[*node]).collect();
        self.propagate(goals, 0);
        let unsupported = self.unsupported.clone();
        self.propagate(unsupported, UNSUPPORTED_DISTANCE_BLOCKS);
    }

    /// Assigns distances breadth first and backwards, to blocks that have none yet.
    fn propagate(&mut self, mut layer: Vec<Node>, mut distance: u32) {
        while !layer.is_empty() {
            let mut before = Vec::new();
            for node in layer {
                if self.distance[node].is_none() {
                    self.distance[node] = Some(distance);
                    before.extend(&self.previous[node]);
                }
            }
            layer = before;
            distance += 1;
        }
    }

    /// Returns the distance of a state from an open goal, or `None` if it can reach none.
    pub fn distance_of(&self, state: &State, coverage: &Coverage) -> Option<u32> {
        let above = (0..state.frames.len()).rev().enumerate();
        let frame = |(height, index): (usize, usize)| {
            let frame = &state.frames[index];
            let under_way = || coverage.may_reach(state, index).then_some(0);
            let here = match self.first.get(&frame.func).map(|first| self.distance[first + frame.block.index()]) {
                // A function that was not measured may reach anything.
                None | Some(Some(0)) => Some(0),
                Some(further) => under_way().or(further),
            };
            Some(here? + BLOCKS_PER_FRAME * height as u32)
        };
        let nearest = above.filter_map(frame).min()?;
        let began = state.frames.iter().any(|frame| self.with_goals.contains(&frame.func));
        Some(if began { nearest } else { nearest + SETUP_PENALTY_BLOCKS })
    }
}

/// Returns the blocks in which the evaluation of a goal begins: for a decision, the blocks of its first condition.
fn goal_blocks(module: &Module, coverage: &Coverage, goal: &Goal) -> Vec<BlockId> {
    let function = &module.functions[goal.func()];
    let blocks = |holds: &dyn Fn(&touchstone_ir::Block) -> bool| {
        function.blocks.iter().filter(|(_, block)| holds(block)).map(|(id, _)| id).collect::<Vec<_>>()
    };
    match goal {
        Goal::Label { point, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.kind == InstKind::Point { point: *point }))
        }
        Goal::Entry { .. } => vec![BlockId::new(0)],
        Goal::Return { .. } => blocks(&|block| matches!(block.terminator.kind, TermKind::Return(Some(_)))),
        Goal::Arm { block, .. } => vec![*block],
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Row { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Partner { decision, .. } => {
            let Some(watch) = coverage.watch.decision(goal.func(), *decision) else { return Vec::new() };
            let DecisionStep::Node(start) = watch.graph.start else { return Vec::new() };
            let first = CondTag { decision: *decision, condition: watch.graph.nodes[start].condition };
            blocks(&|block| matches!(block.terminator.kind, TermKind::Branch { tag: Some(tag), .. } if tag == first))
        }
        Goal::Error { span, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.span == *span) || block.terminator.span == *span)
        }
    }
}
