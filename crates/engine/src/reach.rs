//! How far an open goal is, in blocks, over calls and returns; and which states can reach none (DESIGN §7).
//!
//! Static and generous: what control flow alone allows, and, for an evaluation of a decision that is under way, what its
//! graph does. A state that can reach no open goal is given up without loss.

use crate::coverage::Coverage;
use crate::state::State;
use touchstone_base::Id;
use touchstone_criteria::{Goal, Target};
use touchstone_ir::{BlockId, CondTag, FuncId, InstKind, Module, TermKind, possible_callees, successors};

/// Each frame between a state and a goal counts as so many blocks.
const FRAME: u32 = 4;

/// What is behind an unsupported construct is further than everything else.
const FAR: u32 = 1 << 20;

/// Distances to open goals.
pub(crate) struct Reach {
    /// For every function and block: blocks to an open goal, over calls but not over returns.
    distance: Vec<Vec<Option<u32>>>,
    version: u64,
}

impl Reach {
    pub fn new(module: &Module, coverage: &Coverage) -> Reach {
        let mut distance: Vec<Vec<Option<u32>>> =
            module.functions.values().map(|function| vec![None; function.blocks.len()]).collect();
        for goal in coverage.open_goals() {
            for block in places(module, coverage, &coverage.watch.goals[goal]) {
                distance[goal_func(&coverage.watch.goals[goal]).index()][block.index()] = Some(0);
            }
        }
        // Behind what is not supported there may be anything: such a state must be followed until it says so.
        for (func, function) in module.functions.iter() {
            for (block, content) in function.blocks.iter() {
                if matches!(content.terminator.kind, TermKind::Unsupported(_)) {
                    distance[func.index()][block.index()].get_or_insert(FAR);
                }
            }
        }
        // To a fixpoint: calls make functions depend on each other. Distances only shrink.
        loop {
            let mut changed = false;
            for (func, function) in module.functions.iter() {
                for (block, content) in function.blocks.iter().rev() {
                    let mut best = distance[func.index()][block.index()];
                    let mut offer = |other: Option<u32>| {
                        if let Some(other) = other
                            && best.is_none_or(|best| other + 1 < best)
                        {
                            best = Some(other + 1);
                        }
                    };
                    for next in successors(&content.terminator.kind) {
                        offer(distance[func.index()][next.index()]);
                    }
                    for inst in &content.insts {
                        if let InstKind::Call { dst, callee, args } = &inst.kind {
                            for callee in possible_callees(module, function, *dst, callee, args) {
                                offer(distance[callee.index()].first().copied().flatten());
                            }
                        }
                    }
                    if best != distance[func.index()][block.index()] {
                        distance[func.index()][block.index()] = best;
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Reach { distance, version: coverage.version }
    }

    /// Whether goals were covered since.
    pub fn is_old(&self, coverage: &Coverage) -> bool {
        self.version != coverage.version
    }

    /// How far the state is from an open goal; `None` if it can reach none.
    pub fn of(&self, state: &State, coverage: &Coverage) -> Option<u32> {
        let above = (0..state.frames.len()).rev().enumerate();
        let frame = |(height, index): (usize, usize)| {
            let frame = &state.frames[index];
            let under_way = || coverage.may_reach(state, index).then_some(0);
            let here = match self.distance[frame.func.index()][frame.block.index()] {
                Some(0) => Some(0),
                further => under_way().or(further),
            };
            Some(here? + FRAME * height as u32)
        };
        above.filter_map(frame).min()
    }
}

fn goal_func(goal: &Goal) -> FuncId {
    goal.func()
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
            let Target::Node(start) = watch.graph.start else { return Vec::new() };
            let first = CondTag { decision: *decision, condition: watch.graph.nodes[start].condition };
            blocks(&|block| matches!(block.terminator.kind, TermKind::Branch { tag: Some(tag), .. } if tag == first))
        }
        Goal::Error { span, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.span == *span) || block.terminator.span == *span)
        }
    }
}
