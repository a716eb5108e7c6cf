//! Snapshots of a machine's heap, as objects of a test.

use std::collections::VecDeque;
use touchstone_criteria::{ObjectInput, ObjectOrigin};
use touchstone_interp::{Machine, ObjectId, Value};
use touchstone_ir::{DataType, DataTypeId, DataValue, ErrorKind, Linkage, Module, PointerTarget, Ty, mask};

/// The maximum numbers of objects of a snapshot, and of bytes of one.
const MAX_OBJECTS: usize = 32;
const MAX_OBJECT_BYTES: u64 = 1024;

/// Returns everything reachable from a pointer, its own object first. `None` if something cannot be expressed.
pub(super) fn snapshot(
    module: &Module,
    machine: &Machine<'_>,
    root: Value,
    data: DataTypeId,
) -> Option<Vec<ObjectInput>> {
    let Value::Ptr(pointer) = root else { return None };
    let mut shot = Snapshot { module, machine, known: Vec::new(), open: VecDeque::new() };
    // The object is passed by its address.
    if pointer.offset != 0 {
        return None;
    }
    shot.number(pointer.object, data, "root")?;
    let mut objects = Vec::new();
    while let Some((object, element, name)) = shot.open.pop_front() {
        objects.push(shot.object(object, element, name)?);
    }
    Some(objects)
}

struct Snapshot<'s, 'm> {
    module: &'m Module,
    machine: &'s Machine<'m>,
    known: Vec<ObjectId>,
    open: VecDeque<(ObjectId, DataTypeId, String)>,
}

impl Snapshot<'_, '_> {
    /// Returns the index of an object; a new one is read later.
    fn number(&mut self, object: ObjectId, element: DataTypeId, name: &str) -> Option<usize> {
        if let Some(known) = self.known.iter().position(|known| *known == object) {
            return Some(known);
        }
        let info = self.machine.object(object);
        if !info.alive || info.size > MAX_OBJECT_BYTES || self.known.len() == MAX_OBJECTS {
            return None;
        }
        self.known.push(object);
        let unique = match name.len() {
            0..=40 => name.to_string(),
            _ => format!("object_{}", self.known.len()),
        };
        self.open.push_back((object, element, unique));
        Some(self.known.len() - 1)
    }

    fn object(&mut self, object: ObjectId, element: DataTypeId, name: String) -> Option<ObjectInput> {
        let types = &self.module.types;
        let (size, step) = (self.machine.object(object).size, types[element].size(types));
        let count = size.checked_div(step)?;
        let whole = size % step == 0 && types[element].tail(types).is_none() && !types[element].has_intrinsic_size();
        if count == 0 || !whole {
            return None;
        }
        let mut values = Vec::new();
        for at in 0..count {
            values.push(self.read(object, at * step, element, &name)?);
        }
        let is_array = count != 1 || step == 1;
        Some(ObjectInput { name, element, values, is_array, on_heap: false, origin: ObjectOrigin::Values })
    }

    fn read(&mut self, object: ObjectId, offset: u64, data: DataTypeId, name: &str) -> Option<DataValue> {
        let types = &self.module.types;
        let at = offset as i64;
        Some(match &types[data] {
            DataType::Array { element, length } => {
                let step = types[*element].size(types);
                let mut values = Vec::new();
                for index in 0..*length {
                    values.push(self.read(object, offset + index * step, *element, name)?);
                }
                DataValue::Array(values)
            }
            DataType::Struct { fields, .. } => {
                let mut values = Vec::new();
                for field in fields {
                    let name = format!("{name}_{}", field.name);
                    values.push(self.read(object, offset + field.offset, field.ty, &name)?);
                }
                DataValue::Struct(values)
            }
            DataType::Union { members, .. } => match self.machine.last_union_member(object, at) {
                Some(member) if member < members.len() => {
                    let name = format!("{name}_{}", members[member].name);
                    DataValue::Member(member, Box::new(self.read(object, offset, members[member].ty, &name)?))
                }
                _ => DataValue::Undefined,
            },
            DataType::Void | DataType::OneOf { .. } | DataType::Opaque { .. } => return None,
            DataType::Bits { first, width, .. } => {
                let bytes = self.machine.peek_bytes(object, at, types[data].size(types)).ok()?;
                let mut word = [0; 8];
                word.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte.unwrap_or(0));
                DataValue::Int(mask(u64::from_le_bytes(word) >> first, *width))
            }
            DataType::Pointer { pointee, .. } => {
                let value = self.value(object, at, Ty::Ptr)?;
                DataValue::Pointer(self.target(value, *pointee, name)?)
            }
            scalar => match self.value(object, at, Ty::Int(8 * scalar.size(types) as u8))? {
                Value::Int(bits) => DataValue::Int(bits),
                // An uninitialised value may be anything.
                Value::Undefined => DataValue::Int(0),
                Value::Ptr(_) => return None,
            },
        })
    }

    /// Reads a value that may be uninitialised.
    fn value(&self, object: ObjectId, at: i64, ty: Ty) -> Option<Value> {
        match self.machine.read_value(object, at, ty) {
            Ok(value) => Some(value),
            Err(ErrorKind::Uninitialised) => Some(Value::Undefined),
            Err(_) => None,
        }
    }

    fn target(&mut self, value: Value, pointee: DataTypeId, name: &str) -> Option<PointerTarget> {
        let pointer = match value {
            Value::Int(0) | Value::Undefined => return Some(PointerTarget::Null),
            Value::Int(_) => return None,
            Value::Ptr(pointer) => pointer,
        };
        if let Some(global) = self.machine.global_of(pointer.object).map(|id| &self.module.globals[id]) {
            if let Some(function) = global.function {
                return Some(PointerTarget::Function(self.module.functions[function].name.clone()));
            }
            let visible = matches!(global.linkage, Linkage::External | Linkage::Internal);
            return visible.then(|| PointerTarget::Global { name: global.name.clone(), offset: pointer.offset });
        }
        let element = self.module.pointee(pointee).element;
        let object = self.number(pointer.object, element, name)?;
        Some(PointerTarget::Object { object, offset: pointer.offset })
    }
}
