//! Tests of a driver and tests that make its calls: each is converted into the other.

use crate::inputs::object_api::Creation;
use crate::sequences::call_sequence::{ConstructedObject, Sequence, SequenceCall};
use std::collections::BTreeSet;
use touchstone_criteria::{
    EarlierCall, EnvironmentInput, NamedValue, ObjectCreation, ObjectInput, ObjectOrigin, TestCase, TestKind,
};
use touchstone_ir::{DataType, DataValue, PointerTarget, mask};

impl Sequence {
    /// Converts a test of the driver into one that makes the calls. Expected values and coverage are still the
    /// driver's.
    pub fn test(&self, test: &TestCase) -> TestCase {
        let TestKind::Function { params, globals, objects, .. } = &test.kind else { return test.clone() };
        let mut params = params.iter();
        let mut earlier = Vec::new();
        for (index, object) in self.objects.iter().enumerate() {
            let mut own = self.given(&object.creator, objects.len(), &mut params);
            if let Creation::Stores(param) = object.creation
                && let Some(receiver) = own.get_mut(param)
            {
                // Receivers follow the objects.
                let target = PointerTarget::Object { object: objects.len() + self.objects.len() + index, offset: 0 };
                receiver.value = DataValue::Pointer(target);
            }
            earlier.push(self.call(&object.creator, own));
        }
        for _ in 0..self.earlier {
            let chosen = match self.ways.len() {
                1 if !self.optional => Some(0),
                _ => params.next().and_then(|number| self.chosen(&number.value)),
            };
            let own: Vec<Vec<NamedValue>> =
                self.ways.iter().map(|way| self.given(way, objects.len(), &mut params)).collect();
            let chosen = chosen.and_then(|chosen| Some((self.ways.get(chosen)?, own.into_iter().nth(chosen)?)));
            earlier.extend(chosen.map(|(way, own)| self.call(way, own)));
        }
        let params = self.given(&self.last, objects.len(), &mut params);
        let mut made = TestParts { earlier, params, globals: globals.clone(), answers: test.answers.clone() };
        let constructed = self.objects.iter().enumerate().map(|(index, object)| self.object_input(index, object));
        let receivers = self.objects.iter().map(|object| self.receiver(object));
        let objects: Vec<ObjectInput> = objects.iter().cloned().chain(constructed).chain(receivers).collect();
        let mut objects = made.keep_used(&objects);
        self.rename(&mut objects);
        let TestParts { earlier, params, globals, answers } = made;
        TestCase {
            function: self.module.functions[self.last.func].name.clone(),
            kind: TestKind::Function { earlier, params, globals, objects },
            answers,
            needs_initial_state: self.uses_variables,
            ..test.clone()
        }
    }

    fn call(&self, call: &SequenceCall, params: Vec<NamedValue>) -> EarlierCall {
        EarlierCall { function: self.module.functions[call.func].name.clone(), params, result: None }
    }

    /// Returns a constructed object as one of the test. A run has yet to observe its contents.
    fn object_input(&self, index: usize, object: &ConstructedObject) -> ObjectInput {
        let creation = match object.creation {
            Creation::Returns => ObjectCreation::Returned(index),
            Creation::Initialises => ObjectCreation::Initialised,
            Creation::Stores(param) => ObjectCreation::Stored { call: index, param },
        };
        let released_by = object.release.map(|func| self.module.functions[func].name.clone());
        let origin = ObjectOrigin::Constructed { creation, released_by };
        let zero = DataValue::zero(&self.module.types, object.element).unwrap_or(DataValue::Undefined);
        ObjectInput {
            name: object.name.clone(),
            element: object.element,
            values: vec![zero],
            is_array: false,
            on_heap: false,
            origin,
        }
    }

