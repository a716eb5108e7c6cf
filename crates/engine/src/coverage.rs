//! Coverage along a symbolic path: which goals a state reaches, and under which inputs (DESIGN §6, §7).
//!
//! Watching never changes the path space (except in `direct` mode, the baseline of seed 002, which forks on every label).
//! A decision's evaluation is followed by one node of its graph in the frame; its outcomes are already on the path's
//! trail, and are only collected when the decision is done and still has open goals.

use crate::config::Labels;
use crate::executor::{Executor, Mode};
use crate::state::{State, Stop};
use crate::step::Flow;
use crate::value::{Scalar, Value};
use touchstone_base::{Id, Span};
use touchstone_criteria::{Goal, GoalId, NodeId, Target, Walk, Watch};
use touchstone_ir::{CondId, CondTag, DecisionId, Expr, ExprKind, FuncId, PointId, Ty};
use touchstone_solver::{Path, Side, TermId};

/// Which goals are open.
pub(crate) struct Coverage {
    pub watch: Watch,
    open: Vec<bool>,
    remaining: usize,
    /// Grows whenever a goal is covered.
    pub version: u64,
}

impl Coverage {
    pub fn new(watch: Watch, already: &[GoalId]) -> Coverage {
        let mut open = vec![true; watch.goals.len()];
        for goal in already {
            open[goal.index()] = false;
        }
        let remaining = open.iter().filter(|open| **open).count();
        Coverage { watch, open, remaining, version: 0 }
    }

    pub fn is_open(&self, goal: GoalId) -> bool {
        self.open[goal.index()]
    }

    pub fn remaining(&self) -> usize {
        self.remaining
    }

    pub fn cover(&mut self, goal: GoalId) {
        if std::mem::replace(&mut self.open[goal.index()], false) {
            self.remaining -= 1;
            self.version += 1;
        }
    }

    pub fn open_goals(&self) -> impl Iterator<Item = GoalId> + '_ {
        self.watch.goals.ids().filter(|goal| self.is_open(*goal))
    }

    /// Whether an evaluation of a decision that is under way in a frame can end in an open goal.
    pub fn may_reach(&self, state: &State, frame: usize) -> bool {
        let under_way = &state.frames[frame];
        under_way.decisions.iter().any(|at| {
            let Some(watch) = self.watch.decision(under_way.func, at.decision) else { return false };
            let mut walk = Walk::default();
            for (_, outcome) in last_outcomes(state, under_way.func, at.decision, frame as u32 + 1, at.outcomes) {
                walk.step(&watch.graph, outcome);
            }
            let mut open = watch.goals.iter().filter(|goal| self.is_open(**goal));
            open.any(|goal| watch.graph.can_reach(&walk, &self.watch.goals[*goal]))
        })
    }

    fn wants(&self, func: FuncId, decision: DecisionId) -> bool {
        let watch = self.watch.decision(func, decision);
        watch.is_some_and(|watch| watch.goals.iter().any(|goal| self.is_open(*goal)))
    }
}

/// An evaluation of a decision under way in a frame.
#[derive(Clone, Copy)]
pub(crate) struct DecisionAt {
    decision: DecisionId,
    node: NodeId,
    outcomes: u32,
}

/// A goal that a state has reached, with the path on which it holds (`None`: the state's own).
pub(crate) struct Hit {
    pub goal: GoalId,
    pub path: Option<Path>,
}

