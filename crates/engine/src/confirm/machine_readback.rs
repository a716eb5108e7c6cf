//! The read-back of a machine: results and final memory of a run, as expected values of a test.

use crate::confirm::machine_setup::{PreparedRun, ReadyCall};
use crate::confirm::run_record::{CallInputs, ConcreteRun};
use touchstone_criteria::{EnvironmentInput, Expected, ExpectedCall as SeenCall, NamedValue, ObjectInput, StubEffect};
use touchstone_interp::{End, ObjectId, Value};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, FlexibleTail, FuncId, GlobalId, Linkage, PointerTarget, Ty, mask,
};

/// The maximum number of objects reachable from a result that are read, and of elements of one.
const MAX_REACHED_OBJECTS: usize = 16;

/// The maximum number of characters of a string.
const MAX_STRING_BYTES: u64 = 4096;

/// The maximum number of elements at the end of an object, and of bytes, which may be a string.
const MAX_TAIL_ELEMENTS: u64 = 64;

const MAX_TAIL_BYTES: u64 = 512;

pub(super) type Snapshot = Vec<(GlobalId, Vec<Option<u8>>)>;

impl PreparedRun<'_> {
    /// Returns the result of a call.
    pub(super) fn result_of(&self, call: &ReadyCall, end: &End) -> Option<DataValue> {
        let End::Returned(value) = end else { return None };
        match call.result_object {
            Some(object) => Some(self.read(object, 0, self.module.functions[call.func].result_data)),
            None => value.map(|value| self.scalar(value)),
        }
    }

    /// Returns the contents of constructed objects, in order.
    pub(super) fn constructed(&self, objects: &[ObjectInput]) -> Vec<Vec<DataValue>> {
        let constructed = objects.iter().enumerate().filter(|(_, object)| object.origin.is_constructed());
        constructed.map(|(index, object)| vec![self.read(self.objects[index], 0, object.element)]).collect()
    }

    /// Calls the oracle with the arguments and the result, in the memory after the call.
    pub(super) fn accepts(&mut self, oracle: FuncId, args: &[Value], result: Option<Value>) -> bool {
        let params = self.module.functions[oracle].params.len();
        let args: Vec<Value> = args.iter().copied().chain(result).take(params).collect();
        if args.len() < params {
            return true;
        }
        let end = self.machine.call(oracle, &args, &mut touchstone_interp::NullObserver);
        !matches!(end, End::Returned(Some(Value::Int(0))))
    }

    /// Returns the contents of globals before the call.
    pub(super) fn snapshot(&self, shown: &[GlobalId]) -> Snapshot {
        shown.iter().map(|id| (*id, self.bytes(*id, self.module.globals[*id].size))).collect()
    }

    fn bytes(&self, id: GlobalId, size: u64) -> Vec<Option<u8>> {
        self.machine.peek_bytes(self.machine.global_object(id), 0, size).unwrap_or_default()
    }

    pub(super) fn expected(
        &self,
        call: CallInputs<'_>,
        last: &ReadyCall,
        before: &Snapshot,
        seen: &ConcreteRun,
    ) -> Expected {
        let End::Returned(value) = &seen.end else {
            return Expected { left: self.described_writes(), ..seen.expected.clone() };
        };
        let result = self.result_of(last, &seen.end);
        let objects = call.objects.iter().enumerate().map(|(index, object)| {
            let step = self.size(object.element);
            (0..object.values.len() as u64).map(|at| self.read_with_tail(index, at * step, object)).collect()
        });
        let objects = objects.collect();
        let mut globals = Vec::new();
        for (id, bytes) in before {
            let global = &self.module.globals[*id];
            let input = call.globals.iter().any(|input| input.name == global.name);
            if input || self.bytes(*id, global.size) != *bytes {
                let value = self.read(self.machine.global_object(*id), 0, global.data);
                globals.push(NamedValue { name: global.name.clone(), data: global.data, value });
            }
        }
        let reached =
            value.map_or(Vec::new(), |value| self.reached(value, self.module.functions[last.func].result_data));
        let (calls, output) = (self.calls(), seen.expected.output.clone());
        let left = self.described_writes();
        Expected { result, reached, objects, globals, calls, left, output, noticed: Vec::new() }
    }

    /// Returns the objects reachable from a result that are neither objects of the test nor globals.
    pub(crate) fn reached(&self, result: Value, data: DataTypeId) -> Vec<NamedValue> {
        let types = &self.module.types;
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        let mut open = vec![(String::new(), result, data)];
        while let Some((name, value, data)) = open.pop()
            && found.len() < MAX_REACHED_OBJECTS
        {
            let (Value::Ptr(pointer), DataType::Pointer { pointee, .. }) = (value, &types[data]) else { continue };
            let elsewhere = self.target(value) == DataValue::Pointer(PointerTarget::Elsewhere);
            let (size, room) = (self.size(*pointee), self.machine.object(pointer.object).size);
            let (Ok(offset), false) = (u64::try_from(pointer.offset), seen.contains(&pointer.object)) else { continue };
            let is_array = matches!(types[*pointee], DataType::Array { .. });
            let tail = types[*pointee].count(types).map(|count| count.tail);
            let count = match tail {
                // One object, including the array at its end.
                Some(_) => u64::from(room.saturating_sub(offset) >= size),
                None => room.saturating_sub(offset).checked_div(size).unwrap_or(0),
            };
            if !elsewhere || is_array || count == 0 {
                continue;
            }
            seen.push(pointer.object);
            let most = if size == 1 { MAX_STRING_BYTES } else { MAX_REACHED_OBJECTS as u64 };
            let element = |at| self.read(pointer.object, offset + at * size, *pointee);
            let mut values: Vec<DataValue> = (0..count.min(most)).map(element).collect();
            if let (Some(tail), [DataValue::Struct(fields)]) = (tail, values.as_mut_slice())
                && let Some(last) = fields.last_mut()
            {
                *last = self.elements(pointer.object, offset, tail, room);
            }
            if let (1, Some(end)) = (size, values.iter().position(|value| *value == DataValue::Int(0))) {
                values.truncate(end + 1);
            }
            if count == 1 {
                self.pointers_in(pointer.object, offset, *pointee, &name, &mut open);
            }
            let value = if values.len() == 1 { values.remove(0) } else { DataValue::Array(values) };
            found.push(NamedValue { name, data: *pointee, value });
        }
        found
    }

    /// Returns the elements at the end of an object, up to its size and the maximum.
    fn elements(&self, object: ObjectId, offset: u64, tail: FlexibleTail, room: u64) -> DataValue {
        let types = &self.module.types;
        let inside = |at: &u64| offset.saturating_add(tail.end(at + 1, types)) <= room;
        let element = |at| self.read(object, offset + tail.end(at, types), tail.element);
        let most = if self.size(tail.element) == 1 { MAX_TAIL_BYTES } else { MAX_TAIL_ELEMENTS };
        DataValue::Array((0..most).take_while(inside).map(element).collect())
    }

    /// Collects the pointers in a structure, named by their access paths.
    fn pointers_in(
        &self,
        object: ObjectId,
        offset: u64,
        data: DataTypeId,
        name: &str,
        open: &mut Vec<(String, Value, DataTypeId)>,
    ) {
        let DataType::Struct { fields, .. } = &self.module.types[data] else { return };
        let named = fields.iter().filter(|field| !field.name.is_empty());
        for field in named.filter(|field| matches!(self.module.types[field.ty], DataType::Pointer { .. })) {
            let separator = if name.is_empty() { "" } else { ">" };
            if let Ok(value) = self.machine.read_value(object, (offset + field.offset) as i64, Ty::Ptr) {
                open.push((format!("{name}{separator}{}", field.name), value, field.ty));
            }
        }
    }

    /// Reads an element of an object, with as many elements at its end as the input had.
    fn read_with_tail(&self, index: usize, offset: u64, object: &ObjectInput) -> DataValue {
        let types = &self.module.types;
        let mut value = self.read(self.objects[index], offset, object.element);
        let before = match object.values.as_slice() {
            [DataValue::Struct(fields)] => fields.last(),
            _ => None,
        };
        if let (Some(tail), Some(DataValue::Array(elements)), DataValue::Struct(fields)) =
            (types[object.element].tail(types), before, &mut value)
            && let Some(last) = fields.last_mut()
        {
            let element = |at| self.read(self.objects[index], offset + tail.end(at, types), tail.element);
            *last = DataValue::Array((0..elements.len() as u64).map(element).collect());
        }
        value
    }

    fn read(&self, object: ObjectId, offset: u64, data: DataTypeId) -> DataValue {
        let types = &self.module.types;
        match &types[data] {
            DataType::Array { element, length } => {
                let step = self.size(*element);
                DataValue::Array((0..*length).map(|at| self.read(object, offset + at * step, *element)).collect())
            }
            DataType::Struct { fields, .. } => DataValue::Struct(
                fields.iter().map(|field| self.read(object, offset + field.offset, field.ty)).collect(),
            ),
            DataType::Union { members, .. } => match self.machine.last_union_member(object, offset as i64) {
                Some(member) if member < members.len() => {
                    DataValue::Member(member, Box::new(self.read(object, offset, members[member].ty)))
                }
                _ => DataValue::Undefined,
            },
            DataType::Void | DataType::OneOf { .. } | DataType::Opaque { .. } => DataValue::Undefined,
            DataType::Bits { first, width, .. } => {
                let bytes = self.machine.peek_bytes(object, offset as i64, self.size(data)).unwrap_or_default();
                let bytes: Option<Vec<u8>> = bytes.into_iter().collect();
                let mut word = [0; 8];
                match bytes.filter(|bytes| !bytes.is_empty()) {
                    Some(bytes) => {
                        word[..bytes.len()].copy_from_slice(&bytes);
                        DataValue::Int(mask(u64::from_le_bytes(word) >> first, *width))
                    }
                    None => DataValue::Undefined,
                }
            }
            DataType::Pointer { .. } => match self.machine.read_value(object, offset as i64, Ty::Ptr) {
                Ok(value) => self.target(value),
                Err(_) => DataValue::Undefined,
            },
            scalar => {
                let ty = Ty::Int(8 * scalar.size(types) as u8);
                match self.machine.read_value(object, offset as i64, ty) {
                    Ok(Value::Int(bits)) => DataValue::Int(bits),
                    _ => DataValue::Undefined,
                }
            }
        }
    }

    /// Returns the writes of functions that have a description only.
    pub(super) fn described_writes(&self) -> Vec<StubEffect> {
        let lead = |(at, value): &(usize, Value)| match self.target(*value) {
            DataValue::Pointer(target) => (*at, target),
            _ => (*at, PointerTarget::Elsewhere),
        };
        let left = |left: &touchstone_interp::ExternalEffect| StubEffect {
            after: left.after,
            input: EnvironmentInput {
                source: left.source,
                name: left.name.clone(),
                bytes: left.bytes.clone(),
                pointers: left.pointers.iter().map(lead).collect(),
                data: None,
            },
        };
        self.machine.external_effects().iter().map(left).collect()
    }

    /// Returns the calls of external functions. Arguments that are neither inputs, globals nor integers are undefined.
    fn calls(&self) -> Option<Vec<SeenCall>> {
        let is_function =
            |name: &str| self.module.global_named(name).is_some_and(|id| self.module.globals[id].function.is_some());
        let argument = |(value, data): (&Value, DataTypeId)| match (self.module.types.get(data), value) {
            (Some(DataType::Pointer { .. } | DataType::Array { .. }), value) => match self.target(*value) {
                DataValue::Pointer(PointerTarget::Global { name, .. }) if is_function(&name) => DataValue::Undefined,
                DataValue::Pointer(PointerTarget::Elsewhere) => DataValue::Undefined,
                known => known,
            },
            (_, Value::Int(bits)) => DataValue::Int(*bits),
            _ => DataValue::Undefined,
        };
        let call = |(name, values): &(String, Vec<Value>)| {
            let function = &self.module.functions[self.module.function_named(name)?];
            let params = function.own_params().iter().map(|param| param.data);
            let arguments = values.iter().zip(params).map(argument).collect();
            Some(SeenCall { function: name.clone(), arguments })
        };
        self.machine.calls().map(|calls| calls.iter().filter_map(call).collect())
    }

    fn scalar(&self, value: Value) -> DataValue {
        match value {
            Value::Int(bits) => DataValue::Int(bits),
            Value::Ptr(_) => self.target(value),
            Value::Undefined => DataValue::Undefined,
        }
    }

    /// Returns the target of a pointer; a dangling pointer is undefined.
    fn target(&self, value: Value) -> DataValue {
        DataValue::Pointer(match value {
            Value::Int(0) => PointerTarget::Null,
            Value::Ptr(pointer) => {
                if let Some(object) = self.objects.iter().position(|&object| object == pointer.object) {
                    PointerTarget::Object { object, offset: pointer.offset }
                } else {
                    match self.machine.global_of(pointer.object).map(|id| &self.module.globals[id]) {
                        Some(global) if matches!(global.linkage, Linkage::External | Linkage::Internal) => {
                            PointerTarget::Global { name: global.name.clone(), offset: pointer.offset }
                        }
                        _ if !self.machine.object(pointer.object).alive => return DataValue::Undefined,
                        _ => PointerTarget::Elsewhere,
                    }
                }
            }
            Value::Int(address) => return DataValue::Int(address),
            Value::Undefined => return DataValue::Undefined,
        })
    }
}
