//! Constant folding of `long double`: sums, products and quotients in initialisers of globals.
//!
//! The same algorithm as in `models/longdouble.c`, which programs compute with. Rounds to nearest even.

use crate::clang::ast_enums::Opcode;
use touchstone_base::extended::Extended;

const BIAS: i64 = 16383;
const SIGN: u16 = 0x8000;
const MAX_EXPONENT: u16 = 0x7fff;
const TOP: u64 = 1 << 63;

/// The NaN of an invalid operation, as compilers produce it (processors set its sign).
const INVALID: Extended = Extended { significand: 3 << 62, head: MAX_EXPONENT };

fn is_infinite(value: Extended) -> bool {
    !value.is_finite() && !value.is_nan()
}

fn infinity(sign: u16) -> Extended {
    Extended { significand: TOP, head: sign | MAX_EXPONENT }
}

/// Returns the exponent of two by which the significand is multiplied.
fn power_of(value: Extended) -> i64 {
    i64::from((value.head & MAX_EXPONENT).max(1)) - BIAS - 63
}

/// Rounds `value * 2^power`; the last bit of the value is a sticky bit.
fn finish(sign: u16, value: u128, power: i64) -> Extended {
    let width = i64::from(128 - value.leading_zeros());
    if width == 0 {
        return Extended { significand: 0, head: sign };
    }
    let mut exponent = power + width - 1 + BIAS;
    let mut drop = width - 64;
    if exponent <= 0 {
        drop += 1 - exponent;
        exponent = 0;
    }
    if drop > 127 {
        return Extended { significand: 0, head: sign };
    }
    let mut kept = value;
    if drop > 0 {
        let (rest, half) = (value & ((1 << drop) - 1), 1u128 << (drop - 1));
        kept = value >> drop;
        if rest > half || (rest == half && kept & 1 == 1) {
            kept += 1;
        }
    } else {
        kept <<= -drop;
    }
    if kept >> 64 != 0 {
        kept >>= 1;
        exponent += 1;
    }
    let significand = kept as u64;
    if exponent == 0 && significand & TOP != 0 {
        exponent = 1;
    }
    if exponent >= i64::from(MAX_EXPONENT) {
        return infinity(sign);
    }
    Extended { significand, head: sign | exponent as u16 }
}

/// Folds `a op b`; `None` for another operator.
pub(crate) fn eval(opcode: &Opcode, a: Extended, b: Extended) -> Option<Extended> {
    if !matches!(opcode, Opcode::Plus | Opcode::Minus | Opcode::Star | Opcode::Slash) {
        return None;
    }
    if let Some(nan) = [a, b].into_iter().find(|value| value.is_nan()) {
        return Some(Extended { significand: nan.significand | 3 << 62, head: nan.head });
    }
    let sign = (a.head ^ b.head) & SIGN;
    Some(match opcode {
        Opcode::Plus => add(a, b),
        Opcode::Minus => add(a, b.negated()),
        Opcode::Star if is_infinite(a) || is_infinite(b) => {
            if a.significand == 0 || b.significand == 0 {
                INVALID
            } else {
                infinity(sign)
            }
        }
        Opcode::Star => {
            let product = u128::from(a.significand) * u128::from(b.significand);
            finish(sign, product, power_of(a) + power_of(b))
        }
        _ => divide(a, b, sign),
    })
}

fn add(a: Extended, b: Extended) -> Extended {
    let (sa, sb) = (a.head & SIGN, b.head & SIGN);
    if is_infinite(a) && is_infinite(b) && sa != sb {
        return INVALID;
    }
    if is_infinite(a) || is_infinite(b) {
        return infinity(if is_infinite(a) { sa } else { sb });
    }
    if a.significand == 0 && b.significand == 0 {
        return Extended { significand: 0, head: sa & sb };
    }
    let (pa, pb) = (power_of(a), power_of(b));
    if pa < pb {
        return add(b, a);
    }
    let apart = pa - pb;
    let (x, mut y) = (u128::from(a.significand) << 63, u128::from(b.significand) << 63);
    if apart > 126 {
        y = u128::from(b.significand != 0);
    } else if apart > 0 {
        y = y >> apart | u128::from(y & ((1 << apart) - 1) != 0);
    }
    match x.cmp(&y) {
        _ if sa == sb => finish(sa, x + y, pa - 63),
        std::cmp::Ordering::Equal => Extended::ZERO,
        std::cmp::Ordering::Greater => finish(sa, x - y, pa - 63),
        std::cmp::Ordering::Less => finish(sb, y - x, pa - 63),
    }
}

fn divide(a: Extended, b: Extended, sign: u16) -> Extended {
    if (is_infinite(a) && is_infinite(b)) || (a.significand == 0 && b.significand == 0) {
        return INVALID;
    }
    if is_infinite(a) || b.significand == 0 {
        return infinity(sign);
    }
    if is_infinite(b) || a.significand == 0 {
        return Extended { significand: 0, head: sign };
    }
    let shift = |value: Extended| i64::from(value.significand.leading_zeros());
    let normal = |value: Extended| u128::from(value.significand << value.significand.leading_zeros());
    let (x, y) = (normal(a), normal(b));
    let power = (power_of(a) - shift(a)) - (power_of(b) - shift(b));
    let (first, rest) = ((x << 64) / y, (x << 64) % y);
    let (second, rest) = ((rest << 32) / y, (rest << 32) % y);
    finish(sign, (first << 32 | second) << 1 | u128::from(rest != 0), power - 97)
}
