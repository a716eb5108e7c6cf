//! Exploration: every feasible path, depth first, from an explicit worklist (DESIGN §8).

use crate::config::{Aliases, Config, Entry};
use crate::executor::Executor;
use crate::inputs::Inputs;
use crate::memory::Memory;
use crate::state::{PathEnd, State, Stop};
use crate::step::Flow;
use crate::value::{LazyId, Value};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use touchstone_base::Span;
use touchstone_criteria::{
    Bound, Criterion, FunctionResult, Incomplete, ObjectiveCounts, Outcome, PathCounts, SolverUse, TestCase,
};
use touchstone_ir::{FuncId, Module, PathHash};
use touchstone_solver::{Path, Side, TermId};

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
}

/// Explores `func` and tells `sink` every test as it is found.
pub fn explore(module: &Module, func: FuncId, config: &Config, sink: &mut dyn Sink) -> FunctionResult {
    let mut exploration = Exploration {
        executor: Executor::new(module, config),
        func,
        sink,
        worklist: Vec::new(),
        seen: FxHashSet::default(),
        arguments: Vec::new(),
        tests: 0,
        paths: PathCounts::default(),
        started: Instant::now(),
        ticks: 0,
        stopped: None,
    };
    exploration.run();
    exploration.result()
}

struct Exploration<'m, 's> {
    executor: Executor<'m>,
    func: FuncId,
    sink: &'s mut dyn Sink,
    worklist: Vec<State>,
    /// Paths that have their test.
    seen: FxHashSet<u64>,
    /// What the function under test was called with; the oracle is called with the same.
    arguments: Vec<Value>,
    tests: u64,
    paths: PathCounts,
    started: Instant,
    ticks: u32,
    /// The bound that ended everything.
    stopped: Option<Bound>,
}

impl Exploration<'_, '_> {
    fn run(&mut self) {
        let start = self.initial();
        match start {
            Ok(state) => {
                let arguments = self.arguments.clone();
                self.start(state, &arguments);
            }
            Err(stop) => self.stop(None, stop),
        }
        while let Some(state) = self.worklist.pop() {
            if self.out_of_time() {
                self.worklist.push(state);
                break;
            }
            self.follow(state);
            if self.stopped.is_some() {
                break;
            }
            self.progress();
        }
        if let Some(bound) = self.stopped {
            let open = self.worklist.len() as u64;
            if open > 0 {
                let span = self.executor.module.functions[self.func].span;
                self.give_up(Incomplete::Bound(bound), span, open);
            }
        }
    }

    /// The state before the call, with globals and arguments.
    fn initial(&mut self) -> Result<State, Stop> {
        let proper = self.executor.terms.truth(true);
        let mut state = State {
            frames: Vec::new(),
            memory: Memory::default(),
            path: Path::new(),
            hash: PathHash::new(),
            trail: None,
            depth: 0,
            steps: 0,
            inputs: Rc::new(Inputs::default()),
            fixed: Rc::default(),
            proper,
            returned: None,
        };
        match self.executor.config.entry {
            Entry::Function => {
                self.executor.globals(&mut state, Some(self.func))?;
                self.arguments = self.executor.arguments(&mut state, self.func)?;
            }
            Entry::Program => {
                self.executor.globals(&mut state, None)?;
                self.arguments = self.executor.program_arguments(&mut state, self.func);
            }
        }
        Ok(state)
    }

    /// Applies the precondition (deciding input pointers that it looks at) and puts the first states on the worklist.
    fn start(&mut self, state: State, arguments: &[Value]) {
        let mut pending = vec![state];
        while let Some(mut state) = pending.pop() {
            match self.precondition(&mut state, arguments) {
                Ok(()) => {
                    self.executor.enter(&mut state, self.func, arguments.to_vec(), None);
                    self.worklist.push(state);
                }
                Err(Stop::Force(id)) => pending.extend(self.forced(&state, id).into_iter().rev()),
                Err(Stop::Enumerate(term)) => pending.extend(self.enumerated(&state, term)),
                Err(stop) => self.stop(None, stop),
            }
        }
        // The first shape is explored first.
        self.worklist.reverse();
    }

    fn precondition(&mut self, state: &mut State, arguments: &[Value]) -> Result<(), Stop> {
        let Some(name) = &self.executor.config.precondition else { return Ok(()) };
        let Some(func) = self.executor.module.function_named(name) else { return Ok(()) };
        let allowed = self.executor.fold_truth(state, func, self.visible(arguments))?;
        self.executor.assume_all(state, &[allowed])
    }

    /// The arguments without the hidden result pointer.
    fn visible(&self, arguments: &[Value]) -> Vec<Value> {
        let hidden = usize::from(self.executor.module.functions[self.func].aggregate_result);
        arguments[hidden.min(arguments.len())..].to_vec()
    }

