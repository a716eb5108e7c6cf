//! Mutation of inputs: integers, floats, pointer targets, object lengths, strings, answers.

use crate::config::Config;
use crate::vary::candidate::CandidateInputs;
use crate::vary::class_mutation;
use crate::vary::dictionary::Dictionary;
use crate::vary::random::RandomGenerator;
use std::collections::BTreeMap;
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_base::float::Format;
use touchstone_criteria::{AssumeOption, EnvironmentInput, NamedValue, ObjectInput, ObjectOrigin, TestKind};
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, DataValue, FuncId, InputSource, IntKind, Module, PointerTarget, mask, sign_extend,
};

/// The maximum number of objects of a test.
const MAX_OBJECTS: usize = 12;
/// The maximum number of mutations in one step.
const MAX_MUTATIONS: usize = 5;
/// The highest number of an allocation that may fail.
const MAX_FAILING_ALLOCATION: usize = 8;

/// Integers that are worth trying everywhere.
const NUMBERS: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    10,
    12,
    15,
    16,
    17,
    20,
    24,
    31,
    32,
    33,
    48,
    60,
    63,
    64,
    65,
    99,
    100,
    127,
    128,
    129,
    200,
    255,
    256,
    1000,
    1024,
    4096,
    32767,
    32768,
    65535,
    65536,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 32,
    1 << 53,
    u64::MAX >> 1,
    1 << 63,
    u64::MAX,
    u64::MAX - 1,
];

/// Floats that are worth trying everywhere.
const FLOATS: &[f64] = &[
    0.0,
    -0.0,
    0.5,
    1.0,
    -1.0,
    1.5,
    2.0,
    2.5,
    3.0,
    9.0,
    9.5,
    9.99999999,
    10.0,
    0.1,
    0.25,
    0.01,
    0.001,
    0.00012,
    1e-5,
    1e-6,
    1e-7,
    1e-9,
    1e-10,
    99.0,
    99.5,
    100.0,
    123456.789,
    1e5,
    1e6,
    1e7,
    1e9,
    1e10,
    1e15,
    1e17,
    1e18,
    1e19,
    1e100,
    1e-100,
    1e300,
    -1e10,
    f64::MAX,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// Mutates inputs.
pub(super) struct InputMutator<'m> {
    pub(super) module: &'m Module,
    pub(super) config: &'m Config,
    /// The maximum number of elements of an object.
    pub(super) longest: usize,
    hints: Dictionary,
    pub(super) chance: RandomGenerator,
    /// For every parameter the values that select the objects to construct.
    pub(super) choices: BTreeMap<usize, Vec<u64>>,
    /// A parameter that is not mutated.
    pub(super) still: Option<usize>,
}

/// The location of a mutation.
enum Location {
    Param(usize),
    Global(usize),
    Object(usize),
    Answer(usize),
    Allocation,
}

