//! A second look at goals for which a complete search found no test: in the widest world (`world.rs`), is there a run
//! that reaches them?
//!
//! Every path is followed without making tests. A goal that is met is doubted, with what its path rests on. Where a path
//! can't be followed, every goal that control flow can still reach is doubted. What is left is infeasible: not only in
//! tests, but on every run of a program that has the function.

use crate::config::{Aliases, Config, Labels};
use crate::coverage::Coverage;
use crate::executor::Executor;
use crate::explore::Aim;
use crate::prover::{Sweep, Wanted};
use crate::state::{PathEnd, State, Stop};
use crate::step::Flow;
use crate::world::World;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use touchstone_base::Span;
use touchstone_criteria::{Bound, GoalId, Incomplete, IncompletePaths, Watch};
use touchstone_ir::{BlockId, FuncId, Module};
use touchstone_solver::{Path, Side, TermId};

/// Why goals are doubted.
pub(crate) type Doubted = BTreeMap<GoalId, Vec<IncompletePaths>>;

/// The clock is looked at once in so many steps.
const STEPS_A_LOOK: u32 = 1024;

/// The goals among `open` that a wider world may reach, with the reasons.
pub(crate) fn look(module: &Module, func: FuncId, watch: &Rc<Watch>, open: &[GoalId], config: &Config) -> Doubted {
    // Baselines, and criteria that leave paths out, have no say here.
    let config = Config {
        labels: Labels::Idl,
        aliases: Aliases::Late,
        iterations: None,
        max_paths: None,
        questions: None,
        ..config.clone()
    };
    let mut executor = Executor::new(module, &config);
    executor.world = World::Any;
    let closed: Vec<GoalId> = watch.goals.ids().filter(|goal| !open.contains(goal)).collect();
    executor.coverage = Some(Coverage::new(Rc::clone(watch), &closed, Aim::Goals));
    let wide = Wide {
        executor,
        func,
        sweep: Sweep::new(watch),
        wanted: None,
        waiting: Vec::new(),
        doubted: BTreeMap::new(),
        steps: 0,
    };
    wide.run()
}

struct Wide<'m> {
    executor: Executor<'m>,
    func: FuncId,
    sweep: Sweep,
    wanted: Option<Wanted>,
    waiting: Vec<State>,
    doubted: Doubted,
    steps: u32,
}

