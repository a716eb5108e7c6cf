//! Heaps that functions of the program construct: hash tables with consistent buckets, lists with a correct length.
//!
//! The symbolic search creates objects of any shape, and few of them are reachable states. Here functions that return
//! such an object, or modify one that is passed to them, are run with random arguments; the memory that they leave
//! becomes the input of tests. A test lists all of it as data: it needs no constructor.
//!
//! Deliberately not here: objects with contents that cannot be written down (addresses as integers, parts of pointers,
//! structures that end in arrays of any length).

use crate::inputs::object_api::{pointed_structure, received_structure};
use crate::vary::candidate::CandidateInputs;
use crate::vary::heap_snapshot::snapshot;
use crate::vary::mutation::InputMutator;
use crate::vary::mutation_search::MutationSearch;
use std::collections::BTreeSet;
use std::rc::Rc;
use touchstone_base::Deadline;
use touchstone_criteria::{NamedValue, ObjectInput, ObjectOrigin, TestKind};
use touchstone_interp::{End, Limits, Machine, NullObserver, ObjectKind, Value};
use touchstone_ir::{DataType, DataTypeId, DataValue, FuncId, Module, Param, PointerTarget, mask};

/// The maximum numbers of objects of one type, of attempts, and of modifying calls per object.
const MAX_HEAPS: usize = 48;
const MAX_ATTEMPTS: usize = 1000;
const MAX_CALLS: usize = 5;
/// The maximum depth to which arguments are constructed by calls.
const MAX_CONSTRUCTOR_DEPTH: usize = 2;
/// The maximum size of an object in bytes.
const MAX_OBJECT_BYTES: usize = 1 << 16;
/// Usual keys and strings: few, so that some are equal.
const WORDS: &[&str] = &["a", "b", "ab", "key", "", "a.b", "1"];

/// The objects that a constructor left; the first one was asked for.
struct Heap {
    objects: Vec<ObjectInput>,
}

impl<'a> MutationSearch<'a, '_> {
    /// Returns inputs with objects that the program constructed.
    pub(super) fn constructed_inputs(
        &self,
        changes: &mut InputMutator<'a>,
        deadline: Deadline,
    ) -> Vec<CandidateInputs> {
        let module = self.module();
        let params = module.functions[self.func].own_params();
        let writable =
            params.iter().all(|param| !param.aggregate && !matches!(module.types[param.data], DataType::Array { .. }));
        if !writable || self.zeros().is_none() {
            return Vec::new();
        }
        let base = Machine::new(module, Limits { steps: 50_000, frames: 100, heap_bytes: 1 << 22 });
        let (mut all, mut known): (Vec<CandidateInputs>, Vec<(DataTypeId, Vec<Heap>)>) = (Vec::new(), Vec::new());
        for param in params {
            let Some(wanted) = structure(module, param.data) else { continue };
            if known.iter().any(|(data, _)| *data == wanted) {
                continue;
            }
            let mut maker = HeapConstructor::new(module, changes, wanted);
            if maker.makers.is_empty() && maker.changers.is_empty() {
                continue;
            }
            known.push((wanted, maker.heaps(&base, deadline)));
        }
        if known.iter().all(|(_, heaps)| heaps.is_empty()) {
            return all;
        }
        for _ in 0..4 * MAX_HEAPS {
            all.extend(self.call_with_heaps(&known, changes));
        }
        all
    }

    /// Returns a call on such objects.
    fn call_with_heaps(
        &self,
        known: &[(DataTypeId, Vec<Heap>)],
        changes: &mut InputMutator<'_>,
    ) -> Option<CandidateInputs> {
        let module = self.module();
        let (mut params, mut objects): (Vec<NamedValue>, Vec<ObjectInput>) = (Vec::new(), Vec::new());
        let mut roots: Vec<(DataTypeId, usize)> = Vec::new();
        for param in module.functions[self.func].own_params() {
            let value = match &module.types[param.data] {
                DataType::Pointer { pointee, .. } => {
                    let root = roots.iter().find(|(data, _)| data == pointee).map(|(_, at)| *at);
                    let heaps = known.iter().find(|(data, _)| data == pointee).map(|(_, heaps)| heaps);
                    match (root, heaps.and_then(|heaps| changes.chance.of(heaps))) {
                        (Some(at), _) if changes.chance.one_in(3) => object_at(at),
                        (_, Some(heap)) => {
                            let at = add(&mut objects, heap, &param.name);
                            roots.push((*pointee, at));
                            object_at(at)
                        }
                        (_, None) if is_character(module, *pointee) => {
                            let values = word(changes).into_iter().map(|byte| DataValue::Int(byte.into()));
                            let name = free_name(&objects, &param.name);
                            let values: Vec<DataValue> = values.chain([DataValue::Int(0)]).collect();
                            objects.push(ObjectInput {
                                name,
                                element: *pointee,
                                values,
                                is_array: true,
                                on_heap: false,
                                origin: ObjectOrigin::Values,
                            });
                            object_at(objects.len() - 1)
                        }
                        (_, None) => changes.target(&param.name, *pointee, &mut objects),
                    }
                }
                _ => {
                    let mut value = DataValue::zero(&module.types, param.data)?;
                    if !changes.chance.one_in(3) {
                        changes.mutate_number(param.data, &mut value);
                    }
                    if let (DataType::Int { bits, .. }, DataValue::Int(number)) =
                        (&module.types[param.data], &mut value)
                        && changes.chance.one_in(2)
                    {
                        *number = mask(changes.chance.below(5) as u64, *bits);
                    }
                    value
                }
            };
            params.push(NamedValue { name: param.name.clone(), data: param.data, value });
        }
        let kind = TestKind::Function { earlier: Vec::new(), params, globals: Vec::new(), objects };
        Some(CandidateInputs { kind, answers: Vec::new(), compared: Rc::from([]), asked: Rc::from([]) })
    }
}

