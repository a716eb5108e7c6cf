//! An index of goals by the events that reach them, for executors.

use crate::mcdc::independence_pairs::unique_cause;
use crate::{DecisionGraph, Goal, GoalId, Row};
use std::collections::BTreeSet;
use touchstone_base::{Id, IndexMap, Span};
use touchstone_ir::{BlockId, CondId, DecisionId, ErrorKind, FuncId, Module, PointId};

/// Goals indexed by event.
#[derive(Clone, Debug)]
pub struct GoalIndex {
    /// All goals.
    pub goals: IndexMap<GoalId, Goal>,
    /// Goals that are no longer needed.
    ignored: BTreeSet<GoalId>,
    functions: Vec<Option<FunctionGoals>>,
    has_points: bool,
}

/// The goals of one function.
#[derive(Clone, Debug)]
struct FunctionGoals {
    decisions: Vec<Option<DecisionGoals>>,
    points: Vec<Vec<GoalId>>,
    entry: Vec<GoalId>,
    returns: Vec<GoalId>,
    arms: Vec<(BlockId, BlockId, GoalId)>,
    errors: Vec<(ErrorKind, Span, GoalId)>,
}

/// The goals of one decision.
#[derive(Clone, Debug)]
pub struct DecisionGoals {
    /// The decision as a graph.
    pub graph: DecisionGraph,
    /// Its goals.
    pub goals: Vec<GoalId>,
    /// Goals that are outcomes of conditions: reached as soon as the condition is evaluated.
    conditions: Vec<GoalId>,
}

impl GoalIndex {
    /// Indexes goals of a module.
    pub fn new(module: &Module, goals: IndexMap<GoalId, Goal>) -> GoalIndex {
        let mut functions: Vec<Option<FunctionGoals>> = module.functions.values().map(|_| None).collect();
        for (id, goal) in goals.iter() {
            let function = &module.functions[goal.func()];
            let watch = functions[goal.func().index()].get_or_insert_with(|| FunctionGoals {
                decisions: function.decisions.values().map(|_| None).collect(),
                points: function.points.values().map(|_| Vec::new()).collect(),
                entry: Vec::new(),
                returns: Vec::new(),
                arms: Vec::new(),
                errors: Vec::new(),
            });
            match goal {
                Goal::Label { point, .. } => watch.points[point.index()].push(id),
                Goal::Entry { .. } => watch.entry.push(id),
                Goal::Return { .. } => watch.returns.push(id),
                Goal::Arm { block, target, .. } => watch.arms.push((*block, *target, id)),
                Goal::Error { kind, span, .. } => watch.errors.push((*kind, *span, id)),
                Goal::Outcome { decision, .. }
                | Goal::Condition { decision, .. }
                | Goal::Row { decision, .. }
                | Goal::Independent { decision, .. }
                | Goal::Partner { decision, .. } => {
                    let entry = watch.decisions[decision.index()].get_or_insert_with(|| DecisionGoals {
                        graph: DecisionGraph::new(&function.decisions[*decision]),
                        goals: Vec::new(),
                        conditions: Vec::new(),
                    });
                    entry.goals.push(id);
                    if matches!(goal, Goal::Condition { .. }) {
                        entry.conditions.push(id);
                    }
                }
            }
        }
        let has_points = goals.values().any(|goal| matches!(goal, Goal::Label { .. }));
        GoalIndex { goals, ignored: BTreeSet::new(), functions, has_points }
    }

    /// Returns true if any goal is a label at a point.
    pub fn has_points(&self) -> bool {
        self.has_points
    }

    /// Marks goals as no longer needed; events that reach them are still reported.
    pub fn ignore(&mut self, goals: impl IntoIterator<Item = GoalId>) {
        self.ignored.extend(goals);
    }

    /// Returns the goals of a function; none for a function that was loaded later.
    fn of(&self, func: FuncId) -> Option<&FunctionGoals> {
        self.functions.get(func.index())?.as_ref()
    }

    /// Returns true if the function has goals.
    pub fn watches(&self, func: FuncId) -> bool {
        self.of(func).is_some()
    }

    /// Returns the goals of a decision.
    pub fn decision(&self, func: FuncId, decision: DecisionId) -> Option<&DecisionGoals> {
        self.of(func)?.decisions[decision.index()].as_ref()
    }

    /// Returns true if the decision has MC/DC goals.
    pub fn asks_for_mcdc(&self, func: FuncId, decision: DecisionId) -> bool {
        let independent =
            |id: &GoalId| matches!(self.goals[*id], Goal::Independent { .. }) && !self.ignored.contains(id);
        self.decision(func, decision).is_some_and(|watch| watch.goals.iter().any(independent))
    }

    /// The labels at a point.
    pub fn point(&self, func: FuncId, point: PointId) -> &[GoalId] {
        self.of(func).map_or(&[], |watch| &watch.points[point.index()])
    }

    /// Returns the goals over the inputs of a function.
    pub fn entry(&self, func: FuncId) -> &[GoalId] {
        self.of(func).map_or(&[], |watch| &watch.entry)
    }

    /// Returns the goals over the result of a function.
    pub fn returns(&self, func: FuncId) -> &[GoalId] {
        self.of(func).map_or(&[], |watch| &watch.returns)
    }

    /// The goals that taking an arm of a switch reaches.
    pub fn arm(&self, func: FuncId, block: BlockId, target: BlockId) -> impl Iterator<Item = GoalId> + '_ {
        let arms = self.of(func).into_iter().flat_map(|watch| &watch.arms);
        arms.filter(move |(b, t, _)| *b == block && *t == target).map(|(_, _, id)| *id)
    }

    /// The goals that ending in an error reaches, whatever function it is in.
    pub fn error(&self, kind: ErrorKind, span: Span) -> impl Iterator<Item = GoalId> + '_ {
        let errors = self.functions.iter().flatten().flat_map(|watch| &watch.errors);
        errors.filter(move |(k, s, _)| *k == kind && *s == span).map(|(_, _, id)| *id)
    }

    /// The goals that an outcome of a condition reaches, even if an error then keeps the decision from being done.
    pub fn condition<'a>(
        &'a self,
        watch: &'a DecisionGoals,
        outcome: (CondId, bool),
    ) -> impl Iterator<Item = GoalId> + 'a {
        let is_it = move |id: &GoalId| matches!(self.goals[*id], Goal::Condition { condition, value, .. } if (condition, value) == outcome);
        watch.conditions.iter().copied().filter(is_it)
    }

    /// The goals that a complete evaluation of a decision reaches, beyond those of its conditions.
    pub fn row<'a>(&'a self, watch: &'a DecisionGoals, row: &'a Row) -> impl Iterator<Item = GoalId> + 'a {
        watch.goals.iter().copied().filter(|id| match &self.goals[*id] {
            Goal::Outcome { value, .. } => *value == row.result,
            Goal::Independent { condition, value, .. } => row.independent.contains(&(*condition, *value)),
            Goal::Row { outcomes, .. } => *outcomes == row.outcomes,
            Goal::Partner { condition, rows, .. } => {
                rows.iter().any(|seen| unique_cause(seen, row) == Some(*condition))
            }
            _ => false,
        })
    }
}
