//! The abstract domain of integers: unsigned and signed intervals and known bits.
//!
//! The elements are the solver's [`Facts`]. Every function over-approximates the reference interpreter's arithmetic on
//! the operands that the facts admit, and is checked against it for all values of a small width.

use touchstone_base::fault::{Fault, is_injected};
use touchstone_base::float::{FloatOp, Format};
use touchstone_interp::arith;
use touchstone_ir::{BinOp, CmpOp, mask, sign_extend};
use touchstone_solver::Facts;

/// Returns the result of a float operation: only constants are propagated.
pub(crate) fn float(op: FloatOp, format: Format, args: &[Facts]) -> Facts {
    let width = op.result_bits(format);
    let known: Option<Vec<u64>> = args.iter().map(Facts::singleton).collect();
    known.map_or(Facts::top(width), |args| Facts::constant(width, touchstone_base::float::eval(op, format, &args)))
}

/// Returns the possible values of `a op b`. A division by zero has no result, so zero divisors are ignored.
pub(crate) fn bin(op: BinOp, a: &Facts, b: &Facts) -> Facts {
    let width = a.width;
    if a.is_empty() || b.is_empty() {
        return Facts::top(width);
    }
    if let (Some(x), Some(y)) = (a.singleton(), b.singleton()) {
        return arith::bin(op, x, y, width).map_or(Facts::top(width), |value| Facts::constant(width, value));
    }
    let result = match op {
        BinOp::Add => sum(a, b, i128::checked_add, |y| y).meet(&low_bits(a, b, op)),
        BinOp::Sub => sum(a, b, i128::checked_sub, |(low, high)| (high, low)).meet(&low_bits(a, b, op)),
        BinOp::Mul => product(a, b).meet(&low_bits(a, b, op)),
        BinOp::UDiv => quotient(a, b),
        BinOp::URem => remainder(a, b),
        BinOp::SDiv => signed_quotient(a, b),
        BinOp::SRem => signed_remainder(a, b),
        BinOp::And => {
            let bits = Facts::bits(width, a.zeros | b.zeros, a.ones & b.ones);
            bits.meet(&Facts::between(width, 0, a.unsigned.1.min(b.unsigned.1)))
        }
        BinOp::Or => {
            let bits = Facts::bits(width, a.zeros & b.zeros, a.ones | b.ones);
            bits.meet(&Facts::between(width, a.unsigned.0.max(b.unsigned.0), mask(u64::MAX, width)))
        }
        BinOp::Xor => Facts::bits(width, a.zeros & b.zeros | a.ones & b.ones, a.zeros & b.ones | a.ones & b.zeros),
        BinOp::Shl | BinOp::LShr | BinOp::AShr => shift(op, a, b),
    };
    // Existing operands have a result: contradicting facts can only come from operands that do not exist.
    if result.is_empty() { Facts::top(width) } else { result }
}

/// Returns the truth of `a op b`, if it is certain.
pub(crate) fn decide(op: CmpOp, a: &Facts, b: &Facts) -> Option<bool> {
    let known = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match op {
        CmpOp::Eq => {
            let same = a.singleton().is_some() && a.singleton() == b.singleton();
            known(same, a.meet(b).is_empty())
        }
        CmpOp::Ne => decide(CmpOp::Eq, a, b).map(|equal| !equal),
        CmpOp::Ult => known(a.unsigned.1 < b.unsigned.0, a.unsigned.0 >= b.unsigned.1),
        CmpOp::Ule => known(a.unsigned.1 <= b.unsigned.0, a.unsigned.0 > b.unsigned.1),
        CmpOp::Slt => known(a.signed.1 < b.signed.0, a.signed.0 >= b.signed.1),
        CmpOp::Sle => known(a.signed.1 <= b.signed.0, a.signed.0 > b.signed.1),
    }
}

