//! Values of a symbolic state: constants, unless they depend on inputs.

use crate::state::memory::PointerRef;
use std::rc::Rc;
use touchstone_base::define_id;
use touchstone_solver::{TermId, Terms};

define_id! {
    /// A memory object of a state.
    ObjectId, "o"
}
define_id! {
    /// A symbolic pointer, materialised at its first dereference (lazy initialisation).
    LazyPointerId, "lazy"
}
define_id! {
    /// An input union; the first access chooses its member.
    UnionId, "union"
}

/// An integer: a constant, or a term over the inputs. Its width is the register's or the access's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Scalar {
    Const(u64),
    Term(TermId),
}

impl Scalar {
    /// Returns the integer as a term of this width.
    pub fn term(self, terms: &mut Terms, width: u8) -> TermId {
        match self {
            Scalar::Const(value) => terms.constant(width, value),
            Scalar::Term(term) => term,
        }
    }

    /// Converts a term, to a constant if rewriting reduced it to one.
    pub fn from_term(terms: &Terms, term: TermId) -> Scalar {
        match terms.as_const(term) {
            Some(value) => Scalar::Const(value),
            None => Scalar::Term(term),
        }
    }
}

/// The value of a register.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Value {
    /// An integer, or a pointer without object: null, or an address that came from an integer.
    Int(Scalar),
    /// A pointer into an object. An integer register may hold one as well, as long as its numeric value was not used.
    Ptr(Pointer),
    /// A symbolic pointer that has not been materialised yet.
    LazyPointer(LazyPointerId),
    /// One of several pointers, under guards of which exactly one holds.
    Choice(Rc<[(TermId, Value)]>),
    /// Some bytes of a pointer, read as an integer that was not used numerically.
    Bytes(PointerBytes),
    /// An uninitialised value.
    Undefined,
}

/// A pointer into an object. The offset (bytes, 64 bits) may be out of bounds: only accesses are checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Pointer {
    pub object: ObjectId,
    pub offset: Scalar,
}

/// An integer of `width` bytes: the low `bytes` of them are bytes of a pointer from `first` on, the others are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PointerBytes {
    pub pointer: PointerRef,
    pub first: u8,
    pub bytes: u8,
    pub width: u8,
}

impl PointerBytes {
    /// Returns the same integer with another number of zero bytes, or `None` if that would cut bytes of the pointer.
    pub fn resized(self, width: u8) -> Option<PointerBytes> {
        (self.bytes <= width).then_some(PointerBytes { width, ..self })
    }
}

impl Value {
    pub const NULL: Value = Value::Int(Scalar::Const(0));

    pub fn constant(value: u64) -> Value {
        Value::Int(Scalar::Const(value))
    }

    pub fn term(terms: &Terms, term: TermId) -> Value {
        Value::Int(Scalar::from_term(terms, term))
    }

    pub fn pointer(object: ObjectId, offset: u64) -> Value {
        Value::Ptr(Pointer { object, offset: Scalar::Const(offset) })
    }
}
