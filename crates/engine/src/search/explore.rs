//! Exploration: every feasible path, depth first, from an explicit worklist.

use crate::config::{Aliases, Config, Labels, Search};
use crate::confirm::case::Case;
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Policy;
use crate::exec::instructions::fork::{Fork, OutcomeFork, SmallerValues, Way};
use crate::exec::instructions::step::{Flow, Stepped};
use crate::goals::coverage::{Aim, Coverage};
use crate::goals::reach::Reach;
use crate::goals::watching::Hit;
use crate::search::found::{Found, Goals, Wanted};
use crate::search::frontier::{Frontier, Parking, Waiting};
use crate::search::prefix::find_parked;
use crate::search::pressure::{HEAVY, Pressure};
use crate::state::trail::Choice;
use crate::state::value::{LazyId, Value};
use crate::state::{PathEnd, Purpose, State, Stop, Unfixed, unanswered};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use touchstone_base::Span;
use touchstone_criteria::{
    Bound, Criterion, FunctionResult, Goal, GoalId, Incomplete, ObjectiveCounts, PathCounts, PathsOf, Replay,
    SolverUse, TestCase, Unmakeable, Unsupported,
};
use touchstone_ir::{FuncId, Module};
use touchstone_solver::{Path, Side, TermId, Values};

/// What a term and a state that waits take, roughly.
const BYTES_A_TERM: u64 = 200;
const BYTES_A_STATE: u64 = 4096;

/// The clock is looked at once in so many steps.
const STEPS_A_LOOK: u32 = 4096;

/// A state that goes so many steps without a choice may be in a loop without end: others come first.
const LONG: u64 = 50_000;

/// How far away from everything such a state is.
const FAR: u32 = u32::MAX;

/// A state that runs start in, and the arguments of the call.
pub(super) type StartingState = (State, Vec<Value>);

/// What becomes of a state.
enum Goes {
    On,
    /// Its path has ended, or others took its place.
    Nowhere,
}

/// What an exploration tells while it runs.
pub enum Event<'a> {
    /// A path has its test.
    Test(&'a TestCase),
    /// Something moved; sent often.
    Progress(Progress),
}

/// Figures for a progress display.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Paths so far.
    pub paths: u64,
    /// States that wait.
    pub open: usize,
    /// Tests so far.
    pub tests: u64,
    /// Share of the time spent in the solver, 0 to 1.
    pub solver_share: f64,
}

