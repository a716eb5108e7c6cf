//! The state of an exploration: its worklist, counters, and bounds.

use crate::config::{Aliases, Config, Labels};
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Policy;
use crate::exec::instructions::fork::Fork;
use crate::exec::instructions::step::Flow;
use crate::goals::coverage::{Aim, Coverage};
use crate::goals::distance::GoalDistances;
use crate::search::frontier::{Frontier, Parking, Waiting};
use crate::search::memory_pressure::MemoryPressure;
use crate::search::path_following::find_parked;
use crate::search::search_events::{Progress, SearchEvent, Sink};
use crate::search::search_result::{ExplorationResult, Goals, SearchTarget};
use crate::state::value::Value;
use crate::state::{PathEnd, State, Stop};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use touchstone_base::{Span, work_time};
use touchstone_criteria::{Bound, Criterion, FunctionResult, Goal, Incomplete, ObjectiveCounts, PathCounts, SolverUse};
use touchstone_ir::{FuncId, Module};

/// The approximate host memory of a term and of a waiting state.
const BYTES_PER_TERM: u64 = 200;

const BYTES_PER_STATE: u64 = 4096;

/// An initial state, and the arguments of the call.
pub(super) type StartingState = (State, Vec<Value>);

/// The fate of a state after a fork.
pub(super) enum StateFate {
    On,
    /// Its path has ended, or other states replaced it.
    Ended,
}

pub(super) struct Exploration<'m, 's> {
    pub executor: Executor<'m>,
    pub(super) aim: Aim,
    /// Distances to open goals, computed on demand.
    pub(super) reach: Option<GoalDistances>,
    /// The functions whose callees the distances cover: the one under test, and those that run before it.
    roots: BTreeSet<FuncId>,
    pub(super) func: FuncId,
    pub(super) sink: &'s mut dyn Sink,
    pub(super) worklist: Frontier,
    /// The paths that have a test.
    pub(super) seen: FxHashSet<u64>,
    /// Those of earlier rounds.
    pub(super) seen_before: Arc<FxHashSet<u64>>,
    /// The arguments of the function under test; the oracle receives the same.
    pub(super) arguments: Vec<Value>,
    /// The initial states, computed on demand.
    pub(super) starts: Option<Rc<[StartingState]>>,
    pub(super) tests: u64,
    pub(super) paths: PathCounts,
    pub(super) started: Instant,
    /// The work time at the beginning.
    pub(super) begun: Duration,
    pub(super) ticks: u32,
    /// The bound that ended the exploration.
    pub(super) stopped: Option<Bound>,
    pub(super) pressure: MemoryPressure,
    /// True if prefixes describe waiting states.
    pub(super) parks: bool,
    /// The work time at which `turn` returns, with states left.
    pub(super) pause: Option<Duration>,
    /// The work time of the last test.
    pub(super) last_test: Duration,
    /// The work time of the replays of transferred states.
    pub(super) replay_work: Duration,
    /// The use of solvers by batches.
    pub(super) batch_solver: SolverUse,
}

impl<'m, 's> Exploration<'m, 's> {
    pub fn new(
        module: &'m Module,
        func: FuncId,
        wanted: SearchTarget,
        config: &'m Config,
        sink: &'s mut dyn Sink,
    ) -> Exploration<'m, 's> {
        let aim = wanted.aim();
        let coverage = wanted.goals().map(|goals| Coverage::new(Arc::clone(&goals.watch), &goals.closed, aim));
        let executor = Executor::new(module, config, Policy::TESTS, coverage);
        // Otherwise a path has forks that are no choices, or that depend on which labels were open.
        let labels = |goals: &Goals| {
            goals.watch.goals.values().any(|goal| matches!(goal, Goal::Label { .. } | Goal::Return { .. }))
        };
        let parking = match executor.config.aliases {
            Aliases::Late if !wanted.goals().is_some_and(labels) => Parking::Beyond(executor.config.waiting_states),
            _ => Parking::Never,
        };
        let parks = parking != Parking::Never;
        let worklist = Frontier::new(executor.config.search, executor.config.options.seed, parking);
        Exploration {
            executor,
            aim,
            reach: None,
            roots: BTreeSet::from([func]),
            func,
            sink,
            worklist,
            seen: FxHashSet::default(),
            seen_before: Arc::default(),
            arguments: Vec::new(),
            starts: None,
            tests: 0,
            paths: PathCounts::default(),
            started: Instant::now(),
            begun: work_time(),
            ticks: 0,
            stopped: None,
            pressure: MemoryPressure::default(),
            parks,
            pause: None,
            last_test: work_time(),
            replay_work: Duration::ZERO,
            batch_solver: SolverUse::default(),
        }
    }

