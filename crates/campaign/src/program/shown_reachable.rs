//! The states that tests of C functions start from: those that functions of the program construct, those that a caller
//! can set, and those that no call sequence was shown to reach.
//!
//! A test that sets a field of an object sets it past the functions that construct such objects, and a test that sets a
//! private variable sets it past the functions of its file.

use super::error::PlanError;
use super::reader::Program;
use crate::request::InputAssumptions;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use touchstone_criteria::{HeapOrigin, NamedValue, ObjectOrigin, TestCase, TestKind};
use touchstone_engine::{ObjectApis, private_state};
use touchstone_ir::{DataType, DataTypeId, DataValue, FuncId, Global, GlobalId, Init, Module, PointerTarget, mask};

/// The state that only functions of the program change, for the tests of one function.
#[derive(Debug, Default)]
struct ProgramState {
    /// The types of objects that functions construct.
    types: BTreeSet<DataTypeId>,
    /// The private variables that functions change.
    globals: BTreeSet<GlobalId>,
}

impl ProgramState {
    /// Returns the state that a function may read.
    fn of(module: &Module, apis: &ObjectApis, func: FuncId) -> ProgramState {
        ProgramState { types: apis.types(module, func), globals: private_state(module, func) }
    }
}

impl Program {
    /// Returns the origin of the state that a test of a C function starts from.
    pub(super) fn state_of(&self, func: FuncId, test: &TestCase) -> HeapOrigin {
        let TestKind::Function { objects, globals, .. } = &test.kind else { return HeapOrigin::Made };
        let state = self.state_read_by(func);
        let module = &self.module;
        let is_set = |global: &NamedValue| {
            let Some(id) = module.global_named(&global.name) else { return false };
            let variable = &module.globals[id];
            state.globals.contains(&id) && !is_initial(module, variable, global.data, &global.value, 0)
        };
        let is_filled = |element: DataTypeId| state.types.contains(&module.pointee(element).same);
        match () {
            () if globals.iter().any(is_set) => HeapOrigin::NotShownReachable,
            () if objects.iter().any(|own| own.origin == ObjectOrigin::Values && is_filled(own.element)) => {
                HeapOrigin::NotShownReachable
            }
            () if test.has_constructed_objects() => HeapOrigin::Constructed,
            () => HeapOrigin::Made,
        }
    }

    /// Declares the functions that construct objects, as the user names them.
    pub(crate) fn declare_object_apis(&self, inputs: &InputAssumptions) -> Result<(), PlanError> {
        let mut apis = ObjectApis::of(&self.module);
        let returned = inputs.returned_by.iter().map(|pair| (pair, true));
        for ((of_type, function), returned) in returned.chain(inputs.initialised_by.iter().map(|pair| (pair, false))) {
            let known = self.module.function_named(function);
            if !known.is_some_and(|func| apis.declare(&self.module, of_type, func, returned)) {
                let (of_type, function) = (of_type.clone(), function.clone());
                return Err(PlanError::NoCreator { of_type, function, returned, is_known: known.is_some() });
            }
        }
        // Nothing asked for the functions before.
        let _ = self.state.apis.set(apis);
        Ok(())
    }

    /// Returns the functions that construct objects.
    pub(crate) fn object_apis(&self) -> &ObjectApis {
        self.state.apis.get_or_init(|| ObjectApis::of(&self.module))
    }

    /// Returns the state that a function may read; it is determined once.
    fn state_read_by(&self, func: FuncId) -> Arc<ProgramState> {
        let known = || self.state.by_function.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = known().get(&func) {
            return Arc::clone(state);
        }
        let state = Arc::new(ProgramState::of(&self.module, self.object_apis(), func));
        known().insert(func, Arc::clone(&state));
        state
    }
}

/// The state that only functions of the program change, as far as it was asked for.
#[derive(Debug, Default)]
pub(super) struct StateOfProgram {
    apis: OnceLock<ObjectApis>,
    by_function: Mutex<BTreeMap<FuncId, Arc<ProgramState>>>,
}

/// Returns true if a value at an offset of a variable is that at program start.
fn is_initial(module: &Module, global: &Global, data: DataTypeId, value: &DataValue, offset: u64) -> bool {
    let types = &module.types;
    match (&types[data], value) {
        (_, DataValue::Undefined) => true,
        (DataType::Array { element, .. }, DataValue::Array(values)) => {
            let step = types[*element].size(types);
            let mut places = values.iter().enumerate();
            places.all(|(at, value)| is_initial(module, global, *element, value, offset + at as u64 * step))
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => fields
            .iter()
            .zip(values)
            .all(|(field, value)| is_initial(module, global, field.ty, value, offset + field.offset)),
        (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
            members.get(*member).is_some_and(|member| is_initial(module, global, member.ty, value, offset))
        }
        (DataType::Bits { first, width, .. }, DataValue::Int(bits)) => {
            mask(initial_bytes(global, offset, 8) >> first, *width) == mask(*bits, *width)
        }
        (scalar, DataValue::Int(bits)) => {
            let size = scalar.size(types);
            initial_bytes(global, offset, size) == mask(*bits, (8 * size.clamp(1, 8)) as u8)
        }
        (_, DataValue::Pointer(target)) => {
            let mut pieces = global.init.iter().flatten();
            let address = pieces.find_map(|piece| match piece {
                Init::GlobalAddr { offset: at, global, addend } if *at == offset => Some((*global, *addend)),
                _ => None,
            });
            match (address, target) {
                (None, PointerTarget::Null) => initial_bytes(global, offset, 8) == 0,
                (Some((id, addend)), PointerTarget::Global { name, offset }) => {
                    module.globals[id].name == *name && addend == *offset
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// Returns the first bytes of a variable at program start from an offset, as a number.
fn initial_bytes(global: &Global, offset: u64, size: u64) -> u64 {
    let mut number = 0;
    for piece in global.init.iter().flatten() {
        let Init::Bytes { offset: at, bytes } = piece else { continue };
        for index in 0..size.min(8) {
            let place = (offset + index).checked_sub(*at).and_then(|place| usize::try_from(place).ok());
            if let Some(byte) = place.and_then(|place| bytes.get(place)) {
                number |= u64::from(*byte) << (8 * index);
            }
        }
    }
    number
}
