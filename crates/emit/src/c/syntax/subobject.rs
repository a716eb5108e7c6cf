//! Subobjects: translates a byte offset into the member accesses and subscripts that denote the same part of an object.

use touchstone_ir::{DataType, DataTypeId, DataTypes, StructKind};

/// Returns the accesses (`[2].next`) from a value of type `ty` to its subobject of type `wanted` at `offset`.
pub(crate) fn subobject_path(types: &DataTypes, ty: DataTypeId, offset: u64, wanted: DataTypeId) -> Option<String> {
    if offset == 0 && compatible(types, ty, wanted) {
        return Some(String::new());
    }
    match &types[ty] {
        DataType::Array { element, length } => {
            let size = types[*element].size(types);
            let index = offset.checked_div(size)?;
            if index >= *length {
                return None;
            }
            Some(format!("[{index}]{}", subobject_path(types, *element, offset % size, wanted)?))
        }
        DataType::Struct { fields, .. } | DataType::Union { members: fields, .. } => fields.iter().find_map(|field| {
            let inside = offset.checked_sub(field.offset)?;
            if inside >= types[field.ty].size(types) {
                return None;
            }
            let rest = subobject_path(types, field.ty, inside, wanted)?;
            Some(format!("{}{rest}", member(&field.name)))
        }),
        _ => None,
    }
}

/// Returns the accesses to the largest subobject at `offset`, of whatever type.
pub(crate) fn largest_subobject_path(types: &DataTypes, ty: DataTypeId, offset: u64) -> Option<String> {
    match &types[ty] {
        DataType::Bits { .. } => None,
        _ if offset == 0 => Some(String::new()),
        DataType::Array { element, length } => {
            let size = types[*element].size(types);
            let index = offset.checked_div(size).filter(|index| index < length)?;
            Some(format!("[{index}]{}", largest_subobject_path(types, *element, offset % size)?))
        }
        DataType::Struct { fields, .. } | DataType::Union { members: fields, .. } => fields.iter().find_map(|field| {
            let inside = offset.checked_sub(field.offset).filter(|inside| *inside < types[field.ty].size(types))?;
            let path = format!("{}{}", member(&field.name), largest_subobject_path(types, field.ty, inside)?);
            (!path.is_empty()).then_some(path)
        }),
        _ => None,
    }
}

/// Returns `.name`, or an empty string for an anonymous member, which makes its own members directly accessible.
pub(crate) fn member(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(".{name}") }
}

/// Returns the access to a field of `place`; the halves of a wide integer have no names and are computed.
pub(crate) fn part(place: &str, data: &DataType, index: usize) -> String {
    match data {
        DataType::Struct { kind: StructKind::Halves, .. } if index == 0 => format!("(unsigned long)({place})"),
        DataType::Struct { kind: StructKind::Halves, .. } => format!("(unsigned long)(({place}) >> 64)"),
        DataType::Struct { fields, .. } => format!("{place}{}", member(&fields[index].name)),
        _ => place.to_string(),
    }
}

/// Returns true if a C compiler accepts a pointer to one type as a pointer to the other.
pub(crate) fn compatible(types: &DataTypes, a: DataTypeId, b: DataTypeId) -> bool {
    if a == b {
        return true;
    }
    match (&types[a], &types[b]) {
        (
            DataType::Int { name, bits, signed, .. },
            DataType::Int { name: other, bits: other_bits, signed: other_signed, .. },
        ) => bits == other_bits && signed == other_signed && family(name, *bits) == family(other, *other_bits),
        (DataType::Bool { .. }, DataType::Bool { .. }) => true,
        (DataType::Pointer { pointee, .. }, DataType::Pointer { pointee: other, .. }) => {
            compatible(types, *pointee, *other)
        }
        (DataType::Array { element, length }, DataType::Array { element: other, length: other_length }) => {
            length == other_length && compatible(types, *element, *other)
        }
        (DataType::Struct { name, size, .. }, DataType::Struct { name: other, size: other_size, .. }) => {
            name == other && size == other_size && !name.is_empty()
        }
        _ => false,
    }
}

/// Returns the integer type that a name denotes. C distinguishes types of one width: `char` and `signed char`, `long`
/// and `long long`. A typedef name reveals nothing, so it is compatible only with itself.
fn family(name: &str, bits: u8) -> &str {
    match bits {
        16 if name.contains("short") => "short",
        32 if matches!(name, "int" | "signed int" | "unsigned int" | "unsigned") => "int",
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_ir::Field;

    #[test]
    fn an_offset_becomes_the_path_to_the_wanted_part() {
        let mut types = DataTypes::new();
        let int = types.push(DataType::Int {
            name: "int".into(),
            bits: 32,
            signed: true,
            kind: touchstone_ir::IntKind::Number,
        });
        let byte = types.push(DataType::Int {
            name: "char".into(),
            bits: 8,
            signed: true,
            kind: touchstone_ir::IntKind::Character,
        });
        let pair = types.push(DataType::Array { element: int, length: 2 });
        let field = |name: &str, offset, ty| Field { name: name.into(), offset, ty };
        let node = types.push(DataType::Struct {
            name: "struct node".into(),
            fields: vec![field("tag", 0, byte), field("pair", 4, pair)],
            size: 12,
            align: 4,
            kind: touchstone_ir::StructKind::Record,
        });
        let nodes = types.push(DataType::Array { element: node, length: 3 });
        let check = |ty, offset, wanted, expected: Option<&str>| {
            assert_eq!(subobject_path(&types, ty, offset, wanted).as_deref(), expected);
        };
        check(node, 0, node, Some(""));
        check(node, 0, byte, Some(".tag"));
        check(node, 4, pair, Some(".pair"));
        check(node, 8, int, Some(".pair[1]"));
        check(nodes, 12, node, Some("[1]"));
        check(nodes, 20, int, Some("[1].pair[1]"));
        check(nodes, 36, node, None);
        check(node, 1, int, None);
        check(node, 6, int, None);
    }
}
