//! Tests from reached goals and ended paths.

use crate::config::Aliases;
use crate::goals::coverage::Aim;
use crate::goals::tracker::GoalHit;
use crate::search::exploration::Exploration;
use crate::search::search_events::SearchEvent;
use crate::state::value::Value;
use crate::state::{PathEnd, State};
use std::rc::Rc;
use touchstone_base::work_time;
use touchstone_criteria::{Bound, Incomplete, Replay, TestCase, Unsupported};
use touchstone_solver::Side;

impl Exploration<'_, '_> {
    /// Builds a test for every goal that a step reached and that is still open.
    pub(super) fn take_hits(&mut self, state: &mut State, hits: Vec<GoalHit>) {
        for hit in hits {
            let Some(coverage) = &self.executor.goal_tracker.coverage else { return };
            // A goal that awaits the end of the path needs no second attempt.
            if !coverage.is_open(hit.goal) || (hit.path.is_none() && state.pending.contains(&hit.goal)) {
                continue;
            }
            // The path's own test covers what the path reaches; only a label may need other inputs.
            if self.aim == Aim::Paths && hit.path.is_none() {
                Rc::make_mut(&mut state.pending).push(hit.goal);
                continue;
            }
            let model = self.executor.model_with_fitting_lengths(state, hit.path.as_ref().unwrap_or(&state.path));
            let id = self.next_id();
            match self.executor.goal_test(state, &model, self.func, hit.goal, id) {
                Some(test) => {
                    if !test.covers.contains(&hit.goal) {
                        // Engine and interpreter disagree: no infeasibility may rest on this.
                        let span = self.source_location(state);
                        self.give_up(Unsupported::Disagreement(hit.goal).into(), span, 1);
                    }
                    // The path may reach the goal with another end that can be emitted.
                    if !self.emit(test) && hit.path.is_none() {
                        Rc::make_mut(&mut state.pending).push(hit.goal);
                    }
                }
                // Only the end of the path can confirm these inputs.
                None if hit.path.is_none() => Rc::make_mut(&mut state.pending).push(hit.goal),
                None => {
                    let span = self.source_location(state);
                    self.give_up(Unsupported::NoProperEnd(hit.goal).into(), span, 1);
                }
            }
        }
    }

    pub(super) fn next_id(&self) -> String {
        format!("{}_{}", identifier(&self.executor.module.functions[self.func].name), self.tests + 1)
    }

    /// Emits a test and marks the goals that it covers (Bardin et al., iterative deletion by concrete runs). Returns
    /// false if the consumer refuses it.
    pub(super) fn emit(&mut self, test: TestCase) -> bool {
        let refused = self.sink.filter()(&test);
        if let Some(why) = refused {
            let span = self.executor.module.functions[self.func].span;
            self.paths.explored = self.paths.explored.saturating_sub(1);
            self.give_up(Unsupported::Unmakeable(why).into(), span, 1);
            return false;
        }
        // The goals of such a test are neither covered nor infeasible.
        if matches!(test.replayed, Replay::Disagreed(_)) {
            self.give_up_test(Unsupported::InterpreterDisagrees.into());
        }
        self.publish(test);
        true
    }

    /// Passes a test to the consumer.
    pub(super) fn publish(&mut self, test: TestCase) {
        self.last_test = work_time();
        self.tests += 1;
        if let Some(coverage) = &mut self.executor.goal_tracker.coverage {
            for goal in &test.covers {
                coverage.cover(*goal);
            }
        }
        self.sink.event(SearchEvent::Test(&test));
        self.progress();
        if self.executor.config.max_paths.is_some_and(|limit| self.tests >= limit) {
            self.stopped.get_or_insert(Bound::MaxPaths);
        }
    }

    /// Records the end of a path and emits its test.
    pub(super) fn end(&mut self, mut state: State, end: PathEnd) {
        match &end {
            PathEnd::Assumed => return,
            PathEnd::ExceedsCriterion => {
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
        let new = !self.seen_before.contains(&hash.value()) && self.seen.insert(hash.value());
        if new && self.sink.wants_cases() {
            let case = self.executor.case(&state, self.func, &end);
            self.sink.case(case);
        }
        // With late aliases there is one test per path; eager mode, the baseline, emits one for every fixed index. A
        // goal may need a pointer target that the path's first test does not have.
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

    /// Ends a path in a search for goals: its error may be a goal, and others may have awaited its end.
    pub(super) fn end_for_goals(&mut self, state: State, end: &PathEnd) {
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

    /// Returns true if an open goal awaited this end, or is this end.
    pub(super) fn wants_end(&self, state: &State, end: &PathEnd) -> bool {
        let Some(coverage) = &self.executor.goal_tracker.coverage else { return false };
        let error = match end {
            PathEnd::Error { kind, span } => Some(coverage.watch.error(*kind, *span)),
            _ => None,
        };
        state.pending.iter().copied().chain(error.into_iter().flatten()).any(|goal| coverage.is_open(goal))
    }

    /// Gives up a path without a test.
    pub(super) fn give_up_test(&mut self, why: Incomplete) {
        let span = self.executor.module.functions[self.func].span;
        self.give_up(why, span, 1);
    }

    /// Narrows the state to inputs with a result that the oracle rejects, if there are any.
    pub(super) fn oracle(&mut self, state: &mut State, value: Option<Value>) {
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
}

/// Returns a function's name as an identifier.
fn identifier(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}
