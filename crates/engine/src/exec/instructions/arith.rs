//! Integer arithmetic: operators, comparisons, conversions.

use crate::exec::executor::Executor;
use crate::state::value::{Scalar, Value};
use crate::state::{State, Stop};
use touchstone_base::Span;
use touchstone_base::fault::{Fault, is_injected};
use touchstone_criteria::Caveat;
use touchstone_interp::arith;
use touchstone_ir::{BinOp, CastOp, CmpOp, ErrorKind, Operand, Reg, Ty};
use touchstone_solver::{Op, Rel, TermId};

impl Executor<'_> {
    pub(in crate::exec) fn step_bin(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: BinOp,
        a: Operand,
        b: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let width = self.reg_ty(state, dst).bits();
        let (a, b) = (state.top().value(a), state.top().value(b));
        let value = self.binary(state, op, &a, &b, width, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// Returns `a op b`.
    pub(crate) fn binary(
        &mut self,
        state: &mut State,
        op: BinOp,
        a: &Value,
        b: &Value,
        width: u8,
        span: Span,
    ) -> Result<Value, Stop> {
        let (a, b) = (self.as_scalar(state, a, span)?, self.as_scalar(state, b, span)?);
        let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
        if divides {
            let fine = match b {
                Scalar::Const(value) => self.terms.truth(value != 0),
                Scalar::Term(term) => {
                    let zero = self.terms.constant(width, 0);
                    self.terms.ne(term, zero)
                }
            };
            self.require(state, fine, ErrorKind::DivisionByZero, span)?;
            if matches!(op, BinOp::SDiv | BinOp::SRem) {
                self.avoid_overflow(state, a, b, width);
            }
        }
        Ok(match (a, b) {
            (Scalar::Const(a), Scalar::Const(b)) => {
                Value::constant(arith::bin(op, a, b, width).map_err(|kind| Stop::error(kind, span))?)
            }
            _ => {
                let (a, b) = (a.term(&mut self.terms, width), b.term(&mut self.terms, width));
                let term = self.terms.bin(solver_op(op), a, b);
                Value::term(&self.terms, term)
            }
        })
    }

    /// Avoids the least integer divided by -1, which has no defined result and traps on common machines, as long as the
    /// path has other inputs.
    pub(in crate::exec) fn avoid_overflow(&mut self, state: &mut State, a: Scalar, b: Scalar, width: u8) {
        if matches!((a, b), (Scalar::Const(_), Scalar::Const(_))) {
            return;
        }
        let (a, b) = (a.term(&mut self.terms, width), b.term(&mut self.terms, width));
        let (least, minus_one) = (self.terms.constant(width, 1 << (width - 1)), self.terms.constant(width, u64::MAX));
        let (other_dividend, other_divisor) = (self.terms.ne(a, least), self.terms.ne(b, minus_one));
        let fine = self.terms.or(other_dividend, other_divisor);
        self.avoid(state, fine);
    }

    /// Restricts the state to inputs with a defined result, as long as the path has some.
    pub(crate) fn avoid(&mut self, state: &mut State, fine: TermId) {
        if fine == self.terms.truth(true) || self.considers(Caveat::Undefined) {
            return;
        }
        self.prefer(state, fine);
    }

    pub(in crate::exec) fn step_cmp(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: CmpOp,
        a: Operand,
        b: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let ty = self.operand_ty(state, a);
        let (left, right) = (state.top().value(a), state.top().value(b));
        let value = self.compare(state, op, &left, &right, ty, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// Returns the truth value of `left op right`.
    pub(crate) fn compare(
        &mut self,
        state: &State,
        op: CmpOp,
        left: &Value,
        right: &Value,
        ty: Ty,
        span: Span,
    ) -> Result<Value, Stop> {
        Ok(match (left, right) {
            (Value::Undefined, _) | (_, Value::Undefined) => return Err(self.uninitialised(state, span)),
            (Value::Int(Scalar::Const(a)), Value::Int(Scalar::Const(b))) => {
                Value::constant(u64::from(arith::cmp(op, *a, *b, ty.bits())))
            }
            (Value::Int(a), Value::Int(b)) => {
                let (a, b) = (a.term(&mut self.terms, ty.bits()), b.term(&mut self.terms, ty.bits()));
                let term = self.cmp_terms(op, a, b);
                Value::term(&self.terms, term)
            }
            _ => {
                let term = self.compare_pointers(state, op, left, right, ty, span)?;
                Value::term(&self.terms, term)
            }
        })
    }

    pub(crate) fn cmp_terms(&mut self, op: CmpOp, a: TermId, b: TermId) -> TermId {
        match op {
            CmpOp::Eq => self.terms.eq(a, b),
            CmpOp::Ne => self.terms.ne(a, b),
            CmpOp::Ult => self.terms.cmp(Rel::Ult, a, b),
            CmpOp::Ule => self.terms.cmp(Rel::Ule, a, b),
            CmpOp::Slt => self.terms.cmp(Rel::Slt, a, b),
            CmpOp::Sle => self.terms.cmp(Rel::Sle, a, b),
        }
    }

    pub(in crate::exec) fn step_cast(
        &mut self,
        state: &mut State,
        dst: Reg,
        op: CastOp,
        src: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let (from, to) = (self.operand_ty(state, src), self.reg_ty(state, dst));
        let value = state.top().value(src);
        let value = self.cast(state, op, &value, from, to, span)?;
        state.set(dst, value);
        Ok(())
    }

    /// Converts a value to another type.
    pub(crate) fn cast(
        &mut self,
        state: &State,
        op: CastOp,
        value: &Value,
        from: Ty,
        to: Ty,
        span: Span,
    ) -> Result<Value, Stop> {
        let (from, to) = (from.bits(), to.bits());
        if op == CastOp::IntToPtr {
            return Ok(value.clone());
        }
        // The integer of a pointer stays the pointer until its numeric value is used.
        if op == CastOp::PtrToInt && to == 64 && *value != Value::Undefined {
            return Ok(value.clone());
        }
        if let (Value::Bytes(part), CastOp::Zext | CastOp::Trunc) = (value, op)
            && let Some(resized) = part.resized(to / 8).filter(|_| to >= 8)
        {
            return Ok(Value::Bytes(resized));
        }
        Ok(match self.as_scalar(state, value, span)? {
            Scalar::Const(bits) => Value::constant(arith::cast(op, bits, from, to)),
            Scalar::Term(term) => {
                let term = match op {
                    CastOp::Sext if is_injected(Fault::ZeroExtension) => self.terms.zext(term, to),
                    CastOp::Sext => self.terms.sext(term, to),
                    CastOp::Zext => self.terms.zext(term, to),
                    CastOp::Trunc => self.terms.extract(term, 0, to),
                    CastOp::PtrToInt if to < 64 => self.terms.extract(term, 0, to),
                    CastOp::PtrToInt | CastOp::IntToPtr => term,
                };
                Value::term(&self.terms, term)
            }
        })
    }
}

pub(crate) fn solver_op(op: BinOp) -> Op {
    match op {
        BinOp::Add => Op::Add,
        BinOp::Sub => Op::Sub,
        BinOp::Mul => Op::Mul,
        BinOp::UDiv => Op::UDiv,
        BinOp::SDiv => Op::SDiv,
        BinOp::URem => Op::URem,
        BinOp::SRem => Op::SRem,
        BinOp::And => Op::And,
        BinOp::Or => Op::Or,
        BinOp::Xor => Op::Xor,
        BinOp::Shl => Op::Shl,
        BinOp::LShr => Op::LShr,
        BinOp::AShr => Op::AShr,
    }
}
