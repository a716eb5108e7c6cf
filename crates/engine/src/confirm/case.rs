//! A path as a case of its function, in readable form: the inputs for which it is taken, its result and its effects, as
//! expressions over named inputs.
//!
//! Deliberately not here: output, and the contents of objects that the function allocates.

use crate::exec::executor::Executor;
use crate::state::memory::{Assembled, Cell, Contents, assemble, global_object};
use crate::state::value::{LazyPointerId, ObjectId, Scalar, Value};
use crate::state::{PathEnd, State};
use touchstone_ir::{DataType, DataTypeId, FuncId, Ty, sign_extend};
use touchstone_solver::{Signedness, Term};

/// The maximum number of parts of one object that are compared.
const MAX_PARTS_PER_OBJECT: usize = 256;

/// A case of a function.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SummaryCase {
    /// The path condition, as a conjunction.
    pub when: Vec<String>,
    /// The result; `None` if there is none, or if the path does not return.
    pub returns: Option<String>,
    /// The end of the path, if it does not return.
    pub ends: Option<String>,
    /// The changed variables, with their new values.
    pub changes: Vec<(String, String)>,
}

/// The type of a number.
#[derive(Clone, Copy)]
struct ScalarType {
    signed: bool,
    bits: u8,
}

/// The type of an address as a number.
const ADDRESS: ScalarType = ScalarType { signed: false, bits: 64 };

fn bits(ty: Ty) -> u8 {
    if let Ty::Int(bits) = ty { bits } else { 64 }
}

/// A part of an object: its name, offset and type.
struct Part {
    name: String,
    offset: u64,
    data: DataTypeId,
}

