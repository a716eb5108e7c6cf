//! The shapes of terms and arrays. What a shape *means* is in `semantics`; how it is built is in `terms`.

use touchstone_base::define_id;
use touchstone_base::float::{FloatOp, Format};

define_id! {
    /// A bit-vector term.
    TermId, "t"
}
define_id! {
    /// A free variable: an unknown of the program under test.
    VarId, "v"
}
define_id! {
    /// A state of the contents of a memory object.
    ArrayId, "m"
}

/// A bit-vector term of width 1..=64. A truth value is a 1-bit vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Term {
    /// A constant; `value` has no bit above `width`.
    Const {
        /// Width in bits.
        width: u8,
        /// The value.
        value: u64,
    },
    /// A free variable.
    Var {
        /// Width in bits.
        width: u8,
        /// The variable.
        var: VarId,
    },
    /// Bitwise complement.
    Not(TermId),
    /// A binary operation on two terms of equal width.
    Bin(Op, TermId, TermId),
    /// A comparison of two terms of equal width; 1 bit.
    Cmp(Rel, TermId, TermId),
    /// `Ite(condition, then, otherwise)`.
    Ite(TermId, TermId, TermId),
    /// Bits `low .. low + width` of a term.
    Extract {
        /// The term that is cut.
        term: TermId,
        /// The lowest bit that is kept.
        low: u8,
        /// The number of bits that are kept.
        width: u8,
    },
    /// The bits of `high` above those of `low`.
    Concat {
        /// The upper part.
        high: TermId,
        /// The lower part.
        low: TermId,
    },
    /// Zero extension to a greater width.
    ZExt {
        /// The narrower term.
        term: TermId,
        /// Width of the result.
        width: u8,
    },
    /// Sign extension to a greater width.
    SExt {
        /// The narrower term.
        term: TermId,
        /// Width of the result.
        width: u8,
    },
    /// `bytes` bytes of an array, little endian. A byte outside of the array reads as 0.
    Read {
        /// The contents that are read.
        array: ArrayId,
        /// Byte offset, 64 bits, unsigned.
        offset: TermId,
        /// 1..=8.
        bytes: u8,
    },
    /// An operation on floats, which are bit patterns: what `touchstone_base::float::eval` says. Only the first
    /// `FloatOp::arity` arguments count, the others repeat the first.
    Float(FloatOp, Format, [TermId; 3]),
}

/// A binary operation. All wrap. Division by zero is that of SMT-LIB (`x / 0` is all ones or ±1, `x % 0` is `x`); a
/// shift amount is taken modulo the width.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Op {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
    /// Unsigned division.
    UDiv,
    /// Signed division, toward zero; `MIN / -1` is `MIN`.
    SDiv,
    /// Unsigned remainder.
    URem,
    /// Signed remainder, with the sign of the dividend.
    SRem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right, filling with zeros.
    LShr,
    /// Shift right, filling with the sign.
    AShr,
}

impl Op {
    /// Returns true if `a op b == b op a`.
    pub fn commutes(self) -> bool {
        matches!(self, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor)
    }
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rel {
    /// Equal.
    Eq,
    /// Less, unsigned.
    Ult,
    /// At most, unsigned.
    Ule,
    /// Less, signed.
    Slt,
    /// At most, signed.
    Sle,
}

/// The contents of a memory object: the initial elements, then writes in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Array {
    /// The contents before any write at an unknown offset.
    Base {
        /// Size in bytes.
        size: u64,
        /// The elements, contiguous, covering `0..size`.
        elements: Vec<Element>,
    },
    /// The contents after one write. Bytes outside of the array are dropped.
    Store {
        /// The contents before.
        array: ArrayId,
        /// Byte offset, 64 bits, unsigned.
        offset: TermId,
        /// The written value, little endian, `8 * bytes` bits.
        value: TermId,
        /// 1..=8.
        bytes: u8,
    },
}

/// A piece of an array's initial contents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Element {
    /// Byte offset of the piece.
    pub offset: u64,
    /// Its size, 1..=8.
    pub bytes: u8,
    /// Its value, `8 * bytes` bits.
    pub term: TermId,
}