    /// Follows one state until it ends; sides that it doesn't take go to the worklist.
    fn follow(&mut self, mut state: State) {
        loop {
            self.ticks = self.ticks.wrapping_add(1);
            if self.ticks.is_multiple_of(4096) && self.out_of_time() {
                self.worklist.push(state);
                return;
            }
            let flow = self.executor.step(&mut state);
            for (ended, end) in std::mem::take(&mut self.executor.ended) {
                self.end(ended, end);
            }
            let on = match flow {
                Ok(Flow::Next) => Ok(()),
                Ok(Flow::Branch { cond, then_block, else_block, tag, span }) => {
                    let from = state.top().block;
                    let graph = self.executor.graph(state.top().func);
                    // The way out of a loop first: an unbounded loop gives tests from the beginning.
                    let first = graph.leaves_loop(from, then_block) || !graph.leaves_loop(from, else_block);
                    self.branch(&mut state, cond, first, span).and_then(|taken| {
                        if let Some(other) = taken.other {
                            let mut other = *other;
                            let outcome = !taken.outcome;
                            match self.executor.take_branch(&mut other, tag, outcome, then_block, else_block, span) {
                                Ok(()) => self.worklist.push(other),
                                Err(stop) => self.stop(Some(&other), stop),
                            }
                        }
                        self.executor.take_branch(&mut state, tag, taken.outcome, then_block, else_block, span)
                    })
                }
                Ok(Flow::Switch { targets, span }) => self.switch(&mut state, &targets, span),
                Err(stop) => Err(stop),
            };
            if let Err(stop) = on {
                match stop {
                    Stop::End(end) => self.end(state, end),
                    stop => self.stop(Some(&state), stop),
                }
                return;
            }
            if let Some(value) = state.returned.take() {
                self.end(state, PathEnd::Returned(value));
                return;
            }
        }
    }

    /// Narrows the state to one side of a condition, `first` if both are feasible; the other then comes back too.
    fn branch(&mut self, state: &mut State, cond: TermId, first: bool, span: Span) -> Result<Taken, Stop> {
        self.deepen(state, span)?;
        let (yes, no) = self.executor.solver.branch(&mut self.executor.terms, &state.path, cond);
        let yes = self.side(yes, span);
        let no = self.side(no, span);
        let (outcome, path, other) = match (yes, no) {
            (Some(yes), Some(no)) if first => (true, yes, Some(no)),
            (Some(yes), Some(no)) => (false, no, Some(yes)),
            (Some(yes), None) => (true, yes, None),
            (None, Some(no)) => (false, no, None),
            // Both sides unknown: already counted as given up.
            (None, None) => return Err(Stop::End(PathEnd::Assumed)),
        };
        let other = other.map(|path| Box::new(State { path, ..state.clone() }));
        state.path = path;
        Ok(Taken { outcome, other })
    }

    fn side(&mut self, side: Side, span: Span) -> Option<Path> {
        match side {
            Side::Feasible(path) => Some(path),
            Side::Infeasible => {
                self.executor.infeasible += 1;
                None
            }
            Side::Unknown(why) => {
                self.give_up(Incomplete::Solver(format!("{why:?}")), span, 1);
                None
            }
        }
    }

    fn deepen(&mut self, state: &mut State, span: Span) -> Result<(), Stop> {
        state.depth += 1;
        match self.executor.config.depth {
            Some(depth) if state.depth > depth => Err(Stop::bound(Bound::Depth, span)),
            _ => Ok(()),
        }
    }

    fn switch(
        &mut self,
        state: &mut State,
        targets: &[(touchstone_ir::BlockId, TermId)],
        span: Span,
    ) -> Result<(), Stop> {
        self.deepen(state, span)?;
        let mut taken = Vec::new();
        for (target, cond) in targets {
            let side = self.executor.solver.assume(&mut self.executor.terms, &state.path, *cond);
            if let Some(path) = self.side(side, span) {
                taken.push((*target, path));
            }
        }
        let mut taken = taken.into_iter();
        let Some((first, path)) = taken.next() else { return Err(Stop::End(PathEnd::Assumed)) };
        for (target, path) in taken.rev() {
            let mut other = state.clone();
            other.path = path;
            match self.executor.take_arm(&mut other, target, span) {
                Ok(()) => self.worklist.push(other),
                Err(stop) => self.stop(Some(&other), stop),
            }
        }
        state.path = path;
        self.executor.take_arm(state, first, span)
    }

    /// What stopped an instruction: the path ends, or the state is replaced by several.
    fn stop(&mut self, state: Option<&State>, stop: Stop) {
        match (stop, state) {
            (Stop::End(end), Some(state)) => self.end(state.clone(), end),
            (Stop::End(PathEnd::Incomplete { why, span }), None) => self.give_up(why, span, 1),
            (Stop::Force(id), Some(state)) => {
                let options = self.forced(state, id);
                self.worklist.extend(options.into_iter().rev());
            }
            (Stop::Enumerate(term), Some(state)) => {
                let options = self.enumerated(state, term);
                self.worklist.extend(options.into_iter().rev());
            }
            _ => {}
        }
    }