impl Executor<'_> {
    /// A condition had an outcome; it is on the trail already.
    pub(crate) fn watch_branch(&mut self, state: &mut State, tag: CondTag, taken: bool) {
        let Some(coverage) = &self.coverage else { return };
        let func = state.top().func;
        if !coverage.wants(func, tag.decision) {
            return;
        }
        let Some(watch) = coverage.watch.decision(func, tag.decision) else { return };
        let graph = &watch.graph;
        let depth = state.frames.len() as u32;
        let frame = state.top_mut();
        let known = frame.decisions.iter().position(|at| at.decision == tag.decision);
        let here = |node: NodeId| graph.nodes[node].condition == tag.condition;
        // An evaluation that was left in the middle (a jump out of it) is forgotten.
        let (node, before) = match known.map(|index| frame.decisions.remove(index)) {
            Some(at) if here(at.node) => (at.node, at.outcomes),
            _ => match graph.start {
                Target::Node(node) if here(node) => (node, 0),
                _ => return,
            },
        };
        let reached = coverage.watch.condition(watch, (tag.condition, taken));
        self.hits.extend(reached.filter(|goal| coverage.is_open(*goal)).map(|goal| Hit { goal, path: None }));
        match graph.nodes[node].edges[usize::from(taken)].target {
            Target::Node(node) => {
                frame.decisions.push(DecisionAt { decision: tag.decision, node, outcomes: before + 1 });
            }
            Target::Done(result) => {
                let mut walk = Walk::default();
                for (_, outcome) in last_outcomes(state, func, tag.decision, depth, before + 1) {
                    walk.step(graph, outcome);
                }
                let row = walk.row(result);
                for goal in coverage.watch.row(watch, &row).filter(|goal| coverage.is_open(*goal)) {
                    self.hits.push(Hit { goal, path: None });
                }
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
        let goals = coverage.watch.point(state.top().func, point).to_vec();
        self.watch_labels(state, &goals, span)
    }

    /// The function under test is entered.
    pub(crate) fn watch_entry(&mut self, state: &State, func: FuncId) -> Result<(), Stop> {
        let Some(coverage) = &self.coverage else { return Ok(()) };
        let goals = coverage.watch.entry(func).to_vec();
        // All of them before any is asked: a pointer that has to be decided first changes nothing here.
        let mut asked = Vec::new();
        for goal in goals {
            if self.coverage.as_ref().is_some_and(|coverage| coverage.is_open(goal)) {
                asked.push((goal, self.label_condition(state, goal)?));
            }
        }
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

    fn watch_labels(&mut self, state: &State, goals: &[GoalId], span: Span) -> Result<Flow, Stop> {
        let (mut asked, mut hits) = (Vec::new(), Vec::new());
        for &goal in goals {
            let open = self.coverage.as_ref().is_some_and(|coverage| coverage.is_open(goal));
            if !open && self.config.labels == Labels::Idl {
                continue;
            }
            // An undecided pointer or an index to enumerate: the state is forked and the point comes again.
            let cond = self.label_condition(state, goal)?;
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

    /// Asks for inputs that reach as many of these labels at once as possible, and again for what is left: beyond seed
    /// 002, one question and one test for many labels of one point.
    fn check_together(&mut self, state: &State, mut asked: Vec<(GoalId, TermId)>) {
        while !asked.is_empty() {
            let mut path: Option<Path> = None;
            let (mut together, mut rest) = (Vec::new(), Vec::new());
            for (goal, cond) in asked {
                self.labels_asked += 1;
                let before = path.as_ref().unwrap_or(&state.path);
                match self.solver.assume(&mut self.terms, before, cond) {
                    Side::Feasible(narrowed) => {
                        path = Some(narrowed);
                        together.push(goal);
                    }
                    Side::Infeasible if together.is_empty() => {}
                    Side::Infeasible => rest.push((goal, cond)),
                    Side::Unknown(_) if !together.is_empty() => rest.push((goal, cond)),
                    Side::Unknown(why) => self.label_unknown(state, why),
                }
            }
            self.labels_found += u64::from(!together.is_empty());
            self.hits.extend(together.into_iter().map(|goal| Hit { goal, path: path.clone() }));
            asked = rest;
        }
    }

    fn label_unknown(&mut self, state: &State, why: touchstone_solver::Why) {
        let span = self.module.functions[state.top().func].span;
        self.give_up(touchstone_criteria::Incomplete::Solver(why.to_string()), span, 1);
    }

    /// The condition under which a label holds here; `Err` if something must be decided before it can be told.
    fn label_condition(&mut self, state: &State, goal: GoalId) -> Result<TermId, Stop> {
        let goal = self.coverage.as_ref().map(|coverage| &coverage.watch.goals[goal]);
        let predicate = match goal {
            Some(Goal::Label { predicate: None, .. }) => return Ok(self.terms.truth(true)),
            Some(Goal::Label { predicate: Some(predicate), .. } | Goal::Entry { predicate, .. }) => predicate.clone(),
            _ => return Ok(self.terms.truth(false)),
        };
        self.evaluate(state, &predicate)
    }

    /// Asks for inputs that reach a label: the path goes on with neither the label nor its negation (seed 002, tight).
    fn check_label(&mut self, state: &State, goal: GoalId, cond: TermId) {
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

    /// A pure expression's truth in a state: defined, and not zero.
    fn evaluate(&mut self, state: &State, expr: &Expr) -> Result<TermId, Stop> {
        let mut scratch = state.clone();
        scratch.proper = self.terms.truth(true);
        let mode = std::mem::replace(&mut self.mode, Mode::Fold);
        let value = self.expression(&mut scratch, expr);
        self.mode = mode;
        match value {
            Ok(Value::Int(scalar)) => {
                let truth = scalar.term(&mut self.terms, 1);
                Ok(self.terms.and(scratch.proper, truth))
            }
            // It may hold: that is not known, and must be said.
            Err(Stop::End(crate::state::PathEnd::Incomplete { why, span })) => {
                self.give_up(why, span, 1);
                Ok(self.terms.truth(false))
            }
            Ok(_) | Err(Stop::End(_)) => Ok(self.terms.truth(false)),
            Err(stop @ (Stop::Force(_) | Stop::Enumerate(_))) => Err(stop),
        }
    }

    fn expression(&mut self, state: &mut State, expr: &Expr) -> Result<Value, Stop> {
        let span = Span::none();
        match &expr.kind {
            ExprKind::Const(value) => Ok(Value::constant(*value)),
            ExprKind::Reg(reg) => match &state.top().regs[reg.index()] {
                Value::Undefined => Err(Stop::End(crate::state::PathEnd::Assumed)),
                value => Ok(value.clone()),
            },
            ExprKind::Slot(slot) => Ok(Value::pointer(state.top().slots[slot.index()], 0)),
            ExprKind::Global(global) => Ok(Value::pointer(crate::inputs::global_object(*global), 0)),
            ExprKind::Load(addr) => {
                let addr = self.expression(state, addr)?;
                match self.load(state, &addr, expr.ty, span)? {
                    Value::Undefined => Err(Stop::End(crate::state::PathEnd::Assumed)),
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
                let otherwise = self.terms.not(c);
                let yes = self.under(state, a, c)?;
                let no = self.under(state, b, otherwise)?;
                Ok(match (yes, no) {
                    (Some(yes), Some(no)) => self.select(c, &yes, &no, expr.ty),
                    (Some(only), None) | (None, Some(only)) => only,
                    (None, None) => return Err(Stop::End(crate::state::PathEnd::Assumed)),
                })
            }
        }
    }

    fn truth_of(&mut self, state: &mut State, expr: &Expr) -> Result<TermId, Stop> {
        match self.expression(state, expr)? {
            Value::Int(scalar) => Ok(scalar.term(&mut self.terms, Ty::I1.bits())),
            _ => Err(Stop::End(crate::state::PathEnd::Assumed)),
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

/// The last outcomes of a decision in a frame, oldest first.
fn last_outcomes(state: &State, func: FuncId, decision: DecisionId, depth: u32, count: u32) -> Vec<(CondId, bool)> {
    let mut found = Vec::with_capacity(count as usize);
    let mut next = &state.trail;
    while let Some(outcome) = next {
        if found.len() == count as usize {
            break;
        }
        if let Some(tag) = outcome.tag
            && tag.decision == decision
            && outcome.func == func
            && outcome.depth == depth
        {
            found.push((tag.condition, outcome.taken));
        }
        next = &outcome.earlier;
    }
    found.reverse();
    found
}
