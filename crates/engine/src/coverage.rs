//! Coverage along a symbolic path: which goals a state reaches, and under which inputs (DESIGN §6, §7).
//!
//! Watching never changes the path space (except in `direct` mode, the baseline of seed 002, which forks on every label).
//! The outcomes of a decision's evaluation are on the path's trail anyway. Where one can end the evaluation of a decision
//! that still has open goals, they are collected from there; what is under way is only noted where states are pruned.

use crate::config::Labels;
use crate::executor::{Executor, Mode};
use crate::explore::Aim;
use crate::state::{PathEnd, State, Stop};
use crate::step::Flow;
use crate::value::{Scalar, Value};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{DecisionGraph, Goal, GoalId, Row, Target, Walk, Watch};
use touchstone_ir::{CondId, CondTag, DecisionId, Expr, ExprKind, FuncId, PointId, Ty};
use touchstone_solver::{Path, Side, TermId};

/// Which goals are open.
pub(crate) struct Coverage {
    pub watch: Rc<Watch>,
    open: Vec<bool>,
    remaining: usize,
    /// Of them, labels: whether a run reaches one is no matter of its path alone.
    labels: usize,
    /// Open decisions, by function and decision.
    decisions: Vec<Vec<OpenDecision>>,
    aim: Aim,
    /// Grows whenever a goal is covered.
    pub version: u64,
}

/// What is still wanted of a decision.
#[derive(Clone, Default)]
struct OpenDecision {
    /// Open goals.
    goals: usize,
    /// Of them, outcomes of conditions.
    conditions: usize,
    /// The condition that every evaluation begins with.
    start: Option<CondId>,
    /// For every condition, whether its being false, or true, can end the evaluation.
    ends: Vec<[bool; 2]>,
    /// The same, of ends that can still reach an open goal.
    useful: Vec<[bool; 2]>,
    /// Evaluations that reach no open goal any more.
    barren: FxHashSet<u64>,
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
                        Target::Node(start) => Some(watch.graph.nodes[start].condition),
                        Target::Done(_) => None,
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
    fn ended_in_vain(&mut self, func: FuncId, decision: DecisionId) {
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
    fn open_decision(&self, func: FuncId, decision: DecisionId) -> Option<&OpenDecision> {
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
            ends[index][outcome] |= matches!(node.edges[outcome].target, Target::Done(_));
        }
    }
    ends
}

/// A goal that a state has reached, with the path on which it holds (`None`: the state's own).
pub(crate) struct Hit {
    pub goal: GoalId,
    pub path: Option<Path>,
}

/// A question for a label that waits for the end of the search.
pub(crate) struct Postponed {
    pub state: State,
    pub goal: GoalId,
    pub cond: TermId,
}

/// More questions than this don't wait.
const MOST_POSTPONED: usize = 4096;

