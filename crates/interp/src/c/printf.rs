//! Formatted output with integer, float, character, string and pointer conversions.
//!
//! `%[-0+ #]*[width][.precision][hh|h|l|ll|L|j|z|t](d|i|u|x|X|o|f|e|g|a|c|s|p|%)`, with `*` for width and precision.
//! Everything else (`%n`, wide characters, positional arguments) is reported as unsupported. Where the language leaves
//! the result open (null for `%s`, the notation of `%p`), it is that of GNU systems.

use crate::c::decimal;
use crate::machine::Stop;
use crate::memory::{AddressLayout, Memory};
use crate::unsupported_operation::UnsupportedOperation;
use crate::value::{Pointer, Value};
use touchstone_base::extended::Extended;
use touchstone_ir::{ErrorKind, Ty, mask, sign_extend};

/// The maximum field width and precision.
const MAX_FIELD_WIDTH: u64 = 1 << 20;

#[derive(Default)]
struct Spec {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// The width of an integer argument in bits.
    bits: u8,
    /// The length modifier, for messages.
    length: String,
}

/// The source of the arguments.
enum Arguments<'a> {
    /// Values with their widths.
    Values(std::slice::Iter<'a, (Value, u8)>),
    /// A list in memory, 8 bytes each, and the number of arguments used.
    List(Option<Pointer>, usize),
}

struct Formatter<'a, 'm> {
    rest: &'a [u8],
    args: Arguments<'a>,
    memory: &'a Memory<'m>,
    out: Vec<u8>,
}

/// Formats `args` (values with their widths) by `format`.
pub(crate) fn format(format: &[u8], args: &[(Value, u8)], memory: &Memory) -> Result<Vec<u8>, Stop> {
    let mut formatter = Formatter { rest: format, args: Arguments::Values(args.iter()), memory, out: Vec::new() };
    formatter.run()?;
    Ok(formatter.out)
}

/// Formats arguments in memory by `format`; also returns the number of arguments used.
pub(crate) fn format_list(format: &[u8], list: Option<Pointer>, memory: &Memory) -> Result<(Vec<u8>, usize), Stop> {
    let mut formatter = Formatter { rest: format, args: Arguments::List(list, 0), memory, out: Vec::new() };
    formatter.run()?;
    let used = match formatter.args {
        Arguments::List(_, used) => used,
        Arguments::Values(_) => 0,
    };
    Ok((formatter.out, used))
}

/// Returns one byte of a float in decimal notation, or all bits set after its end:
/// [`touchstone_ir::CBuiltin::FloatText`] with these arguments.
pub fn float_text(&[bits, conversion, flags, width, precision, index]: &[u64; 6]) -> u32 {
    let has = |flag: u64| flags & flag != 0;
    let size = |value: u64| value.min(MAX_FIELD_WIDTH) as usize;
    let spec = Spec {
        left: has(1),
        zero: has(2),
        plus: has(4),
        space: has(8),
        alternate: has(16),
        width: size(width),
        precision: (sign_extend(precision, 32) >= 0).then(|| size(precision)),
        ..Spec::default()
    };
    let memory = Memory::new(0, AddressLayout::Compact);
    let mut formatter = Formatter { rest: &[], args: Arguments::List(None, 0), memory: &memory, out: Vec::new() };
    formatter.float(&spec, conversion as u8, f64::from_bits(bits));
    formatter.out.get(index as usize).map_or(u32::MAX, |&byte| u32::from(byte))
}

fn unsupported<T>(what: UnsupportedOperation) -> Result<T, Stop> {
    Err(Stop::Unsupported(what))
}

impl Formatter<'_, '_> {
    fn next_byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn run(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.next_byte() {
            if byte == b'%' { self.conversion()? } else { self.out.push(byte) }
        }
        Ok(())
    }

    /// Returns the next argument and its width.
    fn next_argument(&mut self) -> Result<(Value, u8), Stop> {
        match &mut self.args {
            Arguments::Values(values) => match values.next() {
                Some(&argument) => Ok(argument),
                None => unsupported(UnsupportedOperation::PrintfTooFewArguments),
            },
            Arguments::List(Some(first), used) => {
                let place = Pointer { object: first.object, offset: first.offset + 8 * *used as i64 };
                *used += 1;
                Ok((self.memory.load(place, Ty::Ptr)?, 64))
            }
            Arguments::List(None, _) => unsupported(UnsupportedOperation::PrintfTooFewArguments),
        }
    }

