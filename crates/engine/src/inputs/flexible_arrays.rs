//! Objects that end in an array which may have more elements than their type says (flexible array members).
//!
//! Such an object has as many elements as `--len` says of the field, else one, or more in later rounds; a path that
//! needs more hits the bound. A length that is given for `m.data` also holds for the same field of pointees of `m`
//! (`m.next.data`). An array of one element has one element unless a length was given, or the structure has room for
//! more at its end.

use crate::exec::executor::Executor;
use crate::state::inputs::Inputs;
use crate::state::memory::Cell;
use touchstone_ir::{DataType, DataTypeId};
use touchstone_solver::TermId;

impl Executor<'_> {
    /// Returns the number of elements of the array at the end of an input object, or `None` if the object is what its
    /// type says.
    pub(crate) fn tail_length(&self, data: DataTypeId, name: &str) -> Option<u64> {
        let types = &self.module.types;
        let tail = types[data].tail(types)?;
        let DataType::Struct { fields, .. } = &types[data] else { return None };
        let field = &fields.last()?.name;
        // The trailing padding of the structure belongs to the array as well.
        let room = types[data].size(types).saturating_sub(tail.offset) / types[tail.element].size(types);
        let length = self.given_length(name, field).unwrap_or_else(|| self.room(name).elements).max(room);
        (tail.length == 0 || length != tail.length).then_some(length)
    }

    /// Returns the length that was given for a field of an input, or of one that points to it.
    pub(super) fn given_length(&self, name: &str, field: &str) -> Option<u64> {
        let mut owner = name;
        loop {
            if let Some(length) = self.config.lengths.get(&format!("{owner}.{field}")) {
                return Some(*length);
            }
            owner = &owner[..owner.rfind(['.', '['])?];
        }
    }

    /// Adds the elements beyond the type's own to the cells of an object.
    pub(crate) fn tail_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        length: u64,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        let (Some(tail), DataType::Struct { fields, .. }) = (types[data].tail(types), &types[data]) else { return };
        let Some(field) = fields.last() else { return };
        let size = cells.len();
        for index in tail.length..length {
            cells.resize(tail.end(index, types) as usize, Cell::Byte(0));
            let name = format!("{name}.{}[{index}]", field.name);
            self.input_cells(inputs, tail.element, &name, constraints, cells);
        }
        cells.resize(size.max(cells.len()), Cell::Byte(0));
    }
}
