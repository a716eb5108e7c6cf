//! The layout of objects: the scalars that are read and written as a unit.

use crate::exec::executor::Executor;
use crate::state::State;
use crate::state::memory::{Cell, Contents};
use crate::state::value::ObjectId;
use touchstone_ir::{DataType, DataTypeId};

impl Executor<'_> {
    /// Returns the size in bytes of the scalar at an offset of a type, or `None` if there is none.
    pub(crate) fn scalar_width(&self, data: DataTypeId, at: u64) -> Option<usize> {
        match self.type_at(data, at)? {
            DataType::Void
            | DataType::Bits { .. }
            | DataType::Union { .. }
            | DataType::OneOf { .. }
            | DataType::Opaque { .. } => None,
            scalar => Some(scalar.size(&self.module.types) as usize),
        }
    }

    /// Returns the scalar or opaque type that begins at an offset of a type. A union has no inside: which member is
    /// active is unknown.
    pub(crate) fn type_at(&self, data: DataTypeId, at: u64) -> Option<&DataType> {
        let types = &self.module.types;
        match &types[data] {
            DataType::Array { element, .. } => {
                let size = types[*element].size(types);
                if size == 0 { None } else { self.type_at(*element, at % size) }
            }
            DataType::Struct { fields, .. } => {
                let field = fields.iter().rev().find(|field| field.offset <= at)?;
                self.type_at(field.ty, at - field.offset)
            }
            several @ (DataType::Union { .. } | DataType::OneOf { .. } | DataType::Opaque { .. } | DataType::Void) => {
                (at < several.size(types)).then_some(several)
            }
            scalar => (at == 0).then_some(scalar),
        }
    }
}

/// Returns the scalar pieces (offset, bytes) of an object, by its type or else by its contents.
pub(crate) fn layout(executor: &Executor<'_>, state: &State, id: ObjectId) -> Vec<(u64, u8)> {
    let object = state.memory.get(id);
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < object.size {
        let room = object.size - at;
        let typed = object.data.and_then(|data| executor.scalar_width(data, at)).map(|width| width as u64);
        let stored = match &object.contents {
            Contents::Cells(cells) => match cells[at as usize] {
                Cell::Part { term, index: 0 } => Some(u64::from(executor.terms.width(term) / 8)),
                Cell::Pointer { index: 0, .. } => Some(8),
                _ => None,
            },
            Contents::Delayed { .. } => None,
        };
        let bytes = typed.or(stored).filter(|bytes| (1..=8).contains(bytes)).unwrap_or(1).min(room);
        pieces.push((at, bytes as u8));
        at += bytes;
    }
    pieces
}
