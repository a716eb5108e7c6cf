//! Coverage along a symbolic path: the goals that a state reaches, and the inputs for which it does.
//!
//! Observation never changes the path space (except in `direct` mode, the baseline of Bardin et al., which forks on
//! every label). The outcomes of a decision's conditions are on the path's trail anyway: they are collected from there
//! where an outcome can end the evaluation of a decision that still has open goals. Evaluations in progress are
//! recorded only if states are pruned.

use crate::state::trail::BranchOutcome;
use crate::state::{PathEnd, State};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use touchstone_base::Id;
use touchstone_criteria::{DecisionEvaluation, DecisionGraph, DecisionStep, Goal, GoalId, GoalIndex, Row};
use touchstone_ir::{CondId, DecisionId, FuncId};

/// The subject of a search: what gets a test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Every path, and every goal that is reached on the way.
    Paths,
    /// Every goal.
    Goals,
}

/// The goals that are still open.
pub(crate) struct Coverage {
    pub watch: Arc<GoalIndex>,
    pub(crate) open: Vec<bool>,
    remaining: usize,
    /// The number of open labels: the path alone does not determine if a run reaches one.
    pub labels: usize,
    /// Open decisions, by function and decision.
    pub decisions: Vec<Vec<OpenDecision>>,
    pub aim: Aim,
    /// A counter that grows whenever a goal is covered.
    pub version: u64,
}

/// The open goals of a decision.
#[derive(Clone, Default)]
pub(crate) struct OpenDecision {
    /// The number of open goals.
    goals: usize,
    /// The number of open goals that are outcomes of conditions.
    pub conditions: usize,
    /// The condition that every evaluation starts with.
    pub start: Option<CondId>,
    /// For every condition and outcome (false, true): whether it can end an evaluation.
    pub ends: Vec<[bool; 2]>,
    /// The same, restricted to ends that can still reach an open goal.
    pub useful: Vec<[bool; 2]>,
    /// Evaluations that reach no open goal any more.
    pub barren: FxHashSet<u64>,
    /// The number of barren evaluations since a goal was covered; `None` while `useful` is up to date.
    barren_evaluations: Option<u32>,
}

/// The number of barren evaluations that cost about as much as recomputing `useful`.
const MAX_BARREN_EVALUATIONS: u32 = 64;

/// The events that a confirming run is observed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConfirmationScope {
    /// Its path only.
    Path,
    /// Its path and goals.
    Goals,
}

impl Coverage {
    pub fn new(watch: Arc<GoalIndex>, already: &[GoalId], aim: Aim) -> Coverage {
        let mut open = vec![true; watch.goals.len()];
        for goal in already {
            open[goal.index()] = false;
        }
        let mut coverage = Coverage { watch, open, remaining: 0, labels: 0, decisions: Vec::new(), aim, version: 0 };
        let open: Vec<GoalId> = coverage.open_goals().collect();
        let watch = coverage.watch.clone();
        for goal in open {
            coverage.remaining += 1;
            let kind = &watch.goals[goal];
            coverage.labels += usize::from(is_label(kind));
            if let Some((func, decision)) = decision_of(kind)
                && let Some(watch) = watch.decision(func, decision)
            {
                let open = entry(&mut coverage.decisions, func, decision);
                if open.goals == 0 {
                    open.ends = ends(&watch.graph);
                    open.useful = open.ends.clone();
                    open.start = match watch.graph.start {
                        DecisionStep::Node(start) => Some(watch.graph.nodes[start].condition),
                        DecisionStep::Done(_) => None,
                    };
                }
                open.goals += 1;
                open.conditions += usize::from(matches!(kind, Goal::Condition { .. }));
            }
        }
        coverage
    }

    pub fn is_open(&self, goal: GoalId) -> bool {
        self.open[goal.index()]
    }

    /// Returns for every goal whether it is open.
    pub fn open(&self) -> &[bool] {
        &self.open
    }

    pub fn remaining(&self) -> usize {
        self.remaining
    }