    /// Puts the initial states on the worklist.
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
    pub fn resume_from(&mut self, state: State, arguments: Vec<Value>) {
        self.arguments = arguments;
        self.put(state);
    }

    /// Explores up to `turns` states, until the worklist is empty, no goal is open, a bound is hit, or a pause is due.
    pub fn turn(&mut self, turns: u64) {
        for _ in 0..turns {
            let Some(waiting) = self.worklist.pop(self.tests) else { return };
            let Some(state) = self.state_of(waiting) else { continue };
            if self.out_of_time() {
                self.worklist.push(state, 0);
                return;
            }
            if self.all_covered() {
                // The remaining states cannot cover anything.
                self.worklist.clear();
                return;
            }
            // Goals may have been covered since the state was put on the worklist.
            if self.distance(&state).is_some() {
                self.follow(state);
            }
            if self.stopped.is_some() || self.pause.is_some_and(|pause| work_time() >= pause) {
                return;
            }
            self.progress();
        }
    }

    /// Removes and returns the waiting states.
    pub fn waiting(&mut self) -> Vec<State> {
        let waiting: Vec<Waiting> = std::iter::from_fn(|| self.worklist.pop(self.tests)).collect();
        waiting.into_iter().filter_map(|waiting| self.state_of(waiting)).collect()
    }

    /// Returns a waiting state. One that cannot be replayed is given up for lack of memory.
    pub(super) fn state_of(&mut self, waiting: Waiting) -> Option<State> {
        match waiting {
            Waiting::State(state) => Some(*state),
            Waiting::ParkedState(parked) => {
                let starts = self.starts();
                let replay = parked.replay();
                let found = find_parked(&mut self.executor, self.func, &starts, &parked, replay);
                self.replayed(found)
            }
            Waiting::Transferred(transferred) => {
                let begun = work_time();
                let starts = self.starts();
                let replay = transferred.replay(&self.executor);
                let found = find_parked(&mut self.executor, self.func, &starts, &transferred.parked, replay);
                self.replay_work += work_time() - begun;
                self.replayed(found)
            }
        }
    }

    fn replayed(&mut self, found: Option<StartingState>) -> Option<State> {
        let Some((state, arguments)) = found else {
            let span = self.executor.module.functions[self.func].span;
            self.give_up(Incomplete::Bound(Bound::Memory), span, 1);
            return None;
        };
        self.arguments = arguments;
        Some(state)
    }

    /// Returns the initial states.
    pub(super) fn starts(&mut self) -> Rc<[StartingState]> {
        if let Some(known) = &self.starts {
            return Rc::clone(known);
        }
        let starts: Rc<[StartingState]> = self.executor.initial(self.func).unwrap_or_default().into();
        Rc::clone(self.starts.insert(starts))
    }

    /// Returns the result so far.
    pub fn found(&self) -> ExplorationResult {
        let coverage = self.executor.goal_tracker.coverage.as_ref();
        let ledger = &self.executor.ledger;
        ExplorationResult {
            open: coverage.map(|coverage| coverage.open_goals().collect()).unwrap_or_default(),
            shortage: ledger.shortage.clone(),
            labels_asked: ledger.labels_asked,
            labels_found: ledger.labels_found,
            work: work_time() - self.begun,
            ..ExplorationResult::without_goals(self.result())
        }
    }

    /// Asks deferred queries, and records the states that a bound left unexplored.
    pub fn finish(&mut self) {
        let unasked = self.ask_deferred();
        if let Some(bound) = self.stopped {
            let open = self.worklist.len() as u64 + unasked;
            if open > 0 {
                let span = self.executor.module.functions[self.func].span;
                self.give_up(Incomplete::Bound(bound), span, open);
            }
        }
    }

