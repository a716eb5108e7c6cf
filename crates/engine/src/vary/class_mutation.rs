//! Mutation of inputs with classes: only their own code keeps objects consistent, so mutations are limited to integers,
//! elements of primitive arrays and strings, and the choice of objects for parameters.
//!
//! Most objects are constructed by calls that integers select: a parameter that the function switches on immediately
//! takes one of the cases.

use crate::config::Config;
use crate::vary::candidate::CandidateInputs;
use crate::vary::mutation::InputMutator;
use std::collections::BTreeMap;
use touchstone_criteria::{NamedValue, ObjectInput, ObjectOrigin, TestKind};
use touchstone_ir::{
    BranchRole, DataType, DataTypeId, DataTypes, DataValue, FuncId, Module, Operand, PointerTarget, StructKind,
    TermKind,
};

/// Returns for every parameter the values that the function switches on to select a construction.
pub(super) fn choices(module: &Module, func: FuncId, config: &Config) -> BTreeMap<usize, Vec<u64>> {
    let function = &module.functions[func];
    let mut all = BTreeMap::new();
    for block in function.blocks.values() {
        let TermKind::Switch { value: Operand::Reg(reg), arms, role: BranchRole::Check, .. } = &block.terminator.kind
        else {
            continue;
        };
        if let Some(index) = function.params.iter().position(|param| param.reg == *reg) {
            let name = &function.params[index].name;
            let is_taken =
                |value: &u64| !config.excluded_choices.iter().any(|way| way.choice == *name && way.value == *value);
            all.insert(index, arms.iter().map(|arm| arm.low).filter(is_taken).collect());
        }
    }
    all
}

/// Returns the elements of a primitive array, with their type and the length field.
pub(super) fn elements<'o>(
    types: &DataTypes,
    object: &'o mut ObjectInput,
) -> Option<(DataTypeId, &'o mut u64, &'o mut Vec<DataValue>)> {
    let DataType::Struct { fields, kind: StructKind::Counted { by }, .. } = &types[object.element] else { return None };
    let DataType::Array { element, .. } = types[fields.last()?.ty] else { return None };
    let [DataValue::Struct(values)] = object.values.as_mut_slice() else { return None };
    let (last, before) = values.split_last_mut()?;
    match (before.get_mut(*by)?, last) {
        (DataValue::Int(length), DataValue::Array(elements)) => Some((element, length, elements)),
        _ => None,
    }
}

