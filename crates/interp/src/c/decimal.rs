//! Decimal and hexadecimal notation of floats: the digits of `%f`, `%e`, `%g` and `%a`, all of them exact, with ties to
//! even as in glibc.
//!
//! Extended precision (80 bits) is formatted separately, digit by digit. Signs, padding and capitals are handled by
//! `printf.rs`; this file formats magnitudes.

use touchstone_base::extended::Extended;

/// Formats a finite magnitude for a lower-case conversion (`f`, `e`, `g`, `a`). `keep` is the `#` flag: the point and
/// the zeros of `%g` stay.
pub(crate) fn magnitude(conversion: u8, value: f64, precision: Option<usize>, keep: bool) -> String {
    let value = value.abs();
    match conversion {
        b'f' => fixed(value, precision.unwrap_or(6), keep),
        b'e' => scientific(value, precision.unwrap_or(6), keep),
        b'g' => general(value, precision.unwrap_or(6).max(1), keep),
        _ => hexadecimal(value, precision, keep),
    }
}

/// More digits than any magnitude has after its point; only zeros follow. Rust's formatter supports at most 65,535.
const MAX_FRACTION_DIGITS: usize = 1100;

/// Returns all digits of a number after its point.
fn places(value: f64, wanted: usize) -> String {
    let exact = wanted.min(MAX_FRACTION_DIGITS);
    format!("{value:.exact$}") + &"0".repeat(wanted - exact)
}

fn fixed(value: f64, precision: usize, keep: bool) -> String {
    let point = if precision == 0 && keep { "." } else { "" };
    places(value, precision) + point
}

/// Returns the digits (`d.ddd`) and the decimal exponent.
fn split_exponent(value: f64, precision: usize) -> (String, i32) {
    let exact = precision.min(MAX_FRACTION_DIGITS);
    let text = format!("{value:.exact$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_string() + &"0".repeat(precision - exact), exponent.parse().unwrap_or(0))
}

fn scientific(value: f64, precision: usize, keep: bool) -> String {
    let (digits, exponent) = split_exponent(value, precision);
    let point = if precision == 0 && keep { "." } else { "" };
    format!("{digits}{point}{}", with_exponent(exponent))
}

fn with_exponent(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.unsigned_abs())
}

