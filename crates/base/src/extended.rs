//! The 80-bit format of x87, C's `long double` there: constants and exact text.
//!
//! Arithmetic is not here: programs compute with it by a model in C. A value is `significand * 2^(exponent - 16383 - 63)` with
//! the leading bit written out; the sign is bit 15 of `head`, the exponent its other bits.

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extended {
    /// The significand, the leading bit included.
    pub significand: u64,
    /// Sign and exponent.
    pub head: u16,
}

const BIAS: i64 = 16383;
const SIGN: u16 = 0x8000;
const TOP: u64 = 1 << 63;

impl Extended {
    /// Zero.
    pub const ZERO: Extended = Extended { significand: 0, head: 0 };

    /// An integer, which always fits.
    pub fn from_integer(magnitude: u64, negative: bool) -> Extended {
        if magnitude == 0 {
            return Extended::ZERO;
        }
        let shift = magnitude.leading_zeros();
        let head = (BIAS + 63 - i64::from(shift)) as u16;
        Extended { significand: magnitude << shift, head: head | if negative { SIGN } else { 0 } }
    }

    /// A binary64 number, which always fits.
    pub fn from_double(value: f64) -> Extended {
        let bits = value.to_bits();
        let (field, fraction) = ((bits >> 52 & 0x7ff) as i64, bits & ((1 << 52) - 1));
        let sign = if value.is_sign_negative() { SIGN } else { 0 };
        let made = match field {
            0x7ff => Extended { significand: TOP | fraction << 11, head: 0x7fff },
            0 if fraction == 0 => Extended::ZERO,
            0 => {
                let shift = fraction.leading_zeros();
                let head = (BIAS - 1022 + 11 - i64::from(shift)) as u16;
                Extended { significand: fraction << shift, head }
            }
            _ => Extended { significand: TOP | fraction << 11, head: (field - 1023 + BIAS) as u16 },
        };
        Extended { head: made.head | sign, ..made }
    }

    /// The other sign.
    pub fn negated(self) -> Extended {
        Extended { head: self.head ^ SIGN, ..self }
    }

    /// Returns true if the sign bit is set.
    pub fn is_negative(self) -> bool {
        self.head & SIGN != 0
    }

    /// Returns true if it is neither infinite nor a NaN.
    pub fn is_finite(self) -> bool {
        self.head & 0x7fff != 0x7fff
    }

    /// Returns true if it is a NaN.
    pub fn is_nan(self) -> bool {
        !self.is_finite() && self.significand << 1 != 0
    }

