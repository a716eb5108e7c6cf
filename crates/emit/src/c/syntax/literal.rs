//! C literals.

use touchstone_base::float::Format;
use touchstone_ir::{DataType, IntKind, sign_extend};

/// Returns an integer constant that has exactly this value in C.
pub(crate) fn integer(bits: u8, signed: bool, value: u64) -> String {
    if !signed {
        let suffix = if value > i32::MAX as u64 { "u" } else { "" };
        return format!("{value}{suffix}");
    }
    // `-2147483648` is not a constant in C: it applies a minus to a number that does not fit an `int`.
    match sign_extend(value, bits) {
        number if bits == 32 && number == i64::from(i32::MIN) => "INT_MIN".to_string(),
        number if bits == 32 && number == i64::from(i32::MAX) => "INT_MAX".to_string(),
        i64::MIN => "LONG_MIN".to_string(),
        i64::MAX => "LONG_MAX".to_string(),
        number => number.to_string(),
    }
}

/// Returns a constant of 128 bits.
pub(crate) fn wide(number: u128, signed: bool) -> String {
    match (i64::try_from(number as i128), u64::try_from(number)) {
        (Ok(small), _) if signed => integer(64, true, small as u64),
        (_, Ok(small)) => integer(64, false, small),
        _ => format!("((unsigned __int128){:#x} << 64 | {:#x})", (number >> 64) as u64, number as u64),
    }
}

/// Returns a floating constant with exactly these bits. The harness defines the names in capitals.
pub(crate) fn float(format: Format, bits: u64) -> String {
    let (suffix, value) = match format {
        Format::F32 => ("f", f64::from(f32::from_bits(bits as u32))),
        Format::F64 => ("", f64::from_bits(bits)),
    };
    let sign = if bits & format.sign_mask() == 0 { "" } else { "-" };
    let payload = bits & (format.quiet_bit() - 1);
    match value {
        _ if value.is_nan() && bits & format.quiet_bit() == 0 => {
            format!("{sign}__builtin_nans{suffix}(\"{payload:#x}\")")
        }
        _ if value.is_nan() && payload != 0 => format!("{sign}__builtin_nan{suffix}(\"{payload:#x}\")"),
        _ if value.is_nan() => format!("{sign}NAN"),
        _ if value.is_infinite() => format!("{sign}INFINITY"),
        // The shortest decimal that is read back as the same number.
        _ => match format {
            Format::F32 => format!("{:?}f", f32::from_bits(bits as u32)),
            Format::F64 => format!("{value:?}"),
        },
    }
}

/// Returns a value of an integer, floating, boolean or enumeration type as a programmer would write it, or `None` for
/// other types.
pub(crate) fn scalar(ty: &DataType, value: u64) -> Option<String> {
    match ty {
        DataType::Int { bits, signed, kind, .. } => Some(match printable(value) {
            Some(text) if *kind == IntKind::Character => format!("'{text}'"),
            _ => integer(*bits, *signed, value),
        }),
        DataType::Bits { width, signed, .. } => Some(integer(*width, *signed, value)),
        DataType::Float { format, .. } => Some(float(*format, value)),
        DataType::Bool { name } if name == "bool" => Some((value != 0).to_string()),
        DataType::Bool { .. } => Some(u64::from(value != 0).to_string()),
        DataType::Enum { bits, signed, items, .. } => {
            let number = if *signed { sign_extend(value, *bits) } else { value as i64 };
            let named = items.iter().find(|item| item.value == number);
            Some(named.map_or_else(|| integer(*bits, *signed, value), |item| item.name.clone()))
        }
        _ => None,
    }
}

/// Returns a byte as it appears in a character constant, or `None` if it is not printable.
fn printable(value: u64) -> Option<String> {
    match u8::try_from(value).ok()? {
        b'\'' => Some("\\'".to_string()),
        byte => readable(byte),
    }
}

fn readable(byte: u8) -> Option<String> {
    match byte {
        b'\n' => Some("\\n".to_string()),
        b'\t' => Some("\\t".to_string()),
        b'\r' => Some("\\r".to_string()),
        b'\\' => Some("\\\\".to_string()),
        b' '..=b'~' => Some((byte as char).to_string()),
        _ => None,
    }
}