impl InputMutator<'_> {
    /// Applies one mutation.
    pub(super) fn mutate_with_classes(&mut self, inputs: &mut CandidateInputs) {
        let TestKind::Function { params, objects, .. } = &mut inputs.kind else { return };
        let arrays: Vec<usize> =
            (0..objects.len()).filter(|at| elements(&self.module.types, &mut objects[*at]).is_some()).collect();
        let which = self.chance.below(params.len() + 2 * arrays.len());
        // Mostly parameters that the run read.
        let asked = self.chance.of(&inputs.asked).copied().filter(|_| !self.chance.one_in(5));
        let which = if which < params.len() { asked.unwrap_or(which) } else { which };
        match params.get_mut(which) {
            Some(param) => {
                if self.mutate_parameter(which, param, objects) {
                    prune(inputs);
                }
            }
            None if arrays.is_empty() => {}
            None => {
                let at = arrays[(which - params.len()) / 2];
                let other = self.chance.of(&arrays).copied().filter(|other| *other != at && self.chance.one_in(6));
                match other {
                    Some(other) => self.splice_elements(objects, at, other),
                    None => self.mutate_elements(&mut objects[at]),
                }
            }
        }
    }

    /// Mutates a parameter; returns true if it refers to another object now.
    fn mutate_parameter(&mut self, index: usize, param: &mut NamedValue, objects: &mut Vec<ObjectInput>) -> bool {
        if self.config.excluded_choices.iter().any(|way| way.unused == param.name) {
            return false;
        }
        if let DataType::Pointer { pointee, .. } = self.module.types[param.data] {
            param.value = DataValue::Pointer(self.object_target(&param.name, pointee, objects));
            return true;
        }
        let known = self.choices.get(&index).map_or(0, Vec::len);
        match (&mut param.value, &self.module.types[param.data]) {
            (DataValue::Int(number), _) if known > 0 => {
                let which = self.chance.below(known);
                *number = self.choices[&index][which];
            }
            // Small values: counts, and values that equal others.
            (DataValue::Int(number), DataType::Int { .. }) if self.chance.one_in(2) => {
                *number = self.chance.below(4) as u64;
            }
            (value, _) => self.mutate_number(param.data, value),
        }
        false
    }

    /// Returns null, an existing object, or a fresh one.
    fn object_target(&mut self, name: &str, pointee: DataTypeId, objects: &mut Vec<ObjectInput>) -> PointerTarget {
        if self.chance.one_in(6) {
            return PointerTarget::Null;
        }
        let types = &self.module.types;
        let fits = |object: &ObjectInput| match &types[pointee] {
            DataType::OneOf { variants, .. } => variants.iter().any(|variant| variant.ty == object.element),
            _ => false,
        };
        let same: Vec<usize> = (0..objects.len()).filter(|at| fits(&objects[*at])).collect();
        match self.chance.of(&same).copied().filter(|_| self.chance.one_in(3)) {
            Some(object) => PointerTarget::Object { object, offset: 0 },
            None => self.fresh(name, pointee, objects),
        }
    }

    /// Creates an object of the first class that fits, with all objects that it needs.
    fn fresh(&mut self, name: &str, pointee: DataTypeId, objects: &mut Vec<ObjectInput>) -> PointerTarget {
        let module = self.module;
        let DataType::OneOf { tag, variants, .. } = &module.types[pointee] else { return PointerTarget::Null };
        let Some(variant) = variants.first() else { return PointerTarget::Null };
        let DataType::Struct { fields, .. } = &module.types[variant.ty] else { return PointerTarget::Null };
        let mut values = Vec::new();
        for field in fields {
            values.push(match &module.types[field.ty] {
                _ if field.offset == tag.offset => DataValue::Int(variant.tag),
                DataType::Pointer { pointee, .. } => {
                    DataValue::Pointer(self.fresh(&format!("{name}_{}", field.name), *pointee, objects))
                }
                DataType::Array { .. } => DataValue::Array(Vec::new()),
                _ => match DataValue::zero(&module.types, field.ty) {
                    Some(zero) => zero,
                    None => return PointerTarget::Null,
                },
            });
        }
        let taken = |name: &String| objects.iter().any(|object| object.name == *name);
        let mut name = name.to_string();
        while taken(&name) {
            name.push('2');
        }
        let values = vec![DataValue::Struct(values)];
        let mut object = ObjectInput {
            name,
            element: variant.ty,
            values,
            is_array: false,
            on_heap: false,
            origin: ObjectOrigin::Values,
        };
        for _ in 0..self.chance.below(3) {
            self.mutate_elements(&mut object);
        }
        objects.push(object);
        PointerTarget::Object { object: objects.len() - 1, offset: 0 }
    }

    /// Inserts the elements of another array: programs search strings in strings.
    fn splice_elements(&mut self, objects: &mut [ObjectInput], at: usize, other: usize) {
        let (types, longest) = (&self.module.types, self.longest);
        let Some((given, _, taken)) = elements(types, &mut objects[other]) else { return };
        let taken = taken.clone();
        let Some((element, length, values)) = elements(types, &mut objects[at]) else { return };
        if element != given || values.len() + taken.len() > longest {
            return;
        }
        if self.chance.one_in(3) {
            values.clear();
        }
        let place = self.chance.below(values.len() + 1);
        values.splice(place..place, taken);
        *length = values.len() as u64;
    }

    /// Mutates, inserts or removes elements.
    fn mutate_elements(&mut self, object: &mut ObjectInput) {
        let types = &self.module.types;
        let longest = self.longest;
        let Some((element, length, values)) = elements(types, object) else { return };
        match self.chance.below(4) {
            0 | 1 if values.len() < longest => {
                let Some(zero) = DataValue::zero(types, element) else { return };
                let at = self.chance.below(values.len() + 1);
                // Duplicates an element.
                let again = self.chance.of(values).cloned().filter(|_| self.chance.one_in(2));
                let count = (1 + self.chance.below(3)).min(longest - values.len());
                for offset in 0..count {
                    let mut value = again.clone().unwrap_or_else(|| zero.clone());
                    if again.is_none() {
                        self.mutate_element(element, &mut value);
                    }
                    values.insert(at + offset, value);
                }
            }
            2 if !values.is_empty() => drop(values.remove(self.chance.below(values.len()))),
            _ if !values.is_empty() => {
                let at = self.chance.below(values.len());
                self.mutate_element(element, &mut values[at]);
            }
            _ => {}
        }
        *length = values.len() as u64;
    }

    fn mutate_element(&mut self, element: DataTypeId, value: &mut DataValue) {
        match (&mut *value, &self.module.types[element]) {
            (DataValue::Int(byte), DataType::Int { bits: 8, .. }) if !self.chance.one_in(4) => {
                *byte = u64::from(self.character());
            }
            (DataValue::Int(number), DataType::Int { .. }) if self.chance.one_in(2) => {
                *number = self.chance.below(4) as u64;
            }
            _ => self.mutate_number(element, value),
        }
    }
}

