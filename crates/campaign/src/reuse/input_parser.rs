//! Parses the inputs of tests in a document, for the current program, so that tests of an earlier run can be run again.
//!
//! Documents are written for people and omit details. Therefore inputs are accepted only if they print the same again
//! with the current types. Deliberately not here: earlier calls of a test, results of external functions, and whether
//! the inputs still have a meaning (a run decides that).

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use touchstone_base::float::Format;
use touchstone_criteria::{
    Expected, HeapOrigin, NamedValue, ObjectInput, ObjectOrigin, Outcome, Replay, TestCase, TestKind,
};
use touchstone_ir::{
    DataType, DataTypeId, DataValue, Field, FuncId, GlobalId, Module, PointerTarget, StructKind, TaggedVariant, mask,
};
use touchstone_report::document::{Json, Test};

/// Parses the inputs of a test, or returns `None` if the function does not accept them.
pub(crate) fn inputs(module: &Module, func: FuncId, test: &Test) -> Option<TestKind> {
    let kind = InputParser::new(module, test).read(func)?;
    let again = test_with(module, func, kind);
    let same = test.earlier.is_empty() && touchstone_report::test_inputs(&again, module) == test.given();
    same.then_some(again.kind)
}

/// The state of parsing: objects of the document by name.
struct InputParser<'m> {
    module: &'m Module,
    members: Map<String, Value>,
    /// Name, value and, once a pointer to it has been parsed, the type of one element.
    objects: Vec<(String, Value, Option<DataTypeId>)>,
    numbers: BTreeMap<String, usize>,
    /// Objects with a known type and unparsed values.
    found: Vec<usize>,
}