    fn forced(&mut self, state: &State, id: LazyId) -> Vec<State> {
        let mut states = Vec::new();
        for option in self.executor.force(state, id) {
            match option {
                Ok(state) => states.push(state),
                Err(Stop::End(PathEnd::Incomplete { why, .. })) => {
                    let span = self.place(state);
                    self.give_up(why, span, 1);
                }
                Err(_) => {}
            }
        }
        states
    }

    /// One state for every value that the term has on the path.
    fn enumerated(&mut self, state: &State, term: TermId) -> Vec<State> {
        let executor = &mut self.executor;
        let limit = executor.config.max_values;
        let found = executor.solver.values(&mut executor.terms, &state.path, term, limit);
        if !found.complete {
            let span = self.place(state);
            self.give_up(Incomplete::Bound(Bound::Values), span, 1);
        }
        let mut states = Vec::new();
        for value in found.values {
            let executor = &mut self.executor;
            let width = executor.terms.width(term);
            let constant = executor.terms.constant(width, value);
            let here = executor.terms.eq(term, constant);
            if let Side::Feasible(path) = executor.solver.assume(&mut executor.terms, &state.path, here) {
                let mut fixed = state.clone();
                fixed.path = path;
                Rc::make_mut(&mut fixed.fixed).push((term, value));
                states.push(fixed);
            }
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
        self.executor.give_up(why, span, count);
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
            PathEnd::Returned(_) | PathEnd::Exited(_) | PathEnd::Error { .. } => {}
        }
        let mut hash = state.hash;
        if let PathEnd::Error { kind, span } = &end {
            hash.end_error(*kind, *span);
        }
        let new = self.seen.insert(hash.value());
        // Late aliases give one test a path; eager mode, the baseline, gives one for every fixed index.
        if !new && self.executor.config.aliases == Aliases::Late {
            return;
        }
        let rejected = match &end {
            PathEnd::Returned(value) => self.oracle(&mut state, value.clone()),
            _ => false,
        };
        self.tests += 1;
        let id = format!("{}_{}", identifier(&self.executor.module.functions[self.func].name), self.tests);
        let mut test = self.executor.test_case(&state, self.func, &end, id);
        if rejected {
            test.outcome = Outcome::OracleRejected;
        }
        if new {
            self.paths.explored += 1;
            self.paths.error += u64::from(matches!(end, PathEnd::Error { .. }));
        }
        self.sink.event(Event::Test(&test));
        self.progress();
        if self.executor.config.max_paths.is_some_and(|limit| self.tests >= limit) {
            self.stopped.get_or_insert(Bound::MaxPaths);
        }
    }

    /// Whether the oracle can reject a result on this path; the state is narrowed to where it does.
    fn oracle(&mut self, state: &mut State, value: Option<Value>) -> bool {
        let Some(name) = &self.executor.config.oracle else { return false };
        let Some(func) = self.executor.module.function_named(name) else { return false };
        let mut arguments = self.visible(&self.arguments.clone());
        arguments.extend(value);
        let params = self.executor.module.functions[func].params.len();
        arguments.truncate(params);
        let accepted = match self.executor.fold_truth(state, func, arguments) {
            Ok(accepted) => accepted,
            Err(_) => {
                let what = format!("oracle {name} can't be folded");
                let span = self.executor.module.functions[func].span;
                self.executor.give_up(Incomplete::Unsupported(what), span, 1);
                return false;
            }
        };
        let rejected = self.executor.terms.not(accepted);
        match self.executor.solver.assume(&mut self.executor.terms, &state.path, rejected) {
            Side::Feasible(path) => {
                state.path = path;
                true
            }
            Side::Infeasible | Side::Unknown(_) => false,
        }
    }

    fn out_of_time(&mut self) -> bool {
        let config = self.executor.config;
        if config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.stopped.get_or_insert(Bound::Interrupted);
        } else if config.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stopped.get_or_insert(Bound::Timeout);
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

    fn result(mut self) -> FunctionResult {
        let function = &self.executor.module.functions[self.func];
        let incomplete = self.executor.incomplete();
        self.paths.infeasible = self.executor.infeasible;
        self.paths.incomplete = incomplete.iter().map(|paths| paths.count).sum();
        let unknown = self.paths.incomplete;
        let covered = self.paths.explored;
        let stats = self.executor.solver.stats();
        FunctionResult {
            name: function.name.clone(),
            file: self.executor.module.files.get(function.span.file).cloned().unwrap_or_default(),
            criterion: Criterion::Paths(self.executor.config.iterations),
            objectives: ObjectiveCounts { total: covered + unknown, covered, infeasible: 0, unknown },
            paths: self.paths,
            exhaustive: incomplete.is_empty(),
            incomplete,
            tests: self.tests,
            seconds: self.started.elapsed().as_secs_f64(),
            replay_seconds: 0.0,
            solver: SolverUse { queries: stats.queries, seconds: stats.seconds },
        }
    }
}

/// One side of a branch, and the state on the other if that is feasible too.
struct Taken {
    outcome: bool,
    other: Option<Box<State>>,
}

/// A function's name as an identifier.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
