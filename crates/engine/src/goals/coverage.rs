//! Coverage along a symbolic path: which goals a state reaches, and under which inputs.
//!
//! Watching never changes the path space (except in `direct` mode, the baseline of Bardin et al., which forks on every label).
//! The outcomes of a decision's evaluation are on the path's trail anyway. Where one can end the evaluation of a decision
//! that still has open goals, they are collected from there; what is under way is only noted where states are pruned.

use crate::state::trail::BranchOutcome;
use crate::state::{PathEnd, State};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_criteria::{DecisionGraph, Goal, GoalId, Next, Row, Walk, Watch};
use touchstone_ir::{CondId, DecisionId, FuncId};

/// What gets a test.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Every path (and every goal that is reached on the way).
    Paths,
    /// Every goal.
    Goals,
}

/// Which goals are open.
pub(crate) struct Coverage {
    pub watch: Rc<Watch>,
    pub(crate) open: Vec<bool>,
    remaining: usize,
    /// Of them, labels: whether a run reaches one is no matter of its path alone.
    pub labels: usize,
    /// Open decisions, by function and decision.
    pub decisions: Vec<Vec<OpenDecision>>,
    pub aim: Aim,
    /// Grows whenever a goal is covered.
    pub version: u64,
}

/// What is still wanted of a decision.
#[derive(Clone, Default)]
pub(crate) struct OpenDecision {
    /// Open goals.
    goals: usize,
    /// Of them, outcomes of conditions.
    pub conditions: usize,
    /// The condition that every evaluation begins with.
    pub start: Option<CondId>,
    /// For every condition, whether its being false, or true, can end the evaluation.
    pub ends: Vec<[bool; 2]>,
    /// The same, of ends that can still reach an open goal.
    pub useful: Vec<[bool; 2]>,
    /// Evaluations that reach no open goal any more.
    pub barren: FxHashSet<u64>,
    /// How many such evaluations ended since a goal was covered for which `useful` was not told anew.
    in_vain: Option<u32>,
}

/// So many evaluations in vain cost about as much as saying anew which ends are useful.
const MOST_IN_VAIN: u32 = 64;

/// What a confirming run is watched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attention {
    /// Its path only.
    Path,
    /// Goals too.
    Goals,
}

impl Coverage {
    pub fn new(watch: Rc<Watch>, already: &[GoalId], aim: Aim) -> Coverage {
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
                        Next::Node(start) => Some(watch.graph.nodes[start].condition),
                        Next::Done(_) => None,
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

    /// Which goals are open, by goal.
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
                open.in_vain.get_or_insert(0);
            }
        }
    }

    /// An evaluation of a decision ended and reached no open goal.
    pub fn ended_in_vain(&mut self, func: FuncId, decision: DecisionId) {
        let open = entry(&mut self.decisions, func, decision);
        let Some(in_vain) = &mut open.in_vain else { return };
        *in_vain += 1;
        if *in_vain >= MOST_IN_VAIN {
            open.in_vain = None;
            self.narrow(func, decision);
        }
    }

    /// Says anew which ends of a decision's evaluations can reach an open goal.
    fn narrow(&mut self, func: FuncId, decision: DecisionId) {
        /// With more rows than this nothing is ruled out.
        const MOST_ROWS: usize = 64;
        let watch = Rc::clone(&self.watch);
        let Some(watched) = watch.decision(func, decision) else { return };
        let Some(rows) = watched.graph.rows(MOST_ROWS) else { return };
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

    /// Whether an evaluation of a decision that is under way in a frame can end in an open goal.
    pub fn may_reach(&self, state: &State, frame: usize) -> bool {
        let under_way = &state.frames[frame];
        under_way.decisions.iter().any(|&decision| {
            let Some(OpenDecision { start, .. }) = self.open_decision(under_way.func, decision) else { return false };
            let Some(watch) = self.watch.decision(under_way.func, decision) else { return false };
            let mut outcomes = Vec::new();
            last_evaluation(state, frame, decision, *start, &mut outcomes);
            let mut walk = Walk::default();
            for (_, outcome) in outcomes.into_iter().rev() {
                walk.step(&watch.graph, outcome);
            }
            let mut open = watch.goals.iter().filter(|goal| self.is_open(**goal));
            open.any(|goal| watch.graph.can_reach(&walk, &self.watch.goals[*goal]))
        })
    }

    /// What is open of a decision.
    pub fn open_decision(&self, func: FuncId, decision: DecisionId) -> Option<&OpenDecision> {
        let open = self.decisions.get(func.index())?.get(decision.index())?;
        (open.goals > 0).then_some(open)
    }

    /// What the run that confirms a path's test must be watched for. All goals but labels are a matter of the path, and
    /// the engine has seen them: a run that takes the same path reaches them, and watching it would only cost time.
    pub fn attention(&self) -> Attention {
        if self.labels > 0 { Attention::Goals } else { Attention::Path }
    }

    /// The open goals that a path reaches which `reached` these and ended.
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

/// Whether inputs, and not the path alone, decide if a run reaches the goal.
fn is_label(goal: &Goal) -> bool {
    matches!(goal, Goal::Label { .. } | Goal::Entry { .. })
}

fn decision_of(goal: &Goal) -> Option<(FuncId, DecisionId)> {
    match goal {
        Goal::Outcome { func, decision, .. }
        | Goal::Condition { func, decision, .. }
        | Goal::Row { func, decision, .. }
        | Goal::Independent { func, decision, .. }
        | Goal::Partner { func, decision, .. } => Some((*func, *decision)),
        Goal::Label { .. } | Goal::Entry { .. } | Goal::Arm { .. } | Goal::Error { .. } => None,
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

/// For every condition, which outcomes of it can end an evaluation.
fn ends(graph: &DecisionGraph) -> Vec<[bool; 2]> {
    let mut ends = Vec::new();
    for node in graph.nodes.values() {
        let index = node.condition.index();
        if ends.len() <= index {
            ends.resize(index + 1, [false; 2]);
        }
        for outcome in [0, 1] {
            ends[index][outcome] |= matches!(node.edges[outcome].target, Next::Done(_));
        }
    }
    ends
}

/// The outcomes of the last evaluation of a decision in a frame, complete or not, newest first.
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
            // Each evaluation evaluates its first condition, and that once.
            if Some(tag.condition) == start {
                return;
            }
        }
    }
}

/// An evaluation as a number; `None` if it has too many conditions for that.
pub(crate) fn key(outcomes: &[(CondId, bool)]) -> Option<u64> {
    let bits = |(condition, taken): &(CondId, bool)| {
        let shift = u32::try_from(2 * condition.index()).ok().filter(|shift| *shift < u64::BITS)?;
        Some((2 | u64::from(*taken)) << shift)
    };
    outcomes.iter().try_fold(0, |key, outcome| Some(key | bits(outcome)?))
}

/// The row that outcomes (newest first) make; `None` if they are no complete evaluation: one that was left in the middle
/// by a jump is none.
pub(crate) fn row(graph: &DecisionGraph, outcomes: &[(CondId, bool)]) -> Option<Row> {
    let mut walk = Walk::default();
    for &(condition, taken) in outcomes.iter().rev() {
        match walk.at(graph) {
            Next::Node(node) if graph.nodes[node].condition == condition => walk.step(graph, taken),
            _ => return None,
        }
    }
    match walk.at(graph) {
        Next::Done(result) => Some(walk.row(result)),
        Next::Node(_) => None,
    }
}