impl<'m> InputParser<'m> {
    fn new(module: &'m Module, test: &Test) -> InputParser<'m> {
        let members = Json::members(&test.inputs);
        InputParser { module, members, objects: Vec::new(), numbers: BTreeMap::new(), found: Vec::new() }
    }

    fn read(mut self, func: FuncId) -> Option<TestKind> {
        let function = &self.module.functions[func];
        let mut members = std::mem::take(&mut self.members).into_iter().collect::<Vec<(String, Value)>>();
        if members.len() < function.own_params().len() {
            return None;
        }
        let mut others = members.split_off(function.own_params().len());
        // Arrays in the position of a parameter are objects, too.
        for (param, (_, value)) in function.own_params().iter().zip(&members) {
            if let (DataType::Array { element, .. }, Value::Array(_)) = (&self.module.types[param.data], value) {
                self.add(param.name.clone(), value.clone(), Some(*element));
            }
        }
        let inline = self.objects.len();
        if let Some(at) = others.iter().position(|(name, _)| name == "objects") {
            let Value::Object(all) = others.remove(at).1 else { return None };
            all.into_iter().for_each(|(name, value)| self.add(name, value, None));
        }
        let mut params = Vec::new();
        for (param, (_, value)) in function.own_params().iter().zip(members) {
            let value = match self.numbers.get(&param.name) {
                Some(object) if value.is_array() && *object < inline => {
                    DataValue::Pointer(PointerTarget::Object { object: *object, offset: 0 })
                }
                _ => self.value(param.data, &value)?,
            };
            params.push(NamedValue { name: param.name.clone(), data: param.data, value });
        }
        let mut globals = Vec::new();
        for (name, value) in others {
            let id = self.global(&name)?;
            let data = self.module.globals[id].data;
            globals.push(NamedValue { name, data, value: self.value(data, &value)? });
        }
        let mut values: BTreeMap<usize, Vec<DataValue>> = BTreeMap::new();
        while let Some(object) = self.found.pop() {
            let (_, value, element) = self.objects.get(object)?.clone();
            let read = match &value {
                Value::Array(all) => all.iter().map(|value| self.value(element?, value)).collect::<Option<Vec<_>>>()?,
                value => vec![self.value(element?, value)?],
            };
            values.insert(object, read);
        }
        let mut objects = Vec::new();
        for (index, (name, value, element)) in self.objects.into_iter().enumerate() {
            objects.push(ObjectInput {
                name,
                element: element?,
                values: values.remove(&index)?,
                is_array: value.is_array(),
                on_heap: false,
                origin: ObjectOrigin::Values,
            });
        }
        Some(TestKind::Function { earlier: Vec::new(), params, globals, objects })
    }

    fn add(&mut self, name: String, value: Value, element: Option<DataTypeId>) {
        self.numbers.insert(name.clone(), self.objects.len());
        if element.is_some() {
            self.found.push(self.objects.len());
        }
        self.objects.push((name, value, element));
    }

    fn global(&self, name: &str) -> Option<GlobalId> {
        let is_variable = |id: &GlobalId| {
            let global = &self.module.globals[*id];
            global.name == name && !global.constant && global.function.is_none()
        };
        self.module.globals.ids().find(is_variable)
    }

    fn value(&mut self, data: DataTypeId, value: &Value) -> Option<DataValue> {
        let module = self.module;
        if value.get("undefined").is_some() {
            return Some(DataValue::Undefined);
        }
        match (&module.types[data], value) {
            (DataType::Bool { .. }, Value::Bool(truth)) => Some(DataValue::Int(u64::from(*truth))),
            (DataType::Int { bits, .. } | DataType::Enum { bits, .. } | DataType::Bits { width: bits, .. }, value) => {
                let number = value.as_i64().map(|number| number as u64).or_else(|| value.as_u64())?;
                Some(DataValue::Int(mask(number, *bits)))
            }
            (DataType::Float { format, .. }, value) => {
                let number = match value {
                    Value::String(text) => text.parse().ok()?,
                    value => value.as_f64()?,
                };
                match format {
                    Format::F32 => Some(DataValue::Int(u64::from((number as f32).to_bits()))),
                    Format::F64 => Some(DataValue::Int(number.to_bits())),
                }
            }
            (DataType::Pointer { pointee, .. }, value) => self.pointer(*pointee, value).map(DataValue::Pointer),
            (DataType::Array { element, .. }, Value::Array(all)) => {
                let all: Option<Vec<DataValue>> = all.iter().map(|value| self.value(*element, value)).collect();
                Some(DataValue::Array(all?))
            }
            (DataType::Struct { kind: StructKind::Halves, .. }, _) => None,
            (DataType::Struct { fields, .. }, Value::Object(all)) if all.len() == fields.len() => {
                let all: Option<Vec<DataValue>> =
                    fields.iter().zip(all).map(|(field, (_, value))| self.value(field.ty, value)).collect();
                Some(DataValue::Struct(all?))
            }
            (DataType::Union { members, .. }, Value::Object(all)) => {
                let (name, value) = all.iter().next()?;
                let index = members.iter().position(|member| member.name == *name)?;
                Some(DataValue::Member(index, Box::new(self.value(members[index].ty, value)?)))
            }
            _ => None,
        }
    }

    fn pointer(&mut self, pointee: DataTypeId, value: &Value) -> Option<PointerTarget> {
        if value.is_null() {
            return Some(PointerTarget::Null);
        }
        let offset = || value.get("offset")?.as_i64();
        if let Some(name) = value.get("object").and_then(Value::as_str) {
            let object = *self.numbers.get(name)?;
            if self.objects[object].2.is_none() {
                self.objects[object].2 = Some(self.element(pointee, &self.objects[object].1)?);
                self.found.push(object);
            }
            return Some(PointerTarget::Object { object, offset: offset()? });
        }
        if let Some(name) = value.get("global").and_then(Value::as_str) {
            self.module.globals.values().any(|global| global.name == name).then_some(())?;
            return Some(PointerTarget::Global { name: name.to_string(), offset: offset()? });
        }
        let name = value.get("function")?.as_str()?;
        self.module.function_named(name)?;
        Some(PointerTarget::Function(name.to_string()))
    }

    /// Returns the element type of an object from a pointer to it.
    fn element(&self, pointee: DataTypeId, value: &Value) -> Option<DataTypeId> {
        let types = &self.module.types;
        let DataType::OneOf { tag, variants, .. } = &types[pointee] else { return Some(pointee) };
        let is_it = |variant: &&TaggedVariant| {
            let DataType::Struct { fields, .. } = &types[variant.ty] else { return false };
            let said = |field: &&Field| field.offset == tag.offset;
            let said = fields.iter().find(said).and_then(|field| value.get(&field.name)?.as_u64());
            said == Some(variant.tag)
        };
        variants.iter().find(is_it).map(|variant| variant.ty)
    }
}

/// Returns a test of which only the inputs are known.
pub(crate) fn test_with(module: &Module, func: FuncId, kind: TestKind) -> TestCase {
    TestCase {
        id: String::new(),
        function: module.functions[func].name.clone(),
        kind,
        answers: Vec::new(),
        outcome: Outcome::Returned,
        expected: Expected::default(),
        oracle: None,
        description: String::new(),
        path: 0,
        covers: Vec::new(),
        heap: HeapOrigin::Made,
        needs_initial_state: false,
        older: None,
        replayed: Replay::NotRun,
    }
}
