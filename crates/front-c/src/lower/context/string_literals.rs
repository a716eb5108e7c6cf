//! String literals: decodes clang's escaped spelling.

use crate::clang::kind::NodeKind as K;
use crate::clang::node::AstNode;
use crate::lower::context::unit::Unit;
use crate::types::ctype::TypeKind;

/// Returns the bytes of a string literal with its terminator, padded or truncated to its type.
pub(crate) fn bytes(node: &AstNode, unit: &Unit<'_>) -> Option<Vec<u8>> {
    if node.kind != K::StringLiteral {
        return bytes(node.inner.first()?, unit);
    }
    let ty = unit.type_of(node);
    let TypeKind::Array(element, length) = &ty.kind else { return None };
    let width = unit.program.types.size(element) as usize;
    if width > 4 {
        return None;
    }
    let units = decode(node.value.as_deref()?)?;
    let mut bytes = Vec::with_capacity(*length as usize * width);
    for index in 0..*length as usize {
        let unit = units.get(index).copied().unwrap_or(0);
        bytes.extend_from_slice(&unit.to_le_bytes()[..width]);
    }
    Some(bytes)
}

/// Returns the code units of `"…"`, `L"…"`, `u8"…"`, `u"…"` or `U"…"` as clang prints them.
fn decode(text: &str) -> Option<Vec<u32>> {
    let quote = text.find('"')?;
    let body = text[quote + 1..].strip_suffix('"')?;
    let mut units = Vec::new();
    let mut chars = body.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '"' {
            // `""` separates a hexadecimal escape from a following digit.
            chars.next();
            continue;
        }
        if c != '\\' {
            // clang prints bytes from 128 on as octal escapes, so this is ASCII in practice.
            let mut buffer = [0; 4];
            units.extend(c.encode_utf8(&mut buffer).bytes().map(u32::from));
            continue;
        }
        let escape = chars.next()?;
        let unit = match escape {
            'n' => 10,
            't' => 9,
            'r' => 13,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            '0'..='7' => {
                let mut value = escape.to_digit(8)?;
                for _ in 0..2 {
                    if let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) {
                        value = value * 8 + digit;
                        chars.next();
                    }
                }
                value
            }
            'x' => {
                let mut value = 0u32;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(16)) {
                    value = value.wrapping_mul(16).wrapping_add(digit);
                    chars.next();
                }
                value
            }
            'u' | 'U' => {
                let mut value = 0u32;
                for _ in 0..if escape == 'u' { 4 } else { 8 } {
                    value = value * 16 + chars.next()?.to_digit(16)?;
                }
                // A pair of UTF-16 units is printed as one code point.
                if text.starts_with("u\"") && value > 0xffff {
                    units.push(0xd800 + ((value - 0x10000) >> 10));
                    value = 0xdc00 + ((value - 0x10000) & 0x3ff);
                }
                value
            }
            other => u32::from(other),
        };
        units.push(unit);
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[track_caller]
    fn check(text: &str, expected: &[u32]) {
        assert_eq!(decode(text).as_deref(), Some(expected));
    }

    #[test]
    fn escapes_become_code_units() {
        check(r#""hi\n\001\303\251""#, &[104, 105, 10, 1, 0o303, 0o251]);
        check(r#""a\"b\\""#, &[97, 34, 98, 92]);
        check(r#""\0001""#, &[0, 49]);
        check(r#"L"\x20AC""1""#, &[0x20ac, 49]);
        check(r#"u"\U0001F600""#, &[0xd83d, 0xde00]);
        check(r#""""#, &[]);
    }
}
