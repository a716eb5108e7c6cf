//! Java literals.

use touchstone_base::float::Format;
use touchstone_ir::{DataType, DataValue, IntKind, sign_extend};

/// Returns the expression of a primitive value, or `None` for other types.
pub(crate) fn literal(data: &DataType, value: &DataValue) -> Option<String> {
    let DataValue::Int(bits) = value else { return None };
    Some(match data {
        DataType::Bool { .. } => (bits & 1 != 0).to_string(),
        DataType::Int { bits: 16, kind: IntKind::Character, .. } => character(*bits as u16),
        DataType::Int { bits: width, .. } => match (width, sign_extend(*bits, *width)) {
            (64, i64::MIN) => "Long.MIN_VALUE".to_string(),
            (64, i64::MAX) => "Long.MAX_VALUE".to_string(),
            (64, number) => format!("{number}L"),
            (32, number) if number == i64::from(i32::MIN) => "Integer.MIN_VALUE".to_string(),
            (32, number) if number == i64::from(i32::MAX) => "Integer.MAX_VALUE".to_string(),
            (32, number) => number.to_string(),
            (16, number) => format!("(short) {number}"),
            (_, number) => format!("(byte) {number}"),
        },
        DataType::Float { format: Format::F32, .. } => float(*bits as u32),
        DataType::Float { .. } => double(*bits),
        _ => return None,
    })
}

/// Returns a string literal.
pub(crate) fn quoted_units(units: &[u16]) -> String {
    let mut quoted = String::from("\"");
    for unit in units {
        match char::from_u32(u32::from(*unit)) {
            Some('"') => quoted += "\\\"",
            Some('\\') => quoted += "\\\\",
            Some('\n') => quoted += "\\n",
            Some('\t') => quoted += "\\t",
            Some('\r') => quoted += "\\r",
            Some(plain @ ' '..='~') => quoted.push(plain),
            _ => match unit {
                // Three digits, because a digit may follow.
                0..=0xff => quoted += &format!("\\{unit:03o}"),
                _ => quoted += &format!("\\u{unit:04x}"),
            },
        }
    }
    quoted + "\""
}

fn character(unit: u16) -> String {
    match char::from_u32(u32::from(unit)) {
        Some('\'') => "'\\''".to_string(),
        Some('\\') => "'\\\\'".to_string(),
        Some('\n') => "'\\n'".to_string(),
        Some('\t') => "'\\t'".to_string(),
        Some('\r') => "'\\r'".to_string(),
        Some(plain @ ' '..='~') => format!("'{plain}'"),
        // Unicode escapes are translated before the source is tokenised, so they must not denote a line break.
        _ => match unit {
            0..=0xff => format!("'\\{unit:o}'"),
            _ => format!("'\\u{unit:04x}'"),
        },
    }
}

fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    match value {
        _ if value.is_nan() && bits == f32::NAN.to_bits() => "Float.NaN".to_string(),
        _ if value.is_nan() => format!("Float.intBitsToFloat(0x{bits:08x})"),
        _ if value == f32::INFINITY => "Float.POSITIVE_INFINITY".to_string(),
        _ if value == f32::NEG_INFINITY => "Float.NEGATIVE_INFINITY".to_string(),
        _ => format!("{value:?}f"),
    }
}

fn double(bits: u64) -> String {
    let value = f64::from_bits(bits);
    match value {
        _ if value.is_nan() && bits == f64::NAN.to_bits() => "Double.NaN".to_string(),
        _ if value.is_nan() => format!("Double.longBitsToDouble(0x{bits:016x}L)"),
        _ if value == f64::INFINITY => "Double.POSITIVE_INFINITY".to_string(),
        _ if value == f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".to_string(),
        _ => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(bits: u8, signed: bool, kind: IntKind) -> DataType {
        DataType::Int { name: String::new(), bits, signed, kind }
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        let check = |data: &DataType, bits: u64, expected: &str| {
            assert_eq!(literal(data, &DataValue::Int(bits)).as_deref(), Some(expected));
        };
        check(&int(32, true, IntKind::Number), 0xffff_ffff, "-1");
        check(&int(32, true, IntKind::Number), 0x8000_0000, "Integer.MIN_VALUE");
        check(&int(64, true, IntKind::Number), 7, "7L");
        check(&int(8, true, IntKind::Number), 0x80, "(byte) -128");
        let char = int(16, false, IntKind::Character);
        check(&char, 0x41, "'A'");
        check(&char, 0x27, "'\\''");
        check(&char, 0x0a, "'\\n'");
        check(&char, 0, "'\\0'");
        check(&char, 0xffff, "'\\uffff'");
        let double = DataType::Float { name: String::new(), format: Format::F64 };
        check(&double, 1.5f64.to_bits(), "1.5");
        check(&double, (-0.0f64).to_bits(), "-0.0");
        check(&double, f64::NAN.to_bits(), "Double.NaN");
        check(&DataType::Bool { name: String::new() }, 1, "true");
        assert_eq!(quoted_units(&[0x61, 0x22, 0x0a, 0, 0x37, 0x20ac]), "\"a\\\"\\n\\0007\\u20ac\"");
    }
}
