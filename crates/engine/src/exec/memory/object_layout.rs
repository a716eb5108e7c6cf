//! How objects fall into pieces that are read and written as one.

use crate::exec::executor::Executor;
use crate::state::State;
use crate::state::memory::{Cell, Contents};
use crate::state::value::ObjectId;
use touchstone_ir::{DataType, DataTypeId};

impl Executor<'_> {
    /// How many bytes the scalar has that a type has at an offset; `None` where it has none.
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

    /// What begins at an offset of a type, if it is no structure and no array; what may be one thing or another has no inside.
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

/// The scalar pieces of an object: as its type has them, or as its contents do.
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
