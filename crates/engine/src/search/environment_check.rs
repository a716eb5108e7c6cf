//! The environment check: a second search for goals that a complete search left open, in an unrestricted environment
//! (`exec/environment/`).
//!
//! Every path is followed without building tests. A goal that is reached is doubted, with the caveats of its path. If a
//! path cannot be followed, every goal that control flow can still reach is doubted. The remaining goals are
//! infeasible: not only in tests, but in every run of a program that contains the function.

use crate::config::{Aliases, Config, Labels};
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Policy;
use crate::exec::instructions::fork::{Fork, ForkOutcome, OutcomeFork};
use crate::exec::instructions::step::{Flow, StepResult};
use crate::goals::coverage::{Aim, Coverage};
use crate::goals::tracker::GoalHit;
use crate::prover::{ControlFlowReach, GoalBlocks};
use crate::state::{PathEnd, State, Unfixed, unanswered};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use touchstone_base::Span;
use touchstone_criteria::{Bound, GoalId, GoalIndex, Incomplete, IncompletePaths, Unsupported};
use touchstone_ir::{BlockId, FuncId, Module};
use touchstone_solver::Side;

/// Doubted goals, with the reasons.
pub(crate) type Doubted = BTreeMap<GoalId, Vec<IncompletePaths>>;

/// The number of steps between two checks of the deadline.
const STEPS_PER_DEADLINE_CHECK: u32 = 1024;

/// Returns the goals among `open` that an unrestricted environment may reach, with the reasons.
pub(crate) fn check_environment(
    module: &Module,
    func: FuncId,
    watch: &Arc<GoalIndex>,
    open: &[GoalId],
    config: &Config,
) -> Doubted {
    // Baselines, and criteria that exclude paths, do not apply here.
    let config = Config {
        labels: Labels::Idl,
        aliases: Aliases::Late,
        paths: touchstone_criteria::PathsOf::Any,
        max_paths: None,
        questions: None,
        ..config.clone()
    };
    let closed: Vec<GoalId> = watch.goals.ids().filter(|goal| !open.contains(goal)).collect();
    let coverage = Coverage::new(Arc::clone(watch), &closed, Aim::Goals);
    let executor = Executor::new(module, &config, Policy::PROOF, Some(coverage));
    let wide = EnvironmentCheck {
        executor,
        func,
        sweep: ControlFlowReach::new(watch),
        wanted: None,
        waiting: Vec::new(),
        doubted: BTreeMap::new(),
        steps: 0,
    };
    wide.run()
}

struct EnvironmentCheck<'m> {
    executor: Executor<'m>,
    func: FuncId,
    sweep: ControlFlowReach,
    wanted: Option<GoalBlocks>,
    waiting: Vec<State>,
    doubted: Doubted,
    steps: u32,
}

