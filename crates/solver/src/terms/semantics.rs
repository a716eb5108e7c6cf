//! The semantics of the operations on concrete values. Everything else (rewriting, columns, bit-blasting) is tested
//! against these few lines.

use crate::terms::term::{Op, Rel};

/// All ones in the lowest `width` bits.
pub fn mask(width: u8) -> u64 {
    if width >= 64 { u64::MAX } else { (1u64 << width) - 1 }
}

/// `value` of `width` bits as a signed number.
pub fn signed(width: u8, value: u64) -> i64 {
    let shift = 64 - u32::from(width);
    ((value << shift) as i64) >> shift
}

/// The smallest signed number of a width.
pub fn signed_min(width: u8) -> i64 {
    i64::MIN >> (64 - u32::from(width))
}

/// The greatest signed number of a width.
pub fn signed_max(width: u8) -> i64 {
    i64::MAX >> (64 - u32::from(width))
}

/// `a op b` at a width. Arguments have no bits above the width, nor has the result.
#[inline]
pub fn apply(op: Op, width: u8, a: u64, b: u64) -> u64 {
    let raw = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
        Op::URem => a.checked_rem(b).unwrap_or(a),
        Op::SDiv => {
            let (x, y) = (signed(width, a), signed(width, b));
            if y == 0 { if x < 0 { 1 } else { u64::MAX } } else { x.wrapping_div(y) as u64 }
        }
        Op::SRem => {
            let (x, y) = (signed(width, a), signed(width, b));
            if y == 0 { a } else { x.wrapping_rem(y) as u64 }
        }
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl => a << (b % u64::from(width)),
        Op::LShr => a >> (b % u64::from(width)),
        Op::AShr => (signed(width, a) >> (b % u64::from(width))) as u64,
    };
    raw & mask(width)
}

/// Returns true if `a rel b` holds at a width.
#[inline]
pub fn holds(rel: Rel, width: u8, a: u64, b: u64) -> bool {
    match rel {
        Rel::Eq => a == b,
        Rel::Ult => a < b,
        Rel::Ule => a <= b,
        Rel::Slt => signed(width, a) < signed(width, b),
        Rel::Sle => signed(width, a) <= signed(width, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corner_cases_follow_smt_lib_and_wrap() {
        let check = |op, width, a, b, expected| assert_eq!(apply(op, width, a, b), expected, "{op:?} {a} {b}");
        check(Op::Add, 8, 255, 1, 0);
        check(Op::Mul, 8, 16, 17, 16);
        check(Op::UDiv, 8, 7, 0, 255);
        check(Op::SDiv, 8, 7, 0, 255);
        check(Op::SDiv, 8, 0xf9, 0, 1);
        check(Op::SDiv, 8, 0x80, 0xff, 0x80);
        check(Op::SDiv, 64, 1 << 63, u64::MAX, 1 << 63);
        check(Op::SDiv, 8, 0xf9, 2, 0xfd);
        check(Op::SRem, 8, 0xf9, 2, 0xff);
        check(Op::SRem, 8, 0xf9, 0, 0xf9);
        check(Op::Shl, 8, 1, 9, 2);
        check(Op::AShr, 8, 0x80, 3, 0xf0);
        check(Op::LShr, 64, u64::MAX, 63, 1);
        check(Op::Shl, 1, 1, 1, 1);
    }

    #[test]
    fn comparisons_know_signs() {
        assert!(holds(Rel::Slt, 8, 0x80, 0x7f));
        assert!(holds(Rel::Ult, 8, 0x7f, 0x80));
        assert!(holds(Rel::Sle, 64, u64::MAX, 0));
    }
}