/// Refines both operands to where `a op b` is `truth`; the facts are empty if that is impossible.
pub(crate) fn refine_by(op: CmpOp, a: &Facts, b: &Facts, truth: bool) -> (Facts, Facts) {
    let (op, a, b, swapped) = match (op, truth) {
        (CmpOp::Eq, true) | (CmpOp::Ne, false) => {
            let both = a.meet(b);
            return (both, both);
        }
        (CmpOp::Eq, false) | (CmpOp::Ne, true) => return (without(a, b), without(b, a)),
        (op, true) => (op, a, b, false),
        (CmpOp::Ult, false) => (CmpOp::Ule, b, a, true),
        (CmpOp::Ule, false) => (CmpOp::Ult, b, a, true),
        (CmpOp::Slt, false) => (CmpOp::Sle, b, a, true),
        (CmpOp::Sle, false) => (CmpOp::Slt, b, a, true),
    };
    let (mut less, mut more) = (*a, *b);
    let width = a.width;
    let strict = i128::from(matches!(op, CmpOp::Ult | CmpOp::Slt)) + i128::from(is_injected(Fault::NarrowInterval));
    if matches!(op, CmpOp::Ult | CmpOp::Ule) {
        less = less.meet(&unsigned_range(width, 0, i128::from(b.unsigned.1) - strict));
        more = more.meet(&unsigned_range(width, i128::from(a.unsigned.0) + strict, i128::from(mask(u64::MAX, width))));
    } else {
        let (least, greatest) = signed_limits(width);
        less = less.meet(&signed_range(width, least, i128::from(b.signed.1) - strict));
        more = more.meet(&signed_range(width, i128::from(a.signed.0) + strict, greatest));
    }
    if swapped { (more, less) } else { (less, more) }
}

/// Returns `a` without the only value of `b`.
fn without(a: &Facts, b: &Facts) -> Facts {
    let Some(value) = b.singleton() else { return *a };
    let mut facts = *a;
    let as_signed = sign_extend(value, a.width);
    if facts.singleton() == Some(value) {
        return empty(a.width);
    }
    if facts.unsigned.0 == value {
        facts.unsigned.0 += 1;
    }
    if facts.unsigned.1 == value {
        facts.unsigned.1 -= 1;
    }
    if facts.signed.0 == as_signed {
        facts.signed.0 += 1;
    }
    if facts.signed.1 == as_signed {
        facts.signed.1 -= 1;
    }
    facts.meet(&Facts::top(a.width))
}

/// Returns the bottom element: no value at all.
pub(crate) fn empty(width: u8) -> Facts {
    Facts { unsigned: (1, 0), ..Facts::top(width) }
}

