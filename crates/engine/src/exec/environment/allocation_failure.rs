//! Allocations that fail, and the error number that failing operations set.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::state::inputs::RequestedInput;
use crate::state::memory::{Contents, disassemble, global_object};
use crate::state::value::Value;
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_criteria::{AssumeOption, Caveat, EnvironmentInput, Unspecified};
use touchstone_ir::{GlobalId, InputSource};
use touchstone_solver::TermId;

/// The maximum number of allocations of a path that may fail in a test.
const MAX_FAILING_ALLOCATIONS: u32 = 64;

impl Executor<'_> {
    /// Returns a term that is 1 if the next allocation fails, or `None` if it never does. Only a test of a function can
    /// make it fail; the start of a whole program cannot. The term is fixed first if the program may read the error
    /// number.
    pub(crate) fn allocation_failure(&mut self, state: &mut State) -> Result<Option<TermId>, Stop> {
        if is_injected(Fault::AllocationSucceeds) {
            return Ok(None);
        }
        let ruled_out = self.config.assume.contains(&AssumeOption::Allocation);
        if state.is_folded() || (self.policy.environment == Environment::Any && !self.considers(Caveat::Allocation)) {
            return Ok(None);
        }
        if self.policy.environment == Environment::Any {
            self.havoc_error_number(state);
            return Ok(Some(self.terms.var(1, "allocation fails")));
        }
        if ruled_out
            || self.config.entry == crate::Entry::Program
            || state.inputs.allocations >= MAX_FAILING_ALLOCATIONS
        {
            self.considers(Caveat::Allocation);
            return Ok(None);
        }
        let fails = match state.inputs.failing {
            Some(fails) => fails,
            None => {
                let inputs = state.inputs_mut();
                inputs.allocations += 1;
                let name = inputs.allocations.to_string();
                let title = EnvironmentInput::title_of(InputSource::Allocation, &name);
                let fails = self.input_var(state.inputs_mut(), 1, &title);
                let made = RequestedInput {
                    given: Some(fails),
                    ..RequestedInput::new(InputSource::Allocation, name, Vec::new())
                };
                state.inputs_mut().requested.push(Rc::new(made));
                state.inputs_mut().failing = Some(fails);
                fails
            }
        };
        if self.error_number(state).is_some() && state.fixed_value(fails).is_none() {
            return Err(Stop::unfixed(fails));
        }
        state.inputs_mut().failing = None;
        Ok(Some(fails))
    }

    /// Returns the result of an allocation: the object, or null with an error number.
    pub(crate) fn allocation_result(&mut self, state: &mut State, fails: TermId, made: Value, number: u64) -> Value {
        if self.policy.environment == Environment::Testable
            && let Some((global, bytes)) = self.error_number(state)
            && state.fixed_value(fails) == Some(1)
        {
            let cells = disassemble(&Value::constant(number), bytes, &mut self.pointers).collect();
            state.memory.get_mut(global_object(global)).contents = Contents::Cells(cells);
        }
        match state.fixed_value(fails) {
            Some(0) => return made,
            Some(_) => return Value::NULL,
            None => {}
        }
        let succeeds = self.terms.not(fails);
        Value::Choice(Rc::new([(fails, Value::NULL), (succeeds, made)]))
    }

    /// Returns the global of the error number and its size in bytes, if the program uses it.
    pub(crate) fn error_number(&self, state: &State) -> Option<(GlobalId, u8)> {
        let id = self.module.error_number()?;
        let global = &self.module.globals[id];
        let contents = &state.memory.get(global_object(id)).contents;
        let used = matches!(contents, Contents::Cells(cells) if cells.len() as u64 == global.size);
        (used && (1..=8).contains(&global.size)).then_some((id, global.size as u8))
    }

    /// Havocs the error number after a call that may set it.
    pub(in crate::exec) fn havoc_error_number(&mut self, state: &mut State) {
        if let Some((number, bytes)) = self.error_number(state) {
            let any = self.terms.var(8 * bytes, "error number");
            let any = Value::term(&self.terms, any);
            let cells = disassemble(&any, bytes, &mut self.pointers).collect();
            state.memory.get_mut(global_object(number)).contents = Contents::Cells(cells);
        }
    }

    /// Havocs the error number if output may fail.
    pub(crate) fn output_may_fail(&mut self, state: &mut State) {
        if self.error_number(state).is_some() && self.considers(Caveat::Unspecified(Unspecified::Output)) {
            self.havoc_error_number(state);
        }
    }
}