/// Returns the characters of an array as a string literal, or `None` unless they are printable and padded with zeros
/// only.
pub(crate) fn readable_string(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    if bytes.len() < 2
        || bytes[end..].iter().any(|&byte| byte != 0)
        || bytes[..end].iter().any(|&b| readable(b).is_none())
    {
        return None;
    }
    Some(string(&bytes[..end]))
}

/// Returns a string literal of arbitrary bytes.
pub(crate) fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'?' => text.push_str(if text.ends_with('?') { "\\?" } else { "?" }),
            _ => match readable(byte) {
                Some(shown) => text.push_str(&shown),
                // An octal escape has at most three digits; a hexadecimal escape would swallow the digits that follow
                // it.
                None => text.push_str(&format!("\\{byte:03o}")),
            },
        }
    }
    text.push('"');
    text
}

/// Returns a string literal of a message; UTF-8 is not escaped.
pub(crate) fn text(text: &str) -> String {
    let mut literal = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '?' => literal.push_str(if literal.ends_with('?') { "\\?" } else { "?" }),
            char if char.is_control() => literal.push(' '),
            char => literal.push(char),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_ir::EnumItem;

    #[test]
    fn integers_have_their_value_in_c() {
        let check = |bits, signed, value: i64, expected: &str| {
            assert_eq!(integer(bits, signed, touchstone_ir::mask(value as u64, bits)), expected);
        };
        check(32, true, 5, "5");
        check(32, true, -5, "-5");
        check(32, true, i64::from(i32::MIN), "INT_MIN");
        check(32, true, i64::from(i32::MAX), "INT_MAX");
        check(8, true, -128, "-128");
        check(16, true, -32768, "-32768");
        check(64, true, i64::MIN, "LONG_MIN");
        check(64, true, i64::MIN + 1, "-9223372036854775807");
        check(64, true, 5_000_000_000, "5000000000");
        check(32, false, 7, "7");
        check(32, false, -1, "4294967295u");
        check(64, false, -1, "18446744073709551615u");
        check(8, false, -1, "255");
    }

    #[test]
    fn scalars_look_as_the_user_writes_them() {
        let int = |name: &str, bits, signed| {
            let kind = if name == "char" { IntKind::Character } else { IntKind::Number };
            DataType::Int { name: name.into(), bits, signed, kind }
        };
        let check = |ty: DataType, value, expected: &str| assert_eq!(scalar(&ty, value).as_deref(), Some(expected));
        check(int("char", 8, true), 97, "'a'");
        check(int("char", 8, true), 39, "'\\''");
        check(int("char", 8, true), 92, "'\\\\'");
        check(int("char", 8, true), 10, "'\\n'");
        check(int("char", 8, true), 0, "0");
        check(int("char", 8, true), 255, "-1");
        check(int("uint8_t", 8, false), 97, "97");
        check(DataType::Bool { name: "_Bool".into() }, 1, "1");
        check(DataType::Bool { name: "bool".into() }, 1, "true");
        let items = vec![EnumItem { name: "RED".into(), value: 0 }, EnumItem { name: "NONE".into(), value: -1 }];
        let color = DataType::Enum { name: "enum color".into(), bits: 32, signed: true, items };
        check(color.clone(), 0, "RED");
        check(color.clone(), 0xffff_ffff, "NONE");
        check(color, 7, "7");
    }

    #[test]
    fn readable_character_arrays_are_strings() {
        let check = |bytes: &[u8], expected: Option<&str>| assert_eq!(readable_string(bytes).as_deref(), expected);
        check(b"ab\0", Some("\"ab\""));
        check(b"ab\0\0\0", Some("\"ab\""));
        check(b"ab", Some("\"ab\""));
        check(b"\0\0", Some("\"\""));
        check(b"a\"\\\n\0", Some("\"a\\\"\\\\\\n\""));
        check(b"a\0b", None);
        check(b"a\xff\0", None);
        check(b"a", None);
    }

    #[test]
    fn bytes_of_all_kinds_fit_in_a_string() {
        assert_eq!(string(b"a\x01b\0\xff1??="), "\"a\\001b\\000\\3771?\\?=\"");
        assert_eq!(text("a \"b\" \\ c\nd"), "\"a \\\"b\\\" \\\\ c d\"");
    }
}