impl<'m> InputMutator<'m> {
    pub fn new(module: &'m Module, func: FuncId, config: &'m Config, longest: usize, seed: u64) -> InputMutator<'m> {
        let (hints, chance) = (Dictionary::of(module, func), RandomGenerator::new(seed ^ func.index() as u64));
        let choices =
            if module.has_classes() { class_mutation::choices(module, func, config) } else { BTreeMap::new() };
        InputMutator { module, config, longest, hints, chance, choices, still: None }
    }

    /// Returns the strings of the dictionary.
    pub(super) fn strings(&self) -> impl Iterator<Item = &[u8]> {
        self.hints.strings.iter().map(Vec::as_slice)
    }

    /// Returns a mutated copy of some inputs in the pool.
    pub fn another(&mut self, pool: &[CandidateInputs]) -> Option<CandidateInputs> {
        let mut inputs = self.pick(pool).cloned()?;
        self.change(&mut inputs);
        Some(inputs)
    }

    /// Picks inputs from the pool: any, or newer ones.
    fn pick<'p>(&mut self, pool: &'p [CandidateInputs]) -> Option<&'p CandidateInputs> {
        let newer = &pool[pool.len() - pool.len().div_ceil(4)..];
        if self.chance.one_in(2) { self.chance.of(newer) } else { self.chance.of(pool) }
    }

    /// Applies a few mutations.
    fn change(&mut self, inputs: &mut CandidateInputs) {
        let mut count = 1;
        while count < MAX_MUTATIONS && self.chance.one_in(2) {
            count += 1;
        }
        let before = self.fixed_parameter(inputs).cloned();
        for _ in 0..count {
            if inputs.compared.is_empty() || !self.chance.one_in(3) || !self.copy_compared_number(inputs) {
                self.mutate_once(inputs);
            }
        }
        if let (Some(before), Some(value)) = (before, self.fixed_parameter(inputs)) {
            *value = before;
        }
    }

    /// Returns the value of the parameter that is not mutated.
    fn fixed_parameter<'i>(&self, inputs: &'i mut CandidateInputs) -> Option<&'i mut DataValue> {
        let TestKind::Function { params, .. } = &mut inputs.kind else { return None };
        params.get_mut(self.still?).map(|param| &mut param.value)
    }

    /// Replaces an integer that was compared with another one by that one (Aschermann et al., *REDQUEEN: Fuzzing with
    /// Input-to-State Correspondence*, 2019); returns whether there is such an integer.
    fn copy_compared_number(&mut self, inputs: &mut CandidateInputs) -> bool {
        let compared = Rc::clone(&inputs.compared);
        let Some(&(a, b)) = self.chance.of(&compared) else { return false };
        let (old, new) = if self.chance.one_in(2) { (a, b) } else { (b, a) };
        let new = match self.chance.below(6) {
            0 => new.wrapping_add(1),
            1 => new.wrapping_sub(1),
            _ => new,
        };
        let (module, mut places) = (self.module, 0);
        for_each_number(module, inputs, &mut |number, bits| places += usize::from(*number == mask(old, bits)));
        let which = self.chance.below(places);
        let mut place = 0;
        for_each_number(module, inputs, &mut |number, bits| {
            if *number == mask(old, bits) {
                if place == which {
                    *number = mask(new, bits);
                }
                place += 1;
            }
        });
        places > 0
    }

    fn mutate_once(&mut self, inputs: &mut CandidateInputs) {
        if self.module.has_classes() {
            return self.mutate_with_classes(inputs);
        }
        let TestKind::Function { params, globals, objects, .. } = &mut inputs.kind else { return };
        let mut roots: Vec<Location> = (0..params.len()).map(Location::Param).collect();
        roots.extend((0..globals.len()).map(Location::Global));
        roots.extend((0..objects.len()).flat_map(|at| [Location::Object(at), Location::Object(at)]));
        roots.extend((0..inputs.answers.len()).map(Location::Answer));
        if !self.config.assume.contains(&AssumeOption::Allocation) && self.chance.one_in(4) {
            roots.push(Location::Allocation);
        }
        match self.chance.of(&roots) {
            Some(Location::Param(at)) => {
                let NamedValue { name, data, value } = &mut params[*at];
                self.mutate_leaf(name, *data, value, objects);
            }
            Some(Location::Global(at)) => {
                let NamedValue { name, data, value } = &mut globals[*at];
                self.mutate_leaf(name, *data, value, objects);
            }
            Some(Location::Object(at)) => {
                let declared = |param: &NamedValue| {
                    matches!(self.module.types[param.data], DataType::Array { .. })
                        && matches!(&param.value, DataValue::Pointer(PointerTarget::Object { object, .. }) if object == at)
                };
                let fixed = params.iter().any(declared);
                self.mutate_object(*at, fixed, objects);
            }
            Some(Location::Answer(at)) => self.mutate_answer(&mut inputs.answers[*at]),
            Some(Location::Allocation) => self.mutate_allocation_failure(&mut inputs.answers),
            None => {}
        }
    }

    /// Mutates one scalar of a value.
    pub(super) fn mutate_leaf(
        &mut self,
        name: &str,
        data: DataTypeId,
        value: &mut DataValue,
        objects: &mut Vec<ObjectInput>,
    ) {
        if let Some((name, data, value)) = self.random_leaf(name.to_string(), data, value) {
            match &self.module.types[data] {
                DataType::Pointer { pointee, .. } if self.takes_arguments(*pointee) => {
                    self.give_arguments(*pointee, value, objects);
                }
                DataType::Pointer { pointee, .. } => *value = self.target(&name, *pointee, objects),
                DataType::Array { .. } => {}
                _ => self.mutate_number(data, value),
            }
        }
    }

    /// Returns a random scalar of a value, with its name. A long array is picked more often than a field, but not in
    /// proportion to its length: a table in a structure would take all mutations.
    fn random_leaf<'v>(
        &mut self,
        name: String,
        data: DataTypeId,
        value: &'v mut DataValue,
    ) -> Option<(String, DataTypeId, &'v mut DataValue)> {
        let types = &self.module.types;
        match (&types[data], value) {
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                let at = self.chance.below(values.len());
                self.random_leaf(format!("{name}_{at}"), *element, values.get_mut(at)?)
            }
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                let parts = fields.iter().zip(values.iter());
                let weights: Vec<usize> = parts.map(|(field, value)| weight(types, field.ty, value)).collect();
                let mut which = self.chance.below(weights.iter().sum());
                let chosen = weights.iter().position(|weight| match which.checked_sub(*weight) {
                    Some(rest) => {
                        which = rest;
                        false
                    }
                    None => true,
                })?;
                let field = &fields[chosen];
                self.random_leaf(format!("{name}_{}", field.name), field.ty, &mut values[chosen])
            }
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                let member = members.get(*member)?;
                self.random_leaf(format!("{name}_{}", member.name), member.ty, value)
            }
            (_, DataValue::Undefined) => None,
            (_, value) => Some((name, data, value)),
        }
    }

    pub(super) fn mutate_number(&mut self, data: DataTypeId, value: &mut DataValue) {
        let DataValue::Int(number) = value else { return };
        *number = match &self.module.types[data] {
            DataType::Bool { .. } => *number ^ 1,
            DataType::Float { format, .. } => self.float(*format, *number),
            DataType::Enum { bits, items, .. } if !items.is_empty() && !self.chance.one_in(4) => {
                let item = self.chance.below(items.len());
                mask(items[item].value as u64, *bits)
            }
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => self.number(*number, *bits),
            DataType::Bits { width, .. } => self.number(*number, *width),
            _ => return,
        };
    }

    fn number(&mut self, old: u64, bits: u8) -> u64 {
        let random = self.chance.bits();
        let number = match self.chance.below(10) {
            0 | 1 => NUMBERS[self.chance.below(NUMBERS.len())],
            2..=4 => self.chance.of(&self.hints.numbers).copied().unwrap_or(random),
            5 => old.wrapping_add(1 + random % 3),
            6 => old.wrapping_sub(1 + random % 3),
            7 => old ^ (1 << (random % u64::from(bits.max(1)))),
            8 => random & self.chance.bits(),
            _ => random % 128,
        };
        mask(number, bits)
    }

    fn float(&mut self, format: Format, old: u64) -> u64 {
        let random = self.chance.bits();
        let number = match (self.chance.below(6), format) {
            (0 | 1, _) => FLOATS[self.chance.below(FLOATS.len())],
            (2, _) => (random % 2001) as f64 / 8.0 - 125.0,
            (3, _) => f64::from(random as u32) / f64::from(1u32 << (random >> 59)),
            (4, Format::F64) => match self.chance.of(&self.hints.numbers) {
                Some(number) => f64::from_bits(*number),
                None => 1.0,
            },
            (_, Format::F64) => return old ^ (1 << (random % 64)),
            (_, Format::F32) => return mask(old ^ (1 << (random % 32)), 32),
        };
        match format {
            Format::F64 => number.to_bits(),
            Format::F32 => u64::from((number as f32).to_bits()),
        }
    }

    /// Returns a random target for a pointer.
    pub(super) fn target(&mut self, name: &str, pointee: DataTypeId, objects: &mut Vec<ObjectInput>) -> DataValue {
        let (module, element) = (self.module, self.module.pointee(pointee).element);
        let stands = module.globals.values().filter(|global| global.data == pointee);
        let functions: Vec<FuncId> = stands.filter_map(|global| global.function).collect();
        if !functions.is_empty() {
            let function = self.chance.of(&functions).filter(|_| !self.chance.one_in(16));
            let name = |func: &FuncId| PointerTarget::Function(module.functions[*func].name.clone());
            return DataValue::Pointer(function.map_or(PointerTarget::Null, name));
        }
        if self.chance.one_in(6) {
            return DataValue::Pointer(PointerTarget::Null);
        }
        let step = module.types[element].size(&module.types) as i64;
        let same: Vec<usize> = (0..objects.len()).filter(|at| objects[*at].element == element).collect();
        let alone = self.config.assume.contains(&AssumeOption::SeparateObjects);
        if !alone
            && self.chance.one_in(3)
            && let Some(&object) = self.chance.of(&same)
        {
            let inside = self.chance.below(objects[object].values.len()) as i64;
            let offset = if self.chance.one_in(2) { inside * step } else { 0 };
            return DataValue::Pointer(PointerTarget::Object { object, offset });
        }
        match self.object(name, element, objects) {
            Some(made) => {
                objects.push(made);
                DataValue::Pointer(PointerTarget::Object { object: objects.len() - 1, offset: 0 })
            }
            None => DataValue::Pointer(PointerTarget::Null),
        }
    }

    /// Creates a fresh object.
    pub(super) fn object(&mut self, name: &str, element: DataTypeId, objects: &[ObjectInput]) -> Option<ObjectInput> {
        let (types, data) = (&self.module.types, &self.module.types[element]);
        let whole = data.size(types) > 0 && may_grow(types, element);
        if !whole || objects.len() >= MAX_OBJECTS || self.takes_arguments(element) {
            return None;
        }
        let one = DataValue::zero(types, element)?;
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain = plain.trim_matches('_').to_string();
        let taken = |name: &String| objects.iter().any(|object| object.name == *name);
        let mut numbered = (2..).map(|number| format!("{plain}_{number}"));
        let name = if taken(&plain) { numbered.find(|name| !taken(name))? } else { plain };
        let most = if is_byte(types, element) { 6 } else { 3 };
        let count = (1 << self.chance.below(most)).min(self.longest);
        let mut values = vec![one; count];
        if is_byte(types, element) {
            self.write_text(&mut values);
        }
        Some(ObjectInput { name, element, is_array: count > 1, values, on_heap: false, origin: ObjectOrigin::Values })
    }

    fn mutate_object(&mut self, at: usize, fixed: bool, objects: &mut Vec<ObjectInput>) {
        if self.are_arguments(objects[at].element) {
            return self.mutate_arguments(at, objects);
        }
        let types = &self.module.types;
        let ObjectInput { element, values, is_array, name, .. } = &mut objects[at];
        let element = *element;
        let grows = !fixed && may_grow(types, element) && values.len() < self.longest;
        if grows
            && self.chance.one_in(5)
            && let Some(more) = DataValue::zero(types, element)
        {
            let added = values.len().max(1).min(self.longest - values.len());
            // A string keeps its terminator at the end.
            let last = match is_byte(types, element) {
                true => values.last().cloned(),
                false => None,
            };
            values.resize(values.len() + added, more);
            if let (Some(last), Some(end)) = (last, values.last_mut()) {
                *end = last;
            }
            *is_array = true;
            return;
        }
        if is_byte(types, element) && values.len() > 1 && self.chance.one_in(2) {
            self.write_text(values);
            return;
        }
        let index = self.chance.below(values.len());
        let name = format!("{name}_{index}");
        if index < values.len() {
            let mut value = std::mem::replace(&mut values[index], DataValue::Undefined);
            self.mutate_leaf(&name, element, &mut value, objects);
            objects[at].values[index] = value;
        }
    }

    /// Inserts or removes a dictionary string or a few characters at a random position. The last byte is kept.
    fn write_text(&mut self, values: &mut [DataValue]) {
        let end = values.len().saturating_sub(1);
        let start = self.chance.below(end);
        let text: Vec<u8> = match self.chance.of(&self.hints.strings) {
            Some(text) if self.chance.one_in(3) => text.clone(),
            _ => {
                let count = 1 + self.chance.below(3);
                (0..count).map(|_| self.character()).collect()
            }
        };
        let rest = &mut values[..end][start..];
        let length = text.len().min(rest.len());
        match self.chance.below(6) {
            0 => {
                rest.rotate_left(length);
                return;
            }
            1 | 2 => rest.rotate_right(length),
            3 if start > 0 => {
                // Duplicates a substring.
                let from = self.chance.below(start);
                let piece: Vec<DataValue> = values[from..start].to_vec();
                values[..end][start..].iter_mut().zip(piece).for_each(|(value, byte)| *value = byte);
                return;
            }
            4 if !rest.is_empty() => {
                // Repeats a character many times: a number may overflow.
                let times = self.chance.below(rest.len());
                let one = rest[0].clone();
                rest.rotate_right(times);
                rest[..times].fill(one);
                return;
            }
            _ => {}
        }
        for (value, byte) in values[..end][start..].iter_mut().zip(text) {
            *value = DataValue::Int(u64::from(byte));
        }
    }

    pub(super) fn character(&mut self) -> u8 {
        let random = self.chance.bits() as u8;
        match self.chance.below(4) {
            0 => random % 10 + b'0',
            1 => random % 95 + b' ',
            2 => random,
            _ => {
                let known = self.chance.of(&self.hints.numbers).copied();
                known.and_then(|number| u8::try_from(number).ok()).unwrap_or(random % 95 + b' ')
            }
        }
    }

    fn mutate_answer(&mut self, answer: &mut EnvironmentInput) {
        let changeable = matches!(answer.source, InputSource::External | InputSource::Written | InputSource::Changed);
        if !changeable || !answer.pointers.is_empty() || answer.bytes.is_empty() {
            return;
        }
        // A type with pointers or truth values is not mutated.
        let Some(DataType::Int { bits, .. } | DataType::Enum { bits, .. }) =
            answer.data.map(|data| &self.module.types[data])
        else {
            return;
        };
        let step = usize::from(bits / 8).max(1);
        let at = self.chance.below(answer.bytes.len() / step) * step;
        let Some(bytes) = answer.bytes.get_mut(at..at + step) else { return };
        let old = bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let new = match step {
            1 if self.chance.one_in(2) => u64::from(self.character()),
            _ => self.number(old, *bits),
        };
        bytes.copy_from_slice(&new.to_le_bytes()[..step]);
    }

    /// Lets another allocation fail, or none.
    fn mutate_allocation_failure(&mut self, answers: &mut Vec<EnvironmentInput>) {
        let before = answers.len();
        answers.retain(|answer| answer.source != InputSource::Allocation);
        if answers.len() == before || self.chance.one_in(2) {
            let number = 1 + self.chance.below(MAX_FAILING_ALLOCATION);
            answers.insert(0, EnvironmentInput::of_bytes(InputSource::Allocation, number.to_string(), Vec::new()));
        }
    }
}