/// Consumes events.
pub trait Sink {
    /// Something happened.
    fn event(&mut self, event: Event<'_>);

    /// Whether it wants to be told of paths as cases.
    fn wants_cases(&self) -> bool {
        false
    }

    /// A path that ended, as a case of its function.
    fn case(&mut self, case: Case) {
        let _ = case;
    }

    /// Why nobody can run this test. What it reaches stays open, so that other inputs are looked for; its path is given up.
    fn refuses(&self, test: &TestCase) -> Option<Unmakeable> {
        let _ = test;
        None
    }
}

/// Explores `func` and tells `sink` one test for every feasible path.
pub fn explore(module: &Module, func: FuncId, config: &Config, sink: &mut dyn Sink) -> FunctionResult {
    search(module, func, Wanted::Paths, config, sink, 0).result
}

/// Explores `func` until every goal has a test or nothing is left to explore.
pub fn explore_goals(module: &Module, func: FuncId, goals: Goals, config: &Config, sink: &mut dyn Sink) -> Found {
    explore_goals_after(module, func, goals, config, sink, 0)
}

/// The same, where `tests` were made before.
pub fn explore_goals_after(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> Found {
    search(module, func, Wanted::Goals(goals), config, sink, tests)
}

/// Explores `func` once more, with what [`Config::growth`] says, for goals that are still open; `tests` were made before. Only
/// adds tests: what it does not find says nothing.
pub fn explore_further(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> Found {
    run(module, func, Wanted::Goals(goals), config, sink, tests).0
}

/// Explores `func` for all its paths and watches goals on the way.
pub fn explore_paths_and_goals(
    module: &Module,
    func: FuncId,
    goals: Goals,
    config: &Config,
    sink: &mut dyn Sink,
) -> Found {
    search(module, func, Wanted::PathsAndGoals(goals), config, sink, 0)
}

/// Explores; `tests` of the function have been made before.
pub(crate) fn search(
    module: &Module,
    func: FuncId,
    wanted: Wanted,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> Found {
    let watch = wanted.goals().map(|goals| Rc::clone(&goals.watch));
    let (mut found, left_out) = run(module, func, wanted, config, sink, tests);
    if let Some(watch) = watch.filter(|_| found.result.exhaustive) {
        // What only a wider world reaches is not infeasible.
        let found_wider = left_out || config.paths != PathsOf::Any;
        if found_wider && !found.open.is_empty() {
            found.doubted = crate::search::wide::look(module, func, &watch, &found.open, config);
        }
        found.excluded = found.open.iter().copied().filter(|goal| !found.doubted.contains_key(goal)).collect();
        found.result.doubt(found.doubted.values().flatten());
    }
    found
}

/// One exploration, and whether it left out something that is not in tests.
fn run(
    module: &Module,
    func: FuncId,
    wanted: Wanted,
    config: &Config,
    sink: &mut dyn Sink,
    tests: u64,
) -> (Found, bool) {
    let mut exploration = Exploration::new(module, func, wanted, config, sink);
    exploration.tests = tests;
    exploration.begin();
    exploration.turn(u64::MAX);
    exploration.finish();
    (exploration.found(), exploration.executor.ledger.left_something_out())
}

pub(super) struct Exploration<'m, 's> {
    pub executor: Executor<'m>,
    aim: Aim,
    /// Distances to open goals, once they are needed.
    reach: Option<Reach>,
    func: FuncId,
    sink: &'s mut dyn Sink,
    worklist: Frontier,
    /// Paths that have their test.
    seen: FxHashSet<u64>,
    /// What the function under test was called with; the oracle is called with the same.
    arguments: Vec<Value>,
    /// The states that runs start in, once they are made.
    starts: Option<Rc<[StartingState]>>,
    tests: u64,
    paths: PathCounts,
    started: Instant,
    ticks: u32,
    /// The bound that ended everything.
    stopped: Option<Bound>,
    pressure: Pressure,
}

impl<'m, 's> Exploration<'m, 's> {
    pub fn new(
        module: &'m Module,
        func: FuncId,
        wanted: Wanted,
        config: &'m Config,
        sink: &'s mut dyn Sink,
    ) -> Exploration<'m, 's> {
        let aim = wanted.aim();
        let coverage = wanted.goals().map(|goals| Coverage::new(Rc::clone(&goals.watch), &goals.closed, aim));
        let executor = Executor::new(module, config, Policy::TESTS, coverage);
        // Elsewhere a path has forks that are no choices, or that depend on which labels were open.
        let labels = |goals: &Goals| goals.watch.goals.values().any(|goal| matches!(goal, Goal::Label { .. }));
        let parking = match executor.config.aliases {
            Aliases::Late if !wanted.goals().is_some_and(labels) => Parking::Beyond(executor.config.waiting_states),
            _ => Parking::Never,
        };
        let worklist = Frontier::new(executor.config.search, executor.config.seed, parking);
        Exploration {
            executor,
            aim,
            reach: None,
            func,
            sink,
            worklist,
            seen: FxHashSet::default(),
            arguments: Vec::new(),
            starts: None,
            tests: 0,
            paths: PathCounts::default(),
            started: Instant::now(),
            ticks: 0,
            stopped: None,
            pressure: Pressure::default(),
        }
    }

    /// Puts the states on the worklist that a run can start in.
    pub fn begin(&mut self) {
        match self.executor.initial(self.func) {
            // The last one is explored first.
            Ok(starts) => {
                self.starts = Some(starts.clone().into());
                for (state, arguments) in starts.into_iter().rev() {
                    self.arguments.clone_from(&arguments);
                    self.start(state, &arguments);
                }
            }
            Err(Stop::End(PathEnd::Incomplete { why, span })) => self.give_up(why, span, 1),
            Err(_) => {}
        }
    }

    /// Puts a state of an earlier exploration on the worklist.
    pub fn go_on_from(&mut self, state: State, arguments: Vec<Value>) {
        self.arguments = arguments;
        self.put(state);
    }

    /// Follows so many states, or until nothing waits, nothing is wanted any more, or a bound is met.
    pub fn turn(&mut self, turns: u64) {
        for _ in 0..turns {
            let Some(waiting) = self.worklist.pop(self.tests) else { return };
            let Some(state) = self.state_of(waiting) else { continue };
            if self.out_of_time() {
                self.worklist.push(state, 0);
                return;
            }
            if self.all_covered() {
                // What still waits is not wanted.
                self.worklist.clear();
                return;
            }
            // Goals may have been covered since the state was put aside.
            if self.distance(&state).is_some() {
                self.follow(state);
            }
            if self.stopped.is_some() {
                return;
            }
            self.progress();
        }
    }

    /// The states that wait.
    pub fn waiting(&mut self) -> Vec<State> {
        let waiting: Vec<Waiting> = std::iter::from_fn(|| self.worklist.pop(self.tests)).collect();
        waiting.into_iter().filter_map(|waiting| self.state_of(waiting)).collect()
    }

    /// The state that waits. One that can't be found again was given up for want of memory.
    fn state_of(&mut self, waiting: Waiting) -> Option<State> {
        match waiting {
            Waiting::State(state) => Some(*state),
            Waiting::Parked(parked) => {
                let starts = self.starts();
                let state = find_parked(&mut self.executor, self.func, &starts, &parked);
                if state.is_none() {
                    let span = self.executor.module.functions[self.func].span;
                    self.give_up(Incomplete::Bound(Bound::Memory), span, 1);
                }
                state
            }
        }
    }

    /// The states that runs start in, if there are any.
    fn starts(&mut self) -> Rc<[StartingState]> {
        if let Some(known) = &self.starts {
            return Rc::clone(known);
        }
        let starts: Rc<[StartingState]> = self.executor.initial(self.func).unwrap_or_default().into();
        Rc::clone(self.starts.insert(starts))
    }

    /// What it found until now.
    pub fn found(&self) -> Found {
        let coverage = self.executor.watching.coverage.as_ref();
        let ledger = &self.executor.ledger;
        Found {
            open: coverage.map(|coverage| coverage.open_goals().collect()).unwrap_or_default(),
            shortage: ledger.shortage.clone(),
            labels_asked: ledger.labels_asked,
            labels_found: ledger.labels_found,
            ..Found::without_goals(self.result())
        }
    }

    /// Asks what waited for the end, and says what a bound left over.
    pub fn finish(&mut self) {
        let unasked = self.ask_postponed();
        if let Some(bound) = self.stopped {
            let open = self.worklist.len() as u64 + unasked;
            if open > 0 {
                let span = self.executor.module.functions[self.func].span;
                self.give_up(Incomplete::Bound(bound), span, open);
            }
        }
    }

    /// Asks what was put off and is still open; gives the number of questions that a bound leaves unasked.
    fn ask_postponed(&mut self) -> u64 {
        let mut unasked = 0;
        for mut waiting in std::mem::take(&mut self.executor.watching.postponed) {
            if !self.executor.watching.wants(waiting.goal) {
                continue;
            }
            if self.stopped.is_some() || self.out_of_time() {
                unasked += 1;
                continue;
            }
            let asked = self.executor.ask(&waiting);
            self.take_hits(&mut waiting.state, asked.hits);
        }
        unasked
    }

    /// Applies the precondition (deciding input pointers that it looks at) and puts the first states on the worklist.
    fn start(&mut self, state: State, arguments: &[Value]) {
        let mut pending = vec![state];
        let mut first = Vec::new();
        while let Some(mut state) = pending.pop() {
            let begun = self.executor.begin(&mut state, self.func, arguments);
            match begun.flow {
                Flow::Next => {
                    self.take_hits(&mut state, begun.hits);
                    first.push(state);
                }
                Flow::Fork(Fork::Shape { id, purpose }) => {
                    pending.extend(self.shapes(&state, id, purpose).into_iter().rev());
                }
                Flow::Fork(Fork::Value(unfixed)) => pending.extend(self.fixed(&state, unfixed)),
                Flow::End(PathEnd::Incomplete { why, span }) => self.give_up(why, span, 1),
                Flow::Fork(_) | Flow::End(_) => {}
            }
        }
        // The first shape is explored first.
        for state in first.into_iter().rev() {
            self.put(state);
        }
    }

    /// Puts a state aside, unless it can reach no open goal.
    fn put(&mut self, state: State) {
        if let Some(distance) = self.distance(&state) {
            self.worklist.push(state, distance);
        }
    }

    /// How far the state is from what is still wanted; `None` if it can be given up without loss.
    fn distance(&mut self, state: &State) -> Option<u32> {
        let coverage = match &self.executor.watching.coverage {
            Some(coverage) if self.prunes() => coverage,
            _ => return Some(0),
        };
        if !state.pending.is_empty() {
            return Some(0);
        }
        let reach = self.reach.get_or_insert_with(|| Reach::new(self.executor.module, coverage));
        reach.update(coverage);
        reach.of(state, coverage)
    }

    /// Direct and tight search are the paper's baselines: they see all paths to their ends.
    fn prunes(&self) -> bool {
        self.aim == Aim::Goals && self.executor.config.labels == Labels::Idl
    }

    /// Everything that was wanted is covered.
    fn all_covered(&self) -> bool {
        self.prunes() && self.executor.watching.coverage.as_ref().is_some_and(|coverage| coverage.remaining() == 0)
    }

    /// Makes a test for every goal that a step reached and that is still open.
    fn take_hits(&mut self, state: &mut State, hits: Vec<Hit>) {
        for hit in hits {
            let Some(coverage) = &self.executor.watching.coverage else { return };
            // What waits for the end of the path already needs no second try.
            if !coverage.is_open(hit.goal) || (hit.path.is_none() && state.pending.contains(&hit.goal)) {
                continue;
            }
            // The path's own test covers what the path reaches; only a label may need other inputs.
            if self.aim == Aim::Paths && hit.path.is_none() {
                Rc::make_mut(&mut state.pending).push(hit.goal);
                continue;
            }
            let model = self.executor.fitting_model(state, hit.path.as_ref().unwrap_or(&state.path));
            let id = self.next_id();
            match self.executor.goal_test(state, &model, self.func, hit.goal, id) {
                Some(test) => {
                    if !test.covers.contains(&hit.goal) {
                        // Engine and interpreter disagree: nothing may be called infeasible on this ground.
                        let span = self.place(state);
                        self.give_up(Unsupported::Disagreement(hit.goal).into(), span, 1);
                    }
                    // What nobody can run may reach the goal with another end.
                    if !self.emit(test) && hit.path.is_none() {
                        Rc::make_mut(&mut state.pending).push(hit.goal);
                    }
                }
                // Only the end of the path can tell whether these inputs are a test.
                None if hit.path.is_none() => Rc::make_mut(&mut state.pending).push(hit.goal),
                None => {
                    let span = self.place(state);
                    self.give_up(Unsupported::NoProperEnd(hit.goal).into(), span, 1);
                }
            }
        }
    }

    fn next_id(&self) -> String {
        format!("{}_{}", identifier(&self.executor.module.functions[self.func].name), self.tests + 1)
    }

    /// A test is found: what it reaches is covered (Bardin et al., iterative deletion by concrete runs). Whether it is taken.
    fn emit(&mut self, test: TestCase) -> bool {
        if let Some(why) = self.sink.refuses(&test) {
            let span = self.executor.module.functions[self.func].span;
            self.paths.explored = self.paths.explored.saturating_sub(1);
            self.give_up(Unsupported::Unmakeable(why).into(), span, 1);
            return false;
        }
        // What such a test would cover is not covered, and not impossible either.
        if matches!(test.replayed, Replay::Disagreed(_)) {
            self.give_up_test(Unsupported::InterpreterDisagrees.into());
        }
        self.tests += 1;
        if let Some(coverage) = &mut self.executor.watching.coverage {
            for goal in &test.covers {
                coverage.cover(*goal);
            }
        }
        self.sink.event(Event::Test(&test));
        self.progress();
        if self.executor.config.max_paths.is_some_and(|limit| self.tests >= limit) {
            self.stopped.get_or_insert(Bound::MaxPaths);
        }
        true
    }

    /// Follows one state until it ends; sides that it doesn't take go to the worklist.
    fn follow(&mut self, mut state: State) {
        let begun = state.steps;
        loop {
            if self.ticks >= STEPS_A_LOOK {
                self.ticks = 0;
                if self.out_of_time() {
                    self.worklist.push(state, 0);
                    return;
                }
            }
            let before = state.steps;
            let Stepped { flow, ended, hits, .. } = self.executor.run(&mut state, STEPS_A_LOOK);
            // A point is no step, and takes its time.
            self.ticks += 1 + (state.steps - before) as u32;
            self.executor.ledger.heavy += state.memory.take_made();
            if self.executor.ledger.heavy > HEAVY && self.out_of_time() {
                self.worklist.push(state, 0);
                return;
            }
            for (ended, end) in ended {
                self.end(ended, end);
            }
            self.take_hits(&mut state, hits);
            match flow {
                Flow::Next if self.aim == Aim::Goals && state.steps - begun > LONG && self.worklist.len() > 0 => {
                    self.worklist.push(state, FAR);
                    return;
                }
                Flow::Next => continue,
                Flow::End(end) => return self.end(state, end),
                Flow::Fork(Fork::Labels { forks, span }) => {
                    self.fork_on_labels(&mut state, &forks, span);
                    continue;
                }
                Flow::Fork(Fork::Outcome(fork)) => {
                    if let Goes::Nowhere = self.split(&mut state, &fork) {
                        return;
                    }
                }
                Flow::Fork(fork) => return self.replace(&state, fork),
            }
            if self.aim == Aim::Goals {
                if self.all_covered() {
                    return;
                }
                match self.distance(&state) {
                    None => return,
                    // Another state may be closer now.
                    Some(distance) if self.executor.config.search != Search::Dfs => {
                        self.worklist.push(state, distance);
                        return;
                    }
                    Some(_) => {}
                }
            }
        }
    }

    /// Direct mode (Bardin et al.'s baseline): a path for every combination of labels.
    fn fork_on_labels(&mut self, state: &mut State, forks: &[(GoalId, TermId)], span: Span) {
        let mut states = vec![state.clone()];
        for (goal, cond) in forks {
            let mut next = Vec::new();
            for mut state in states {
                self.executor.ledger.labels_asked += 1;
                let (yes, no) = self.executor.both_sides(&state.path, *cond);
                if let Some(path) = self.side(yes, span) {
                    let mut covering = State { path, ..state.clone() };
                    self.take_hits(&mut covering, vec![Hit { goal: *goal, path: None }]);
                    next.push(covering);
                }
                if let Some(path) = self.side(no, span) {
                    state.path = path;
                    next.push(state);
                }
            }
            states = next;
        }
        let mut states = states.into_iter();
        if let Some(first) = states.next() {
            for other in states {
                self.put(other);
            }
            *state = first;
        }
    }

    /// Takes every outcome that some input has: the first is followed, the others go to the worklist.
    fn split(&mut self, state: &mut State, fork: &OutcomeFork) -> Goes {
        let span = fork.span();
        state.depth += u32::from(fork.role().is_outcome());
        if self.executor.config.depth.is_some_and(|depth| state.depth > depth) {
            self.give_up(Incomplete::Bound(Bound::Depth), span, 1);
            return Goes::Nowhere;
        }
        let mut open = Vec::new();
        for Way { choice, side, .. } in self.executor.ways(state, fork) {
            if let Some(path) = self.side(side, span) {
                open.push((choice, path));
            }
        }
        if let OutcomeFork::Branch { then_block, else_block, .. } = fork
            && open.len() > 1
        {
            let from = state.top().block;
            let graph = self.executor.graph(state.top().func);
            // The way out of a loop first: an unbounded loop gives tests from the beginning.
            if graph.leaves_loop(from, *else_block) && !graph.leaves_loop(from, *then_block) {
                open.reverse();
            }
        }
        // None is left where all sides are unknown: already counted as given up.
        let mut open = open.into_iter();
        let Some((choice, path)) = open.next() else { return Goes::Nowhere };
        for (choice, path) in open.rev() {
            let mut other = state.clone();
            if let Goes::On = self.take(&mut other, fork, choice, path) {
                self.put(other);
            }
        }
        self.take(state, fork, choice, path)
    }

    /// Goes one way.
    fn take(&mut self, state: &mut State, fork: &OutcomeFork, choice: Choice, path: Path) -> Goes {
        let taken = self.executor.take(state, fork, choice, path);
        self.take_hits(state, taken.hits);
        match taken.flow {
            Flow::Next => return Goes::On,
            Flow::End(end) => self.end(state.clone(), end),
            Flow::Fork(fork) => self.replace(state, fork),
        }
        Goes::Nowhere
    }

    fn side(&mut self, side: Side, span: Span) -> Option<Path> {
        match side {
            Side::Feasible(path) => Some(path),
            Side::Infeasible => {
                self.executor.ledger.infeasible += 1;
                None
            }
            Side::Unknown(why) => {
                self.give_up(unanswered(why), span, 1);
                None
            }
        }
    }

    /// A state gives way to several, in which the instruction is executed again.
    fn replace(&mut self, state: &State, fork: Fork) {
        let states = match fork {
            Fork::Shape { id, purpose } => self.shapes(state, id, purpose),
            Fork::Value(unfixed) => self.fixed(state, unfixed),
            Fork::Outcome(_) | Fork::Labels { .. } => Vec::new(),
        };
        for state in states.into_iter().rev() {
            self.put(state);
        }
    }

    fn shapes(&mut self, state: &State, id: LazyId, purpose: Purpose) -> Vec<State> {
        let mut states = Vec::new();
        for shape in self.executor.shapes(state, id, purpose) {
            match shape {
                Ok(state) => states.push(state),
                Err(PathEnd::Incomplete { why, .. }) => {
                    let span = self.place(state);
                    self.give_up(why, span, 1);
                }
                Err(_) => {}
            }
        }
        states
    }

    /// One state for every value that the term has on the path. A search for goals may need few of many: the greater ones wait
    /// together behind the others.
    fn fixed(&mut self, state: &State, unfixed: Unfixed) -> Vec<State> {
        let smaller = if self.prunes() { self.executor.smaller_values(state, unfixed) } else { None };
        let Some(SmallerValues { values, rest }) = smaller else {
            let all = self.executor.values(state, unfixed);
            return self.fixed_to(state, unfixed, all);
        };
        let mut states = self.fixed_to(state, unfixed, values);
        match rest {
            Ok(rest) => states.extend(rest),
            Err(why) => {
                let span = self.place(state);
                self.give_up(why, span, 1);
            }
        }
        states
    }

    fn fixed_to(&mut self, state: &State, unfixed: Unfixed, found: Values) -> Vec<State> {
        if !found.complete {
            let span = self.place(state);
            let bound = match self.out_of_time() {
                true => self.stopped.unwrap_or(Bound::Timeout),
                false if self.executor.config.memory.is_some_and(|limit| limit.is_met()) => Bound::Memory,
                false => Bound::Values,
            };
            self.give_up(Incomplete::Bound(bound), span, 1);
        }
        let mut states = Vec::new();
        for value in found.values {
            if self.out_of_time() {
                let (bound, span) = (self.stopped.unwrap_or(Bound::Timeout), self.place(state));
                self.give_up(Incomplete::Bound(bound), span, 1);
                break;
            }
            states.extend(self.executor.fix(state, unfixed, value));
        }
        states
    }

    /// Where a state stands.
    fn place(&self, state: &State) -> Span {
        let module = self.executor.module;
        match state.frames.last() {
            Some(frame) => {
                let block = &module.functions[frame.func].blocks[frame.block];
                block.insts.get(frame.inst).map_or(block.terminator.span, |inst| inst.span)
            }
            None => module.functions[self.func].span,
        }
    }

    fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.paths.incomplete += count;
        self.executor.ledger.give_up(why, span, count);
    }

    /// A path has ended.
    fn end(&mut self, mut state: State, end: PathEnd) {
        match &end {
            PathEnd::Assumed => return,
            PathEnd::Longer => {
                self.paths.longer += 1;
                return;
            }
            PathEnd::Incomplete { why, span } => return self.give_up(why.clone(), *span, 1),
            PathEnd::Returned(_)
            | PathEnd::Exited(_)
            | PathEnd::Hung
            | PathEnd::Threw { .. }
            | PathEnd::Error { .. } => {}
        }
        let hash = end.path(state.hash);
        if self.aim == Aim::Goals {
            return self.end_for_goals(state, &end);
        }
        let new = self.seen.insert(hash.value());
        if new && self.sink.wants_cases() {
            let case = self.executor.case(&state, self.func, &end);
            self.sink.case(case);
        }
        // Late aliases give one test a path; eager mode, the baseline, gives one for every fixed index. A goal may need a shape
        // that the path's first test does not have.
        if !new && self.executor.config.aliases == Aliases::Late && !self.wants_end(&state, &end) {
            return;
        }
        if let PathEnd::Returned(value) = &end {
            self.oracle(&mut state, value.clone());
        }
        let id = self.next_id();
        let test = match self.executor.test_case(&state, self.func, &end, id) {
            Ok(test) => test,
            Err(why) => return self.give_up_test(why),
        };
        if new {
            self.paths.explored += 1;
            self.paths.error += u64::from(matches!(end, PathEnd::Error { .. }));
        }
        self.emit(test);
    }

    /// A path has ended while goals are wanted: its error may be one, and so may what waited for its end.
    fn end_for_goals(&mut self, state: State, end: &PathEnd) {
        self.paths.explored += 1;
        self.paths.error += u64::from(matches!(end, PathEnd::Error { .. }));
        if self.wants_end(&state, end) {
            let id = self.next_id();
            match self.executor.test_case(&state, self.func, end, id) {
                Ok(test) => drop(self.emit(test)),
                Err(why) => self.give_up_test(why),
            }
        }
    }

    /// Whether something is open that waited for this end, or that this end is.
    fn wants_end(&self, state: &State, end: &PathEnd) -> bool {
        let Some(coverage) = &self.executor.watching.coverage else { return false };
        let error = match end {
            PathEnd::Error { kind, span } => Some(coverage.watch.error(*kind, *span)),
            _ => None,
        };
        state.pending.iter().copied().chain(error.into_iter().flatten()).any(|goal| coverage.is_open(goal))
    }

    /// A path whose test could not be made.
    fn give_up_test(&mut self, why: Incomplete) {
        let span = self.executor.module.functions[self.func].span;
        self.give_up(why, span, 1);
    }

    /// Narrows the state to where the oracle rejects the result, if it can.
    fn oracle(&mut self, state: &mut State, value: Option<Value>) {
        let Some(name) = &self.executor.config.oracle else { return };
        let Some(func) = self.executor.module.function_named(name) else { return };
        let mut arguments = self.executor.visible(self.func, &self.arguments);
        let result_object =
            self.executor.module.functions[self.func].aggregate_result.then(|| self.arguments[0].clone());
        arguments.extend(value.or(result_object));
        let params = self.executor.module.functions[func].params.len();
        arguments.truncate(params);
        let accepted = match self.executor.fold_truth(state, func, arguments) {
            Ok(accepted) => accepted,
            Err(_) => {
                let span = self.executor.module.functions[func].span;
                self.executor.ledger.give_up(Unsupported::Oracle(name.clone()).into(), span, 1);
                return;
            }
        };
        let rejected = self.executor.terms.not(accepted);
        if let Side::Feasible(path) = self.executor.assume(&state.path, rejected) {
            state.path = path;
        }
    }

    fn out_of_memory(&mut self) -> bool {
        let Some(limit) = self.executor.config.memory else { return false };
        if !self.pressure.is_time_to_look(&mut self.executor.ledger.heavy) {
            return false;
        }
        if self.pressure.is_time_to_relieve(limit) {
            self.worklist.park_more();
            self.executor.solver.forget();
        }
        let config = self.executor.config;
        let interrupted = || config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        let held = BYTES_A_TERM * self.executor.terms.len() as u64 + BYTES_A_STATE * self.worklist.len() as u64;
        self.pressure.ends(limit, held, || config.deadline.is_over() || interrupted())
    }

    fn out_of_time(&mut self) -> bool {
        let config = self.executor.config;
        if config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stopped.get_or_insert(Bound::Interrupted);
        } else if config.deadline.is_over()
            || (config.first_round.is_over() && !self.executor.ledger.shortage.is_empty())
        {
            self.stopped.get_or_insert(Bound::Timeout);
        } else if config.questions.is_some_and(|most| self.executor.solver.stats().queries >= most) {
            self.stopped.get_or_insert(Bound::Questions);
        } else if self.out_of_memory() {
            self.stopped.get_or_insert(Bound::Memory);
        }
        self.stopped.is_some()
    }

    fn progress(&mut self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let progress = Progress {
            paths: self.paths.explored,
            open: self.worklist.len(),
            tests: self.tests,
            solver_share: if elapsed > 0.0 { self.executor.solver.stats().seconds / elapsed } else { 0.0 },
        };
        self.sink.event(Event::Progress(progress));
    }

    fn result(&self) -> FunctionResult {
        let function = &self.executor.module.functions[self.func];
        let incomplete = self.executor.ledger.incomplete();
        let unknown = incomplete.iter().map(|paths| paths.count).sum();
        let infeasible = self.executor.ledger.infeasible;
        let paths = PathCounts { infeasible, incomplete: unknown, ..self.paths };
        let covered = paths.explored;
        let stats = self.executor.solver.stats();
        FunctionResult {
            name: function.name.clone(),
            file: self.executor.module.files.get(function.span.file).cloned().unwrap_or_default(),
            criterion: Criterion::Paths(self.executor.config.paths),
            objectives: ObjectiveCounts { total: covered + unknown, covered, unknown, ..ObjectiveCounts::default() },
            paths,
            exhaustive: incomplete.is_empty(),
            assumptions: self.executor.assumptions(self.func),
            incomplete,
            tests: self.tests,
            seconds: self.started.elapsed().as_secs_f64(),
            replay_seconds: 0.0,
            solver: SolverUse { queries: stats.queries, seconds: stats.seconds },
        }
    }
}

/// A function's name as an identifier.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
