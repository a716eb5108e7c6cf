//! Points-to and aliasing rules of the language, as a table of the module: what input pointers may point to, and which
//! objects may share memory.
//!
//! A front end fills the table; executors only read it. Without a row, a pointer points to objects of exactly its type,
//! and objects share memory if one is a part of the other. A language that allows more must say so, or proofs are
//! wrong.
//!
//! Deliberately not here: the number and the length of objects, which are bounds of a search.

use crate::{DataType, DataTypeId, DataTypes};
use std::collections::BTreeMap;

/// The rules of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryRules {
    /// Only what differs from [`Pointee::usual`], so that equal rules are equal tables.
    rows: BTreeMap<DataTypeId, Pointee>,
    /// The effect of a write of one byte.
    pub byte_writes: ByteWrites,
}

/// The pointees of an input pointer to a type, and the memory that they share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointee {
    /// The element type of the pointees.
    pub element: DataTypeId,
    /// The shape of the pointee.
    pub stands: PointeeShape,
    /// The equivalence class of the type: a pointer to one type of a class may point to an object of another.
    pub same: DataTypeId,
    /// As parts of objects, types with the same number here may be the same memory.
    pub part: DataTypeId,
    /// The memory that an object of the type may share with others, besides its parts.
    pub shares: MemorySharing,
}

/// The shape of the pointee of an input pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PointeeShape {
    /// As many elements as were specified, else one.
    #[default]
    Elements,
    /// A zero-terminated string, if strings are inputs and no length was specified.
    Text,
    /// The variable arguments of a call, each of a member of this union: a few, and always.
    Arguments,
    /// Exactly one object, to which no other pointer points: a cursor over variadic arguments.
    Cursor,
}

/// The memory that an object of a type may share.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemorySharing {
    /// Objects of which it is a part, or that are parts of it.
    #[default]
    Parts,
    /// The same, and it may have a part of any type.
    AnyPart,
    /// Any memory, also a part of it: the contents are unknown.
    Unknown,
    /// Anything may be accessed as such an object. As a part it is what it says.
    Everything,
}

/// The effect of a write of one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ByteWrites {
    /// A byte.
    #[default]
    Bytes,
    /// A part of anything, also of a pointer.
    Anything,
}

impl Pointee {
    /// Returns the default row of a type.
    pub fn usual(id: DataTypeId, data: &DataType) -> Pointee {
        let shares = match data {
            DataType::Opaque { .. } | DataType::OneOf { .. } => MemorySharing::Unknown,
            _ => MemorySharing::Parts,
        };
        Pointee { element: id, stands: PointeeShape::Elements, same: id, part: id, shares }
    }
}

impl MemoryRules {
    /// The usual, but for writes of bytes.
    pub fn new(byte_writes: ByteWrites) -> MemoryRules {
        MemoryRules { byte_writes, ..MemoryRules::default() }
    }

    /// Returns the row of a type.
    pub fn pointee(&self, id: DataTypeId, types: &DataTypes) -> Pointee {
        self.rows.get(&id).copied().unwrap_or_else(|| Pointee::usual(id, &types[id]))
    }

    /// Says what holds of a type.
    pub fn set(&mut self, id: DataTypeId, pointee: Pointee, types: &DataTypes) {
        match types.get(id).is_some_and(|data| Pointee::usual(id, data) == pointee) {
            true => self.rows.remove(&id),
            false => self.rows.insert(id, pointee),
        };
    }

    /// Returns the rows that differ from the default.
    pub fn rows(&self) -> impl Iterator<Item = (DataTypeId, Pointee)> + '_ {
        self.rows.iter().map(|(id, pointee)| (*id, *pointee))
    }
}
