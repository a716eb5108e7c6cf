//! Builtins of all languages: inputs, assumptions, output. Those that only C has are in `c`.

use crate::machine::{CallFrame, InputRequest, LimitKind, Machine, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::observer::Observer;
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{Pointer, Value};
use std::borrow::Cow;
use touchstone_base::{float, math};
use touchstone_ir::{Builtin, ErrorKind, InputSource, Operand, Reg, Ty};

/// The maximum number of undefined bytes that are zeroed where an external function may have written.
const MAX_ZEROED_BYTES: u64 = 4096;

impl<'m> Machine<'m> {
    /// Executes a builtin and returns its result ([`Value::Undefined`] if there is none).
    pub(crate) fn step_builtin(
        &mut self,
        frame: &CallFrame<'m>,
        builtin: Builtin,
        dst: Option<Reg>,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let arg = |index: usize| {
            let missing = || Stop::Unsupported(UnsupportedOperation::TooFewArguments(builtin));
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
            Builtin::Allocate => self.allocate(Some(self.int(frame, arg(0)?)?), Fill::Zero),
            Builtin::ObjectSize => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                Ok(Value::Int(self.memory.info(place.object).size))
            }
            Builtin::ZeroUninitialised => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                self.memory.define_with_zeros(place, self.int(frame, arg(1)?)?)?;
                Ok(Value::Undefined)
            }
            Builtin::Refresh => {
                let (at, size) = (self.get(frame, arg(0)?), self.int(frame, arg(1)?)?);
                self.refresh(at, size).map(|()| Value::Undefined)
            }
            Builtin::ObserveMember => {
                if let Value::Ptr(pointer) = self.get(frame, arg(0)?) {
                    let member = self.int(frame, arg(2)?)?;
                    self.access_union_by(pointer, member as usize)?;
                }
                Ok(Value::Undefined)
            }
            Builtin::CastPointee => Ok(Value::Undefined),
            Builtin::Write => self.write(frame, arg(0)?, arg(1)?, arg(2)?, observer),
            Builtin::ReadByte => Ok(Value::Int(observer.input().map_or(u64::MAX, u64::from))),
            Builtin::RunOnly => {
                self.single_run = true;
                if self.taint.is_some() {
                    self.read_environment(frame, arg(0)?)?;
                }
                Ok(Value::Undefined)
            }
            Builtin::MayWrite => Ok(Value::Undefined),
            Builtin::HavocPointee => self.write_provided(frame, [arg(0)?, arg(1)?, arg(2)?]),
            Builtin::Unspecified => Ok(args.get(1).map_or(Value::Undefined, |value| self.get(frame, *value))),
            Builtin::RecordEffect(source) => self.record_described_effect(frame, source, [arg(0)?, arg(1)?, arg(2)?]),
            Builtin::Called | Builtin::CalledAsSpecified => {
                let name = self.text(frame, arg(0)?)?;
                let values = args[1..].iter().map(|arg| self.get(frame, *arg)).collect();
                if builtin == Builtin::Called {
                    self.change_globals(&name)?;
                }
                self.record_call(name, values);
                Ok(Value::Undefined)
            }
            Builtin::Hang => Err(Stop::Hung),
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
            Builtin::C(builtin) => self.step_c_builtin(frame, builtin, args, observer),
            Builtin::Java(builtin) => self.step_java_builtin(frame, builtin, args, observer),
        }
    }

    pub(crate) fn text(&self, frame: &CallFrame<'m>, operand: Operand) -> Result<Vec<u8>, Stop> {
        let place = self.memory.resolve(self.used(frame, operand)?)?;
        Ok(self.memory.text(place, u64::MAX)?)
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
        value.map(Value::Int).ok_or(Stop::Unsupported(UnsupportedOperation::NoDecimal))
    }

    fn make_symbolic(
        &mut self,
        frame: &CallFrame<'m>,
        source: InputSource,
        [addr, size, name]: [Operand; 3],
    ) -> Result<Value, Stop> {
        let (value, size) = (self.used(frame, addr)?, self.int(frame, size)?);
        let name = self.text(frame, name)?;
        if size > 0 {
            let place = self.memory.resolve(value)?;
            // Checked before the bytes are allocated, because the program chooses the size.
            self.memory.check_write(place, size)?;
            let (bytes, pointers) = self.next_input(source, name, size);
            self.put_input(place, &bytes, &pointers)?;
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
        let name = self.text(frame, name)?;
        let (bytes, pointers) = self.next_input(source, name, u64::from(bits.div_ceil(8)));
        if let [(0, pointer)] = pointers[..] {
            return Ok(pointer);
        }
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(&bytes);
        Ok(Value::Int(touchstone_ir::mask(u64::from_le_bytes(word), bits)))
    }

    /// Writes bytes with the pointers that they contain.
    fn put_input(&mut self, place: Pointer, bytes: &[u8], pointers: &[(usize, Value)]) -> Result<(), Stop> {
        self.memory.write_bytes(place, bytes)?;
        for (at, value) in pointers {
            let place = Pointer { offset: place.offset + *at as i64, ..place };
            self.memory.store(place, Ty::Ptr, *value)?;
        }
        Ok(())
    }

    /// Writes what was provided for an external function, or nothing. Without a provided input, undefined bytes become
    /// zero.
    fn write_provided(&mut self, frame: &CallFrame<'m>, [name, to, size]: [Operand; 3]) -> Result<Value, Stop> {
        let text = String::from_utf8_lossy(&self.text(frame, name)?).into_owned();
        let to = self.memory.resolve(self.get(frame, to)).ok();
        if let Some(provided) = self.next_if(InputSource::Written, |name| name == text) {
            if let Some(place) = to.filter(|_| !provided.bytes.is_empty()) {
                self.put_input(place, &provided.bytes, &provided.pointers)?;
            }
            return Ok(Value::Undefined);
        }
        let mut written = 0;
        if let Some(place) = to {
            let room = self.memory.info(place.object).size.saturating_sub(place.offset.max(0) as u64);
            let size = self.int(frame, size)?.min(room).min(MAX_ZEROED_BYTES);
            let undefined = self.memory.peek(place, size).is_ok_and(|bytes| bytes.contains(&None));
            if undefined && self.memory.check_write(place, size).is_ok() {
                self.memory.write_bytes(place, &vec![0; size as usize])?;
                written = size;
            }
        }
        self.requests.push(InputRequest { source: InputSource::Written, name: text, size: written });
        Ok(Value::Undefined)
    }

    /// Records a write of a function that is only described, from which a test is constructed.
    fn record_described_effect(
        &mut self,
        frame: &CallFrame<'m>,
        source: InputSource,
        [name, to, size]: [Operand; 3],
    ) -> Result<Value, Stop> {
        let name = String::from_utf8_lossy(&self.text(frame, name)?).into_owned();
        let size = self.int(frame, size)?;
        let place = match size {
            0 => None,
            _ => Some(self.memory.resolve(self.used(frame, to)?)?),
        };
        self.record_effect(source, name, place, size)?;
        Ok(Value::Undefined)
    }

    /// Writes what was provided for the side effects of an external function on globals: `function.global`.
    fn change_globals(&mut self, function: &[u8]) -> Result<(), Stop> {
        let function = String::from_utf8_lossy(function).into_owned();
        let of_this = |name: &str| name.strip_prefix(&function).is_some_and(|rest| rest.starts_with('.'));
        while let Some(provided) = self.next_if(InputSource::Changed, of_this) {
            let global = &provided.name[function.len() + 1..];
            if let Some(id) = self.module().global_displayed_as(global) {
                let place = Pointer { object: self.global_object(id), offset: 0 };
                self.put_input(place, &provided.bytes, &provided.pointers)?;
            }
        }
        Ok(())
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

    /// Allocates an object on the heap.
    pub(crate) fn allocate(&mut self, size: Option<u64>, fill: Fill) -> Result<Value, Stop> {
        let object = size.and_then(|size| self.memory.alloc(size, Cow::Borrowed(""), ObjectKind::Heap, fill));
        object.map(|object| Value::ptr(object, 0)).ok_or(Stop::Limit(LimitKind::Memory))
    }
}

/// Writes to standard output or standard error.
pub(crate) fn put(stream: u64, bytes: &[u8], observer: &mut impl Observer) {
    match stream {
        2 => observer.error_output(bytes),
        _ => observer.output(bytes),
    }
}
