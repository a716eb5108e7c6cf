//! All inputs of a function over small domains, and running one of them under any observer.

use touchstone_criteria::{NamedValue, ObjectInput, ObjectOrigin};
use touchstone_engine::{CallInputs, global_inputs};
use touchstone_interp::{End, Limits, Machine, ObjectId, ObjectKind, Observer, Value};
use touchstone_ir::{DataType, DataTypeId, DataValue, FuncId, Module, PointerTarget, Ty, mask};

/// The inputs of one call.
#[derive(Clone, Debug)]
pub struct Input {
    pub params: Vec<NamedValue>,
    pub globals: Vec<NamedValue>,
    pub objects: Vec<ObjectInput>,
}

impl Input {
    pub fn call(&self) -> CallInputs<'_> {
        CallInputs { earlier: &[], params: &self.params, globals: &self.globals, objects: &self.objects, answers: &[] }
    }

    /// For people.
    pub fn shown(&self) -> String {
        let named = |value: &NamedValue| format!("{}={:?}", value.name, value.value);
        let objects = self.objects.iter().map(|object| format!("{}: {:?}", object.name, object.values));
        let all: Vec<String> = self.params.iter().chain(&self.globals).map(named).chain(objects).collect();
        all.join(", ")
    }
}

/// A function's inputs, each with its values.
pub struct Domain<'m> {
    module: &'m Module,
    params: Vec<(String, DataTypeId)>,
    globals: Vec<(String, DataTypeId)>,
    scalars: Vec<Vec<i128>>,
    /// The number of inputs.
    pub points: u64,
    /// The pointee types: a pointer points to an object of its own, to a global of that type, or is null.
    pointees: Vec<DataTypeId>,
}

impl<'m> Domain<'m> {
    /// `None` if an input has no domain, is of a shape that is not enumerated, or if there are too many points.
    pub fn new(
        module: &'m Module,
        func: FuncId,
        values: &dyn Fn(&str) -> Option<Vec<i128>>,
        limit: u64,
    ) -> Option<Domain<'m>> {
        let function = &module.functions[func];
        let hidden = usize::from(function.aggregate_result);
        let globals: Vec<(String, DataTypeId)> = global_inputs(module, func)
            .into_iter()
            .map(|id| (module.globals[id].name.clone(), module.globals[id].data))
            .collect();
        let mut domain =
            Domain { module, params: Vec::new(), globals, scalars: Vec::new(), points: 1, pointees: vec![] };
        for param in function.params.iter().skip(hidden) {
            domain.params.push((param.name.clone(), param.data));
            let values = values(&param.name)?;
            match &module.types[param.data] {
                DataType::Pointer { pointee, .. } => {
                    domain.pointees.push(*pointee);
                    // Null, something of its own, or a global.
                    let shapes = 2 + domain.globals_of(*pointee).count() as i128;
                    domain.scalars.push((0..shapes).collect());
                    domain.add(*pointee, &values)?;
                }
                _ => domain.add(param.data, &values)?,
            }
        }
        for (name, data) in domain.globals.clone() {
            domain.add(data, &values(&name)?)?;
        }
        for values in &domain.scalars {
            domain.points = domain.points.checked_mul(values.len() as u64)?;
        }
        (domain.points <= limit).then_some(domain)
    }

    /// Returns the globals that a pointer to this type may point to.
    fn globals_of(&self, pointee: DataTypeId) -> impl Iterator<Item = &String> {
        self.globals.iter().filter(move |(_, data)| *data == pointee).map(|(name, _)| name)
    }

    /// Returns true if these are all shapes: two pointers may alias, and one may point into a part of a global.
    pub fn has_all_shapes(&self) -> bool {
        let simple = |pointee: &DataTypeId| self.globals.iter().all(|(_, data)| data == pointee);
        self.pointees.len() <= 1 && self.pointees.iter().all(simple)
    }

    fn add(&mut self, data: DataTypeId, values: &[i128]) -> Option<()> {
        match &self.module.types[data] {
            DataType::Array { element, length } => (0..*length).try_for_each(|_| self.add(*element, values)),
            DataType::Struct { fields, .. } => fields.iter().try_for_each(|field| self.add(field.ty, values)),
            DataType::Int { signed, .. } | DataType::Enum { signed, .. } => {
                self.scalars.push(values.iter().copied().filter(|value| *signed || *value >= 0).collect());
                Some(())
            }
            DataType::Bits { width, signed, .. } => {
                let (low, high) = if *signed { (-(1 << (width - 1)), 1 << (width - 1)) } else { (0, 1i128 << width) };
                self.scalars.push(values.iter().copied().filter(|value| (low..high).contains(value)).collect());
                Some(())
            }
            DataType::Bool { .. } => {
                self.scalars.push(values.iter().copied().filter(|value| (0..=1).contains(value)).collect());
                Some(())
            }
            _ => None,
        }
    }

    /// The input with this number.
    pub fn at(&self, point: u64) -> Input {
        let mut rest = point;
        let mut values = self.scalars.iter().map(|values| {
            let count = values.len() as u64;
            let value = values[(rest % count) as usize];
            rest /= count;
            value
        });
        let mut input = Input { params: Vec::new(), globals: Vec::new(), objects: Vec::new() };
        for (name, data) in &self.params {
            let value = self.parameter(name, *data, &mut values, &mut input.objects);
            input.params.push(NamedValue { name: name.clone(), data: *data, value });
        }
        for (name, data) in &self.globals {
            let value = self.value(*data, &mut values);
            input.globals.push(NamedValue { name: name.clone(), data: *data, value });
        }
        input
    }

    fn parameter(
        &self,
        name: &str,
        data: DataTypeId,
        values: &mut impl Iterator<Item = i128>,
        objects: &mut Vec<ObjectInput>,
    ) -> DataValue {
        let (element, count, shape) = match &self.module.types[data] {
            DataType::Array { element, length } => (*element, *length, None),
            DataType::Pointer { pointee, .. } => (*pointee, 1, values.next()),
            _ => return self.value(data, values),
        };
        let items = (0..count).map(|_| self.value(element, values)).collect();
        match shape {
            Some(0) => return DataValue::Pointer(PointerTarget::Null),
            Some(number @ 2..) => {
                let global = self.globals_of(element).nth(number as usize - 2).expect("as many as shapes");
                return DataValue::Pointer(PointerTarget::Global { name: global.clone(), offset: 0 });
            }
            _ => {}
        }
        objects.push(ObjectInput {
            name: name.to_string(),
            element,
            values: items,
            is_array: true,
            on_heap: false,
            origin: ObjectOrigin::Values,
        });
        DataValue::Pointer(PointerTarget::Object { object: objects.len() - 1, offset: 0 })
    }

    fn value(&self, data: DataTypeId, values: &mut impl Iterator<Item = i128>) -> DataValue {
        match &self.module.types[data] {
            DataType::Array { element, length } => {
                DataValue::Array((0..*length).map(|_| self.value(*element, values)).collect())
            }
            DataType::Struct { fields, .. } => {
                DataValue::Struct(fields.iter().map(|field| self.value(field.ty, values)).collect())
            }
            scalar => {
                let value = values.next().expect("a value for every scalar");
                let bits = match scalar {
                    DataType::Bits { width, .. } => *width,
                    _ => 8 * scalar.size(&self.module.types) as u8,
                };
                DataValue::Int(mask(value as u64, bits))
            }
        }
    }
}

