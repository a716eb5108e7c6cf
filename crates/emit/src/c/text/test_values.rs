//! Values of a test as C: initialisers, pointers between objects, and checks after the call.

use crate::c::syntax::declarations::CTypes;
use crate::c::syntax::limitation::EmitLimitation;
use crate::c::syntax::literal;
use crate::c::syntax::names::source_name;
use crate::c::syntax::subobject::{compatible, largest_subobject_path, member, part, subobject_path};
use crate::c::text::form::CTestForm;
use crate::c::text::library_types::library_type;
use crate::c::text::stubs::callback;
use crate::c::text::visibility::{NameVisibility, Visibility};
use std::collections::BTreeSet;
use touchstone_criteria::NamedValue;
use touchstone_ir::{DataType, DataTypeId, DataTypes, DataValue, Field, Init, IntKind, Linkage, Module, PointerTarget};

/// An object of the test as a local variable.
pub(crate) struct LocalObject {
    pub(crate) name: String,
    pub(crate) element: DataTypeId,
    pub(crate) length: u64,
    pub(crate) is_array: bool,
    /// The number of elements of a flexible array at its end, if it differs from that of the type; the variable is then
    /// a pointer.
    pub(crate) tail: Option<u64>,
    /// True after the declaration, when its address can be taken.
    pub(crate) declared: bool,
    /// The string literal that stands for the object: it then has no variable.
    pub(crate) literal: Option<String>,
}

/// A pointer to an object that is declared later.
pub(crate) struct LatePointer {
    pub(crate) place: String,
    pub(crate) target: PointerTarget,
    pub(crate) pointee: DataTypeId,
}

/// Renders the values of one test.
pub(crate) struct ValueWriter<'a> {
    pub(crate) module: &'a Module,
    pub(crate) ctypes: &'a CTypes<'a>,
    pub(crate) objects: Vec<LocalObject>,
    pub(crate) late: Vec<LatePointer>,
    pub(crate) visibility: &'a Visibility<'a>,
    pub(crate) form: CTestForm,
    /// A free name for an array of expected elements.
    pub(crate) expected: String,
    /// The declarations that must precede the test.
    pub(crate) declarations: BTreeSet<String>,
}

/// The maximum number of members of a structure that is initialised with its zeros; in larger ones, zeros are omitted.
const MAX_MEMBERS_WITH_ZEROS: usize = 4;

/// Returns true if the value equals that of a member without an initialiser.
fn is_zero(value: &DataValue) -> bool {
    match value {
        DataValue::Int(0) | DataValue::Pointer(PointerTarget::Null) | DataValue::Undefined => true,
        DataValue::Array(values) | DataValue::Struct(values) => values.iter().all(is_zero),
        // Without an initialiser, the first member of a union is zero.
        DataValue::Member(member, value) => *member == 0 && is_zero(value),
        DataValue::Int(_) | DataValue::Pointer(_) => false,
    }
}