impl Wide<'_> {
    fn run(mut self) -> Doubted {
        match self.executor.starts(self.func) {
            Ok(starts) => self.waiting = starts,
            Err(stop) => self.doubt_everything(&stop),
        }
        let span = self.executor.module.functions[self.func].span;
        for paths in self.executor.incomplete() {
            self.doubt_all(&paths.why, paths.span);
        }
        if let Some(first) = self.waiting.first().cloned() {
            self.take_hits(&first);
        }
        while let Some(state) = self.waiting.pop() {
            if self.remaining() == 0 {
                break;
            }
            if let Some(bound) = self.stopped() {
                self.waiting.push(state);
                for waiting in std::mem::take(&mut self.waiting) {
                    self.give_up(&waiting, Incomplete::Bound(bound), span);
                }
                break;
            }
            if self.is_wanted(&state) {
                self.follow(state);
            }
        }
        self.doubted
    }

    fn remaining(&self) -> usize {
        self.executor.coverage.as_ref().map_or(0, Coverage::remaining)
    }

    fn stopped(&self) -> Option<Bound> {
        let config = self.executor.config;
        if config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Bound::Interrupted);
        }
        config.deadline.is_over().then_some(Bound::Timeout)
    }

    /// Whether control flow can reach an open goal from here.
    fn is_wanted(&mut self, state: &State) -> bool {
        let Some(coverage) = &self.executor.coverage else { return false };
        if self.wanted.as_ref().is_none_or(|wanted| wanted.is_old(coverage)) {
            self.wanted = Some(Wanted::new(self.executor.module, coverage));
        }
        self.wanted.as_ref().is_some_and(|wanted| wanted.reaches(&place(state)))
    }

    /// Follows one state until it ends or splits.
    fn follow(&mut self, mut state: State) {
        loop {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(STEPS_A_LOOK) && self.stopped().is_some() {
                self.waiting.push(state);
                return;
            }
            let given_up = self.executor.given_up();
            let flow = self.executor.step(&mut state);
            self.take_ended();
            self.take_hits(&state);
            if self.executor.given_up() != given_up {
                self.note_given_up(&state);
            }
            match flow {
                Ok(Flow::Next) => {}
                Ok(flow) => return self.split(state, flow),
                Err(stop) => return self.stop(&state, stop),
            }
            if state.returned.is_some() {
                return;
            }
        }
    }

    /// A condition that depends on inputs: every side that has any goes on.
    fn split(&mut self, state: State, flow: Flow) {
        let executor = &mut self.executor;
        match flow {
            Flow::Next => self.waiting.push(state),
            Flow::Branch { cond, then_block, else_block, tag, span } => {
                let (yes, no) = executor.solver.branch(&mut executor.terms, &state.path, cond);
                for (side, taken) in [(no, false), (yes, true)] {
                    self.side(&state, side, span, |executor, state| {
                        executor.take_branch(state, tag, taken, then_block, else_block, span)
                    });
                }
            }
            Flow::Switch { targets, span } => {
                for (target, cond) in targets {
                    let executor = &mut self.executor;
                    let side = executor.solver.assume(&mut executor.terms, &state.path, cond);
                    self.side(&state, side, span, |executor, state| executor.take_arm(state, target, span));
                }
            }
            // Only the paper's baseline forks on labels; a question is as good.
            Flow::Labels { forks, .. } => {
                for (goal, cond) in forks {
                    self.executor.check_label(&state, goal, cond);
                }
                self.take_hits(&state);
                self.waiting.push(state);
            }
        }
    }

    fn side(
        &mut self,
        state: &State,
        side: Side,
        span: Span,
        go: impl FnOnce(&mut Executor<'_>, &mut State) -> Result<(), Stop>,
    ) {
        let path: Path = match side {
            Side::Feasible(path) => path,
            Side::Infeasible => return,
            Side::Unknown(why) => return self.give_up(state, Incomplete::Solver(format!("{why:?}")), span),
        };
        let mut next = State { path, ..state.clone() };
        let gone = go(&mut self.executor, &mut next);
        self.take_hits(&next);
        match gone {
            Ok(()) => self.waiting.push(next),
            Err(stop) => self.stop(&next, stop),
        }
    }

    /// What stopped an instruction: the path ends, or the state is replaced by several.
    fn stop(&mut self, state: &State, stop: Stop) {
        match stop {
            Stop::End(end) => self.end(state, &end),
            Stop::Force(id, purpose) => {
                for option in self.executor.force(state, id, purpose) {
                    match option {
                        Ok(state) => self.waiting.push(state),
                        Err(Stop::End(end)) => self.end(state, &end),
                        Err(_) => {}
                    }
                }
            }
            Stop::Enumerate(term) => self.enumerate(state, term),
        }
    }

    fn enumerate(&mut self, state: &State, term: TermId) {
        let executor = &mut self.executor;
        let found = executor.solver.values(&mut executor.terms, &state.path, term, executor.config.max_values);
        let width = executor.terms.width(term);
        for value in found.values {
            if let Some(bound) = self.stopped() {
                self.give_up(state, Incomplete::Bound(bound), self.span(state));
                return;
            }
            let executor = &mut self.executor;
            let constant = executor.terms.constant(width, value);
            let here = executor.terms.eq(term, constant);
            if let Side::Feasible(path) = executor.solver.assume(&mut executor.terms, &state.path, here) {
                let mut fixed = State { path, ..state.clone() };
                Rc::make_mut(&mut fixed.fixed).push((term, value));
                self.waiting.push(fixed);
            }
        }
        if !found.complete {
            self.give_up(state, Incomplete::Bound(Bound::Values), self.span(state));
        }
    }

    fn end(&mut self, state: &State, end: &PathEnd) {
        match end {
            PathEnd::Incomplete { why, span } => {
                let span = if span.is_some() { *span } else { self.span(state) };
                self.give_up(state, why.clone(), span);
            }
            PathEnd::Error { kind, span } => {
                let Some(coverage) = &self.executor.coverage else { return };
                let goals: Vec<GoalId> = coverage.watch.error(*kind, *span).collect();
                for goal in goals {
                    self.doubt(goal, reasons(state, *span));
                }
            }
            PathEnd::Returned(_) | PathEnd::Exited(_) | PathEnd::Assumed | PathEnd::Longer => {}
        }
    }

    /// Paths that a check has ended.
    fn take_ended(&mut self) {
        for (state, end) in std::mem::take(&mut self.executor.ended) {
            self.end(&state, &end);
        }
    }

    /// Goals that the last step reached.
    fn take_hits(&mut self, state: &State) {
        let given_up = self.executor.given_up();
        for asked in std::mem::take(&mut self.executor.postponed) {
            if self.executor.coverage.as_ref().is_some_and(|coverage| coverage.is_open(asked.goal)) {
                self.executor.check_label(&asked.state, asked.goal, asked.cond);
            }
        }
        for hit in std::mem::take(&mut self.executor.hits) {
            let span = self.span(state);
            self.doubt(hit.goal, reasons(state, span));
        }
        if self.executor.given_up() != given_up {
            self.note_given_up(state);
        }
    }

    /// A step gave something up on the way: whatever can be reached from here may be there.
    fn note_given_up(&mut self, state: &State) {
        if let Some(last) = self.executor.last_given_up() {
            self.give_up(state, last.why, last.span);
        }
    }

    /// A path is not followed from here: every goal that control flow can reach is doubted.
    fn give_up(&mut self, state: &State, why: Incomplete, span: Span) {
        for goal in self.sweep.from(self.executor.module, &place(state)) {
            self.doubt(goal, vec![IncompletePaths { why: why.clone(), span, count: 1 }]);
        }
    }

    fn doubt_everything(&mut self, stop: &Stop) {
        let span = self.executor.module.functions[self.func].span;
        match stop {
            Stop::End(PathEnd::Incomplete { why, .. }) => self.doubt_all(why, span),
            Stop::End(PathEnd::Assumed) => {}
            _ => self.doubt_all(&Incomplete::Unsupported("a start that can't be made".to_string()), span),
        }
    }

    fn doubt_all(&mut self, why: &Incomplete, span: Span) {
        let Some(coverage) = &self.executor.coverage else { return };
        for goal in coverage.open_goals().collect::<Vec<_>>() {
            self.doubt(goal, vec![IncompletePaths { why: why.clone(), span, count: 1 }]);
        }
    }

    fn doubt(&mut self, goal: GoalId, why: Vec<IncompletePaths>) {
        let Some(coverage) = &mut self.executor.coverage else { return };
        if coverage.is_open(goal) {
            coverage.cover(goal);
            self.doubted.insert(goal, why);
        }
    }

    /// Where a state stands.
    fn span(&self, state: &State) -> Span {
        let module = self.executor.module;
        state.frames.last().map_or(module.functions[self.func].span, |frame| {
            let block = &module.functions[frame.func].blocks[frame.block];
            block.insts.get(frame.inst).map_or(block.terminator.span, |inst| inst.span)
        })
    }
}

fn place(state: &State) -> Vec<(FuncId, BlockId)> {
    state.frames.iter().map(|frame| (frame.func, frame.block)).collect()
}

/// What a path rests on.
fn reasons(state: &State, span: Span) -> Vec<IncompletePaths> {
    if state.doubts.is_empty() {
        let why = Incomplete::Unsupported("a run that tests do not show".to_string());
        return vec![IncompletePaths { why, span, count: 1 }];
    }
    let doubts = state.doubts.iter().cloned();
    doubts.map(|doubt| IncompletePaths { why: Incomplete::Doubt(doubt), span, count: 1 }).collect()
}