    /// Returns the next argument, sign-extended from its own width.
    fn argument(&mut self) -> Result<i64, Stop> {
        let (value, bits) = self.next_argument()?;
        Ok(sign_extend(mask(self.memory.as_int(value)?, bits), bits))
    }

    fn conversion(&mut self) -> Result<(), Stop> {
        let mut spec = Spec::default();
        self.flags(&mut spec);
        self.width_and_precision(&mut spec)?;
        self.length(&mut spec);
        let Some(conversion) = self.next_byte() else { return unsupported(UnsupportedOperation::PrintfIncomplete) };
        let plain = spec.length.is_empty();
        match conversion {
            b'%' => self.out.push(b'%'),
            b'd' | b'i' => self.signed(&spec)?,
            b'u' => self.unsigned(&spec, 10, b'u')?,
            b'o' => self.unsigned(&spec, 8, b'o')?,
            b'x' | b'X' => self.unsigned(&spec, 16, conversion)?,
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if plain || spec.length == "l" => {
                let value = f64::from_bits(self.argument()? as u64);
                self.float(&spec, conversion, value);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' if spec.length == "L" => {
                // Two arguments: the significand, then sign and exponent.
                let (significand, head) = (self.argument()? as u64, self.argument()? as u16);
                self.extended(&spec, conversion, Extended { significand, head })?;
            }
            b'c' if plain => {
                let byte = self.argument()? as u8;
                self.pad(&spec, &[byte]);
            }
            b's' if plain => self.string(&spec)?,
            b'p' if plain => self.pointer(&mut spec)?,
            other => {
                let what = format!("{}{}", spec.length, char::from(other).escape_default());
                return unsupported(UnsupportedOperation::PrintfConversion(what));
            }
        }
        Ok(())
    }

    fn flags(&mut self, spec: &mut Spec) {
        loop {
            let flag = match self.rest.first() {
                Some(b'-') => &mut spec.left,
                Some(b'0') => &mut spec.zero,
                Some(b'+') => &mut spec.plus,
                Some(b' ') => &mut spec.space,
                Some(b'#') => &mut spec.alternate,
                _ => return,
            };
            *flag = true;
            self.rest = &self.rest[1..];
        }
    }

    fn width_and_precision(&mut self, spec: &mut Spec) -> Result<(), Stop> {
        let width = self.count()?;
        spec.left |= width < 0;
        spec.width = field_size(width.unsigned_abs())?;
        if self.eat(b'.') {
            let precision = self.count()?;
            if precision >= 0 {
                spec.precision = Some(field_size(precision.unsigned_abs())?);
            }
        }
        Ok(())
    }

    /// Parses a decimal number, or takes an argument for `*`; 0 if there is neither.
    fn count(&mut self) -> Result<i64, Stop> {
        if self.eat(b'*') {
            return Ok(i64::from(self.argument()? as i32));
        }
        let mut value: i64 = 0;
        while let Some(digit) = self.rest.first().filter(|byte| byte.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(i64::from(digit - b'0'));
            self.rest = &self.rest[1..];
        }
        Ok(value)
    }

    fn length(&mut self, spec: &mut Spec) {
        spec.bits = 32;
        for (text, bits) in [("hh", 8), ("h", 16), ("ll", 64), ("l", 64), ("L", 64), ("j", 64), ("z", 64), ("t", 64)] {
            if let Some(rest) = self.rest.strip_prefix(text.as_bytes()) {
                (self.rest, spec.bits, spec.length) = (rest, bits, text.to_string());
                return;
            }
        }
    }

    fn signed(&mut self, spec: &Spec) -> Result<(), Stop> {
        let value = sign_extend(mask(self.argument()? as u64, spec.bits), spec.bits);
        let sign = match value {
            ..0 => "-",
            _ if spec.plus => "+",
            _ if spec.space => " ",
            _ => "",
        };
        self.number(spec, sign, value.unsigned_abs().to_string());
        Ok(())
    }

