//! Frame conditions: what a call must leave unchanged is compared as a whole with a copy from before the call, instead
//! of field by field.
//!
//! ```c
//! BEFORE(s_before, s);
//! int result = step(&s, m);
//! CHECK_INT(1, result);
//! CHECK_INT(1, s.count);
//! EXCEPT(s_before.count, s.count);
//! UNCHANGED(s_before, s);
//! ```
//!
//! states what changed, and that nothing else did. Bytes are compared only if every byte is part of a value. Padding,
//! bit-fields and undefined values may change unobserved, so objects that contain them are compared member by member.

use crate::c::syntax::subobject::member;
use crate::c::text::test_body::FunctionTest;
use touchstone_base::float::Format;
use touchstone_criteria::ObjectInput;
use touchstone_ir::{DataType, DataTypeId, DataTypes, DataValue};

/// The maximum length of an integer array that is checked as a whole if one of its elements changes.
const MAX_ARRAY_SHOWN_WHOLE: usize = 16;
/// The maximum number of changed parts that are checked one by one; with more of them, everything is checked.
const MAX_CHANGES_SHOWN: usize = 24;

/// A value before and after the call.
pub(crate) struct ValueChange<'v> {
    pub(crate) ty: DataTypeId,
    pub(crate) before: &'v DataValue,
    pub(crate) after: &'v DataValue,
}

/// The elements of an array object before and after the call.
pub(crate) struct ArrayChange<'v> {
    pub(crate) element: DataTypeId,
    pub(crate) before: &'v [DataValue],
    pub(crate) after: &'v [DataValue],
}

/// Returns true if the type has several values, so that a copy is shorter than separate checks.
pub(crate) fn is_aggregate(types: &DataTypes, ty: DataTypeId) -> bool {
    matches!(&types[ty], DataType::Array { .. } | DataType::Struct { .. }) && !types[ty].has_halves()
}

/// Returns true if every byte of the type is part of some value.
fn has_no_padding(types: &DataTypes, ty: DataTypeId) -> bool {
    match &types[ty] {
        DataType::Int { .. }
        | DataType::Float { .. }
        | DataType::Bool { .. }
        | DataType::Enum { .. }
        | DataType::Pointer { .. } => true,
        DataType::Array { element, .. } => has_no_padding(types, *element),
        DataType::Struct { fields, size, .. } => {
            let mut end = 0;
            for field in fields {
                if field.offset != end || !has_no_padding(types, field.ty) {
                    return false;
                }
                end += types[field.ty].size(types);
            }
            end == *size && *size > 0
        }
        _ => false,
    }
}

/// Returns true if the value has exactly one representation.
fn has_unique_bytes(types: &DataTypes, ty: DataTypeId, value: &DataValue) -> bool {
    match (&types[ty], value) {
        (_, DataValue::Undefined) => false,
        (DataType::Float { format, .. }, DataValue::Int(bits)) => match format {
            Format::F32 => !f32::from_bits(*bits as u32).is_nan(),
            Format::F64 => !f64::from_bits(*bits).is_nan(),
        },
        (DataType::Array { element, length }, DataValue::Array(values)) => {
            values.len() as u64 == *length && values.iter().all(|value| has_unique_bytes(types, *element, value))
        }
        (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
            fields.len() == values.len()
                && fields.iter().zip(values).all(|(field, value)| has_unique_bytes(types, field.ty, value))
        }
        (_, DataValue::Int(_) | DataValue::Pointer(_)) => true,
        _ => false,
    }
}