    /// The value of a decimal text (`12.5e-3`), rounded once; `None` if it is none or far out of range.
    pub fn parse(text: &str) -> Option<Extended> {
        let (digits, exponent) = match text.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (digits, negative) = match digits.strip_prefix('-') {
            Some(rest) => (rest, true),
            None => (digits, false),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let exponent = exponent - fraction.len() as i64;
        if !(-6000..6000).contains(&exponent) || all.len() > 6000 {
            return None;
        }
        let mut number = Big::default();
        for byte in all.bytes() {
            number.multiply(10);
            number.add(u32::from(byte - b'0'));
        }
        if number.is_zero() {
            return Some(Extended { head: if negative { SIGN } else { 0 }, ..Extended::ZERO });
        }
        // number * 10^exponent = (number * 2^s) / 10^-exponent * 2^-s, with a quotient of at least 66 bits.
        let mut divisor = Big::one();
        for _ in 0..exponent.unsigned_abs() {
            if exponent > 0 { number.multiply(10) } else { divisor.multiply(10) }
        }
        let shift = (66 + divisor.bits() - number.bits()).max(0);
        number.shift_left(shift as u32);
        let (quotient, exact) = number.divide(&divisor);
        let made = rounded(&quotient, exact, -shift)?;
        Some(if negative { made.negated() } else { made })
    }

    /// Returns all decimal digits of a finite magnitude without leading zeros, and the number of digits before the
    /// decimal point (if negative, the number of zeros after it). Zero has no digits.
    pub fn digits(self) -> (String, i64) {
        let power = i64::from(self.head & 0x7fff).max(1) - BIAS - 63;
        let mut number = Big::default();
        number.add((self.significand >> 32) as u32);
        number.shift_left(32);
        number.add(self.significand as u32);
        if number.is_zero() {
            return (String::new(), 0);
        }
        // sig * 2^-k = sig * 5^k / 10^k.
        for _ in 0..power.unsigned_abs() {
            number.multiply(if power < 0 { 5 } else { 2 });
        }
        let text = number.decimal();
        let before = text.len() as i64 + power.min(0);
        (text, before)
    }
}

/// A quotient (what is lost says whether it is exact) times a power of two.
fn rounded(quotient: &Big, exact: bool, power: i64) -> Option<Extended> {
    let width = quotient.bits();
    let mut exponent = power + width - 1 + BIAS;
    let mut drop = width - 64;
    if exponent <= 0 {
        drop += 1 - exponent;
        exponent = 0;
    }
    let (mut significand, mut half, mut rest) = (0u128, false, !exact);
    for bit in (0..width).rev() {
        let set = quotient.bit(bit);
        if bit >= drop {
            significand = significand << 1 | u128::from(set);
        } else if bit == drop - 1 {
            half = set;
        } else {
            rest |= set;
        }
    }
    if drop < 0 {
        significand <<= -drop;
    }
    significand += u128::from(half && (rest || significand & 1 == 1));
    if significand >> 64 != 0 {
        significand >>= 1;
        exponent += 1;
    }
    if exponent == 0 && significand >> 63 != 0 {
        exponent = 1;
    }
    match exponent < 0x7fff {
        true => Some(Extended { significand: significand as u64, head: exponent as u16 }),
        false => Some(Extended { significand: TOP, head: 0x7fff }),
    }
}

/// A large natural number, low limbs first.
#[derive(Clone, Default)]
struct Big(Vec<u32>);

impl Big {
    fn one() -> Big {
        Big(vec![1])
    }
    fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }
    fn bits(&self) -> i64 {
        let top = self.0.iter().rposition(|&limb| limb != 0);
        top.map_or(0, |top| 32 * top as i64 + 32 - i64::from(self.0[top].leading_zeros()))
    }
    fn bit(&self, index: i64) -> bool {
        self.0.get((index / 32) as usize).is_some_and(|limb| limb >> (index % 32) & 1 == 1)
    }
    fn multiply(&mut self, by: u32) {
        let mut carry = 0u64;
        for limb in &mut self.0 {
            carry += u64::from(*limb) * u64::from(by);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }
    fn add(&mut self, value: u32) {
        let mut carry = u64::from(value);
        for limb in &mut self.0 {
            carry += u64::from(*limb);
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }
    fn shift_left(&mut self, by: u32) {
        if !by.is_multiple_of(32) {
            self.multiply(1 << (by % 32));
        }
        self.0.splice(0..0, std::iter::repeat_n(0, (by / 32) as usize));
    }
    /// The quotient, and whether nothing is left over. Bit by bit: only constants of the source come here.
    fn divide(&self, by: &Big) -> (Big, bool) {
        let mut quotient = Big(vec![0; self.0.len()]);
        let mut rest = Big::default();
        for index in (0..self.bits()).rev() {
            rest.multiply(2);
            rest.add(u32::from(self.bit(index)));
            if rest.at_least(by) {
                rest.subtract(by);
                quotient.0[(index / 32) as usize] |= 1 << (index % 32);
            }
        }
        (quotient, rest.is_zero())
    }
    fn at_least(&self, other: &Big) -> bool {
        let limb = |big: &Big, at: usize| big.0.get(at).copied().unwrap_or(0);
        let most = self.0.len().max(other.0.len());
        let different = (0..most).rev().find(|&at| limb(self, at) != limb(other, at));
        different.is_none_or(|at| limb(self, at) > limb(other, at))
    }
    fn subtract(&mut self, other: &Big) {
        let mut borrow = 0i64;
        for (at, limb) in self.0.iter_mut().enumerate() {
            let value = i64::from(*limb) - i64::from(other.0.get(at).copied().unwrap_or(0)) - borrow;
            borrow = i64::from(value < 0);
            *limb = value as u32;
        }
    }
    fn decimal(&self) -> String {
        const CHUNK: u64 = 1_000_000_000;
        let mut limbs = self.0.clone();
        let mut chunks = Vec::new();
        while limbs.iter().any(|&limb| limb != 0) {
            let mut rest = 0u64;
            for limb in limbs.iter_mut().rev() {
                let value = rest << 32 | u64::from(*limb);
                *limb = (value / CHUNK) as u32;
                rest = value % CHUNK;
            }
            chunks.push(rest);
        }
        let mut text = chunks.last().map(u64::to_string).unwrap_or_default();
        for chunk in chunks.iter().rev().skip(1) {
            text.push_str(&format!("{chunk:09}"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_texts_are_rounded_once() {
        let check = |text: &str, head: u16, significand: u64| {
            assert_eq!(Extended::parse(text), Some(Extended { significand, head }), "{text}");
        };
        check("1", 0x3fff, TOP);
        check("-0.5", 0xbffe, TOP);
        check("0.1", 0x3ffb, 0xcccc_cccc_cccc_cccd);
        check("3.14159265358979323851", 0x4000, 0xc90f_daa2_2168_c235);
        check("18446744073709551615", 0x403e, u64::MAX);
        check("18446744073709551617", 0x403f, TOP);
        check("36893488147419103233", 0x4040, TOP);
        check("3.6451995318824746025e-4951", 0x0000, 1);
        check("1.18973149535723176502e+4932", 0x7ffe, u64::MAX);
        check("1.2e4932", 0x7fff, TOP);
        assert_eq!(Extended::parse("x"), None);
    }

    #[test]
    fn doubles_and_integers_fit() {
        for value in [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, 2.2e-308, f64::INFINITY] {
            let made = Extended::from_double(value);
            let text = format!("{value:e}");
            if value.is_finite() {
                assert_eq!(Extended::parse(&text).map(|parsed| parsed.head & SIGN), Some(made.head & SIGN), "{text}");
            }
            assert_eq!(made.is_finite(), value.is_finite());
        }
        assert_eq!(Extended::from_double(-3.0), Extended::from_integer(3, true));
        assert_eq!(
            Extended::from_integer(1, false).digits(),
            ("1000000000000000000000000000000000000000000000000000000000000000".to_string(), 1)
        );
    }
}
