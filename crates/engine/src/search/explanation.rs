//! Explanations of infeasibility: the conditions on the way to a goal that contradict each other.
//!
//! States are followed as in an exploration, but the *infeasible* sides of branches are recorded from which control
//! flow could reach the goal, or which would reach it. The constraints that exclude such a side are minimised by
//! deletion: a constraint without which the rest is still contradictory is dropped. Each constraint is mapped to its
//! source condition.
//!
//! An explanation is no proof: verdicts come from `explore.rs` and `prover/`.

use crate::config::{Config, Labels};
use crate::exec::executor::policy::Policy;
use crate::exec::executor::{Check, Executor};
use crate::exec::instructions::fork::{self, Fork, OutcomeFork};
use crate::exec::instructions::step::Flow;
use crate::goals::coverage::{Aim, Coverage};
use crate::goals::distance::GoalDistances;
use crate::goals::tracker::GoalHit;
use crate::search::search_result::Goals;
use crate::state::trail::Choice;
use crate::state::value::{LazyPointerId, Scalar, Value};
use crate::state::{PathEnd, PointerUse, State};
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Goal, GoalId};
use touchstone_ir::{BranchRole, CondTag, FuncId, Inst, InstKind, Module, TermKind, successors};
use touchstone_solver::{Path, Side, TermId};

/// A condition on the way to a goal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fact {
    /// Its source location.
    pub span: Span,
    /// Its source text; empty for constraints without one: types, ranges, the precondition, checks.
    pub text: String,
    /// The value that the way to the goal needs.
    pub value: bool,
    /// True if it has the other value on this path for all inputs.
    pub fixed: bool,
    /// The goal, if the condition is its predicate.
    pub label: Option<GoalId>,
    /// The number of evaluations of the condition on this path, this one included: an iteration of a loop, or a call. 0
    /// if they are not counted.
    pub time: u32,
}

/// Conditions that contradict each other; the last one is the step toward the goal that no input takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The conditions, in the order of the path.
    pub facts: Vec<Fact>,
    /// True if no condition can be omitted.
    pub minimal: bool,
    /// True if the last condition would reach the goal itself.
    pub at_goal: bool,
}

/// An explanation of infeasibility.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// The conflicts closest to the goal, without duplicates, the shortest first.
    pub conflicts: Vec<Conflict>,
    /// The number of branch sides that were examined.
    pub sides: u64,
    /// True if all paths were examined.
    pub complete: bool,
}

/// Explains why runs of `func` do not reach the goals that are not closed.
pub fn explain(module: &Module, func: FuncId, goals: Goals, config: &Config) -> Explanation {
    /// The maximum number of branch sides that are examined.
    const MAX_BRANCH_SIDES: u64 = 20_000;
    // Direct mode passes the conditions of labels to the driver.
    let config = Config { labels: Labels::Direct, ..config.clone() };
    let wanted = goals.watch.goals.ids().filter(|goal| !goals.closed.contains(goal)).collect();
    let coverage = Coverage::new(goals.watch, &goals.closed, Aim::Goals);
    let roots = module.startup.iter().copied().chain([func]);
    let reach = GoalDistances::new(module, &coverage, roots);
    let executor = Executor::new(module, &config, Policy::EXPLANATION, Some(coverage));
    let mut search = Search { executor, reach, wanted, found: Vec::new(), sides: 0, complete: true };
    let mut waiting = search.first(func);
    while let Some(way) = waiting.pop() {
        if search.sides > MAX_BRANCH_SIDES || search.out_of_time() {
            search.complete = false;
            break;
        }
        search.complete &= search.follow(way, &mut waiting);
    }
    // Paths that the executor gave up were not examined either.
    let complete = search.complete && !search.executor.ledger.gave_up();
    let conflicts = search.conflicts();
    Explanation { conflicts, sides: search.sides, complete }
}

