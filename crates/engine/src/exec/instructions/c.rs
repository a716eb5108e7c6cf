//! Builtins of C: output, the heap, the stack.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::instructions::builtins::MAX_HEAP_OBJECT;
use crate::exec::memory::access::Intent;
use crate::state::memory::{Cell, Object, ObjectKind};
use crate::state::value::{ObjectId, Pointer, Scalar, Value};
use crate::state::{MAX_STACK_BYTES, PathEnd, State, Stop};
use touchstone_base::{Id, Span};
use touchstone_criteria::{Caveat, Unspecified, Unsupported};
use touchstone_ir::{CBuiltin, ErrorKind, GlobalId, GlobalRole, Operand, Reg};
use touchstone_solver::{Op, Rel};

/// The error number of a failed allocation.
const NO_MEMORY: u64 = 12;

impl Executor<'_> {
    pub(in crate::exec) fn step_c_builtin(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        builtin: CBuiltin,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        match builtin {
            CBuiltin::Putchar => {
                self.output_may_fail(state);
                if let Some(dst) = dst {
                    let written = self.scalar(state, args[0], span)?.term(&mut self.terms, 32);
                    let byte = self.terms.constant(32, 255);
                    let mut byte = self.terms.bin(Op::And, written, byte);
                    if self.considers(Caveat::Unspecified(Unspecified::Output)) {
                        byte = self.terms.var(32, "unspecified");
                    }
                    state.set(dst, Value::term(&self.terms, byte));
                }
            }
            CBuiltin::AtExit => match state.top().value(args[0]) {
                Value::Int(Scalar::Const(0)) => {}
                _ => return Err(Stop::unsupported(Unsupported::AtExit, span)),
            },
            CBuiltin::SetMark | CBuiltin::Resume => return Err(Stop::unsupported(Unsupported::JumpOutOfCall, span)),
            CBuiltin::ReturnAddress => return Err(Stop::unsupported(Unsupported::ReturnAddress, span)),
            CBuiltin::IsStream => {
                let value = state.top().value(args[0]);
                let (object, _) = self.fixed_location(state, &value, 0, Intent::Read, span)?;
                let data = state.memory.get(object).data.map(|data| &self.module.types[data]);
                let truth = Value::constant(u64::from(data.is_some_and(touchstone_ir::is_stream)));
                dst.into_iter().for_each(|dst| state.set(dst, truth.clone()));
            }
            CBuiltin::Access => {
                let value = state.top().value(args[0]);
                self.check_byte(state, &value, span)?;
            }
            CBuiltin::FloatText => self.float_text(state, dst, args, span)?,
            CBuiltin::Printf | CBuiltin::Puts | CBuiltin::Vprintf => {
                // Output does not change the path; the interpreter produces it when the test is confirmed.
                self.output_may_fail(state);
                if let Some(dst) = dst {
                    if self.module.functions[state.top().func].reads(dst) {
                        return Err(Stop::unsupported(Unsupported::OutputValue, span));
                    }
                    state.set(dst, Value::Undefined);
                }
            }
            CBuiltin::Malloc | CBuiltin::Calloc | CBuiltin::Alloca => self.allocate(state, dst, builtin, args, span)?,
            CBuiltin::Free => self.free(state, args[0], span)?,
            CBuiltin::Release => self.release(state, args[0])?,
        }
        Ok(())
    }

    fn allocate(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        builtin: CBuiltin,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let (size, fill) = match builtin {
            CBuiltin::Calloc => {
                let (count, size) = (self.fixed(state, args[0], span)?, self.fixed(state, args[1], span)?);
                (count.saturating_mul(size), Cell::Byte(0))
            }
            _ => (self.fixed(state, args[0], span)?, Cell::Undefined),
        };
        if size > MAX_HEAP_OBJECT {
            return Err(Stop::unsupported(Unsupported::LargeAllocation(size), span));
        }
        let fails = match builtin {
            CBuiltin::Alloca => None,
            _ => self.allocation_failure(state)?,
        };
        if builtin == CBuiltin::Alloca {
            let stack = state.top().stack.saturating_add(size);
            if stack > MAX_STACK_BYTES {
                return Err(Stop::unsupported(Unsupported::LargeStack(stack, MAX_STACK_BYTES), span));
            }
            state.top_mut().stack = stack;
        }
        self.ensure_memory(size, span)?;
        let kind = if builtin == CBuiltin::Alloca { ObjectKind::Slot } else { ObjectKind::Heap };
        let object = state.memory.alloc(Object::with_cells(vec![fill; size as usize], kind, None));
        if builtin == CBuiltin::Alloca {
            state.top_mut().slots.push(object);
        }
        if let Some(dst) = dst {
            let made = Value::pointer(object, 0);
            let value = match fails {
                Some(fails) => self.allocation_result(state, fails, made, NO_MEMORY),
                None => made,
            };
            state.set(dst, value);
        }
        Ok(())
    }

    fn free(&mut self, state: &mut State, operand: Operand, span: Span) -> Result<(), Stop> {
        let value = state.top().value(operand);
        self.free_value(state, value, span)
    }

    fn free_value(&mut self, state: &mut State, value: Value, span: Span) -> Result<(), Stop> {
        match self.resolved(state, &value)? {
            Value::Int(number) => self.free_number(state, number, span),
            Value::Ptr(pointer) => self.free_block(state, pointer, span),
            Value::Choice(options) => {
                // If the path has checked the allocation, one option is left.
                match options.iter().find(|(guard, _)| state.fixed_value(*guard) != Some(0)) {
                    Some((guard, _)) if state.fixed_value(*guard).is_none() => Err(Stop::unfixed(*guard)),
                    Some((_, option)) => self.free_value(state, option.clone(), span),
                    None => Err(Stop::unsupported(Unsupported::SymbolicFree, span)),
                }
            }
            Value::Bytes(_) => Err(Stop::unsupported(Unsupported::AccessThroughPart, span)),
            Value::Undefined | Value::LazyPointer(_) => Err(Stop::error(ErrorKind::InvalidFree, span)),
        }
    }

    /// Frees an integer: null is a no-op; a proof does not know whether another integer is the address of a block.
    fn free_number(&mut self, state: &mut State, number: Scalar, span: Span) -> Result<(), Stop> {
        let number = number.term(&mut self.terms, 64);
        let zero = self.terms.constant(64, 0);
        let is_null = self.terms.cmp(Rel::Eq, number, zero);
        if self.terms.as_const(is_null).is_none() && !state.is_folded() {
            match self.policy.environment {
                Environment::Testable => self.ledger.excluded_inputs = true,
                Environment::Any => {
                    self.give_up(Unsupported::ComputedAddress.into(), span, 1);
                    return Ok(self.assume_all(state, &[is_null])?);
                }
            }
        }
        self.require(state, is_null, ErrorKind::InvalidFree, span)
    }

    fn free_block(&mut self, state: &mut State, pointer: Pointer, span: Span) -> Result<(), Stop> {
        let Pointer { object, offset } = pointer;
        let known = state.memory.get(object);
        let (live, kind) = (known.live, known.kind);
        let at_start = {
            let (offset, zero) = (offset.term(&mut self.terms, 64), self.terms.constant(64, 0));
            self.terms.cmp(Rel::Eq, offset, zero)
        };
        match kind {
            ObjectKind::Heap if live => {
                self.require(state, at_start, ErrorKind::InvalidFree, span)?;
                state.memory.get_mut(object).live = false;
                Ok(())
            }
            // A function that frees an input received a block of the heap. A proof does not know that, nor where the
            // block begins.
            ObjectKind::Input if live => {
                if self.considers(Caveat::Heap) && !state.is_folded() {
                    let error = PathEnd::Error { kind: ErrorKind::InvalidFree, span };
                    self.effects.ended.push((state.clone(), error));
                } else {
                    self.require(state, at_start, ErrorKind::InvalidFree, span)?;
                }
                state.memory.get_mut(object).live = false;
                state.inputs_mut().freed.push(object);
                Ok(())
            }
            _ if self.exists_at_start(object) => Err(Stop::unsupported(Unsupported::EndOfStartObject, span)),
            _ => Err(Stop::error(ErrorKind::InvalidFree, span)),
        }
    }

    /// Returns true if the object belongs to the library, or was on the heap at program start.
    fn exists_at_start(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        global.is_some_and(|global| matches!(global.role, GlobalRole::Heap | GlobalRole::Runtime))
    }

    /// Ends the lifetime of an object that `alloca` allocated in this frame.
    fn release(&mut self, state: &mut State, operand: Operand) -> Result<(), Stop> {
        let value = state.top().value(operand);
        let frame = state.top();
        let own = self.module.functions[frame.func].slots.len();
        if let Value::Ptr(Pointer { object, .. }) = value
            && frame.slots[own..].contains(&object)
            && state.memory.get(object).live
        {
            let size = state.memory.get(object).size;
            state.memory.get_mut(object).live = false;
            state.top_mut().stack -= size;
        }
        Ok(())
    }
}
