//! Goal detection on a symbolic path: the goals that an outcome, a point or an entry reaches, and the inputs for which
//! it does.
//!
//! Detection never changes the path space (except in `direct` mode, the baseline of Bardin et al., which forks on every
//! label).

use crate::config::Labels;
use crate::exec::executor::Executor;
use crate::exec::executor::policy::LabelQueries;
use crate::exec::instructions::fork::Fork;
use crate::exec::instructions::step::{Flow, StepResult};
use crate::goals::coverage::{Aim, key, last_evaluation, row};
use crate::goals::tracker::{DeferredQuery, GoalHit};
use crate::state::value::Value;
use crate::state::{State, Stop, unanswered};
use std::borrow::Cow;
use std::sync::Arc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, Goal, GoalId, Incomplete};
use touchstone_ir::{BlockId, CondTag, FuncId, Operand, PointId, TermKind};
use touchstone_solver::{Side, TermId, Why};

impl Executor<'_> {
    /// Detects goals of a condition outcome, which is already on the trail.
    pub(crate) fn watch_branch(&mut self, state: &mut State, tag: CondTag, taken: bool) {
        let Some(coverage) = &mut self.goal_tracker.coverage else { return };
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
            self.effects
                .hits
                .extend(reached.filter(|goal| coverage.is_open(*goal)).map(|goal| GoalHit { goal, path: None }));
        }
        let ended = can_end && {
            last_evaluation(state, state.frames.len() - 1, tag.decision, start, &mut self.goal_tracker.outcomes);
            let key = key(&self.goal_tracker.outcomes);
            let barren = &mut coverage.decisions[func.index()][tag.decision.index()].barren;
            if key.is_some_and(|key| barren.contains(&key)) {
                coverage.count_barren_evaluation(func, tag.decision);
                true
            } else if let Some(row) = row(&watch.graph, &self.goal_tracker.outcomes) {
                let before = self.effects.hits.len();
                let reached = coverage.watch.row(watch, &row).filter(|goal| coverage.open[goal.index()]);
                self.effects.hits.extend(reached.map(|goal| GoalHit { goal, path: None }));
                if self.effects.hits.len() == before {
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

    /// Detects goals of a switch target.
    pub(crate) fn watch_arm(&mut self, state: &State, target: BlockId) {
        let Some(coverage) = &self.goal_tracker.coverage else { return };
        let frame = state.top();
        for goal in coverage.watch.arm(frame.func, frame.block, target).filter(|goal| coverage.is_open(*goal)) {
            self.effects.hits.push(GoalHit { goal, path: None });
        }
    }

    /// Returns true if [`Self::watch_point`] does anything at a point.
    #[inline]
    pub(crate) fn watches_point(&self, func: FuncId, point: PointId) -> bool {
        let Some(coverage) = &self.goal_tracker.coverage else { return false };
        let all = self.config.labels != Labels::Idl;
        (coverage.labels > 0 || all)
            && coverage.watch.point(func, point).iter().any(|goal| all || coverage.is_open(*goal))
    }

    /// Detects labels at a point; in direct mode returns a fork on them.
    pub(crate) fn watch_point(&mut self, state: &State, point: PointId, span: Span) -> Result<Flow, Stop> {
        let Some(coverage) = &self.goal_tracker.coverage else { return Ok(Flow::Next) };
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

    /// Detects goals at the entry of a function.
    pub(crate) fn watch_entry(&mut self, state: &State, func: FuncId) -> Result<(), Stop> {
        let Some(coverage) = &self.goal_tracker.coverage else { return Ok(()) };
        let entry = coverage.watch.entry(func).iter().copied();
        let goals: Vec<GoalId> = entry.filter(|goal| coverage.is_open(*goal)).collect();
        if goals.is_empty() {
            return Ok(());
        }
        // All conditions are computed before any query: materialising a pointer must not change the state here.
        let asked = self.label_conditions(state, goals)?;
        // A goal at the entry constrains inputs and is never forked on.
        for (goal, cond) in asked {
            self.check_label(state, goal, cond);
        }
        Ok(())
    }

    /// Detects goals over the result that the innermost function is about to return.
    pub(crate) fn watch_return(&mut self, state: &State, span: Span) -> Result<(), Stop> {
        let Some(coverage) = &self.goal_tracker.coverage else { return Ok(()) };
        let returns = coverage.watch.returns(state.top().func).iter().copied();
        let goals: Vec<GoalId> = returns.filter(|goal| coverage.is_open(*goal)).collect();
        if goals.is_empty() {
            return Ok(());
        }
        // As at the entry, nothing is forked on: the call ends with either result.
        let mut asked = Vec::new();
        for (goal, cond) in self.label_conditions(state, goals)? {
            match self.terms.as_const(cond) {
                Some(0) => {}
                Some(_) => self.effects.hits.push(GoalHit { goal, path: None }),
                None => asked.push((goal, cond)),
            }
        }
        self.check_together(state, asked, span);
        Ok(())
    }

    /// Returns the operand that the innermost function returns at the end of its block, if it has a defined value.
    pub(crate) fn returned_operand(&self, state: &State) -> Option<Operand> {
        let frame = state.top();
        match self.module.functions[frame.func].blocks[frame.block].terminator.kind {
            TermKind::Return(Some(operand)) if frame.value(operand) != Value::Undefined => Some(operand),
            _ => None,
        }
    }

    /// Returns true if entering a function can reach an open goal.
    pub(crate) fn watches_entry(&self, func: FuncId) -> bool {
        let coverage = self.goal_tracker.coverage.as_ref();
        coverage.is_some_and(|coverage| coverage.watch.entry(func).iter().any(|goal| coverage.is_open(*goal)))
    }

    fn watch_labels(&mut self, state: &State, goals: Vec<GoalId>, span: Span) -> Result<Flow, Stop> {
        // If a pointer must be materialised or an index fixed, the state is forked and the point is executed again.
        let conditions = self.label_conditions(state, goals)?;
        let (mut asked, mut hits) = (Vec::new(), Vec::new());
        for (goal, cond) in conditions {
            match self.terms.as_const(cond) {
                Some(0) => {}
                Some(_) => hits.push(GoalHit { goal, path: None }),
                None => asked.push((goal, cond)),
            }
        }
        self.effects.hits.extend(hits);
        match self.config.labels {
            Labels::Direct if !asked.is_empty() => return Ok(Flow::Fork(Fork::Labels { forks: asked, span })),
            Labels::Direct => {}
            Labels::Tight => {
                for (goal, cond) in asked {
                    self.check_label(state, goal, cond);
                }
            }
            Labels::Idl => self.check_together(state, asked, span),
        }
        Ok(Flow::Next)
    }

    /// Solves for inputs that reach as many of these labels as is cheap, then for the remaining ones: beyond Bardin et
    /// al., one test for many labels of a point. Hard queries are deferred, since another path may cover the label. A
    /// point can have tens of thousands of labels: those left at the deadline are given up.
    fn check_together(&mut self, state: &State, mut asked: Vec<(GoalId, TermId)>, span: Span) {
        let deadline = self.config.deadline;
        while !asked.is_empty() {
            if deadline.is_over() {
                return self.give_up(Incomplete::Bound(Bound::of(deadline)), span, 1);
            }
            let mut rest = asked.split_off(1);
            let (goal, cond) = asked[0];
            match self.solver.assume_easily(&mut self.terms, &state.path, cond) {
                Side::Feasible(mut path) => {
                    self.ledger.labels_asked += 1;
                    self.ledger.labels_found += 1;
                    let mut together = vec![goal];
                    rest.retain(|&(goal, cond)| {
                        if deadline.is_over() {
                            return true;
                        }
                        match self.solver.assume_easily(&mut self.terms, &path, cond) {
                            Side::Feasible(narrowed) => {
                                path = narrowed;
                                together.push(goal);
                                false
                            }
                            // Incompatible with the others: the label is queried separately.
                            Side::Infeasible | Side::Unknown(_) => true,
                        }
                    });
                    self.effects
                        .hits
                        .extend(together.into_iter().map(|goal| GoalHit { goal, path: Some(path.clone()) }));
                }
                Side::Infeasible => self.ledger.labels_asked += 1,
                Side::Unknown(_) if self.policy.labels == LabelQueries::Deferred && self.goal_tracker.has_room() => {
                    self.goal_tracker.deferred.push(DeferredQuery { state: state.clone(), goal, cond });
                }
                Side::Unknown(_) => self.check_label(state, goal, cond),
            }
            asked = rest;
        }
    }

    fn label_unknown(&mut self, state: &State, why: Why) {
        let span = self.module.functions[state.top().func].span;
        self.give_up(unanswered(why), span, 1);
    }

    /// Returns the conditions under which labels hold; `Err` if something must be materialised or fixed first.
    pub(crate) fn label_conditions(
        &mut self,
        state: &State,
        goals: Vec<GoalId>,
    ) -> Result<Vec<(GoalId, TermId)>, Stop> {
        let mut scratch: Option<State> = None;
        let watch = self.goal_tracker.coverage.as_ref().map(|coverage| Arc::clone(&coverage.watch));
        let mut condition = |goal: GoalId| {
            let predicate = match watch.as_ref().map(|watch| &watch.goals[goal]) {
                Some(Goal::Label { predicate: None, .. }) => return Ok(self.terms.truth(true)),
                Some(Goal::Label { predicate: Some(predicate), .. } | Goal::Entry { predicate, .. }) => {
                    Cow::Borrowed(predicate)
                }
                Some(Goal::Return { func, predicate }) => match self.returned_operand(state) {
                    Some(operand) => Cow::Owned(predicate.over(operand, *func, self.module)),
                    None => return Ok(self.terms.truth(false)),
                },
                _ => return Ok(self.terms.truth(false)),
            };
            self.evaluate(scratch.get_or_insert_with(|| state.clone()), &predicate)
        };
        goals.into_iter().map(|goal| Ok((goal, condition(goal)?))).collect()
    }

    /// Asks a deferred query and returns the goals that it reaches.
    pub(crate) fn ask(&mut self, waiting: &DeferredQuery) -> StepResult {
        self.check_label(&waiting.state, waiting.goal, waiting.cond);
        self.stepped(Ok(Flow::Next))
    }

    /// Solves for inputs that reach a label: the path continues with neither the label nor its negation (Bardin et al.,
    /// tight).
    pub(in crate::exec) fn check_label(&mut self, state: &State, goal: GoalId, cond: TermId) {
        match self.terms.as_const(cond) {
            Some(0) => {}
            Some(_) => self.effects.hits.push(GoalHit { goal, path: None }),
            None => {
                self.ledger.labels_asked += 1;
                match self.assume(&state.path, cond) {
                    Side::Feasible(path) => {
                        self.ledger.labels_found += 1;
                        self.effects.hits.push(GoalHit { goal, path: Some(path) });
                    }
                    Side::Infeasible => {}
                    Side::Unknown(why) => self.label_unknown(state, why),
                }
            }
        }
    }
}
