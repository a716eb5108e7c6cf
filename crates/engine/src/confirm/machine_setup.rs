//! The set-up of a machine: objects, globals, arguments and answers of a test.

use crate::confirm::run_record::CallInputs;
use touchstone_base::{WorkKind, spend};
use touchstone_criteria::{EnvironmentInput, InputContent, NamedValue, ObjectCreation, ObjectInput, ObjectOrigin};
use touchstone_interp::{End, Machine, NullObserver, ObjectId, ObjectKind, Provided, Value};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, FuncId, Function, Module, Param, PointeeShape, PointerTarget, Ty, mask,
    sign_extend,
};

/// A call with all its arguments created.
pub(crate) struct ReadyCall {
    pub(super) func: FuncId,
    pub args: Vec<Value>,
    /// The object for an aggregate result.
    pub(super) result_object: Option<ObjectId>,
}

pub(crate) struct PreparedRun<'m> {
    pub(super) module: &'m Module,
    pub machine: Machine<'m>,
    /// The objects of the test.
    pub(super) objects: Vec<ObjectId>,
}

impl<'m> PreparedRun<'m> {
    /// Prepares a machine at program start with everything that a test sets before its call.
    pub(crate) fn with_inputs(module: &'m Module, machine: Machine<'m>, call: CallInputs<'_>) -> PreparedRun<'m> {
        let mut run = PreparedRun { module, machine, objects: Vec::new() };
        for object in call.objects {
            // A call that has yet to return the object replaces the empty one.
            let size = if object.origin.creating_call().is_some() { 0 } else { run.size_of(object) };
            let kind = if object.on_heap { ObjectKind::Heap } else { ObjectKind::Input };
            let id = run.machine.alloc(size, &object.name, kind);
            run.clear(id, size);
            run.objects.push(id);
        }
        for (index, object) in call.objects.iter().enumerate() {
            if module.pointee(object.element).stands == PointeeShape::Arguments {
                run.machine.set_variadic_arguments(run.objects[index]);
            }
            if object.origin.is_constructed() {
                continue;
            }
            let step = run.size(object.element);
            for (at, value) in object.values.iter().enumerate() {
                run.write(run.objects[index], at as u64 * step, object.element, value);
            }
        }
        let provided = provided(call.answers, |target| run.pointer(target));
        run.machine.provide_inputs(provided);
        run.machine.map_registers();
        failing(call.answers).for_each(|number| run.machine.fail_allocation(number));
        for global in call.globals {
            if let Some(id) = module.global_named(&global.name) {
                let object = run.machine.global_object(id);
                // A constant that another file defines has the value that the test gives it.
                let fixed = run.machine.unlock(object);
                run.clear(object, run.size(global.data));
                run.write(object, 0, global.data, &global.value);
                if fixed {
                    run.machine.lock(object);
                }
            }
        }
        run
    }

    pub(super) fn size(&self, data: DataTypeId) -> u64 {
        self.module.types[data].size(&self.module.types)
    }

    pub(super) fn size_of(&self, object: &ObjectInput) -> u64 {
        let (types, one) = (&self.module.types, &self.module.types[object.element]);
        match object.values.as_slice() {
            [only] => one.size_with(only, types),
            values => one.size(types) * values.len() as u64,
        }
    }

    /// Prepares a call: its arguments, and an object for an aggregate result.
    pub(crate) fn ready(&mut self, func: FuncId, params: &[NamedValue]) -> ReadyCall {
        let function = &self.module.functions[func];
        let (mut args, mut result_object) = (Vec::new(), None);
        if function.aggregate_result {
            let object = self.machine.alloc(self.size(function.result_data), "result", ObjectKind::Input);
            result_object = Some(object);
            args.push(Value::ptr(object, 0));
        }
        for (param, input) in function.params.iter().skip(args.len()).zip(params) {
            let value = self.argument(param.aggregate, input);
            args.push(self.in_register(value, param, function));
        }
        if args.len() < function.params.len() && function.variadic {
            args.push(Value::NULL);
        }
        ReadyCall { func, args, result_object }
    }

    /// Records the object that an earlier call created. Returns false if the call returned or stored something else than
    /// the start of a new object.
    pub(super) fn bind_created(&mut self, call: usize, ready: &ReadyCall, objects: &[ObjectInput], end: &End) -> bool {
        let Some(index) = objects.iter().position(|object| object.origin.creating_call() == Some(call)) else {
            return true;
        };
        let created = match (&objects[index].origin, end) {
            (ObjectOrigin::Constructed { creation: ObjectCreation::Stored { param, .. }, .. }, End::Returned(_)) => {
                let receiver = ready.args.get(usize::from(ready.result_object.is_some()) + param);
                match receiver {
                    Some(Value::Ptr(at)) => self.machine.read_value(at.object, at.offset, Ty::Ptr).ok(),
                    _ => None,
                }
            }
            (_, End::Returned(result)) => *result,
            _ => None,
        };
        let Some(Value::Ptr(pointer)) = created else { return false };
        let is_new = !self.objects.contains(&pointer.object) && self.machine.global_of(pointer.object).is_none();
        let is_start = pointer.offset == 0 && is_new;
        if is_start {
            self.objects[index] = pointer.object;
        }
        is_start
    }

    /// Releases constructed objects, the last one first. Returns for each whether its function returns without a request
    /// for inputs.
    pub(super) fn release(&mut self, objects: &[ObjectInput], end: &End) -> Vec<bool> {
        let mut released = Vec::new();
        for (index, object) in objects.iter().enumerate().rev() {
            let ObjectOrigin::Constructed { released_by, .. } = &object.origin else { continue };
            let func = released_by.as_ref().and_then(|name| self.module.function_named(name));
            let id = self.objects[index];
            let requests = self.machine.requested_inputs().len();
            let may = matches!(end, End::Returned(_)) && self.machine.object(id).alive;
            let returns = func.filter(|_| may).is_some_and(|func| {
                let end = self.machine.call(func, &[Value::ptr(id, 0)], &mut NullObserver);
                matches!(end, End::Returned(_)) && self.machine.requested_inputs().len() == requests
            });
            released.push(returns);
        }
        released.reverse();
        released
    }

    /// Extends an argument to a register that may be wider than its type.
    fn in_register(&self, value: Value, param: &Param, function: &Function) -> Value {
        match (value, &self.module.types[param.data], function.regs[param.reg].ty) {
            (Value::Int(number), &DataType::Int { bits, signed: true, .. }, Ty::Int(wide)) if bits < wide => {
                Value::Int(mask(sign_extend(number, bits) as u64, wide))
            }
            (value, ..) => value,
        }
    }

    pub(super) fn clear(&mut self, object: ObjectId, size: u64) {
        // The object was just allocated with this size.
        let _ = self.machine.write_bytes(object, 0, &vec![0; size as usize]);
    }

    fn argument(&mut self, aggregate: bool, input: &NamedValue) -> Value {
        if aggregate {
            let size = self.size(input.data);
            let object = self.machine.alloc(size, &input.name, ObjectKind::Input);
            self.clear(object, size);
            self.write(object, 0, input.data, &input.value);
            return Value::ptr(object, 0);
        }
        match &input.value {
            DataValue::Int(bits) => Value::Int(*bits),
            DataValue::Pointer(target) => self.pointer(target),
            _ => Value::Int(0),
        }
    }

    pub(super) fn pointer(&self, target: &PointerTarget) -> Value {
        match target {
            PointerTarget::Object { object, offset } => Value::ptr(self.objects[*object], *offset),
            PointerTarget::Global { name, offset } => match self.module.global_named(name) {
                Some(id) => Value::ptr(self.machine.global_object(id), *offset),
                None => Value::NULL,
            },
            PointerTarget::Function(name) => {
                let function = self.module.function_named(name);
                let standing = self.module.globals.iter().find(|(_, global)| global.function == function);
                match standing.filter(|_| function.is_some()) {
                    Some((id, _)) => Value::ptr(self.machine.global_object(id), 0),
                    None => Value::NULL,
                }
            }
            PointerTarget::Null | PointerTarget::Elsewhere => Value::NULL,
        }
    }

    pub(super) fn write(&mut self, object: ObjectId, offset: u64, data: DataTypeId, value: &DataValue) {
        spend(WorkKind::InputValue, 1);
        let at = offset as i64;
        // Values match their types, and the object has its size: these writes are in bounds.
        match (&self.module.types[data], value) {
            // The destination was zeroed.
            (_, DataValue::Int(0)) => {}
            (DataType::Array { element, .. }, DataValue::Array(items)) => {
                let step = self.size(*element);
                for (index, item) in items.iter().enumerate() {
                    self.write(object, offset + index as u64 * step, *element, item);
                }
            }
            (DataType::Struct { fields, .. }, DataValue::Struct(items)) => {
                for (field, item) in fields.iter().zip(items) {
                    self.write(object, offset + field.offset, field.ty, item);
                }
            }
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                self.machine.set_union_member(object, at, *member);
                self.write(object, offset, members[*member].ty, value);
            }
            (DataType::Bits { first, width, .. }, DataValue::Int(bits)) => {
                let before = self.machine.peek_bytes(object, at, self.size(data)).unwrap_or_default();
                let word = |sum, (index, byte): (usize, &Option<u8>)| sum | u64::from(byte.unwrap_or(0)) << (8 * index);
                let mut bytes = before.iter().enumerate().fold(0, word);
                bytes &= !(mask(u64::MAX, *width) << first);
                bytes |= mask(*bits, *width) << first;
                let _ = self.machine.write_bytes(object, at, &bytes.to_le_bytes()[..before.len()]);
            }
            (scalar, DataValue::Int(bits)) => {
                let ty = Ty::Int(8 * scalar.size(&self.module.types) as u8);
                let _ = self.machine.write_value(object, at, ty, Value::Int(*bits));
            }
            (_, DataValue::Pointer(target)) => {
                let value = match (target, self.points_to_arguments(data)) {
                    // An empty list of variadic arguments is still a list.
                    (PointerTarget::Null, true) => {
                        let none = self.machine.alloc(0, "arguments", ObjectKind::Input);
                        self.machine.set_variadic_arguments(none);
                        Value::ptr(none, 0)
                    }
                    _ => self.pointer(target),
                };
                let _ = self.machine.write_value(object, at, Ty::Ptr, value);
            }
            _ => {}
        }
    }

    fn points_to_arguments(&self, data: DataTypeId) -> bool {
        match self.module.types[data] {
            DataType::Pointer { pointee, .. } => self.module.pointee(pointee).stands == PointeeShape::Arguments,
            _ => false,
        }
    }
}

/// Returns the numbers of the allocations that fail.
pub(super) fn failing(inputs: &[EnvironmentInput]) -> impl Iterator<Item = u64> {
    inputs.iter().filter_map(|input| match input.given() {
        InputContent::FailingAllocation(number) => number.parse().ok(),
        _ => None,
    })
}

/// Returns the answers for the machine; `lead` converts the targets of pointers in them.
pub(super) fn provided(inputs: &[EnvironmentInput], lead: impl Fn(&PointerTarget) -> Value) -> Vec<Provided> {
    let asked = inputs.iter().filter(|input| input.is_asked_for());
    let provide = |input: &EnvironmentInput| Provided {
        source: input.source,
        name: input.name.clone(),
        bytes: input.bytes.clone(),
        pointers: input.pointers.iter().map(|(at, target)| (*at, lead(target))).collect(),
    };
    asked.map(provide).collect()
}
