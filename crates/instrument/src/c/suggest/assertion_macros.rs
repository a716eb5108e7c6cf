//! Assertions in the syntax of C test frameworks. A specific macro is used only if the file already uses it; every
//! framework has a general one.

use crate::state::ObservedExpression;
use touchstone_front_c::ValueForm;

/// A framework: the prefix of its assertions, and its general assertion.
struct Framework {
    prefix: &'static str,
    general: &'static str,
    /// The macros for signed numbers, unsigned numbers and strings, with the order of their arguments.
    special: [Option<(&'static str, ArgumentOrder)>; 3],
}

/// The order of the arguments of an assertion.
#[derive(Clone, Copy)]
enum ArgumentOrder {
    /// The expected value first.
    ExpectedFirst,
    ActualFirst,
    /// The actual value first, with a relation between them.
    Relation,
}

use ArgumentOrder::{ActualFirst, ExpectedFirst, Relation};

const FRAMEWORKS: [Framework; 8] = [
    Framework {
        prefix: "TEST_ASSERT",
        general: "TEST_ASSERT",
        special: [
            Some(("TEST_ASSERT_EQUAL_INT", ExpectedFirst)),
            Some(("TEST_ASSERT_EQUAL_UINT", ExpectedFirst)),
            Some(("TEST_ASSERT_EQUAL_STRING", ExpectedFirst)),
        ],
    },
    Framework {
        prefix: "ck_assert",
        general: "ck_assert",
        special: [
            Some(("ck_assert_int_eq", ActualFirst)),
            Some(("ck_assert_uint_eq", ActualFirst)),
            Some(("ck_assert_str_eq", ActualFirst)),
        ],
    },
    Framework {
        prefix: "CU_ASSERT",
        general: "CU_ASSERT",
        special: [
            Some(("CU_ASSERT_EQUAL", ActualFirst)),
            Some(("CU_ASSERT_EQUAL", ActualFirst)),
            Some(("CU_ASSERT_STRING_EQUAL", ActualFirst)),
        ],
    },
    Framework {
        prefix: "g_assert",
        general: "g_assert_true",
        special: [
            Some(("g_assert_cmpint", Relation)),
            Some(("g_assert_cmpuint", Relation)),
            Some(("g_assert_cmpstr", Relation)),
        ],
    },
    Framework {
        prefix: "cr_assert",
        general: "cr_assert",
        special: [
            Some(("cr_assert_eq", ActualFirst)),
            Some(("cr_assert_eq", ActualFirst)),
            Some(("cr_assert_str_eq", ActualFirst)),
        ],
    },
    Framework {
        prefix: "munit_assert",
        general: "munit_assert_true",
        special: [
            Some(("munit_assert_int", Relation)),
            Some(("munit_assert_uint", Relation)),
            Some(("munit_assert_string_equal", ActualFirst)),
        ],
    },
    Framework {
        prefix: "assert_",
        general: "assert_true",
        special: [
            Some(("assert_int_equal", ActualFirst)),
            Some(("assert_int_equal", ActualFirst)),
            Some(("assert_string_equal", ActualFirst)),
        ],
    },
    Framework { prefix: "assert", general: "assert", special: [None, None, None] },
];

/// The assertions that a test can use.
pub(super) struct AssertionMacros {
    framework: &'static Framework,
    /// The specific macros that its file uses.
    uses: Vec<&'static str>,
    /// True if the file uses `NULL`.
    has_null: bool,
    has_strcmp: bool,
}

impl AssertionMacros {
    /// Determines the assertions of a text from its first one. `file` is the whole file.
    pub fn of(own: &str, file: &str) -> Option<AssertionMacros> {
        let fits = |word: &str| {
            FRAMEWORKS.iter().find(|framework| match framework.prefix {
                // No other assertion begins with this word.
                "assert" => word == "assert",
                prefix => word.starts_with(prefix),
            })
        };
        let framework = words(own).iter().find_map(|word| fits(word))?;
        Some(AssertionMacros::with(framework, file))
    }

    /// Returns the assertions for a file without any.
    pub fn plain(file: &str) -> AssertionMacros {
        AssertionMacros::with(&FRAMEWORKS[FRAMEWORKS.len() - 1], file)
    }

    fn with(framework: &'static Framework, file: &str) -> AssertionMacros {
        let known = words(file);
        let uses = framework.special.iter().flatten().map(|(name, _)| *name);
        let uses = uses.filter(|name| known.iter().any(|word| word == name)).collect();
        let has = |word: &str| known.iter().any(|known| known == word);
        AssertionMacros {
            framework,
            uses,
            has_null: has("NULL"),
            has_strcmp: file.contains("string.h") || has("strcmp"),
        }
    }

    /// Returns the assertion that an expression has its observed value, or `None` if it can't be expressed.
    pub fn assertion(&self, seen: &ObservedExpression) -> Option<String> {
        let text = &seen.text;
        let general = |condition: String| format!("{}({condition});", self.framework.general);
        let number = number(&seen.bytes)?;
        Some(match &seen.form {
            ValueForm::Bool if number == 0 => general(format!("!{text}")),
            ValueForm::Bool => general(text.clone()),
            ValueForm::Signed => self.equal(0, text, &signed(extended(&seen.bytes, number)))?,
            ValueForm::Unsigned => self.equal(1, text, &unsigned(number))?,
            ValueForm::Enum(constants) => {
                let value = extended(&seen.bytes, number);
                let name = constants.iter().find(|(_, known)| *known == value).map(|(name, _)| name.clone());
                self.equal(0, text, &name.unwrap_or_else(|| signed(value)))?
            }
            ValueForm::Float => {
                let value = f32::from_bits(number as u32);
                value.is_finite().then(|| general(format!("{text} == {value:?}f")))?
            }
            ValueForm::Double => {
                let value = f64::from_bits(number);
                value.is_finite().then(|| general(format!("{text} == {value:?}")))?
            }
            ValueForm::Text | ValueForm::PointedText => self.text(text, &seen.bytes)?,
            ValueForm::Pointer => general(match (number, self.has_null) {
                (0, true) => format!("{text} == NULL"),
                (0, false) => format!("!{text}"),
                (_, true) => format!("{text} != NULL"),
                (_, false) => text.clone(),
            }),
        })
    }

    fn equal(&self, which: usize, text: &str, value: &str) -> Option<String> {
        let special = self.framework.special[which].filter(|(name, _)| self.uses.contains(name));
        Some(match special {
            Some((name, ExpectedFirst)) => format!("{name}({value}, {text});"),
            Some((name, ActualFirst)) => format!("{name}({text}, {value});"),
            Some((name, Relation)) => format!("{name}({text}, ==, {value});"),
            None => format!("{}({text} == {value});", self.framework.general),
        })
    }

    fn text(&self, text: &str, bytes: &[u8]) -> Option<String> {
        let bytes = bytes.strip_suffix(&[0])?;
        let value = quoted(bytes)?;
        let special = self.framework.special[2].filter(|(name, _)| self.uses.contains(name));
        match special {
            None if self.has_strcmp => Some(format!("{}(strcmp({text}, {value}) == 0);", self.framework.general)),
            None => None,
            Some(_) => self.equal(2, text, &value),
        }
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

/// Orders expressions; numbers and strings are the most specific, then booleans, then pointers.
pub(super) fn rank(seen: &ObservedExpression) -> u8 {
    match seen.form {
        ValueForm::Bool => 1,
        ValueForm::Pointer => 2,
        _ => 0,
    }
}

/// Reads up to eight bytes as a little-endian number.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut word = [0; 8];
    let count = bytes.len().min(8);
    word[..count].copy_from_slice(&bytes[..count]);
    (count > 0).then(|| u64::from_le_bytes(word))
}

/// Sign-extends a number of as many bytes.
fn extended(bytes: &[u8], number: u64) -> i64 {
    let unused = 64 - 8 * bytes.len().min(8) as u32;
    (number << unused) as i64 >> unused
}

fn signed(value: i64) -> String {
    match (i32::try_from(value), value) {
        (Ok(i32::MIN), _) => "(-2147483647 - 1)".to_string(),
        (Ok(value), _) => value.to_string(),
        (_, i64::MIN) => "(-9223372036854775807LL - 1)".to_string(),
        (_, value) => format!("{value}LL"),
    }
}

fn unsigned(value: u64) -> String {
    match value {
        0..=0x7fff_ffff => value.to_string(),
        0x8000_0000..=0xffff_ffff => format!("{value}u"),
        _ => format!("{value}ull"),
    }
}

/// Quotes a printable string, or returns `None` if it contains other characters, an address or a temporary path.
fn quoted(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains("/tmp") && !text.contains("0x"))?;
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Two of them could begin a trigraph.
            '?' => out.push_str("\\?"),
            ' '..='~' => out.push(character),
            _ => return None,
        }
    }
    out.push('"');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(file: &str, form: ValueForm, bytes: &[u8]) -> String {
        let seen = ObservedExpression { text: "s.x".to_string(), form, bytes: bytes.to_vec(), updates: Vec::new() };
        AssertionMacros::of(file, file).and_then(|style| style.assertion(&seen)).unwrap_or_else(|| "none".to_string())
    }

