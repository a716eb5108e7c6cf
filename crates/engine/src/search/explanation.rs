//! Why a goal can't be reached: the conditions on the way to it that contradict each other.
//!
//! States are followed as in an exploration, but what is remembered are the *infeasible* sides of branches from which the
//! goal could be reached by control flow, or which would reach it. The constraints that rule such a side out are
//! minimised by deletion: leave one out, and if the rest is still contradictory, it was not needed. Each constraint knows
//! the source condition that it comes from.
//!
//! This explains; it proves nothing. A verdict is the business of `explore.rs` and `prover.rs`.

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
use crate::state::{PathEnd, Purpose, State};
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Goal, GoalId};
use touchstone_ir::{BranchRole, CondTag, FuncId, InstKind, Module, TermKind, successors};
use touchstone_solver::{Path, Side, TermId};

/// A condition on the way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fact {
    /// Where it stands.
    pub span: Span,
    /// Its source text; empty for what the source does not write: types, ranges, the precondition, checks on the way.
    pub text: String,
    /// Which value the way needs.
    pub value: bool,
    /// On this way it has the other value whatever the inputs are.
    pub fixed: bool,
    /// It is the predicate of this goal.
    pub label: Option<GoalId>,
    /// How many times control was here on this way, this time included: an iteration of a loop, or a call. 0 if nobody counts.
    pub time: u32,
}

/// Conditions that contradict each other; the last one is the step toward the goal that no input takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// In the order of the way.
    pub facts: Vec<Fact>,
    /// None of them can be left out.
    pub minimal: bool,
    /// The last condition would reach the goal itself, not only come closer.
    pub at_goal: bool,
}

/// What was looked at, and what was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// The conflicts closest to the goal, each once, the shortest first.
    pub conflicts: Vec<Conflict>,
    /// Sides of branches that were looked at.
    pub sides: u64,
    /// Whether everything was looked at.
    pub complete: bool,
}

/// Looks for what keeps runs of `func` from the goals that are not closed.
pub fn explain(module: &Module, func: FuncId, goals: Goals, config: &Config) -> Explanation {
    /// More sides than this are not looked at.
    const MAX_BRANCH_SIDES: u64 = 20_000;
    // The driver gets a label's condition only where it would fork on it.
    let config = Config { labels: Labels::Direct, ..config.clone() };
    let wanted = goals.watch.goals.ids().filter(|goal| !goals.closed.contains(goal)).collect();
    let coverage = Coverage::new(goals.watch, &goals.closed, Aim::Goals);
    let reach = GoalDistances::new(module, &coverage);
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
    // What the executor gave up on the way was not followed either.
    let complete = search.complete && !search.executor.ledger.gave_up();
    let conflicts = search.conflicts();
    Explanation { conflicts, sides: search.sides, complete }
}

/// A state with the conditions on its way.
#[derive(Clone)]
struct TracedState {
    state: State,
    /// What every run with this shape of inputs satisfies.
    start: Rc<[TermId]>,
    items: Vec<(TermId, Fact)>,
    /// How many times each condition was evaluated.
    times: Rc<BTreeMap<Span, u32>>,
}

impl TracedState {
    /// Which evaluation of a condition comes next.
    fn time(&self, span: Span) -> u32 {
        self.times.get(&span).map_or(1, |before| before + 1)
    }

    fn evaluated(&mut self, span: Span) {
        *Rc::make_mut(&mut self.times).entry(span).or_insert(0) += 1;
    }
}

/// A side that no input takes.
struct Blocked {
    /// 0 if it would reach the goal, else the distance from there plus one.
    rank: u32,
    /// What every run with this shape of inputs satisfies.
    start: Rc<[TermId]>,
    /// Constraints before it, source conditions among them.
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
    /// Nothing was given up so far.
    complete: bool,
}

impl Search<'_> {
    /// Where runs can start.
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

    /// Labels that hold nowhere on this way.
    fn check_labels(&mut self, way: &TracedState, goals: &[GoalId], span: Span) {
        for &goal in goals.iter().filter(|goal| self.wanted.contains(goal)).collect::<Vec<_>>() {
            // What must be decided first comes again when it is.
            let Ok(conditions) = self.executor.label_conditions(&way.state, vec![goal]) else { continue };
            let Some((_, cond)) = conditions.into_iter().next() else { continue };
            self.sides += 1;
            let fact = Fact { span, text: String::new(), value: true, fixed: false, label: Some(goal), time: 0 };
            self.check_step(way, cond, fact);
        }
    }

    /// A condition that would reach the goal: remembered if no input of this way satisfies it.
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

    /// Labels of the point that comes next.
    fn check_point(&mut self, way: &TracedState) {
        let frame = way.state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        let Some(inst) = block.insts.get(frame.inst) else { return };
        let InstKind::Point { point } = inst.kind else { return };
        let goals = match &self.executor.goal_tracker.coverage {
            Some(coverage) => coverage.watch.point(frame.func, point).to_vec(),
            None => Vec::new(),
        };
        self.check_labels(way, &goals, inst.span);
    }

    fn wants_errors(&self) -> bool {
        let goals = self.executor.goal_tracker.coverage.as_ref().map(|coverage| &coverage.watch.goals);
        goals.is_some_and(|goals| self.wanted.iter().any(|goal| matches!(goals[*goal], Goal::Error { .. })))
    }

    fn out_of_time(&self) -> bool {
        self.executor.config.deadline.is_over()
    }

    /// Checks that the last step made, as it stood before them: one that can't fail keeps an error from happening.
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

    /// Follows one way to its end; what it doesn't take waits. False if something was given up.
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
                // Labels were looked at before the step.
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

    /// An input pointer is decided. False if something was given up.
    fn shapes(
        &mut self,
        way: &TracedState,
        id: LazyPointerId,
        purpose: Purpose,
        waiting: &mut Vec<TracedState>,
    ) -> bool {
        let mut all = true;
        for shape in self.executor.pointer_targets(&way.state, id, purpose) {
            match shape {
                // What is assumed of the new shape is assumed of all its runs.
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

    /// The place of the branch or switch that comes next.
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

    /// One outcome: followed if some input has it, remembered if none does and it leads to the goal.
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

    /// How close a state is that has just taken a side and reached these goals.
    fn rank(&mut self, state: &State, hits: &[GoalHit]) -> Option<u32> {
        if hits.iter().any(|hit| self.wanted.contains(&hit.goal)) {
            return Some(0);
        }
        self.distance(state).map(|distance| distance + 1)
    }

    fn distance(&self, state: &State) -> Option<u32> {
        self.executor.goal_tracker.coverage.as_ref().and_then(|coverage| self.reach.distance_of(state, coverage))
    }

    /// A branch on a value that the way fixes has no second side to ask for; it may be the one that the goal needs.
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

    /// The same for a switch.
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
        /// Only the closest are kept.
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
        // What the source does not write: of all runs as one piece, and, only if needed, of this way.
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
        // After the deadline nothing was left out any more.
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