/// A state with the conditions on its path.
#[derive(Clone)]
struct TracedState {
    state: State,
    /// Constraints of all runs with these pointer targets.
    start: Rc<[TermId]>,
    items: Vec<(TermId, Fact)>,
    /// The number of evaluations of each condition.
    times: Rc<BTreeMap<Span, u32>>,
}

impl TracedState {
    /// Returns the number of the next evaluation of a condition.
    fn time(&self, span: Span) -> u32 {
        self.times.get(&span).map_or(1, |before| before + 1)
    }

    fn evaluated(&mut self, span: Span) {
        *Rc::make_mut(&mut self.times).entry(span).or_insert(0) += 1;
    }
}

/// An infeasible side.
struct Blocked {
    /// 0 if it would reach the goal, else the distance from there plus one.
    rank: u32,
    /// Constraints of all runs with these pointer targets.
    start: Rc<[TermId]>,
    /// The constraints before it that have a source condition.
    items: Vec<(TermId, Fact)>,
    /// All constraints of the path.
    path: Vec<TermId>,
    step: (Option<TermId>, Fact),
}

struct Search<'m> {
    executor: Executor<'m>,
    reach: GoalDistances,
    wanted: Vec<GoalId>,
    found: Vec<Blocked>,
    sides: u64,
    /// True if nothing was given up so far.
    complete: bool,
}

