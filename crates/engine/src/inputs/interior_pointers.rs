//! Interior pointers as inputs: pointers to fields and elements of other pointers' pointees, and of globals.
//!
//! They multiply the targets of every pointer by the number of matching parts, so only a round that asks for them
//! explores them ([`crate::InteriorPointers::Included`]). Deliberately not here: a pointer to any element of an object
//! of its own type, which every round explores (`materialisation.rs`).

use crate::exec::executor::Executor;
use crate::state::PointerUse;
use crate::state::State;
use crate::state::Stop;
use crate::state::inputs::LazyPointer;
use crate::state::memory::global_object;
use crate::state::value::{LazyPointerId, ObjectId, Value};
use std::collections::BTreeSet;
use touchstone_ir::{DataType, DataTypeId};

/// The maximum number of parts of one object that a pointer may point to.
const MAX_PARTS_PER_OBJECT: usize = 16;

/// The maximum number of elements of an array that are searched for parts.
const MAX_ELEMENTS: u64 = 4;

impl Executor<'_> {
    /// Returns the states in which a symbolic pointer points into a part of an existing object, or of the pointee of
    /// another symbolic pointer.
    pub(super) fn point_into_parts(
        &mut self,
        state: &State,
        id: LazyPointerId,
        wanted: DataTypeId,
    ) -> Vec<Result<State, Stop>> {
        let mut options = self.point_into_objects(state, id, wanted, &BTreeSet::new());
        let there: BTreeSet<ObjectId> = state.inputs.objects.iter().map(|input| input.object).collect();
        let is_open = |other: &LazyPointerId| {
            *other != id && !state.inputs.materialised.iter().any(|(decided, _)| decided == other)
        };
        let others: Vec<(LazyPointerId, LazyPointer)> = state
            .inputs
            .lazy_pointers
            .iter()
            .map(|(other, lazy)| (other, lazy.clone()))
            .filter(|(other, _)| is_open(other))
            .collect();
        for (other, lazy) in others {
            let Some(pointee) = lazy.pointee else { continue };
            if self.parts(self.module.pointee(pointee).element, 1, wanted).is_empty() {
                continue;
            }
            for made in self.materialise_as(state, other, &lazy, PointerUse::Access).into_iter().flatten() {
                options.extend(self.point_into_objects(&made, id, wanted, &there));
            }
        }
        for input in &state.inputs.globals {
            let Some(global) = self.module.global_named(&input.name) else { continue };
            for offset in self.parts(input.data, 1, wanted) {
                options.push(Ok(state.clone().with_target(id, Value::pointer(global_object(global), offset))));
            }
        }
        options
    }

    /// Returns these states for the input objects that are not in `known`.
    fn point_into_objects(
        &mut self,
        state: &State,
        id: LazyPointerId,
        wanted: DataTypeId,
        known: &BTreeSet<ObjectId>,
    ) -> Vec<Result<State, Stop>> {
        let mut options = Vec::new();
        for input in state.inputs.objects.iter().filter(|input| !known.contains(&input.object)) {
            for offset in self.parts(input.element, input.count, wanted) {
                options.push(Ok(state.clone().with_target(id, Value::pointer(input.object, offset))));
            }
        }
        options
    }

    /// Returns the offsets of parts of a type in `count` elements; elements of that very type are not included.
    fn parts(&self, element: DataTypeId, count: u64, wanted: DataTypeId) -> Vec<u64> {
        let mut found = Vec::new();
        let size = self.module.types[element].size(&self.module.types);
        for index in 0..count.min(MAX_ELEMENTS) {
            let at = index * size;
            if !self.same_layout(element, wanted) && self.is_alike(element, wanted) {
                found.push(at);
            }
            self.parts_within(element, at, wanted, &mut found);
        }
        found
    }

    fn parts_within(&self, data: DataTypeId, at: u64, wanted: DataTypeId, found: &mut Vec<u64>) {
        let types = &self.module.types;
        let inner: Vec<(DataTypeId, u64)> = match &types[data] {
            DataType::Struct { fields, .. } => fields.iter().map(|field| (field.ty, field.offset)).collect(),
            DataType::Array { element, length } => {
                let size = types[*element].size(types);
                (0..(*length).min(MAX_ELEMENTS)).map(|index| (*element, index * size)).collect()
            }
            // Every integer contains bytes.
            DataType::Int { bits: 16.., .. } if types[wanted].size(types) == 1 => {
                let room = MAX_PARTS_PER_OBJECT.saturating_sub(found.len()) as u64;
                found.extend((0..types[data].size(types).min(room)).map(|byte| at + byte));
                return;
            }
            _ => Vec::new(),
        };
        for (part, offset) in inner {
            if found.len() >= MAX_PARTS_PER_OBJECT {
                return;
            }
            if self.same_layout(part, wanted) || self.is_alike(part, wanted) {
                found.push(at + offset);
            } else {
                self.parts_within(part, at + offset, wanted, found);
            }
        }
    }

    /// Returns true if two types are integers that differ in signedness only.
    fn is_alike(&self, a: DataTypeId, b: DataTypeId) -> bool {
        let types = &self.module.types;
        matches!((&types[a], &types[b]), (DataType::Int { bits, .. }, DataType::Int { bits: other, .. }) if bits == other)
    }
}