impl<'a> ValueWriter<'a> {
    fn types(&self) -> &'a DataTypes {
        &self.module.types
    }

    /// Returns the initialiser of `place`. Pointers to objects that are not declared yet are `NULL` for now and
    /// recorded in `late`.
    pub(crate) fn initialiser(
        &mut self,
        ty: DataTypeId,
        value: &DataValue,
        place: &str,
    ) -> Result<String, EmitLimitation> {
        match (&self.types()[ty], value) {
            (_, DataValue::Undefined) => Ok("{0}".to_string()),
            (DataType::Pointer { pointee, .. }, DataValue::Pointer(target)) => {
                if let PointerTarget::Object { object, .. } = target
                    && self.objects.get(*object).is_some_and(|object| !object.declared)
                {
                    let (place, target) = (place.to_string(), target.clone());
                    self.late.push(LatePointer { place, target, pointee: *pointee });
                    return Ok("NULL".to_string());
                }
                self.pointer(target, *pointee)
            }
            (DataType::Array { element, length }, DataValue::Array(values)) => {
                let known = values.len().min(usize::try_from(*length).unwrap_or(usize::MAX));
                self.elements(*element, &values[..known], place)
            }
            (data, value) if data.has_halves() => data
                .wide_number(value, self.types())
                .map(|(number, signed)| literal::wide(number, signed))
                .ok_or(EmitLimitation::PartlyUndefined),
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                let mut parts = Vec::new();
                self.members(fields, values, place, &mut parts)?;
                Ok(if parts.is_empty() { "{0}".to_string() } else { format!("{{{}}}", parts.join(", ")) })
            }
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                let mut parts = Vec::new();
                self.member(&members[*member], value, place, &mut parts)?;
                Ok(format!("{{{}}}", parts.join(", ")))
            }
            (data, DataValue::Int(bits)) => literal::scalar(data, *bits).ok_or(EmitLimitation::IntegerMisfit),
            _ => Err(EmitLimitation::Misfit),
        }
    }

    /// Collects the initialisers of a structure's members, with designators if there are many members or some are
    /// omitted. The members of an anonymous member belong to the structure and always have designators.
    fn members(
        &mut self,
        fields: &[Field],
        values: &[DataValue],
        place: &str,
        parts: &mut Vec<String>,
    ) -> Result<(), EmitLimitation> {
        // A single known field may be any member of a union.
        let undefined = values.contains(&DataValue::Undefined);
        let nameless = fields.iter().any(|field| field.name.is_empty());
        let by_name = undefined || nameless || fields.len() == 1 || fields.len() > 2;
        for (field, value) in fields.iter().zip(values) {
            // A flexible array member has no elements here; those of the object are assigned afterwards.
            let empty = matches!(self.types()[field.ty], DataType::Array { length: 0, .. });
            // In large structures, zeros are omitted.
            let zero = fields.len() > MAX_MEMBERS_WITH_ZEROS && is_zero(value);
            if *value == DataValue::Undefined || empty || zero {
                continue;
            }
            match (field.name.is_empty(), &self.types()[field.ty], value) {
                (true, DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                    let mut inner = Vec::new();
                    self.members(fields, values, place, &mut inner)?;
                    // Members that the inner list initialised by position have names as well.
                    let named = fields.iter().zip(values).filter(|(_, value)| **value != DataValue::Undefined);
                    let names: Vec<&str> = named.map(|(field, _)| field.name.as_str()).collect();
                    let by_position = inner.len() == names.len() && inner.iter().all(|part| !part.starts_with('.'));
                    match by_position {
                        true => parts.extend(names.iter().zip(inner).map(|(name, part)| format!(".{name} = {part}"))),
                        false => parts.extend(inner),
                    }
                }
                (true, DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                    self.member(&members[*member], value, place, parts)?;
                }
                (true, ..) => return Err(EmitLimitation::UnnamedMember),
                (false, ..) => {
                    let step = member(&field.name);
                    let part = self.initialiser(field.ty, value, &format!("{place}{step}"))?;
                    parts.push(if by_name { format!("{step} = {part}") } else { part });
                }
            }
        }
        Ok(())
    }

    /// Collects the initialiser of a union's member, with a designator.
    fn member(
        &mut self,
        field: &Field,
        value: &DataValue,
        place: &str,
        parts: &mut Vec<String>,
    ) -> Result<(), EmitLimitation> {
        // The undefined second field forces designators.
        let fields = [field.clone(), field.clone()];
        self.members(&fields, &[value.clone(), DataValue::Undefined], place, parts)
    }

    /// Returns the initialiser of an array.
    pub(crate) fn elements(
        &mut self,
        element: DataTypeId,
        values: &[DataValue],
        place: &str,
    ) -> Result<String, EmitLimitation> {
        if let Some(text) = self.string(element, values) {
            return Ok(text);
        }
        // Short arrays are initialised completely; long arrays omit trailing zeros.
        let used = values.iter().rposition(|value| !is_zero(value)).map_or(0, |last| last + 1);
        let shown = if values.len() <= 8 { values.len() } else { used };
        let mut parts = Vec::with_capacity(shown);
        for (index, value) in values[..shown].iter().enumerate() {
            let value = if *value == DataValue::Undefined { &self.zero_of(element) } else { value };
            parts.push(self.initialiser(element, value, &format!("{place}[{index}]"))?);
        }
        Ok(if parts.is_empty() { "{0}".to_string() } else { format!("{{{}}}", parts.join(", ")) })
    }

    /// Returns the value of an undefined element between defined ones.
    fn zero_of(&self, ty: DataTypeId) -> DataValue {
        match &self.types()[ty] {
            DataType::Int { .. } | DataType::Float { .. } | DataType::Bool { .. } | DataType::Enum { .. } => {
                DataValue::Int(0)
            }
            DataType::Pointer { .. } => DataValue::Pointer(PointerTarget::Null),
            _ => DataValue::Undefined,
        }
    }

    fn string(&self, element: DataTypeId, values: &[DataValue]) -> Option<String> {
        let DataType::Int { kind: IntKind::Character, bits: 8, .. } = &self.types()[element] else { return None };
        let bytes: Option<Vec<u8>> = values
            .iter()
            .map(|value| if let DataValue::Int(bits) = value { u8::try_from(*bits).ok() } else { None })
            .collect();
        literal::readable_string(&bytes?)
    }

    /// Returns the address that a pointer to `pointee` holds.
    pub(crate) fn pointer(&mut self, target: &PointerTarget, pointee: DataTypeId) -> Result<String, EmitLimitation> {
        match target {
            PointerTarget::Null => Ok("NULL".to_string()),
            PointerTarget::Function(name) => self.function(name),
            PointerTarget::Elsewhere => Err(EmitLimitation::Elsewhere),
            PointerTarget::Object { object, offset } => {
                let object = self.objects.get(*object).ok_or(EmitLimitation::NoObject)?;
                if let (Some(literal), 0) = (&object.literal, *offset) {
                    return Ok(literal.clone());
                }
                Ok(self.address_in_object(object, *offset, pointee))
            }
            PointerTarget::Global { name, offset } => self.address_in_global(name, *offset, pointee),
        }
    }

    fn address_in_object(&self, object: &LocalObject, offset: i64, pointee: DataTypeId) -> String {
        let name = &object.name;
        if !object.is_array && object.tail.is_none() {
            return self.address_in_variable(name, object.element, offset, pointee);
        }
        let (types, size) = (self.types(), self.types()[object.element].size(self.types()));
        let fallback = format!("(void *)((char *){name} + {offset})");
        let Some(index) = u64::try_from(offset).ok().and_then(|offset| offset.checked_div(size)) else {
            return if offset == 0 { name.clone() } else { fallback };
        };
        let inside = offset as u64 % size;
        let any = matches!(types[pointee], DataType::Void);
        if inside == 0 && (any || compatible(types, object.element, pointee)) {
            return match index {
                0 => name.clone(),
                _ if index < object.length => format!("&{name}[{index}]"),
                _ => format!("{name} + {index}"),
            };
        }
        match subobject_path(types, object.element, inside, pointee) {
            Some(path) if index < object.length => format!("&{name}[{index}]{path}"),
            _ if offset == 0 => format!("(void *){name}"),
            _ => match largest_subobject_path(types, object.element, inside) {
                Some(path) if index < object.length => {
                    format!("{}&{name}[{index}]{path}", if any { "" } else { "(void *)" })
                }
                _ => fallback,
            },
        }
    }

    /// Returns the address of a part of the variable `name`.
    fn address_in_variable(&self, name: &str, ty: DataTypeId, offset: i64, pointee: DataTypeId) -> String {
        let types = self.types();
        let path = u64::try_from(offset).ok().and_then(|offset| subobject_path(types, ty, offset, pointee));
        match path {
            Some(path) => format!("&{name}{path}"),
            None if offset == 0 && matches!(types[pointee], DataType::Void) => format!("&{name}"),
            None if offset == 0 => format!("(void *)&{name}"),
            None if compatible(types, ty, pointee) && offset == types[ty].size(types) as i64 => format!("&{name} + 1"),
            None => {
                let cast = if matches!(types[pointee], DataType::Void) { "" } else { "(void *)" };
                match u64::try_from(offset).ok().and_then(|offset| largest_subobject_path(types, ty, offset)) {
                    Some(path) => format!("{cast}&{name}{path}"),
                    None => format!("(void *)((char *)&{name} + {offset})"),
                }
            }
        }
    }

    /// Returns the name of a function, and declares it if necessary.
    pub(crate) fn function(&mut self, name: &str) -> Result<String, EmitLimitation> {
        let function = self.module.function_named(name).map(|id| &self.module.functions[id]);
        let function = function.ok_or_else(|| EmitLimitation::NoFunction(name.to_string()))?;
        if function.is_callback() {
            self.declarations.insert(callback(self, function)?);
            return Ok(name.to_string());
        }
        let reach = self.visibility.function(function, self.ctypes);
        self.declared_name(reach, name)
    }

    /// Returns the name of a global, and declares it if necessary.
    pub(crate) fn global(&mut self, name: &str) -> Result<String, EmitLimitation> {
        let global = self.module.global_named(name).map(|id| &self.module.globals[id]);
        let global = global.ok_or_else(|| EmitLimitation::NoGlobal(name.to_string()))?;
        let reach = self.visibility.global(global, self.ctypes);
        self.declared_name(reach, name)
    }

    fn declared_name(&mut self, reach: NameVisibility, name: &str) -> Result<String, EmitLimitation> {
        match reach {
            NameVisibility::Visible => {}
            NameVisibility::Declared(declaration) => {
                self.declarations.insert(declaration);
            }
            NameVisibility::Hidden => return Err(EmitLimitation::Private(name.to_string())),
        }
        Ok(source_name(name).to_string())
    }

    fn address_in_global(&mut self, name: &str, offset: i64, pointee: DataTypeId) -> Result<String, EmitLimitation> {
        let global = self.module.global_named(name).map(|id| &self.module.globals[id]);
        let Some(global) = global else { return Err(EmitLimitation::NoGlobal(name.to_string())) };
        match global.linkage {
            Linkage::Literal => {
                let text = self.literal_bytes(name).unwrap_or_default();
                let text = literal::string(text.strip_suffix(&[0]).unwrap_or(&text));
                Ok(if offset == 0 { text } else { format!("{text} + {offset}") })
            }
            Linkage::External | Linkage::Internal | Linkage::Undefined | Linkage::Local => {
                let own = self.global(name)?;
                Ok(self.address_in_variable(&own, global.data, offset, pointee))
            }
        }
    }

    /// Returns the contents of a string literal.
    fn literal_bytes(&self, name: &str) -> Option<Vec<u8>> {
        let global = &self.module.globals[self.module.global_named(name)?];
        let mut contents = vec![0; usize::try_from(global.size).ok()?];
        for piece in global.init.iter().flatten() {
            let Init::Bytes { offset, bytes } = piece else { return None };
            let start = usize::try_from(*offset).ok()?;
            contents.get_mut(start..start.checked_add(bytes.len())?)?.copy_from_slice(bytes);
        }
        Some(contents)
    }

    /// Checks that `place` has this value. Undefined parts, and pointers without a known target expression, are
    /// omitted.
    pub(crate) fn check(&mut self, ty: DataTypeId, value: &DataValue, place: &str, lines: &mut Vec<String>) {
        match (&self.types()[ty], value) {
            (DataType::Pointer { .. }, DataValue::Pointer(PointerTarget::Elsewhere)) => {
                lines.push(self.form.not_null(place));
            }
            (DataType::Pointer { pointee, .. }, DataValue::Pointer(target)) => {
                lines.extend(self.check_pointer(*pointee, target, place));
            }
            (DataType::Pointer { .. }, DataValue::Int(0)) => lines.push(self.form.pointer("NULL", place)),
            (DataType::Pointer { .. }, DataValue::Int(address)) => {
                lines.push(self.form.pointer(&format!("(void *){}", *address as i64), place));
            }
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                self.check_elements(*element, values, place, lines);
            }
            (data @ DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                for (index, (field, value)) in fields.iter().zip(values).enumerate() {
                    self.check(field.ty, value, &part(place, data, index), lines);
                }
            }
            (DataType::Union { members, .. }, DataValue::Member(index, value)) => {
                let field = &members[*index];
                self.check(field.ty, value, &format!("{place}{}", member(&field.name)), lines);
            }
            (DataType::Float { format, .. }, DataValue::Int(bits)) => {
                lines.extend(self.form.float(*format, *bits, place))
            }
            (data, DataValue::Int(bits)) => {
                if let Some(expected) = literal::scalar(data, *bits) {
                    lines.push(self.form.integer(data, &expected, place));
                }
            }
            _ => {}
        }
    }

    /// Checks the pointee of a result outside of the test's objects: a string, or elements.
    pub(crate) fn check_reached(&mut self, reached: &NamedValue, result: &str, lines: &mut Vec<String>) {
        if library_type(self.module, reached.data).is_some() {
            return;
        }
        let members = reached.name.split('>').filter(|member| !member.is_empty());
        let place = members.fold(result.to_string(), |place, member| format!("(*{place}).{member}"));
        match &reached.value {
            DataValue::Array(values) => match self.bytes(reached.data, values) {
                Some(bytes) => lines.push(self.form.string(&literal::string(&bytes), &place)),
                None => {
                    for (index, value) in values.iter().enumerate() {
                        self.check(reached.data, value, &format!("{place}[{index}]"), lines);
                    }
                }
            },
            value => self.check(reached.data, value, &format!("(*{place})"), lines),
        }
    }

    /// Returns the characters before the terminating zero of a string.
    fn bytes(&self, element: DataTypeId, values: &[DataValue]) -> Option<Vec<u8>> {
        let DataType::Int { bits: 8, .. } = &self.types()[element] else { return None };
        let byte = |value: &DataValue| if let DataValue::Int(bits) = value { u8::try_from(*bits).ok() } else { None };
        let bytes: Vec<u8> = values.iter().map(byte).collect::<Option<_>>()?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        Some(bytes[..end].to_vec())
    }

    /// Checks the elements of an array: integers by one check, others one by one.
    pub(crate) fn check_elements(
        &mut self,
        element: DataTypeId,
        values: &[DataValue],
        place: &str,
        lines: &mut Vec<String>,
    ) {
        if values.is_empty() {
            return;
        }
        if let Some(scalar) = self.integers(element, values)
            && let Ok(name) = self.ctypes.declare(scalar, "")
            && let Ok(mut expected) = self.elements(element, values, place)
        {
            // A compound literal of characters needs braces.
            if expected.starts_with('"') {
                expected = format!("{{{expected}}}");
            }
            if self.form == CTestForm::Touchstone {
                lines.push(format!("CHECK_ARRAY({name}, {place}, {expected});"));
                return;
            }
            let own = &self.expected;
            if let Ok(declaration) = self.ctypes.declare(element, &format!("{own}[{}]", values.len())) {
                let check = self.form.array(&self.types()[scalar], &name, own, place);
                lines.push("{".to_string());
                lines.push(format!("    static const {declaration} = {expected};"));
                lines.push(format!("    {check}"));
                lines.push("}".to_string());
                return;
            }
        }
        for (index, value) in values.iter().enumerate() {
            self.check(element, value, &format!("{place}[{index}]"), lines);
        }
    }

    /// Returns the scalar type at the bottom of nested arrays, or `None` unless every element is a known integer.
    pub(crate) fn integers(&self, element: DataTypeId, values: &[DataValue]) -> Option<DataTypeId> {
        match &self.types()[element] {
            DataType::Int { .. } | DataType::Bool { .. } | DataType::Enum { .. } => {
                values.iter().all(|value| matches!(value, DataValue::Int(_))).then_some(element)
            }
            DataType::Array { element: inner, .. } => {
                let mut found = None;
                for value in values {
                    let DataValue::Array(values) = value else { return None };
                    found = Some(self.integers(*inner, values)?);
                }
                found
            }
            _ => None,
        }
    }

    fn check_pointer(&mut self, pointee: DataTypeId, target: &PointerTarget, place: &str) -> Option<String> {
        if let PointerTarget::Global { name, offset } = target
            && let Some(global) = self.module.global_named(name).map(|id| &self.module.globals[id])
            && global.linkage == Linkage::Literal
        {
            // The compiler chooses the address of a literal, so its contents are compared.
            let characters = matches!(self.types()[pointee], DataType::Int { bits: 8, .. });
            let bytes = self.literal_bytes(name).filter(|_| characters)?;
            let text = bytes.get(usize::try_from(*offset).ok()?..)?;
            let end = text.iter().position(|&byte| byte == 0)?;
            return Some(self.form.string(&literal::string(&text[..end]), place));
        }
        let expected = self.pointer(target, pointee).ok()?;
        Some(self.form.pointer(&expected, place))
    }
}
