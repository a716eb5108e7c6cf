//! Objects that end in a flexible array member: the test allocates them, assigns the structure, then the elements of
//! the array.
//!
//! The memory is allocated by `alloca`: the object belongs to the test and ends with it, as do its variables.

use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::subobject::member;
use crate::c::text::test_body::FunctionTest;
use touchstone_criteria::ObjectInput;
use touchstone_ir::{DataType, DataTypeId, DataValue, FlexibleTail, Module, PointerTarget};

/// The maximum number of elements that are all assigned; in longer arrays, zeros are omitted.
const MAX_DENSE_ELEMENTS: usize = 8;

/// Returns the elements of the array at the end of an object, if the object has its own number of them.
fn elements_of<'a>(
    module: &Module,
    element: DataTypeId,
    value: &'a DataValue,
) -> Option<(FlexibleTail, &'a [DataValue])> {
    let tail = module.types[element].tail(&module.types)?;
    let DataValue::Struct(fields) = value else { return None };
    match fields.last() {
        Some(DataValue::Array(elements)) => Some((tail, elements)),
        _ => None,
    }
}

/// Returns the number of elements at the end of an object, or `None` if it is the number that the type states.
pub(crate) fn tail_of(module: &Module, object: &ObjectInput) -> Option<u64> {
    let [only] = object.values.as_slice() else { return None };
    let (tail, elements) = elements_of(module, object.element, only)?;
    let count = elements.len() as u64;
    (count != tail.length || tail.length == 0).then_some(count)
}

impl FunctionTest<'_> {
    /// Declares a pointer to the object, allocates it and assigns all of its values.
    pub(crate) fn declare_flexible(
        &mut self,
        object: &ObjectInput,
        name: &str,
        length: u64,
    ) -> Result<(), EmitLimitation> {
        let (module, value) = (self.program.module, &object.values[0]);
        let (types, data) = (&module.types, &module.types[object.element]);
        let (Some((tail, elements)), DataType::Struct { fields, .. }) =
            (elements_of(module, object.element, value), data)
        else {
            return Err(EmitLimitation::NoFlexibleArray);
        };
        let field = &fields[fields.len() - 1].name;
        let size = if tail.end(length, types) <= data.size(types) {
            format!("sizeof *{name}")
        } else if tail.offset == data.size(types) {
            format!("sizeof *{name} + {length} * sizeof {name}->{field}[0]")
        } else {
            format!("__builtin_offsetof(__typeof__(*{name}), {field}[{length}])")
        };
        let declaration = self.program.ctypes.declare(object.element, &format!("*{name}"))?;
        let place = if object.on_heap { "malloc" } else { "alloca" };
        self.lines.push(format!("{declaration} = __builtin_{place}({size});"));
        if elements.len() > MAX_DENSE_ELEMENTS {
            self.lines.push(format!("__builtin_memset({name}, 0, {size});"));
        }
        let whole = self.values.initialiser(object.element, value, &format!("(*{name})"))?;
        self.lines.push(format!("SET(*{name}, {whole});"));
        for (index, value) in elements.iter().enumerate().skip(tail.length as usize) {
            let zero = matches!(value, DataValue::Int(0) | DataValue::Pointer(PointerTarget::Null));
            if *value == DataValue::Undefined || (zero && elements.len() > MAX_DENSE_ELEMENTS) {
                continue;
            }
            let place = format!("{name}->{field}[{index}]");
            let text = self.values.initialiser(tail.element, value, &place)?;
            let whole = matches!(value, DataValue::Array(_) | DataValue::Struct(_) | DataValue::Member(..));
            self.lines.push(if whole { format!("SET({place}, {text});") } else { format!("{place} = {text};") });
        }
        Ok(())
    }

    /// Checks the object after the call: its fields, then the elements of the array.
    pub(crate) fn check_flexible(
        &mut self,
        object: &ObjectInput,
        values: &[DataValue],
        name: &str,
        lines: &mut Vec<String>,
    ) {
        let module = self.program.module;
        let ([value @ DataValue::Struct(values)], DataType::Struct { fields, .. }) =
            (values, &module.types[object.element])
        else {
            return;
        };
        let Some((tail, elements)) = elements_of(module, object.element, value) else { return };
        let place =
            |field: &str| format!("(*{name}){}", member(field)).replace(&format!("(*{name})."), &format!("{name}->"));
        for (field, value) in fields.iter().zip(values).take(fields.len() - 1) {
            self.values.check(field.ty, value, &place(&field.name), lines);
        }
        let last = place(&fields[fields.len() - 1].name);
        for (index, value) in elements.iter().enumerate() {
            self.values.check(tail.element, value, &format!("{last}[{index}]"), lines);
        }
    }
}