    pub fn cover(&mut self, goal: GoalId) {
        if std::mem::replace(&mut self.open[goal.index()], false) {
            self.remaining -= 1;
            self.version += 1;
            let kind = &self.watch.goals[goal];
            self.labels -= usize::from(is_label(kind));
            if let Some((func, decision)) = decision_of(kind) {
                let open = entry(&mut self.decisions, func, decision);
                open.goals -= 1;
                open.conditions -= usize::from(matches!(kind, Goal::Condition { .. }));
                open.barren_evaluations.get_or_insert(0);
            }
        }
    }

    /// Counts an evaluation of a decision that reached no open goal.
    pub fn count_barren_evaluation(&mut self, func: FuncId, decision: DecisionId) {
        let open = entry(&mut self.decisions, func, decision);
        let Some(barren_evaluations) = &mut open.barren_evaluations else { return };
        *barren_evaluations += 1;
        if *barren_evaluations >= MAX_BARREN_EVALUATIONS {
            open.barren_evaluations = None;
            self.narrow(func, decision);
        }
    }

    /// Recomputes which ends of a decision's evaluations can reach an open goal.
    fn narrow(&mut self, func: FuncId, decision: DecisionId) {
        /// With more rows than this, no end is excluded.
        const MAX_ROWS: usize = 64;
        let watch = Arc::clone(&self.watch);
        let Some(watched) = watch.decision(func, decision) else { return };
        let Some(rows) = watched.graph.rows(MAX_ROWS) else { return };
        let open = entry(&mut self.decisions, func, decision);
        open.useful.iter_mut().for_each(|useful| *useful = [false; 2]);
        for row in rows {
            let Some((condition, outcome)) = row.outcomes.last().copied() else { continue };
            if watch.row(watched, &row).any(|goal| self.open[goal.index()]) {
                open.useful[condition.index()][usize::from(outcome)] = true;
            }
        }
    }

    pub fn open_goals(&self) -> impl Iterator<Item = GoalId> + '_ {
        self.watch.goals.ids().filter(|goal| self.is_open(*goal))
    }

    /// Returns true if an evaluation in progress in a frame can end in an open goal.
    pub fn may_reach(&self, state: &State, frame: usize) -> bool {
        let under_way = &state.frames[frame];
        under_way.decisions.iter().any(|&decision| {
            let Some(OpenDecision { start, .. }) = self.open_decision(under_way.func, decision) else { return false };
            let Some(watch) = self.watch.decision(under_way.func, decision) else { return false };
            let mut outcomes = Vec::new();
            last_evaluation(state, frame, decision, *start, &mut outcomes);
            let mut walk = DecisionEvaluation::default();
            for (_, outcome) in outcomes.into_iter().rev() {
                walk.step(&watch.graph, outcome);
            }
            let mut open = watch.goals.iter().filter(|goal| self.is_open(**goal));
            open.any(|goal| watch.graph.can_reach(&walk, &self.watch.goals[*goal]))
        })
    }

    /// Returns the open goals of a decision, or `None` if it has none.
    pub fn open_decision(&self, func: FuncId, decision: DecisionId) -> Option<&OpenDecision> {
        let open = self.decisions.get(func.index())?.get(decision.index())?;
        (open.goals > 0).then_some(open)
    }

    /// Returns what the confirming run of a path's test must be observed for. The path determines all goals but labels:
    /// a run that takes the same path reaches them, and observing it would only cost time.
    pub fn attention(&self) -> ConfirmationScope {
        if self.labels > 0 { ConfirmationScope::Goals } else { ConfirmationScope::Path }
    }

    /// Returns the open goals of a path that reached `reached` and ended so.
    pub fn of_path(&self, reached: &[GoalId], end: &PathEnd) -> Vec<GoalId> {
        let mut goals: Vec<GoalId> = reached.iter().copied().filter(|goal| self.is_open(*goal)).collect();
        if let PathEnd::Error { kind, span } = end {
            goals.extend(self.watch.error(*kind, *span).filter(|goal| self.is_open(*goal)));
        }
        goals.sort_unstable();
        goals.dedup();
        goals
    }
}