    #[test]
    fn each_framework_has_its_way() {
        let minus_two = (-2i32).to_le_bytes();
        let check = |file: &str, form: ValueForm, bytes: &[u8], expected: &str| {
            assert_eq!(written(file, form, bytes), expected, "{file}");
        };
        check("assert(x);", ValueForm::Signed, &minus_two, "assert(s.x == -2);");
        check("TEST_ASSERT(x);", ValueForm::Signed, &minus_two, "TEST_ASSERT(s.x == -2);");
        check("TEST_ASSERT_EQUAL_INT(1, x);", ValueForm::Signed, &minus_two, "TEST_ASSERT_EQUAL_INT(-2, s.x);");
        check("assert_int_equal(x, 1);", ValueForm::Unsigned, &[3], "assert_int_equal(s.x, 3);");
        check("g_assert_cmpint(x, ==, 1);", ValueForm::Signed, &[255], "g_assert_cmpint(s.x, ==, -1);");
        check("g_assert_cmpint(x, ==, 1);", ValueForm::Bool, &[0], "g_assert_true(!s.x);");
        check("#include <string.h>\nassert(x);", ValueForm::Text, b"a\"b\0", "assert(strcmp(s.x, \"a\\\"b\") == 0);");
        check("assert(x);", ValueForm::Text, b"ab\0", "none");
        check("assert(x != NULL);", ValueForm::Pointer, &[0; 8], "assert(s.x == NULL);");
        check("CU_ASSERT(x);", ValueForm::Double, &1.5f64.to_le_bytes(), "CU_ASSERT(s.x == 1.5);");
        check("int x;", ValueForm::Signed, &minus_two, "none");
        let colours = ValueForm::Enum(vec![("RED".to_string(), 0), ("BLUE".to_string(), 4)]);
        check("assert(x);", colours, &[4, 0, 0, 0], "assert(s.x == BLUE);");
        check("assert(x);", ValueForm::Signed, &i64::MIN.to_le_bytes(), "assert(s.x == (-9223372036854775807LL - 1));");
        check("assert(x);", ValueForm::Unsigned, &u64::MAX.to_le_bytes(), "assert(s.x == 18446744073709551615ull);");
    }
}