    fn unsigned(&mut self, spec: &Spec, radix: u32, conversion: u8) -> Result<(), Stop> {
        let value = mask(self.argument()? as u64, spec.bits);
        let digits = match (radix, conversion) {
            (8, _) => format!("{value:o}"),
            (16, b'X') => format!("{value:X}"),
            (16, _) => format!("{value:x}"),
            _ => value.to_string(),
        };
        match (spec.alternate, radix) {
            (true, 16) if value != 0 => self.number(spec, if conversion == b'X' { "0X" } else { "0x" }, digits),
            (true, 8) => self.octal_with_leading_zero(spec, value, digits),
            _ => self.number(spec, "", digits),
        }
        Ok(())
    }

    fn float(&mut self, spec: &Spec, conversion: u8, value: f64) {
        let text = match value {
            _ if value.is_nan() => "nan".to_string(),
            _ if value.is_infinite() => "inf".to_string(),
            _ => decimal::magnitude(conversion.to_ascii_lowercase(), value, spec.precision, spec.alternate),
        };
        self.float_field(spec, conversion, text, value.is_sign_negative(), value.is_finite());
    }

    fn extended(&mut self, spec: &Spec, conversion: u8, value: Extended) -> Result<(), Stop> {
        let text = match value {
            _ if value.is_nan() => "nan".to_string(),
            _ if !value.is_finite() => "inf".to_string(),
            _ => match decimal::extended(conversion.to_ascii_lowercase(), value, spec.precision, spec.alternate) {
                Some(text) => text,
                None => return unsupported(UnsupportedOperation::PrintfLongHexadecimal),
            },
        };
        self.float_field(spec, conversion, text, value.is_negative(), value.is_finite());
        Ok(())
    }

    fn float_field(&mut self, spec: &Spec, conversion: u8, mut text: String, negative: bool, finite: bool) {
        let sign = match negative {
            true => "-",
            false if spec.plus => "+",
            false if spec.space => " ",
            false => "",
        };
        if finite && spec.zero && !spec.left {
            let zeros = "0".repeat(spec.width.saturating_sub(sign.len() + text.len()));
            // The zeros of a hexadecimal float follow its prefix.
            let at = if text.starts_with("0x") { 2 } else { 0 };
            text.insert_str(at, &zeros);
        }
        if conversion.is_ascii_uppercase() {
            text.make_ascii_uppercase();
        }
        self.pad(spec, format!("{sign}{text}").as_bytes());
    }

    /// Formats `%#o`: the precision grows until the first digit is a zero.
    fn octal_with_leading_zero(&mut self, spec: &Spec, value: u64, digits: String) {
        let has_zero = spec.precision.is_some_and(|precision| precision > digits.len());
        if value == 0 {
            let precision = spec.precision.map(|precision| precision.max(1));
            self.number(&Spec { precision, length: String::new(), ..*spec }, "", digits);
        } else {
            self.number(spec, "", if has_zero { digits } else { format!("0{digits}") });
        }
    }

    fn number(&mut self, spec: &Spec, prefix: &str, digits: String) {
        let digits = match spec.precision {
            Some(0) if digits == "0" => String::new(),
            Some(precision) => "0".repeat(precision.saturating_sub(digits.len())) + &digits,
            None if spec.zero && !spec.left => {
                "0".repeat(spec.width.saturating_sub(prefix.len() + digits.len())) + &digits
            }
            None => digits,
        };
        self.pad(spec, format!("{prefix}{digits}").as_bytes());
    }

    fn string(&mut self, spec: &Spec) -> Result<(), Stop> {
        let (value, _) = self.next_argument()?;
        let limit = spec.precision.map_or(u64::MAX, |precision| precision as u64);
        let text = match value {
            Value::NULL if limit >= 6 => b"(null)".to_vec(),
            Value::NULL => Vec::new(),
            _ => match self.memory.resolve(value) {
                Ok(place) => self.memory.text(place, limit)?,
                Err(ErrorKind::NullPointer | ErrorKind::InvalidPointer) if limit == 0 => Vec::new(),
                Err(kind) => return Err(kind.into()),
            },
        };
        self.pad(spec, &text);
        Ok(())
    }

