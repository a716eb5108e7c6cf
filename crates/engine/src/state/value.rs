//! Values of a symbolic state: constant until an input reaches them.

use crate::state::memory::PointerRef;
use std::rc::Rc;
use touchstone_base::define_id;
use touchstone_solver::{TermId, Terms};

define_id! {
    /// A memory object of a state.
    ObjectId, "o"
}
define_id! {
    /// An input pointer whose target is chosen when the program first looks at it (lazy initialisation).
    LazyId, "lazy"
}
define_id! {
    /// An input union whose member is chosen when the program looks at it.
    UnionId, "union"
}

/// An integer: a constant, or a term over the inputs. Its width is the register's or the access's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Scalar {
    Const(u64),
    Term(TermId),
}

impl Scalar {
    /// The same as a term of this width.
    pub fn term(self, terms: &mut Terms, width: u8) -> TermId {
        match self {
            Scalar::Const(value) => terms.constant(width, value),
            Scalar::Term(term) => term,
        }
    }

    /// A term, or the constant that rewriting made of it.
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
    /// A pointer into an object. An integer register may hold one as well: nobody has looked at the number yet.
    Ptr(Pointer),
    /// An input pointer that is not decided yet.
    Lazy(LazyId),
    /// One of several pointers, under guards of which exactly one holds.
    Choice(Rc<[(TermId, Value)]>),
    /// Some bytes of a pointer, read as a number that nobody has looked at yet.
    Bytes(PointerBytes),
    /// Nobody wrote it.
    Undefined,
}

/// A pointer into an object; the offset (bytes, 64 bits) may be outside, only accesses are checked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Pointer {
    pub object: ObjectId,
    pub offset: Scalar,
}

/// A number of `width` bytes: `bytes` of them are those of a pointer from `first` on, the high ones are zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PointerBytes {
    pub pointer: PointerRef,
    pub first: u8,
    pub bytes: u8,
    pub width: u8,
}

impl PointerBytes {
    /// The same number with more or fewer zeros; `None` if that would cut the pointer's bytes.
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
