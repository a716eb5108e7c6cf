//! Builtins of C: `printf` and related functions, heap and stack, non-local jumps (`non_local_jumps.rs`).

mod decimal;
pub(crate) mod non_local_jumps;
pub(crate) mod printf;

use crate::builtins::put;
use crate::machine::{CallFrame, LimitKind, Machine, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::observer::Observer;
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{Pointer, Value};
use std::borrow::Cow;
use touchstone_base::Id;
use touchstone_ir::{Builtin, CBuiltin, ErrorKind, GlobalId, GlobalRole, Operand, Ty};

impl<'m> Machine<'m> {
    /// Executes a builtin of C and returns its result ([`Value::Undefined`] if there is none).
    pub(crate) fn step_c_builtin(
        &mut self,
        frame: &CallFrame<'m>,
        builtin: CBuiltin,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let arg = |index: usize| {
            let missing = || Stop::Unsupported(UnsupportedOperation::TooFewArguments(Builtin::C(builtin)));
            args.get(index).copied().ok_or_else(missing)
        };
        match builtin {
            CBuiltin::Printf => self.printf(frame, arg(0)?, &args[1..], observer),
            CBuiltin::Putchar => {
                let byte = self.int(frame, arg(0)?)? as u8;
                observer.output(&[byte]);
                Ok(Value::Int(u64::from(byte)))
            }
            CBuiltin::Puts => {
                let mut line = self.text(frame, arg(0)?)?;
                line.push(b'\n');
                observer.output(&line);
                Ok(Value::Int(line.len().min(i32::MAX as usize) as u64))
            }
            CBuiltin::Malloc | CBuiltin::Calloc if self.next_allocation_fails() => self.no_memory(),
            CBuiltin::Malloc => self.allocate(Some(self.int(frame, arg(0)?)?), Fill::Undefined),
            CBuiltin::Calloc => {
                let (count, size) = (self.int(frame, arg(0)?)?, self.int(frame, arg(1)?)?);
                self.allocate(count.checked_mul(size), Fill::Zero)
            }
            CBuiltin::Free => self.free(frame, arg(0)?),
            CBuiltin::Alloca => self.alloca(self.int(frame, arg(0)?)?),
            CBuiltin::Release => self.release(frame, arg(0)?),
            CBuiltin::Vprintf => self.vprintf(frame, arg(0)?, arg(1)?, arg(2)?, observer),
            CBuiltin::FloatText => {
                let mut values = [0; 6];
                for (index, value) in values.iter_mut().enumerate() {
                    *value = self.int(frame, arg(index)?)?;
                }
                Ok(Value::Int(u64::from(printf::float_text(&values))))
            }
            // The machine's loop executes these, because they change the control flow.
            CBuiltin::SetMark | CBuiltin::Resume => Ok(Value::Undefined),
            CBuiltin::ReturnAddress => {
                let level = self.int(frame, arg(0)?)? as usize;
                Ok(self.return_address(level))
            }
            CBuiltin::IsStream => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                let (size, types) = (self.memory.info(place.object).size, &self.module().types);
                let is_it = |ty: &touchstone_ir::DataType| touchstone_ir::is_stream(ty) && ty.size(types) == size;
                Ok(Value::Int(u64::from(types.values().any(is_it))))
            }
            CBuiltin::Access => {
                let place = self.memory.resolve(self.used(frame, arg(0)?)?)?;
                self.memory.check_read(place, 1)?;
                Ok(Value::Undefined)
            }
            CBuiltin::AtExit => self.at_exit(frame, arg(0)?),
        }
    }

    fn printf(
        &mut self,
        frame: &CallFrame<'m>,
        format: Operand,
        args: &[Operand],
        observer: &mut impl Observer,
    ) -> Result<Value, Stop> {
        let format = self.text(frame, format)?;
        let mut values = Vec::with_capacity(args.len());
        for &arg in args {
            values.push((self.used(frame, arg)?, self.operand_ty(frame, arg).bits()));
        }
        let text = printf::format(&format, &values, &self.memory)?;
        observer.output(&text);
        Ok(Value::Int(text.len() as u64))
    }

    /// Handles a failing allocation: null, and `errno`.
    fn no_memory(&mut self) -> Result<Value, Stop> {
        const NO_MEMORY: u64 = 12;
        if let Some(id) = self.module().error_number() {
            let object = self.global_object(id);
            self.write_value(object, 0, Ty::I32, Value::Int(NO_MEMORY))?;
        }
        Ok(Value::NULL)
    }

    fn alloca(&mut self, size: u64) -> Result<Value, Stop> {
        let object = self.memory.alloc(size, Cow::Borrowed(""), ObjectKind::Stack, Fill::Undefined);
        let object = object.ok_or(Stop::Limit(LimitKind::Memory))?;
        self.add_to_frame(object);
        Ok(Value::ptr(object, 0))
    }

    fn release(&mut self, frame: &CallFrame<'m>, operand: Operand) -> Result<Value, Stop> {
        // Undefined if control jumped over its declaration.
        if let Value::Ptr(pointer) = self.get(frame, operand)
            && self.memory.info(pointer.object).kind == ObjectKind::Stack
        {
            self.memory.kill(pointer.object);
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
        let format = self.text(frame, format)?;
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
            if global.is_some_and(|global| matches!(global.role, GlobalRole::Heap | GlobalRole::Runtime)) {
                return Err(Stop::Unsupported(UnsupportedOperation::EndOfStartObject));
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
