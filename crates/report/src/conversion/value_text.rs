//! Values of tests as JSON, and in one line.

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use touchstone_base::float::Format;
use touchstone_criteria::ObjectInput;
use touchstone_ir::{DataType, DataTypeId, DataTypes, DataValue, IntKind, PointerTarget, sign_extend};

/// A value with its type: integers by the signedness of the type, structures as objects in the order of their fields.
pub(crate) struct Shown<'a> {
    pub(crate) types: &'a DataTypes,
    pub(crate) objects: &'a [ObjectInput],
    pub(crate) ty: DataTypeId,
    pub(crate) value: &'a DataValue,
}

impl<'a> Shown<'a> {
    fn part(&self, ty: DataTypeId, value: &'a DataValue) -> Shown<'a> {
        Shown { types: self.types, objects: self.objects, ty, value }
    }

    /// Returns a short form: `-5`, `GREEN`, `'a'`, `{1, 2}`, `"ab"`, `&list`, `NULL`.
    pub(crate) fn brief(&self) -> String {
        match (&self.types[self.ty], self.value) {
            (DataType::Int { kind: IntKind::Character, .. }, DataValue::Int(bits @ 32..=126)) => {
                format!("'{}'", char::from(*bits as u8))
            }
            (DataType::Enum { items, bits, signed, .. }, DataValue::Int(value)) => {
                let number = if *signed { sign_extend(*value, *bits) } else { *value as i64 };
                let named = items.iter().find(|item| item.value == number);
                named.map_or_else(|| number.to_string(), |item| item.name.clone())
            }
            (ty, DataValue::Int(value)) => number(ty, *value),
            (_, DataValue::Pointer(target)) => self.brief_pointer(target),
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                brief_elements(self.types, self.objects, *element, values)
            }
            (ty, value) if let Some((number, signed)) = ty.wide_number(value, self.types) => wide(number, signed),
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                let parts: Vec<String> =
                    fields.iter().zip(values).map(|(field, value)| self.part(field.ty, value).brief()).collect();
                format!("{{{}}}", parts.join(", "))
            }
            (_, DataValue::Undefined) => "?".to_string(),
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                let field = &members[*member];
                let part = self.part(field.ty, value).brief();
                if field.name.is_empty() { part } else { format!("{{.{} = {part}}}", field.name) }
            }
            (_, DataValue::Array(_) | DataValue::Struct(_) | DataValue::Member(..)) => "…".to_string(),
        }
    }

    fn brief_pointer(&self, target: &PointerTarget) -> String {
        let at = |name: &str, offset: i64| match offset {
            0 => format!("&{name}"),
            offset => format!("&{name}{offset:+}"),
        };
        match target {
            PointerTarget::Null => "NULL".to_string(),
            PointerTarget::Object { object, offset } => {
                at(self.objects.get(*object).map_or("?", |object| object.name.as_str()), *offset)
            }
            PointerTarget::Global { name, offset } => at(name, *offset),
            PointerTarget::Function(name) => format!("&{name}"),
            PointerTarget::Elsewhere => "?".to_string(),
        }
    }
}

/// Returns the elements of an array in short.
pub(crate) fn brief_elements(
    types: &DataTypes,
    objects: &[ObjectInput],
    element: DataTypeId,
    values: &[DataValue],
) -> String {
    const MAX_ELEMENTS: usize = 12;
    if let Some(text) = brief_string(&types[element], values) {
        return text;
    }
    let mut parts: Vec<String> =
        values.iter().take(MAX_ELEMENTS).map(|value| Shown { types, objects, ty: element, value }.brief()).collect();
    if values.len() > MAX_ELEMENTS {
        parts.push("…".to_string());
    }
    format!("{{{}}}", parts.join(", "))
}

/// Returns a printable string with its terminator in quotes.
fn brief_string(element: &DataType, values: &[DataValue]) -> Option<String> {
    if !matches!(element, DataType::Int { kind: IntKind::Character, .. }) || values.len() < 2 {
        return None;
    }
    let end = values.iter().position(|value| *value == DataValue::Int(0))?;
    let mut text = String::new();
    for value in &values[..end] {
        match value {
            DataValue::Int(byte @ 32..=126) if *byte != 34 => text.push(char::from(*byte as u8)),
            _ => return None,
        }
    }
    Some(format!("\"{text}\""))
}

fn number(ty: &DataType, value: u64) -> String {
    match ty {
        DataType::Float { format: Format::F32, .. } => {
            float_text(f32::from_bits(value as u32), f64::from(f32::from_bits(value as u32)))
        }
        DataType::Float { format: Format::F64, .. } => float_text(f64::from_bits(value), f64::from_bits(value)),
        DataType::Int { bits, signed: true, .. }
        | DataType::Enum { bits, signed: true, .. }
        | DataType::Bits { width: bits, signed: true, .. } => sign_extend(value, *bits).to_string(),
        _ => value.to_string(),
    }
}

