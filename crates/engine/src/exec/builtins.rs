//! What the engine implements itself: inputs, assumptions, output, the heap, the stack.

use crate::exec::access::{Intent, Written};
use crate::exec::executor::Executor;
use crate::state::memory::{Cell, Contents, Object, ObjectKind, disassemble};
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{MOST_STACK, PathEnd, State, Stop};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::Doubt;
use touchstone_ir::{Builtin, ErrorKind, GlobalId, GlobalRole, Operand, Reg, Ty};
use touchstone_solver::Op;

impl Executor<'_> {
    pub(crate) fn step_builtin(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        builtin: Builtin,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        match builtin {
            Builtin::MakeSymbolic | Builtin::FreshInt | Builtin::MayWrite if state.is_folded() => {
                return Err(Stop::unsupported("input that a precondition asks for", span));
            }
            // The confirming run keeps what it was called with.
            Builtin::Called => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                let function = &self.module.functions[state.top().func];
                let packed = function.params.last().filter(|_| function.variadic);
                let packed = packed.map(|param| Operand::Reg(param.reg));
                let given =
                    args[1..].iter().copied().chain(packed).map(|arg| state.top().value(arg)).collect::<Vec<_>>();
                self.somebody_ran(state, &name, &given, span)?;
            }
            Builtin::Unsettled => self.unsettled(state, dst, args, span)?,
            Builtin::MakeSymbolic => self.make_symbolic(state, args, span)?,
            Builtin::MayWrite => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                self.unknown_writes(state, &name)?;
            }
            Builtin::FreshInt => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                let ty = dst.map_or(Ty::I32, |dst| self.reg_ty(state, dst));
                let value = if ty == Ty::Ptr {
                    self.unknown_pointer(state, &name)
                } else {
                    let term = self.input_var(state.inputs_mut(), ty.bits(), &name);
                    Value::term(&self.terms, term)
                };
                let cells = disassemble(&value, ty.bytes(), &mut self.pointers).collect();
                state.inputs_mut().made.push(Rc::new(crate::state::inputs::Made { name, cells }));
                dst.into_iter().for_each(|dst| state.set(dst, value.clone()));
            }
            Builtin::Assume => {
                let cond = self.scalar(state, args[0], span)?.term(&mut self.terms, 1);
                match state.is_folded() {
                    true => state.must(&mut self.terms, cond),
                    false => self.assume_all(state, &[cond])?,
                }
            }
            Builtin::Assert => {
                let cond = self.scalar(state, args[0], span)?.term(&mut self.terms, 1);
                self.require(state, cond, ErrorKind::Assert, span)?;
            }
            Builtin::Putchar => {
                if let Some(dst) = dst {
                    let written = self.scalar(state, args[0], span)?.term(&mut self.terms, 32);
                    let byte = self.terms.constant(32, 255);
                    let mut byte = self.terms.bin(Op::And, written, byte);
                    if self.doubts(Doubt::Unsettled("output may fail".to_string())) {
                        byte = self.terms.var(32, "unsettled");
                    }
                    state.set(dst, Value::term(&self.terms, byte));
                }
            }
            Builtin::Write => {}
            Builtin::ReadByte => return Err(Stop::unsupported("standard input", span)),
            Builtin::RunOnly => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                return Err(Stop::unsupported(name, span));
            }
            Builtin::AtExit => match state.top().value(args[0]) {
                Value::Int(Scalar::Const(0)) => {}
                _ => return Err(Stop::unsupported("atexit", span)),
            },
            Builtin::SetMark | Builtin::Resume => return Err(Stop::unsupported("jump out of a call", span)),
            Builtin::ReturnAddress => return Err(Stop::unsupported("return address", span)),
            Builtin::FloatText => self.float_text(state, dst, args, span)?,
            Builtin::Printf | Builtin::Puts | Builtin::Vprintf => {
                // What is printed doesn't change the path; the interpreter writes it when the test is confirmed.
                if let Some(dst) = dst {
                    if self.module.functions[state.top().func].reads(dst) {
                        return Err(Stop::unsupported("use of the value of an output function", span));
                    }
                    state.set(dst, Value::Undefined);
                }
            }
            Builtin::Malloc | Builtin::Calloc | Builtin::Alloca => self.allocate(state, dst, builtin, args, span)?,
            Builtin::Free => self.free(state, args[0], span)?,
            Builtin::Release => self.release(state, args[0])?,
            Builtin::ObjectSize => {
                let value = state.top().value(args[0]);
                let (object, _) = self.fixed_place(state, &value, 0, Intent::Read, span)?;
                if state.memory.get(object).kind == ObjectKind::Input && self.doubts(Doubt::Heap) {
                    // How large a caller's block is, nobody knows.
                    return Err(self.doubtful(Doubt::Heap, span));
                }
                let size = state.memory.get(object).size;
                dst.into_iter().for_each(|dst| state.set(dst, Value::constant(size)));
            }
            Builtin::Settle => self.settle(state, args, span)?,
            Builtin::ParseFloat(format) => self.step_parse(state, dst, format, args, span)?,
            Builtin::Math(function, format) => self.step_math(state, dst, function, format, args, span)?,
            Builtin::Exit => {
                let status = self.scalar(state, args[0], span)?;
                return Err(Stop::End(PathEnd::Exited(Value::Int(status))));
            }
            Builtin::Abort => return Err(Stop::error(ErrorKind::Abort, span)),
        }
        Ok(())
    }

    fn make_symbolic(&mut self, state: &mut State, args: &[Operand], span: Span) -> Result<(), Stop> {
        let size = self.fixed(state, args[1], span)?;
        let name = self.constant_string(state, args.get(2).copied(), span)?;
        let addr = state.top().value(args[0]);
        let (object, at) = self.fixed_place(state, &addr, size, Intent::Write(Written::Bytes), span)?;
        let data = if at == 0 { state.memory.get(object).data } else { None };
        if size < state.memory.get(object).size {
            // Asked before the input is made: it may take a choice.
            self.plain_cells(state, object, 0..state.memory.get(object).size as usize)?;
        }
        let cells = self.make_input(state, &name, size, data)?;
        self.overwrite(state, object, at, &cells)
    }

    /// A NUL-terminated constant string; `input` if there is none.
    pub(crate) fn constant_string(
        &mut self,
        state: &State,
        operand: Option<Operand>,
        span: Span,
    ) -> Result<String, Stop> {
        let Some(Value::Ptr(Pointer { object, offset: Scalar::Const(at) })) =
            operand.map(|operand| state.top().value(operand))
        else {
            return Ok("input".to_string());
        };
        let size = state.memory.get(object).size as usize;
        let cells = self.plain_cells(state, object, (at as usize).min(size)..size)?;
        let mut bytes = Vec::new();
        for cell in cells.iter() {
            match cell {
                Cell::Byte(0) => break,
                Cell::Byte(byte) => bytes.push(*byte),
                _ => return Err(Stop::unsupported("name of an input that depends on inputs", span)),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn allocate(
        &mut self,
        state: &mut State,
        dst: Option<Reg>,
        builtin: Builtin,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        const MAX_HEAP_OBJECT: u64 = 1 << 24;
        let (size, fill) = match builtin {
            Builtin::Calloc => {
                let (count, size) = (self.fixed(state, args[0], span)?, self.fixed(state, args[1], span)?);
                (count.saturating_mul(size), Cell::Byte(0))
            }
            _ => (self.fixed(state, args[0], span)?, Cell::Undefined),
        };
        if size > MAX_HEAP_OBJECT {
            return Err(Stop::unsupported(format!("allocation of {size} bytes"), span));
        }
        if builtin == Builtin::Alloca {
            let stack = state.top().stack.saturating_add(size);
            if stack > MOST_STACK {
                let what = format!("stack of {stack} bytes, where programs usually have {MOST_STACK}");
                return Err(Stop::unsupported(what, span));
            }
            state.top_mut().stack = stack;
        }
        self.room_for(size, span)?;
        let kind = if builtin == Builtin::Alloca { ObjectKind::Slot } else { ObjectKind::Heap };
        let object = state.memory.alloc(Object::with_cells(vec![fill; size as usize], kind, None));
        if builtin == Builtin::Alloca {
            state.top_mut().slots.push(object);
        }
        if let Some(dst) = dst {
            let made = Value::pointer(object, 0);
            let value = if kind == ObjectKind::Heap { self.may_fail(state, made) } else { made };
            state.set(dst, value);
        }
        Ok(())
    }

    fn free(&mut self, state: &mut State, operand: Operand, span: Span) -> Result<(), Stop> {
        let value = state.top().value(operand);
        match self.decided(state, &value)? {
            Value::Int(Scalar::Const(0)) => Ok(()),
            Value::Ptr(Pointer { object, offset: Scalar::Const(0) })
                if state.memory.get(object).live && state.memory.get(object).kind == ObjectKind::Heap =>
            {
                state.memory.get_mut(object).live = false;
                Ok(())
            }
            Value::Ptr(Pointer { object, .. })
                if self
                    .module
                    .globals
                    .get(GlobalId::new(object.index()))
                    .is_some_and(|global| global.role == GlobalRole::Heap) =>
            {
                Err(Stop::unsupported("the end of an object that was there at start", span))
            }
            Value::Choice(_) => Err(Stop::unsupported("free of a pointer that depends on inputs", span)),
            // Tests make no input on the heap; a caller may.
            Value::Ptr(Pointer { object, offset: Scalar::Const(0) })
                if state.memory.get(object).kind == ObjectKind::Input
                    && state.memory.get(object).live
                    && self.doubts(Doubt::Heap) =>
            {
                state.memory.get_mut(object).live = false;
                Ok(())
            }
            _ => Err(Stop::error(ErrorKind::InvalidFree, span)),
        }
    }

    /// Ends the life of an object that `alloca` made in this frame.
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

    /// Gives undefined bytes the value zero.
    fn settle(&mut self, state: &mut State, args: &[Operand], span: Span) -> Result<(), Stop> {
        let size = self.fixed(state, args[1], span)?;
        let value = state.top().value(args[0]);
        let (object, at) = self.fixed_place(state, &value, size, Intent::Write(Written::Bytes), span)?;
        if let Contents::Cells(cells) = &state.memory.get(object).contents
            && cells[at..at + size as usize].contains(&Cell::Undefined)
            && let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents
        {
            for cell in cells[at..at + size as usize].iter_mut().filter(|cell| **cell == Cell::Undefined) {
                *cell = Cell::Byte(0);
            }
        } else if let Contents::Delayed { defined: Some(defined), .. } = state.memory.get(object).contents {
            let offset = self.terms.constant(64, at as u64);
            let flags = self.terms.constant(8, 1);
            let mut all = defined;
            for index in 0..size {
                let step = self.terms.constant(64, index);
                let place = self.terms.bin(Op::Add, offset, step);
                all = self.terms.store(all, place, flags, 1);
            }
            if let Contents::Delayed { defined, .. } = &mut state.memory.get_mut(object).contents {
                *defined = Some(all);
            }
        }
        Ok(())
    }
}
