//! Runs of instructions over constants, such as most of a long loop that depends on no input.
//!
//! Such an instruction changes nothing but registers and the position, so it needs none of the bookkeeping of a step.
//! The executor leaves every other instruction to [`Executor::step`].

use crate::exec::executor::Executor;
use crate::exec::instructions::step::BranchResult;
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{Frame, State};
use std::rc::Rc;
use touchstone_base::{Id, WorkKind, spend};
use touchstone_criteria::PathsOf;
use touchstone_interp::arith;
use touchstone_ir::{BinOp, CastOp, Function, Inst, InstKind, Operand, TermKind};

/// The number of instructions over constants that all paths may execute beyond their limits, as a multiple of the limit
/// of one path. Such instructions cost a tenth of others, so one long loop is affordable; a loop in every path is not.
pub(crate) const FREE_STEPS_FACTOR: u64 = 9;

impl Executor<'_> {
    /// Executes instructions and branches as long as their operands are constants, and passes points without goals: at
    /// most `most` of them, and up to a goal. Returns their number.
    pub(super) fn run_constants(&mut self, state: &mut State, most: u32) -> u32 {
        if state.is_folded() {
            return 0;
        }
        let module = self.module;
        let free = self.config.steps.saturating_mul(FREE_STEPS_FACTOR).saturating_sub(self.ledger.free_steps);
        let charged = state.charged_steps;
        let (steps, most) = (self.config.steps.saturating_sub(charged).saturating_add(free), u64::from(most));
        let counts_iterations = self.config.loop_bound.is_some() || self.config.paths != PathsOf::Any;
        // A point counts no step.
        let (mut executed, mut points) = (0, 0);
        let is_full = |executed: u64, points: u64| executed == steps || executed + points == most;
        while !is_full(executed, points) {
            let Some(frame) = state.frames.last_mut().map(Rc::make_mut) else { break };
            let function = &module.functions[frame.func];
            let block = &function.blocks[frame.block];
            while let Some(inst) = block.insts.get(frame.inst).filter(|_| !is_full(executed, points)) {
                if let InstKind::Point { point } = inst.kind {
                    if charged + executed.saturating_sub(free) >= self.config.steps
                        || self.watches_point(frame.func, point)
                    {
                        break;
                    }
                    points += 1;
                } else if compute(frame, function, inst) {
                    executed += 1;
                } else {
                    break;
                }
                frame.inst += 1;
            }
            if frame.inst < block.insts.len() || is_full(executed, points) || counts_iterations {
                break;
            }
            let span = block.terminator.span;
            let went_on = match &block.terminator.kind {
                TermKind::Jump(target) => self.goto(state, *target, None, span),
                TermKind::Branch { cond, then_block, else_block, role, tag } => {
                    let Some(cond) = constant(frame, *cond) else { break };
                    let (taken, role, tag) = (cond & 1 == 1, *role, *tag);
                    let target = if taken { *then_block } else { *else_block };
                    self.take_branch(state, BranchResult { role, tag, taken, chosen: false }, target, span)
                }
                _ => break,
            };
            debug_assert!(went_on.is_ok(), "invariant: only bounds on iterations end a path at a constant branch");
            executed += 1;
            if !self.effects.is_empty() {
                break;
            }
        }
        spend(WorkKind::ConstantInstruction, executed);
        spend(WorkKind::Instruction, points);
        state.steps += executed;
        state.charged_steps += executed.saturating_sub(free);
        self.ledger.free_steps += executed.min(free);
        (executed + points) as u32
    }
}

/// Executes an instruction if its operands are constants and it can't fail. Returns true if it was executed.
#[inline]
fn compute(frame: &mut Frame, function: &Function, inst: &Inst) -> bool {
    let bits = |operand: &Operand| match operand {
        Operand::Reg(reg) => function.regs[*reg].ty.bits(),
        Operand::Const(ty, _) => ty.bits(),
    };
    let (dst, value) = match &inst.kind {
        InstKind::Copy { dst, src } => match frame.value(*src) {
            Value::Undefined => return false,
            value => (*dst, value),
        },
        InstKind::Bin { dst, op, a, b } if !divides(*op) => {
            let (Some(a), Some(b)) = (constant(frame, *a), constant(frame, *b)) else { return false };
            let Ok(value) = arith::bin(*op, a, b, function.regs[*dst].ty.bits()) else { return false };
            (*dst, Value::constant(value))
        }
        InstKind::Cmp { dst, op, a, b } => {
            let (Some(left), Some(right)) = (constant(frame, *a), constant(frame, *b)) else { return false };
            (*dst, Value::constant(u64::from(arith::cmp(*op, left, right, bits(a)))))
        }
        InstKind::Cast { dst, op, src } if *op != CastOp::IntToPtr => {
            let Some(value) = constant(frame, *src) else { return false };
            (*dst, Value::constant(arith::cast(*op, value, bits(src), function.regs[*dst].ty.bits())))
        }
        InstKind::PtrAdd { dst, base, offset } => {
            let Some(bytes) = constant(frame, *offset) else { return false };
            let Operand::Reg(base) = base else { return false };
            let Value::Ptr(Pointer { object, offset: Scalar::Const(at) }) = frame.regs[base.index()] else {
                return false;
            };
            (*dst, Value::pointer(object, at.wrapping_add(bytes)))
        }
        _ => return false,
    };
    frame.regs[dst.index()] = value;
    true
}

fn divides(op: BinOp) -> bool {
    matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem)
}

/// Returns the value of an operand that is a constant integer.
#[inline]
fn constant(frame: &Frame, operand: Operand) -> Option<u64> {
    match operand {
        Operand::Reg(reg) => match frame.regs[reg.index()] {
            Value::Int(Scalar::Const(value)) => Some(value),
            _ => None,
        },
        Operand::Const(_, value) => Some(value),
    }
}