fn object_at(object: usize) -> DataValue {
    DataValue::Pointer(PointerTarget::Object { object, offset: 0 })
}

/// Appends a heap to other objects; returns the index of its first object.
fn add(objects: &mut Vec<ObjectInput>, heap: &Heap, name: &str) -> usize {
    let first = objects.len();
    for object in &heap.objects {
        let mut object = object.clone();
        object.name = free_name(objects, &object.name.replacen("root", name, 1));
        object.values.iter_mut().for_each(|value| shift(value, first));
        objects.push(object);
    }
    first
}

fn free_name(objects: &[ObjectInput], wanted: &str) -> String {
    let taken = |name: &String| objects.iter().any(|object| object.name == *name);
    let wanted = if wanted.is_empty() { "value" } else { wanted };
    let mut names = std::iter::once(wanted.to_string()).chain((2..).map(|number| format!("{wanted}_{number}")));
    names.find(|name| !taken(name)).unwrap_or_default()
}

fn shift(value: &mut DataValue, by: usize) {
    match value {
        DataValue::Pointer(PointerTarget::Object { object, .. }) => *object += by,
        DataValue::Array(values) | DataValue::Struct(values) => values.iter_mut().for_each(|value| shift(value, by)),
        DataValue::Member(_, value) => shift(value, by),
        DataValue::Pointer(_) | DataValue::Int(_) | DataValue::Undefined => {}
    }
}

/// Returns the structure that a pointer points to.
fn structure(module: &Module, data: DataTypeId) -> Option<DataTypeId> {
    let DataType::Pointer { pointee, .. } = module.types[data] else { return None };
    matches!(module.types[pointee], DataType::Struct { size: 1.., .. }).then_some(pointee)
}

fn is_character(module: &Module, data: DataTypeId) -> bool {
    matches!(module.types[data], DataType::Int { bits: 8, .. })
}

fn word(changes: &mut InputMutator<'_>) -> Vec<u8> {
    let known = changes.strings().filter(|text| text.len() < 16).map(<[u8]>::to_vec).collect::<Vec<_>>();
    match changes.chance.of(&known) {
        Some(text) if changes.chance.one_in(4) => text.clone(),
        _ => changes.chance.of(WORDS).map_or(Vec::new(), |word| word.as_bytes().to_vec()),
    }
}

