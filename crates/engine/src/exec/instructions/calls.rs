//! Calls and returns: the callee, its frame, and the lifetime of its locals.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::state::memory::{Contents, Memory, Object, ObjectKind, address_term};
use crate::state::value::{ObjectId, Pointer, Value};
use crate::state::{FixedFor, Frame, MAX_STACK_BYTES, PathEnd, State, Stop, Unfixed};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::{Bound, Unsupported};
use touchstone_ir::{BlockId, ErrorKind, FuncId, GlobalId, Operand, Reg};
use touchstone_solver::Rel;

impl Executor<'_> {
    /// Resolves the callee of an indirect call, which is an outcome of the path. A pointer that depends on inputs is
    /// fixed to each function that it can be.
    pub(in crate::exec) fn resolve_callee(
        &mut self,
        state: &mut State,
        callee: Operand,
        dst: Option<Reg>,
        args: &[Operand],
        span: Span,
    ) -> Result<FuncId, Stop> {
        let value = state.top().value(callee);
        let value = match self.resolved(state, &value)? {
            choice @ Value::Choice(_) => {
                let unknown = || Stop::unsupported(Unsupported::UndecidedCallee, span);
                let address = address_term(&choice, &mut self.terms, &self.pointers).ok_or_else(unknown)?;
                let fixed = self.terms.as_const(address).or_else(|| state.fixed_value(address));
                let fixed = fixed.ok_or(Stop::Enumerate(Unfixed { term: address, role: FixedFor::Callee }))?;
                match state.memory.object_at(fixed) {
                    Some(object) => Value::pointer(object, fixed.wrapping_sub(Memory::address(object))),
                    None => Value::constant(fixed),
                }
            }
            value => value,
        };
        let Pointer { object, offset } = self.target(state, &value, span)?;
        // Globals are the first objects.
        let global = self.module.globals.get(GlobalId::new(object.index()));
        let Some(callee) = global.and_then(|global| global.function) else {
            return Err(self.not_a_function(state, object, span));
        };
        let (offset, zero) = (offset.term(&mut self.terms, 64), self.terms.constant(64, 0));
        let at_start = self.terms.cmp(Rel::Eq, offset, zero);
        self.require(state, at_start, ErrorKind::InvalidPointer, span)?;
        let types = args.iter().map(|arg| self.operand_ty(state, *arg));
        if !self.module.can_call(callee, types, dst.map(|dst| self.reg_ty(state, dst))) {
            let name = self.module.functions[callee].name.clone();
            return Err(Stop::unsupported(Unsupported::OtherTypes(name), span));
        }
        Ok(callee)
    }

    /// Returns the stop for a call of data. The pointee of an input pointer may be a function on other runs, whatever
    /// its type says.
    fn not_a_function(&mut self, state: &State, object: ObjectId, span: Span) -> Stop {
        if state.memory.get(object).kind == ObjectKind::Input {
            match self.policy.environment {
                Environment::Testable => self.ledger.excluded_inputs = true,
                Environment::Any => return Stop::unsupported(Unsupported::UndecidedCallee, span),
            }
        }
        Stop::error(ErrorKind::InvalidPointer, span)
    }

    pub(in crate::exec) fn step_call(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        callee: FuncId,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let function = &self.module.functions[callee];
        if !function.is_defined() {
            return Err(Stop::unsupported(Unsupported::ExternalFunction(function.name.clone()), span));
        }
        if state.frames.len() >= self.config.options.call_depth {
            return Err(Stop::bound(Bound::CallDepth, span));
        }
        let args: Vec<Value> = args.iter().map(|arg| state.top().value(*arg)).collect();
        if args.contains(&Value::Undefined) {
            return Err(self.uninitialised(state, span));
        }
        if self.is_subsumed(state) {
            return Err(PathEnd::Assumed.into());
        }
        if self.compose(state, dst, callee, &args)? {
            return Ok(());
        }
        let before = self.watches_entry(callee).then(|| state.clone());
        state.top_mut().inst += 1;
        self.enter(state, callee, args, dst).inspect_err(|_| {
            if let Some(before) = before {
                *state = before;
            }
        })
    }

    /// Pushes a frame. `Err` if an input must be materialised before the goals at the entry can be evaluated: the state
    /// is then unusable.
    pub(crate) fn enter(
        &mut self,
        state: &mut State,
        callee: FuncId,
        args: Vec<Value>,
        result: Option<Reg>,
    ) -> Result<(), Stop> {
        let function = &self.module.functions[callee];
        let below = state.frames.last().map_or(0, |frame| frame.stack);
        let stack = function.slots.values().fold(below, |sum, slot| sum.saturating_add(slot.size));
        if stack > MAX_STACK_BYTES {
            return Err(Stop::unsupported(Unsupported::LargeStack(stack, MAX_STACK_BYTES), function.span));
        }
        self.ensure_memory(stack - below, function.span)?;
        let mut regs = vec![Value::Undefined; function.regs.len()];
        for (param, arg) in function.params.iter().zip(args) {
            regs[param.reg.index()] = arg;
        }
        let slots = function
            .slots
            .values()
            .map(|slot| state.memory.alloc(Object::undefined(slot.size, ObjectKind::Slot, Some(slot.data))))
            .collect();
        let frame = Frame {
            func: callee,
            block: BlockId::new(0),
            inst: 0,
            regs,
            slots,
            result,
            decisions: Vec::new(),
            arrivals: Vec::new(),
            visits: Vec::new(),
            stack,
        };
        state.frames.push(Rc::new(frame));
        match state.is_folded() {
            true => Ok(()),
            false => self.watch_entry(state, callee),
        }
    }

    /// Pops a frame and ends the lifetimes of its slots.
    pub(in crate::exec) fn leave(&mut self, state: &mut State, value: Option<Value>) {
        let frame = state.frames.pop().expect("invariant: a returning state has a frame");
        for &slot in &frame.slots {
            end_lifetime(state, slot);
        }
        if state.frames.is_empty() {
            state.returned = Some(value);
        } else if let (Some(dst), Some(value)) = (frame.result, value) {
            state.set(dst, value);
        }
    }
}

/// Ends the lifetime of a local.
pub(in crate::exec) fn end_lifetime(state: &mut State, object: ObjectId) {
    let object = state.memory.get_mut(object);
    object.live = false;
    object.contents = Contents::Cells(Vec::new());
}
