//! Execution of states by an exploration, and the forks that it takes.

use crate::config::Search;
use crate::exec::instructions::fork::{Fork, ForkOutcome, OutcomeFork, SmallerValues};
use crate::exec::instructions::step::{Flow, StepResult};
use crate::goals::coverage::Aim;
use crate::goals::tracker::GoalHit;
use crate::search::exploration::{Exploration, StateFate};
use crate::search::memory_pressure::MAX_UNCHECKED_BYTES;
use crate::state::trail::Choice;
use crate::state::value::LazyPointerId;
use crate::state::{PathEnd, PointerUse, State, Unfixed, unanswered};
use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::{Span, WorkKind, spend};
use touchstone_criteria::{Bound, GoalId, Incomplete};
use touchstone_solver::{Path, Side, TermId, Values};

/// The number of steps between two checks of the deadline.
const STEPS_PER_DEADLINE_CHECK: u32 = 4096;

/// The maximum number of steps without a fork before other states come first: the state may be in an infinite loop.
const MAX_STEPS_WITHOUT_FORK: u64 = 50_000;

/// The distance of such a state: behind all others.
const LAST_DISTANCE: u32 = u32::MAX;

impl Exploration<'_, '_> {
    /// Executes one state until its path ends; other outcomes are put on the worklist.
    pub(super) fn follow(&mut self, mut state: State) {
        let begun = state.steps;
        loop {
            if self.ticks >= STEPS_PER_DEADLINE_CHECK {
                self.ticks = 0;
                if self.out_of_time() {
                    self.worklist.push(state, 0);
                    return;
                }
            }
            let before = state.steps;
            let StepResult { flow, ended, hits, .. } = self.executor.run(&mut state, STEPS_PER_DEADLINE_CHECK);
            // A point counts no step but takes time.
            self.ticks += 1 + (state.steps - before) as u32;
            self.executor.ledger.allocated_bytes += state.memory.take_new_large_bytes();
            if self.executor.ledger.allocated_bytes > MAX_UNCHECKED_BYTES && self.out_of_time() {
                self.worklist.push(state, 0);
                return;
            }
            for (ended, end) in ended {
                self.end(ended, end);
            }
            self.take_hits(&mut state, hits);
            match flow {
                Flow::Next
                    if self.aim == Aim::Goals
                        && state.steps - begun > MAX_STEPS_WITHOUT_FORK
                        && self.worklist.len() > 0 =>
                {
                    self.worklist.push(state, LAST_DISTANCE);
                    return;
                }
                Flow::Next => continue,
                Flow::End(end) => return self.end(state, end),
                Flow::Fork(Fork::Labels { forks, span }) => {
                    self.fork_on_labels(&mut state, &forks, span);
                    continue;
                }
                Flow::Fork(Fork::Outcome(fork)) => {
                    if let StateFate::Ended = self.split(&mut state, &fork) {
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

    /// Forks on every combination of labels: direct mode, the baseline of Bardin et al.
    pub(super) fn fork_on_labels(&mut self, state: &mut State, forks: &[(GoalId, TermId)], span: Span) {
        let mut states = vec![state.clone()];
        for (goal, cond) in forks {
            let mut next = Vec::new();
            for mut state in states {
                self.executor.ledger.labels_asked += 1;
                let (yes, no) = self.executor.both_sides(&state.path, *cond);
                if let Some(path) = self.side(yes, span) {
                    let mut covering = State { path, ..state.clone() };
                    self.take_hits(&mut covering, vec![GoalHit { goal: *goal, path: None }]);
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

    /// Takes every feasible outcome: the first is followed, the others are put on the worklist.
    pub(super) fn split(&mut self, state: &mut State, fork: &OutcomeFork) -> StateFate {
        let span = fork.span();
        state.depth += u32::from(fork.role().is_outcome());
        if self.executor.config.options.depth.is_some_and(|depth| state.depth > depth) {
            self.give_up(Incomplete::Bound(Bound::Depth), span, 1);
            return StateFate::Ended;
        }
        let mut open = Vec::new();
        for ForkOutcome { choice, side, .. } in self.executor.fork_outcomes(state, fork) {
            if let Some(path) = self.side(side, span) {
                open.push((choice, path));
            }
        }
        if let OutcomeFork::Branch { then_block, else_block, .. } = fork
            && open.len() > 1
        {
            let from = state.top().block;
            let graph = self.executor.flow_graph(state.top().func);
            // The exit of a loop comes first: an unbounded loop then yields tests from the beginning.
            if graph.leaves_loop(from, *else_block) && !graph.leaves_loop(from, *then_block) {
                open.reverse();
            }
        }
        // If all sides are unknown, nothing is left: they were already counted as given up.
        let mut open = open.into_iter();
        let Some((choice, path)) = open.next() else { return StateFate::Ended };
        for (choice, path) in open.rev().filter(|_| !is_injected(Fault::LostOutcome)) {
            spend(WorkKind::State, 1);
            let mut other = state.clone();
            if let StateFate::On = self.take(&mut other, fork, choice, path) {
                self.put(other);
            }
        }
        self.take(state, fork, choice, path)
    }

    /// Takes one outcome.
    pub(super) fn take(&mut self, state: &mut State, fork: &OutcomeFork, choice: Choice, path: Path) -> StateFate {
        let taken = self.executor.take_outcome(state, fork, choice, path);
        self.take_hits(state, taken.hits);
        match taken.flow {
            Flow::Next => return StateFate::On,
            Flow::End(end) => self.end(state.clone(), end),
            Flow::Fork(fork) => self.replace(state, fork),
        }
        StateFate::Ended
    }

    pub(super) fn side(&mut self, side: Side, span: Span) -> Option<Path> {
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

    /// Replaces a state by several, in which the instruction is executed again.
    pub(super) fn replace(&mut self, state: &State, fork: Fork) {
        let states = match fork {
            Fork::Shape { id, purpose } => self.shapes(state, id, purpose),
            Fork::Value(unfixed) => self.fixed(state, unfixed),
            Fork::Outcome(_) | Fork::Labels { .. } => Vec::new(),
        };
        for state in states.into_iter().rev() {
            self.put(state);
        }
    }

    pub(super) fn shapes(&mut self, state: &State, id: LazyPointerId, purpose: PointerUse) -> Vec<State> {
        let mut states = Vec::new();
        for shape in self.executor.pointer_targets(state, id, purpose) {
            match shape {
                Ok(state) => states.push(state),
                Err(PathEnd::Incomplete { why, .. }) => {
                    let span = self.source_location(state);
                    self.give_up(why, span, 1);
                }
                Err(_) => {}
            }
        }
        states
    }

    /// Returns one state for every value of a term on the path. A search for goals may need few of many: one state
    /// represents all greater values, behind the others.
    pub(super) fn fixed(&mut self, state: &State, unfixed: Unfixed) -> Vec<State> {
        let smaller = if self.prunes() { self.executor.smaller_values(state, unfixed) } else { None };
        let Some(SmallerValues { values, rest }) = smaller else {
            let all = self.executor.values(state, unfixed);
            return self.fixed_to(state, unfixed, all);
        };
        let mut states = self.fixed_to(state, unfixed, values);
        match rest {
            Ok(rest) => states.extend(rest),
            Err(why) => {
                let span = self.source_location(state);
                self.give_up(why, span, 1);
            }
        }
        states
    }

    pub(super) fn fixed_to(&mut self, state: &State, unfixed: Unfixed, found: Values) -> Vec<State> {
        if !found.complete {
            let span = self.source_location(state);
            let bound = match self.out_of_time() {
                true => self.stopped.unwrap_or(Bound::Budget),
                false if self.executor.config.memory.is_some_and(|limit| limit.is_met()) => Bound::Memory,
                false => Bound::Values,
            };
            self.give_up(Incomplete::Bound(bound), span, 1);
        }
        let mut states = Vec::new();
        for value in found.values {
            if self.out_of_time() {
                let (bound, span) = (self.stopped.unwrap_or(Bound::Budget), self.source_location(state));
                self.give_up(Incomplete::Bound(bound), span, 1);
                break;
            }
            states.extend(self.executor.fix(state, unfixed, value));
        }
        states
    }
}
