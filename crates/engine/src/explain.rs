//! Why a goal can't be reached: the conditions on the way to it that contradict each other.
//!
//! States are followed as in an exploration, but what is remembered are the *infeasible* sides of branches from which the
//! goal could be reached by control flow, or which would reach it. The constraints that rule such a side out are
//! minimised by deletion: leave one out, and if the rest is still contradictory, it was not needed. Each constraint knows
//! the source condition that it comes from.
//!
//! This explains; it proves nothing. A verdict is the business of `explore.rs` and `prover.rs`.

use crate::config::{Config, Entry, Labels};
use crate::coverage::Coverage;
use crate::executor::Executor;
use crate::explore::Aim;
use crate::explore::Goals;
use crate::memory::Memory;
use crate::reach::Reach;
use crate::state::{State, Stop};
use crate::step::Flow;
use crate::value::{Scalar, Value};
use std::rc::Rc;
use std::time::Instant;
use touchstone_base::Span;
use touchstone_criteria::GoalId;
use touchstone_ir::{CondTag, FuncId, Module, PathHash, TermKind};
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
    const MOST_SIDES: u64 = 20_000;
    // The driver gets a label's condition only where it would fork on it.
    let config = Config { labels: Labels::Direct, ..config.clone() };
    let mut executor = Executor::new(module, &config);
    let wanted = goals.watch.goals.ids().filter(|goal| !goals.closed.contains(goal)).collect();
    let coverage = Coverage::new(goals.watch, &goals.closed, Aim::Goals);
    let reach = Reach::new(module, &coverage);
    executor.coverage = Some(coverage);
    let mut search = Search { executor, reach, wanted, found: Vec::new(), sides: 0, start: Vec::new() };
    let mut waiting = search.first(func);
    let mut complete = true;
    while let Some(way) = waiting.pop() {
        if search.sides > MOST_SIDES || config.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            complete = false;
            break;
        }
        complete &= search.follow(way, &mut waiting);
    }
    let conflicts = search.conflicts();
    Explanation { conflicts, sides: search.sides, complete }
}

/// A state with the conditions on its way.
#[derive(Clone)]
struct Way {
    state: State,
    items: Vec<(TermId, Fact)>,
}

/// A side that no input takes.
struct Blocked {
    /// 0 if it would reach the goal, else the distance from there plus one.
    rank: u32,
    /// Constraints before it, source conditions among them.
    items: Vec<(TermId, Fact)>,
    /// All constraints of the path.
    path: Vec<TermId>,
    step: (Option<TermId>, Fact),
}

struct Search<'m> {
    executor: Executor<'m>,
    reach: Reach,
    wanted: Vec<GoalId>,
    found: Vec<Blocked>,
    sides: u64,
    /// What every run satisfies.
    start: Vec<TermId>,
}

