//! Calls that are composed: all cases of a function as one term, instead of a path for each.
//!
//! A search for goals does not want the paths of the functions that are called on the way, only what they give. So a function without
//! goals of its own that only computes, reads and writes is folded (`fold.rs`): what it returns and what it leaves become terms over
//! its arguments and what it reads. Inputs for which it would go wrong are no case of that: the path parts before the call, and on that
//! side the call is followed as ever.
//!
//! Whether a call is composed follows from the program and the state alone, never from what was found so far or from a clock: a
//! path is found again by its choices (`search/prefix.rs`).
//!
//! Deliberately not here: functions that allocate, ask for inputs or say something; proofs, whose doubts are raised step by step; and
//! paths, where each case is one. Functions with loops only where everything is to be composed: a number that a loop counts is worth
//! more on its own path, where what it is an index of stays simple.

use crate::config::{Aliases, Labels, Summaries};
use crate::exec::compose::fold::{Folded, Undefined};
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Checks;
use crate::exec::executor::policy::Environment;
use crate::exec::executor::summary_candidates::FunctionSize;
use crate::goals::coverage::Aim;
use crate::state::value::Value;
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_ir::{FuncId, Reg};
use touchstone_solver::Side;

/// Instructions of a function that is composed, with those that it calls.
const MAX_INSTRUCTIONS: u64 = 400;

/// The same where everything is composed that can be.
const MAX_INSTRUCTIONS_IF_REQUESTED: u64 = 4000;

/// A folded call may execute so many times the instructions that are there: early returns let what follows them be executed twice.
const STEPS_PER_INSTRUCTION: u64 = 4;

impl Executor<'_> {
    /// Gives the state what the call gives, if it can be composed here. `Err` if it has to be settled first whether it goes wrong.
    pub(in crate::exec) fn compose(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        callee: FuncId,
        args: &[Value],
    ) -> Result<bool, Stop> {
        if state.is_folded() {
            return Ok(false);
        }
        let Some(size) = self.composable(callee) else { return Ok(false) };
        let steps = size.instructions.saturating_mul(STEPS_PER_INSTRUCTION);
        let folded = self.fold_call(state, callee, args.to_vec(), steps, Undefined::Kept);
        // What has to be decided first may not have to be, on some ways.
        let Ok(Folded { proper, result, memory, inputs }) = folded else { return Ok(false) };
        let made_nothing = Rc::ptr_eq(&inputs, &state.inputs);
        if !made_nothing || !matches!(result, None | Some(Value::Int(_) | Value::Ptr(_) | Value::LazyPointer(_))) {
            return Ok(false);
        }
        let proper_here = match (self.terms.as_const(proper), state.fixed_value(proper)) {
            (Some(known), _) | (None, Some(known)) => known == 1,
            // Also where a known path is followed: whether there was a choice is found out again.
            (None, None) => match self.solver.branch(&mut self.terms, &state.path, proper) {
                (Side::Feasible(_), Side::Infeasible) => true,
                (Side::Feasible(_), Side::Feasible(_)) => return Err(Stop::unfixed(proper)),
                _ => false,
            },
        };
        if !proper_here {
            return Ok(false);
        }
        state.memory = memory;
        state.composed = true;
        state.top_mut().inst += 1;
        if let (Some(dst), Some(value)) = (dst, result) {
            state.set(dst, value);
        }
        Ok(true)
    }

    /// The size of a function whose calls are composed in this execution.
    fn composable(&mut self, callee: FuncId) -> Option<FunctionSize> {
        let most = match self.config.summaries {
            Summaries::Off => return None,
            Summaries::Auto => MAX_INSTRUCTIONS,
            Summaries::On => MAX_INSTRUCTIONS_IF_REQUESTED,
        };
        let coverage = self.goal_tracker.coverage.as_ref()?;
        let searches = self.policy.environment == Environment::Testable && self.policy.checks == Checks::Ignored;
        // The papers' baselines see all paths.
        let plain = self.config.labels == Labels::Idl && self.config.aliases == Aliases::Late;
        if !searches || !plain || coverage.aim != Aim::Goals {
            return None;
        }
        let size = self.summary_candidates.size(self.module, callee)?;
        (size.branches > 0 && size.instructions <= most).then_some(size)
    }
}
