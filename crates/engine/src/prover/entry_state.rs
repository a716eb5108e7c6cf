//! The abstract state at the entry of the function under test: types and ranges of its parameters, and sizes of their
//! pointees.

use crate::config::{Config, Entry};
use crate::prover::abstract_state::AbstractState;
use crate::prover::abstract_value::{AbstractPointer, AbstractValue, Base};
use crate::prover::function_facts::FunctionFacts;
use std::collections::BTreeSet;
use touchstone_ir::{DataType, DataTypeId, FuncId, GlobalId, Module, Ty, mask};
use touchstone_solver::Facts;

/// Returns the facts and the entry state of the function under test. Inputs are those that `inputs/` creates.
pub(crate) fn under_test<'m>(
    module: &'m Module,
    func: FuncId,
    inputs: &'m BTreeSet<GlobalId>,
    config: &Config,
) -> (FunctionFacts<'m>, AbstractState) {
    let function = &module.functions[func];
    let mut state = AbstractState::unknown(function);
    let mut sizes = vec![None; function.params.len()];
    if config.entry == Entry::Program {
        return (FunctionFacts::new(module, function, inputs, sizes), state);
    }
    let size = |data: DataTypeId| module.types[data].size(&module.types);
    let no_empty_object = no_empty_object(module, func, config);
    for (index, param) in function.params.iter().enumerate() {
        let name = if param.name.is_empty() { format!("arg{index}") } else { param.name.clone() };
        let object = AbstractPointer::start(Base::Param(index));
        let value = match (&module.types[param.data], function.regs[param.reg].ty) {
            (_, Ty::Ptr) if function.aggregate_result && index == 0 => {
                sizes[index] = Some(size(function.result_data));
                Some(AbstractValue::Ptr(object))
            }
            (_, Ty::Ptr) if param.aggregate => {
                sizes[index] = Some(size(param.data));
                Some(AbstractValue::Ptr(object))
            }
            (DataType::Array { element, length }, Ty::Ptr) => {
                let least = config.lengths.get(&name).copied().unwrap_or(*length).checked_mul(size(*element));
                sizes[index] = least.filter(|least| *least > 0 && no_empty_object);
                Some(AbstractValue::Ptr(AbstractPointer { zero: true, ..object }))
            }
            (DataType::Pointer { pointee, .. }, Ty::Ptr) => {
                // At least one element: it may be the object of another parameter.
                let element = size(*pointee);
                sizes[index] = (element > 0 && no_empty_object).then_some(element);
                Some(AbstractValue::Ptr(AbstractPointer { zero: true, ..object }))
            }
            (data, Ty::Int(bits)) => integer(data, bits, config.ranges.get(&name).copied()).map(AbstractValue::Int),
            _ => None,
        };
        if let Some(value) = value {
            state.set(param.reg, value, None);
        }
    }
    (FunctionFacts::new(module, function, inputs, sizes), state)
}

/// Returns true if every pointee of an input has at least one element.
fn no_empty_object(module: &Module, func: FuncId, config: &Config) -> bool {
    let params = &module.functions[func].params;
    let empty = |data: DataTypeId| matches!(module.types[data], DataType::Array { length: 0, .. });
    !config.lengths.values().any(|length| *length == 0) && !params.iter().any(|param| empty(param.data))
}

/// Returns the possible values of an integer parameter.
fn integer(data: &DataType, bits: u8, range: Option<(i128, i128)>) -> Option<Facts> {
    let (signed, all) = match data {
        DataType::Int { bits: width, signed, .. } | DataType::Enum { bits: width, signed, .. } if *width == bits => {
            (*signed, Facts::top(bits))
        }
        DataType::Bool { .. } if bits == 8 => (false, Facts::between(8, 0, 1)),
        DataType::Void => (true, Facts::top(bits)),
        _ => return None,
    };
    let Some((low, high)) = range else { return Some(all) };
    let (least, greatest) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    if low == high && (low < least || low > greatest) {
        // A single value that does not fit is truncated to the width.
        return Some(Facts::constant(bits, mask(low as u64, bits))).filter(|one| !one.meet(&all).is_empty());
    }
    let (low, high) = (low.max(least), high.min(greatest));
    if low > high {
        return None;
    }
    let within = match signed {
        true => Facts::signed_between(bits, low as i64, high as i64),
        false => Facts::between(bits, low as u64, high as u64),
    };
    let both = all.meet(&within);
    (!both.is_empty()).then_some(both)
}