/// Calls a function on an input, with nothing between the machine and the observer.
pub fn observe(module: &Module, func: FuncId, input: &Input, observer: &mut impl Observer) -> End {
    let mut machine = Machine::new(module, Limits::default());
    let size = |data: DataTypeId| module.types[data].size(&module.types);
    let mut objects = Vec::new();
    for object in &input.objects {
        let bytes = size(object.element) * object.values.len() as u64;
        let id = machine.alloc(bytes, &object.name, ObjectKind::Input);
        machine.write_bytes(id, 0, &vec![0; bytes as usize]).expect("inside the object");
        objects.push(id);
    }
    for (object, id) in input.objects.iter().zip(&objects) {
        for (index, value) in object.values.iter().enumerate() {
            store(module, &mut machine, &objects, *id, index as u64 * size(object.element), object.element, value);
        }
    }
    for global in &input.globals {
        let id = machine.global_object(module.global_named(&global.name).expect("a global"));
        store(module, &mut machine, &objects, id, 0, global.data, &global.value);
    }
    let function = &module.functions[func];
    let mut args = Vec::new();
    if function.aggregate_result {
        let object = machine.alloc(size(function.result_data), "result", ObjectKind::Input);
        args.push(Value::ptr(object, 0));
    }
    let hidden = args.len();
    for (param, value) in function.params.iter().skip(hidden).zip(&input.params) {
        args.push(match &value.value {
            DataValue::Int(bits) if !param.aggregate => Value::Int(*bits),
            DataValue::Pointer(target) if !param.aggregate => pointer(module, &machine, &objects, target),
            _ => {
                let object = machine.alloc(size(value.data), &value.name, ObjectKind::Input);
                machine.write_bytes(object, 0, &vec![0; size(value.data) as usize]).expect("inside the object");
                store(module, &mut machine, &objects, object, 0, value.data, &value.value);
                Value::ptr(object, 0)
            }
        });
    }
    machine.call(func, &args, observer)
}

fn store(
    module: &Module,
    machine: &mut Machine<'_>,
    objects: &[ObjectId],
    object: ObjectId,
    offset: u64,
    data: DataTypeId,
    value: &DataValue,
) {
    let size = |data: DataTypeId| module.types[data].size(&module.types);
    let (ty, value) = match (&module.types[data], value) {
        (DataType::Array { element, .. }, DataValue::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                store(module, machine, objects, object, offset + index as u64 * size(*element), *element, item);
            }
            return;
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(items)) => {
            for (field, item) in fields.iter().zip(items) {
                store(module, machine, objects, object, offset + field.offset, field.ty, item);
            }
            return;
        }
        (DataType::Bits { first, width, .. }, DataValue::Int(bits)) => {
            for bit in 0..u64::from(*width) {
                let (at, bit_of_byte) = ((u64::from(*first) + bit) / 8, (u64::from(*first) + bit) % 8);
                let byte = machine.peek_bytes(object, (offset + at) as i64, 1).expect("inside the object");
                let other = byte[0].unwrap_or(0) & !(1 << bit_of_byte);
                let byte = other | ((bits >> bit & 1) as u8) << bit_of_byte;
                machine.write_bytes(object, (offset + at) as i64, &[byte]).expect("inside the object");
            }
            return;
        }
        (_, DataValue::Int(bits)) => (Ty::Int(8 * size(data) as u8), Value::Int(*bits)),
        (_, DataValue::Pointer(target)) => (Ty::Ptr, pointer(module, machine, objects, target)),
        (_, other) => panic!("{other:?} is no input"),
    };
    machine.write_value(object, offset as i64, ty, value).expect("inside the object");
}

fn pointer(module: &Module, machine: &Machine<'_>, objects: &[ObjectId], target: &PointerTarget) -> Value {
    match target {
        PointerTarget::Object { object, offset } => Value::ptr(objects[*object], *offset),
        PointerTarget::Global { name, offset } => {
            Value::ptr(machine.global_object(module.global_named(name).expect("a global")), *offset)
        }
        _ => Value::NULL,
    }
}