/// Returns true if objects of a type can have any length: they don't hold it themselves, and the type is not opaque.
pub(super) fn may_grow(types: &DataTypes, element: DataTypeId) -> bool {
    let data = &types[element];
    let is_closed = matches!(data, DataType::Struct { fields, .. } if fields.is_empty());
    !is_closed && !data.has_intrinsic_size() && data.tail(types).is_none()
}

pub(super) fn is_byte(types: &DataTypes, data: DataTypeId) -> bool {
    matches!(types[data], DataType::Int { bits: 8, .. })
}

/// Visits every integer of inputs, with its width.
fn for_each_number(module: &Module, inputs: &mut CandidateInputs, look: &mut dyn FnMut(&mut u64, u8)) {
    let (types, asked) = (&module.types, &inputs.asked);
    let TestKind::Function { params, globals, objects, .. } = &mut inputs.kind else { return };
    let globals = if module.has_classes() { &mut [] } else { &mut globals[..] };
    let params = params.iter_mut().enumerate().filter(|(index, _)| asked.is_empty() || asked.contains(index));
    for NamedValue { data, value, .. } in params.map(|(_, param)| param).chain(globals) {
        for_each_integer(types, *data, value, look);
    }
    for object in objects {
        if module.has_classes() {
            let elements = class_mutation::elements(types, object).into_iter();
            elements.for_each(|(element, _, values)| {
                values.iter_mut().for_each(|value| for_each_integer(types, element, value, look));
            });
            continue;
        }
        object.values.iter_mut().for_each(|value| for_each_integer(types, object.element, value, look));
    }
}

