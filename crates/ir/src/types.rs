//! Scalar types of registers and memory accesses.

use std::fmt;

/// The type of a register or of one memory access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// An integer of 1, 8, 16, 32 or 64 bits. Signedness is in the operations.
    Int(u8),
    /// A pointer: (object, byte offset), 64 bits in memory.
    Ptr,
}

impl Ty {
    /// A truth value.
    pub const I1: Ty = Ty::Int(1);
    /// 8 bits.
    pub const I8: Ty = Ty::Int(8);
    /// 16 bits.
    pub const I16: Ty = Ty::Int(16);
    /// 32 bits.
    pub const I32: Ty = Ty::Int(32);
    /// 64 bits.
    pub const I64: Ty = Ty::Int(64);

    /// Width in bits.
    #[inline]
    pub fn bits(self) -> u8 {
        match self {
            Ty::Int(bits) => bits,
            Ty::Ptr => 64,
        }
    }
    /// Width in memory, in bytes (`i1` has none of its own and takes one).
    #[inline]
    pub fn bytes(self) -> u8 {
        self.bits().div_ceil(8)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Int(bits) => write!(f, "i{bits}"),
            Ty::Ptr => f.write_str("ptr"),
        }
    }
}

impl fmt::Debug for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The low `bits` bits of `value`; constants are always kept masked like this.
#[inline]
pub fn mask(value: u64, bits: u8) -> u64 {
    if bits >= 64 { value } else { value & ((1u64 << bits) - 1) }
}

/// `value`, a masked constant of `bits` bits, as a signed number.
#[inline]
pub fn sign_extend(value: u64, bits: u8) -> i64 {
    let shift = 64 - u32::from(bits);
    ((value << shift) as i64) >> shift
}