/// Constructs objects of one type by calls.
struct HeapConstructor<'c, 'm> {
    module: &'m Module,
    changes: &'c mut InputMutator<'m>,
    wanted: DataTypeId,
    makers: Vec<FuncId>,
    changers: Vec<FuncId>,
}

impl<'c, 'm> HeapConstructor<'c, 'm> {
    fn new(module: &'m Module, changes: &'c mut InputMutator<'m>, wanted: DataTypeId) -> HeapConstructor<'c, 'm> {
        let makers = makers(module, wanted);
        let changers = changers(module, wanted);
        HeapConstructor { module, changes, wanted, makers, changers }
    }

    fn heaps(&mut self, base: &Machine<'m>, deadline: Deadline) -> Vec<Heap> {
        let mut all: Vec<Heap> = Vec::new();
        for _ in 0..MAX_ATTEMPTS {
            if all.len() >= MAX_HEAPS || deadline.is_over() {
                break;
            }
            let Some(objects) = self.one(base.clone()) else { continue };
            if !all.iter().any(|heap| heap.objects == objects) {
                all.push(Heap { objects });
            }
        }
        all
    }

    /// Constructs one object and modifies it by a few calls.
    fn one(&mut self, mut machine: Machine<'m>) -> Option<Vec<ObjectInput>> {
        let root = self.object(&mut machine, self.wanted, 0)?;
        let Value::Ptr(pointer) = root else { return None };
        if !machine.requested_inputs().is_empty() {
            return None;
        }
        let mut made = snapshot(self.module, &machine, root, self.wanted);
        for _ in 0..self.changes.chance.below(MAX_CALLS) {
            let Some(&func) = self.changes.chance.of(&self.changers) else { break };
            let called = self.call(&mut machine, func, Some((self.wanted, root)), 0);
            // A call that frees the object or fails does not count.
            if called.is_none() || !machine.object(pointer.object).alive {
                break;
            }
            // Nor does one that requested inputs: the test would have to answer the same.
            if !machine.requested_inputs().is_empty() {
                break;
            }
            made = snapshot(self.module, &machine, root, self.wanted).or(made);
        }
        made
    }

    /// Creates an object of a type: the result of a constructor, or zeros.
    fn object(&mut self, machine: &mut Machine<'m>, data: DataTypeId, depth: usize) -> Option<Value> {
        let makers = if data == self.wanted { self.makers.clone() } else { makers(self.module, data) };
        if let Some(&func) = self.changes.chance.of(&makers).filter(|_| depth <= MAX_CONSTRUCTOR_DEPTH) {
            let made = self.call(machine, func, None, depth + 1)?;
            return matches!(made, Some(Value::Ptr(_))).then_some(made?);
        }
        zeros(machine, self.module.types[data].size(&self.module.types), ObjectKind::Heap)
    }

    /// Calls a function; `None` if it does not return.
    fn call(
        &mut self,
        machine: &mut Machine<'m>,
        func: FuncId,
        passed: Option<(DataTypeId, Value)>,
        depth: usize,
    ) -> Option<Option<Value>> {
        let function = &self.module.functions[func];
        let mut args = Vec::new();
        let mut given = passed;
        let mut result = None;
        if function.aggregate_result {
            let size = self.module.types[function.result_data].size(&self.module.types);
            result = Some(zeros(machine, size, ObjectKind::Heap)?);
            args.extend(result);
        }
        for param in function.own_params() {
            let fits = |(data, _): &(DataTypeId, Value)| structure(self.module, param.data) == Some(*data);
            args.push(match given.take_if(|given| fits(given)) {
                Some((_, value)) => value,
                None => self.argument(machine, param, depth)?,
            });
        }
        match machine.call(func, &args, &mut NullObserver) {
            End::Returned(value) => Some(result.or(value)),
            _ => None,
        }
    }

