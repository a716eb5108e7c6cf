//! Loads and stores: resolves the address, checks lifetime, permission and bounds, and reads or writes the cells.
//!
//! Every check that depends on inputs forks the path: the failing side ends as an error path of its own.

use crate::config::Aliases;
use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::exec::memory::late_aliases::{Access, clobbered};
use crate::state::memory::{Assembled, Contents, Memory, ObjectKind, ObjectShape, assemble, disassemble};
use crate::state::value::{ObjectId, Pointer, Scalar, Value};
use crate::state::{PointerUse, State, Stop};
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Incomplete, Unsupported};
use touchstone_ir::{ErrorKind, Ty};
use touchstone_solver::{Op, Rel, TermId};

/// The size of the first page: an address below it is null plus an offset.
pub(crate) const NULL_PAGE: u64 = 4096;

/// The kind of an access.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    Read,
    Write(Written),
}

/// The kind of data that a write stores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// An integer or a pointer.
    Scalar(Ty),
    /// Raw bytes.
    Bytes,
}

/// One location that an access may refer to, under a guard (`None`: always).
struct GuardedPointer {
    guard: Option<TermId>,
    pointer: Pointer,
}

impl Executor<'_> {
    pub(crate) fn load(&mut self, state: &mut State, addr: &Value, ty: Ty, span: Span) -> Result<Value, Stop> {
        let locations = self.locations(state, addr, u64::from(ty.bytes()), Intent::Read, span)?;
        let mut result: Option<Value> = None;
        for location in locations.iter().rev() {
            let value = self.load_at(state, location, ty, span)?;
            result = Some(match (result, location.guard) {
                (Some(other), Some(guard)) => self.select(guard, &value, &other, ty),
                _ => value,
            });
        }
        result.ok_or_else(|| Stop::error(ErrorKind::InvalidPointer, span))
    }

    pub(crate) fn store(
        &mut self,
        state: &mut State,
        addr: &Value,
        value: &Value,
        ty: Ty,
        span: Span,
    ) -> Result<(), Stop> {
        let intent = Intent::Write(Written::Scalar(ty));
        for location in self.locations(state, addr, u64::from(ty.bytes()), intent, span)? {
            self.store_at(state, &location, value, ty, span)?;
        }
        Ok(())
    }

    /// Returns the single location of a range of bytes: a constant object and offset. Anything else is enumerated
    /// first.
    pub(crate) fn fixed_location(
        &mut self,
        state: &mut State,
        addr: &Value,
        size: u64,
        intent: Intent,
        span: Span,
    ) -> Result<(crate::state::value::ObjectId, usize), Stop> {
        let locations = self.locations(state, addr, size, intent, span)?;
        let [location] = locations.as_slice() else {
            let address = crate::state::memory::address_term(addr, &mut self.terms, &self.pointers)
                .ok_or_else(|| Stop::unsupported(Unsupported::UndecidedCopy, span))?;
            return Err(Stop::unfixed(address));
        };
        let offset = self.fixed_offset(state, location.pointer.offset)?;
        Ok((location.pointer.object, offset as usize))
    }

    /// Checks that one byte is accessible, without reading it.
    pub(in crate::exec) fn check_byte(&mut self, state: &mut State, addr: &Value, span: Span) -> Result<(), Stop> {
        self.locations(state, addr, 1, Intent::Read, span).map(drop)
    }

    /// Returns the locations that the access may refer to, after all checks.
    fn locations(
        &mut self,
        state: &mut State,
        addr: &Value,
        size: u64,
        intent: Intent,
        span: Span,
    ) -> Result<Vec<GuardedPointer>, Stop> {
        match addr {
            Value::Choice(options) => {
                let options = Rc::clone(options);
                let mut locations = Vec::new();
                // An integer may be any address, so its guard is fixed first.
                let number = |option: &Value| matches!(option, Value::Int(Scalar::Term(_)));
                let open = |(guard, option): &&(TermId, Value)| number(option) && state.fixed_value(*guard).is_none();
                if let Some((guard, _)) = options.iter().find(open) {
                    return Err(Stop::unfixed(*guard));
                }
                for (guard, option) in options.iter() {
                    if number(option) && state.fixed_value(*guard) == Some(0) {
                        continue;
                    }
                    let pointer = match self.target(state, option, span) {
                        Ok(pointer) => pointer,
                        Err(Stop::End(crate::state::PathEnd::Error { kind, span })) => {
                            let fine = self.terms.not(*guard);
                            self.require(state, fine, kind, span)?;
                            continue;
                        }
                        Err(stop) => return Err(stop),
                    };
                    if self.check(state, Some(*guard), pointer, size, intent, span)? {
                        locations.push(GuardedPointer { guard: Some(*guard), pointer });
                    }
                }
                if let [only] = locations.as_mut_slice() {
                    only.guard = None;
                }
                Ok(locations)
            }
            _ => {
                let pointer = self.target(state, addr, span)?;
                self.check(state, None, pointer, size, intent, span)?;
                Ok(vec![GuardedPointer { guard: None, pointer }])
            }
        }
    }

    /// Returns the object and offset of a plain pointer.
    pub(crate) fn target(&mut self, state: &mut State, addr: &Value, span: Span) -> Result<Pointer, Stop> {
        match addr {
            Value::Ptr(pointer) => Ok(*pointer),
            Value::LazyPointer(id) => match state.inputs.target_of(*id) {
                Some(decided) => self.target(state, &decided.clone(), span),
                None => Err(Stop::Materialise(*id, PointerUse::Access)),
            },
            Value::Int(Scalar::Const(address)) if *address < NULL_PAGE => {
                Err(Stop::error(ErrorKind::NullPointer, span))
            }
            // An unrestricted environment has given up the path where a pointer became an integer.
            Value::Int(Scalar::Const(address)) => match state.memory.object_at(*address) {
                Some(object) if self.policy.environment == Environment::Testable => {
                    Ok(Pointer { object, offset: Scalar::Const(address.wrapping_sub(Memory::address(object))) })
                }
                _ => match self.register_at(state, *address) {
                    Some(register) => Ok(register),
                    None => Err(at_fixed_address(*address, span)),
                },
            },
            Value::Int(Scalar::Term(term)) => match state.fixed_value(*term) {
                Some(address) => self.target(state, &Value::constant(address), span),
                None if self.is_device_register(state, *term) => Err(Stop::unfixed(*term)),
                None => Err(self.wild(state, *term, span)),
            },
            Value::Undefined => Err(Stop::error(ErrorKind::Uninitialised, span)),
            Value::Choice(_) => Err(Stop::unsupported(Unsupported::NestedChoice, span)),
            Value::Bytes(_) => Err(Stop::unsupported(Unsupported::AccessThroughPart, span)),
        }
    }

    /// Ends an access at a computed address, for example null plus an index: addresses that no object can have end the
    /// path in an error; the others are not explored.
    fn wild(&mut self, state: &mut State, address: TermId, span: Span) -> Stop {
        let first = match self.config.entry {
            // The address may be a device register, which cannot be computed from null.
            crate::Entry::Function if !self.null_based.contains(&address) => touchstone_ir::REGISTERS.start,
            crate::Entry::Function | crate::Entry::Program => Memory::address(crate::state::value::ObjectId::new(0)),
        };
        let page = self.terms.constant(64, NULL_PAGE);
        let first = self.terms.constant(64, first);
        let half = self.terms.constant(64, 1 << 63);
        let beyond_null = self.terms.cmp(Rel::Ule, page, address);
        if let Err(stop) = self.require(state, beyond_null, ErrorKind::NullPointer, span) {
            return stop;
        }
        if self.policy.environment == Environment::Any && !self.null_based.contains(&address) {
            return Stop::unsupported(Unsupported::ComputedAddress, span);
        }
        self.ledger.excluded_inputs = true;
        let (low, high) = (self.terms.cmp(Rel::Ule, first, address), self.terms.cmp(Rel::Ult, address, half));
        let possible = self.terms.and(low, high);
        match self.require(state, possible, ErrorKind::InvalidPointer, span) {
            Err(stop) => stop,
            Ok(()) => Stop::unsupported(Unsupported::PointerFromInteger, span),
        }
    }

    /// Checks lifetime, permission and bounds. Returns false if the access cannot happen under its guard (the failing
    /// side was recorded).
    fn check(
        &mut self,
        state: &mut State,
        guard: Option<TermId>,
        pointer: Pointer,
        size: u64,
        intent: Intent,
        span: Span,
    ) -> Result<bool, Stop> {
        if size == 0 {
            return Ok(true);
        }
        if self.is_undefined_variable(pointer.object) && state.memory.get(pointer.object).size == 0 {
            return Err(self.unmaterialised_read(pointer.object, span));
        }
        if let Some(stop) = self.unsized_input(state, pointer.object, span) {
            return Err(stop);
        }
        let object = state.memory.get(pointer.object);
        let bad = if !object.live {
            Some(ErrorKind::Dangling)
        } else if object.size < size {
            Some(ErrorKind::OutOfBounds)
        } else {
            None
        };
        let last = object.size.wrapping_sub(size);
        let has_variants = matches!(object.shape, ObjectShape::Variant { .. });
        let read_only = object.kind == ObjectKind::Constant && matches!(intent, Intent::Write(_));
        let inside = match (bad, pointer.offset) {
            (Some(_), _) => self.terms.truth(false),
            (None, offset) if let Some(bytes) = object.shape.size() => self.within(state, offset, size, bytes),
            (None, Scalar::Const(offset)) => self.terms.truth(offset <= last),
            (None, Scalar::Term(offset)) => {
                if self.solver.range(&self.terms, &state.path, offset).unsigned.1 <= last {
                    self.terms.truth(true)
                } else {
                    let last = self.terms.constant(64, last);
                    self.terms.cmp(Rel::Ule, offset, last)
                }
            }
        };
        let fine = self.guarded(guard, inside);
        let kind = bad.unwrap_or(ErrorKind::OutOfBounds);
        if kind == ErrorKind::OutOfBounds
            && self.terms.as_const(fine) != Some(1)
            && self.assumes_in_bounds(state, pointer.object)
        {
            self.note_shortage(state, pointer, size);
            self.assume_or_stop(state, fine, span)?;
        } else {
            let ended = self.effects.ended.len();
            let required = self.require_near(state, fine, kind, span, pointer.offset);
            if kind == ErrorKind::OutOfBounds && (required.is_err() || self.effects.ended.len() > ended) {
                self.note_default_length(state, pointer, size, span);
                self.note_out_of_bounds(state, pointer, span);
            }
            required?;
        }
        if read_only {
            let never = self.terms.truth(false);
            let fine = self.guarded(guard, never);
            self.require(state, fine, ErrorKind::ReadOnly, span)?;
            return Ok(false);
        }
        let possible = self.terms.as_const(inside) != Some(0);
        if possible {
            if has_variants {
                self.materialise_fields(state, pointer, size)?;
            }
            self.havoc_overlapping(state, pointer.object, intent, span)?;
        }
        Ok(possible)
    }

    /// Returns the stop for an access to an input object of incomplete type.
    fn unsized_input(&self, state: &State, object: ObjectId, span: Span) -> Option<Stop> {
        let known = state.memory.get(object);
        if known.kind != ObjectKind::Input || known.size > 0 {
            return None;
        }
        let input = state.inputs.objects.iter().find(|input| input.object == object)?;
        let is_unknown = self.size_of(input.element) == 0;
        is_unknown.then(|| Stop::unsupported(Unsupported::UnsizedObject(input.name.clone()), span))
    }

    /// Continues only where an object has room for a symbolic number of bytes; `end` is the location behind them.
    pub(in crate::exec) fn require_room(
        &mut self,
        state: &mut State,
        fits: TermId,
        end: Pointer,
        span: Span,
    ) -> Result<(), Stop> {
        if self.terms.as_const(fits) != Some(1) && self.assumes_in_bounds(state, end.object) {
            self.note_shortage(state, end, 1);
            return self.assume_or_stop(state, fits, span);
        }
        let ended = self.effects.ended.len();
        let required = self.require(state, fits, ErrorKind::OutOfBounds, span);
        if required.is_err() || self.effects.ended.len() > ended {
            self.note_default_length(state, end, 1, span);
            self.note_out_of_bounds(state, Pointer { offset: Scalar::Const(0), ..end }, span);
        }
        required
    }

    /// Returns the condition that an access of `size` bytes is inside of an object of symbolic size.
    fn within(&mut self, state: &State, offset: Scalar, size: u64, bytes: TermId) -> TermId {
        let least = self.solver.range(&self.terms, &state.path, bytes).unsigned.0;
        let end = match offset {
            Scalar::Const(offset) => offset.checked_add(size),
            Scalar::Term(offset) => self.solver.range(&self.terms, &state.path, offset).unsigned.1.checked_add(size),
        };
        if end.is_some_and(|end| end <= least) {
            return self.terms.truth(true);
        }
        let size = self.terms.constant(64, size);
        let offset = offset.term(&mut self.terms, 64);
        let large_enough = self.terms.cmp(Rel::Ule, size, bytes);
        let last = self.terms.bin(Op::Sub, bytes, size);
        let before_last = self.terms.cmp(Rel::Ule, offset, last);
        self.terms.and(large_enough, before_last)
    }

    /// Records an access beyond an input object of default length: longer objects are inputs that were not explored.
    fn note_default_length(&mut self, state: &State, pointer: Pointer, size: u64, span: Span) {
        if !state.is_folded() && self.note_shortage(state, pointer, size) {
            self.give_up(Incomplete::Bound(Bound::Length), span, 1);
        }
    }

    /// `guard → fact`.
    pub(crate) fn guarded(&mut self, guard: Option<TermId>, fact: TermId) -> TermId {
        match guard {
            None => fact,
            Some(guard) => {
                let otherwise = self.terms.not(guard);
                self.terms.or(otherwise, fact)
            }
        }
    }

    fn fixed_offset(&mut self, state: &State, offset: Scalar) -> Result<u64, Stop> {
        match offset {
            Scalar::Const(offset) => Ok(offset),
            Scalar::Term(term) => state.fixed_value(term).ok_or(Stop::unfixed(term)),
        }
    }

    fn load_at(&mut self, state: &mut State, location: &GuardedPointer, ty: Ty, span: Span) -> Result<Value, Stop> {
        let Pointer { object, offset } = location.pointer;
        let offset = match (offset, self.config.aliases) {
            (Scalar::Term(_), Aliases::Eager) => Scalar::Const(self.fixed_offset(state, offset)?),
            (Scalar::Term(_), _) if self.has_unread_union(state, object) => {
                Scalar::Const(self.fixed_offset(state, offset)?)
            }
            _ => offset,
        };
        match offset {
            Scalar::Term(offset) => self.read_late(state, Access { object, offset, ty, guard: location.guard, span }),
            Scalar::Const(offset) => {
                let at = offset as usize;
                match &state.memory.get(object).contents {
                    Contents::Cells(cells) => {
                        // In a folded expression, a constant offset may be out of bounds: the evaluation is undefined
                        // there already, and any value will do.
                        let end = at.checked_add(usize::from(ty.bytes()));
                        let Some(cells) = end.and_then(|end| cells.get(at..end)) else {
                            return Ok(Value::constant(0));
                        };
                        match assemble(cells, ty, &mut self.terms, &self.pointers) {
                            Assembled::Value(value) => Ok(value),
                            Assembled::Mixed => {
                                let cells = cells.to_vec();
                                self.integer_of_cells(state, &cells, span)
                            }
                            Assembled::Undefined if cells.iter().any(|cell| cell.is_unmaterialised()) => {
                                if self.read_device_register(state, object, offset, ty, span)?
                                    || self.materialise_union_bytes(state, object, offset, ty, span)?
                                {
                                    return self.load_at(state, location, ty, span);
                                }
                                self.read_error_number(state, object)
                                    .unwrap_or_else(|| Err(self.unmaterialised_read(object, span)))
                            }
                            Assembled::Undefined => self.undefined(state, location.guard, span),
                            Assembled::Clobbered => Err(clobbered(span)),
                        }
                    }
                    Contents::Delayed { .. } => {
                        let offset = self.terms.constant(64, offset);
                        self.read_late(state, Access { object, offset, ty, guard: location.guard, span })
                    }
                }
            }
        }
    }

    /// Reads undefined bytes under a guard: an error if the guard can hold.
    pub(crate) fn undefined(&mut self, state: &mut State, guard: Option<TermId>, span: Span) -> Result<Value, Stop> {
        self.caveat_unwritten_read(state, span)?;
        let never = self.terms.truth(false);
        let fine = self.guarded(guard, never);
        self.require(state, fine, ErrorKind::Uninitialised, span)?;
        Ok(Value::Undefined)
    }

    fn store_at(
        &mut self,
        state: &mut State,
        location: &GuardedPointer,
        value: &Value,
        ty: Ty,
        span: Span,
    ) -> Result<(), Stop> {
        let Pointer { object, offset } = location.pointer;
        let offset = match (offset, self.config.aliases) {
            (Scalar::Term(_), Aliases::Eager) => Scalar::Const(self.fixed_offset(state, offset)?),
            (Scalar::Term(_), _) if self.has_unread_union(state, object) => {
                Scalar::Const(self.fixed_offset(state, offset)?)
            }
            _ => offset,
        };
        let delayed = matches!(state.memory.get(object).contents, Contents::Delayed { .. });
        match offset {
            Scalar::Term(offset) => {
                self.write_late(state, Access { object, offset, ty, guard: location.guard, span }, value)
            }
            Scalar::Const(offset) if delayed => {
                let offset = self.terms.constant(64, offset);
                self.write_late(state, Access { object, offset, ty, guard: location.guard, span }, value)
            }
            Scalar::Const(offset) => {
                let value = match location.guard {
                    None => value.clone(),
                    Some(guard) => match state.fixed_value(guard) {
                        Some(0) => return Ok(()),
                        Some(_) => value.clone(),
                        None => {
                            let unguarded = GuardedPointer { guard: None, pointer: location.pointer };
                            match self.load_at(state, &unguarded, ty, span) {
                                Ok(old) => self.select(guard, value, &old, ty),
                                // The old bytes are uninitialised: a later read must know whether this write happened.
                                Err(Stop::End(_)) => return Err(Stop::unfixed(guard)),
                                Err(stop) => return Err(stop),
                            }
                        }
                    },
                };
                let made = disassemble(&value, ty.bytes(), &mut self.pointers);
                if let Contents::Cells(cells) = &mut state.memory.get_mut(object).contents {
                    for (cell, new) in cells[offset as usize..].iter_mut().zip(made) {
                        *cell = new;
                    }
                }
                Ok(())
            }
        }
    }

    /// Returns `guard ? yes : no`. An undefined side is dropped: no well-defined execution can read it.
    pub(crate) fn select(&mut self, guard: TermId, yes: &Value, no: &Value, ty: Ty) -> Value {
        if yes == no {
            return yes.clone();
        }
        match (yes, no) {
            (Value::Undefined, other) | (other, Value::Undefined) => other.clone(),
            (Value::Int(yes), Value::Int(no)) if ty != Ty::Ptr => {
                let (yes, no) = (yes.term(&mut self.terms, ty.bits()), no.term(&mut self.terms, ty.bits()));
                let term = self.terms.ite(guard, yes, no);
                Value::term(&self.terms, term)
            }
            _ => {
                let mut options: Vec<(TermId, Value)> = Vec::new();
                let otherwise = self.terms.not(guard);
                self.add_options(&mut options, guard, yes);
                self.add_options(&mut options, otherwise, no);
                match options.as_slice() {
                    [(_, only)] => only.clone(),
                    _ => Value::Choice(options.into()),
                }
            }
        }
    }

    fn add_options(&mut self, options: &mut Vec<(TermId, Value)>, guard: TermId, value: &Value) {
        let alone = [(self.terms.truth(true), value.clone())];
        let parts: Rc<[(TermId, Value)]> = match value {
            Value::Choice(parts) => Rc::clone(parts),
            _ => Rc::new(alone),
        };
        for (inner, part) in parts.iter() {
            let both = self.terms.and(guard, *inner);
            if self.terms.as_const(both) == Some(0) {
                continue;
            }
            match options.iter_mut().find(|(_, known)| known == part) {
                Some((known, _)) => *known = self.terms.or(*known, both),
                None => options.push((both, part.clone())),
            }
        }
    }
}

/// Returns the stop for an access to a constant address without an object: a device register.
pub(crate) fn at_fixed_address(address: u64, span: Span) -> Stop {
    Stop::unsupported(Unsupported::FixedAddress(address), span)
}
