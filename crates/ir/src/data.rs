//! Data types: layout and names of the bytes of globals, parameters and pointees.
//!
//! Instructions do not use them. They serve code that creates or prints values: inputs, test emission, reports.

use touchstone_base::float::Format;
use touchstone_base::{IndexMap, define_id};

define_id! {
    /// A data type of a module.
    DataTypeId, "ty"
}

/// The data types of a module, interned by the front end.
pub type DataTypes = IndexMap<DataTypeId, DataType>;

/// A data type with its layout.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// No value.
    Void,
    /// An integer, `name` as the user writes it (`unsigned int`, `uint8_t`).
    Int {
        /// Spelling for people and for emitted tests.
        name: String,
        /// 8, 16, 32 or 64.
        bits: u8,
        /// True if values are printed as signed numbers.
        signed: bool,
        /// The meaning of the integer.
        kind: IntKind,
    },
    /// A float; its value is [`DataValue::Int`] with the pattern.
    Float {
        /// Spelling (`double`, or a typedef's name).
        name: String,
        /// Its format.
        format: Format,
    },
    /// A truth value in one byte, always 0 or 1.
    Bool {
        /// Spelling (`_Bool`).
        name: String,
    },
    /// An enumeration; any integer of the width may occur.
    Enum {
        /// Spelling (`enum color`, or a typedef's name).
        name: String,
        /// Width.
        bits: u8,
        /// Signedness of the underlying type.
        signed: bool,
        /// Named values.
        items: Vec<EnumItem>,
    },
    /// A bit-field: only as a field of a structure, at the byte that has its first bit. Its value is
    /// [`DataValue::Int`].
    Bits {
        /// The index of the first bit in that byte, from the lowest bit.
        first: u8,
        /// The number of bits; the field ends within the 64 bits that start with that byte.
        width: u8,
        /// True if values are printed as signed numbers.
        signed: bool,
    },
    /// A pointer.
    Pointer {
        /// The pointee type.
        pointee: DataTypeId,
        /// The pointee may not be written through it.
        to_const: bool,
    },
    /// An array with a known length.
    Array {
        /// Element type.
        element: DataTypeId,
        /// Number of elements.
        length: u64,
    },
    /// A structure; also a union that has one member which all its bytes belong to and which any bytes are a value of.
    Struct {
        /// Spelling (`struct point`, or a typedef's name).
        name: String,
        /// Fields in order.
        fields: Vec<Field>,
        /// Size in bytes with padding.
        size: u64,
        /// Alignment in bytes.
        align: u64,
        /// The kind of structure in the source.
        kind: StructKind,
    },
    /// Members that share their bytes; no tag says which one is active. An input has the member that the program reads.
    Union {
        /// Spelling.
        name: String,
        /// The members, all at offset 0.
        members: Vec<Field>,
        /// Size in bytes with padding.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
    /// One of several structures, which are distinguished by a tag. An input pointer may point to any of them: its tag
    /// is a variable that the program narrows (a `switch` over tags is a cast or a class test). Only behind pointers:
    /// nothing contains one by value, and an object has the size of its variant.
    OneOf {
        /// Spelling.
        name: String,
        /// The location of the tag in every variant.
        tag: VariantTag,
        /// The variants.
        variants: Vec<TaggedVariant>,
    },
    /// A type that can be named but not (yet) be made or read: functions, incomplete types.
    Opaque {
        /// Spelling.
        name: String,
        /// Size in bytes if known, else 0.
        size: u64,
        /// Alignment in bytes, at least 1.
        align: u64,
    },
}

/// The meaning of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum IntKind {
    /// Anything.
    #[default]
    Number,
    /// Characters: many of them, with a zero behind, are a text.
    Character,
}

/// The kind of a structure in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum StructKind {
    /// A record of the source.
    #[default]
    Record,
    /// A number that is too wide for a register, as its two halves, the low one first; the high one says whether it is signed.
    /// The fields have no names that the source knows.
    Halves,
    /// A record whose last field is an array that objects may have more elements of than it says.
    Open,
    /// Objects end in an array (the last field, to which the type gives no elements) that has as many elements as an integer
    /// before it says when the object comes into being. Only behind pointers, since only an object knows its size.
    Counted {
        /// Index of the field that says how many.
        by: usize,
    },
}

impl StructKind {
    /// Returns true if a field holds the number of elements of an object.
    pub fn is_counted(self) -> bool {
        matches!(self, StructKind::Counted { .. })
    }
}

