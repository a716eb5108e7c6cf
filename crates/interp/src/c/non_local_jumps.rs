//! Non-local jumps: marks are locations of active calls that control can return to from deeper calls (`setjmp`,
//! `longjmp`).
//!
//! A buffer in memory holds a pointer into an internal object, at the index of its mark, so that it can be copied, and
//! so that its bytes are known to depend on the layout. Registers keep their values when control returns. A mark of a
//! call that has ended is invalid: its use is reported, never executed.

use crate::machine::{CallFrame, ControlTransfer, LimitKind, Machine, ReturnMark, Stop};
use crate::memory::{Fill, ObjectKind};
use crate::observer::{Event, Observer};
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{Pointer, Value};
use std::borrow::Cow;
use touchstone_base::Id;
use touchstone_ir::{Builtin, CBuiltin, Operand, Reg, Ty};

impl<'m> Machine<'m> {
    /// Executes a builtin that sets or uses a mark.
    pub(crate) fn step_mark(
        &mut self,
        frame: &CallFrame<'m>,
        builtin: CBuiltin,
        result: Option<Reg>,
        args: &[Operand],
    ) -> Result<ControlTransfer, Stop> {
        let missing = || Stop::Unsupported(UnsupportedOperation::TooFewArguments(Builtin::C(builtin)));
        let buffer = self.used(frame, *args.first().ok_or_else(missing)?)?;
        let buffer = self.memory.resolve(buffer)?;
        if builtin == CBuiltin::SetMark {
            return Ok(ControlTransfer::ReturnMark { buffer, result });
        }
        let value = self.int(frame, *args.get(1).ok_or_else(missing)?)?;
        match self.memory.load(buffer, Ty::Ptr)? {
            Value::Ptr(place) if Some(place.object) == self.mark_object => {
                Ok(ControlTransfer::Resume { mark: place.offset as usize, value })
            }
            _ => Err(Stop::Unsupported(UnsupportedOperation::NoMark)),
        }
    }

    /// Returns a number for the return address of a call; level 0 is the innermost. The outermost call returns to an
    /// artificial address, and beyond it the result is null.
    pub(crate) fn return_address(&self, level: usize) -> Value {
        /// An address above those of all objects.
        const RETURN_ADDRESS_BASE: u64 = 1 << 62;
        let Some(call) = self.frames.len().checked_sub(level.saturating_add(1)) else { return Value::NULL };
        let caller = call.checked_sub(1).map(|at| &self.frames[at]);
        Value::Int(caller.map_or(RETURN_ADDRESS_BASE, |frame| {
            let place =
                (frame.func.index() as u64) << 36 | (frame.block.index() as u64) << 16 | frame.next as u64 & 0xffff;
            RETURN_ADDRESS_BASE | (place + 1)
        }))
    }

    /// Sets a mark at a location of the innermost frame and writes its index to the buffer.
    pub(crate) fn set_mark(&mut self, at: &CallFrame<'m>, buffer: Pointer, result: Option<Reg>) -> Result<(), Stop> {
        const MAX_MARKS: usize = 1 << 24;
        if self.marks.len() >= MAX_MARKS {
            return Err(Stop::Limit(LimitKind::Memory));
        }
        let object = match self.mark_object {
            Some(object) => object,
            None => self
                .memory
                .alloc(0, Cow::Borrowed("mark"), ObjectKind::Slot, Fill::Undefined)
                .ok_or(Stop::Limit(LimitKind::Memory))?,
        };
        self.mark_object = Some(object);
        let depth = self.frames.len() - 1;
        self.memory.store(buffer, Ty::Ptr, Value::ptr(object, self.marks.len() as i64))?;
        self.marks.push(ReturnMark { depth, serial: at.serial, block: at.block, next: at.next, result });
        if let Some(result) = result {
            self.set(at, result, Value::Int(0));
        }
        Ok(())
    }

    /// Leaves calls up to that of a mark, and continues there.
    pub(crate) fn resume(&mut self, mark: usize, value: u64, observer: &mut impl Observer) -> Result<(), Stop> {
        let mark = self.marks.get(mark).copied();
        let alive = |mark: &ReturnMark| self.frames.get(mark.depth).is_some_and(|frame| frame.serial == mark.serial);
        let Some(mark) = mark.filter(alive) else {
            return Err(Stop::Unsupported(UnsupportedOperation::EndedCall));
        };
        while self.frames.len() > mark.depth + 1 {
            if let Some(frame) = self.frames.pop() {
                self.leave(&frame);
                observer.event(&Event::Return);
            }
        }
        if let Some(top) = self.frames.last_mut() {
            (top.block, top.next) = (mark.block, mark.next);
            if let Some(result) = mark.result {
                self.regs[top.reg_base + result.index()] = Value::Int(value.max(1));
            }
        }
        Ok(())
    }
}