    fn pointer(&mut self, spec: &mut Spec) -> Result<(), Stop> {
        match self.argument()? {
            0 => self.pad(spec, b"(nil)"),
            address => self.number(spec, "0x", format!("{address:x}")),
        }
        Ok(())
    }

    fn pad(&mut self, spec: &Spec, text: &[u8]) {
        let missing = spec.width.saturating_sub(text.len());
        if !spec.left {
            self.out.extend(std::iter::repeat_n(b' ', missing));
        }
        self.out.extend_from_slice(text);
        if spec.left {
            self.out.extend(std::iter::repeat_n(b' ', missing));
        }
    }
}

fn field_size(value: u64) -> Result<usize, Stop> {
    if value > MAX_FIELD_WIDTH { unsupported(UnsupportedOperation::PrintfWidth) } else { Ok(value as usize) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Fill, ObjectKind};
    use crate::value::Pointer;
    use std::borrow::Cow;

    fn check(pattern: &str, args: &[(i64, u8)], expected: Result<&str, &str>) {
        let args: Vec<(Value, u8)> =
            args.iter().map(|&(value, bits)| (Value::Int(mask(value as u64, bits)), bits)).collect();
        match (format(pattern.as_bytes(), &args, &Memory::new(0, AddressLayout::Compact)), expected) {
            (Ok(text), Ok(expected)) => assert_eq!(String::from_utf8_lossy(&text), expected, "{pattern}"),
            (Err(Stop::Unsupported(what)), Err(expected)) => assert_eq!(what.to_string(), expected, "{pattern}"),
            (Ok(text), Err(_)) => panic!("{pattern}: unexpected success {text:?}"),
            _ => panic!("{pattern}: unexpected failure"),
        }
    }

    #[test]
    fn integers_are_formatted_as_the_c_library_does() {
        check("%d|%i|%u", &[(-5, 32), (7, 32), (-1, 32)], Ok("-5|7|4294967295"));
        check("%5d|%-5d|%05d|%+d|% d", &[(42, 32); 5], Ok("   42|42   |00042|+42| 42"));
        check("%.5d|%8.5d|%-8.5d|%08.5d", &[(-42, 32); 4], Ok("-00042|  -00042|-00042  |  -00042"));
        check("%06d|%+06d", &[(-42, 32), (42, 32)], Ok("-00042|+00042"));
        check("[%.0d][%.0x][%.d][%5.0d]", &[(0, 32); 4], Ok("[][][][     ]"));
        check(
            "%x|%X|%#x|%#X|%#x|%08x|%#08x",
            &[(255, 32), (255, 32), (255, 32), (255, 32), (0, 32), (255, 32), (255, 32)],
            Ok("ff|FF|0xff|0XFF|0|000000ff|0x0000ff"),
        );
        check("%o|%#o|%#o|%#.0o|%#.5o", &[(8, 32), (8, 32), (0, 32), (0, 32), (8, 32)], Ok("10|010|0|0|00010"));
        check("%hhd|%hd|%hhu|%hx", &[(300, 32), (70000, 32), (-1, 32), (-1, 32)], Ok("44|4464|255|ffff"));
        check(
            "%ld|%lld|%zu|%jd|%td|%lx",
            &[(i64::MIN, 64), (-1, 64), (-1, 64), (5, 64), (-6, 64), (-1, 64)],
            Ok("-9223372036854775808|-1|18446744073709551615|5|-6|ffffffffffffffff"),
        );
        check(
            "%*d|%-*d|%*d|%.*d|%.*d",
            &[(4, 32), (1, 32), (4, 32), (2, 32), (-4, 32), (3, 32), (3, 32), (4, 32), (-3, 32), (5, 32)],
            Ok("   1|2   |3   |004|5"),
        );
    }

    #[test]
    fn floats_are_formatted_as_the_c_library_does() {
        let float = |pattern: &str, value: f64, expected: &str| {
            check(pattern, &[(value.to_bits() as i64, 64)], Ok(expected));
        };
        float("%f", 1.5, "1.500000");
        float("%.0f", 0.5, "0");
        float("%.0f", 1.5, "2");
        float("%.0f", 2.5, "2");
        float("%.1f", 0.25, "0.2");
        float("%#.0f", 3.0, "3.");
        float("%.3f", -0.0005, "-0.001");
        float("%8.2f|", 1.23456, "    1.23|");
        float("%-8.2f|", 1.23456, "1.23    |");
        float("%+08.2f|", 1.23456, "+0001.23|");
        float("%.20f", 0.1, "0.10000000000000000555");
        float("%f", 1e22, "10000000000000000000000.000000");
        float("%e", 12345.678, "1.234568e+04");
        float("%.0e", 15.0, "2e+01");
        float("%#.0E", 1e-300, "1.E-300");
        float("%e", 0.0, "0.000000e+00");
        float("%g", 100000.0, "100000");
        float("%g", 1000000.0, "1e+06");
        float("%g", 0.0001, "0.0001");
        float("%g", 0.00001, "1e-05");
        float("%#g", 1.0, "1.00000");
        float("%.3g", 999.9, "1e+03");
        float("%.0g", 0.0, "0");
        float("%G", 1e-10, "1E-10");
        float("%.17g", 0.1, "0.10000000000000001");
        float("%a", 1.0, "0x1p+0");
        float("%a", -0.1, "-0x1.999999999999ap-4");
        float("%.2a", 1.999, "0x2.00p+0");
        float("%.0a", 1.5, "0x2p+0");
        float("%A", 255.5, "0X1.FFP+7");
        float("%a", 5e-324, "0x0.0000000000001p-1022");
        float("%020a", 1.0, "0x000000000000001p+0");
        float("%a", 0.0, "0x0p+0");
        float("%05f|", f64::INFINITY, "  inf|");
        float("%F", f64::NEG_INFINITY, "-INF");
        float("%f", f64::NAN, "nan");
        float("%f", -f64::NAN, "-nan");
    }

    #[test]
    fn characters_pointers_and_percent_signs() {
        check("%c%3c%-3c|%%|%p", &[(65, 32), (66, 32), (67, 32), (0, 64)], Ok("A  BC  |%|(nil)"));
        check("%p", &[(0x1f, 64)], Ok("0x1f"));
        check("%s|%.3s|%8s", &[(0, 64); 3], Ok("(null)||  (null)"));
    }

    #[test]
    fn strings_stop_at_their_nul_or_precision() {
        let mut memory = Memory::new(1000, AddressLayout::Compact);
        let object = memory.alloc(4, Cow::Borrowed(""), ObjectKind::Heap, Fill::Zero).expect("fits");
        memory.write_bytes(Pointer { object, offset: 0 }, b"abc").expect("fits");
        let arg = (Value::ptr(object, 0), 64);
        let text = format(b"%s|%5s|%-5s|%.2s", &[arg; 4], &memory);
        assert_eq!(text.ok(), Some(b"abc|  abc|abc  |ab".to_vec()));
        memory.write_bytes(Pointer { object, offset: 3 }, b"d").expect("fits");
        assert_eq!(format(b"%.4s", &[arg], &memory).ok(), Some(b"abcd".to_vec()));
        assert!(matches!(format(b"%s", &[arg], &memory), Err(Stop::Error(ErrorKind::OutOfBounds))));
    }

    #[test]
    fn floats_have_as_many_places_as_are_asked_for() {
        let half = (0.5f64.to_bits().cast_signed(), 64);
        check("%.70000f", &[half], Ok(&format!("0.5{}", "0".repeat(69_999))));
        check("%.70000e", &[half], Ok(&format!("5.{}e-01", "0".repeat(70_000))));
        check("%.70000g", &[half], Ok("0.5"));
    }

    #[test]
    fn what_is_not_there_is_named() {
        check("%.3La", &[(0, 64), (0, 64)], Err("printf %La with a precision"));
        check("%hf", &[(0, 64)], Err("printf %hf"));
        check("%ls", &[(0, 64)], Err("printf %ls"));
        check("%n", &[(0, 64)], Err("printf %n"));
        check("%1$d", &[(0, 32)], Err("printf %$"));
        check("%d", &[], Err("printf with too few arguments"));
        check("100%", &[], Err("printf with an incomplete conversion"));
        check("%2000000000d", &[(1, 32)], Err("printf with a huge field width"));
    }
}
