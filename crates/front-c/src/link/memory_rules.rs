//! C's aliasing rules as the module's table: the objects that an input pointer may point to, and the types that may
//! share bytes.
//!
//! Objects are accessed by types that may alias (C11 6.5p7). The rules are derived from layouts and never from names,
//! so that they are too permissive rather than too strict.

use crate::types::ctype::VARIABLE_ARGUMENTS;
use std::collections::BTreeMap;
use touchstone_base::float::Format;
use touchstone_ir::{
    ByteWrites, DataType, DataTypeId, DataTypes, IntKind, MemoryRules, MemorySharing, Module, Pointee, PointeeShape,
    StructKind,
};

/// Fills the table of a module with final types, and marks structures with a flexible last member. With
/// `any_aliasing` (`-fno-strict-aliasing`, a `may_alias` type), types exclude nothing.
pub(crate) fn set_rules(module: &mut Module, any_aliasing: bool) {
    let open: Vec<DataTypeId> = module.types.ids().filter(|id| is_open(&module.types, *id)).collect();
    for id in open {
        if let DataType::Struct { kind, .. } = &mut module.types[id] {
            *kind = StructKind::Open;
        }
    }
    // An lvalue of character type may access any byte.
    module.memory = MemoryRules::new(ByteWrites::Anything);
    let (mut layouts, mut parts) = (BTreeMap::new(), BTreeMap::new());
    for (id, data) in module.types.iter() {
        let row = Pointee {
            element: element(module, id),
            stands: match data {
                DataType::Int { kind: IntKind::Character, bits: 8, .. } => PointeeShape::Text,
                DataType::Union { name, .. } if name == VARIABLE_ARGUMENTS => PointeeShape::Arguments,
                DataType::Struct { name, .. } if name == "struct __va_list_tag" => PointeeShape::Cursor,
                _ => PointeeShape::Elements,
            },
            same: layout(data).map_or(id, |layout| *layouts.entry(layout).or_insert(id)),
            part: scalar(data).map_or(id, |scalar| *parts.entry(scalar).or_insert(id)),
            shares: if any_aliasing { MemorySharing::Everything } else { shares(&module.types, data) },
        };
        module.memory.set(id, row, &module.types);
    }
}

/// Returns the data type `unsigned char`, if the program has it.
pub(crate) fn byte_type(types: &DataTypes) -> Option<DataTypeId> {
    let is_byte = |ty: &DataType| matches!(ty, DataType::Int { bits: 8, signed: false, .. });
    types.iter().find(|(_, ty)| is_byte(ty)).map(|(id, _)| id)
}

/// Returns the element type of a pointee: bytes for `void`.
fn element(module: &Module, pointee: DataTypeId) -> DataTypeId {
    match module.types[pointee] {
        DataType::Void => byte_type(&module.types).unwrap_or(pointee),
        _ => pointee,
    }
}

/// Returns the layout of an integer; integers of one width and signedness are one type with several names.
fn layout(data: &DataType) -> Option<(u8, bool)> {
    match data {
        DataType::Int { bits, signed, .. } => Some((*bits, *signed)),
        _ => None,
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Scalar {
    Integer(u8),
    Single,
    Double,
    Truth,
    Pointer,
}

/// Returns the class of scalars that may alias: signed and unsigned integers, and enumerations with their integers.
fn scalar(data: &DataType) -> Option<Scalar> {
    match data {
        DataType::Int { bits, .. } | DataType::Enum { bits, .. } => Some(Scalar::Integer(*bits)),
        DataType::Float { format: Format::F32, .. } => Some(Scalar::Single),
        DataType::Float { format: Format::F64, .. } => Some(Scalar::Double),
        DataType::Bool { .. } => Some(Scalar::Truth),
        DataType::Pointer { .. } => Some(Scalar::Pointer),
        _ => None,
    }
}

fn shares(types: &DataTypes, data: &DataType) -> MemorySharing {
    match data {
        DataType::Int { bits: 8, .. } | DataType::Void => MemorySharing::Everything,
        DataType::Opaque { .. } | DataType::OneOf { .. } => MemorySharing::Unknown,
        // A single field that covers the structure may represent the other members of a union.
        DataType::Struct { fields, size, .. } => match fields.as_slice() {
            [only] if types[only.ty].size(types) == *size => MemorySharing::AnyPart,
            _ => MemorySharing::Parts,
        },
        _ => MemorySharing::Parts,
    }
}

/// Returns true if objects may have more elements at the end than the type declares: `data[]`, and the older `data[0]`
/// and `data[1]`.
fn is_open(types: &DataTypes, id: DataTypeId) -> bool {
    let DataType::Struct { fields, kind: StructKind::Record, .. } = &types[id] else { return false };
    let last = fields.last().filter(|field| !field.name.is_empty());
    last.is_some_and(|last| match types[last.ty] {
        DataType::Array { element, length: 0 | 1 } => types[element].size(types) > 0,
        _ => false,
    })
}
