//! What a program asks for while it runs, and what functions that it does not have may have done.

use crate::exec::executor::Executor;
use crate::exec::world::World;
use crate::state::inputs::{Lazy, MOST_VARIABLES, Made};
use crate::state::memory::{Cell, global_object};
use crate::state::value::{ObjectId, Value};
use crate::state::{Purpose, State, Stop};
use std::rc::Rc;
use touchstone_criteria::MadeInput;
use touchstone_ir::{DataType, DataTypeId, GlobalRole, InputSource, Module};

impl Executor<'_> {
    /// A request of the program for `size` input bytes: variables follow the data type where there is one that fits.
    pub(crate) fn make_input(
        &mut self,
        state: &mut State,
        (source, name): (InputSource, String),
        size: u64,
        data: Option<DataTypeId>,
    ) -> Result<Vec<Cell>, Stop> {
        let title = MadeInput::title_of(source, &name);
        let (mut cells, mut constraints) = (Vec::new(), Vec::new());
        match data.filter(|&data| self.size_of(data) == size && is_plain(self.module, data)) {
            Some(data) => self.input_cells(state.inputs_mut(), data, &title, &mut constraints, &mut cells),
            None => {
                for index in 0..size.min(MOST_VARIABLES as u64) {
                    let term = self.input_var(state.inputs_mut(), 8, &format!("{title}[{index}]"));
                    cells.push(Cell::Part { term, index: 0 });
                }
                cells.resize(size as usize, Cell::Unmade);
            }
        }
        self.assume_all(state, &constraints)?;
        state.inputs_mut().made.push(Rc::new(Made::new(source, name, cells.clone())));
        Ok(cells)
    }

    /// A pointer that an external function returned: in a test like any input pointer, and for a proof null, or nobody knows.
    pub(crate) fn unknown_pointer(&mut self, state: &mut State, source: InputSource, name: &str) -> Value {
        let function = &self.module.functions[state.top().func];
        let makes = source == InputSource::External
            && self.policy.world == World::Tested
            && self.config.entry == crate::Entry::Function;
        let lazy = match self.module.types[function.result_data] {
            DataType::Pointer { pointee, .. } if makes => {
                // It may lead to what no test can name: to a local, say.
                self.ledger.avoided = true;
                Lazy { name: format!("{name}_result").into(), pointee: Some(pointee) }
            }
            _ => Lazy { name: format!("pointer other than null from external function {name}").into(), pointee: None },
        };
        Value::Lazy(state.inputs_mut().add_lazy(lazy))
    }

    /// What earlier calls left behind is read: zero, or nobody knows.
    pub(crate) fn left_behind(&mut self, state: &mut State, object: ObjectId) -> Option<Result<Value, Stop>> {
        let (id, _) = self.module.globals.iter().find(|(_, global)| global.role == GlobalRole::LeftBehind)?;
        let zero = |()| Value::constant(0);
        let name = "error number other than 0 that an earlier call left".to_string();
        (object == global_object(id)).then(|| self.decide_once(state, name).map(zero))
    }

    /// An external function may have written memory: decided once on a path, to be nothing.
    pub(crate) fn unknown_writes(&mut self, state: &mut State, name: &str) -> Result<(), Stop> {
        self.decide_once(state, format!("what external function {name} writes through its arguments"))
    }

    /// Something that may be: decided once on a path, to be not.
    fn decide_once(&mut self, state: &mut State, name: String) -> Result<(), Stop> {
        if state.inputs.lazies.values().any(|lazy| *lazy.name == *name) {
            return Ok(());
        }
        let lazy = Lazy { name: name.into(), pointee: None };
        Err(Stop::Force(state.inputs_mut().add_lazy(lazy), Purpose::Access))
    }
}

/// Only integers and truth values inside, no pointers. A truth value is 0 or 1: a program that makes another byte of it has
/// no meaning.
fn is_plain(module: &Module, data: DataTypeId) -> bool {
    match &module.types[data] {
        DataType::Int { .. } | DataType::Enum { .. } | DataType::Bool { .. } => true,
        DataType::Array { element, .. } => is_plain(module, *element),
        DataType::Struct { fields, .. } => fields.iter().all(|field| is_plain(module, field.ty)),
        _ => false,
    }
}
