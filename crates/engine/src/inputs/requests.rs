//! Inputs that a program requests while it runs, and assumptions about external functions.

use crate::exec::executor::Executor;
use crate::exec::executor::policy::Environment;
use crate::inputs::cells::{Gaps, adjacent_bit_fields};
use crate::state::inputs::{Inputs, LazyPointer, MAX_INPUT_BYTES, RequestedInput};
use crate::state::memory::{Cell, global_object};
use crate::state::value::{ObjectId, Value};
use crate::state::{PointerUse, State, Stop};
use std::rc::Rc;
use touchstone_criteria::EnvironmentInput;
use touchstone_ir::{DataType, DataTypeId, Field, InputSource};
use touchstone_solver::TermId;

impl Executor<'_> {
    /// Answers a request for `size` input bytes: variables follow the data type if there is one that fits.
    pub(crate) fn make_input(
        &mut self,
        state: &mut State,
        (source, name): (InputSource, String),
        size: u64,
        asked: Option<RequestedType>,
    ) -> Result<Vec<Cell>, Stop> {
        let title = EnvironmentInput::title_of(source, &name);
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        match asked {
            Some(RequestedType::Whole(data)) => {
                self.request_cells(state.inputs_mut(), data, &title, &mut constraints, &mut cells);
            }
            Some(RequestedType::Elements(element, count)) => {
                for index in 0..count {
                    let name = format!("{title}[{index}]");
                    self.request_cells(state.inputs_mut(), element, &name, &mut constraints, &mut cells);
                }
            }
            None => self.byte_cells(state.inputs_mut(), size, &title, &mut cells),
        }
        self.assume_all(state, &constraints)?;
        let data = match asked {
            Some(RequestedType::Whole(data)) => Some(data),
            _ => None,
        };
        state
            .inputs_mut()
            .requested
            .push(Rc::new(RequestedInput { data, ..RequestedInput::new(source, name, cells.clone()) }));
        Ok(cells)
    }

    /// Creates variables by type, and bytes where the type does not determine their meaning (pointers, most unions,
    /// padding): everything requested is an input.
    fn request_cells(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        match &types[data] {
            DataType::Int { .. } | DataType::Enum { .. } | DataType::Bool { .. } | DataType::Float { .. } => {
                self.input_cells(inputs, data, name, constraints, cells);
            }
            DataType::Array { element, length } => {
                for index in 0..*length {
                    if cells.len() >= MAX_INPUT_BYTES {
                        let rest = (length - index) * types[*element].size(types);
                        return self.byte_cells(inputs, rest, name, cells);
                    }
                    self.request_cells(inputs, *element, &format!("{name}[{index}]"), constraints, cells);
                }
            }
            DataType::Struct { kind, .. } if !kind.is_counted() => {
                self.request_fields(inputs, data, name, constraints, cells);
            }
            other => self.byte_cells(inputs, other.size(types), name, cells),
        }
    }

    fn request_fields(
        &mut self,
        inputs: &mut Inputs,
        data: DataTypeId,
        name: &str,
        constraints: &mut Vec<TermId>,
        cells: &mut Vec<Cell>,
    ) {
        let types = &self.module.types;
        let DataType::Struct { fields, size, .. } = &types[data] else { return };
        let (start, padding) = (cells.len(), format!("{name}.padding"));
        let mut rest = fields.as_slice();
        while let Some((field, others)) = rest.split_first() {
            let at = start + field.offset as usize;
            if at < cells.len() {
                // Packed bit-fields that share bytes over more than 64 bits.
                let end = (at + types[field.ty].size(types) as usize).max(cells.len());
                cells.truncate(at);
                self.byte_cells(inputs, (end - at) as u64, &padding, cells);
                rest = others;
                continue;
            }
            self.byte_cells(inputs, (at - cells.len()) as u64, &padding, cells);
            let part = |field: &Field| format!("{name}.{}", field.name);
            if let DataType::Bits { .. } = types[field.ty] {
                let shared = adjacent_bit_fields(types, rest);
                self.bit_cells(inputs, (&rest[..shared], Gaps::Inputs), part, constraints, cells);
                rest = &rest[shared..];
                continue;
            }
            self.request_cells(inputs, field.ty, &part(field), constraints, cells);
            rest = others;
        }
        let behind = (start + *size as usize).saturating_sub(cells.len());
        self.byte_cells(inputs, behind as u64, &padding, cells);
    }

    fn byte_cells(&mut self, inputs: &mut Inputs, size: u64, name: &str, cells: &mut Vec<Cell>) {
        let whole = cells.len() + size as usize;
        for index in 0..size.min(MAX_INPUT_BYTES.saturating_sub(cells.len()) as u64) {
            let term = self.input_var(inputs, 8, &format!("{name}[{index}]"));
            cells.push(Cell::Part { term, index: 0 });
        }
        cells.resize(whole, Cell::Unmaterialised);
    }

    /// Returns the type of a request, from the type of the destination object, the offset and the size.
    pub(crate) fn requested_type(&self, object: DataTypeId, at: u64, size: u64) -> Option<RequestedType> {
        let types = &self.module.types;
        let whole = types[object].size(types);
        if at + size > whole || size == 0 {
            return None;
        }
        if (at, size) == (0, whole) {
            return Some(RequestedType::Whole(object));
        }
        match &types[object] {
            DataType::Array { element, .. } => {
                let step = types[*element].size(types).max(1);
                match at.is_multiple_of(step) && size.is_multiple_of(step) {
                    true if size == step => Some(RequestedType::Whole(*element)),
                    true => Some(RequestedType::Elements(*element, size / step)),
                    false => self.requested_type(*element, at % step, size),
                }
            }
            DataType::Struct { fields, kind, .. } if !kind.is_counted() => {
                let holds =
                    |field: &&Field| field.offset <= at && at + size <= field.offset + types[field.ty].size(types);
                let field = fields.iter().find(holds)?;
                self.requested_type(field.ty, at - field.offset, size)
            }
            _ => None,
        }
    }

    /// Returns a pointer that an external function returned: in a test like any symbolic pointer, for a proof null or
    /// unknown.
    pub(crate) fn unknown_pointer(&mut self, state: &mut State, source: InputSource, name: &str) -> Value {
        let function = &self.module.functions[state.top().func];
        let makes = source == InputSource::External
            && self.policy.environment == Environment::Testable
            && self.config.entry == crate::Entry::Function;
        let lazy = match self.module.types[function.result_data] {
            DataType::Pointer { pointee, .. } if makes => {
                // It may point to an object that no test can name, for example a local.
                self.ledger.excluded_inputs = true;
                LazyPointer {
                    name: format!("{name}_result").into(),
                    pointee: Some(pointee),
                    cast_to: None,
                    array: None,
                }
            }
            _ => LazyPointer {
                name: format!("pointer other than null from external function {name}").into(),
                pointee: None,
                cast_to: None,
                array: None,
            },
        };
        Value::LazyPointer(state.inputs_mut().add_lazy_pointer(lazy))
    }

    /// Reads the error number left by an earlier call: zero, or unknown.
    pub(crate) fn read_error_number(&mut self, state: &mut State, object: ObjectId) -> Option<Result<Value, Stop>> {
        let id = self.module.error_number()?;
        let zero = |()| Value::constant(0);
        let name = "error number other than 0 that an earlier call left".to_string();
        (object == global_object(id)).then(|| self.assume_absent_once(state, name).map(zero))
    }

    /// Assumes once per path that an external function wrote no memory.
    pub(crate) fn assume_no_external_writes(&mut self, state: &mut State, name: &str) -> Result<(), Stop> {
        self.assume_absent_once(state, format!("what external function {name} writes through its arguments"))
    }

    /// Explores once per path the case that something does not exist; the other case is given up.
    fn assume_absent_once(&mut self, state: &mut State, name: String) -> Result<(), Stop> {
        if state.inputs.lazy_pointers.values().any(|lazy| *lazy.name == *name) {
            return Ok(());
        }
        let lazy = LazyPointer { name: name.into(), pointee: None, cast_to: None, array: None };
        Err(Stop::Materialise(state.inputs_mut().add_lazy_pointer(lazy), PointerUse::Access))
    }
}

/// The type of a request.
#[derive(Clone, Copy)]
pub(crate) enum RequestedType {
    Whole(DataTypeId),
    /// Some elements of an array.
    Elements(DataTypeId, u64),
}
