//! Pointer arithmetic: comparisons, sums, differences, and conversions to integers.
//!
//! C orders and subtracts only pointers into one object. So a symbolic pointer that is first used in an ordered
//! comparison is materialised into the object of the other operand (`char *p, char *end`), at any of its elements.
//! Addresses of objects are never decided, and neither is anything that would depend on them.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::memory::access::NULL_PAGE;
use crate::state::memory::{Cell, ObjectKind, address_term, cell_term, concat_bytes};
use crate::state::value::{ObjectId, Pointer, PointerBytes, Scalar, Value};
use crate::state::{PointerUse, State, Stop};
use std::rc::Rc;
use touchstone_base::{Id, Span};
use touchstone_criteria::Unsupported;
use touchstone_ir::{CmpOp, GlobalId, Linkage, Operand, Reg, Ty};
use touchstone_solver::{Op, TermId};

/// Returns the stop for an order or distance that depends on the addresses of objects.
fn unordered(span: Span) -> Stop {
    Stop::unsupported(Unsupported::PointerOrder, span)
}

/// Returns true if all possible targets of two pointers are in one object: their distance is then independent of its
/// address.
fn in_one_object(left: &Value, right: &Value) -> bool {
    let mut found = None;
    let mut same = |value: &Value| match value {
        Value::Ptr(pointer) => *found.get_or_insert(pointer.object) == pointer.object,
        _ => false,
    };
    [left, right].into_iter().all(|value| match value {
        Value::Choice(options) => options.iter().all(|(_, option)| same(option)),
        value => same(value),
    })
}

