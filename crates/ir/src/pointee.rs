//! What pointers from outside may lead to, and which objects may share memory: the language's rules, as a table of the module.
//!
//! A front end fills it, executors only read it. Without a row a pointer leads to objects of just its type, and objects share
//! memory where one is a part of the other: a language that allows more must say so, or proofs leave it out.
//!
//! Deliberately not here: how many objects there are, and how long they are. Those are bounds of a search.

use crate::{DataType, DataTypeId, DataTypes};
use std::collections::BTreeMap;

/// The rules of a module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MemoryRules {
    /// Only what differs from [`Pointee::usual`], so that equal rules are equal tables.
    rows: BTreeMap<DataTypeId, Pointee>,
    /// What a write of one byte may change.
    pub byte_writes: ByteWrites,
}

/// What an input pointer to a type leads to, and what shares memory with that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pointee {
    /// What objects behind the pointer are made of.
    pub element: DataTypeId,
    /// What stands there.
    pub stands: PointeeShape,
    /// Types with the same number here are the same to memory: a pointer to one may lead to an object of the other.
    pub same: DataTypeId,
    /// As parts of objects, types with the same number here may be the same memory.
    pub part: DataTypeId,
    /// What may share memory with an object of the type, beside what its parts say.
    pub shares: MemorySharing,
}

/// What stands behind an input pointer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PointeeShape {
    /// So many elements as was said, else one.
    #[default]
    Elements,
    /// A text with a zero behind it, where texts are inputs and nobody said how many elements there are.
    Text,
    /// The variable arguments of a call, each of a member of this union: a few, and always.
    Arguments,
    /// Just one object, always, and no other pointer leads to it: a cursor over such arguments.
    Cursor,
}

/// What may share memory with an object of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum MemorySharing {
    /// Objects of which it is a part, or that are parts of it.
    #[default]
    Parts,
    /// The same, and it may have a part of any type.
    AnyPart,
    /// Anything, also as a part: nobody knows what is in it.
    Unknown,
    /// Anything may be accessed as such an object. As a part it is what it says.
    Everything,
}

/// What a write of one byte may change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ByteWrites {
    /// A byte.
    #[default]
    Bytes,
    /// A part of anything, also of a pointer.
    Anything,
}

impl Pointee {
    /// What holds of a type that the table has no row for.
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

    /// What holds of a type.
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

    /// What is not as usual.
    pub fn rows(&self) -> impl Iterator<Item = (DataTypeId, Pointee)> + '_ {
        self.rows.iter().map(|(id, pointee)| (*id, *pointee))
    }
}