fn for_each_integer(types: &DataTypes, data: DataTypeId, value: &mut DataValue, look: &mut dyn FnMut(&mut u64, u8)) {
    match (&types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            values.iter_mut().for_each(|value| for_each_integer(types, *element, value, look));
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            fields.iter().zip(values).for_each(|(field, value)| for_each_integer(types, field.ty, value, look));
        }
        (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
            if let Some(member) = members.get(*member) {
                for_each_integer(types, member.ty, value, look);
            }
        }
        (DataType::Int { bits, .. } | DataType::Enum { bits, .. }, DataValue::Int(number)) => look(number, *bits),
        (DataType::Bits { width, .. }, DataValue::Int(number)) => look(number, *width),
        _ => {}
    }
}

/// Returns the weight of a value in the random choice of a scalar.
fn weight(types: &DataTypes, data: DataTypeId, value: &DataValue) -> usize {
    match (&types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            let one = values.first().map_or(0, |first| weight(types, *element, first));
            values.len().checked_ilog2().map_or(0, |log| one * (1 + log as usize))
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            fields.iter().zip(values).map(|(field, value)| weight(types, field.ty, value)).sum()
        }
        (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
            members.get(*member).map_or(0, |member| weight(types, member.ty, value))
        }
        (_, DataValue::Undefined) => 0,
        _ => 1,
    }
}