    /// Returns the pointer variable in which a call may store the address of an object. Only such calls use it.
    fn receiver(&self, object: &ConstructedObject) -> ObjectInput {
        let params = self.module.functions[object.creator.func].own_params();
        let element = match object.creation {
            Creation::Stores(param) => match self.module.types[params[param].data] {
                DataType::Pointer { pointee, .. } => pointee,
                _ => object.element,
            },
            Creation::Returns | Creation::Initialises => object.element,
        };
        ObjectInput {
            name: object.name.clone(),
            element,
            values: vec![DataValue::Pointer(PointerTarget::Null)],
            is_array: false,
            on_heap: false,
            origin: ObjectOrigin::Receiver,
        }
    }

    /// Names objects after the parameters of the functions instead of those of the driver.
    fn rename(&self, objects: &mut [ObjectInput]) {
        if self.objects.is_empty() {
            return;
        }
        let mut taken: BTreeSet<String> = self.objects.iter().map(|object| object.name.clone()).collect();
        for object in objects.iter_mut().filter(|object| object.origin == ObjectOrigin::Values) {
            let named = self.names.iter().filter_map(|(_, own, name)| {
                let rest = object.name.strip_prefix(name.as_str())?;
                (rest.is_empty() || rest.starts_with('_')).then_some((name.len(), own, rest))
            });
            let wanted = match named.max_by_key(|(length, ..)| *length) {
                // A mutation numbers the objects that it adds.
                Some((_, own, rest)) if rest.trim_start_matches('_').bytes().all(|byte| byte.is_ascii_digit()) => {
                    own.clone()
                }
                Some((_, own, rest)) => format!("{own}{rest}"),
                None => object.name.clone(),
            };
            let numbered = (2..).map(|number| format!("{wanted}_{number}"));
            let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| !taken.contains(name));
            object.name = free.unwrap_or(wanted);
            taken.insert(object.name.clone());
        }
    }

    /// Returns the index of the function that a value selects, or `None` if the call is left out.
    fn chosen(&self, value: &DataValue) -> Option<usize> {
        let number = if let DataValue::Int(number) = value { *number as usize } else { 0 };
        match self.optional {
            true => (number % (self.ways.len() + 1)).checked_sub(1),
            false => Some(if number < self.ways.len() { number } else { 0 }),
        }
    }

    /// Takes the next values as those of a function's own parameters. Constructed objects follow `inputs` others.
    fn given<'t>(
        &self,
        call: &SequenceCall,
        inputs: usize,
        values: &mut impl Iterator<Item = &'t NamedValue>,
    ) -> Vec<NamedValue> {
        let mut all = Vec::new();
        for (index, param) in self.module.functions[call.func].own_params().iter().enumerate() {
            let (data, name) = (param.data, param.name.clone());
            if let Some(object) = call.object(index) {
                let target = PointerTarget::Object { object: inputs + object, offset: 0 };
                all.push(NamedValue { name, data, value: DataValue::Pointer(target) });
            } else if let Some(value) = values.next() {
                all.push(NamedValue { name, ..value.clone() });
            }
        }
        all
    }

    /// Returns inputs of the driver that pass the same arguments to the last call as a test of its function, or zeros if
    /// there is none; `number` is every integer that a creator takes. Returns `None` if a parameter needs an object.
    pub fn seed(&self, test: Option<&TestCase>, number: u64) -> Option<TestKind> {
        let types = &self.module.types;
        let all = self.module.functions[self.driver].own_params();
        let mut params = Vec::new();
        for param in all {
            let value =
                DataValue::zero(types, param.data).filter(|_| !matches!(types[param.data], DataType::Array { .. }));
            params.push(NamedValue { name: param.name.clone(), data: param.data, value: value? });
        }
        let unbound = |call: &SequenceCall| {
            let own = self.module.functions[call.func].own_params().len();
            (0..own).filter(|index| call.object(*index).is_none()).collect::<Vec<usize>>()
        };
        let creating: usize = self.objects.iter().map(|object| unbound(&object.creator).len()).sum();
        for param in params.iter_mut().take(creating) {
            if let (DataType::Int { bits, .. }, DataValue::Int(value)) = (&types[param.data], &mut param.value) {
                *value = mask(number, *bits);
            }
        }
        let mut inputs = Vec::new();
        if let Some(TestKind::Function { params: own, objects, .. }) = test.map(|test| &test.kind) {
            let last = unbound(&self.last);
            let first = params.len().checked_sub(last.len())?;
            for (param, index) in params[first..].iter_mut().zip(last) {
                param.value = own.get(index)?.value.clone();
            }
            let mut parts = TestParts { earlier: Vec::new(), params, globals: Vec::new(), answers: Vec::new() };
            inputs = parts.keep_used(objects);
            params = parts.params;
        }
        Some(TestKind::Function { earlier: Vec::new(), params, globals: Vec::new(), objects: inputs })
    }

    /// Returns a test without one of the calls that change objects; `None` if it has fewer.
    pub fn without_change(&self, test: &TestCase, index: usize) -> Option<TestCase> {
        let TestKind::Function { earlier, params, globals, objects } = &test.kind else { return None };
        let mut earlier = earlier.clone();
        let call = self.objects.len() + index;
        if call >= earlier.len() {
            return None;
        }
        earlier.remove(call);
        let (params, globals, answers) = (params.clone(), globals.clone(), test.answers.clone());
        let mut parts = TestParts { earlier, params, globals, answers };
        let objects = parts.keep_used(objects);
        let TestParts { earlier, params, globals, answers } = parts;
        Some(TestCase { kind: TestKind::Function { earlier, params, globals, objects }, answers, ..test.clone() })
    }
}