/// The field that says how many elements the array at the end of an object has, and that array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LengthField {
    /// Byte offset of the field.
    pub offset: u64,
    /// Its width: 8, 16, 32 or 64. The number has no sign.
    pub bits: u8,
    /// The array.
    pub tail: FlexibleTail,
}

/// The location of the tag of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VariantTag {
    /// Byte offset.
    pub offset: u64,
    /// 8, 16, 32 or 64.
    pub bits: u8,
}

/// A variant of a [`DataType::OneOf`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TaggedVariant {
    /// The tag that its objects have.
    pub tag: u64,
    /// A structure.
    pub ty: DataTypeId,
}

/// The array at the end of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlexibleTail {
    /// Byte offset.
    pub offset: u64,
    /// Element type.
    pub element: DataTypeId,
    /// Number of elements that the type has.
    pub length: u64,
}

impl FlexibleTail {
    /// Returns the end of the given number of elements, in bytes from the start of the structure.
    pub fn end(&self, elements: u64, types: &DataTypes) -> u64 {
        self.offset.saturating_add(elements.saturating_mul(types[self.element].size(types)))
    }
}

/// A named value of an enumeration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EnumItem {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i64,
}

/// A field of a structure.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// Its name; empty for an anonymous member.
    pub name: String,
    /// Byte offset.
    pub offset: u64,
    /// Its type.
    pub ty: DataTypeId,
}

impl DataType {
    /// The number, sign-extended, if this is the type of one with halves and both are known; and whether it is signed.
    pub fn wide_number(&self, value: &DataValue, types: &DataTypes) -> Option<(u128, bool)> {
        let (true, DataType::Struct { fields, .. }) = (self.has_halves(), self) else { return None };
        let DataValue::Struct(values) = value else { return None };
        let [DataValue::Int(low), DataValue::Int(high)] = values.as_slice() else { return None };
        let signed = matches!(types[fields[1].ty], DataType::Int { signed: true, .. });
        Some((u128::from(*high) << 64 | u128::from(*low), signed))
    }

    /// Returns true if it is a number that consists of two halves.
    pub fn has_halves(&self) -> bool {
        matches!(self, DataType::Struct { kind: StructKind::Halves, .. })
    }

    /// Returns the field that holds the number of elements, if there is one.
    pub fn count(&self, types: &DataTypes) -> Option<LengthField> {
        let DataType::Struct { fields, kind: StructKind::Counted { by }, .. } = self else { return None };
        let field = fields.get(*by)?;
        let DataType::Int { bits, .. } = types[field.ty] else { return None };
        Some(LengthField { offset: field.offset, bits, tail: self.tail(types)? })
    }

    /// Returns true if an object knows its size, so that no further element follows it.
    pub fn has_intrinsic_size(&self) -> bool {
        match self {
            DataType::Struct { kind, .. } => kind.is_counted(),
            DataType::OneOf { .. } => true,
            _ => false,
        }
    }

    /// Returns true if a pointer to the declared type may point to an object of this type: the declared type is
    /// undefined, or this type starts with it.
    pub fn is_compatible_with(&self, declared: DataTypeId, types: &DataTypes) -> bool {
        if matches!(types[declared], DataType::Void | DataType::Opaque { size: 0, .. }) {
            return true;
        }
        let DataType::Struct { fields, .. } = self else { return false };
        let first = fields.first().filter(|first| first.offset == 0).map(|first| first.ty);
        first.is_some_and(|first| first == declared || types[first].is_compatible_with(declared, types))
    }

    /// The variant with this tag.
    pub fn variant(&self, tag: u64) -> Option<DataTypeId> {
        let DataType::OneOf { variants, .. } = self else { return None };
        variants.iter().find(|variant| variant.tag == tag).map(|variant| variant.ty)
    }

    /// Size in bytes.
    pub fn size(&self, types: &DataTypes) -> u64 {
        match self {
            DataType::Void => 0,
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => u64::from(*bits / 8),
            DataType::Float { format, .. } => u64::from(format.bits() / 8),
            DataType::Bool { .. } => 1,
            DataType::Bits { first, width, .. } => u64::from(first + width).div_ceil(8),
            DataType::Pointer { .. } => 8,
            DataType::Array { element, length } => types[*element].size(types) * length,
            DataType::Struct { size, .. } | DataType::Union { size, .. } | DataType::Opaque { size, .. } => *size,
            // What every variant has.
            DataType::OneOf { tag, .. } => tag.offset.saturating_add(u64::from(tag.bits / 8)),
        }
    }

