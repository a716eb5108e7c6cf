//! Facts about a term: known bits, an unsigned and a signed interval.
//!
//! Sound over-approximation: every value the term can take is admitted by its facts. The facts without a path are
//! computed once, when the term is built; the same transfer functions run again under the bounds of a path.

use crate::terms::semantics::{apply, mask, signed, signed_max, signed_min};
use crate::terms::term::{Op, Rel};

/// The facts about a value of some width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Facts {
    /// Width in bits.
    pub width: u8,
    /// Bits that are certainly 0.
    pub zeros: u64,
    /// Bits that are certainly 1.
    pub ones: u64,
    /// Unsigned bounds, inclusive.
    pub unsigned: (u64, u64),
    /// Signed bounds, inclusive.
    pub signed: (i64, i64),
}

impl Facts {
    /// Nothing is known.
    pub fn top(width: u8) -> Facts {
        Facts { width, zeros: 0, ones: 0, unsigned: (0, mask(width)), signed: (signed_min(width), signed_max(width)) }
    }

    /// Exactly one value.
    pub fn constant(width: u8, value: u64) -> Facts {
        let s = signed(width, value);
        Facts { width, zeros: !value & mask(width), ones: value, unsigned: (value, value), signed: (s, s) }
    }

    /// Known unsigned bounds.
    pub fn between(width: u8, low: u64, high: u64) -> Facts {
        Facts { unsigned: (low, high), ..Facts::top(width) }.tightened()
    }

    /// Known signed bounds.
    pub fn signed_between(width: u8, low: i64, high: i64) -> Facts {
        Facts { signed: (low, high), ..Facts::top(width) }.tightened()
    }

    /// Known bits.
    pub fn bits(width: u8, zeros: u64, ones: u64) -> Facts {
        Facts { zeros, ones, ..Facts::top(width) }.tightened()
    }

    /// Returns true if no value is admitted (the facts contradict each other).
    pub fn is_empty(&self) -> bool {
        self.unsigned.0 > self.unsigned.1 || self.signed.0 > self.signed.1 || self.zeros & self.ones != 0
    }

    /// The value, if only one is admitted.
    pub fn singleton(&self) -> Option<u64> {
        (self.unsigned.0 == self.unsigned.1 && !self.is_empty()).then_some(self.unsigned.0)
    }

    /// Returns true if a value is admitted.
    pub fn admits(&self, value: u64) -> bool {
        let s = signed(self.width, value);
        self.unsigned.0 <= value
            && value <= self.unsigned.1
            && self.signed.0 <= s
            && s <= self.signed.1
            && value & self.zeros == 0
            && value & self.ones == self.ones
    }

    /// Both facts hold.
    pub fn meet(&self, other: &Facts) -> Facts {
        Facts {
            width: self.width,
            zeros: self.zeros | other.zeros,
            ones: self.ones | other.ones,
            unsigned: (self.unsigned.0.max(other.unsigned.0), self.unsigned.1.min(other.unsigned.1)),
            signed: (self.signed.0.max(other.signed.0), self.signed.1.min(other.signed.1)),
        }
        .tightened()
    }

    /// One of the two holds.
    pub fn join(&self, other: &Facts) -> Facts {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        Facts {
            width: self.width,
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            unsigned: (self.unsigned.0.min(other.unsigned.0), self.unsigned.1.max(other.unsigned.1)),
            signed: (self.signed.0.min(other.signed.0), self.signed.1.max(other.signed.1)),
        }
    }

    /// Lets the three views of the value sharpen each other.
    fn tightened(mut self) -> Facts {
        for _ in 0..2 {
            if self.is_empty() {
                return self;
            }
            let all = mask(self.width);
            let sign = 1u64 << (self.width - 1);
            self.unsigned.0 = self.unsigned.0.max(self.ones);
            self.unsigned.1 = self.unsigned.1.min(all & !self.zeros);
            if self.signed.0 >= 0 || self.signed.1 < 0 {
                self.unsigned.0 = self.unsigned.0.max(self.signed.0 as u64 & all);
                self.unsigned.1 = self.unsigned.1.min(self.signed.1 as u64 & all);
            }
            if self.unsigned.0 > self.unsigned.1 {
                return self;
            }
            if self.unsigned.1 < sign || self.unsigned.0 >= sign {
                self.signed.0 = self.signed.0.max(signed(self.width, self.unsigned.0));
                self.signed.1 = self.signed.1.min(signed(self.width, self.unsigned.1));
            }
            let differing = self.unsigned.0 ^ self.unsigned.1;
            let prefix = if differing == 0 { all } else { all & !mask(64 - differing.leading_zeros() as u8) };
            self.ones |= self.unsigned.0 & prefix;
            self.zeros |= !self.unsigned.0 & prefix;
        }
        self
    }