    fn argument(&mut self, machine: &mut Machine<'m>, param: &Param, depth: usize) -> Option<Value> {
        let module = self.module;
        let size = module.types[param.data].size(&module.types);
        if param.aggregate {
            return zeros(machine, size, ObjectKind::Input);
        }
        let pointee = match &module.types[param.data] {
            DataType::Pointer { pointee, .. } => *pointee,
            DataType::Array { element, .. } => *element,
            DataType::Float { .. } => return Some(Value::Int([0, 1.0f64.to_bits()][self.changes.chance.below(2)])),
            _ => {
                let few = [0, 1, 2, 3, 4, 8, 16, 64];
                let number = few[self.changes.chance.below(few.len())];
                return Some(Value::Int(mask(number, (8 * size.clamp(1, 8)) as u8)));
            }
        };
        let standing = module.globals.iter().filter(|(_, global)| global.data == pointee && global.function.is_some());
        let functions: Vec<_> = standing.map(|(id, _)| id).collect();
        if let Some(&id) = self.changes.chance.of(&functions) {
            return Some(Value::ptr(machine.global_object(id), 0));
        }
        if is_character(module, pointee) {
            let mut text = word(self.changes);
            text.push(0);
            let object = machine.alloc(text.len() as u64, "made", ObjectKind::Heap);
            machine.write_bytes(object, 0, &text).ok()?;
            return Some(Value::ptr(object, 0));
        }
        if structure(module, param.data).is_some() && depth < MAX_CONSTRUCTOR_DEPTH && !self.changes.chance.one_in(8) {
            return self.object(machine, pointee, depth + 1);
        }
        if self.changes.chance.one_in(3) {
            return Some(Value::NULL);
        }
        let element = module.pointee(pointee).element;
        zeros(machine, 2 * module.types[element].size(&module.types).clamp(8, 256), ObjectKind::Heap)
    }
}

/// Allocates an object of zeros, unless it is too large.
fn zeros(machine: &mut Machine<'_>, size: u64, kind: ObjectKind) -> Option<Value> {
    let bytes = vec![0; usize::try_from(size).ok().filter(|size| *size <= MAX_OBJECT_BYTES)?];
    let object = machine.alloc(size, "made", kind);
    machine.write_bytes(object, 0, &bytes).ok()?;
    Some(Value::ptr(object, 0))
}

/// Returns all functions that may be run to construct objects for calls of a function: those that construct or modify
/// its arguments, and the arguments of those.
pub fn heap_constructors(module: &Module, func: FuncId) -> BTreeSet<FuncId> {
    let taken = |func: FuncId| {
        let params = module.functions[func].own_params().iter();
        params.filter_map(|param| pointed_structure(module, param.data)).collect::<Vec<_>>()
    };
    let concerns = |func: FuncId, data: DataTypeId| {
        let function = &module.functions[func];
        let result = function.result_data;
        let value = function.aggregate_result.then(|| module.pointee(result).same);
        let stored = |param: &Param| received_structure(module, param.data) == Some(data);
        value.or_else(|| pointed_structure(module, result)) == Some(data)
            || taken(func).contains(&data)
            || function.params.iter().any(stored)
    };
    let (mut found, mut known) = (BTreeSet::new(), BTreeSet::new());
    let mut pending = taken(func);
    while let Some(data) = pending.pop() {
        if known.insert(data) {
            let own = callable(module).filter(|func| concerns(*func, data));
            pending.extend(own.filter(|func| found.insert(*func)).flat_map(taken));
        }
    }
    found
}

/// Returns the functions of the program that can be called without preparation.
fn callable(module: &Module) -> impl Iterator<Item = FuncId> + '_ {
    module.functions.ids().filter(|id| {
        let function = &module.functions[*id];
        function.is_defined() && !function.is_library() && !function.variadic
    })
}

/// Returns the functions that return such an object, or its address.
fn makers(module: &Module, data: DataTypeId) -> Vec<FuncId> {
    let makes = |id: &FuncId| match &module.functions[*id] {
        function if function.aggregate_result => function.result_data == data,
        function => structure(module, function.result_data) == Some(data),
    };
    callable(module).filter(makes).collect()
}

/// Returns the functions that may modify such an object.
fn changers(module: &Module, data: DataTypeId) -> Vec<FuncId> {
    let changes = |param: &Param| matches!(module.types[param.data], DataType::Pointer { pointee, to_const: false } if pointee == data);
    callable(module).filter(|id| module.functions[*id].params.iter().any(changes)).collect()
}