    /// The last field of a structure that is [open](StructKind::Open): an object's value has as many elements there as the
    /// object.
    pub fn tail(&self, types: &DataTypes) -> Option<FlexibleTail> {
        let DataType::Struct { fields, kind, .. } = self else { return None };
        if matches!(kind, StructKind::Record | StructKind::Halves) {
            return None;
        }
        let last = fields.last()?;
        match types[last.ty] {
            DataType::Array { element, length } => Some(FlexibleTail { offset: last.offset, element, length }),
            _ => None,
        }
    }

    /// Size in bytes of an object with this value: its type's, or what the elements of its last field need.
    pub fn size_with(&self, value: &DataValue, types: &DataTypes) -> u64 {
        match (self.tail(types), value) {
            (Some(tail), DataValue::Struct(values)) => match values.last() {
                Some(DataValue::Array(elements)) => self.size(types).max(tail.end(elements.len() as u64, types)),
                _ => self.size(types),
            },
            _ => self.size(types),
        }
    }

    /// Alignment in bytes, at least 1.
    pub fn align(&self, types: &DataTypes) -> u64 {
        match self {
            DataType::Void | DataType::Bool { .. } | DataType::Bits { .. } => 1,
            DataType::Int { bits, .. } | DataType::Enum { bits, .. } => u64::from(*bits / 8),
            DataType::Float { format, .. } => u64::from(format.bits() / 8),
            DataType::Pointer { .. } => 8,
            DataType::Array { element, .. } => types[*element].align(types),
            DataType::Struct { align, .. } | DataType::Union { align, .. } | DataType::Opaque { align, .. } => *align,
            DataType::OneOf { tag, .. } => u64::from(tag.bits / 8),
        }
    }
}

/// A concrete value of a data type.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum DataValue {
    /// An integer, enum, truth value or float: its bits, masked to the type's width.
    Int(u64),
    /// A pointer.
    Pointer(PointerTarget),
    /// The elements of an array; more than the type has only at the end of an object (see [`DataType::tail`]).
    Array(Vec<DataValue>),
    /// The fields of a structure, in order.
    Struct(Vec<DataValue>),
    /// The member of a union that is there, by its index, and its value.
    Member(usize, Box<DataValue>),
    /// Not initialised (or of an opaque type): never compared, never written.
    Undefined,
}

/// A longer array has no value of zeros.
const MAX_ZERO_ELEMENTS: u64 = 4096;

impl DataValue {
    /// A value of zeros and null pointers, where there is one.
    pub fn zero(types: &DataTypes, data: DataTypeId) -> Option<DataValue> {
        let zero = |data: DataTypeId| DataValue::zero(types, data);
        match &types[data] {
            DataType::Int { .. } | DataType::Enum { .. } | DataType::Bool { .. } => Some(DataValue::Int(0)),
            DataType::Float { .. } | DataType::Bits { .. } => Some(DataValue::Int(0)),
            DataType::Pointer { .. } => Some(DataValue::Pointer(PointerTarget::Null)),
            DataType::Array { element, length } if *length <= MAX_ZERO_ELEMENTS => {
                Some(DataValue::Array(vec![zero(*element)?; *length as usize]))
            }
            DataType::Struct { fields, kind, .. } if !kind.is_counted() => {
                Some(DataValue::Struct(fields.iter().map(|field| zero(field.ty)).collect::<Option<_>>()?))
            }
            DataType::Union { members, .. } => Some(DataValue::Member(0, Box::new(zero(members.first()?.ty)?))),
            _ => None,
        }
    }
}

/// The target of a pointer value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum PointerTarget {
    /// Nowhere.
    Null,
    /// Into an object of the test case: index in its object list, and byte offset.
    Object {
        /// Index in the test case's object list.
        object: usize,
        /// Byte offset, possibly one past the end.
        offset: i64,
    },
    /// Into a global.
    Global {
        /// Name of the global.
        name: String,
        /// Byte offset.
        offset: i64,
    },
    /// To a function.
    Function(String),
    /// Somewhere that only exists while the function runs (a dead local, a heap object): not comparable.
    Elsewhere,
}

/// One step from a value to a part of it; a list of steps names a place (`[2].next`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemberStep {
    /// Array element.
    Index(u64),
    /// Structure field.
    Field(usize),
}
