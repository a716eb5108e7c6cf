//! IEEE-754 arithmetic on bit patterns: the one meaning of every float operation.
//!
//! A float is its pattern in the low bits of a `u64`; there is no float type anywhere else. Interpreter, engine and solver
//! all call [`eval`], so they agree bit for bit. Rounding is to nearest, ties to even, unless the operation names its own.
//! Where the language leaves a result open it is what x86-64 with SSE gives:
//!
//! - a NaN result is the first NaN operand made quiet, or [`Format::default_nan`] (sign set) if no operand is one;
//! - a value that does not fit the integer it is converted to gives the "integer indefinite" value, see [`FloatOp::ToSigned`].
//!
//! Not here: negation, absolute value, copying of signs and classification, which are plain bit operations; rounding modes
//! and exception flags; transcendental functions.

use std::fmt;

/// An interchange format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Format {
    /// binary32, C's `float`.
    F32,
    /// binary64, C's `double`.
    F64,
}

impl Format {
    /// Width of the pattern.
    pub const fn bits(self) -> u8 {
        match self {
            Format::F32 => 32,
            Format::F64 => 64,
        }
    }

    /// Width of the fraction (the significand without its hidden bit).
    pub const fn fraction_bits(self) -> u8 {
        match self {
            Format::F32 => 23,
            Format::F64 => 52,
        }
    }

    /// Width of the exponent.
    pub const fn exponent_bits(self) -> u8 {
        self.bits() - self.fraction_bits() - 1
    }

    /// The sign's bit.
    pub const fn sign_mask(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// All bits but the sign's.
    pub const fn magnitude_mask(self) -> u64 {
        self.sign_mask() - 1
    }

    /// Positive infinity; a greater magnitude is a NaN.
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits()) - 1) << self.fraction_bits()
    }

    /// The bit that makes a NaN quiet.
    pub const fn quiet_bit(self) -> u64 {
        1 << (self.fraction_bits() - 1)
    }

    /// The result of an invalid operation.
    pub const fn default_nan(self) -> u64 {
        self.sign_mask() | self.infinity() | self.quiet_bit()
    }

    /// Returns true if a pattern is a NaN.
    pub const fn is_nan(self, value: u64) -> bool {
        value & self.magnitude_mask() > self.infinity()
    }

    /// The pattern of the nearest value.
    pub fn of(self, value: f64) -> u64 {
        match self {
            Format::F32 if value.is_nan() => convert(Format::F64, Format::F32, value.to_bits()),
            Format::F32 => u64::from((value as f32).to_bits()),
            Format::F64 => value.to_bits(),
        }
    }

    /// The value of a pattern (exact: binary64 holds all of binary32).
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Format::F32 => f64::from_bits(convert(Format::F32, Format::F64, bits)),
            Format::F64 => f64::from_bits(bits),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::F32 => "f32",
            Format::F64 => "f64",
        })
    }
}

/// The rounding of a float to an integral value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rounding {
    /// Towards negative infinity.
    Floor,
    /// Towards positive infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To nearest, ties to even.
    Even,
    /// To nearest, ties away from zero.
    Away,
}

impl Rounding {
    /// All of them.
    pub const ALL: [Rounding; 5] = [Rounding::Floor, Rounding::Ceil, Rounding::Trunc, Rounding::Even, Rounding::Away];
}

/// An operation. "The format" is the one given to [`eval`] beside it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FloatOp {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`.
    Div,
    /// C's `fmod`: exact, with the sign of `a`.
    Rem,
    /// Square root.
    Sqrt,
    /// `a * b + c`, rounded once.
    Fma,
    /// 1 if equal, else 0: zeros are equal, a NaN equals nothing.
    Eq,
    /// 1 if less, else 0; 0 with a NaN.
    Lt,
    /// 1 if less or equal, else 0; 0 with a NaN.
    Le,
    /// To the nearest integral value in this direction.
    Round(Rounding),
    /// From the format to this one.
    Convert(Format),
    /// From a signed integer of this width (1 to 64) to the format.
    FromSigned(u8),
    /// From an unsigned integer of this width (1 to 64) to the format.
    FromUnsigned(u8),
    /// To a signed integer of this width (1 to 64), towards zero. x86 converts to 32 or 64 bits; what does not fit gives the
    /// most negative number of that width. Narrower results are the low bits of the conversion to 32.
    ToSigned(u8),
    /// To an unsigned integer of this width (1 to 64), towards zero: up to 16 bits the low bits of the conversion to signed
    /// 32, up to 32 the low bits of that to signed 64; for wider ones a value of at least 2^63 is converted less 2^63 and
    /// gets the top bit flipped.
    ToUnsigned(u8),
    /// To a signed integer of this width (8 to 64), towards zero; what does not fit gives the nearest number of that width, and a
    /// NaN gives 0.
    Saturate(u8),
}

