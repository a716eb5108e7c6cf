//! Exceptions: unwinding to the frame with a handler, and the class of an uncaught exception.

use crate::machine::{CallFrame, Machine, Stop};
use crate::observer::{Event, Observer};
use crate::value::{Pointer, Value};
use touchstone_base::Id;
use touchstone_ir::{BlockId, Reg, TermKind, Ty};

impl<'m> Machine<'m> {
    /// Unwinds to the frame with a handler; the innermost frame throws.
    pub(crate) fn step_throw(&mut self, thrown: Value, observer: &mut impl Observer) -> Result<(), Stop> {
        let callers = self.frames.len().saturating_sub(1);
        let caught = (0..callers).rev().find_map(|depth| Some((depth, catch_of(&self.frames[depth])?)));
        let Some((depth, (reg, handler))) = caught else {
            let class = self.class_of(thrown)?;
            return Err(Stop::Threw { thrown, class });
        };
        while self.frames.len() > depth + 1
            && let Some(frame) = self.frames.pop()
        {
            self.leave(&frame);
            observer.event(&Event::Return);
        }
        if let Some(frame) = self.frames.last_mut() {
            (frame.block, frame.next) = (handler, 0);
            self.regs[frame.reg_base + reg.index()] = thrown;
        }
        Ok(())
    }

    /// Returns the class of a thrown object, if the module says where objects store it.
    fn class_of(&self, thrown: Value) -> Result<Option<u64>, Stop> {
        let Some(tag) = self.module().class_tag() else { return Ok(None) };
        let Pointer { object, offset } = self.memory.resolve(thrown)?;
        let place = Pointer { object, offset: offset.wrapping_add(tag.offset as i64) };
        let class = self.memory.load(place, Ty::Int(tag.bits))?;
        Ok(Some(self.memory.as_int(class)?))
    }
}

/// Returns the handler of a frame that waits for a call.
fn catch_of(frame: &CallFrame<'_>) -> Option<(Reg, BlockId)> {
    let block = &frame.function.blocks[frame.block];
    match block.terminator.kind {
        TermKind::Catch { thrown, handler, .. } if frame.next == block.insts.len() => Some((thrown, handler)),
        _ => None,
    }
}
