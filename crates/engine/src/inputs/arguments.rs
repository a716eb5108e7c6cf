//! The arguments of the function under test, and the command-line arguments of a program.

use crate::exec::executor::Executor;
use crate::growth::Room;
use crate::inputs::MAX_INPUT_OBJECT_BYTES;
use crate::inputs::materialisation::Length;
use crate::state::inputs::{LazyPointer, NamedInput, RequestedInput};
use crate::state::memory::{Assembled, Cell, Object, ObjectKind, assemble, disassemble};
use crate::state::value::Value;
use crate::state::{State, Stop};
use std::rc::Rc;
use touchstone_criteria::{EnvironmentInput, Unsupported};
use touchstone_ir::{CastOp, DataType, FuncId, InputSource, PointeeShape, Ty};

impl Executor<'_> {
    /// Creates the arguments of the function under test, one for each parameter.
    pub(crate) fn arguments(&mut self, state: &mut State, func: FuncId) -> Result<Vec<Value>, Stop> {
        let function = &self.module.functions[func];
        let mut values = Vec::new();
        for (index, param) in function.params.iter().enumerate() {
            if function.aggregate_result && index == 0 {
                let size = self.size_of(function.result_data);
                let object = Object::undefined(size, ObjectKind::Slot, Some(function.result_data));
                values.push(Value::pointer(state.memory.alloc(object), 0));
                continue;
            }
            if function.variadic && index + 1 == function.params.len() {
                values.push(self.packed_arguments(state, func)?);
                continue;
            }
            let name = if param.name.is_empty() { format!("arg{index}") } else { param.name.clone() };
            let (value, cells) = self.argument(state, func, index, &name)?;
            state.inputs_mut().params.push(Rc::new(NamedInput { name, data: param.data, cells }));
            values.push(value);
        }
        Ok(values)
    }

    /// Creates the variadic arguments; null if the function reads none.
    fn packed_arguments(&mut self, state: &mut State, func: FuncId) -> Result<Value, Stop> {
        let function = &self.module.functions[func];
        let Some(param) = function.params.last().filter(|param| function.reads(param.reg)) else {
            return Ok(Value::NULL);
        };
        let DataType::Pointer { pointee, .. } = self.module.types[param.data] else { return Ok(Value::NULL) };
        if self.module.pointee(pointee).stands != PointeeShape::Arguments {
            return Ok(Value::NULL);
        }
        let name = match &self.module.types[pointee] {
            DataType::Union { name, .. } => name.clone(),
            _ => String::new(),
        };
        let value = self.variadic_arguments(state, pointee)?;
        let cells = disassemble(&value, 8, &mut self.pointers).collect();
        state.inputs_mut().params.push(Rc::new(NamedInput { name, data: param.data, cells }));
        Ok(value)
    }

    fn argument(
        &mut self,
        state: &mut State,
        func: FuncId,
        index: usize,
        name: &str,
    ) -> Result<(Value, Vec<Cell>), Stop> {
        let function = &self.module.functions[func];
        let param = &function.params[index];
        let ty = function.regs[param.reg].ty;
        if let (DataType::Array { element, length }, false) = (&self.module.types[param.data], param.aggregate) {
            let count = self.config.lengths.get(name).copied().unwrap_or(*length);
            let room = Room { before: 0, elements: count };
            let array = Some(self.input_object(state, *element, room, name, Length::Declared, None)?);
            let pointer = LazyPointer { name: name.into(), pointee: Some(*element), cast_to: None, array };
            let value = Value::LazyPointer(state.inputs_mut().add_lazy_pointer(pointer));
            let cells = disassemble(&value, 8, &mut self.pointers).collect();
            return Ok((value, cells));
        }
        let size = self.size_of(param.data);
        if size > MAX_INPUT_OBJECT_BYTES {
            let what = Unsupported::LargeArgument(size, name.to_string(), MAX_INPUT_OBJECT_BYTES);
            return Err(Stop::unsupported(what, function.span));
        }
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        match (&self.module.types[param.data], ty) {
            // Hand-written IR may have no data types: the register's type is used then.
            (DataType::Void, Ty::Int(bits)) => {
                let term = self.input_var(state.inputs_mut(), bits, name);
                self.constrain(term, true, name, &mut constraints);
                cells.extend((0..ty.bytes()).map(|index| Cell::Part { term, index }));
            }
            _ => self.input_cells(state.inputs_mut(), param.data, name, &mut constraints, &mut cells),
        }
        self.assume_all(state, &constraints)?;
        if param.aggregate {
            let object = Object::with_cells(cells.clone(), ObjectKind::Slot, Some(param.data));
            return Ok((Value::pointer(state.memory.alloc(object), 0), cells));
        }
        let own = match ty {
            // A register may be wider than the values of the type.
            Ty::Int(bits) if size > 0 => Ty::Int(bits.min((size * 8).min(64) as u8)),
            Ty::Int(_) | Ty::Ptr => ty,
        };
        let value = if cells.len() == usize::from(own.bytes()) {
            match assemble(&cells, own, &mut self.terms, &self.pointers) {
                Assembled::Value(value) if own == ty => value,
                Assembled::Value(value) => {
                    let op = match self.module.types[param.data] {
                        DataType::Int { signed: true, .. } => CastOp::Sext,
                        _ => CastOp::Zext,
                    };
                    self.cast(state, op, &value, own, ty, function.span)?
                }
                Assembled::Undefined | Assembled::Mixed | Assembled::Clobbered => Value::NULL,
            }
        } else {
            // The type is not modelled: a use of the value ends in an unsupported construct.
            Value::NULL
        };
        Ok((value, cells))
    }

    /// Creates the arguments of a program's entry function, as the interpreter's `program_arguments` does: the program
    /// name and `count` symbolic strings.
    pub(crate) fn program_arguments(
        &mut self,
        state: &mut State,
        func: FuncId,
        count: u32,
        length: u32,
    ) -> Result<Vec<Value>, Stop> {
        let name = crate::confirm::concrete_run::PROGRAM_NAME.bytes().chain([0]).map(Cell::Byte).collect();
        let mut words = vec![name];
        for number in 1..=count as usize {
            words.push(self.word(state, number, length)?);
        }
        let mut list = Vec::new();
        for word in words {
            let word = state.memory.alloc(Object::with_cells(word, ObjectKind::Global, None));
            list.extend(disassemble(&Value::pointer(word, 0), 8, &mut self.pointers));
        }
        list.extend(disassemble(&Value::NULL, 8, &mut self.pointers));
        let list = state.memory.alloc(Object::with_cells(list, ObjectKind::Global, None));
        let all = [Value::constant(u64::from(count) + 1), Value::pointer(list, 0)];
        let params = self.module.functions[func].params.len();
        Ok(all.into_iter().chain(std::iter::repeat(Value::NULL)).take(params).collect())
    }

    /// Creates one command-line argument.
    fn word(&mut self, state: &mut State, number: usize, length: u32) -> Result<Vec<Cell>, Stop> {
        let (source, name) = (InputSource::Argument, number.to_string());
        let cells = self.string_cells(state, &EnvironmentInput::title_of(source, &name), length)?;
        state.inputs_mut().requested.push(Rc::new(RequestedInput::new(source, name, cells.clone())));
        Ok(cells)
    }
}