/// Collects the changed subobjects with the accesses that denote them.
fn collect_changes<'v>(
    types: &DataTypes,
    step: &ValueChange<'v>,
    path: &str,
    found: &mut Vec<(String, ValueChange<'v>)>,
) {
    let ValueChange { ty, before, after } = *step;
    if before == after {
        return;
    }
    match (&types[ty], before, after) {
        (DataType::Struct { fields, .. }, DataValue::Struct(before), DataValue::Struct(after))
            if !types[ty].has_halves() =>
        {
            for (field, (before, after)) in fields.iter().zip(before.iter().zip(after)) {
                let step = ValueChange { ty: field.ty, before, after };
                collect_changes(types, &step, &format!("{path}{}", member(&field.name)), found);
            }
        }
        (DataType::Array { element, .. }, DataValue::Array(before), DataValue::Array(after))
            if before.len() > MAX_ARRAY_SHOWN_WHOLE || is_aggregate(types, *element) =>
        {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                collect_changes(
                    types,
                    &ValueChange { ty: *element, before, after },
                    &format!("{path}[{index}]"),
                    found,
                );
            }
        }
        _ => found.push((path.to_string(), ValueChange { ty, before, after })),
    }
}

impl FunctionTest<'_> {
    /// Checks a place after the call; `copy` holds its value from before the call.
    pub(crate) fn check_change(&mut self, step: &ValueChange<'_>, place: &str, copy: &str, lines: &mut Vec<String>) {
        let module = self.program.module;
        let types = &module.types;
        let ValueChange { ty, before, after } = *step;
        if !is_aggregate(types, ty) {
            self.values.check(ty, after, place, lines);
            return;
        }
        if has_no_padding(types, ty) && has_unique_bytes(types, ty, before) && has_unique_bytes(types, ty, after) {
            self.check_unpadded(step, place, copy, lines);
            return;
        }
        match (&types[ty], before, after) {
            (DataType::Struct { fields, .. }, DataValue::Struct(before), DataValue::Struct(after)) => {
                for (field, (before, after)) in fields.iter().zip(before.iter().zip(after)) {
                    if field.name.is_empty() {
                        // An anonymous member has no name as a whole.
                        self.values.check(field.ty, after, place, lines);
                        continue;
                    }
                    let (part, part_copy) = (member(&field.name), format!("{copy}{}", member(&field.name)));
                    let step = ValueChange { ty: field.ty, before, after };
                    self.check_change(&step, &format!("{place}{part}"), &part_copy, lines);
                }
            }
            (DataType::Array { element, length }, DataValue::Array(values), _)
                if before == after && *length > 1 && is_aggregate(types, *element) && is_fully_defined(values) =>
            {
                self.check_each(*element, *length, place, copy, lines);
            }
            _ => self.values.check(ty, after, place, lines),
        }
    }

    /// Checks what the call changed in an object that functions of the program constructed.
    pub(crate) fn check_constructed(
        &mut self,
        object: &ObjectInput,
        after: &[DataValue],
        name: &str,
        lines: &mut Vec<String>,
    ) {
        let ([before], [after]) = (object.values.as_slice(), after) else { return };
        let step = ValueChange { ty: object.element, before, after };
        let mut parts = Vec::new();
        collect_changes(&self.program.module.types, &step, "", &mut parts);
        let is_pointer = object.origin.creating_call().is_some();
        for (path, part) in parts.iter().take(MAX_CHANGES_SHOWN) {
            let place = match (is_pointer, path.strip_prefix('.')) {
                (true, Some(field)) => format!("{name}->{field}"),
                (true, None) => format!("(*{name}){path}"),
                (false, _) => format!("{name}{path}"),
            };
            self.values.check(part.ty, part.after, &place, lines);
        }
    }

    /// Checks an array object after the call.
    pub(crate) fn check_array_object(
        &mut self,
        elements: &ArrayChange<'_>,
        place: &str,
        copy: &str,
        lines: &mut Vec<String>,
    ) {
        let types = &self.program.module.types;
        let ArrayChange { element, before, after } = *elements;
        let definite = |values: &[DataValue]| values.iter().all(|value| has_unique_bytes(types, element, value));
        let solid = has_no_padding(types, element) && definite(before) && definite(after);
        let mut parts = Vec::new();
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            collect_changes(types, &ValueChange { ty: element, before, after }, &format!("[{index}]"), &mut parts);
        }
        let plain = !is_aggregate(types, element);
        match () {
            () if solid
                && parts.len() <= MAX_CHANGES_SHOWN
                && !(plain && !parts.is_empty() && after.len() <= MAX_ARRAY_SHOWN_WHOLE) =>
            {
                let size = types[element].size(types) * after.len() as u64;
                self.check_parts(&parts, size, place, copy, lines);
            }
            () if parts.is_empty() && after.len() > 1 && is_fully_defined(before) && !plain => {
                self.check_each(element, after.len() as u64, place, copy, lines);
            }
            () => self.values.check_elements(element, after, place, lines),
        }
    }

    /// Checks what changed, and that no other byte did.
    fn check_unpadded(&mut self, step: &ValueChange<'_>, place: &str, copy: &str, lines: &mut Vec<String>) {
        let mut parts = Vec::new();
        collect_changes(&self.program.module.types, step, "", &mut parts);
        if parts.len() > MAX_CHANGES_SHOWN || parts.iter().any(|(path, _)| path.is_empty()) {
            self.values.check(step.ty, step.after, place, lines);
            return;
        }
        let size = self.program.module.types[step.ty].size(&self.program.module.types);
        self.check_parts(&parts, size, place, copy, lines);
    }

    /// Checks the changed parts, and that the rest of the `size` bytes did not change.
    fn check_parts(
        &mut self,
        parts: &[(String, ValueChange<'_>)],
        size: u64,
        place: &str,
        copy: &str,
        lines: &mut Vec<String>,
    ) {
        for (path, part) in parts {
            self.values.check(part.ty, part.after, &format!("{place}{path}"), lines);
        }
        let types = &self.program.module.types;
        if parts.iter().map(|(_, part)| types[part.ty].size(types)).sum::<u64>() == size {
            return;
        }
        for (path, _) in parts {
            lines.push(format!("EXCEPT({copy}{path}, {place}{path});"));
        }
        lines.push(self.program.form.unchanged(copy, place));
    }

    /// Checks in a loop that no member of any element changed; elements with padding cannot be compared as bytes.
    fn check_each(&mut self, element: DataTypeId, length: u64, place: &str, copy: &str, lines: &mut Vec<String>) {
        let index = self.locals.fresh("i");
        let mut inner = Vec::new();
        self.unchanged_members(element, &format!("{place}[{index}]"), &format!("{copy}[{index}]"), &mut inner);
        lines.push("{".to_string());
        lines.push(format!("    int {index};"));
        lines.push(format!("    for ({index} = 0; {index} < {length}; {index}++) {{"));
        lines.extend(inner.into_iter().map(|line| format!("        {line}")));
        lines.push("    }".to_string());
        lines.push("}".to_string());
    }

    fn unchanged_members(&mut self, ty: DataTypeId, place: &str, copy: &str, lines: &mut Vec<String>) {
        let module = self.program.module;
        let types = &module.types;
        match &types[ty] {
            _ if has_no_padding(types, ty) => lines.push(self.program.form.unchanged(copy, place)),
            DataType::Struct { fields, .. } => {
                let parts = fields.iter().flat_map(|field| match (&types[field.ty], field.name.is_empty()) {
                    // An anonymous member has no name as a whole, but its members have.
                    (DataType::Struct { fields, .. }, true) => fields.iter().collect::<Vec<_>>(),
                    (_, true) => Vec::new(),
                    (_, false) => vec![field],
                });
                for field in parts.filter(|field| !field.name.is_empty()) {
                    let part = member(&field.name);
                    self.unchanged_members(field.ty, &format!("{place}{part}"), &format!("{copy}{part}"), lines);
                }
            }
            DataType::Array { element, length } => self.check_each(*element, *length, place, copy, lines),
            data @ DataType::Bits { .. } => lines.push(self.program.form.integer(data, copy, place)),
            _ => {}
        }
    }
}

/// Returns true if no part of the values is undefined.
fn is_fully_defined(values: &[DataValue]) -> bool {
    values.iter().all(|value| match value {
        DataValue::Undefined => false,
        DataValue::Array(values) | DataValue::Struct(values) => is_fully_defined(values),
        DataValue::Member(_, value) => is_fully_defined(std::slice::from_ref(value)),
        DataValue::Int(_) | DataValue::Pointer(_) => true,
    })
}