    /// Asks deferred queries for goals that are still open; returns the number of queries that a bound leaves unasked.
    pub(super) fn ask_deferred(&mut self) -> u64 {
        let mut unasked = 0;
        for mut waiting in std::mem::take(&mut self.executor.goal_tracker.deferred) {
            if !self.executor.goal_tracker.wants(waiting.goal) {
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

    /// Assumes the precondition (materialising the pointers that it reads) and puts the initial states on the worklist.
    pub(super) fn start(&mut self, state: State, arguments: &[Value]) {
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
        // The first target is explored first.
        for state in first.into_iter().rev() {
            self.put(state);
        }
    }

    /// Puts a state on the worklist, unless it can reach no open goal.
    pub(super) fn put(&mut self, state: State) {
        if let Some(distance) = self.distance(&state) {
            self.worklist.push(state, distance);
        }
    }

    /// Returns the distance of a state to an open goal; `None` if it can be pruned.
    pub(super) fn distance(&mut self, state: &State) -> Option<u32> {
        let coverage = match &self.executor.goal_tracker.coverage {
            Some(coverage) if self.prunes() => coverage,
            _ => return Some(0),
        };
        if !state.pending.is_empty() {
            return Some(0);
        }
        if self.reach.as_ref().is_none_or(|reach| !reach.includes(state)) {
            // Functions that run before the one under test are not reached from it.
            self.roots.extend(state.frames.iter().map(|frame| frame.func));
            self.reach = None;
        }
        let roots = self.roots.iter().copied();
        let reach = self.reach.get_or_insert_with(|| GoalDistances::new(self.executor.module, coverage, roots));
        reach.update(coverage);
        reach.distance_of(state, coverage)
    }

    /// Returns true if states are pruned. Direct and tight search are the paper's baselines: they follow all paths to
    /// their ends.
    pub(super) fn prunes(&self) -> bool {
        self.aim == Aim::Goals && self.executor.config.labels == Labels::Idl
    }

    /// Returns true if all goals are covered.
    pub(super) fn all_covered(&self) -> bool {
        self.prunes() && self.executor.goal_tracker.coverage.as_ref().is_some_and(|coverage| coverage.remaining() == 0)
    }

    /// Returns the source location of a state.
    pub(super) fn source_location(&self, state: &State) -> Span {
        let module = self.executor.module;
        match state.frames.last() {
            Some(frame) => {
                let block = &module.functions[frame.func].blocks[frame.block];
                block.insts.get(frame.inst).map_or(block.terminator.span, |inst| inst.span)
            }
            None => module.functions[self.func].span,
        }
    }

    pub(super) fn give_up(&mut self, why: Incomplete, span: Span, count: u64) {
        self.paths.incomplete += count;
        self.executor.ledger.give_up(why, span, count);
    }

    pub(super) fn out_of_memory(&mut self) -> bool {
        let Some(limit) = self.executor.config.memory else { return false };
        if !self.pressure.is_check_due(&mut self.executor.ledger.allocated_bytes) {
            return false;
        }
        if self.pressure.is_relief_due(limit) {
            self.worklist.park_more_states();
            self.executor.solver.forget();
        }
        let config = self.executor.config;
        let interrupted = || config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed));
        let held = BYTES_PER_TERM * self.executor.terms.len() as u64 + BYTES_PER_STATE * self.worklist.len() as u64;
        self.pressure.ends(limit, held, || config.deadline.is_over() || interrupted())
    }

    pub(super) fn out_of_time(&mut self) -> bool {
        let config = self.executor.config;
        if config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stopped.get_or_insert(Bound::Interrupted);
        } else if config.deadline.is_over()
            || (config.first_round.is_over() && !self.executor.ledger.shortage.is_empty())
        {
            self.stopped.get_or_insert(Bound::of(config.deadline));
        } else if config.questions.is_some_and(|most| self.executor.solver.stats().queries >= most) {
            self.stopped.get_or_insert(Bound::PairQueries);
        } else if self.out_of_memory() {
            self.stopped.get_or_insert(Bound::Memory);
        }
        self.stopped.is_some()
    }

    pub(super) fn progress(&mut self) {
        let elapsed = self.started.elapsed().as_secs_f64();
        let progress = Progress {
            paths: self.paths.explored,
            open: self.worklist.len(),
            tests: self.tests,
            solver_share: if elapsed > 0.0 { self.executor.solver.stats().seconds / elapsed } else { 0.0 },
        };
        self.sink.event(SearchEvent::Progress(progress));
    }

    pub(super) fn result(&self) -> FunctionResult {
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
            solver: SolverUse {
                queries: stats.queries + self.batch_solver.queries,
                seconds: stats.seconds + self.batch_solver.seconds,
            },
        }
    }
}
