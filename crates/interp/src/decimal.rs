//! Floats as text: the digits of `%f`, `%e`, `%g` and `%a`, all of them exact, ties to even as glibc rounds them.
//!
//! Signs, padding and the choice of letters are `printf`'s business; this is about magnitudes.

/// The text of a finite magnitude after a lower-case conversion (`f`, `e`, `g`, `a`). `keep` is the `#` flag: the point and
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

fn fixed(value: f64, precision: usize, keep: bool) -> String {
    let point = if precision == 0 && keep { "." } else { "" };
    format!("{value:.precision$}{point}")
}

/// Digits (`d.ddd`) and decimal exponent.
fn split_exponent(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_string(), exponent.parse().unwrap_or(0))
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
    let places = (precision as i64 - 1 - i64::from(exponent)).max(0) as usize;
    trimmed(&format!("{value:.places$}"))
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