impl Executor<'_> {
    /// Returns the term of `left op right`, where one operand is a pointer.
    pub(crate) fn compare_pointers(
        &mut self,
        state: &State,
        op: CmpOp,
        left: &Value,
        right: &Value,
        ty: Ty,
        span: Span,
    ) -> Result<TermId, Stop> {
        if left == right && matches!(left, Value::Bytes(_)) {
            return Ok(self.terms.truth(matches!(op, CmpOp::Eq | CmpOp::Ule | CmpOp::Sle)));
        }
        let (left, right) = match op {
            CmpOp::Eq | CmpOp::Ne => self.resolved_for_equality(state, left, right)?,
            _ => self.resolved_for_order(state, left, right)?,
        };
        self.compare_resolved(state, op, (&left, &right), ty, span)
    }

    /// Resolves a pointer for a comparison: it may also point just behind the last element.
    fn resolved_for_comparison(&mut self, state: &State, value: &Value) -> Result<Value, Stop> {
        self.resolved(state, value).map_err(|stop| match stop {
            Stop::Materialise(id, _) => Stop::Materialise(id, PointerUse::Compare),
            other => other,
        })
    }

    /// Resolves two pointers that are compared for equality. A symbolic pointer may also be the address of a constant
    /// that it is compared with, if a test can name it.
    fn resolved_for_equality(&mut self, state: &State, left: &Value, right: &Value) -> Result<(Value, Value), Stop> {
        match (self.resolved_for_comparison(state, left), self.resolved_for_comparison(state, right)) {
            (Ok(left), Ok(right)) => Ok((left, right)),
            (Err(Stop::Materialise(id, purpose)), Ok(other)) | (Ok(other), Err(Stop::Materialise(id, purpose))) => {
                let constant = match other {
                    Value::Ptr(Pointer { object, offset: Scalar::Const(offset) })
                        if self.is_nameable_constant(object) =>
                    {
                        Some(PointerUse::EqualTo(object, offset))
                    }
                    _ => None,
                };
                Err(Stop::Materialise(id, constant.unwrap_or(purpose)))
            }
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
        }
    }

    /// Returns true if an object is a constant that a test can name and whose address a pointer from outside may hold.
    fn is_nameable_constant(&self, object: ObjectId) -> bool {
        let global = self.module.globals.get(GlobalId::new(object.index()));
        let named = global.is_some_and(|global| matches!(global.linkage, Linkage::External | Linkage::Internal));
        named && self.is_reachable_constant(object)
    }

    /// Resolves two pointers that are ordered or subtracted. A symbolic pointer is materialised into the object of the
    /// other one.
    fn resolved_for_order(&mut self, state: &State, left: &Value, right: &Value) -> Result<(Value, Value), Stop> {
        let beside = |other: &Value| match other {
            Value::Ptr(pointer) => PointerUse::SameObject(pointer.object),
            _ => PointerUse::Compare,
        };
        match (self.resolved_for_comparison(state, left), self.resolved_for_comparison(state, right)) {
            (Ok(left), Ok(right)) => Ok((left, right)),
            (Err(Stop::Materialise(id, _)), Ok(other)) | (Ok(other), Err(Stop::Materialise(id, _))) => {
                Err(Stop::Materialise(id, beside(&other)))
            }
            // The pointer with a given length is materialised first, else the older one.
            (Err(Stop::Materialise(a, purpose)), Err(Stop::Materialise(b, _))) => {
                let later = |id| (self.has_length(state, id), std::cmp::Reverse(id));
                Err(Stop::Materialise(std::cmp::max_by_key(b, a, |id| later(*id)), purpose))
            }
            (Err(stop), _) | (_, Err(stop)) => Err(stop),
        }
    }

    /// Records that a pointer is used as an integer: the value is one of many possible addresses, and what other
    /// addresses reach is unknown. `value` is resolved.
    pub(crate) fn expose_address(&mut self, value: &Value, span: Span) -> Result<(), Stop> {
        if self.exposes_address(value) {
            if self.policy.environment == Environment::Any {
                return Err(Stop::unsupported(Unsupported::AddressAsNumber, span));
            }
            self.ledger.excluded_inputs = true;
        }
        Ok(())
    }

    /// Returns true if a value, as an integer, depends on the address of an object.
    fn exposes_address(&self, value: &Value) -> bool {
        match value {
            Value::Ptr(_) => true,
            Value::Choice(options) => options.iter().any(|(_, option)| self.exposes_address(option)),
            Value::Bytes(part) => self.exposes_address(self.pointers.get(part.pointer)),
            Value::Int(_) | Value::LazyPointer(_) | Value::Undefined => false,
        }
    }

    /// Returns the integer of bytes of which some belong to a pointer.
    pub(crate) fn integer_of_cells(&mut self, state: &State, cells: &[Cell], span: Span) -> Result<Value, Stop> {
        let mut bytes = Vec::with_capacity(cells.len());
        for cell in cells {
            bytes.push(match (*cell, cell_term(*cell, &mut self.terms)) {
                (_, Some(byte)) => byte,
                (Cell::Pointer { value, index }, None) => {
                    let byte = Value::Bytes(PointerBytes { pointer: value, first: index, bytes: 1, width: 1 });
                    self.as_scalar(state, &byte, span)?.term(&mut self.terms, 8)
                }
                (_, None) => return Ok(Value::Undefined),
            });
        }
        let whole = concat_bytes(&bytes, &mut self.terms);
        Ok(Value::term(&self.terms, whole))
    }

    /// Returns true if a pointer cannot equal this integer whatever the addresses of objects are. An input pointer may
    /// be an invalid one (`(void *)-1`), though no test has it.
    fn never_equals(&self, state: &State, pointer: &Pointer, number: &Value) -> bool {
        let Value::Int(Scalar::Const(number)) = number else { return false };
        let is_input = state.memory.get(pointer.object).kind == ObjectKind::Input;
        let inside = matches!(pointer.offset, Scalar::Const(at) if at <= state.memory.get(pointer.object).size);
        inside && !is_input && (*number < NULL_PAGE || *number >= 1 << 63)
    }

    fn compare_resolved(
        &mut self,
        state: &State,
        op: CmpOp,
        (left, right): (&Value, &Value),
        ty: Ty,
        span: Span,
    ) -> Result<TermId, Stop> {
        match (left, right) {
            (Value::Choice(options), other) => {
                let options = Rc::clone(options);
                self.any_option(&options, |this, option| this.compare_resolved(state, op, (option, other), ty, span))
            }
            (other, Value::Choice(options)) => {
                let options = Rc::clone(options);
                self.any_option(&options, |this, option| this.compare_resolved(state, op, (other, option), ty, span))
            }
            (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => {
                let (a, b) = (a.offset.term(&mut self.terms, 64), b.offset.term(&mut self.terms, 64));
                // Within one object the order is that of signed offsets: addresses never wrap.
                let op = match op {
                    CmpOp::Ult => CmpOp::Slt,
                    CmpOp::Ule => CmpOp::Sle,
                    other => other,
                };
                Ok(self.cmp_terms(op, a, b))
            }
            (Value::Ptr(a), Value::Ptr(b)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                Ok(match self.may_be_equal(state, a, b, span)? {
                    true => self.terms.var(1, "pointers are equal"),
                    false => self.terms.truth(op == CmpOp::Ne),
                })
            }
            (Value::Ptr(_), Value::Int(Scalar::Const(0))) | (Value::Int(Scalar::Const(0)), Value::Ptr(_))
                if matches!(op, CmpOp::Eq | CmpOp::Ne) =>
            {
                Ok(self.terms.truth(op == CmpOp::Ne))
            }
            (Value::Ptr(_), Value::Ptr(_)) => Err(unordered(span)),
            (Value::Ptr(pointer), number) | (number, Value::Ptr(pointer))
                if matches!(op, CmpOp::Eq | CmpOp::Ne) && self.never_equals(state, pointer, number) =>
            {
                Ok(self.terms.truth(op == CmpOp::Ne))
            }
            _ => {
                let (a, b) = (self.as_scalar(state, left, span)?, self.as_scalar(state, right, span)?);
                let (a, b) = (a.term(&mut self.terms, ty.bits()), b.term(&mut self.terms, ty.bits()));
                Ok(self.cmp_terms(op, a, b))
            }
        }
    }

    /// Returns the condition that a fact holds for the option that its guard selects.
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
            Value::Undefined => Err(self.uninitialised(state, span)),
            Value::Bytes(_) => Err(Stop::unsupported(Unsupported::SumWithPart, span)),
            Value::Ptr(pointer) => {
                let offset = self.add64(pointer.offset, offset);
                Ok(Value::Ptr(Pointer { object: pointer.object, offset }))
            }
            Value::Int(address) => {
                let sum = self.add64(*address, offset);
                let from_null = match address {
                    Scalar::Const(address) => *address == 0,
                    Scalar::Term(address) => self.null_based.contains(address),
                };
                if let (true, Scalar::Term(sum)) = (from_null, sum) {
                    self.null_based.insert(sum);
                }
                Ok(Value::Int(sum))
            }
            Value::LazyPointer(_) => {
                let decided = self.resolved(state, base)?;
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
        let (left, right) = self.resolved_for_order(state, &left, &right)?;
        let (left, right) = match (&left, &right) {
            (Value::Ptr(a), Value::Ptr(b)) if a.object == b.object => (a.offset, b.offset),
            (Value::Ptr(_), Value::Ptr(_)) => return Err(unordered(span)),
            _ if in_one_object(&left, &right) => {
                let address = |this: &mut Self, value| address_term(value, &mut this.terms, &this.pointers);
                let unknown = || Stop::unsupported(Unsupported::UndecidedDistance, span);
                let (left, right) = (address(self, &left), address(self, &right));
                (Scalar::Term(left.ok_or_else(unknown)?), Scalar::Term(right.ok_or_else(unknown)?))
            }
            _ => (self.as_scalar(state, &left, span)?, self.as_scalar(state, &right, span)?),
        };
        let (left, right) = (left.term(&mut self.terms, 64), right.term(&mut self.terms, 64));
        let term = self.terms.bin(Op::Sub, left, right);
        state.set(dst, Value::term(&self.terms, term));
        Ok(())
    }
}