impl FloatOp {
    /// Returns the number of operands.
    pub const fn arity(self) -> usize {
        match self {
            FloatOp::Fma => 3,
            FloatOp::Add
            | FloatOp::Sub
            | FloatOp::Mul
            | FloatOp::Div
            | FloatOp::Rem
            | FloatOp::Eq
            | FloatOp::Lt
            | FloatOp::Le => 2,
            FloatOp::Sqrt | FloatOp::Round(_) | FloatOp::Convert(_) => 1,
            FloatOp::FromSigned(_)
            | FloatOp::FromUnsigned(_)
            | FloatOp::ToSigned(_)
            | FloatOp::ToUnsigned(_)
            | FloatOp::Saturate(_) => 1,
        }
    }

    /// Width of each argument.
    pub const fn argument_bits(self, format: Format) -> u8 {
        match self {
            FloatOp::FromSigned(bits) | FloatOp::FromUnsigned(bits) => bits,
            _ => format.bits(),
        }
    }

    /// The format of the result; none for a truth value or an integer.
    pub const fn result_format(self, format: Format) -> Option<Format> {
        match self {
            FloatOp::Eq
            | FloatOp::Lt
            | FloatOp::Le
            | FloatOp::ToSigned(_)
            | FloatOp::ToUnsigned(_)
            | FloatOp::Saturate(_) => None,
            FloatOp::Convert(to) => Some(to),
            _ => Some(format),
        }
    }

    /// Width of the result.
    pub const fn result_bits(self, format: Format) -> u8 {
        match self {
            FloatOp::Eq | FloatOp::Lt | FloatOp::Le => 1,
            FloatOp::Convert(to) => to.bits(),
            FloatOp::ToSigned(bits) | FloatOp::ToUnsigned(bits) | FloatOp::Saturate(bits) => bits,
            _ => format.bits(),
        }
    }
}

/// The result of an operation, masked to [`FloatOp::result_bits`]. Bits of arguments above their width are ignored; a missing
/// argument counts as 0.
pub fn eval(op: FloatOp, format: Format, args: &[u64]) -> u64 {
    let arg = |index: usize| {
        let width = op.argument_bits(format);
        args.get(index).map_or(0, |value| value & (u64::MAX >> (64 - width.clamp(1, 64))))
    };
    match op {
        FloatOp::Eq => u64::from(format.value(arg(0)) == format.value(arg(1))),
        FloatOp::Lt => u64::from(format.value(arg(0)) < format.value(arg(1))),
        FloatOp::Le => u64::from(format.value(arg(0)) <= format.value(arg(1))),
        FloatOp::Convert(to) => convert(format, to, arg(0)),
        FloatOp::FromSigned(bits) => {
            let shift = 64 - u32::from(bits.clamp(1, 64));
            let value = (arg(0) << shift) as i64 >> shift;
            match format {
                Format::F32 => u64::from((value as f32).to_bits()),
                Format::F64 => (value as f64).to_bits(),
            }
        }
        FloatOp::FromUnsigned(_) => match format {
            Format::F32 => u64::from((arg(0) as f32).to_bits()),
            Format::F64 => (arg(0) as f64).to_bits(),
        },
        FloatOp::ToSigned(bits) => to_signed(format.value(arg(0)), bits),
        FloatOp::ToUnsigned(bits) => to_unsigned(format.value(arg(0)), bits),
        FloatOp::Saturate(bits) => saturate(format.value(arg(0)), bits),
        FloatOp::Add
        | FloatOp::Sub
        | FloatOp::Mul
        | FloatOp::Div
        | FloatOp::Rem
        | FloatOp::Sqrt
        | FloatOp::Fma
        | FloatOp::Round(_) => {
            let args = [arg(0), arg(1), arg(2)];
            let used = &args[..op.arity()];
            if let Some(nan) = used.iter().find(|&&value| format.is_nan(value)) {
                return nan | format.quiet_bit();
            }
            let result = match format {
                Format::F32 => u64::from(compute_f32(op, args.map(|value| f32::from_bits(value as u32))).to_bits()),
                Format::F64 => compute_f64(op, args.map(f64::from_bits)).to_bits(),
            };
            if format.is_nan(result) { format.default_nan() } else { result }
        }
    }
}

