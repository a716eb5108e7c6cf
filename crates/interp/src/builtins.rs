//! What the interpreter implements itself: inputs, assumptions, output, the heap.

use crate::machine::{CallFrame, LimitKind, Machine, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::observer::Observer;
use crate::printf;
use crate::value::{Pointer, Value};
use std::borrow::Cow;
use touchstone_base::{Id, float, math};
use touchstone_ir::{Builtin, ErrorKind, GlobalId, GlobalRole, InputSource, Operand, Reg, Ty};

impl<'m> Machine<'m> {
    /// Runs a builtin and gives its result ([`Value::Undefined`] where there is none).
    pub(crate) fn step_builtin(
        &mut self,
        frame: &CallFrame<'m>,
        builtin: Builtin,
        dst: Option<Reg>,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let arg = |index: usize| {
            let missing = || Stop::Unsupported(format!("{builtin:?} with too few arguments"));
            args.get(index).copied().ok_or_else(missing)
        };
        match builtin {
            Builtin::MakeSymbolic(source) => self.make_symbolic(frame, source, [arg(0)?, arg(1)?, arg(2)?]),
            Builtin::FreshInt(source) => {
                let bits = dst.map_or(8, |dst| frame.function.regs[dst].ty.bits());
                self.fresh_int(frame, source, arg(0)?, bits)
            }
            Builtin::Assume => match self.int(frame, arg(0)?)? {
                0 => Err(Stop::Assumed),
                _ => Ok(Value::Undefined),
            },
            Builtin::Assert => match self.int(frame, arg(0)?)? {
                0 => Err(ErrorKind::Assert.into()),
                _ => Ok(Value::Undefined),
            },
            Builtin::Printf => self.printf(frame, arg(0)?, &args[1..], observer),
            Builtin::Putchar => {
                let byte = self.int(frame, arg(0)?)? as u8;
                observer.output(&[byte]);
                Ok(Value::Int(u64::from(byte)))
            }
            Builtin::Puts => {
                let mut line = self.c_string(frame, arg(0)?)?;
                line.push(b'\n');
                observer.output(&line);
                Ok(Value::Int(line.len().min(i32::MAX as usize) as u64))
            }
            Builtin::Malloc => self.allocate(Some(self.int(frame, arg(0)?)?), Fill::Undefined),
            Builtin::Calloc => {
                let (count, size) = (self.int(frame, arg(0)?)?, self.int(frame, arg(1)?)?);
                self.allocate(count.checked_mul(size), Fill::Zero)
            }
            Builtin::Free => self.free(frame, arg(0)?),
            Builtin::Alloca => self.alloca(self.int(frame, arg(0)?)?),
            Builtin::Release => self.release(frame, arg(0)?),
            Builtin::ObjectSize => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                Ok(Value::Int(self.memory.info(place.object).size))
            }
            Builtin::Settle => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                self.memory.settle(place, self.int(frame, arg(1)?)?)?;
                Ok(Value::Undefined)
            }
            Builtin::Vprintf => self.vprintf(frame, arg(0)?, arg(1)?, arg(2)?, observer),
            Builtin::Write => self.write(frame, arg(0)?, arg(1)?, arg(2)?, observer),
            Builtin::ReadByte => Ok(Value::Int(observer.input().map_or(u64::MAX, u64::from))),
            Builtin::FloatText => {
                let mut values = [0; 6];
                for (index, value) in values.iter_mut().enumerate() {
                    *value = self.int(frame, arg(index)?)?;
                }
                Ok(Value::Int(u64::from(printf::float_text(&values))))
            }
            Builtin::RunOnly | Builtin::MayWrite => Ok(Value::Undefined),
            Builtin::Unsettled => Ok(args.get(1).map_or(Value::Undefined, |value| self.get(frame, *value))),
            // The loop of the machine does these: they change where control is.
            Builtin::SetMark | Builtin::Resume => Ok(Value::Undefined),
            Builtin::ReturnAddress => {
                let level = self.int(frame, arg(0)?)? as usize;
                Ok(self.return_address(level))
            }
            Builtin::Called => {
                let name = self.c_string(frame, arg(0)?)?;
                let values = args[1..].iter().map(|arg| self.get(frame, *arg)).collect();
                self.record_call(name, values);
                Ok(Value::Undefined)
            }
            Builtin::AtExit => self.at_exit(frame, arg(0)?),
            Builtin::Exit => Err(Stop::Exit(self.int(frame, arg(0)?)? as i32)),
            Builtin::Abort => Err(ErrorKind::Abort.into()),
            Builtin::ParseFloat(format) => self.parse_float(frame, arg(0)?, arg(1)?, format),
            Builtin::Math(function, format) => {
                let mut values = [0; 2];
                for (index, value) in values.iter_mut().enumerate().take(function.arity()) {
                    *value = self.int(frame, arg(index)?)?;
                }
                Ok(Value::Int(math::eval(function, format, &values)))
            }
        }
    }

    fn c_string(&self, frame: &CallFrame<'m>, operand: Operand) -> Result<Vec<u8>, Stop> {
        let place = self.memory.resolve(self.used(frame, operand)?)?;
        Ok(self.memory.c_string(place, u64::MAX)?)
    }

    fn parse_float(
        &self,
        frame: &CallFrame<'m>,
        text: Operand,
        length: Operand,
        format: float::Format,
    ) -> Result<Value, Stop> {
        let place = self.memory.resolve(self.used(frame, text)?)?;
        let bytes = self.memory.peek(place, self.int(frame, length)?)?;
        let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
        let bytes = bytes.ok_or(Stop::Error(ErrorKind::Uninitialised))?;
        let value = float::parse_decimal(format, &bytes);
        value.map(Value::Int).ok_or_else(|| Stop::Unsupported("a text that is no decimal number".to_string()))
    }

    fn make_symbolic(
        &mut self,
        frame: &CallFrame<'m>,
        source: InputSource,
        [addr, size, name]: [Operand; 3],
    ) -> Result<Value, Stop> {
        let (value, size) = (self.used(frame, addr)?, self.int(frame, size)?);
        let name = self.c_string(frame, name)?;
        if size > 0 {
            let place = self.memory.resolve(value)?;
            // Checked before the bytes are made: the size is the program's word.
            self.memory.check_write(place, size)?;
            let bytes = self.next_input(source, name, size);
            self.memory.write_bytes(place, &bytes)?;
        }
        Ok(Value::Undefined)
    }

    fn fresh_int(
        &mut self,
        frame: &CallFrame<'m>,
        source: InputSource,
        name: Operand,
        bits: u8,
    ) -> Result<Value, Stop> {
        let name = self.c_string(frame, name)?;
        let bytes = self.next_input(source, name, u64::from(bits.div_ceil(8)));
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(Value::Int(touchstone_ir::mask(u64::from_le_bytes(word), bits)))
    }

    fn printf(
        &mut self,
        frame: &CallFrame<'m>,
        format: Operand,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let format = self.c_string(frame, format)?;
        let mut values = Vec::with_capacity(args.len());
        for &arg in args {
            values.push((self.used(frame, arg)?, self.operand_ty(frame, arg).bits()));
        }
        let text = printf::format(&format, &values, &self.memory)?;
        observer.output(&text);
        Ok(Value::Int(text.len() as u64))
    }

    fn allocate(&mut self, size: Option<u64>, fill: Fill) -> Result<Value, Stop> {
        let object = size.and_then(|size| self.memory.alloc(size, Cow::Borrowed(""), ObjectKind::Heap, fill));
        object.map(|object| Value::ptr(object, 0)).ok_or(Stop::Limit(LimitKind::Memory))
    }

    fn alloca(&mut self, size: u64) -> Result<Value, Stop> {
        let object = self.memory.alloc(size, Cow::Borrowed(""), ObjectKind::Stack, Fill::Undefined);
        let object = object.ok_or(Stop::Limit(LimitKind::Memory))?;
        self.add_to_frame(object);
        Ok(Value::ptr(object, 0))
    }

    fn release(&mut self, frame: &CallFrame<'m>, operand: Operand) -> Result<Value, Stop> {
        // Undefined where its declaration was jumped over.
        if let Value::Ptr(pointer) = self.get(frame, operand)
            && self.memory.info(pointer.object).kind == ObjectKind::Stack
        {
            self.memory.kill(pointer.object);
        }
        Ok(Value::Undefined)
    }

    fn write(
        &mut self,
        frame: &CallFrame<'m>,
        stream: Operand,
        bytes: Operand,
        size: Operand,
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let (stream, size) = (self.int(frame, stream)?, self.int(frame, size)?);
        if size > 0 {
            let place = self.memory.resolve(self.used(frame, bytes)?)?;
            let bytes: Option<Vec<u8>> = self.memory.peek(place, size)?.into_iter().collect();
            put(stream, &bytes.ok_or(ErrorKind::Uninitialised)?, observer);
        }
        Ok(Value::Undefined)
    }

    fn vprintf(
        &mut self,
        frame: &CallFrame<'m>,
        stream: Operand,
        format: Operand,
        list: Operand,
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let format = self.c_string(frame, format)?;
        let list = self.memory.resolve(self.used(frame, list)?)?;
        let next = self.memory.load(list, Ty::Ptr)?;
        let first = match next {
            // No arguments at all.
            Value::NULL => None,
            next => Some(self.memory.resolve(next)?),
        };
        let (text, used) = printf::format_list(&format, first, &self.memory)?;
        if let Some(mut place) = first {
            place.offset += 8 * used as i64;
            self.memory.store(list, Ty::Ptr, Value::Ptr(place))?;
        }
        put(self.int(frame, stream)?, &text, observer);
        Ok(Value::Int(text.len() as u64))
    }

    fn free(&mut self, frame: &CallFrame<'m>, operand: Operand) -> Result<Value, Stop> {
        let value = self.used(frame, operand)?;
        if value != Value::NULL {
            let Pointer { object, offset } = self.memory.resolve(value).map_err(|_| ErrorKind::InvalidFree)?;
            // Globals are the first objects.
            let global = self.module().globals.get(GlobalId::new(object.index()));
            if global.is_some_and(|global| global.role == GlobalRole::Heap) {
                return Err(Stop::Unsupported("the end of an object that was there at start".to_string()));
            }
            let info = self.memory.info(object);
            if info.kind != ObjectKind::Heap || !info.alive || offset != 0 {
                return Err(ErrorKind::InvalidFree.into());
            }
            self.memory.kill(object);
        }
        Ok(Value::Undefined)
    }
}

/// Writes to standard output or standard error.
fn put(stream: u64, bytes: &[u8], observer: &mut impl Observer) {
    match stream {
        2 => observer.error_output(bytes),
        _ => observer.output(bytes),
    }
}
