//! How far an open goal is, in blocks, over calls and returns; and which states can reach none.
//!
//! Static and generous: what control flow alone allows, and, for an evaluation of a decision that is under way, what its
//! graph does. A state that can reach no open goal is given up without loss.

use crate::goals::coverage::Coverage;
use crate::state::State;
use rustc_hash::FxHashMap;
use touchstone_base::Id;
use touchstone_criteria::{Goal, Next};
use touchstone_ir::{
    BlockId, CondTag, DecisionId, FuncId, InstKind, Module, PointId, TermKind, possible_callees, successors,
};

/// Each frame between a state and a goal counts as so many blocks.
const FRAME: u32 = 4;

/// States that have not begun any function with goals: where inputs are made by code, there are very many of them, and those
/// that are done with it would wait for all the others.
const PREPARING: u32 = 64;

/// What is behind an unsupported construct is further than everything else.
const FAR: u32 = 1 << 20;

/// A block by its place among all blocks of the module.
type Node = usize;

/// Distances to open goals.
pub(crate) struct Reach {
    /// For every function, its first block.
    first: Vec<Node>,
    /// For every block, the blocks that lead to it by control flow or by a call; a return leads nowhere.
    previous: Vec<Vec<Node>>,
    /// Blocks behind which there may be anything: a state there must be followed until it says so.
    unsupported: Vec<Node>,
    /// For every goal, the blocks in which the way to it begins.
    places: Vec<Vec<Node>>,
    /// For every function, whether it has goals.
    has_goals: Vec<bool>,
    /// Blocks that have an open goal.
    wanted: Vec<bool>,
    /// For every block: blocks to an open goal.
    distance: Vec<Option<u32>>,
    version: u64,
}

impl Reach {
    pub fn new(module: &Module, coverage: &Coverage) -> Reach {
        let mut first = Vec::new();
        let mut blocks = 0;
        for function in module.functions.values() {
            first.push(blocks);
            blocks += function.blocks.len();
        }
        let mut reach = Reach {
            first,
            previous: vec![Vec::new(); blocks],
            unsupported: Vec::new(),
            places: Vec::new(),
            has_goals: vec![false; module.functions.len()],
            wanted: Vec::new(),
            distance: Vec::new(),
            version: coverage.version,
        };
        for (func, function) in module.functions.iter() {
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
                                let to = reach.first[callee.index()];
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
            let find =
                || places(module, coverage, goal).into_iter().map(|block| reach.node(goal.func(), block)).collect();
            match goal {
                // A point has many labels.
                Goal::Label { func, point, .. } => points.entry((*func, *point)).or_insert_with(find).clone(),
                // A decision has many goals.
                Goal::Outcome { func, decision, .. }
                | Goal::Condition { func, decision, .. }
                | Goal::Row { func, decision, .. }
                | Goal::Independent { func, decision, .. }
                | Goal::Partner { func, decision, .. } => {
                    decisions.entry((*func, *decision)).or_insert_with(find).clone()
                }
                Goal::Entry { .. } | Goal::Arm { .. } | Goal::Error { .. } => find(),
            }
        };
        reach.places = coverage.watch.goals.values().map(&mut nodes).collect();
        for goal in coverage.watch.goals.values() {
            reach.has_goals[goal.func().index()] = true;
        }
        reach.wanted = reach.wanted(coverage);
        reach.measure();
        reach
    }

    fn node(&self, func: FuncId, block: BlockId) -> Node {
        self.first[func.index()] + block.index()
    }

    fn wanted(&self, coverage: &Coverage) -> Vec<bool> {
        let mut wanted = vec![false; self.previous.len()];
        for goal in coverage.open_goals() {
            for &node in &self.places[goal.index()] {
                wanted[node] = true;
            }
        }
        wanted
    }

    /// Follows what was covered since.
    pub fn update(&mut self, coverage: &Coverage) {
        if self.version == coverage.version {
            return;
        }
        self.version = coverage.version;
        let wanted = self.wanted(coverage);
        // Most goals share their block with others: distances rarely change.
        if wanted != self.wanted {
            self.wanted = wanted;
            self.measure();
        }
    }

    fn measure(&mut self) {
        self.distance = vec![None; self.previous.len()];
        let goals = (0..self.wanted.len()).filter(|node| self.wanted[*node]).collect();
        self.spread(goals, 0);
        let unsupported = self.unsupported.clone();
        self.spread(unsupported, FAR);
    }

    /// Breadth first and backwards, to blocks that have no distance yet.
    fn spread(&mut self, mut layer: Vec<Node>, mut distance: u32) {
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

    /// How far the state is from an open goal; `None` if it can reach none.
    pub fn of(&self, state: &State, coverage: &Coverage) -> Option<u32> {
        let above = (0..state.frames.len()).rev().enumerate();
        let frame = |(height, index): (usize, usize)| {
            let frame = &state.frames[index];
            let under_way = || coverage.may_reach(state, index).then_some(0);
            let here = match self.distance[self.node(frame.func, frame.block)] {
                Some(0) => Some(0),
                further => under_way().or(further),
            };
            Some(here? + FRAME * height as u32)
        };
        let nearest = above.filter_map(frame).min()?;
        let began = state.frames.iter().any(|frame| self.has_goals[frame.func.index()]);
        Some(if began { nearest } else { nearest + PREPARING })
    }
}

/// The blocks in which the way to a goal begins: for a decision, where its evaluation does.
fn places(module: &Module, coverage: &Coverage, goal: &Goal) -> Vec<BlockId> {
    let function = &module.functions[goal.func()];
    let blocks = |holds: &dyn Fn(&touchstone_ir::Block) -> bool| {
        function.blocks.iter().filter(|(_, block)| holds(block)).map(|(id, _)| id).collect::<Vec<_>>()
    };
    match goal {
        Goal::Label { point, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.kind == InstKind::Point { point: *point }))
        }
        Goal::Entry { .. } => vec![BlockId::new(0)],
        Goal::Arm { block, .. } => vec![*block],
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Row { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Partner { decision, .. } => {
            let Some(watch) = coverage.watch.decision(goal.func(), *decision) else { return Vec::new() };
            let Next::Node(start) = watch.graph.start else { return Vec::new() };
            let first = CondTag { decision: *decision, condition: watch.graph.nodes[start].condition };
            blocks(&|block| matches!(block.terminator.kind, TermKind::Branch { tag: Some(tag), .. } if tag == first))
        }
        Goal::Error { span, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.span == *span) || block.terminator.span == *span)
        }
    }
}
