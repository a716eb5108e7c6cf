//! Reachability by control flow alone, for any values.

use crate::goals::coverage::Coverage;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Goal, GoalId, GoalIndex};
use touchstone_ir::{
    Block, BlockId, DecisionId, FuncId, InstKind, Module, PointId, TermKind, possible_callees, successors,
};

/// The goals that control flow can reach, computed incrementally.
pub(crate) struct ControlFlowReach {
    goals: Vec<(GoalId, Goal)>,
    places: Option<GoalLocations>,
    seen: BTreeSet<(FuncId, BlockId)>,
}

impl ControlFlowReach {
    pub fn new(watch: &GoalIndex) -> ControlFlowReach {
        let goals = watch.goals.iter().map(|(id, goal)| (id, goal.clone())).collect();
        ControlFlowReach { goals, places: None, seen: BTreeSet::new() }
    }

    /// Returns the goals that control flow can reach from the blocks of these frames, except those that earlier calls
    /// returned.
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
            // Behind an unsupported construct anything may happen.
            unsupported |= matches!(content.terminator.kind, TermKind::Unsupported(_));
            pending.extend(next.into_iter().filter(|place| self.seen.insert(*place)));
        }
        let goals = self.goals.iter().map(|(_, goal)| goal);
        let places = self.places.get_or_insert_with(|| GoalLocations::of(module, goals));
        let (seen, mut known) = (&self.seen, FxHashMap::default());
        let mut reached = |goal: &Goal| match goal {
            Goal::Error { span, .. } => !span.is_some() || spans.contains(span),
            other => {
                // Goals of one decision share their blocks.
                let own = places.blocks(other);
                let any = || own.iter().any(|block| seen.contains(&(goal.func(), *block)));
                *known.entry((goal.func(), own.as_ptr(), own.len())).or_insert_with(any)
            }
        };
        self.goals.iter().filter(|(_, goal)| unsupported || reached(goal)).map(|(id, _)| *id).collect()
    }
}

/// Returns the entry blocks of the functions that an instruction may call.
fn entered(module: &Module, func: FuncId, inst: &InstKind) -> Vec<(FuncId, BlockId)> {
    let InstKind::Call { dst, callee, args } = inst else { return Vec::new() };
    let callees = possible_callees(module, &module.functions[func], *dst, callee, args).into_iter();
    callees.filter(|callee| module.functions[*callee].is_defined()).map(|callee| (callee, BlockId::new(0))).collect()
}

/// The blocks in which goals are located, computed once: a function can have as many goals as blocks.
struct GoalLocations {
    /// The entry block of any function.
    entry: [BlockId; 1],
    points: FxHashMap<(FuncId, PointId), Vec<BlockId>>,
    decisions: FxHashMap<(FuncId, DecisionId), Vec<BlockId>>,
    spans: FxHashMap<(FuncId, Span), Vec<BlockId>>,
    returns: FxHashMap<FuncId, Vec<BlockId>>,
}

impl GoalLocations {
    fn of<'a>(module: &Module, goals: impl Iterator<Item = &'a Goal>) -> GoalLocations {
        let mut made = GoalLocations {
            entry: [BlockId::new(0)],
            points: FxHashMap::default(),
            decisions: FxHashMap::default(),
            spans: FxHashMap::default(),
            returns: FxHashMap::default(),
        };
        for func in goals.map(Goal::func).collect::<BTreeSet<_>>() {
            for (id, block) in module.functions[func].blocks.iter() {
                made.add(func, id, block);
            }
        }
        made
    }

    fn add(&mut self, func: FuncId, id: BlockId, block: &Block) {
        let mut spans: BTreeSet<Span> = block.insts.iter().map(|inst| inst.span).collect();
        spans.insert(block.terminator.span);
        for span in spans {
            self.spans.entry((func, span)).or_default().push(id);
        }
        let points = block.insts.iter().filter_map(|inst| match inst.kind {
            InstKind::Point { point } => Some(point),
            _ => None,
        });
        for point in points.collect::<BTreeSet<_>>() {
            self.points.entry((func, point)).or_default().push(id);
        }
        match &block.terminator.kind {
            TermKind::Branch { tag: Some(tag), .. } => {
                self.decisions.entry((func, tag.decision)).or_default().push(id);
            }
            TermKind::Return(Some(_)) => self.returns.entry(func).or_default().push(id),
            _ => {}
        }
    }

    /// Returns the blocks in which a goal can be reached: for a decision, all blocks that evaluate one of its
    /// conditions.
    fn blocks<'a>(&'a self, goal: &'a Goal) -> &'a [BlockId] {
        let func = goal.func();
        let known = match goal {
            Goal::Label { point, .. } => self.points.get(&(func, *point)),
            Goal::Entry { .. } => return &self.entry,
            Goal::Return { .. } => self.returns.get(&func),
            Goal::Arm { block, .. } => return std::slice::from_ref(block),
            Goal::Outcome { decision, .. }
            | Goal::Condition { decision, .. }
            | Goal::Row { decision, .. }
            | Goal::Independent { decision, .. }
            | Goal::Partner { decision, .. } => self.decisions.get(&(func, *decision)),
            Goal::Error { span, .. } => self.spans.get(&(func, *span)),
        };
        known.map_or(&[], Vec::as_slice)
    }
}

/// The blocks from which control flow can reach an open goal, across calls; a return continues in the frame below.
pub(crate) struct GoalBlocks {
    /// The number of open goals at the time of computation.
    goals: usize,
    blocks: BTreeSet<(FuncId, BlockId)>,
}

impl GoalBlocks {
    pub fn new(module: &Module, coverage: &Coverage) -> GoalBlocks {
        let open: Vec<&Goal> = coverage.open_goals().map(|goal| &coverage.watch.goals[goal]).collect();
        let mut blocks: BTreeSet<(FuncId, BlockId)> = BTreeSet::new();
        let places = GoalLocations::of(module, open.iter().copied());
        let mut known = FxHashSet::default();
        for goal in &open {
            let own = places.blocks(goal);
            // Goals of one decision share their blocks.
            if known.insert((goal.func(), own.as_ptr(), own.len())) {
                blocks.extend(own.iter().map(|block| (goal.func(), *block)));
            }
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
                return GoalBlocks { goals: coverage.remaining(), blocks };
            }
        }
    }

    /// Returns true if goals were covered since.
    pub fn is_old(&self, coverage: &Coverage) -> bool {
        self.goals != coverage.remaining()
    }

    /// Returns true if an open goal can be reached from the blocks of these frames.
    pub fn reaches(&self, frames: &[(FuncId, BlockId)]) -> bool {
        frames.iter().any(|place| self.blocks.contains(place))
    }
}
