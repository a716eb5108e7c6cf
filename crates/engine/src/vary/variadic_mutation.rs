//! Mutation of variadic arguments: another value, or another type.

use crate::confirm::run_record::MissedArgument;
use crate::vary::candidate::CandidateInputs;
use crate::vary::mutation::InputMutator;
use touchstone_criteria::{ObjectInput, ObjectOrigin, TestKind};
use touchstone_ir::{DataType, DataTypeId, DataValue, PointeeShape, PointerTarget};

/// The maximum number of arguments that are added to those of the symbolic search.
const MAX_NEW_ARGUMENTS: usize = 4;

impl InputMutator<'_> {
    /// Returns true if objects of this type are variadic arguments, or point to them.
    pub(super) fn takes_arguments(&self, data: DataTypeId) -> bool {
        matches!(self.module.pointee(data).stands, PointeeShape::Arguments | PointeeShape::Cursor)
    }

    pub(super) fn are_arguments(&self, data: DataTypeId) -> bool {
        self.module.pointee(data).stands == PointeeShape::Arguments
    }

    /// Passes an argument that a run lacked.
    pub(super) fn pass(&mut self, missed: MissedArgument, inputs: &mut CandidateInputs) -> bool {
        let TestKind::Function { objects, .. } = &mut inputs.kind else { return false };
        let Some(object) = objects.get(missed.object) else { return false };
        let Some(made) = self.argument(object.element, missed.member, missed.index, objects) else { return false };
        let place = objects[missed.object].values.get_mut(missed.index);
        let possible = place.is_some();
        place.into_iter().for_each(|place| *place = made.clone());
        possible
    }

    /// Creates a random argument of a union member.
    fn argument(
        &mut self,
        element: DataTypeId,
        member: usize,
        index: usize,
        objects: &mut Vec<ObjectInput>,
    ) -> Option<DataValue> {
        let DataType::Union { members, .. } = &self.module.types[element] else { return None };
        let ty = members.get(member)?.ty;
        let mut inner = DataValue::zero(&self.module.types, ty)?;
        match self.module.types[ty] {
            DataType::Pointer { pointee, .. } => {
                inner = self.target(&format!("argument_{}", index + 1), pointee, objects);
            }
            _ => self.mutate_number(ty, &mut inner),
        }
        Some(DataValue::Member(member, Box::new(inner)))
    }

    /// Points a null pointer to a new list of arguments.
    pub(super) fn give_arguments(
        &mut self,
        pointee: DataTypeId,
        value: &mut DataValue,
        objects: &mut Vec<ObjectInput>,
    ) {
        if !matches!(value, DataValue::Pointer(PointerTarget::Null | PointerTarget::Elsewhere)) {
            return;
        }
        let (name, made) = match &self.module.types[pointee] {
            DataType::Union { .. } => ("arguments", vec![DataValue::Undefined; MAX_NEW_ARGUMENTS]),
            DataType::Struct { fields, .. } => {
                let Some(DataType::Pointer { pointee, .. }) = fields.first().map(|field| &self.module.types[field.ty])
                else {
                    return;
                };
                let mut next = DataValue::Pointer(PointerTarget::Null);
                self.give_arguments(*pointee, &mut next, objects);
                ("list", vec![DataValue::Struct(vec![next])])
            }
            _ => return,
        };
        let name = format!("{name}_{}", objects.len() + 1);
        let is_array = made.len() > 1;
        objects.push(ObjectInput {
            name,
            element: pointee,
            is_array,
            values: made,
            on_heap: false,
            origin: ObjectOrigin::Values,
        });
        *value = DataValue::Pointer(PointerTarget::Object { object: objects.len() - 1, offset: 0 });
    }

    /// Mutates one argument.
    pub(super) fn mutate_arguments(&mut self, at: usize, objects: &mut Vec<ObjectInput>) {
        let element = objects[at].element;
        let DataType::Union { members, .. } = &self.module.types[element] else { return };
        let given = objects[at].values.iter().take_while(|value| **value != DataValue::Undefined).count();
        let most = (given + 1).min(objects[at].values.len()).min(given.max(MAX_NEW_ARGUMENTS));
        let index = self.chance.below(most);
        let Some(place) = objects[at].values.get_mut(index) else { return };
        let mut value = std::mem::replace(place, DataValue::Undefined);
        let name = format!("argument_{}", index + 1);
        if value != DataValue::Undefined && !self.chance.one_in(4) {
            self.mutate_leaf(&name, element, &mut value, objects);
        } else {
            let member = self.chance.below(members.len());
            value = self.argument(element, member, index, objects).unwrap_or(DataValue::Undefined);
        }
        objects[at].values[index] = value;
    }
}
