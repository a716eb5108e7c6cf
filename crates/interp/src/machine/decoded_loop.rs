//! The loop over decoded instructions: it executes the frequent cases, and leaves every other one to
//! [`Machine::step`], which defines what an instruction does.
//!
//! An op is executed here only if its operands are such that it can't fail, and that nothing but registers and memory
//! changes. Otherwise the loop ends before the op. Direct calls and returns continue in the other frame
//! (`decoded_calls.rs`).

use super::{CallFrame, Machine};
use crate::decoded_code::{ArmTarget, BranchSite, DecodedFunction, DecodedFunctions, DecodedOp, Place};
use crate::observer::{Event, Observer};
use crate::value::{Pointer, Value};
use touchstone_base::{Id, float};
use touchstone_ir::{BinOp, CastOp, Ty};

impl<'m> Machine<'m> {
    /// Executes ops, from the position of the innermost frame on, up to the first one that [`Machine::step`] must
    /// execute, which is the new position. Returns the code of the innermost frame, which may be another one.
    #[inline(never)]
    pub(crate) fn run_decoded<'d, O: Observer>(
        &mut self,
        frame: &mut CallFrame<'m>,
        code: &'d DecodedFunction,
        decoded: &'d DecodedFunctions,
        observer: &mut O,
    ) -> &'d DecodedFunction {
        let (mut code, mut at) = (code, code.op_at(frame.block, frame.next));
        loop {
            at = self.run_ops(frame, code, at, observer);
            if self.steps_left == 0 {
                break;
            }
            let entered = match code.ops[at] {
                DecodedOp::Call { site } => self.call_decoded(frame, code, at, site, decoded, observer),
                DecodedOp::Return { site } => {
                    self.return_decoded(frame, code.returns[site as usize], decoded, observer)
                }
                _ => None,
            };
            let Some(entered) = entered else { break };
            self.steps_left -= 1;
            (code, at) = entered;
        }
        (frame.block, frame.next) = code.position(at);
        code
    }

    /// Executes ops of the innermost frame, from `at` on, up to the first one that does something else.
    #[inline(always)]
    fn run_ops(
        &mut self,
        frame: &CallFrame<'m>,
        code: &DecodedFunction,
        mut at: usize,
        observer: &mut impl Observer,
    ) -> usize {
        let Machine { regs, memory, slots, globals, .. } = self;
        let regs = &mut regs[frame.reg_base..];
        let slots = &slots[frame.slot_base..];
        let mut steps = self.steps_left;
        macro_rules! integers {
            ($a:expr, $b:expr) => {
                match (regs[$a as usize], regs[$b as usize]) {
                    (Value::Int(a), Value::Int(b)) => (a, b),
                    _ => break,
                }
            };
        }
        macro_rules! binary {
            ($op:expr, $bits:expr, $dst:expr, $a:expr, $b:expr) => {{
                let (a, b) = integers!($a, $b);
                let Ok(value) = crate::arith::bin($op, a, b, $bits) else { break };
                regs[$dst as usize] = Value::Int(value);
            }};
        }
        macro_rules! branch_if {
            ($a:expr, $b:expr, $site:expr, $holds:expr) => {{
                let (a, b) = integers!($a, $b);
                if steps < 2 {
                    break;
                }
                steps -= 2;
                observer.compared(a, b);
                let taken = ($holds)(a, b);
                let site = &code.branches[$site as usize];
                regs[site.cond as usize] = Value::Int(u64::from(taken));
                at = branch(frame, site, taken, observer);
                continue;
            }};
        }
        macro_rules! load {
            ($bytes:literal, $ty:expr, $dst:expr, $addr:expr) => {{
                let Value::Ptr(place) = regs[$addr as usize] else { break };
                regs[$dst as usize] = match memory.load_plain::<$bytes>(place) {
                    Some(word) => Value::Int(word),
                    None => match memory.load(place, $ty) {
                        Ok(value) => value,
                        Err(_) => break,
                    },
                };
            }};
        }
        macro_rules! store {
            ($bytes:literal, $ty:expr, $addr:expr, $value:expr) => {{
                let Value::Ptr(place) = regs[$addr as usize] else { break };
                let value = regs[$value as usize];
                let is_stored = matches!(value, Value::Int(word) if memory.store_plain::<$bytes>(place, word));
                if !is_stored && memory.store(place, $ty, value).is_err() {
                    break;
                }
            }};
        }
        while steps > 0 {
            match code.ops[at] {
                DecodedOp::Copy { dst, src } => match regs[src as usize] {
                    Value::Undefined => break,
                    value => regs[dst as usize] = value,
                },
                DecodedOp::Add32 { dst, a, b } => binary!(BinOp::Add, 32, dst, a, b),
                DecodedOp::Add64 { dst, a, b } => binary!(BinOp::Add, 64, dst, a, b),
                DecodedOp::Sub32 { dst, a, b } => binary!(BinOp::Sub, 32, dst, a, b),
                DecodedOp::Sub64 { dst, a, b } => binary!(BinOp::Sub, 64, dst, a, b),
                DecodedOp::Mul32 { dst, a, b } => binary!(BinOp::Mul, 32, dst, a, b),
                DecodedOp::Mul64 { dst, a, b } => binary!(BinOp::Mul, 64, dst, a, b),
                // The operands are masked, and so is the result.
                DecodedOp::And { dst, a, b } => binary!(BinOp::And, 64, dst, a, b),
                DecodedOp::Or { dst, a, b } => binary!(BinOp::Or, 64, dst, a, b),
                DecodedOp::Xor { dst, a, b } => binary!(BinOp::Xor, 64, dst, a, b),
                DecodedOp::Arithmetic { op, bits, dst, a, b } => binary!(op, bits, dst, a, b),
                DecodedOp::Divide { op, bits, dst, a, b } => {
                    let (x, y) = integers!(a, b);
                    if crate::arith::traps(op, x, y, bits) {
                        break;
                    }
                    binary!(op, bits, dst, a, b);
                }
                DecodedOp::Compare { op, bits, dst, a, b } => {
                    let (a, b) = integers!(a, b);
                    observer.compared(a, b);
                    regs[dst as usize] = Value::Int(u64::from(crate::arith::cmp(op, a, b, bits)));
                }
                DecodedOp::ComparePointers { op, dst, a, b } => {
                    let (a, b) = (regs[a as usize], regs[b as usize]);
                    // The layout decides other comparisons.
                    let is_certain = match (a, b) {
                        (Value::Ptr(left), Value::Ptr(right)) => left.object == right.object,
                        (Value::Ptr(_), Value::Int(0)) | (Value::Int(0), Value::Ptr(_)) => true,
                        (Value::Int(_), Value::Int(_)) => true,
                        _ => false,
                    };
                    if !is_certain || a.is_far_out_of_bounds() || b.is_far_out_of_bounds() {
                        break;
                    }
                    let Ok(holds) = memory.compare(op, a, b) else { break };
                    regs[dst as usize] = Value::Int(u64::from(holds));
                }
                DecodedOp::BranchEq { a, b, site } => branch_if!(a, b, site, |a: u64, b: u64| a == b),
                DecodedOp::BranchNe { a, b, site } => branch_if!(a, b, site, |a: u64, b: u64| a != b),
                DecodedOp::BranchUnsigned { op, a, b, site } => {
                    branch_if!(a, b, site, |a: u64, b: u64| crate::arith::cmp(op, a, b, 64));
                }
                DecodedOp::BranchSigned { op, bits, a, b, site } => {
                    branch_if!(a, b, site, |a: u64, b: u64| crate::arith::cmp(op, a, b, bits));
                }
                DecodedOp::SignExtend { from, to, dst, src } => {
                    let Value::Int(value) = regs[src as usize] else { break };
                    regs[dst as usize] = Value::Int(crate::arith::cast(CastOp::Sext, value, from, to));
                }
                DecodedOp::Truncate { to, dst, src } => {
                    let Value::Int(value) = regs[src as usize] else { break };
                    regs[dst as usize] = Value::Int(crate::arith::cast(CastOp::Trunc, value, to, to));
                }
                DecodedOp::Float { dst, operation } => {
                    let operation = &code.floats[operation as usize];
                    let mut values = [0; 3];
                    let places = &operation.args[..operation.count];
                    let defined = places.iter().zip(&mut values).all(|(place, value)| match regs[*place as usize] {
                        Value::Int(bits) => {
                            *value = bits;
                            true
                        }
                        _ => false,
                    });
                    if !defined {
                        break;
                    }
                    regs[dst as usize] = Value::Int(float::eval(operation.op, operation.format, &values));
                }
                DecodedOp::SlotAddr { dst, slot } => {
                    let Some(object) = slots[slot.index()] else { break };
                    regs[dst as usize] = Value::ptr(object, 0);
                }
                DecodedOp::SlotBegin { slot } => {
                    let Some(object) = slots[slot.index()] else { break };
                    memory.make_undefined(object);
                }
                DecodedOp::GlobalAddr { dst, global } => {
                    let Some(object) = globals.get(global) else { break };
                    regs[dst as usize] = Value::ptr(*object, 0);
                }
                DecodedOp::PtrAdd { dst, base, offset } => {
                    let (base, offset) = (regs[base as usize], regs[offset as usize]);
                    let (Value::Ptr(base), Value::Int(bytes)) = (base, offset) else { break };
                    let Pointer { object, offset } = base;
                    regs[dst as usize] = Value::ptr(object, offset.wrapping_add(bytes as i64));
                }
                DecodedOp::ElementAddr { site } => {
                    let site = &code.elements[site as usize];
                    let (index, size) = integers!(site.index, site.size);
                    let Value::Ptr(Pointer { object, offset }) = regs[site.base as usize] else { break };
                    if steps < 3 {
                        break;
                    }
                    let extended = crate::arith::cast(CastOp::Sext, index, site.from, 64);
                    let bytes = extended.wrapping_mul(size);
                    regs[site.extended as usize] = Value::Int(extended);
                    regs[site.offset as usize] = Value::Int(bytes);
                    regs[site.dst as usize] = Value::ptr(object, offset.wrapping_add(bytes as i64));
                    steps -= 3;
                    at += 3;
                    continue;
                }
                DecodedOp::PtrDiff { dst, a, b } => {
                    let (Value::Ptr(a), Value::Ptr(b)) = (regs[a as usize], regs[b as usize]) else { break };
                    if a.object != b.object {
                        break;
                    }
                    regs[dst as usize] = Value::Int(a.offset.wrapping_sub(b.offset) as u64);
                }
                DecodedOp::Load8 { dst, addr } => load!(1, Ty::I8, dst, addr),
                DecodedOp::Load32 { dst, addr } => load!(4, Ty::I32, dst, addr),
                DecodedOp::Load64 { dst, addr } => load!(8, Ty::I64, dst, addr),
                DecodedOp::Load { ty, dst, addr } => {
                    let Value::Ptr(place) = regs[addr as usize] else { break };
                    let Ok(value) = memory.load(place, ty) else { break };
                    regs[dst as usize] = value;
                }
                DecodedOp::Store8 { addr, value } => store!(1, Ty::I8, addr, value),
                DecodedOp::Store32 { addr, value } => store!(4, Ty::I32, addr, value),
                DecodedOp::Store64 { addr, value } => store!(8, Ty::I64, addr, value),
                DecodedOp::Store { ty, addr, value } => {
                    let Value::Ptr(place) = regs[addr as usize] else { break };
                    if memory.store(place, ty, regs[value as usize]).is_err() {
                        break;
                    }
                }
                DecodedOp::Jump { target } => {
                    steps -= 1;
                    at = target as usize;
                    continue;
                }
                DecodedOp::Branch { cond, site } => {
                    let Value::Int(cond) = regs[cond as usize] else { break };
                    steps -= 1;
                    at = branch(frame, &code.branches[site as usize], cond != 0, observer);
                    continue;
                }
                DecodedOp::Switch { value, site } => {
                    let Value::Int(value) = regs[value as usize] else { break };
                    steps -= 1;
                    let site = &code.switches[site as usize];
                    let ArmTarget { block: target, arm, op } = site.target(value);
                    let (func, block, role) = (frame.func, site.block, site.role);
                    observer.event(&Event::Switch { func, block, role, arm, target });
                    at = op as usize;
                    continue;
                }
                DecodedOp::Point { point } => {
                    if observer.watches(frame.func, point) {
                        break;
                    }
                    // A point counts no step.
                    at += 1;
                    continue;
                }
                DecodedOp::Call { .. } | DecodedOp::Return { .. } | DecodedOp::Other => break,
            }
            steps -= 1;
            at += 1;
        }
        self.steps_left = steps;
        at
    }
}

/// Reports a branch; returns the op that is next.
#[inline(always)]
fn branch(frame: &CallFrame<'_>, site: &BranchSite, taken: bool, observer: &mut impl Observer) -> usize {
    let BranchSite { block, role, tag, then_op, else_op, .. } = *site;
    observer.event(&Event::Branch { func: frame.func, block, role, tag, taken });
    (if taken { then_op } else { else_op }) as usize
}

const _: () = assert!(size_of::<DecodedOp>() == 16 && size_of::<Place>() == 4);
