//! What a program computes with pointers: comparisons, sums, differences and their addresses.
//!
//! C orders and subtracts only pointers into one object. So an input pointer that is first looked at there leads into the
//! object that it is compared with (`char *p, char *end`), at any of its elements; where objects lie in memory is known of
//! no run, and what would depend on it is never decided.

use crate::executor::{Executor, Overflow};
use crate::memory::address_term;
use crate::state::{Purpose, State, Stop};
use crate::value::{Pointer, Scalar, Value};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_ir::{CmpOp, Operand, Reg};
use touchstone_solver::{Op, TermId};

/// Two pointers whose order or distance is where their objects lie.
fn apart(span: Span) -> Stop {
    Stop::unsupported("order of pointers into different objects", span)
}

impl Executor<'_> {
    /// `left op right` where one of them is a pointer.
    pub(crate) fn compare_pointers(
        &mut self,
        state: &State,
        op: CmpOp,
        left: &Value,
        right: &Value,
        span: Span,
    ) -> Result<TermId, Stop> {
        let (left, right) = match op {
            CmpOp::Eq | CmpOp::Ne => (self.looked_at(state, left)?, self.looked_at(state, right)?),
            _ => self.side_by_side(state, left, right)?,
        };
        self.cmp_decided(op, &left, &right, span)
    }

    /// A pointer without undecided parts, for a comparison: it may also lead behind the last element.
    fn looked_at(&mut self, state: &State, value: &Value) -> Result<Value, Stop> {
        self.decided(state, value).map_err(|stop| match stop {
            Stop::Force(id, _) => Stop::Force(id, Purpose::Compare),
            other => other,
        })
    }

    /// Two pointers that are put in order. One that is undecided leads into the object of the other.
    fn side_by_side(&mut self, state: &State, left: &Value, right: &Value) -> Result<(Value, Value), Stop> {
        let beside = |other: &Value| match other {
            Value::Ptr(pointer) => Purpose::Beside(pointer.object),
            _ => Purpose::Compare,
        };
        match (self.looked_at(state, left), self.looked_at(state, right)) {
            (Ok(left), Ok(right)) => Ok((left, right)),
            (Err(Stop::Force(id, _)), Ok(other)) | (Ok(other), Err(Stop::Force(id, _))) => {
                Err(Stop::Force(id, beside(&other)))
            }
            // The one whose object has a known length comes first, else the one that was there first.
            (Err(Stop::Force(a, purpose)), Err(Stop::Force(b, _))) => {
                let later = |id| (self.has_length(state, id), std::cmp::Reverse(id));
                Err(Stop::Force(std::cmp::max_by_key(b, a, |id| later(*id)), purpose))
            }
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
        }
    }

    /// An address as a number is one of many that the object could have: what other addresses reach is not known.
    pub(crate) fn look_at_address(&mut self, state: &State, value: &Value, span: Span) -> Result<(), Stop> {
        if matches!(self.decided(state, value)?, Value::Ptr(_) | Value::Choice(_)) {
            if self.overflow == Overflow::Followed {
                return Err(Stop::unsupported("address of an object as a number", span));
            }
            self.avoided = true;
        }
        Ok(())
    }

    fn cmp_decided(&mut self, op: CmpOp, left: &Value, right: &Value, span: Span) -> Result<TermId, Stop> {
        match (left, right) {
            (Value::Choice(options), other) => {
                let options = Rc::clone(options);
                self.any_option(&options, |this, option| this.cmp_decided(op, option, other, span))
            }
            (other, Value::Choice(options)) => {
                let options = Rc::clone(options);
                self.any_option(&options, |this, option| this.cmp_decided(op, other, option, span))
            }
            (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => {
                let (a, b) = (a.offset.term(&mut self.terms, 64), b.offset.term(&mut self.terms, 64));
                // Offsets of one object: "before" is a signed question about them, addresses never wrap.
                let op = match op {
                    CmpOp::Ult => CmpOp::Slt,
                    CmpOp::Ule => CmpOp::Sle,
                    other => other,
                };
                Ok(self.cmp_terms(op, a, b))
            }
            (Value::Ptr(_), Value::Ptr(_) | Value::Int(Scalar::Const(0)))
            | (Value::Int(Scalar::Const(0)), Value::Ptr(_))
                if matches!(op, CmpOp::Eq | CmpOp::Ne) =>
            {
                Ok(self.terms.truth(op == CmpOp::Ne))
            }
            (Value::Ptr(_), Value::Ptr(_)) => Err(apart(span)),
            _ => {
                let unknown = || Stop::unsupported("comparison of an undecided pointer", span);
                let a = address_term(left, &mut self.terms).ok_or_else(unknown)?;
                let b = address_term(right, &mut self.terms).ok_or_else(unknown)?;
                Ok(self.cmp_terms(op, a, b))
            }
        }
    }

    /// A fact about a choice: it holds for the option whose guard holds.
    fn any_option(
        &mut self,
        options: &[(TermId, Value)],
        mut fact: impl FnMut(&mut Self, &Value) -> Result<TermId, Stop>,
    ) -> Result<TermId, Stop> {
        let mut any = self.terms.truth(false);
        for (guard, option) in options {
            let holds = fact(self, option)?;
            let here = self.terms.and(*guard, holds);
            any = self.terms.or(any, here);
        }
        Ok(any)
    }

    pub(crate) fn step_ptr_add(
        &mut self,
        state: &mut State,
        dst: Reg,
        base: Operand,
        offset: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let offset = self.scalar(state, offset, span)?;
        let base = state.top().value(base);
        let value = if offset == Scalar::Const(0) { base } else { self.advance(state, &base, offset, span)? };
        state.set(dst, value);
        Ok(())
    }

    pub(crate) fn advance(&mut self, state: &State, base: &Value, offset: Scalar, span: Span) -> Result<Value, Stop> {
        match base {
            Value::Undefined => Err(self.uninitialised(span)),
            Value::Ptr(pointer) => {
                let offset = self.add64(pointer.offset, offset);
                Ok(Value::Ptr(Pointer { object: pointer.object, offset }))
            }
            Value::Int(address) => Ok(Value::Int(self.add64(*address, offset))),
            Value::Lazy(_) => {
                let decided = self.decided(state, base)?;
                self.advance(state, &decided, offset, span)
            }
            Value::Choice(options) => {
                let mut made = Vec::with_capacity(options.len());
                for (guard, option) in options.iter() {
                    made.push((*guard, self.advance(state, option, offset, span)?));
                }
                Ok(Value::Choice(made.into()))
            }
        }
    }

    fn add64(&mut self, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::Const(a), Scalar::Const(b)) => Scalar::Const(a.wrapping_add(b)),
            _ => {
                let (a, b) = (a.term(&mut self.terms, 64), b.term(&mut self.terms, 64));
                let sum = self.terms.bin(Op::Add, a, b);
                Scalar::from_term(&self.terms, sum)
            }
        }
    }

    pub(crate) fn step_ptr_diff(
        &mut self,
        state: &mut State,
        dst: Reg,
        a: Operand,
        b: Operand,
        span: Span,
    ) -> Result<(), Stop> {
        let (left, right) = (state.top().value(a), state.top().value(b));
        let (left, right) = self.side_by_side(state, &left, &right)?;
        let (left, right) = match (&left, &right) {
            (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => (a.offset, b.offset),
            (Value::Ptr(_), Value::Ptr(_)) => return Err(apart(span)),
            _ => (self.as_scalar(state, &left, span)?, self.as_scalar(state, &right, span)?),
        };
        let (left, right) = (left.term(&mut self.terms, 64), right.term(&mut self.terms, 64));
        let term = self.terms.bin(Op::Sub, left, right);
        state.set(dst, Value::term(&self.terms, term));
        Ok(())
    }
}