/// Removes objects that are not reachable.
pub(super) fn prune(inputs: &mut CandidateInputs) {
    let TestKind::Function { params, globals, objects, .. } = &mut inputs.kind else { return };
    let mut open: Vec<usize> = Vec::new();
    params
        .iter_mut()
        .chain(globals.iter_mut())
        .for_each(|named| for_each_target(&mut named.value, &mut |at| open.push(*at)));
    let mut kept = vec![false; objects.len()];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut kept[at], true) {
            objects[at].values.iter_mut().for_each(|value| for_each_target(value, &mut |at| open.push(*at)));
        }
    }
    let mut next = 0;
    let number = |kept: &bool| {
        next += usize::from(*kept);
        next.saturating_sub(1)
    };
    let numbers: Vec<usize> = kept.iter().map(number).collect();
    let mut each = kept.iter();
    objects.retain(|_| each.next().copied().unwrap_or(true));
    let behind = objects.iter_mut().flat_map(|object| &mut object.values);
    let named = params.iter_mut().chain(globals.iter_mut()).map(|named| &mut named.value);
    named.chain(behind).for_each(|value| for_each_target(value, &mut |at| *at = numbers[*at]));
}

/// Visits every object that a value points to.
fn for_each_target(value: &mut DataValue, look: &mut dyn FnMut(&mut usize)) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => look(object),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter_mut().for_each(|value| for_each_target(value, look));
        }
        DataValue::Member(_, value) => for_each_target(value, look),
        _ => {}
    }
}

/// Returns the number of values that may be set to zero.
pub(super) fn numbers(types: &DataTypes, inputs: &mut CandidateInputs) -> usize {
    let TestKind::Function { params, objects, .. } = &mut inputs.kind else { return 0 };
    let behind = objects.iter_mut().filter_map(|object| elements(types, object)).map(|(_, _, values)| values.len());
    params.len() + behind.sum::<usize>()
}

/// Sets one of them to zero, or null; returns false if it is already.
pub(super) fn clear(types: &DataTypes, inputs: &mut CandidateInputs, which: usize) -> bool {
    let TestKind::Function { params, objects, .. } = &mut inputs.kind else { return false };
    let behind = objects.iter_mut().filter_map(|object| elements(types, object)).flat_map(|(_, _, values)| values);
    let value = params.iter_mut().map(|param| &mut param.value).chain(behind).nth(which);
    match value {
        Some(DataValue::Int(number)) if *number != 0 => {
            *number = 0;
            true
        }
        Some(DataValue::Pointer(target @ PointerTarget::Object { .. })) => {
            *target = PointerTarget::Null;
            prune(inputs);
            true
        }
        _ => false,
    }
}