/// The parts of a test that point to its objects.
struct TestParts {
    earlier: Vec<EarlierCall>,
    params: Vec<NamedValue>,
    globals: Vec<NamedValue>,
    answers: Vec<EnvironmentInput>,
}

impl TestParts {
    /// Returns the reachable objects: those of functions that were not selected are dropped.
    fn keep_used(&mut self, objects: &[ObjectInput]) -> Vec<ObjectInput> {
        let mut used = BTreeSet::new();
        let mut open = Vec::new();
        let params = self.earlier.iter().flat_map(|call| &call.params).chain(&self.params);
        params.chain(&self.globals).for_each(|input| add_pointees(&input.value, &mut open));
        for (_, target) in self.answers.iter().flat_map(|answer| &answer.pointers) {
            add_pointees(&DataValue::Pointer(target.clone()), &mut open);
        }
        while let Some(object) = open.pop() {
            if used.insert(object)
                && let Some(object) = objects.get(object)
            {
                object.values.iter().for_each(|value| add_pointees(value, &mut open));
            }
        }
        let kept: Vec<usize> = used.into_iter().filter(|index| *index < objects.len()).collect();
        let mut objects: Vec<ObjectInput> = kept.iter().map(|index| objects[*index].clone()).collect();
        let earlier = self.earlier.iter_mut().flat_map(|call| &mut call.params);
        for input in earlier.chain(&mut self.params).chain(&mut self.globals) {
            renumber_pointees(&mut input.value, &kept);
        }
        objects.iter_mut().flat_map(|object| &mut object.values).for_each(|value| renumber_pointees(value, &kept));
        for (_, target) in self.answers.iter_mut().flat_map(|answer| &mut answer.pointers) {
            renumber_target(target, &kept);
        }
        objects
    }
}

fn add_pointees(value: &DataValue, found: &mut Vec<usize>) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => found.push(*object),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter().for_each(|value| add_pointees(value, found))
        }
        DataValue::Member(_, value) => add_pointees(value, found),
        DataValue::Pointer(_) | DataValue::Int(_) | DataValue::Undefined => {}
    }
}

fn renumber_pointees(value: &mut DataValue, kept: &[usize]) {
    match value {
        DataValue::Pointer(target) => renumber_target(target, kept),
        DataValue::Array(values) | DataValue::Struct(values) => {
            values.iter_mut().for_each(|value| renumber_pointees(value, kept));
        }
        DataValue::Member(_, value) => renumber_pointees(value, kept),
        DataValue::Int(_) | DataValue::Undefined => {}
    }
}

fn renumber_target(target: &mut PointerTarget, kept: &[usize]) {
    if let PointerTarget::Object { object, .. } = target
        && let Ok(place) = kept.binary_search(object)
    {
        *object = place;
    }
}