impl Executor<'_> {
    /// A condition had an outcome; it is on the trail already.
    pub(crate) fn watch_branch(&mut self, state: &mut State, tag: CondTag, taken: bool) {
        let Some(coverage) = &mut self.coverage else { return };
        let func = state.top().func;
        let Some(open) = coverage.open_decision(func, tag.decision) else { return };
        let of = |table: &[[bool; 2]]| table.get(tag.condition.index()).is_some_and(|ends| ends[usize::from(taken)]);
        if coverage.aim == Aim::Paths && open.conditions == 0 && !of(&open.useful) {
            return;
        }
        let can_end = of(&open.ends);
        let start = open.start;
        let Some(watch) = coverage.watch.decision(func, tag.decision) else { return };
        if open.conditions > 0 {
            let reached = coverage.watch.condition(watch, (tag.condition, taken));
            self.hits.extend(reached.filter(|goal| coverage.is_open(*goal)).map(|goal| Hit { goal, path: None }));
        }
        let ended = can_end && {
            last_evaluation(state, state.frames.len() - 1, tag.decision, start, &mut self.outcomes);
            let key = key(&self.outcomes);
            let barren = &mut coverage.decisions[func.index()][tag.decision.index()].barren;
            if key.is_some_and(|key| barren.contains(&key)) {
                coverage.ended_in_vain(func, tag.decision);
                true
            } else if let Some(row) = row(&watch.graph, &self.outcomes) {
                let before = self.hits.len();
                let reached = coverage.watch.row(watch, &row).filter(|goal| coverage.open[goal.index()]);
                self.hits.extend(reached.map(|goal| Hit { goal, path: None }));
                if self.hits.len() == before {
                    barren.extend(key);
                }
                true
            } else {
                false
            }
        };
        if coverage.aim == Aim::Goals {
            let under_way = &mut state.top_mut().decisions;
            match under_way.iter().position(|decision| *decision == tag.decision) {
                Some(index) if ended => {
                    under_way.remove(index);
                }
                None if !ended => under_way.push(tag.decision),
                _ => {}
            }
        }
    }

    /// A switch went to a target.
    pub(crate) fn watch_arm(&mut self, state: &State, target: touchstone_ir::BlockId) {
        let Some(coverage) = &self.coverage else { return };
        let frame = state.top();
        for goal in coverage.watch.arm(frame.func, frame.block, target).filter(|goal| coverage.is_open(*goal)) {
            self.hits.push(Hit { goal, path: None });
        }
    }

    /// A point is reached: its labels are checked, or, in direct mode, handed to the driver.
    pub(crate) fn watch_point(&mut self, state: &State, point: PointId, span: Span) -> Result<Flow, Stop> {
        let Some(coverage) = &self.coverage else { return Ok(Flow::Next) };
        let all = self.config.labels != Labels::Idl;
        if coverage.labels == 0 && !all {
            return Ok(Flow::Next);
        }
        let at_point = coverage.watch.point(state.top().func, point).iter().copied();
        let goals: Vec<GoalId> = at_point.filter(|goal| all || coverage.is_open(*goal)).collect();
        if goals.is_empty() {
            return Ok(Flow::Next);
        }
        self.watch_labels(state, goals, span)
    }

    /// The function under test is entered.
    pub(crate) fn watch_entry(&mut self, state: &State, func: FuncId) -> Result<(), Stop> {
        let Some(coverage) = &self.coverage else { return Ok(()) };
        let entry = coverage.watch.entry(func).iter().copied();
        let goals: Vec<GoalId> = entry.filter(|goal| coverage.is_open(*goal)).collect();
        if goals.is_empty() {
            return Ok(());
        }
        // All of them before any is asked: a pointer that has to be decided first changes nothing here.
        let asked = self.label_conditions(state, goals)?;
        // An input's domain is no label on the way: never forked on.
        for (goal, cond) in asked {
            self.check_label(state, goal, cond);
        }
        Ok(())
    }

    /// Whether entering a function can reach an open goal.
    pub(crate) fn watches_entry(&self, func: FuncId) -> bool {
        let coverage = self.coverage.as_ref();
        coverage.is_some_and(|coverage| coverage.watch.entry(func).iter().any(|goal| coverage.is_open(*goal)))
    }

    fn watch_labels(&mut self, state: &State, goals: Vec<GoalId>, span: Span) -> Result<Flow, Stop> {
        // An undecided pointer or an index to enumerate: the state is forked and the point comes again.
        let conditions = self.label_conditions(state, goals)?;
        let (mut asked, mut hits) = (Vec::new(), Vec::new());
        for (goal, cond) in conditions {
            match self.terms.as_const(cond) {
                Some(0) => {}
                Some(_) => hits.push(Hit { goal, path: None }),
                None => asked.push((goal, cond)),
            }
        }
        self.hits.extend(hits);
        match self.config.labels {
            Labels::Direct if !asked.is_empty() => return Ok(Flow::Labels { forks: asked, span }),
            Labels::Direct => {}
            Labels::Tight => {
                for (goal, cond) in asked {
                    self.check_label(state, goal, cond);
                }
            }
            Labels::Idl => self.check_together(state, asked),
        }
        Ok(Flow::Next)
    }

    /// Asks for inputs that reach as many of these labels at once as is easily found, and again for what is left: beyond
    /// seed 002, one test for many labels of one point. What is not easily answered waits: another path may cover it.
    fn check_together(&mut self, state: &State, mut asked: Vec<(GoalId, TermId)>) {
        while !asked.is_empty() {
            let mut rest = asked.split_off(1);
            let (goal, cond) = asked[0];
            match self.solver.assume_easily(&mut self.terms, &state.path, cond) {
                Side::Feasible(mut path) => {
                    self.labels_asked += 1;
                    self.labels_found += 1;
                    let mut together = vec![goal];
                    rest.retain(|&(goal, cond)| {
                        match self.solver.assume_easily(&mut self.terms, &path, cond) {
                            Side::Feasible(narrowed) => {
                                path = narrowed;
                                together.push(goal);
                                false
                            }
                            // Not together with the others: the label is asked for by itself then.
                            Side::Infeasible | Side::Unknown(_) => true,
                        }
                    });
                    self.hits.extend(together.into_iter().map(|goal| Hit { goal, path: Some(path.clone()) }));
                }
                Side::Infeasible => self.labels_asked += 1,
                Side::Unknown(_) if self.postponed.len() < MOST_POSTPONED => {
                    self.postponed.push(Postponed { state: state.clone(), goal, cond });
                }
                Side::Unknown(_) => self.check_label(state, goal, cond),
            }
            asked = rest;
        }
    }

    fn label_unknown(&mut self, state: &State, why: touchstone_solver::Why) {
        let span = self.module.functions[state.top().func].span;
        self.give_up(touchstone_criteria::Incomplete::Solver(why.to_string()), span, 1);
    }

    /// The conditions under which labels hold here; `Err` if something must be decided before it can be told.
    pub(crate) fn label_conditions(
        &mut self,
        state: &State,
        goals: Vec<GoalId>,
    ) -> Result<Vec<(GoalId, TermId)>, Stop> {
        let mut scratch: Option<State> = None;
        // Evaluation looks at no coverage.
        let coverage = self.coverage.take();
        let mut condition = |goal: GoalId| {
            let predicate = match coverage.as_ref().map(|coverage| &coverage.watch.goals[goal]) {
                Some(Goal::Label { predicate: None, .. }) => return Ok(self.terms.truth(true)),
                Some(Goal::Label { predicate: Some(predicate), .. } | Goal::Entry { predicate, .. }) => predicate,
                _ => return Ok(self.terms.truth(false)),
            };
            self.evaluate(scratch.get_or_insert_with(|| state.clone()), predicate)
        };
        let conditions = goals.into_iter().map(|goal| Ok((goal, condition(goal)?))).collect();
        self.coverage = coverage;
        conditions
    }

    /// Asks for inputs that reach a label: the path goes on with neither the label nor its negation (seed 002, tight).
    pub(crate) fn check_label(&mut self, state: &State, goal: GoalId, cond: TermId) {
        match self.terms.as_const(cond) {
            Some(0) => {}
            Some(_) => self.hits.push(Hit { goal, path: None }),
            None => {
                self.labels_asked += 1;
                match self.solver.assume(&mut self.terms, &state.path, cond) {
                    Side::Feasible(path) => {
                        self.labels_found += 1;
                        self.hits.push(Hit { goal, path: Some(path) });
                    }
                    Side::Infeasible => {}
                    Side::Unknown(why) => self.label_unknown(state, why),
                }
            }
        }
    }

    /// A pure expression's truth in a state (of which only `proper` changes): defined, and not zero.
    fn evaluate(&mut self, scratch: &mut State, expr: &Expr) -> Result<TermId, Stop> {
        scratch.proper = self.terms.truth(true);
        let mode = std::mem::replace(&mut self.mode, Mode::Fold);
        let value = self.expression(scratch, expr);
        self.mode = mode;
        match value {
            Ok(Value::Int(scalar)) => {
                let truth = scalar.term(&mut self.terms, 1);
                Ok(self.terms.and(scratch.proper, truth))
            }
            // It may hold: that is not known, and must be said.
            Err(Stop::End(PathEnd::Incomplete { why, span })) => {
                self.give_up(why, span, 1);
                Ok(self.terms.truth(false))
            }
            Ok(_) | Err(Stop::End(_)) => Ok(self.terms.truth(false)),
            Err(stop @ (Stop::Force(..) | Stop::Enumerate(_))) => Err(stop),
        }
    }

    fn expression(&mut self, state: &mut State, expr: &Expr) -> Result<Value, Stop> {
        let span = Span::none();
        match &expr.kind {
            ExprKind::Const(value) => Ok(Value::constant(*value)),
            ExprKind::Reg(reg) => match &state.top().regs[reg.index()] {
                Value::Undefined => Err(Stop::End(PathEnd::Assumed)),
                value => Ok(value.clone()),
            },
            ExprKind::Slot(slot) => Ok(Value::pointer(state.top().slots[slot.index()], 0)),
            ExprKind::Global(global) => Ok(Value::pointer(crate::globals::global_object(*global), 0)),
            ExprKind::Load(addr) => {
                let addr = self.expression(state, addr)?;
                match self.load(state, &addr, expr.ty, span)? {
                    Value::Undefined => Err(Stop::End(PathEnd::Assumed)),
                    value => Ok(value),
                }
            }
            ExprKind::Bin(op, a, b) => {
                let (a, b) = (self.expression(state, a)?, self.expression(state, b)?);
                self.binary(state, *op, &a, &b, expr.ty.bits(), span)
            }
            ExprKind::Cmp(op, a, b) => {
                let ty = a.ty;
                let (a, b) = (self.expression(state, a)?, self.expression(state, b)?);
                self.compare(state, *op, &a, &b, ty, span)
            }
            ExprKind::Cast(op, a) => {
                let from = a.ty;
                let a = self.expression(state, a)?;
                self.cast(state, *op, &a, from, expr.ty, span)
            }
            ExprKind::Float(op, format, args) => {
                let args = args.iter().map(|arg| self.expression(state, arg)).collect::<Result<Vec<_>, _>>()?;
                self.float(state, *op, *format, &args, span)
            }
            ExprKind::AsFloat(_, a) => self.expression(state, a),
            ExprKind::PtrAdd(base, offset) => {
                let (base, offset) = (self.expression(state, base)?, self.expression(state, offset)?);
                let offset = self.as_scalar(state, &offset, span)?;
                self.advance(state, &base, offset, span)
            }
            ExprKind::Not(a) => {
                let a = self.truth_of(state, a)?;
                let not = self.terms.not(a);
                Ok(Value::term(&self.terms, not))
            }
            ExprKind::And(a, b) => {
                let a = self.truth_of(state, a)?;
                let b = self.truth_under(state, b, a)?;
                let both = self.terms.and(a, b);
                Ok(Value::term(&self.terms, both))
            }
            ExprKind::Or(a, b) => {
                let a = self.truth_of(state, a)?;
                let otherwise = self.terms.not(a);
                let b = self.truth_under(state, b, otherwise)?;
                let either = self.terms.or(a, b);
                Ok(Value::term(&self.terms, either))
            }
            ExprKind::Ite(c, a, b) => {
                let c = self.truth_of(state, c)?;
                let c = self.settled(state, c);
                let otherwise = self.terms.not(c);
                let yes = self.under(state, a, c)?;
                let no = self.under(state, b, otherwise)?;
                Ok(match (yes, no) {
                    (Some(yes), Some(no)) => self.select(c, &yes, &no, expr.ty),
                    (Some(only), None) | (None, Some(only)) => only,
                    (None, None) => return Err(Stop::End(PathEnd::Assumed)),
                })
            }
        }
    }

    fn truth_of(&mut self, state: &mut State, expr: &Expr) -> Result<TermId, Stop> {
        match self.expression(state, expr)? {
            Value::Int(scalar) => Ok(scalar.term(&mut self.terms, Ty::I1.bits())),
            _ => Err(Stop::End(PathEnd::Assumed)),
        }
    }

    /// A condition, or its value where bounds alone tell it on this path: `abs(x)` is then just `x`. An explanation
    /// (direct mode) wants the condition as it is.
    fn settled(&mut self, state: &State, cond: TermId) -> TermId {
        if self.config.labels != Labels::Idl || self.terms.as_const(cond).is_some() {
            return cond;
        }
        match self.solver.range(&self.terms, &state.path, cond).unsigned {
            (low, high) if low == high => self.terms.truth(low != 0),
            _ => cond,
        }
    }

    /// A part that is only evaluated under a condition: what would go wrong counts only there.
    fn under(&mut self, state: &mut State, expr: &Expr, cond: TermId) -> Result<Option<Value>, Stop> {
        if self.terms.as_const(cond) == Some(0) {
            return Ok(None);
        }
        let before = std::mem::replace(&mut state.proper, self.terms.truth(true));
        let value = self.expression(state, expr);
        let inner = match &value {
            Err(Stop::End(_)) => self.terms.truth(false),
            _ => state.proper,
        };
        let fine = self.guarded(Some(cond), inner);
        state.proper = self.terms.and(before, fine);
        match value {
            Ok(value) => Ok(Some(value)),
            Err(Stop::End(_)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    fn truth_under(&mut self, state: &mut State, expr: &Expr, cond: TermId) -> Result<TermId, Stop> {
        match self.under(state, expr, cond)? {
            Some(Value::Int(Scalar::Const(value))) => Ok(self.terms.truth(value != 0)),
            Some(Value::Int(Scalar::Term(term))) => Ok(term),
            _ => Ok(self.terms.truth(false)),
        }
    }
}

/// The outcomes of the last evaluation of a decision in a frame, complete or not, newest first.
fn last_evaluation(
    state: &State,
    frame: usize,
    decision: DecisionId,
    start: Option<CondId>,
    outcomes: &mut Vec<(CondId, bool)>,
) {
    outcomes.clear();
    let (func, depth) = (state.frames[frame].func, frame as u32 + 1);
    let mut next = &state.trail;
    while let Some(outcome) = next {
        if let Some(tag) = outcome.tag
            && tag.decision == decision
            && outcome.func == func
            && outcome.depth == depth
        {
            outcomes.push((tag.condition, outcome.taken));
            // Each evaluation evaluates its first condition, and that once.
            if Some(tag.condition) == start {
                return;
            }
        }
        next = &outcome.earlier;
    }
}

/// An evaluation as a number; `None` if it has too many conditions for that.
fn key(outcomes: &[(CondId, bool)]) -> Option<u64> {
    let bits = |(condition, taken): &(CondId, bool)| {
        let shift = u32::try_from(2 * condition.index()).ok().filter(|shift| *shift < u64::BITS)?;
        Some((2 | u64::from(*taken)) << shift)
    };
    outcomes.iter().try_fold(0, |key, outcome| Some(key | bits(outcome)?))
}

/// The row that outcomes (newest first) make; `None` if they are no complete evaluation: one that was left in the middle
/// by a jump is none.
fn row(graph: &DecisionGraph, outcomes: &[(CondId, bool)]) -> Option<Row> {
    let mut walk = Walk::default();
    for &(condition, taken) in outcomes.iter().rev() {
        match walk.at(graph) {
            Target::Node(node) if graph.nodes[node].condition == condition => walk.step(graph, taken),
            _ => return None,
        }
    }
    match walk.at(graph) {
        Target::Done(result) => Some(walk.row(result)),
        Target::Node(_) => None,
    }
}
