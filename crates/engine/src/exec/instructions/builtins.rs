//! Builtins of all languages: inputs, assumptions, output, allocation. Those of one language are in `c.rs` and
//! `java.rs`.

use crate::exec::executor::Executor;
use crate::exec::memory::access::{Intent, Written};
use crate::state::memory::{Cell, Contents, Object, ObjectKind, ObjectShape, disassemble};
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{PathEnd, State, Stop};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Caveat, EnvironmentInput, Unsupported};
use touchstone_ir::{Builtin, ErrorKind, InputSource, Operand, Reg, Ty};
use touchstone_solver::{Op, Rel};

/// The maximum size of an object on the heap.
pub(in crate::exec) const MAX_HEAP_OBJECT: u64 = 1 << 24;

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
            Builtin::MakeSymbolic(_) | Builtin::FreshInt(_) | Builtin::MayWrite | Builtin::HavocPointee
                if state.is_folded() =>
            {
                return Err(Stop::unsupported(Unsupported::InputInPrecondition, span));
            }
            // The confirming run records the arguments and the results.
            Builtin::CalledAsSpecified | Builtin::RecordEffect(_) => {}
            Builtin::Called => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                let function = &self.module.functions[state.top().func];
                let packed = function.params.last().filter(|_| function.variadic);
                let packed = packed.map(|param| Operand::Reg(param.reg));
                let given =
                    args[1..].iter().copied().chain(packed).map(|arg| state.top().value(arg)).collect::<Vec<_>>();
                self.havoc_after_external_call(state, &name, &given, span)?;
                self.external_globals_change(state, &name)?;
            }
            Builtin::Unspecified => self.step_unspecified(state, dst, args, span)?,
            Builtin::MakeSymbolic(source) => self.make_symbolic(state, source, args, span)?,
            Builtin::MayWrite => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                self.assume_no_external_writes(state, &name)?;
            }
            Builtin::HavocPointee => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                self.external_writes_pointee(state, name, args[1], args[2])?;
            }
            Builtin::FreshInt(source) => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                let ty = dst.map_or(Ty::I32, |dst| self.reg_ty(state, dst));
                let value = if ty == Ty::Ptr {
                    self.unknown_pointer(state, source, &name)
                } else {
                    let term =
                        self.input_var(state.inputs_mut(), ty.bits(), &EnvironmentInput::title_of(source, &name));
                    Value::term(&self.terms, term)
                };
                let cells = disassemble(&value, ty.bytes(), &mut self.pointers).collect();
                state
                    .inputs_mut()
                    .requested
                    .push(Rc::new(crate::state::inputs::RequestedInput::new(source, name, cells)));
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
            Builtin::Write => self.output_may_fail(state),
            Builtin::ReadByte => return Err(Stop::unsupported(Unsupported::StandardInput, span)),
            Builtin::RunOnly => {
                let name = self.constant_string(state, args.first().copied(), span)?;
                return Err(Stop::unsupported(Unsupported::RunOnly(name), span));
            }
            Builtin::Allocate => self.allocate_open(state, dst, args[0], span)?,
            Builtin::ObjectSize => {
                let value = state.top().value(args[0]);
                let (object, _) = self.fixed_location(state, &value, 0, Intent::Read, span)?;
                if state.memory.get(object).kind == ObjectKind::Input && self.considers(Caveat::Heap) {
                    // The size of a caller's block is unknown.
                    return Err(self.stop_for_caveat(Caveat::Heap, span));
                }
                let object = state.memory.get(object);
                let size =
                    object.shape.size().map_or(Value::constant(object.size), |size| Value::term(&self.terms, size));
                dst.into_iter().for_each(|dst| state.set(dst, size.clone()));
            }
            Builtin::ZeroUninitialised => self.zero_uninitialised(state, args, span)?,
            Builtin::Refresh => {
                let size = self.fixed(state, args[1], span)?;
                let at = state.top().value(args[0]);
                self.refresh(state, &at, size)?;
            }
            Builtin::ObserveMember => {
                let (size, member) = (self.fixed(state, args[1], span)?, self.fixed(state, args[2], span)?);
                let at = state.top().value(args[0]);
                self.announce_union_access(state, &at, size, member, span)?;
            }
            Builtin::CastPointee => {
                let ty = self.fixed(state, args[1], span)?;
                let at = state.top().value(args[0]);
                self.set_cast(state, &at, ty);
            }
            Builtin::ParseFloat(format) => self.step_parse(state, dst, format, args, span)?,
            Builtin::Math(function, format) => self.step_math(state, dst, function, format, args, span)?,
            Builtin::Exit => {
                let status = self.scalar(state, args[0], span)?;
                return Err(Stop::End(PathEnd::Exited(Value::Int(status))));
            }
            Builtin::Hang => return Err(Stop::End(PathEnd::Hung)),
            Builtin::Abort => return Err(Stop::error(ErrorKind::Abort, span)),
            Builtin::C(builtin) => self.step_c_builtin(state, dst, builtin, args, span)?,
            Builtin::Java(builtin) => super::java::step(builtin, span)?,
        }
        Ok(())
    }

    fn make_symbolic(
        &mut self,
        state: &mut State,
        source: InputSource,
        args: &[Operand],
        span: Span,
    ) -> Result<(), Stop> {
        let size = self.fixed(state, args[1], span)?;
        let name = self.constant_string(state, args.get(2).copied(), span)?;
        let addr = state.top().value(args[0]);
        let (object, at) = self.fixed_location(state, &addr, size, Intent::Write(Written::Bytes), span).map_err(
            |stop| match stop {
                // No test can contain such an input: the program would stop before it asks for it.
                Stop::End(PathEnd::Error { kind: ErrorKind::OutOfBounds, span }) if source == InputSource::Request => {
                    let what = "request for more bytes than the object has".to_string();
                    Stop::unsupported(Unsupported::Construct(what), span)
                }
                other => other,
            },
        )?;
        let asked = state.memory.get(object).data.and_then(|data| self.requested_type(data, at as u64, size));
        if size < state.memory.get(object).size {
            // Reads the cells before the input is created: this may fork.
            self.plain_cells(state, object, 0..state.memory.get(object).size as usize)?;
        }
        let cells = self.make_input(state, (source, name), size, asked)?;
        self.overwrite(state, object, at, &cells)
    }

    /// Returns a constant null-terminated string; `input` without an operand.
    pub(crate) fn constant_string(
        &mut self,
        state: &State,
        operand: Option<Operand>,
        span: Span,
    ) -> Result<String, Stop> {
        let Some(operand) = operand else { return Ok("input".to_string()) };
        let Value::Ptr(Pointer { object, offset: Scalar::Const(at) }) = state.top().value(operand) else {
            return Err(Stop::unsupported(Unsupported::SymbolicName, span));
        };
        let size = state.memory.get(object).size as usize;
        let cells = self.plain_cells(state, object, (at as usize).min(size)..size)?;
        let mut bytes = Vec::new();
        for cell in cells.iter() {
            match cell {
                Cell::Byte(0) => break,
                Cell::Byte(byte) => bytes.push(*byte),
                _ => return Err(Stop::unsupported(Unsupported::SymbolicName, span)),
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Allocates a zeroed object of possibly symbolic size: it has cells for the maximum size, and accesses are
    /// checked against the term.
    fn allocate_open(&mut self, state: &mut State, dst: Option<Reg>, size: Operand, span: Span) -> Result<(), Stop> {
        let (cells, open) = match self.scalar(state, size, span)? {
            Scalar::Const(size) if size > MAX_HEAP_OBJECT => {
                return Err(Stop::unsupported(Unsupported::LargeAllocation(size), span));
            }
            Scalar::Const(size) => (size, ObjectShape::Concrete),
            Scalar::Term(size) => {
                let greatest = self.solver.range(&self.terms, &state.path, size).unsigned.1;
                // The number of cells is independent of how exactly the size is known: a replay of the path must create
                // the same object.
                let most = self.config.allocation;
                if greatest > most {
                    let capacity = self.terms.constant(64, most);
                    let fits = self.terms.cmp(Rel::Ule, size, capacity);
                    self.stay_within(state, fits, Bound::Length, span)?;
                }
                (most, ObjectShape::Size(size))
            }
        };
        self.ensure_memory(cells, span)?;
        let zeroed = Object::with_cells(vec![Cell::Byte(0); cells as usize], ObjectKind::Heap, None);
        let object = state.memory.alloc(Object { shape: open, ..zeroed });
        dst.into_iter().for_each(|dst| state.set(dst, Value::pointer(object, 0)));
        Ok(())
    }

    /// Sets undefined bytes to zero.
    fn zero_uninitialised(&mut self, state: &mut State, args: &[Operand], span: Span) -> Result<(), Stop> {
        let size = self.fixed(state, args[1], span)?;
        let value = state.top().value(args[0]);
        let (object, at) = self.fixed_location(state, &value, size, Intent::Write(Written::Bytes), span)?;
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