macro_rules! compute {
    ($name:ident, $float:ty) => {
        /// An operation from numbers to a number; the bits of a NaN result mean nothing.
        fn $name(op: FloatOp, [a, b, c]: [$float; 3]) -> $float {
            match op {
                FloatOp::Add => a + b,
                FloatOp::Sub => a - b,
                FloatOp::Mul => a * b,
                FloatOp::Div => a / b,
                FloatOp::Rem => a % b,
                FloatOp::Sqrt => a.sqrt(),
                FloatOp::Fma => a.mul_add(b, c),
                FloatOp::Round(Rounding::Floor) => a.floor(),
                FloatOp::Round(Rounding::Ceil) => a.ceil(),
                FloatOp::Round(Rounding::Trunc) => a.trunc(),
                FloatOp::Round(Rounding::Even) => a.round_ties_even(),
                FloatOp::Round(Rounding::Away) => a.round(),
                FloatOp::Eq | FloatOp::Lt | FloatOp::Le | FloatOp::Convert(_) => <$float>::NAN,
                FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_) => <$float>::NAN,
                FloatOp::ToSigned(_) | FloatOp::ToUnsigned(_) | FloatOp::Saturate(_) => <$float>::NAN,
            }
        }
    };
}
compute!(compute_f32, f32);
compute!(compute_f64, f64);

fn convert(from: Format, to: Format, value: u64) -> u64 {
    match (from, to) {
        (Format::F32, Format::F64) if from.is_nan(value) => {
            let sign = (value & from.sign_mask()) << 32;
            sign | to.infinity() | to.quiet_bit() | (value & (from.quiet_bit() - 1)) << 29
        }
        (Format::F64, Format::F32) if from.is_nan(value) => {
            let sign = (value & from.sign_mask()) >> 32;
            sign | to.infinity() | to.quiet_bit() | (value & (from.quiet_bit() - 1)) >> 29
        }
        (Format::F32, Format::F64) => f64::from(f32::from_bits(value as u32)).to_bits(),
        (Format::F64, Format::F32) => u64::from((f64::from_bits(value) as f32).to_bits()),
        _ if from.is_nan(value) => value | from.quiet_bit(),
        _ => value,
    }
}

fn to_i32(value: f64) -> i32 {
    let whole = value.trunc();
    if (-2147483648.0..2147483648.0).contains(&whole) { whole as i32 } else { i32::MIN }
}

fn to_i64(value: f64) -> i64 {
    // 2^63: all smaller values fit.
    if (-9223372036854775808.0..9223372036854775808.0).contains(&value) { value as i64 } else { i64::MIN }
}

fn to_signed(value: f64, bits: u8) -> u64 {
    let word = if bits <= 32 { i64::from(to_i32(value)) } else { to_i64(value) };
    word as u64 & (u64::MAX >> (64 - bits.clamp(1, 64)))
}

fn saturate(value: f64, bits: u8) -> u64 {
    let bits = bits.clamp(1, 64);
    // The host's conversion saturates at 64 bits.
    let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    (value as i64).clamp(least, most) as u64 & (u64::MAX >> (64 - bits))
}

fn to_unsigned(value: f64, bits: u8) -> u64 {
    const HALF: f64 = 9223372036854775808.0;
    let word = match bits {
        0..=16 => to_i32(value) as u64,
        17..=32 => to_i64(value) as u64,
        _ if value >= HALF => to_i64(value - HALF) as u64 ^ (1 << 63),
        _ => to_i64(value) as u64,
    };
    word & (u64::MAX >> (64 - bits.clamp(1, 64)))
}

/// The floats that bound what can become an integer of this width: exactly those strictly between the two keep their
/// integral part.
pub fn integer_limits(format: Format, bits: u8, signed: bool) -> (u64, u64) {
    let power = |exponent: u8| 2f64.powi(i32::from(exponent));
    let (low, high) = match signed {
        true => (-power(bits - 1) - 1.0, power(bits - 1)),
        false => (-1.0, power(bits)),
    };
    // Where the format has no number between the least integer and the one below, the next float below is the bound.
    let least = format.of(low + 1.0);
    let bound = if format.of(low) == least { least + 1 } else { format.of(low) };
    (bound, format.of(high))
}