    /// Returns the number of low bits that are certainly 0.
    pub fn trailing_zeros(&self) -> u32 {
        (!self.zeros).trailing_zeros().min(u32::from(self.width))
    }

    /// Returns the number of values that the tighter interval admits, minus one.
    pub fn span(&self) -> u64 {
        let unsigned = self.unsigned.1.wrapping_sub(self.unsigned.0);
        let signed = self.signed.1.wrapping_sub(self.signed.0) as u64;
        unsigned.min(signed)
    }
}

/// Facts about the complement.
pub fn not(a: &Facts) -> Facts {
    let all = mask(a.width);
    Facts {
        width: a.width,
        zeros: a.ones,
        ones: a.zeros,
        unsigned: (all - a.unsigned.1.min(all), all - a.unsigned.0.min(all)),
        signed: (!a.signed.1, !a.signed.0),
    }
    .tightened()
}

/// Facts about a zero extension.
pub fn zext(a: &Facts, width: u8) -> Facts {
    let high = mask(width) & !mask(a.width);
    Facts { zeros: a.zeros | high, ones: a.ones, unsigned: a.unsigned, ..Facts::top(width) }.tightened()
}

/// Facts about a sign extension.
pub fn sext(a: &Facts, width: u8) -> Facts {
    let high = mask(width) & !mask(a.width);
    let sign = 1u64 << (a.width - 1);
    let mut facts = Facts { zeros: a.zeros, ones: a.ones, signed: a.signed, ..Facts::top(width) };
    if a.zeros & sign != 0 {
        facts.zeros |= high;
    }
    if a.ones & sign != 0 {
        facts.ones |= high;
    }
    facts.tightened()
}

/// Facts about `low .. low + width` of a value.
pub fn extract(a: &Facts, low: u8, width: u8) -> Facts {
    let m = mask(width);
    let bits = Facts::bits(width, (a.zeros >> low) & m, (a.ones >> low) & m);
    let (from, to) = (a.unsigned.0 >> low, a.unsigned.1 >> low);
    // The interval survives where the bits above the cut are the same throughout.
    if low + width >= a.width || from >> width == to >> width {
        let unsigned = Facts::between(width, from & m, to & m);
        let bits = bits.meet(&unsigned);
        if low != 0 || a.signed.0 < signed_min(width) || a.signed.1 > signed_max(width) {
            return bits;
        }
        return bits.meet(&Facts::signed_between(width, a.signed.0, a.signed.1));
    }
    if low == 0 && a.signed.0 >= signed_min(width) && a.signed.1 <= signed_max(width) {
        return bits.meet(&Facts::signed_between(width, a.signed.0, a.signed.1));
    }
    bits
}

/// Facts about a concatenation.
pub fn concat(high: &Facts, low: &Facts) -> Facts {
    let width = high.width + low.width;
    let shift = low.width;
    Facts {
        zeros: high.zeros << shift | low.zeros,
        ones: high.ones << shift | low.ones,
        unsigned: (high.unsigned.0 << shift | low.unsigned.0, high.unsigned.1 << shift | low.unsigned.1),
        ..Facts::top(width)
    }
    .tightened()
}

/// Decides a comparison, or returns `None` if the facts do not imply it.
pub fn decide(rel: Rel, a: &Facts, b: &Facts) -> Option<bool> {
    match rel {
        Rel::Eq => {
            if let (Some(x), Some(y)) = (a.singleton(), b.singleton()) {
                return Some(x == y);
            }
            let apart = a.unsigned.1 < b.unsigned.0
                || b.unsigned.1 < a.unsigned.0
                || a.signed.1 < b.signed.0
                || b.signed.1 < a.signed.0
                || a.ones & b.zeros != 0
                || a.zeros & b.ones != 0;
            apart.then_some(false)
        }
        Rel::Ult if a.unsigned.1 < b.unsigned.0 => Some(true),
        Rel::Ult if a.unsigned.0 >= b.unsigned.1 => Some(false),
        Rel::Ule if a.unsigned.1 <= b.unsigned.0 => Some(true),
        Rel::Ule if a.unsigned.0 > b.unsigned.1 => Some(false),
        Rel::Slt if a.signed.1 < b.signed.0 => Some(true),
        Rel::Slt if a.signed.0 >= b.signed.1 => Some(false),
        Rel::Sle if a.signed.1 <= b.signed.0 => Some(true),
        Rel::Sle if a.signed.0 > b.signed.1 => Some(false),
        _ => None,
    }
}