impl Executor<'_> {
    /// Renders an ended path as a case.
    pub(crate) fn case(&mut self, state: &State, func: FuncId, end: &PathEnd) -> SummaryCase {
        let types = self.signedness(state);
        let mut when = self.pointer_conditions(state, &types);
        for term in state.path.constraints() {
            let text = self.terms.infix(term, &types);
            if !when.contains(&text) {
                when.push(text);
            }
        }
        let function = &self.module.functions[func];
        let result =
            ScalarType { signed: self.is_signed(function.result_data), bits: function.result.map_or(64, bits) };
        let int = ScalarType { signed: true, bits: 32 };
        let (returns, ends) = match end {
            PathEnd::Returned(value) => (value.as_ref().map(|value| self.render(state, value, result, &types)), None),
            PathEnd::Exited(value) => (None, Some(format!("exits with {}", self.render(state, value, int, &types)))),
            PathEnd::Hung => (None, Some("stays in a loop".to_string())),
            PathEnd::Threw { class } => (None, Some(format!("throws {}", self.module.class_name(*class)))),
            PathEnd::Error { kind, span } => (None, Some(format!("{kind} at {}", span.display(&self.module.files)))),
            PathEnd::Assumed | PathEnd::ExceedsCriterion | PathEnd::Incomplete { .. } => {
                (None, Some("not explored".to_string()))
            }
        };
        SummaryCase { when, returns, ends, changes: self.changes(state, &types) }
    }

    /// Returns the signedness of the inputs that a path has read.
    fn signedness(&mut self, state: &State) -> Signedness {
        let inputs = &state.inputs;
        let mut found = Signedness::new();
        let named = inputs.params.iter().chain(&inputs.globals);
        let mut all: Vec<(DataTypeId, &[Cell])> = named.map(|input| (input.data, input.cells.as_slice())).collect();
        all.extend(inputs.requested.iter().filter_map(|input| Some((input.data?, input.cells.as_slice()))));
        for input in &inputs.objects {
            let stride = self.module.types[input.element].size(&self.module.types) as usize;
            let elements = input.cells.chunks_exact(stride.max(1)).take(MAX_PARTS_PER_OBJECT);
            all.extend(elements.map(|cells| (input.element, cells)));
        }
        for (data, cells) in all {
            for part in self.scalars_in("", data) {
                let size = self.module.types[part.data].size(&self.module.types);
                let Some(cells) = cells.get(part.offset as usize..(part.offset + size) as usize) else { continue };
                let is_number = !matches!(self.module.types[part.data], DataType::Pointer { .. });
                if !is_number || !matches!(size, 1 | 2 | 4 | 8) {
                    continue;
                }
                let ty = Ty::Int((size * 8) as u8);
                if let Assembled::Value(Value::Int(Scalar::Term(term))) =
                    assemble(cells, ty, &mut self.terms, &self.pointers)
                    && let Term::Var { var, .. } = *self.terms.get(term)
                {
                    found.insert(var, self.is_signed(part.data));
                }
            }
        }
        found
    }

    /// Renders the targets of the symbolic pointers that the path materialised.
    fn pointer_conditions(&self, state: &State, types: &Signedness) -> Vec<String> {
        let inputs = &state.inputs;
        let shape = |(lazy, target): &(LazyPointerId, Value)| {
            let name = &inputs.lazy_pointers[*lazy].name;
            match target {
                Value::Int(Scalar::Const(0)) => format!("{name} == null"),
                Value::Ptr(pointer) => {
                    let own = inputs.objects.iter().find(|input| input.object == pointer.object);
                    match own {
                        Some(input) if *input.name != **name => format!("{name} == &{}", input.name),
                        _ => format!("{name} != null"),
                    }
                }
                other => format!("{name} is {}", self.render(state, other, ADDRESS, types)),
            }
        };
        inputs.materialised.iter().map(shape).collect()
    }

    /// Returns the changes of input objects and globals.
    fn changes(&mut self, state: &State, types: &Signedness) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let module = self.module;
        for input in &state.inputs.globals {
            if let Some(id) = module.global_named(&input.name) {
                self.note_changes(
                    state,
                    (&input.name, input.data),
                    &input.cells,
                    (global_object(id), 0),
                    (types, &mut found),
                );
            }
        }
        for input in &state.inputs.objects {
            let stride = module.types[input.element].size(&module.types);
            for index in 0..input.count.min(MAX_PARTS_PER_OBJECT as u64) {
                let name = if input.is_array { format!("{}[{index}]", input.name) } else { input.name.clone() };
                let from = (index * stride) as usize;
                let Some(cells) = input.cells.get(from..from + stride as usize) else { break };
                self.note_changes(
                    state,
                    (&name, input.element),
                    cells,
                    (input.object, from as u64),
                    (types, &mut found),
                );
            }
        }
        found
    }

    /// Collects the changes of a value in an object.
    fn note_changes(
        &mut self,
        state: &State,
        (name, data): (&str, DataTypeId),
        before: &[Cell],
        (object, from): (ObjectId, u64),
        (types, found): (&Signedness, &mut Vec<(String, String)>),
    ) {
        let Contents::Cells(now) = &state.memory.get(object).contents else {
            return found.push((name.to_string(), "written at an input-dependent index".to_string()));
        };
        for part in self.scalars_in(name, data) {
            let size = self.module.types[part.data].size(&self.module.types);
            let at = part.offset as usize..(part.offset + size) as usize;
            let here = (from + part.offset) as usize..(from + part.offset + size) as usize;
            let (Some(was), Some(is)) = (before.get(at), now.get(here)) else { continue };
            if was == is || size == 0 {
                continue;
            }
            let ty = match self.module.types[part.data] {
                DataType::Pointer { .. } => Ty::Ptr,
                _ => Ty::Int((size * 8).min(64) as u8),
            };
            let is = is.to_vec();
            let rendered = match assemble(&is, ty, &mut self.terms, &self.pointers) {
                Assembled::Value(value) => {
                    let scalar = ScalarType { signed: self.is_signed(part.data), bits: bits(ty) };
                    self.render(state, &value, scalar, types)
                }
                Assembled::Undefined => "undefined".to_string(),
                Assembled::Mixed | Assembled::Clobbered => "bytes of a pointer".to_string(),
            };
            if rendered != part.name {
                found.push((part.name, rendered));
            }
        }
    }

    /// Returns the scalars of an object.
    fn scalars_in(&self, name: &str, data: DataTypeId) -> Vec<Part> {
        let types = &self.module.types;
        let mut found = Vec::new();
        let mut pending = vec![Part { name: name.to_string(), offset: 0, data }];
        while let Some(part) = pending.pop() {
            match &types[part.data] {
                DataType::Struct { fields, .. } if !types[part.data].has_halves() => {
                    pending.extend(fields.iter().rev().map(|field| Part {
                        name: format!("{}.{}", part.name, field.name),
                        offset: part.offset + field.offset,
                        data: field.ty,
                    }));
                }
                DataType::Array { element, length } => {
                    let stride = types[*element].size(types);
                    pending.extend((0..(*length).min(MAX_PARTS_PER_OBJECT as u64)).rev().map(|index| Part {
                        name: format!("{}[{index}]", part.name),
                        offset: part.offset + index * stride,
                        data: *element,
                    }));
                }
                DataType::Void | DataType::Opaque { .. } | DataType::Union { .. } | DataType::OneOf { .. } => {}
                _ => found.push(part),
            }
            if found.len() + pending.len() > MAX_PARTS_PER_OBJECT {
                break;
            }
        }
        found
    }

    fn is_signed(&self, data: DataTypeId) -> bool {
        !matches!(self.module.types[data], DataType::Int { signed: false, .. } | DataType::Bool { .. })
    }

    /// Renders a value as an expression over the inputs.
    fn render(&self, state: &State, value: &Value, ty: ScalarType, types: &Signedness) -> String {
        match value {
            Value::Int(Scalar::Const(value)) if ty.signed => sign_extend(*value, ty.bits).to_string(),
            Value::Int(Scalar::Const(value)) => value.to_string(),
            Value::Int(Scalar::Term(term)) => self.terms.infix_value(*term, ty.signed, types),
            Value::Ptr(pointer) => {
                let known = state.inputs.objects.iter().find(|input| input.object == pointer.object);
                let named = known.map(|input| input.name.clone());
                let global = self.module.globals.iter().find(|(id, _)| global_object(*id) == pointer.object);
                let name = named.or_else(|| global.map(|(_, global)| global.name.clone()));
                let name = name.unwrap_or_else(|| "a new object".to_string());
                match pointer.offset {
                    Scalar::Const(0) => format!("&{name}"),
                    Scalar::Const(offset) => format!("&{name} + {} bytes", offset as i64),
                    Scalar::Term(term) => {
                        format!("&{name} + {} bytes", self.terms.infix_value(term, true, types))
                    }
                }
            }
            Value::LazyPointer(lazy) => state.inputs.lazy_pointers[*lazy].name.to_string(),
            Value::Choice(_) => "one of several pointers".to_string(),
            Value::Bytes(_) => "bytes of a pointer".to_string(),
            Value::Undefined => "undefined".to_string(),
        }
    }
}
