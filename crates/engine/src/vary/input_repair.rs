//! Repair of inputs: valid pointers instead of null, long enough objects, and correct lengths, as a careful caller
//! passes them.

use crate::confirm::length_preference::is_length_name;
use crate::vary::candidate::CandidateInputs;
use crate::vary::mutation::{InputMutator, is_byte, leaf, leaves, may_grow};
use touchstone_criteria::{NamedValue, ObjectInput, TestKind};
use touchstone_ir::{DataType, DataTypeId, DataValue, PointerTarget};

/// The extent of a repair.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Repair {
    /// No pointer is null.
    Pointers,
    /// Like `Pointers`, and objects are long.
    Lengths,
    /// Like `Lengths`, and a parameter that is named like a length is at most that of the preceding object.
    Sizes,
}

/// The maximum number of values of an object that are searched for null pointers.
const MAX_LEAVES: usize = 64;

impl Repair {
    pub const ALL: [Repair; 3] = [Repair::Pointers, Repair::Lengths, Repair::Sizes];
}

impl InputMutator<'_> {
    /// Returns repaired inputs.
    pub fn repaired_inputs(&mut self, inputs: &CandidateInputs, repair: Repair) -> CandidateInputs {
        let mut inputs = inputs.clone();
        let TestKind::Function { params, globals, objects, .. } = &mut inputs.kind else { return inputs };
        let known = objects.len();
        for named in params.iter_mut().chain(globals.iter_mut()) {
            let NamedValue { name, data, value } = named;
            self.fill(name, *data, value, objects);
        }
        for at in 0..known {
            let (name, element) = (objects[at].name.clone(), objects[at].element);
            for index in 0..objects[at].values.len().min(MAX_LEAVES) {
                let mut value = std::mem::replace(&mut objects[at].values[index], DataValue::Undefined);
                self.fill(&name, element, &mut value, objects);
                objects[at].values[index] = value;
            }
        }
        // An object that was created for a pointer may have pointers itself; those behind them stay null.
        for at in known..objects.len() {
            let (name, element) = (objects[at].name.clone(), objects[at].element);
            let mut value = objects[at].values.first().cloned().unwrap_or(DataValue::Undefined);
            self.fill(&name, element, &mut value, objects);
            if let Some(first) = objects[at].values.first_mut() {
                *first = value;
            }
        }
        if repair >= Repair::Lengths {
            let fixed: Vec<usize> = params.iter().filter_map(|param| self.declared(param)).collect();
            for (at, object) in objects.iter_mut().enumerate() {
                if !fixed.contains(&at) {
                    self.lengthen(object);
                }
            }
        }
        if repair >= Repair::Sizes {
            self.shorten(params, objects);
        }
        inputs
    }

    /// Returns the object of a parameter that is declared as an array.
    fn declared(&self, param: &NamedValue) -> Option<usize> {
        match (&self.module.types[param.data], &param.value) {
            (DataType::Array { .. }, DataValue::Pointer(PointerTarget::Object { object, .. })) => Some(*object),
            _ => None,
        }
    }

    /// Points null pointers in a value to fresh objects and to functions.
    fn fill(&mut self, name: &str, data: DataTypeId, value: &mut DataValue, objects: &mut Vec<ObjectInput>) {
        let types = &self.module.types;
        for which in 0..leaves(types, data, value).min(MAX_LEAVES) {
            let Some((name, data, value)) = leaf(types, name.to_string(), data, value, which) else { return };
            let DataType::Pointer { pointee, .. } = &types[data] else { continue };
            if *value != DataValue::Pointer(PointerTarget::Null) {
                continue;
            }
            if self.takes_arguments(*pointee) {
                self.give_arguments(*pointee, value, objects);
                continue;
            }
            let stands = self.module.globals.values().filter(|global| global.data == *pointee);
            let mut functions = stands.filter_map(|global| global.function).peekable();
            if let Some(first) = functions.peek().copied() {
                // A callback stub has no side effects.
                let func = functions.find(|func| self.module.functions[*func].is_callback()).unwrap_or(first);
                *value = DataValue::Pointer(PointerTarget::Function(self.module.functions[func].name.clone()));
                continue;
            }
            let element = self.module.pointee(*pointee).element;
            if let Some(mut made) = self.object(&name, element, objects) {
                let empty = DataValue::zero(types, element).unwrap_or(DataValue::Undefined);
                made.values = vec![empty; 1];
                made.is_array = false;
                objects.push(made);
                *value = DataValue::Pointer(PointerTarget::Object { object: objects.len() - 1, offset: 0 });
            }
        }
    }

    /// Lengthens an object up to the limit of a short test.
    fn lengthen(&self, object: &mut ObjectInput) {
        let types = &self.module.types;
        let most = if is_byte(types, object.element) { self.longest } else { self.longest.div_ceil(8) };
        let grows = may_grow(types, object.element) && object.values.len() < most;
        if let (true, Some(more)) = (grows, DataValue::zero(types, object.element)) {
            object.values.resize(most, more);
            object.is_array = true;
        }
    }

    /// Corrects parameters that are named like lengths.
    fn shorten(&self, params: &mut [NamedValue], objects: &[ObjectInput]) {
        for at in 1..params.len() {
            let DataValue::Pointer(PointerTarget::Object { object, .. }) = params[at - 1].value else { continue };
            let most = objects.get(object).map_or(0, |object| object.values.len() as u64);
            let is_length = is_length_name(&params[at].name);
            match &mut params[at].value {
                DataValue::Int(number) if is_length && *number > most => *number = most,
                _ => {}
            }
        }
    }
}