/// Prints infinities and NaNs as C's library does; other floats with the fewest digits that are exact.
fn float_text(shortest: impl std::fmt::Debug, value: f64) -> String {
    match value {
        _ if value.is_nan() => "nan".to_string(),
        f64::INFINITY => "inf".to_string(),
        f64::NEG_INFINITY => "-inf".to_string(),
        _ => format!("{shortest:?}"),
    }
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.types[self.ty], self.value) {
            (ty @ DataType::Float { format, .. }, DataValue::Int(value)) => match format.value(*value) {
                // JSON has only finite numbers.
                finite if finite.is_finite() => serializer.serialize_f64(finite),
                _ => serializer.serialize_str(&number(ty, *value)),
            },
            (DataType::Bool { .. }, DataValue::Int(value)) => serializer.serialize_bool(*value != 0),
            (
                DataType::Int { bits, signed: true, .. }
                | DataType::Enum { bits, signed: true, .. }
                | DataType::Bits { width: bits, signed: true, .. },
                DataValue::Int(value),
            ) => serializer.serialize_i64(sign_extend(*value, *bits)),
            (_, DataValue::Int(value)) => serializer.serialize_u64(*value),
            (_, DataValue::Pointer(target)) => self.serialize_pointer(target, serializer),
            (DataType::Array { element, .. }, DataValue::Array(values)) => {
                Elements { types: self.types, objects: self.objects, element: *element, values }.serialize(serializer)
            }
            (ty, value) if let Some((number, signed)) = ty.wide_number(value, self.types) => {
                // Most JSON readers don't accept other values as numbers.
                match i64::try_from(number as i128) {
                    Ok(small) if signed || small >= 0 => serializer.serialize_i64(small),
                    _ => serializer.serialize_str(&wide(number, signed)),
                }
            }
            (DataType::Struct { fields, .. }, DataValue::Struct(values)) => {
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for (index, (field, value)) in fields.iter().zip(values).enumerate() {
                    // An anonymous member is named by its position.
                    let name = if field.name.is_empty() { format!("#{index}") } else { field.name.clone() };
                    map.serialize_entry(&name, &self.part(field.ty, value))?;
                }
                map.end()
            }
            (DataType::Union { members, .. }, DataValue::Member(member, value)) => {
                let field = &members[*member];
                let name = if field.name.is_empty() { format!("#{member}") } else { field.name.clone() };
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(&name, &self.part(field.ty, value))?;
                map.end()
            }
            (_, DataValue::Undefined | DataValue::Array(_) | DataValue::Struct(_) | DataValue::Member(..)) => {
                Marked { undefined: true }.serialize(serializer)
            }
        }
    }
}

fn wide(number: u128, signed: bool) -> String {
    if signed { (number as i128).to_string() } else { number.to_string() }
}

/// An undefined value: `{"undefined": true}`.
#[derive(Serialize)]
struct Marked {
    undefined: bool,
}

#[derive(Serialize)]
struct IntoObject<'a> {
    object: &'a str,
    offset: i64,
}

#[derive(Serialize)]
struct IntoGlobal<'a> {
    global: &'a str,
    offset: i64,
}

#[derive(Serialize)]
struct ToFunction<'a> {
    function: &'a str,
}

#[derive(Serialize)]
struct Elsewhere {
    elsewhere: bool,
}

impl Shown<'_> {
    fn serialize_pointer<S: Serializer>(&self, target: &PointerTarget, serializer: S) -> Result<S::Ok, S::Error> {
        match target {
            PointerTarget::Null => serializer.serialize_none(),
            PointerTarget::Object { object, offset } => {
                let name = self.objects.get(*object).map_or("?", |object| object.name.as_str());
                IntoObject { object: name, offset: *offset }.serialize(serializer)
            }
            PointerTarget::Global { name, offset } => {
                IntoGlobal { global: name, offset: *offset }.serialize(serializer)
            }
            PointerTarget::Function(name) => ToFunction { function: name }.serialize(serializer),
            PointerTarget::Elsewhere => Elsewhere { elsewhere: true }.serialize(serializer),
        }
    }
}

/// The elements of an array.
pub(crate) struct Elements<'a> {
    pub(crate) types: &'a DataTypes,
    pub(crate) objects: &'a [ObjectInput],
    pub(crate) element: DataTypeId,
    pub(crate) values: &'a [DataValue],
}

impl Serialize for Elements<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.values.len()))?;
        for value in self.values {
            list.serialize_element(&Shown { types: self.types, objects: self.objects, ty: self.element, value })?;
        }
        list.end()
    }
}
