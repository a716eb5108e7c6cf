//! Variadic arguments as inputs ([`PointeeShape::Arguments`]).
//!
//! A test passes as many as the program reads, each of the type that it is read as. A read as another type, or of more
//! arguments than a test passes, is given up: the behaviour is undefined, and no run of the compiled program would
//! report it.

use crate::exec::executor::Executor;
use crate::growth::Room;
use crate::inputs::materialisation::Length;
use crate::inputs::unions::{cell_at, leaf_at, location_of, step};
use crate::state::memory::Cell;
use crate::state::value::{Pointer, Scalar, Value};
use crate::state::{PointerUse, State, Stop};
use touchstone_base::Span;
use touchstone_criteria::Unsupported;
use touchstone_ir::{DataType, DataTypeId, PointeeShape};

/// The maximum number of variadic arguments of a test.
const MAX_ARGUMENTS: u64 = 8;

impl Executor<'_> {
    /// Creates variadic arguments and returns their address.
    pub(super) fn variadic_arguments(&mut self, state: &mut State, element: DataTypeId) -> Result<Value, Stop> {
        let room = Room { before: 0, elements: MAX_ARGUMENTS };
        let object = self.input_object(state, element, room, "argument", Length::Given, None)?;
        Ok(Value::pointer(object, 0))
    }

    /// Returns the location if it is a variadic argument that is an input.
    pub(super) fn variadic_argument_at(&self, state: &State, at: &Value) -> Result<Option<Pointer>, Stop> {
        let are_arguments = |data: DataTypeId| self.module.pointee(data).stands == PointeeShape::Arguments;
        if let Value::LazyPointer(id) = at
            && state.inputs.target_of(*id).is_none()
            && state.inputs.lazy_pointers[*id].pointee.is_some_and(are_arguments)
        {
            return Err(Stop::Materialise(*id, PointerUse::Access));
        }
        let Some(pointer) = location_of(state, at) else { return Ok(None) };
        let input = state.inputs.objects.iter().find(|input| input.object == pointer.object);
        Ok(input.filter(|input| are_arguments(input.element)).map(|_| pointer))
    }

    /// Reads an argument by a member of the union that represents arguments.
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
        // The input itself counts, whatever was written there since.
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
