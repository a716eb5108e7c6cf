//! Direct calls and returns between decoded functions: the frequent cases of [`Machine::enter`] and
//! [`Machine::step_return`], which define what they do.
//!
//! Nothing has changed when one of these functions returns `None`: the instruction is left to [`Machine::step`], which
//! reports its error, if any.

use super::{CallFrame, Machine};
use crate::decoded_code::{CallSite, DecodedFunction, DecodedFunctions, ReturnSite};
use crate::observer::{Event, Observer};
use crate::state_view::StateView;
use crate::value::Value;
use touchstone_base::Id;
use touchstone_ir::{BlockId, Ty, mask};

impl<'m> Machine<'m> {
    /// Executes a call; returns the code of the callee and its first op.
    #[inline(always)]
    pub(super) fn call_decoded<'d, O: Observer>(
        &mut self,
        frame: &mut CallFrame<'m>,
        code: &'d DecodedFunction,
        at: usize,
        site: u32,
        decoded: &'d DecodedFunctions,
        observer: &mut O,
    ) -> Option<(&'d DecodedFunction, usize)> {
        let CallSite { callee, args, result } = &code.calls[site as usize];
        let function = self.function(*callee)?;
        if !function.is_defined() || self.frames.len() >= self.limits.frames || args.len() != function.params.len() {
            return None;
        }
        let callee_code = decoded.get(*callee, function, O::WATCHES_POINTS)?;
        let (reg_base, slot_base) = (self.regs.len(), self.slots.len());
        self.regs.extend_from_slice(&callee_code.initial);
        let (caller_regs, regs) = self.regs.split_at_mut(reg_base);
        let caller_regs = &caller_regs[frame.reg_base..];
        for (&arg, &(param, ty)) in args.iter().zip(&callee_code.params) {
            regs[param as usize] = match (caller_regs[arg as usize], ty) {
                (Value::Int(value), ty) => Value::Int(mask(value, ty.bits())),
                (pointer @ Value::Ptr(_), Ty::Ptr) => pointer,
                _ => {
                    self.regs.truncate(reg_base);
                    return None;
                }
            };
        }
        self.slots.resize(slot_base + function.slots.len(), None);
        self.serials += 1;
        if let Some(top) = self.frames.last_mut() {
            let (block, next) = code.position(at);
            (top.block, top.next) = (block, next + 1);
        }
        *frame = CallFrame {
            func: *callee,
            function,
            block: BlockId::new(0),
            next: 0,
            reg_base,
            slot_base,
            result: *result,
            serial: self.serials,
        };
        self.frames.push(*frame);
        observer.event(&Event::Call(*callee));
        observer.enter(&StateView { machine: self, frame });
        Some((callee_code, callee_code.op_at(BlockId::new(0), 0)))
    }

    /// Executes a return to a decoded function; returns its code and the op after the call.
    #[inline(always)]
    pub(super) fn return_decoded<'d, O: Observer>(
        &mut self,
        frame: &mut CallFrame<'m>,
        site: ReturnSite,
        decoded: &'d DecodedFunctions,
        observer: &mut O,
    ) -> Option<(&'d DecodedFunction, usize)> {
        let caller = *self.frames.get(self.frames.len().checked_sub(2)?)?;
        let code = decoded.get(caller.func, caller.function, O::WATCHES_POINTS)?;
        let value = match site.value {
            None => Value::Undefined,
            Some((place, operand)) => match self.regs[frame.reg_base + place as usize] {
                Value::Undefined => return None,
                value => {
                    observer.returning(operand, &StateView { machine: self, frame });
                    value
                }
            },
        };
        self.frames.pop();
        self.leave(frame);
        observer.event(&Event::Return);
        if let Some(reg) = frame.result {
            self.regs[caller.reg_base + reg.index()] = value;
        }
        *frame = caller;
        Some((code, code.op_at(caller.block, caller.next)))
    }
}