/// Facts about a comparison's truth value.
pub fn cmp(rel: Rel, a: &Facts, b: &Facts) -> Facts {
    match decide(rel, a, b) {
        Some(truth) => Facts::constant(1, u64::from(truth)),
        None => Facts::top(1),
    }
}

/// Facts about a binary operation.
pub fn bin(op: Op, a: &Facts, b: &Facts) -> Facts {
    let width = a.width;
    if a.is_empty() || b.is_empty() {
        return Facts::top(width);
    }
    if let (Some(x), Some(y)) = (a.singleton(), b.singleton()) {
        return Facts::constant(width, apply(op, width, x, y));
    }
    match op {
        Op::Add => add(a, b),
        Op::Sub => sub(a, b),
        Op::Mul => mul(a, b),
        Op::UDiv => match (a.unsigned.0.checked_div(b.unsigned.1), a.unsigned.1.checked_div(b.unsigned.0)) {
            (Some(low), Some(high)) => Facts::between(width, low, high),
            _ => Facts::top(width),
        },
        Op::URem if b.unsigned.0 > 0 => Facts::between(width, 0, a.unsigned.1.min(b.unsigned.1 - 1)),
        Op::URem => Facts::between(width, 0, a.unsigned.1),
        Op::SDiv => sdiv(a, b),
        Op::SRem => srem(a, b),
        Op::And => Facts {
            zeros: a.zeros | b.zeros,
            ones: a.ones & b.ones,
            unsigned: (0, a.unsigned.1.min(b.unsigned.1)),
            ..Facts::top(width)
        }
        .tightened(),
        Op::Or => Facts {
            zeros: a.zeros & b.zeros,
            ones: a.ones | b.ones,
            unsigned: (a.unsigned.0.max(b.unsigned.0), mask(width)),
            ..Facts::top(width)
        }
        .tightened(),
        Op::Xor => Facts::bits(width, a.zeros & b.zeros | a.ones & b.ones, a.zeros & b.ones | a.ones & b.zeros),
        Op::Shl | Op::LShr | Op::AShr => shift(op, a, b),
    }
}

fn low_zeros(width: u8, count: u32) -> u64 {
    mask(count.min(u32::from(width)) as u8)
}

fn interval(width: u8, unsigned: Option<(u64, u64)>, signed: Option<(i64, i64)>, zeros: u64) -> Facts {
    let mut facts = Facts::top(width);
    facts.zeros = zeros;
    if let Some((low, high)) = unsigned
        && high <= mask(width)
    {
        facts.unsigned = (low, high);
    }
    if let Some((low, high)) = signed
        && low >= signed_min(width)
        && high <= signed_max(width)
    {
        facts.signed = (low, high);
    }
    facts.tightened()
}

fn pair<T>(low: Option<T>, high: Option<T>) -> Option<(T, T)> {
    Some((low?, high?))
}

fn add(a: &Facts, b: &Facts) -> Facts {
    let unsigned = pair(a.unsigned.0.checked_add(b.unsigned.0), a.unsigned.1.checked_add(b.unsigned.1));
    let signed = pair(a.signed.0.checked_add(b.signed.0), a.signed.1.checked_add(b.signed.1));
    interval(a.width, unsigned, signed, low_zeros(a.width, a.trailing_zeros().min(b.trailing_zeros())))
}

fn sub(a: &Facts, b: &Facts) -> Facts {
    let unsigned = pair(a.unsigned.0.checked_sub(b.unsigned.1), a.unsigned.1.checked_sub(b.unsigned.0));
    let signed = pair(a.signed.0.checked_sub(b.signed.1), a.signed.1.checked_sub(b.signed.0));
    interval(a.width, unsigned, signed, low_zeros(a.width, a.trailing_zeros().min(b.trailing_zeros())))
}

fn mul(a: &Facts, b: &Facts) -> Facts {
    let unsigned = pair(a.unsigned.0.checked_mul(b.unsigned.0), a.unsigned.1.checked_mul(b.unsigned.1));
    let corners = [
        a.signed.0.checked_mul(b.signed.0),
        a.signed.0.checked_mul(b.signed.1),
        a.signed.1.checked_mul(b.signed.0),
        a.signed.1.checked_mul(b.signed.1),
    ];
    let signed = corners
        .into_iter()
        .collect::<Option<Vec<i64>>>()
        .and_then(|c| pair(c.iter().min().copied(), c.iter().max().copied()));
    interval(a.width, unsigned, signed, low_zeros(a.width, a.trailing_zeros() + b.trailing_zeros()))
}