impl Search<'_> {
    fn first(&mut self, func: FuncId) -> Vec<Way> {
        let executor = &mut self.executor;
        let proper = executor.terms.truth(true);
        let mut state = State {
            frames: Vec::new(),
            memory: Memory::default(),
            path: Path::new(),
            hash: PathHash::new(),
            trail: None,
            depth: 0,
            steps: 0,
            inputs: Rc::default(),
            fixed: Rc::default(),
            proper,
            pending: Rc::default(),
            returned: None,
        };
        if executor.globals(&mut state, func).is_err() {
            return Vec::new();
        }
        let arguments = match executor.config.entry {
            Entry::Function => executor.arguments(&mut state, func).unwrap_or_default(),
            Entry::Program => executor.program_arguments(&mut state, func),
        };
        let mut ways = Vec::new();
        let mut pending = vec![state];
        while let Some(mut state) = pending.pop() {
            match self.precondition(&mut state, func, &arguments) {
                Ok(()) => {
                    self.start = state.path.constraints();
                    let entered = self.executor.enter(&mut state, func, arguments.clone(), None);
                    self.executor.hits.clear();
                    if entered.is_ok() {
                        ways.push(Way { state, items: Vec::new() });
                    }
                }
                Err(Stop::Force(id)) => pending.extend(self.executor.force(&state, id).into_iter().flatten()),
                Err(_) => {}
            }
        }
        ways
    }

    fn precondition(&mut self, state: &mut State, func: FuncId, arguments: &[Value]) -> Result<(), Stop> {
        let module = self.executor.module;
        let name = self.executor.config.precondition.as_ref();
        let Some(pre) = name.and_then(|name| module.function_named(name)) else { return Ok(()) };
        let hidden = usize::from(module.functions[func].aggregate_result).min(arguments.len());
        let allowed = self.executor.fold_truth(state, pre, arguments[hidden..].to_vec())?;
        self.executor.assume_all(state, &[allowed])
    }

    /// Follows one way to its end; what it doesn't take waits. False if something was given up.
    fn follow(&mut self, mut way: Way, waiting: &mut Vec<Way>) -> bool {
        loop {
            self.look_at_fixed_branch(&way);
            let flow = self.executor.step(&mut way.state);
            self.executor.hits.clear();
            self.executor.ended.clear();
            match flow {
                Ok(Flow::Next) => {}
                Ok(Flow::Branch { cond, then_block, else_block, tag, span }) => {
                    let negated = self.executor.terms.not(cond);
                    for (taken, term) in [(true, cond), (false, negated)] {
                        let fact = self.fact(&way.state, tag, span, taken);
                        let go = |search: &mut Self, state: &mut State| {
                            search.executor.take_branch(state, tag, taken, then_block, else_block, span)
                        };
                        self.side(&way, term, fact, &go, waiting);
                    }
                    return true;
                }
                Ok(Flow::Switch { targets, span }) => {
                    for (target, term) in targets {
                        let fact = self.fact(&way.state, None, span, true);
                        let go = |search: &mut Self, state: &mut State| search.executor.take_arm(state, target, span);
                        self.side(&way, term, fact, &go, waiting);
                    }
                    return true;
                }
                Ok(Flow::Labels { forks, span }) => {
                    for (goal, cond) in forks {
                        if !self.wanted.contains(&goal) {
                            continue;
                        }
                        self.sides += 1;
                        let fact = Fact { span, text: String::new(), value: true, fixed: false, label: Some(goal) };
                        if matches!(self.ask(&way.state.path, cond), Side::Infeasible) {
                            self.block(&way, 0, Some(cond), fact);
                        }
                    }
                }
                Err(Stop::Force(id)) => {
                    let states = self.executor.force(&way.state, id).into_iter();
                    let before = waiting.len();
                    waiting.extend(states.flatten().map(|state| Way { state, items: way.items.clone() }));
                    return waiting.len() > before;
                }
                Err(Stop::Enumerate(_)) => return false,
                Err(Stop::End(end)) => return !matches!(end, crate::state::PathEnd::Incomplete { .. }),
            }
            if way.state.returned.is_some() || self.distance(&way.state).is_none() {
                return true;
            }
        }
    }

    fn ask(&mut self, path: &Path, cond: TermId) -> Side {
        self.executor.solver.assume(&mut self.executor.terms, path, cond)
    }

    fn fact(&self, state: &State, tag: Option<CondTag>, span: Span, value: bool) -> Fact {
        let function = &self.executor.module.functions[state.top().func];
        let text = match tag {
            Some(tag) => function.decisions[tag.decision].conditions[tag.condition].text.clone(),
            None => "this arm of the switch".to_string(),
        };
        Fact { span, text, value, fixed: false, label: None }
    }

    /// One side of a branch: followed if it is feasible, remembered if it is not and leads to the goal.
    fn side(
        &mut self,
        way: &Way,
        term: TermId,
        fact: Fact,
        go: &dyn Fn(&mut Self, &mut State) -> Result<(), Stop>,
        waiting: &mut Vec<Way>,
    ) {
        self.sides += 1;
        let side = self.ask(&way.state.path, term);
        let mut state = way.state.clone();
        let on = go(self, &mut state);
        let rank = self.rank(&state);
        match side {
            Side::Feasible(path) => {
                state.path = path;
                if on.is_ok() && rank.is_some() {
                    let mut items = way.items.clone();
                    items.push((term, fact));
                    waiting.push(Way { state, items });
                }
            }
            Side::Infeasible => {
                if let Some(rank) = rank {
                    self.block(way, rank, Some(term), fact);
                }
            }
            Side::Unknown(_) => {}
        }
    }

    /// How close a state is that has just taken a side.
    fn rank(&mut self, state: &State) -> Option<u32> {
        let hits = std::mem::take(&mut self.executor.hits);
        if hits.iter().any(|hit| self.wanted.contains(&hit.goal)) {
            return Some(0);
        }
        self.distance(state).map(|distance| distance + 1)
    }

    fn distance(&self, state: &State) -> Option<u32> {
        self.executor.coverage.as_ref().and_then(|coverage| self.reach.of(state, coverage))
    }

    /// A branch on a value that the way fixes has no second side to ask for; it may be the one that the goal needs.
    fn look_at_fixed_branch(&mut self, way: &Way) {
        let frame = way.state.top();
        let block = &self.executor.module.functions[frame.func].blocks[frame.block];
        if frame.inst < block.insts.len() {
            return;
        }
        let TermKind::Branch { cond, then_block, else_block, tag: Some(tag) } = block.terminator.kind else { return };
        let Value::Int(Scalar::Const(value)) = frame.value(cond) else { return };
        let (taken, span) = (value == 0, block.terminator.span);
        self.sides += 1;
        let mut state = way.state.clone();
        let _ = self.executor.take_branch(&mut state, Some(tag), taken, then_block, else_block, span);
        if let Some(rank) = self.rank(&state) {
            let fact = Fact { fixed: true, ..self.fact(&way.state, Some(tag), span, taken) };
            self.block(way, rank, None, fact);
        }
    }

    fn block(&mut self, way: &Way, rank: u32, term: Option<TermId>, fact: Fact) {
        /// Only the closest are kept.
        const MOST: usize = 16;
        let best = self.found.iter().map(|blocked| blocked.rank).min();
        if best.is_some_and(|best| best < rank) {
            return;
        }
        self.found.retain(|blocked| blocked.rank <= rank);
        if self.found.len() < MOST {
            let path = way.state.path.constraints();
            self.found.push(Blocked { rank, items: way.items.clone(), path, step: (term, fact) });
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
        let Blocked { rank, items, path, step: (term, fact) } = blocked;
        let at_goal = rank == 0;
        let Some(term) = term else {
            let mut facts: Vec<Fact> = items.into_iter().map(|(_, fact)| fact).collect();
            facts.push(fact);
            return Conflict { facts, minimal: false, at_goal };
        };
        let unwritten = |value| Fact { span: Span::none(), text: String::new(), value, fixed: false, label: None };
        // What the source does not write: of all runs as one piece, and, only if needed, of this way.
        let mut pieces: Vec<(Vec<TermId>, Fact)> = vec![(self.start.clone(), unwritten(true))];
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