impl EnvironmentCheck<'_> {
    fn run(mut self) -> Doubted {
        let span = self.executor.module.functions[self.func].span;
        match self.executor.starts(self.func) {
            Ok(starts) => {
                for paths in starts.gave_up {
                    self.doubt_all(&paths.why, paths.span);
                }
                if let Some(first) = starts.states.first() {
                    self.take_hits(first, starts.hits);
                }
                self.waiting = starts.states;
            }
            Err(PathEnd::Incomplete { why, .. }) => self.doubt_all(&why, span),
            Err(PathEnd::Assumed) => {}
            Err(_) => self.doubt_all(&Unsupported::Start.into(), span),
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
            if self.reaches_open_goal(&state) {
                self.follow(state);
            }
        }
        self.doubted
    }

    fn remaining(&self) -> usize {
        self.executor.goal_tracker.coverage.as_ref().map_or(0, Coverage::remaining)
    }

    fn stopped(&self) -> Option<Bound> {
        let config = self.executor.config;
        if config.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Bound::Interrupted);
        }
        config.deadline.is_over().then(|| Bound::of(config.deadline))
    }

    /// Returns true if control flow can reach an open goal from here.
    fn reaches_open_goal(&mut self, state: &State) -> bool {
        let Some(coverage) = &self.executor.goal_tracker.coverage else { return false };
        if self.wanted.as_ref().is_none_or(|wanted| wanted.is_old(coverage)) {
            self.wanted = Some(GoalBlocks::new(self.executor.module, coverage));
        }
        self.wanted.as_ref().is_some_and(|wanted| wanted.reaches(&frame_blocks(state)))
    }

    /// Executes one state until it ends or forks.
    fn follow(&mut self, mut state: State) {
        loop {
            self.steps = self.steps.wrapping_add(1);
            if self.steps.is_multiple_of(STEPS_PER_DEADLINE_CHECK) && self.stopped().is_some() {
                self.waiting.push(state);
                return;
            }
            let stepped = self.executor.step(&mut state);
            match self.done(&state, stepped) {
                Flow::Next => {}
                Flow::Fork(fork) => return self.split(state, fork),
                Flow::End(end) => return self.end(&state, &end),
            }
        }
    }

    /// Processes the result of a step and returns its flow.
    fn done(&mut self, state: &State, stepped: StepResult) -> Flow {
        for (state, end) in stepped.ended {
            self.end(&state, &end);
        }
        self.take_hits(state, stepped.hits);
        // Everything reachable from a path that was given up may happen.
        if let Some(last) = stepped.gave_up.into_iter().next_back() {
            self.give_up(state, last.why, last.span);
        }
        stepped.flow
    }

    /// Takes every outcome of a fork that some input has.
    fn split(&mut self, state: State, fork: Fork) {
        match fork {
            Fork::Outcome(fork) => {
                for way in self.executor.fork_outcomes(&state, &fork).into_iter().rev() {
                    self.go(&state, &fork, way);
                }
            }
            // Only the paper's baseline forks on labels.
            Fork::Labels { span, .. } => {
                self.give_up(&state, Unsupported::LabelFork.into(), span);
            }
            Fork::Shape { id, purpose } => {
                for shape in self.executor.pointer_targets(&state, id, purpose) {
                    match shape {
                        Ok(state) => self.waiting.push(state),
                        Err(end) => self.end(&state, &end),
                    }
                }
            }
            Fork::Value(unfixed) => self.fix(&state, unfixed),
        }
    }

    fn go(&mut self, state: &State, fork: &OutcomeFork, way: ForkOutcome) {
        let path = match way.side {
            Side::Feasible(path) => path,
            Side::Infeasible => return,
            Side::Unknown(why) => return self.give_up(state, unanswered(why), fork.span()),
        };
        let mut next = state.clone();
        let taken = self.executor.take_outcome(&mut next, fork, way.choice, path);
        match self.done(&next, taken) {
            Flow::Next => self.waiting.push(next),
            Flow::Fork(fork) => self.split(next, fork),
            Flow::End(end) => self.end(&next, &end),
        }
    }

    fn fix(&mut self, state: &State, unfixed: Unfixed) {
        let found = self.executor.values(state, unfixed);
        for value in found.values {
            if let Some(bound) = self.stopped() {
                self.give_up(state, Incomplete::Bound(bound), self.span(state));
                return;
            }
            self.waiting.extend(self.executor.fix(state, unfixed, value));
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
                let Some(coverage) = &self.executor.goal_tracker.coverage else { return };
                let goals: Vec<GoalId> = coverage.watch.error(*kind, *span).collect();
                for goal in goals {
                    self.doubt(goal, reasons(state, *span));
                }
            }
            PathEnd::Returned(_)
            | PathEnd::Exited(_)
            | PathEnd::Hung
            | PathEnd::Threw { .. }
            | PathEnd::Assumed
            | PathEnd::ExceedsCriterion => {}
        }
    }

    /// Doubts the goals that a step reached.
    fn take_hits(&mut self, state: &State, hits: Vec<GoalHit>) {
        for hit in hits {
            let span = self.span(state);
            self.doubt(hit.goal, reasons(state, span));
        }
    }

    /// Gives up a path: every goal that control flow can reach is doubted.
    fn give_up(&mut self, state: &State, why: Incomplete, span: Span) {
        for goal in self.sweep.from(self.executor.module, &frame_blocks(state)) {
            self.doubt(goal, vec![IncompletePaths { why: why.clone(), span, count: 1 }]);
        }
    }

    fn doubt_all(&mut self, why: &Incomplete, span: Span) {
        let Some(coverage) = &self.executor.goal_tracker.coverage else { return };
        for goal in coverage.open_goals().collect::<Vec<_>>() {
            self.doubt(goal, vec![IncompletePaths { why: why.clone(), span, count: 1 }]);
        }
    }

    fn doubt(&mut self, goal: GoalId, why: Vec<IncompletePaths>) {
        let Some(coverage) = &mut self.executor.goal_tracker.coverage else { return };
        if coverage.is_open(goal) {
            coverage.cover(goal);
            self.doubted.insert(goal, why);
        }
    }

    /// Returns the source location of a state.
    fn span(&self, state: &State) -> Span {
        let module = self.executor.module;
        state.frames.last().map_or(module.functions[self.func].span, |frame| {
            let block = &module.functions[frame.func].blocks[frame.block];
            block.insts.get(frame.inst).map_or(block.terminator.span, |inst| inst.span)
        })
    }
}

fn frame_blocks(state: &State) -> Vec<(FuncId, BlockId)> {
    state.frames.iter().map(|frame| (frame.func, frame.block)).collect()
}

/// Returns the caveats that a path rests on.
fn reasons(state: &State, span: Span) -> Vec<IncompletePaths> {
    if state.caveats.is_empty() {
        let why = Unsupported::RunNotShown.into();
        return vec![IncompletePaths { why, span, count: 1 }];
    }
    let caveats = state.caveats.iter().cloned();
    caveats.map(|caveat| IncompletePaths { why: Incomplete::Doubt(caveat), span, count: 1 }).collect()
}
