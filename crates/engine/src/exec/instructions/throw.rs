//! Exceptions: unwinding to the frame that catches, and the end of a path that does not.

use crate::exec::executor::Executor;
use crate::exec::instructions::calls::end_lifetime;
use crate::state::value::{Scalar, Value};
use crate::state::{Frame, PathEnd, State, Stop};
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::{BlockId, Module, Reg, TermKind, Ty};

impl Executor<'_> {
    /// Unwinds to the frame that catches; the innermost frame throws.
    pub(in crate::exec) fn step_throw(&mut self, state: &mut State, thrown: Value, span: Span) -> Result<(), Stop> {
        if thrown == Value::Undefined {
            return Err(self.uninitialised(state, span));
        }
        let callers = state.frames.len() - 1;
        let caught = (0..callers).rev().find_map(|depth| Some((depth, catch_of(self.module, &state.frames[depth])?)));
        let Some((depth, (reg, handler))) = caught else {
            let class = self.class_of(state, &thrown, span)?;
            return Err(Stop::End(PathEnd::Threw { class }));
        };
        if state.is_folded() {
            // The sides of a fold could join in different frames.
            return Err(Stop::unsupported(Unsupported::HandlerInPrecondition, span));
        }
        while state.frames.len() > depth + 1
            && let Some(frame) = state.frames.pop()
        {
            frame.slots.iter().for_each(|slot| end_lifetime(state, *slot));
        }
        state.set(reg, thrown);
        self.goto(state, handler, None, span)
    }

    /// Returns the class of a thrown object, if the module says where it is stored; a symbolic class is fixed first.
    fn class_of(&mut self, state: &mut State, thrown: &Value, span: Span) -> Result<Option<u64>, Stop> {
        let Some(tag) = self.module.class_tag() else { return Ok(None) };
        let place = match tag.offset {
            0 => thrown.clone(),
            offset => self.advance(state, thrown, Scalar::Const(offset), span)?,
        };
        let class = self.load(state, &place, Ty::Int(tag.bits), span)?;
        match self.as_scalar(state, &class, span)? {
            Scalar::Const(class) => Ok(Some(class)),
            Scalar::Term(term) => match state.fixed_value(term) {
                Some(class) => Ok(Some(class)),
                None => Err(Stop::unfixed(term)),
            },
        }
    }
}

/// Returns the register and the handler of a frame that catches the exception of its pending call.
fn catch_of(module: &Module, frame: &Frame) -> Option<(Reg, BlockId)> {
    let block = &module.functions[frame.func].blocks[frame.block];
    match block.terminator.kind {
        TermKind::Catch { thrown, handler, .. } if frame.inst == block.insts.len() => Some((thrown, handler)),
        _ => None,
    }
}
