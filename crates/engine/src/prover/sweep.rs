//! Everything that control flow can reach from a place, whatever the values are.

use crate::goals::coverage::Coverage;
use std::collections::BTreeSet;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Goal, GoalId, Watch};
use touchstone_ir::{Block, BlockId, FuncId, InstKind, Module, TermKind, possible_callees, successors};

/// Goals by the place where they can be reached.
pub(crate) struct Sweep {
    goals: Vec<(GoalId, Goal)>,
    seen: BTreeSet<(FuncId, BlockId)>,
}

impl Sweep {
    pub fn new(watch: &Watch) -> Sweep {
        Sweep { goals: watch.goals.iter().map(|(id, goal)| (id, goal.clone())).collect(), seen: BTreeSet::new() }
    }

    /// The goals that control flow can reach from the blocks of these frames; those of earlier calls are not named
    /// again.
    pub fn from(&mut self, module: &Module, frames: &[(FuncId, BlockId)]) -> Vec<GoalId> {
        let mut pending: Vec<(FuncId, BlockId)> =
            frames.iter().copied().filter(|place| self.seen.insert(*place)).collect();
        if pending.is_empty() {
            return Vec::new();
        }
        let mut spans: BTreeSet<Span> = BTreeSet::new();
        let mut unsupported = false;
        while let Some((func, block)) = pending.pop() {
            let content = &module.functions[func].blocks[block];
            let mut next: Vec<(FuncId, BlockId)> =
                successors(&content.terminator.kind).into_iter().map(|block| (func, block)).collect();
            for inst in &content.insts {
                spans.insert(inst.span);
                next.extend(entered(module, func, &inst.kind));
            }
            spans.insert(content.terminator.span);
            // Behind what is not supported there may be anything.
            unsupported |= matches!(content.terminator.kind, TermKind::Unsupported(_));
            pending.extend(next.into_iter().filter(|place| self.seen.insert(*place)));
        }
        let reached = |goal: &Goal| match goal {
            Goal::Error { span, .. } => !span.is_some() || spans.contains(span),
            other => places(module, other).into_iter().any(|block| self.seen.contains(&(goal.func(), block))),
        };
        self.goals.iter().filter(|(_, goal)| unsupported || reached(goal)).map(|(id, _)| *id).collect()
    }
}

/// Where an instruction may enter other functions.
fn entered(module: &Module, func: FuncId, inst: &InstKind) -> Vec<(FuncId, BlockId)> {
    let InstKind::Call { dst, callee, args } = inst else { return Vec::new() };
    let callees = possible_callees(module, &module.functions[func], *dst, callee, args).into_iter();
    callees.filter(|callee| module.functions[*callee].is_defined()).map(|callee| (callee, BlockId::new(0))).collect()
}

/// The blocks in which a goal can be reached: for a decision, all that evaluate one of its conditions.
fn places(module: &Module, goal: &Goal) -> Vec<BlockId> {
    let function = &module.functions[goal.func()];
    let blocks = |holds: &dyn Fn(&Block) -> bool| {
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
        | Goal::Partner { decision, .. } => blocks(
            &|block| matches!(&block.terminator.kind, TermKind::Branch { tag: Some(tag), .. } if tag.decision == *decision),
        ),
        Goal::Error { span, .. } => {
            blocks(&|block| block.insts.iter().any(|inst| inst.span == *span) || block.terminator.span == *span)
        }
    }
}

/// Blocks from which control flow can reach one of some goals, over calls; a return leads to the frame below.
pub(crate) struct Wanted {
    /// How many goals there were.
    goals: usize,
    blocks: BTreeSet<(FuncId, BlockId)>,
}

impl Wanted {
    pub fn new(module: &Module, coverage: &Coverage) -> Wanted {
        let open: Vec<&Goal> = coverage.open_goals().map(|goal| &coverage.watch.goals[goal]).collect();
        let mut blocks: BTreeSet<(FuncId, BlockId)> = BTreeSet::new();
        for goal in &open {
            blocks.extend(places(module, goal).into_iter().map(|block| (goal.func(), block)));
        }
        let spans: BTreeSet<Span> = open
            .iter()
            .filter_map(|goal| match goal {
                Goal::Error { span, .. } => Some(*span),
                _ => None,
            })
            .collect();
        for (func, function) in module.functions.iter() {
            for (block, content) in function.blocks.iter() {
                let fails = content.insts.iter().map(|inst| inst.span).chain([content.terminator.span]);
                let unsupported = matches!(content.terminator.kind, TermKind::Unsupported(_));
                if unsupported || fails.into_iter().any(|span| spans.contains(&span)) {
                    blocks.insert((func, block));
                }
            }
        }
        loop {
            let before = blocks.len();
            for (func, function) in module.functions.iter() {
                for (block, content) in function.blocks.iter().rev() {
                    let on =
                        successors(&content.terminator.kind).into_iter().any(|next| blocks.contains(&(func, next)));
                    let calls = content
                        .insts
                        .iter()
                        .any(|inst| entered(module, func, &inst.kind).into_iter().any(|place| blocks.contains(&place)));
                    if on || calls {
                        blocks.insert((func, block));
                    }
                }
            }
            if blocks.len() == before {
                return Wanted { goals: coverage.remaining(), blocks };
            }
        }
    }

    /// Whether goals were met since.
    pub fn is_old(&self, coverage: &Coverage) -> bool {
        self.goals != coverage.remaining()
    }

    /// Whether one of the goals can be reached from the blocks of these frames.
    pub fn reaches(&self, frames: &[(FuncId, BlockId)]) -> bool {
        frames.iter().any(|place| self.blocks.contains(place))
    }
}