fn general(value: f64, precision: usize, keep: bool) -> String {
    let (digits, exponent) = split_exponent(value, precision - 1);
    let trimmed = |text: &str| match keep {
        true if text.contains('.') => text.to_string(),
        true => format!("{text}."),
        false if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    let wide = i64::from(exponent) >= precision as i64;
    if wide || exponent < -4 {
        return format!("{}{}", trimmed(&digits), with_exponent(exponent));
    }
    trimmed(&places(value, (precision as i64 - 1 - i64::from(exponent)).max(0) as usize))
}

fn hexadecimal(value: f64, precision: Option<usize>, keep: bool) -> String {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let (field, mut fraction) = ((bits >> FRACTION) as i32, bits & ((1 << FRACTION) - 1));
    let exponent = match field {
        0 if fraction == 0 => 0,
        0 => -1022,
        _ => field - 1023,
    };
    let mut lead = u64::from(field != 0);
    let mut digits = 13;
    match precision {
        None => {
            while digits > 0 && fraction & 0xf == 0 {
                fraction >>= 4;
                digits -= 1;
            }
        }
        Some(wanted) if wanted < digits => {
            let dropped = 4 * (digits - wanted) as u32;
            let whole = lead << FRACTION | fraction;
            let (kept, rest, half) = (whole >> dropped, whole & ((1 << dropped) - 1), 1 << (dropped - 1));
            let kept = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
            digits = wanted;
            (lead, fraction) = (kept >> (4 * digits), kept & ((1 << (4 * digits)) - 1));
        }
        Some(_) => {}
    }
    let mut text = format!("0x{lead}");
    let zeros = precision.map_or(0, |wanted| wanted.saturating_sub(digits));
    if digits + zeros > 0 || keep {
        text.push('.');
    }
    if digits > 0 {
        text.push_str(&format!("{fraction:0digits$x}"));
    }
    text.push_str(&"0".repeat(zeros));
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{text}p{sign}{}", exponent.unsigned_abs())
}

/// Formats an 80-bit number. Returns `None` for `%a` with a precision.
pub(crate) fn extended(conversion: u8, value: Extended, precision: Option<usize>, keep: bool) -> Option<String> {
    let number = Digits::of(value);
    let precision_or = |usual: usize| precision.unwrap_or(usual);
    Some(match conversion {
        b'f' => number.fixed(precision_or(6), keep),
        b'e' => number.scientific(precision_or(6), keep),
        b'g' => {
            let precision = precision_or(6).max(1);
            let exponent = number.rounded(precision as i64).before - 1;
            let wide = exponent >= precision as i64 || exponent < -4;
            let text = match wide {
                true => number.scientific(precision - 1, true),
                false => number.fixed((precision as i64 - 1 - exponent).max(0) as usize, true),
            };
            let (digits, power) = match text.split_once('e') {
                Some((digits, power)) => (digits, format!("e{power}")),
                None => (text.as_str(), String::new()),
            };
            let digits = if keep { digits } else { digits.trim_end_matches('0').trim_end_matches('.') };
            format!("{digits}{power}")
        }
        _ if precision.is_some() => return None,
        _ => {
            let text = format!("{:016x}", value.significand);
            let (lead, rest) = text.split_at(1);
            let rest = rest.trim_end_matches('0');
            let point = if rest.is_empty() && !keep { "" } else { "." };
            let power = match value.significand {
                0 => 0,
                _ => i64::from(value.head & 0x7fff).max(1) - 16383 - 3,
            };
            format!("0x{lead}{point}{rest}p{power:+}")
        }
    })
}

/// A number as decimal digits, `before` of them before the point.
struct Digits {
    digits: Vec<u8>,
    before: i64,
}

impl Digits {
    fn of(value: Extended) -> Digits {
        let (text, before) = value.digits();
        match text.is_empty() {
            true => Digits { digits: b"0".to_vec(), before: 1 },
            false => Digits { digits: text.into_bytes(), before },
        }
    }

    /// Rounds to `count` digits, with ties to even; a number with fewer digits is unchanged.
    fn rounded(&self, count: i64) -> Digits {
        if count >= self.digits.len() as i64 {
            return Digits { digits: self.digits.clone(), before: self.before };
        }
        if count < 0 {
            return Digits { digits: b"0".to_vec(), before: self.before.max(1) };
        }
        let (kept, lost) = self.digits.split_at(count as usize);
        let odd = kept.last().is_some_and(|digit| digit % 2 == 1);
        let more = lost[1..].iter().any(|&digit| digit != b'0');
        let up = lost[0] > b'5' || lost[0] == b'5' && (more || odd);
        let (mut digits, mut before) = (kept.to_vec(), self.before);
        if up {
            let nines = digits.iter().rev().take_while(|&&digit| digit == b'9').count();
            let at = digits.len() - nines;
            digits[at..].fill(b'0');
            match at {
                0 => {
                    digits.insert(0, b'1');
                    before += 1;
                }
                _ => digits[at - 1] += 1,
            }
        }
        if digits.is_empty() {
            (digits, before) = (b"0".to_vec(), before.max(1));
        }
        Digits { digits, before }
    }

    fn digit(&self, position: i64) -> char {
        // Positions are relative to the point: 0 is the first digit after it.
        let index = self.before + position;
        usize::try_from(index).ok().and_then(|index| self.digits.get(index)).map_or('0', |&digit| char::from(digit))
    }

    fn fixed(&self, precision: usize, keep: bool) -> String {
        let number = self.rounded(self.before + precision as i64);
        let whole: String = (-number.before.max(1)..0).map(|position| number.digit(position)).collect();
        let fraction: String = (0..precision as i64).map(|position| number.digit(position)).collect();
        let point = if precision > 0 || keep { "." } else { "" };
        format!("{whole}{point}{fraction}")
    }

    fn scientific(&self, precision: usize, keep: bool) -> String {
        let number = self.rounded(precision as i64 + 1);
        let zero = number.digits.iter().all(|&digit| digit == b'0');
        let exponent = if zero { 0 } else { number.before - 1 };
        let digit = |at: usize| number.digits.get(at).map_or('0', |&digit| char::from(digit));
        let fraction: String = (1..=precision).map(digit).collect();
        let point = if precision > 0 || keep { "." } else { "" };
        format!("{}{point}{fraction}{}", digit(0), with_exponent(exponent as i32))
    }
}
