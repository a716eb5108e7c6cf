//! Variable arguments as inputs ([`Stands::Arguments`]).
//!
//! A test passes a few, and how many is seen by what the program takes: an argument that nobody takes is not passed. Each has the
//! type that it is taken as. To take it as another one, or more of them than a test passes, is given up: the language leaves open what
//! that does, and no run of the real program would say so.

use crate::exec::executor::Executor;
use crate::growth::Room;
use crate::inputs::materialisation::Length;
use crate::inputs::unions::{cell_at, leaf_at, place_of, step};
use crate::state::memory::Cell;
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{Purpose, State, Stop};
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::{DataType, DataTypeId, Stands};

/// So many variable arguments a test passes at most.
const MAX_ARGUMENTS: u64 = 8;

impl Executor<'_> {
    /// Fresh variable arguments: their address.
    pub(super) fn variadic_arguments(&mut self, state: &mut State, element: DataTypeId) -> Result<Value, Stop> {
        let room = Room { before: 0, elements: MAX_ARGUMENTS };
        let object = self.input_object(state, element, room, "argument", Length::Given, None)?;
        Ok(Value::pointer(object, 0))
    }

    /// The place, if it is one of variable arguments that are inputs.
    pub(super) fn variadic_argument_at(&self, state: &State, at: &Value) -> Result<Option<Pointer>, Stop> {
        let are_arguments = |data: DataTypeId| self.module.pointee(data).stands == Stands::Arguments;
        if let Value::LazyPointer(id) = at
            && state.inputs.target_of(*id).is_none()
            && state.inputs.lazy_pointers[*id].pointee.is_some_and(are_arguments)
        {
            return Err(Stop::Materialise(*id, Purpose::Access));
        }
        let Some(pointer) = place_of(state, at) else { return Ok(None) };
        let input = state.inputs.objects.iter().find(|input| input.object == pointer.object);
        Ok(input.filter(|input| are_arguments(input.element)).map(|_| pointer))
    }

    /// The program takes an argument, by a member of the union that arguments are.
    pub(super) fn take_variadic_argument(
        &mut self,
        state: &mut State,
        pointer: Pointer,
        member: usize,
        span: Span,
    ) -> Result<(), Stop> {
        let at = match pointer.offset {
            Scalar::Const(offset) => offset,
            Scalar::Term(offset) => state.fixed_value(offset).ok_or_else(|| Stop::unfixed(offset))?,
        };
        let other = || Stop::unsupported(Unsupported::OtherArgument, span);
        let input = state.inputs.objects.iter().find(|input| input.object == pointer.object).ok_or_else(other)?;
        // What the input was, whatever is there now.
        let first = input.cells.get(at as usize).copied();
        let Some(Cell::Union { union, index: 0 }) = first else {
            let more = || Stop::unsupported(Unsupported::MoreArguments, span);
            return Err(if first.is_none() { more() } else { other() });
        };
        let known = &state.inputs.unions[union];
        let DataType::Union { members, .. } = &self.module.types[known.data] else { return Err(other()) };
        let field = members.get(member).filter(|_| known.may_be(member)).ok_or_else(other)?;
        if !matches!(cell_at(state, pointer.object, at), Some(Cell::Union { .. })) {
            return Ok(());
        }
        if state.is_folded() {
            return Err(Stop::unfixed(known.selector));
        }
        let leaf = leaf_at(&self.module.types, field.ty, 0, &step("", &field.name)).ok_or_else(other)?;
        state.inputs_mut().union_mut(union).last_member = Some(member);
        self.materialise_leaf(state, union, &leaf)
    }
}