fn sdiv(a: &Facts, b: &Facts) -> Facts {
    // A divisor of 0 or -1 breaks the monotonicity that the corners rely on.
    if b.signed.0 <= 0 {
        return Facts::top(a.width);
    }
    let corners = [a.signed.0 / b.signed.0, a.signed.0 / b.signed.1, a.signed.1 / b.signed.0, a.signed.1 / b.signed.1];
    let low = corners.iter().min().copied().unwrap_or(i64::MIN);
    let high = corners.iter().max().copied().unwrap_or(i64::MAX);
    Facts::signed_between(a.width, low.max(signed_min(a.width)), high.min(signed_max(a.width)))
}

fn srem(a: &Facts, b: &Facts) -> Facts {
    if b.signed.0 <= 0 {
        return Facts::signed_between(a.width, a.signed.0.min(0), a.signed.1.max(0));
    }
    let limit = b.signed.1 - 1;
    let low = if a.signed.0 >= 0 { 0 } else { a.signed.0.max(-limit) };
    let high = if a.signed.1 <= 0 { 0 } else { a.signed.1.min(limit) };
    Facts::signed_between(a.width, low, high)
}

fn shift(op: Op, a: &Facts, b: &Facts) -> Facts {
    let width = a.width;
    let m = mask(width);
    if let Some(amount) = b.singleton() {
        let by = amount % u64::from(width);
        return match op {
            Op::Shl => {
                let fits = a.unsigned.1 <= m >> by;
                let bits = Facts::bits(width, (a.zeros << by | mask(by as u8)) & m, (a.ones << by) & m);
                if fits && by > 0 {
                    bits.meet(&Facts::between(width, a.unsigned.0 << by, a.unsigned.1 << by))
                } else {
                    bits
                }
            }
            Op::LShr => {
                let high = m & !(m >> by);
                Facts::bits(width, a.zeros >> by | high, a.ones >> by).meet(&Facts::between(
                    width,
                    a.unsigned.0 >> by,
                    a.unsigned.1 >> by,
                ))
            }
            _ => Facts::signed_between(width, a.signed.0 >> by, a.signed.1 >> by),
        };
    }
    match op {
        Op::Shl => Facts::bits(width, low_zeros(width, a.trailing_zeros()), 0),
        Op::LShr => Facts::between(width, 0, a.unsigned.1),
        _ => Facts::signed_between(width, a.signed.0.min(0).min(a.signed.0 >> 63), a.signed.1.max(0).max(-1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::semantics::holds;
    use proptest::prelude::*;

    const WIDTH: u8 = 5;

    fn facts() -> impl Strategy<Value = Facts> {
        (0u64..32, 0u64..32, 0u64..32, 0u64..32, 0u64..32, 0u64..32).prop_map(|(a, b, c, d, zeros, ones)| {
            let (low, high) = (signed(WIDTH, c), signed(WIDTH, d));
            Facts::between(WIDTH, a.min(b), a.max(b))
                .meet(&Facts::signed_between(WIDTH, low.min(high), low.max(high)))
                .meet(&Facts::bits(WIDTH, zeros & !ones & 5, ones & !zeros & 18))
        })
    }

    fn admitted(facts: &Facts) -> Vec<u64> {
        (0..32).filter(|&v| !facts.is_empty() && facts.admits(v)).collect()
    }

    const OPS: [Op; 13] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::UDiv,
        Op::SDiv,
        Op::URem,
        Op::SRem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::LShr,
        Op::AShr,
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn every_possible_result_is_admitted(a in facts(), b in facts()) {
            for op in OPS {
                let result = bin(op, &a, &b);
                for x in admitted(&a) {
                    for y in admitted(&b) {
                        let value = apply(op, WIDTH, x, y);
                        prop_assert!(result.admits(value), "{op:?} {x} {y} = {value}: {result:?}");
                    }
                }
            }
            for rel in [Rel::Eq, Rel::Ult, Rel::Ule, Rel::Slt, Rel::Sle] {
                if let Some(truth) = decide(rel, &a, &b) {
                    for x in admitted(&a) {
                        for y in admitted(&b) {
                            prop_assert_eq!(holds(rel, WIDTH, x, y), truth);
                        }
                    }
                }
            }
            for x in admitted(&a) {
                prop_assert!(not(&a).admits(!x & 31));
                prop_assert!(zext(&a, 9).admits(x));
                prop_assert!(sext(&a, 9).admits(signed(WIDTH, x) as u64 & mask(9)));
                prop_assert!(a.join(&b).admits(x));
                prop_assert!(!b.admits(x) || a.meet(&b).admits(x));
                for low in 0..5u8 {
                    for width in 1..=5 - low {
                        let cut = extract(&a, low, width);
                        prop_assert!(cut.admits(x >> low & mask(width)), "{x} {low} {width} {cut:?}");
                    }
                }
                for y in admitted(&b) {
                    prop_assert!(concat(&a, &b).admits(x << 5 | y));
                }
            }
        }
    }
}