/// Returns the number of scalars in a value.
pub(super) fn leaves(types: &DataTypes, data: DataTypeId, value: &DataValue) -> usize {
    match (&types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            values.iter().map(|value| leaves(types, *element, value)).sum()
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            fields.iter().zip(values).map(|(field, value)| leaves(types, field.ty, value)).sum()
        }
        (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
            members.get(*member).map_or(0, |member| leaves(types, member.ty, value))
        }
        (_, DataValue::Undefined) => 0,
        _ => 1,
    }
}

/// Returns the scalar with this index in a value, with its name.
pub(super) fn leaf<'v>(
    types: &DataTypes,
    name: String,
    data: DataTypeId,
    value: &'v mut DataValue,
    mut which: usize,
) -> Option<(String, DataTypeId, &'v mut DataValue)> {
    match (&types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            for (at, value) in values.iter_mut().enumerate() {
                let count = leaves(types, *element, value);
                if which < count {
                    return leaf(types, format!("{name}_{at}"), *element, value, which);
                }
                which -= count;
            }
            None
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            for (field, value) in fields.iter().zip(values) {
                let count = leaves(types, field.ty, value);
                if which < count {
                    return leaf(types, format!("{name}_{}", field.name), field.ty, value, which);
                }
                which -= count;
            }
            None
        }
        (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
            let member = members.get(*member)?;
            leaf(types, format!("{name}_{}", member.name), member.ty, value, which)
        }
        (_, DataValue::Undefined) => None,
        (_, value) => (which == 0).then_some((name, data, value)),
    }
}

