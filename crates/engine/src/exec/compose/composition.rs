//! Composition: all cases of a called function become one term, instead of a path for each.
//!
//! A search for goals does not need the paths of the functions that are called on the way, only their effects. So a
//! function without goals of its own that only computes, reads and writes is folded (`fold.rs`): its result and its
//! writes become terms over its arguments and what it reads. Inputs for which it fails are no case of the summary: the
//! path forks before the call, and on that side the call is executed.
//!
//! The decision to compose depends on the program and the state alone, never on earlier results or on time: a path must
//! be reproducible from its choices (`search/prefix.rs`).
//!
//! Deliberately not here: functions that allocate, request inputs or write output; proofs, in which caveats are raised
//! step by step; path criteria, where each case is a path. Functions with loops are composed only on request: a loop
//! counter is simpler on a path of its own, where the addresses computed from it stay constant.

use crate::config::{Aliases, Labels, Summaries};
use crate::exec::compose::fold::{Folded, Undefined};
use crate::exec::executor::Executor;
use crate::exec::executor::policy::CheckRecording;
use crate::exec::executor::policy::Environment;
use crate::exec::executor::summary_candidates::FunctionSize;
use crate::goals::coverage::Aim;
use crate::state::value::Value;
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_ir::{FuncId, Reg};
use touchstone_solver::Side;

/// The maximum number of instructions of a composed function, callees included.
const MAX_INSTRUCTIONS: u64 = 400;

/// The same if the user requests composition wherever it is possible.
const MAX_INSTRUCTIONS_IF_REQUESTED: u64 = 4000;

/// The number of steps that a folded call may take per instruction: code after an early return may be executed twice.
const STEPS_PER_INSTRUCTION: u64 = 4;

impl Executor<'_> {
    /// Applies the summary of a call to the state; returns false if the call cannot be composed here. `Err` if the
    /// condition under which the call fails must be fixed first.
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
        // A pointer that must be materialised for the fold may not be dereferenced on some paths.
        let Ok(Folded { proper, result, memory, inputs }) = folded else { return Ok(false) };
        let made_nothing = Rc::ptr_eq(&inputs, &state.inputs);
        if !made_nothing || !matches!(result, None | Some(Value::Int(_) | Value::Ptr(_) | Value::LazyPointer(_))) {
            return Ok(false);
        }
        let proper_here = match (self.terms.as_const(proper), state.fixed_value(proper)) {
            (Some(known), _) | (None, Some(known)) => known == 1,
            // Also during a replay: the replay must find the same choices.
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

    /// Returns the size of a function if its calls are composed in this execution.
    fn composable(&mut self, callee: FuncId) -> Option<FunctionSize> {
        let most = match self.config.options.summaries {
            Summaries::Off => return None,
            Summaries::Auto => MAX_INSTRUCTIONS,
            Summaries::On => MAX_INSTRUCTIONS_IF_REQUESTED,
        };
        let coverage = self.goal_tracker.coverage.as_ref()?;
        let searches =
            self.policy.environment == Environment::Testable && self.policy.checks == CheckRecording::Ignored;
        // The baselines of the papers explore all paths.
        let plain = self.config.labels == Labels::Idl && self.config.aliases == Aliases::Late;
        if !searches || !plain || coverage.aim != Aim::Goals {
            return None;
        }
        let size = self.summary_candidates.size(self.module, callee)?;
        (size.branches > 0 && size.instructions <= most).then_some(size)
    }
}
