//! Integer semantics on masked constants: the single definition of what `add` or `sdiv` computes.
//!
//! All functions take and return values masked to their width (see [`touchstone_ir::mask`]). They are public so that
//! constant folding computes exactly the same.

use touchstone_ir::{BinOp, CastOp, CmpOp, ErrorKind, mask, sign_extend};

/// Computes `a op b` on `bits`-bit integers. Fails only for division and remainder by zero.
#[inline(always)]
pub fn bin(op: BinOp, a: u64, b: u64, bits: u8) -> Result<u64, ErrorKind> {
    let divides = matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem);
    if divides && b == 0 {
        return Err(ErrorKind::DivisionByZero);
    }
    let amount = || (b % u64::from(bits)) as u32;
    let signed = |value| sign_extend(value, bits);
    let value = match op {
        BinOp::Add => a.wrapping_add(b),
        BinOp::Sub => a.wrapping_sub(b),
        BinOp::Mul => a.wrapping_mul(b),
        BinOp::UDiv => a / b,
        BinOp::URem => a % b,
        BinOp::SDiv => signed(a).wrapping_div(signed(b)) as u64,
        BinOp::SRem => signed(a).wrapping_rem(signed(b)) as u64,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a << amount(),
        BinOp::LShr => a >> amount(),
        BinOp::AShr => (signed(a) >> amount()) as u64,
    };
    Ok(mask(value, bits))
}

/// Returns true if an operation traps on common machines although it has a value here: the least number divided by -1.
#[inline]
pub fn traps(op: BinOp, a: u64, b: u64, bits: u8) -> bool {
    matches!(op, BinOp::SDiv | BinOp::SRem) && b == mask(u64::MAX, bits) && a == 1 << (bits - 1)
}

/// Returns true if `a op b` holds for `bits`-bit integers.
#[inline]
pub fn cmp(op: CmpOp, a: u64, b: u64, bits: u8) -> bool {
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Slt => sign_extend(a, bits) < sign_extend(b, bits),
        CmpOp::Sle => sign_extend(a, bits) <= sign_extend(b, bits),
    }
}

/// Casts between integers; a pointer is cast by its address.
#[inline]
pub fn cast(op: CastOp, value: u64, from_bits: u8, to_bits: u8) -> u64 {
    match op {
        CastOp::Sext => mask(sign_extend(value, from_bits) as u64, to_bits),
        CastOp::Zext | CastOp::Trunc | CastOp::PtrToInt | CastOp::IntToPtr => mask(value, to_bits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_operations_follow_the_ir_contract() {
        let check = |op, a: i64, b: i64, bits, expected: Result<i64, ErrorKind>| {
            let got = bin(op, mask(a as u64, bits), mask(b as u64, bits), bits);
            assert_eq!(got, expected.map(|value| mask(value as u64, bits)), "{op:?} {a} {b} at {bits} bits");
        };
        check(BinOp::Add, 127, 1, 8, Ok(-128));
        check(BinOp::Add, i64::MAX, 1, 64, Ok(i64::MIN));
        check(BinOp::Sub, 0, 1, 16, Ok(-1));
        check(BinOp::Mul, 1 << 20, 1 << 20, 32, Ok(0));
        check(BinOp::SDiv, -7, 2, 32, Ok(-3));
        check(BinOp::SRem, -7, 2, 32, Ok(-1));
        check(BinOp::SRem, 7, -2, 32, Ok(1));
        check(BinOp::UDiv, -7, 2, 8, Ok(124));
        check(BinOp::URem, -7, 10, 8, Ok(9));
        check(BinOp::SDiv, i64::from(i32::MIN), -1, 32, Ok(i64::from(i32::MIN)));
        check(BinOp::SRem, i64::from(i32::MIN), -1, 32, Ok(0));
        check(BinOp::SDiv, i64::MIN, -1, 64, Ok(i64::MIN));
        check(BinOp::SRem, i64::MIN, -1, 64, Ok(0));
        for op in [BinOp::UDiv, BinOp::SDiv, BinOp::URem, BinOp::SRem] {
            check(op, 3, 0, 32, Err(ErrorKind::DivisionByZero));
        }
        check(BinOp::Shl, 1, 31, 32, Ok(1 << 31));
        check(BinOp::Shl, 1, 33, 32, Ok(2));
        check(BinOp::LShr, -1, 28, 32, Ok(15));
        check(BinOp::AShr, -16, 2, 32, Ok(-4));
        check(BinOp::AShr, -16, 66, 64, Ok(-4));
        check(BinOp::Xor, 0b1100, 0b1010, 8, Ok(0b0110));
        check(BinOp::And, 0b1100, 0b1010, 8, Ok(0b1000));
        check(BinOp::Or, 0b1100, 0b1010, 8, Ok(0b1110));
    }

    #[test]
    fn relations_know_their_signedness() {
        let check = |op, a: i64, b: i64, bits, expected| {
            assert_eq!(cmp(op, mask(a as u64, bits), mask(b as u64, bits), bits), expected, "{op:?} {a} {b}");
        };
        check(CmpOp::Slt, -1, 0, 8, true);
        check(CmpOp::Ult, -1, 0, 8, false);
        check(CmpOp::Sle, -1, -1, 64, true);
        check(CmpOp::Ule, 5, 4, 32, false);
        check(CmpOp::Eq, 255, -1, 8, true);
        check(CmpOp::Ne, 255, -1, 8, false);
    }

    #[test]
    fn casts_widen_and_narrow() {
        assert_eq!(cast(CastOp::Sext, 0x80, 8, 32), 0xffff_ff80);
        assert_eq!(cast(CastOp::Zext, 0x80, 8, 32), 0x80);
        assert_eq!(cast(CastOp::Trunc, 0x1234, 16, 8), 0x34);
        assert_eq!(cast(CastOp::Sext, 1, 1, 8), 0xff);
    }
}