/// Returns the number of scalars in inputs.
pub(super) fn numbers(module: &Module, inputs: &mut CandidateInputs) -> usize {
    if module.has_classes() {
        return class_mutation::numbers(&module.types, inputs);
    }
    let TestKind::Function { params, globals, objects, .. } = &inputs.kind else { return 0 };
    let types = &module.types;
    let named: usize = params.iter().chain(globals).map(|named| leaves(types, named.data, &named.value)).sum();
    let behind =
        objects.iter().flat_map(|object| object.values.iter().map(|value| leaves(types, object.element, value)));
    named + behind.sum::<usize>()
}

/// Sets one scalar to zero; returns false if it is no integer or zero already.
pub(super) fn clear(module: &Module, inputs: &mut CandidateInputs, which: usize) -> bool {
    if module.has_classes() {
        return class_mutation::clear(&module.types, inputs, which);
    }
    match scalar(module, inputs, which) {
        Some((_, number)) if *number != 0 => {
            *number = 0;
            true
        }
        _ => false,
    }
}

/// Integers that people prefer to larger ones, and characters.
const SIMPLE_NUMBERS: [u64; 9] = [1, 2, 3, 5, 10, 16, 100, 256, 1000];
const SIMPLE_CHARACTERS: [u64; 6] = [b'a' as u64, b'b' as u64, b'1' as u64, b' ' as u64, b'A' as u64, b'.' as u64];