impl Search<'_> {
    /// Returns the initial states.
    fn first(&mut self, func: FuncId) -> Vec<TracedState> {
        let starts = self.executor.starts(func);
        self.complete &= starts.is_ok();
        let starts = starts.map_or_else(|_| Vec::new(), |starts| starts.states);
        let way = |state: State| TracedState {
            start: state.path.constraints().into(),
            state,
            items: Vec::new(),
            times: Rc::default(),
        };
        let ways: Vec<TracedState> = starts.into_iter().map(way).collect();
        let span = self.executor.module.functions[func].span;
        let entries: Vec<GoalId> = match &self.executor.goal_tracker.coverage {
            Some(coverage) => coverage.watch.entry(func).to_vec(),
            None => Vec::new(),
        };
        for way in &ways {
            self.check_labels(way, &entries, span);
        }
        ways
    }

    /// Records labels that cannot hold on this path.
    fn check_labels(&mut self, way: &TracedState, goals: &[GoalId], span: Span) {
        for &goal in goals.iter().filter(|goal| self.wanted.contains(goal)).collect::<Vec<_>>() {
            // If something must be materialised first, the point is executed again.
            let Ok(conditions) = self.executor.label_conditions(&way.state, vec![goal]) else { continue };
            let Some((_, cond)) = conditions.into_iter().next() else { continue };
            self.sides += 1;
            let fact = Fact { span, text: String::new(), value: true, fixed: false, label: Some(goal), time: 0 };
            self.check_step(way, cond, fact);
        }
    }

    /// Records a condition that would reach the goal, if no input of the path satisfies it.
    fn check_step(&mut self, way: &TracedState, cond: TermId, fact: Fact) {
        match self.executor.terms.as_const(cond) {
            Some(0) => self.block(way, 0, None, Fact { fixed: true, ..fact }),
            Some(_) => {}
            None => match self.ask(&way.state.path, cond) {
                Side::Infeasible => self.block(way, 0, Some(cond), fact),
                Side::Feasible(_) => {}
                Side::Unknown(_) => self.complete = false,
            },
        }
    }

    /// Checks the labels of the next point, or the goals of the next return.
    fn check_point(&mut self, way: &TracedState) {
        let frame = way.state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        let Some(coverage) = &self.executor.goal_tracker.coverage else { return };
        let (goals, span) = match block.insts.get(frame.inst) {
            Some(Inst { kind: InstKind::Point { point }, span }) => (coverage.watch.point(frame.func, *point), *span),
            Some(_) => return,
            None if self.executor.returned_operand(&way.state).is_some() => {
                (coverage.watch.returns(frame.func), block.terminator.span)
            }
            None => return,
        };
        let goals = goals.to_vec();
        self.check_labels(way, &goals, span);
    }

    fn wants_errors(&self) -> bool {
        let goals = self.executor.goal_tracker.coverage.as_ref().map(|coverage| &coverage.watch.goals);
        goals.is_some_and(|goals| self.wanted.iter().any(|goal| matches!(goals[*goal], Goal::Error { .. })))
    }

    fn out_of_time(&self) -> bool {
        self.executor.config.deadline.is_over()
    }

    /// Records checks of the last step that cannot fail: they keep an error from happening.
    fn check_run_time_checks(&mut self, before: &TracedState, checks: Vec<Check>) {
        for check in checks {
            let goals: Vec<GoalId> = match &self.executor.goal_tracker.coverage {
                Some(coverage) => coverage.watch.error(check.kind, check.span).collect(),
                None => Vec::new(),
            };
            if let Some(goal) = goals.into_iter().find(|goal| self.wanted.contains(goal)) {
                self.sides += 1;
                let fails = self.executor.terms.not(check.fine);
                let fact = Fact {
                    span: check.span,
                    text: String::new(),
                    value: true,
                    fixed: false,
                    label: Some(goal),
                    time: 0,
                };
                self.check_step(before, fails, fact);
            }
        }
    }

    /// Follows one state to its end; other outcomes are put on the worklist. Returns false if something was given up.
    fn follow(&mut self, mut way: TracedState, waiting: &mut Vec<TracedState>) -> bool {
        loop {
            if way.state.steps.is_multiple_of(4096) && self.out_of_time() {
                return false;
            }
            self.check_constant_branch(&way);
            self.check_constant_switch(&way);
            self.check_point(&way);
            let before = self.wants_errors().then(|| way.clone());
            let decided = self.decision_at(&way.state);
            let stepped = self.executor.step(&mut way.state);
            if let Some(before) = before {
                self.check_run_time_checks(&before, stepped.checks);
            }
            match stepped.flow {
                Flow::Next => {
                    if let Some(span) = decided {
                        way.evaluated(span);
                    }
                }
                // Labels were checked before the step.
                Flow::Fork(Fork::Labels { .. }) => {}
                Flow::Fork(Fork::Outcome(fork)) => {
                    for on in self.executor.fork_outcomes(&way.state, &fork) {
                        self.side(&way, &fork, on, waiting);
                    }
                    return true;
                }
                Flow::Fork(Fork::Shape { id, purpose }) => return self.shapes(&way, id, purpose, waiting),
                Flow::Fork(Fork::Value(_)) => return false,
                Flow::End(end) => return !matches!(end, PathEnd::Incomplete { .. }),
            }
            if self.distance(&way.state).is_none() {
                return true;
            }
        }
    }

    /// Materialises a symbolic pointer. Returns false if something was given up.
    fn shapes(
        &mut self,
        way: &TracedState,
        id: LazyPointerId,
        purpose: PointerUse,
        waiting: &mut Vec<TracedState>,
    ) -> bool {
        let mut all = true;
        for shape in self.executor.pointer_targets(&way.state, id, purpose) {
            match shape {
                // Constraints of the new target hold for all its runs.
                Ok(state) => {
                    let known = way.state.path.constraints();
                    let new = state.path.constraints().into_iter().filter(|term| !known.contains(term));
                    let start = way.start.iter().copied().chain(new).collect();
                    let (items, times) = (way.items.clone(), Rc::clone(&way.times));
                    waiting.push(TracedState { state, start, items, times });
                }
                Err(PathEnd::Assumed) => {}
                Err(_) => all = false,
            }
        }
        all
    }

    fn ask(&mut self, path: &Path, cond: TermId) -> Side {
        self.executor.assume(path, cond)
    }

    /// Returns the location of the next branch or switch.
    fn decision_at(&self, state: &State) -> Option<Span> {
        let frame = state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        let decides = matches!(block.terminator.kind, TermKind::Branch { .. } | TermKind::Switch { .. });
        (frame.inst >= block.insts.len() && decides).then_some(block.terminator.span)
    }

    fn fact(&self, way: &TracedState, (role, tag): (BranchRole, Option<CondTag>), span: Span, value: bool) -> Fact {
        let function = &self.executor.module.functions[way.state.top().func];
        let text = match (tag, role) {
            (Some(tag), _) => function.decisions[tag.decision].conditions[tag.condition].text.clone(),
            (None, BranchRole::Condition) => "this arm of the switch".to_string(),
            (None, BranchRole::Check) => "this check".to_string(),
            (None, BranchRole::Dispatch) => "this implementation".to_string(),
        };
        Fact { span, text, value, fixed: false, label: None, time: way.time(span) }
    }

    /// Processes one outcome: feasible ones are followed; infeasible ones from which the goal is reachable are
    /// recorded.
    fn side(&mut self, way: &TracedState, fork: &OutcomeFork, on: fork::ForkOutcome, waiting: &mut Vec<TracedState>) {
        self.sides += 1;
        let fact = match (fork, on.choice) {
            (OutcomeFork::Branch { role, tag, span, .. }, Choice::Branch(taken)) => {
                self.fact(way, (*role, *tag), *span, taken)
            }
            _ => self.fact(way, (fork.role(), None), fork.span(), true),
        };
        let (mut state, path) = (way.state.clone(), way.state.path.clone());
        let taken = self.executor.take_outcome(&mut state, fork, on.choice, path);
        let rank = self.rank(&state, &taken.hits);
        match on.side {
            Side::Feasible(path) => {
                state.path = path;
                if matches!(taken.flow, Flow::Next) && rank.is_some() {
                    let (mut items, times) = (way.items.clone(), Rc::clone(&way.times));
                    let span = fact.span;
                    items.push((on.cond, fact));
                    let mut on = TracedState { state, start: Rc::clone(&way.start), items, times };
                    on.evaluated(span);
                    waiting.push(on);
                }
            }
            Side::Infeasible => {
                if let Some(rank) = rank {
                    self.block(way, rank, Some(on.cond), fact);
                }
            }
            Side::Unknown(_) => self.complete = false,
        }
    }

    /// Returns the rank of a state that has just taken a side and reached these goals.
    fn rank(&mut self, state: &State, hits: &[GoalHit]) -> Option<u32> {
        if hits.iter().any(|hit| self.wanted.contains(&hit.goal)) {
            return Some(0);
        }
        self.distance(state).map(|distance| distance + 1)
    }

    fn distance(&self, state: &State) -> Option<u32> {
        self.executor.goal_tracker.coverage.as_ref().and_then(|coverage| self.reach.distance_of(state, coverage))
    }

    /// Records the other side of a branch on a constant, if the goal needs it.
    fn check_constant_branch(&mut self, way: &TracedState) {
        let frame = way.state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        if frame.inst < block.insts.len() {
            return;
        }
        let TermKind::Branch { cond, then_block, else_block, role, tag: Some(tag) } = block.terminator.kind else {
            return;
        };
        let Value::Int(Scalar::Const(value)) = frame.value(cond) else { return };
        let (taken, span) = (value == 0, block.terminator.span);
        self.sides += 1;
        let cond = self.executor.terms.truth(!taken);
        let fork = OutcomeFork::Branch { cond, then_block, else_block, role, tag: Some(tag), span };
        let (mut state, path) = (way.state.clone(), way.state.path.clone());
        let stepped = self.executor.take_outcome(&mut state, &fork, Choice::Branch(taken), path);
        if let Some(rank) = self.rank(&state, &stepped.hits) {
            let fact = Fact { fixed: true, ..self.fact(way, (role, Some(tag)), span, taken) };
            self.block(way, rank, None, fact);
        }
    }

    /// Does the same for a switch.
    fn check_constant_switch(&mut self, way: &TracedState) {
        let frame = way.state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        if frame.inst < block.insts.len() {
            return;
        }
        let TermKind::Switch { value, role, .. } = &block.terminator.kind else { return };
        let Value::Int(Scalar::Const(_)) = frame.value(*value) else { return };
        let span = block.terminator.span;
        let mut taken = way.state.clone();
        if !matches!(self.executor.step(&mut taken).flow, Flow::Next) {
            return;
        }
        let fork = OutcomeFork::Switch { targets: Vec::new(), role: *role, span };
        for target in successors(&block.terminator.kind) {
            if target == taken.top().block {
                continue;
            }
            self.sides += 1;
            let (mut state, path) = (way.state.clone(), way.state.path.clone());
            let stepped = self.executor.take_outcome(&mut state, &fork, Choice::Arm(target.index() as u32), path);
            if let Some(rank) = self.rank(&state, &stepped.hits) {
                let fact = Fact { fixed: true, ..self.fact(way, (*role, None), span, true) };
                self.block(way, rank, None, fact);
            }
        }
    }

    fn block(&mut self, way: &TracedState, rank: u32, term: Option<TermId>, fact: Fact) {
        /// The maximum number of infeasible sides that are kept.
        const MAX_CONFLICTS_KEPT: usize = 16;
        let best = self.found.iter().map(|blocked| blocked.rank).min();
        if best.is_some_and(|best| best < rank) {
            return;
        }
        self.found.retain(|blocked| blocked.rank <= rank);
        if self.found.len() < MAX_CONFLICTS_KEPT {
            let path = way.state.path.constraints();
            let start = Rc::clone(&way.start);
            self.found.push(Blocked { rank, start, items: way.items.clone(), path, step: (term, fact) });
        }
    }

    fn conflicts(&mut self) -> Vec<Conflict> {
        let mut conflicts: Vec<Conflict> = Vec::new();
        for blocked in std::mem::take(&mut self.found) {
            let conflict = self.minimise(blocked);
            if !conflicts.contains(&conflict) {
                conflicts.push(conflict);
            }
        }
        conflicts.sort_by(|a, b| (a.facts.len(), &a.facts).cmp(&(b.facts.len(), &b.facts)));
        conflicts
    }

    fn minimise(&mut self, blocked: Blocked) -> Conflict {
        let Blocked { rank, start, items, path, step: (term, fact) } = blocked;
        let at_goal = rank == 0;
        let Some(term) = term else {
            let mut facts: Vec<Fact> = items.into_iter().map(|(_, fact)| fact).collect();
            facts.push(fact);
            return Conflict { facts, minimal: false, at_goal };
        };
        let unwritten =
            |value| Fact { span: Span::none(), text: String::new(), value, fixed: false, label: None, time: 0 };
        // Constraints without a source condition: those of all runs as one unit, and only if needed those of this path.
        let mut pieces: Vec<(Vec<TermId>, Fact)> = vec![(start.to_vec(), unwritten(true))];
        pieces.extend(items.into_iter().map(|(term, fact)| (vec![term], fact)));
        if !self.contradicts(&pieces, term) {
            pieces.insert(1, (path, unwritten(true)));
        }
        let minimal = self.contradicts(&pieces, term);
        let mut index = 0;
        while minimal && index < pieces.len() {
            let left_out = pieces.remove(index);
            if !self.contradicts(&pieces, term) {
                pieces.insert(index, left_out);
                index += 1;
            }
        }
        let mut facts: Vec<Fact> = pieces.into_iter().map(|(_, fact)| fact).collect();
        facts.push(fact);
        // After the deadline no constraint was dropped any more.
        let minimal = minimal && !self.out_of_time();
        Conflict { facts, minimal, at_goal }
    }

    fn contradicts(&mut self, pieces: &[(Vec<TermId>, Fact)], last: TermId) -> bool {
        let mut path = Path::new();
        for term in pieces.iter().flat_map(|(terms, _)| terms.iter().copied()).chain([last]) {
            match self.ask(&path, term) {
                Side::Feasible(next) => path = next,
                Side::Infeasible => return true,
                Side::Unknown(_) => return false,
            }
        }
        false
    }
}