fn signed_limits(width: u8) -> (i128, i128) {
    (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
}

fn unsigned_range(width: u8, low: i128, high: i128) -> Facts {
    if low > high { empty(width) } else { Facts::between(width, low as u64, high as u64) }
}

fn signed_range(width: u8, low: i128, high: i128) -> Facts {
    if low > high { empty(width) } else { Facts::signed_between(width, low as i64, high as i64) }
}

/// Returns the possible values of an integer in `low..=high` after wrapping to a width.
pub(crate) fn wrapped(width: u8, low: i128, high: i128) -> Facts {
    let size = 1i128 << width;
    let mut facts = Facts::top(width);
    if low > high || high.checked_sub(low).is_none_or(|span| span >= size) {
        return facts;
    }
    if low.div_euclid(size) == high.div_euclid(size) {
        facts = facts.meet(&unsigned_range(width, low.rem_euclid(size), high.rem_euclid(size)));
    }
    let half = size / 2;
    if let (Some(from), Some(to)) = (low.checked_add(half), high.checked_add(half))
        && from.div_euclid(size) == to.div_euclid(size)
    {
        facts = facts.meet(&signed_range(width, from.rem_euclid(size) - half, to.rem_euclid(size) - half));
    }
    facts
}

fn unsigned(a: &Facts) -> (i128, i128) {
    (i128::from(a.unsigned.0), i128::from(a.unsigned.1))
}

fn signed(a: &Facts) -> (i128, i128) {
    (i128::from(a.signed.0), i128::from(a.signed.1))
}

fn sum(a: &Facts, b: &Facts, op: fn(i128, i128) -> Option<i128>, order: fn((i128, i128)) -> (i128, i128)) -> Facts {
    let range = |x: (i128, i128), y: (i128, i128)| {
        let y = order(y);
        match (op(x.0, y.0), op(x.1, y.1)) {
            (Some(low), Some(high)) => wrapped(a.width, low, high),
            _ => Facts::top(a.width),
        }
    };
    range(unsigned(a), unsigned(b)).meet(&range(signed(a), signed(b)))
}

fn product(a: &Facts, b: &Facts) -> Facts {
    let zeros = (a.trailing_zeros() + b.trailing_zeros()).min(u32::from(a.width));
    let bits = Facts::bits(a.width, low_mask(zeros), 0);
    let range = |x: (i128, i128), y: (i128, i128)| {
        let corners = [x.0.checked_mul(y.0), x.0.checked_mul(y.1), x.1.checked_mul(y.0), x.1.checked_mul(y.1)];
        hull(a.width, corners.into_iter().collect::<Option<Vec<i128>>>())
    };
    bits.meet(&range(unsigned(a), unsigned(b))).meet(&range(signed(a), signed(b)))
}

/// Returns the interval hull of corners.
fn hull(width: u8, corners: Option<Vec<i128>>) -> Facts {
    let Some(corners) = corners else { return Facts::top(width) };
    match (corners.iter().min(), corners.iter().max()) {
        (Some(&low), Some(&high)) => wrapped(width, low, high),
        _ => Facts::top(width),
    }
}

fn low_mask(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// Returns the known low bits of a sum, difference or product, which depend only on the low bits of the operands.
fn low_bits(a: &Facts, b: &Facts, op: BinOp) -> Facts {
    let known = |f: &Facts| (!(f.zeros | f.ones)).trailing_zeros().min(u32::from(f.width));
    let m = low_mask(known(a).min(known(b)));
    let value = match op {
        BinOp::Add => a.ones.wrapping_add(b.ones),
        BinOp::Sub => a.ones.wrapping_sub(b.ones),
        _ => a.ones.wrapping_mul(b.ones),
    };
    let m = mask(m, a.width);
    Facts::bits(a.width, !value & m, value & m)
}

fn quotient(a: &Facts, b: &Facts) -> Facts {
    if b.unsigned.1 == 0 {
        return Facts::top(a.width);
    }
    Facts::between(a.width, a.unsigned.0 / b.unsigned.1, a.unsigned.1 / b.unsigned.0.max(1))
}

fn remainder(a: &Facts, b: &Facts) -> Facts {
    if b.unsigned.1 == 0 {
        return Facts::top(a.width);
    }
    if a.unsigned.1 < b.unsigned.0 {
        return *a;
    }
    Facts::between(a.width, 0, a.unsigned.1.min(b.unsigned.1 - 1))
}

fn signed_quotient(a: &Facts, b: &Facts) -> Facts {
    let ((low, high), (x, y)) = (signed(b), signed(a));
    let mut corners = Vec::new();
    // On divisors of one sign, truncated division is monotonic in each operand: the extremes are at corners.
    for (from, to) in [(low.max(1), high), (low, high.min(-1))] {
        if from <= to {
            corners.extend([x / from, x / to, y / from, y / to]);
        }
    }
    hull(a.width, Some(corners))
}

fn signed_remainder(a: &Facts, b: &Facts) -> Facts {
    let ((low, high), (x, y)) = (signed(b), signed(a));
    let most = low.abs().max(high.abs()) - 1;
    if most < 0 {
        return Facts::top(a.width);
    }
    let from = if x < 0 { x.max(-most) } else { 0 };
    let to = if y > 0 { y.min(most) } else { 0 };
    signed_range(a.width, from, to)
}

/// Returns the result of a shift. The amount is taken modulo the width, so all amounts are enumerated.
fn shift(op: BinOp, a: &Facts, b: &Facts) -> Facts {
    let width = u64::from(a.width);
    let any = b.unsigned.1 >= width && b.singleton().is_none();
    let by = |amount: u64| match b.singleton() {
        Some(value) => value % width == amount,
        None => any || b.admits(amount),
    };
    let amounts = (0..width).filter(|amount| by(*amount));
    let join = |all: Option<Facts>, amount: u64| {
        let one = shift_by(op, a, amount as u32);
        Some(all.map_or(one, |all| all.join(&one)))
    };
    amounts.fold(None, join).unwrap_or(Facts::top(a.width))
}

fn shift_by(op: BinOp, a: &Facts, amount: u32) -> Facts {
    let (width, all) = (a.width, mask(u64::MAX, a.width));
    match op {
        BinOp::Shl => {
            let bits = Facts::bits(width, (a.zeros << amount | low_mask(amount)) & all, (a.ones << amount) & all);
            let scaled = |(low, high): (i128, i128)| wrapped(width, low << amount, high << amount);
            // 64-bit operands shifted by up to 63 stay below 2^127.
            bits.meet(&scaled(unsigned(a))).meet(&scaled(signed(a)))
        }
        BinOp::LShr => {
            let bits = Facts::bits(width, (a.zeros >> amount) | (all & !(all >> amount)), a.ones >> amount);
            bits.meet(&Facts::between(width, a.unsigned.0 >> amount, a.unsigned.1 >> amount))
        }
        _ => Facts::signed_between(width, a.signed.0 >> amount, a.signed.1 >> amount),
    }
}

/// Returns the possible values of a zero extension.
pub(crate) fn zext(a: &Facts, width: u8) -> Facts {
    let high = mask(u64::MAX, width) & !mask(u64::MAX, a.width);
    Facts::between(width, a.unsigned.0, a.unsigned.1).meet(&Facts::bits(width, a.zeros | high, a.ones))
}

/// Returns the possible values of a sign extension.
pub(crate) fn sext(a: &Facts, width: u8) -> Facts {
    let low = mask(u64::MAX, a.width) >> 1;
    Facts::signed_between(width, a.signed.0, a.signed.1).meet(&Facts::bits(width, a.zeros & low, a.ones & low))
}

/// Returns the possible values of a truncation.
pub(crate) fn trunc(a: &Facts, width: u8) -> Facts {
    let m = mask(u64::MAX, width);
    let ((ul, uh), (sl, sh)) = (unsigned(a), signed(a));
    if is_injected(Fault::TruncationKeepsRange) {
        return Facts::between(width, a.unsigned.0.min(m), a.unsigned.1.min(m));
    }
    Facts::bits(width, a.zeros & m, a.ones & m).meet(&wrapped(width, ul, uh)).meet(&wrapped(width, sl, sh))
}

/// Widens `old` by `new`: bounds that moved are pushed to the next landmark, which keeps ascending chains short.
pub(crate) fn widen(old: &Facts, new: &Facts, landmarks: &[i128]) -> Facts {
    let mut wide = old.join(new);
    let below = |value: i128, least: i128| {
        landmarks.iter().rev().find(|mark| **mark <= value).map_or(least, |mark| (*mark).max(least))
    };
    let above =
        |value: i128, most: i128| landmarks.iter().find(|mark| **mark >= value).map_or(most, |mark| (*mark).min(most));
    let (least, greatest) = signed_limits(old.width);
    if wide.unsigned.0 < old.unsigned.0 {
        wide.unsigned.0 = below(i128::from(wide.unsigned.0), 0) as u64;
    }
    if wide.unsigned.1 > old.unsigned.1 {
        wide.unsigned.1 = above(i128::from(wide.unsigned.1), i128::from(mask(u64::MAX, old.width))) as u64;
    }
    if wide.signed.0 < old.signed.0 {
        wide.signed.0 = below(i128::from(wide.signed.0), least) as i64;
    }
    if wide.signed.1 > old.signed.1 {
        wide.signed.1 = above(i128::from(wide.signed.1), greatest) as i64;
    }
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: u8 = 4;
    const OPS: [BinOp; 13] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::UDiv,
        BinOp::SDiv,
        BinOp::URem,
        BinOp::SRem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::AShr,
    ];
    const RELATIONS: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Ult, CmpOp::Ule, CmpOp::Slt, CmpOp::Sle];

    /// Returns a variety of facts: all unsigned and signed intervals, some known bits, and combinations.
    fn samples() -> Vec<(Facts, Vec<u64>)> {
        let mut all = Vec::new();
        for low in 0..16u64 {
            for high in low..16 {
                all.push(Facts::between(WIDTH, low, high));
                all.push(Facts::signed_between(WIDTH, low as i64 - 8, high as i64 - 8));
                if (low + high) % 3 == 0 {
                    let bits = Facts::bits(WIDTH, low & !high, high & !low);
                    all.push(bits);
                    all.push(bits.meet(&Facts::between(WIDTH, low, 15)));
                }
            }
        }
        let values = |facts: &Facts| (0..16).filter(|value| facts.admits(*value)).collect::<Vec<u64>>();
        all.into_iter().filter(|facts| !facts.is_empty()).map(|facts| (facts, values(&facts))).collect()
    }

    #[test]
    fn every_result_of_admitted_operands_is_admitted() {
        let samples = samples();
        for (a, xs) in &samples {
            for (b, ys) in &samples {
                for op in OPS {
                    let result = bin(op, a, b);
                    for &x in xs {
                        for &y in ys {
                            if let Ok(value) = arith::bin(op, x, y, WIDTH) {
                                assert!(result.admits(value), "{op:?} {x} {y} = {value}: {a:?} {b:?} {result:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn relations_are_decided_and_refined_soundly() {
        let samples = samples();
        for (a, xs) in &samples {
            for (b, ys) in &samples {
                for op in RELATIONS {
                    let certain = decide(op, a, b);
                    let refined = [refine_by(op, a, b, false), refine_by(op, a, b, true)];
                    for &x in xs {
                        for &y in ys {
                            let truth = arith::cmp(op, x, y, WIDTH);
                            assert!(certain.is_none_or(|known| known == truth), "{op:?} {x} {y} {a:?} {b:?}");
                            let (left, right) = &refined[usize::from(truth)];
                            assert!(!left.is_empty() && left.admits(x), "{op:?} {truth} {x} {y} {a:?} {b:?} {left:?}");
                            assert!(!right.is_empty() && right.admits(y), "{op:?} {truth} {x} {y} {right:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn casts_joins_and_widening_admit_what_they_must() {
        let samples = samples();
        let landmarks: Vec<i128> = vec![-3, 0, 5, 6];
        for (a, xs) in &samples {
            for &x in xs {
                assert!(zext(a, 7).admits(x));
                assert!(sext(a, 7).admits(mask(sign_extend(x, WIDTH) as u64, 7)));
                for width in 1..=4 {
                    assert!(trunc(a, width).admits(mask(x, width)), "{a:?} {width}");
                }
            }
            for (b, ys) in &samples {
                let wide = widen(a, b, &landmarks);
                assert!(xs.iter().chain(ys).all(|value| wide.admits(*value)), "{a:?} {b:?} {wide:?}");
            }
        }
    }

    #[test]
    fn the_results_are_sharp_where_they_are_easy() {
        let check = |got: Facts, low: i64, high: i64| assert_eq!(got.signed, (low, high), "{got:?}");
        let range = |low, high| Facts::signed_between(32, low, high);
        check(bin(BinOp::Add, &range(-5, 7), &range(1, 2)), -4, 9);
        check(bin(BinOp::Sub, &range(0, 7), &range(1, 2)), -2, 6);
        check(bin(BinOp::Mul, &range(-3, 7), &range(-2, 5)), -15, 35);
        check(bin(BinOp::SDiv, &range(-7, 7), &range(2, 3)), -3, 3);
        check(bin(BinOp::SRem, &range(-70, 7), &range(-4, 4)), -3, 3);
        check(bin(BinOp::And, &Facts::top(32), &Facts::constant(32, 12)), 0, 12);
        check(bin(BinOp::Shl, &range(0, 3), &range(0, 2)), 0, 12);
        check(bin(BinOp::AShr, &range(-8, 16), &Facts::constant(32, 2)), -2, 4);
        assert_eq!(decide(CmpOp::Slt, &range(0, 4), &range(5, 6)), Some(true));
    }
}
