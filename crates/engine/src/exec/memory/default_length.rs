//! Accesses beyond input objects of default length: recorded for the next round, and assumed not to happen in later
//! ones.

use crate::exec::executor::Executor;
use crate::growth::{MAX_GROWTH_BYTES, Room};
use crate::state::inputs::{InputObject, TailLength};
use crate::state::value::{ObjectId, Pointer, Scalar};
use crate::state::{PathEnd, State, Stop, unanswered};
use std::rc::Rc;
use touchstone_base::Span;
use touchstone_criteria::{Bound, Incomplete};
use touchstone_solver::{Side, TermId};

impl Executor<'_> {
    /// Records an access of `size` bytes beyond an input object of default length. Returns false if the object has
    /// another length.
    pub(crate) fn note_shortage(&mut self, state: &State, pointer: Pointer, size: u64) -> bool {
        let Some(input) = self.input_of_default_length(state, pointer.object) else {
            self.note_shortage_before(state, pointer);
            return false;
        };
        let types = &self.module.types;
        // If an object ends in an array, the array grows.
        let (element, start) = match types[input.element].tail(types) {
            Some(tail) => (self.size_of(tail.element), tail.offset),
            None => (self.size_of(input.element), input.before * self.size_of(input.element)),
        };
        let lack = self.ledger.shortage.of(&input.name, element);
        let place = match pointer.offset {
            Scalar::Const(offset) => Some((offset as i64).wrapping_sub_unsigned(start)),
            Scalar::Term(_) => None,
        };
        match place {
            Some(place) if place < 0 && place.unsigned_abs() <= MAX_GROWTH_BYTES => {
                lack.before = lack.before.max(place.unsigned_abs());
            }
            Some(place) if place >= 0 && place.unsigned_abs() + size <= MAX_GROWTH_BYTES => {
                lack.behind = lack.behind.max(place.unsigned_abs() + size);
                lack.more = true;
            }
            Some(_) => {}
            None => lack.more = true,
        }
        true
    }

    /// Records an access before the element that a pointer points to, whatever length was given behind it.
    fn note_shortage_before(&mut self, state: &State, pointer: Pointer) {
        let Scalar::Const(offset) = pointer.offset else { return };
        let grows = |input: &&Rc<InputObject>| input.object == pointer.object && !input.unaliased;
        let Some(input) = state.inputs.objects.iter().find(grows) else { return };
        let element = self.size_of(input.element);
        let place = (offset as i64).wrapping_sub_unsigned(input.before * element);
        if place < 0 && place.unsigned_abs() <= MAX_GROWTH_BYTES {
            let lack = self.ledger.shortage.of(&input.name, element);
            lack.before = lack.before.max(place.unsigned_abs());
        }
    }

    /// Returns the room of an input pointer without a given length.
    pub(crate) fn room(&self, name: &str) -> Room {
        self.config.growth.as_ref().map_or(Room::ONE, |growth| growth.room(name))
    }

    /// Returns true if this round assumes that accesses to an object are in bounds.
    pub(crate) fn assumes_in_bounds(&self, state: &State, object: ObjectId) -> bool {
        self.config.growth.is_some() && !state.is_folded() && self.input_of_default_length(state, object).is_some()
    }

    /// Continues where a fact holds, without a verdict about the other side.
    pub(crate) fn assume_or_stop(&mut self, state: &mut State, fact: TermId, span: Span) -> Result<(), Stop> {
        let incomplete = |why| Err(Stop::End(PathEnd::Incomplete { why, span }));
        match self.assume(&state.path, fact) {
            Side::Feasible(path) => state.path = path,
            Side::Infeasible => return incomplete(Incomplete::Bound(Bound::Length)),
            Side::Unknown(why) => return incomplete(unanswered(why)),
        }
        Ok(())
    }

    /// Returns the input object if its length is the default.
    fn input_of_default_length<'s>(&self, state: &'s State, object: ObjectId) -> Option<&'s Rc<InputObject>> {
        let longer = |input: &InputObject| input.default_length || matches!(input.tail, Some(TailLength::Fixed(_)));
        let says = |input: &InputObject| self.module.types[input.element].has_intrinsic_size();
        state.inputs.objects.iter().find(|input| input.object == object && longer(input) && !says(input))
    }
}