/// The bits of a decimal number (`12.5e-3`), rounded once; `None` if the text is none.
pub fn parse_decimal(format: Format, text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    match format {
        Format::F32 => text.parse().ok().map(|value: f32| u64::from(value.to_bits())),
        Format::F64 => text.parse().ok().map(f64::to_bits),
    }
}

/// Returns true if a conversion of this float to an integer keeps its integral part. Otherwise C leaves the result
/// undefined.
pub fn fits_integer(format: Format, value: u64, bits: u8, signed: bool) -> bool {
    let whole = format.value(value).trunc();
    let (low, high) = match signed {
        true => (-(2f64.powi(i32::from(bits) - 1)), 2f64.powi(i32::from(bits) - 1)),
        false => (0.0, 2f64.powi(i32::from(bits))),
    };
    low <= whole && whole < high
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGES: &[u64] = &[
        0,
        1 << 63,
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x3ff0_0000_0000_0000,
        0xbff0_0000_0000_0000,
        0x3fe0_0000_0000_0000,
        0x4008_0000_0000_0000,
        0x7fef_ffff_ffff_ffff,
        0x7ff0_0000_0000_0000,
        0xfff0_0000_0000_0000,
        0x7ff8_0000_0000_0000,
        0x7ff0_0000_0000_0001,
        0xfff8_0000_0000_1234,
        0x41e0_0000_0000_0000,
        0xc1e0_0000_0020_0000,
        0x43e0_0000_0000_0000,
        0x43f0_0000_0000_0000,
    ];

    /// Patterns: the edges, then random ones of all magnitudes.
    fn patterns(count: usize) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut all = EDGES.to_vec();
        all.extend(EDGES.iter().map(|&bits| convert(Format::F64, Format::F32, bits)));
        all.extend((0..count).map(|index| match index % 4 {
            0 => next(),
            1 => ((next() % 2001) as f64 / 8.0 - 125.0).to_bits(),
            2 => u64::from(((next() % 2001) as f32 / 8.0 - 125.0).to_bits()),
            _ => 0x3ff0_0000_0000_0000 ^ (next() & 0x800f_ffff_ffff_ffff),
        }));
        all
    }

    const BINARY: [FloatOp; 5] = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Rem];

    fn hardware(op: FloatOp, format: Format, a: u64, b: u64) -> u64 {
        let (a32, b32) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        let (a64, b64) = (f64::from_bits(a), f64::from_bits(b));
        match (format, op) {
            (Format::F32, FloatOp::Add) => u64::from((a32 + b32).to_bits()),
            (Format::F32, FloatOp::Sub) => u64::from((a32 - b32).to_bits()),
            (Format::F32, FloatOp::Mul) => u64::from((a32 * b32).to_bits()),
            (Format::F32, FloatOp::Div) => u64::from((a32 / b32).to_bits()),
            (Format::F32, _) => u64::from((a32 % b32).to_bits()),
            (Format::F64, FloatOp::Add) => (a64 + b64).to_bits(),
            (Format::F64, FloatOp::Sub) => (a64 - b64).to_bits(),
            (Format::F64, FloatOp::Mul) => (a64 * b64).to_bits(),
            (Format::F64, FloatOp::Div) => (a64 / b64).to_bits(),
            (Format::F64, _) => (a64 % b64).to_bits(),
        }
    }

    #[test]
    fn arithmetic_is_the_hardwares_and_nans_follow_the_rule() {
        let patterns = patterns(200);
        for format in [Format::F32, Format::F64] {
            for &a in &patterns {
                for &b in &patterns {
                    let (a, b) = (a & (u64::MAX >> (64 - format.bits())), b & (u64::MAX >> (64 - format.bits())));
                    for op in BINARY {
                        let (ours, theirs) = (eval(op, format, &[a, b]), hardware(op, format, a, b));
                        let expected = match (format.is_nan(a), format.is_nan(b)) {
                            (true, _) => a | format.quiet_bit(),
                            (_, true) => b | format.quiet_bit(),
                            _ if format.is_nan(theirs) => format.default_nan(),
                            _ => theirs,
                        };
                        assert_eq!(ours, expected, "{op:?} {format} {a:#x} {b:#x}");
                        assert_eq!(format.is_nan(ours), format.is_nan(theirs), "{op:?} {format} {a:#x} {b:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_default_nan_is_the_hardwares() {
        for (a, b) in [(0.0f64, 0.0f64), (f64::INFINITY, f64::INFINITY)] {
            let quotient = std::hint::black_box(a) / std::hint::black_box(b);
            if cfg!(target_arch = "x86_64") {
                assert_eq!(quotient.to_bits(), Format::F64.default_nan());
            }
        }
        assert_eq!(Format::F32.default_nan(), 0xffc0_0000);
    }

    #[test]
    fn comparisons_are_quiet_and_see_one_zero() {
        for (a, b, eq, lt, le) in [
            (0.0, -0.0, 1, 0, 1),
            (1.0, 2.0, 0, 1, 1),
            (-1.0, -2.0, 0, 0, 0),
            (f64::NAN, f64::NAN, 0, 0, 0),
            (f64::NAN, 1.0, 0, 0, 0),
            (f64::NEG_INFINITY, f64::INFINITY, 0, 1, 1),
            (f64::INFINITY, f64::INFINITY, 1, 0, 1),
        ] {
            for format in [Format::F32, Format::F64] {
                let args = [format.of(a), format.of(b)];
                let results = [FloatOp::Eq, FloatOp::Lt, FloatOp::Le].map(|op| eval(op, format, &args));
                assert_eq!(results, [eq, lt, le], "{a} {b} {format}");
            }
        }
    }

    #[test]
    fn saturating_conversions_give_the_nearest_number() {
        let check = |bits, value: f64, expected: i64| {
            let expected = expected as u64 & (u64::MAX >> (64 - bits));
            assert_eq!(eval(FloatOp::Saturate(bits), Format::F64, &[value.to_bits()]), expected, "{bits} {value}");
            let single = f64::from(value as f32);
            if single == value || value.is_nan() {
                let bits_of = u64::from((value as f32).to_bits());
                assert_eq!(eval(FloatOp::Saturate(bits), Format::F32, &[bits_of]), expected, "{bits} {value}");
            }
        };
        for bits in [8, 16, 32, 64] {
            let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
            check(bits, f64::NAN, 0);
            check(bits, -0.0, 0);
            check(bits, 1.9, 1);
            check(bits, -1.9, -1);
            for (limit, end) in [(most, f64::INFINITY), (most, 1e300), (least, f64::NEG_INFINITY), (least, -1e300)] {
                check(bits, end, limit);
            }
            check(bits, -(least as f64), most);
            check(bits, least as f64, least);
            check(bits, least as f64 - 0.5, least);
        }
        check(32, 2147483647.9, 2147483647);
        check(8, 126.9, 126);
    }

    #[test]
    fn conversions_to_integers_truncate_and_give_what_x86_gives_where_nothing_fits() {
        let check = |op, value: f64, expected: u64| {
            assert_eq!(eval(op, Format::F64, &[value.to_bits()]), expected, "{op:?} {value}");
        };
        check(FloatOp::ToSigned(32), -1.9, 0xffff_ffff);
        check(FloatOp::ToSigned(32), 2147483647.9, 0x7fff_ffff);
        check(FloatOp::ToSigned(32), -2147483648.9, 0x8000_0000);
        check(FloatOp::ToSigned(32), 2147483648.0, 0x8000_0000);
        check(FloatOp::ToSigned(32), f64::NAN, 0x8000_0000);
        check(FloatOp::ToSigned(8), 300.0, 44);
        check(FloatOp::ToSigned(16), 1e10, 0);
        check(FloatOp::ToSigned(64), -9223372036854775808.0, 1 << 63);
        check(FloatOp::ToSigned(64), 9223372036854775808.0, 1 << 63);
        check(FloatOp::ToUnsigned(8), -1.0, 255);
        check(FloatOp::ToUnsigned(32), 4294967295.5, 0xffff_ffff);
        check(FloatOp::ToUnsigned(32), -1.0, 0xffff_ffff);
        check(FloatOp::ToUnsigned(64), 18446744073709549568.0, 0xffff_ffff_ffff_f800);
        check(FloatOp::ToUnsigned(64), 18446744073709551616.0, 0);
        check(FloatOp::ToUnsigned(64), f64::NAN, 1 << 63);
        check(FloatOp::ToUnsigned(64), -1.0, u64::MAX);
    }

    #[test]
    fn conversions_from_integers_round_once() {
        for value in [0, 1, -1, 16777217, -16777219, i64::MAX, i64::MIN, 0x7fff_ff40_0000_0001, 9007199254740993] {
            let bits = value as u64;
            assert_eq!(eval(FloatOp::FromSigned(64), Format::F32, &[bits]), u64::from((value as f32).to_bits()));
            assert_eq!(eval(FloatOp::FromSigned(64), Format::F64, &[bits]), (value as f64).to_bits());
            assert_eq!(eval(FloatOp::FromUnsigned(64), Format::F32, &[bits]), u64::from((bits as f32).to_bits()));
            assert_eq!(eval(FloatOp::FromUnsigned(64), Format::F64, &[bits]), (bits as f64).to_bits());
        }
        assert_eq!(eval(FloatOp::FromSigned(8), Format::F64, &[0xff]), (-1.0f64).to_bits());
        assert_eq!(eval(FloatOp::FromSigned(8), Format::F64, &[0x1ff]), (-1.0f64).to_bits(), "high bits are ignored");
        assert_eq!(eval(FloatOp::FromUnsigned(8), Format::F64, &[0xff]), 255f64.to_bits());
    }

    #[test]
    fn conversions_between_formats_keep_a_nans_payload() {
        let narrow = |bits| eval(FloatOp::Convert(Format::F32), Format::F64, &[bits]);
        let widen = |bits| eval(FloatOp::Convert(Format::F64), Format::F32, &[bits]);
        assert_eq!(widen(0xff80_0001), 0xfff8_0000_2000_0000);
        assert_eq!(narrow(0xfff0_0000_2000_0000), 0xffc0_0001);
        assert_eq!(narrow(1e300f64.to_bits()), 0x7f80_0000);
        assert_eq!(narrow(1e-46f64.to_bits()), 0);
        assert_eq!(widen(1), 1.401298464324817e-45f64.to_bits());
        for bits in patterns(400) {
            let single = bits & 0xffff_ffff;
            if !Format::F32.is_nan(single) {
                assert_eq!(narrow(widen(single)), single);
            }
        }
    }

    #[test]
    fn rounding_follows_its_direction_and_keeps_the_sign_of_zero() {
        let check = |mode, value: f64, expected: f64| {
            for format in [Format::F32, Format::F64] {
                let result = eval(FloatOp::Round(mode), format, &[format.of(value)]);
                assert_eq!(result, format.of(expected), "{mode:?} {value}");
            }
        };
        check(Rounding::Floor, -0.5, -1.0);
        check(Rounding::Ceil, -0.5, -0.0);
        check(Rounding::Trunc, -1.5, -1.0);
        check(Rounding::Even, 2.5, 2.0);
        check(Rounding::Even, -0.5, -0.0);
        check(Rounding::Away, 2.5, 3.0);
        check(Rounding::Away, 0.49999997, 0.0);
        check(Rounding::Away, f64::INFINITY, f64::INFINITY);
    }

    #[test]
    fn fused_multiplication_rounds_once() {
        let a = (1.0 + f64::EPSILON).to_bits();
        let minus_one = (-1.0f64).to_bits();
        let fused = eval(FloatOp::Fma, Format::F64, &[a, a, minus_one]);
        assert_eq!(f64::from_bits(fused), 2.0 * f64::EPSILON + f64::EPSILON * f64::EPSILON);
        assert_eq!(eval(FloatOp::Sqrt, Format::F64, &[minus_one]), Format::F64.default_nan());
        assert_eq!(eval(FloatOp::Sqrt, Format::F64, &[1 << 63]), 1 << 63);
    }

    #[test]
    fn the_limits_of_an_integer_are_strict_bounds() {
        for format in [Format::F32, Format::F64] {
            for (bits, signed) in [8, 16, 32, 64].into_iter().flat_map(|bits| [(bits, true), (bits, false)]) {
                let (low, high) = integer_limits(format, bits, signed);
                let fits = |value| fits_integer(format, value, bits, signed);
                assert!(!fits(low) && !fits(high), "{format} {bits} {signed}");
                // One step towards zero.
                assert!(fits(low - 1) && fits(high - 1), "{format} {bits} {signed}");
            }
        }
    }

    #[test]
    fn what_fits_an_integer_is_decided_after_truncation() {
        let fits = |value: f64, bits, signed| fits_integer(Format::F64, value.to_bits(), bits, signed);
        assert!(fits(-0.9, 32, false) && !fits(-1.0, 32, false));
        assert!(fits(127.9, 8, true) && !fits(128.0, 8, true) && fits(-128.9, 8, true) && !fits(-129.0, 8, true));
        assert!(!fits(f64::NAN, 64, true) && !fits(f64::INFINITY, 64, false));
    }
}
