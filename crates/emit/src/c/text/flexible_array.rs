//! Objects that end in an array which their type gives no length: room for them is made, then the structure is set, then
//! its last elements.
//!
//! The room is `alloca`'s: the object is the test's own and ends with it, as those that are variables.

use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::subobject::member;
use crate::c::text::body::FunctionTest;
use touchstone_criteria::ObjectInput;
use touchstone_ir::{DataType, DataTypeId, DataValue, FlexibleTail, Module, PointerTarget};

/// As many elements are always set one by one; of more, those that are zero are left out.
const MAX_DENSE_ELEMENTS: usize = 8;

/// The elements at the end of an object, if they are not those that its type says.
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

/// How many elements an object has at its end, if they are not as many as its type says, or the type says none.
pub(crate) fn tail_of(module: &Module, object: &ObjectInput) -> Option<u64> {
    let [only] = object.values.as_slice() else { return None };
    let (tail, elements) = elements_of(module, object.element, only)?;
    let count = elements.len() as u64;
    (count != tail.length || tail.length == 0).then_some(count)
}

impl FunctionTest<'_> {
    /// Declares a pointer to the object, and sets everything.
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

    /// Checks the object afterwards: its fields, then its last elements.
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