/// Returns the values that people prefer to that of a scalar; none if it is one of them.
pub(super) fn simpler_values(module: &Module, inputs: &mut CandidateInputs, which: usize) -> &'static [u64] {
    if module.has_classes() {
        return &[];
    }
    match scalar(module, inputs, which) {
        Some((DataType::Int { kind: IntKind::Character, bits: 8, .. }, number)) => match *number {
            0 => &[],
            byte if u8::try_from(byte).is_ok_and(|byte| byte.is_ascii_graphic() || byte == b' ') => &[],
            _ => &SIMPLE_CHARACTERS,
        },
        Some((DataType::Int { bits, signed, .. }, number)) => {
            let value = if *signed { sign_extend(*number, *bits).unsigned_abs() } else { *number };
            let fits = SIMPLE_NUMBERS.partition_point(|simple| *simple < value);
            let fitting = SIMPLE_NUMBERS.partition_point(|simple| *simple < 1 << (bits - 1).min(63));
            if value < SIMPLE_NUMBERS[3] { &[] } else { &SIMPLE_NUMBERS[..fits.min(fitting)] }
        }
        _ => &[],
    }
}

/// Sets one scalar to a value.
pub(super) fn put(module: &Module, inputs: &mut CandidateInputs, which: usize, value: u64) {
    if let Some((_, number)) = scalar(module, inputs, which) {
        *number = value;
    }
}

/// Returns the type and the value of an integer among the scalars of inputs.
fn scalar<'i>(
    module: &'i Module,
    inputs: &'i mut CandidateInputs,
    mut which: usize,
) -> Option<(&'i DataType, &'i mut u64)> {
    let TestKind::Function { params, globals, objects, .. } = &mut inputs.kind else { return None };
    let named = params.iter_mut().chain(globals).map(|named| (named.data, &mut named.value));
    let behind = objects.iter_mut().flat_map(|object| {
        let element = object.element;
        object.values.iter_mut().map(move |value| (element, value))
    });
    for (data, value) in named.chain(behind) {
        let count = leaves(&module.types, data, value);
        if which < count {
            return match leaf(&module.types, String::new(), data, value, which) {
                Some((_, data, DataValue::Int(number))) => Some((&module.types[data], number)),
                _ => None,
            };
        }
        which -= count;
    }
    None
}