/// Returns true if inputs, and not the path alone, determine whether a run reaches the goal.
fn is_label(goal: &Goal) -> bool {
    matches!(goal, Goal::Label { .. } | Goal::Entry { .. } | Goal::Return { .. })
}

fn decision_of(goal: &Goal) -> Option<(FuncId, DecisionId)> {
    match goal {
        Goal::Outcome { func, decision, .. }
        | Goal::Condition { func, decision, .. }
        | Goal::Row { func, decision, .. }
        | Goal::Independent { func, decision, .. }
        | Goal::Partner { func, decision, .. } => Some((*func, *decision)),
        Goal::Label { .. } | Goal::Entry { .. } | Goal::Return { .. } | Goal::Arm { .. } | Goal::Error { .. } => None,
    }
}

fn entry(decisions: &mut Vec<Vec<OpenDecision>>, func: FuncId, decision: DecisionId) -> &mut OpenDecision {
    if decisions.len() <= func.index() {
        decisions.resize_with(func.index() + 1, Vec::new);
    }
    let of_func = &mut decisions[func.index()];
    if of_func.len() <= decision.index() {
        of_func.resize_with(decision.index() + 1, OpenDecision::default);
    }
    &mut of_func[decision.index()]
}

/// Returns for every condition which outcomes can end an evaluation.
fn ends(graph: &DecisionGraph) -> Vec<[bool; 2]> {
    let mut ends = Vec::new();
    for node in graph.nodes.values() {
        let index = node.condition.index();
        if ends.len() <= index {
            ends.resize(index + 1, [false; 2]);
        }
        for outcome in [0, 1] {
            ends[index][outcome] |= matches!(node.edges[outcome].target, DecisionStep::Done(_));
        }
    }
    ends
}

/// Collects the outcomes of the last evaluation of a decision in a frame, complete or not, newest first.
pub(crate) fn last_evaluation(
    state: &State,
    frame: usize,
    decision: DecisionId,
    start: Option<CondId>,
    outcomes: &mut Vec<(CondId, bool)>,
) {
    outcomes.clear();
    let (func, depth) = (state.frames[frame].func, frame as u32 + 1);
    let own = |outcome: &&BranchOutcome| outcome.func == func && outcome.depth == depth;
    for outcome in state.trail.outcomes().filter(own) {
        if let Some(tag) = outcome.tag.filter(|tag| tag.decision == decision) {
            outcomes.push((tag.condition, outcome.taken));
            // Each evaluation evaluates its first condition exactly once.
            if Some(tag.condition) == start {
                return;
            }
        }
    }
}

/// Encodes an evaluation as an integer; `None` if it has too many conditions.
pub(crate) fn key(outcomes: &[(CondId, bool)]) -> Option<u64> {
    let bits = |(condition, taken): &(CondId, bool)| {
        let shift = u32::try_from(2 * condition.index()).ok().filter(|shift| *shift < u64::BITS)?;
        Some((2 | u64::from(*taken)) << shift)
    };
    outcomes.iter().try_fold(0, |key, outcome| Some(key | bits(outcome)?))
}

/// Returns the row that outcomes (newest first) form, or `None` if they are not a complete evaluation, for example
/// because a jump left it.
pub(crate) fn row(graph: &DecisionGraph, outcomes: &[(CondId, bool)]) -> Option<Row> {
    let mut walk = DecisionEvaluation::default();
    for &(condition, taken) in outcomes.iter().rev() {
        match walk.at(graph) {
            DecisionStep::Node(node) if graph.nodes[node].condition == condition => walk.step(graph, taken),
            _ => return None,
        }
    }
    match walk.at(graph) {
        DecisionStep::Done(result) => Some(walk.row(result)),
        DecisionStep::Node(_) => None,
    }
}
