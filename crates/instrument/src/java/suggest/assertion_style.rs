//! Assertions as the frameworks of tests write them.

use super::observable_expressions::{Found, Names, Reading};
use super::test_end_state::Seen;
use touchstone_front_java::classfile::Desc;

/// The framework whose assertions a test uses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Style {
    JUnit5,
    JUnit4,
    /// Tests inherit their assertions.
    JUnit3,
    TestNg,
    AssertJ,
    Truth,
    Hamcrest,
}

/// Classes whose methods assert, as class files name them.
const CLASSES: [(&str, Style); 9] = [
    ("org/assertj/core/api/Assertions", Style::AssertJ),
    ("org/assertj/core/api/AssertionsForClassTypes", Style::AssertJ),
    ("com/google/common/truth/Truth", Style::Truth),
    ("org/junit/jupiter/api/Assertions", Style::JUnit5),
    ("org/junit/Assert", Style::JUnit4),
    ("org/testng/Assert", Style::TestNg),
    ("junit/framework/Assert", Style::JUnit3),
    ("junit/framework/TestCase", Style::JUnit3),
    ("org/hamcrest/MatcherAssert", Style::Hamcrest),
];

/// Annotations of tests, and what comes with them.
const ANNOTATIONS: [(&str, Style); 4] = [
    ("Lorg/junit/jupiter/api/Test;", Style::JUnit5),
    ("Lorg/junit/jupiter/params/ParameterizedTest;", Style::JUnit5),
    ("Lorg/junit/Test;", Style::JUnit4),
    ("Lorg/testng/annotations/Test;", Style::TestNg),
];

/// An assertion.
pub(super) struct Assertion {
    pub statement: String,
    /// Static methods that it calls: the class, as sources name it, and the method.
    pub uses: Vec<(&'static str, &'static str)>,
}

/// Who writes names of classes and static methods.
pub(super) trait Writes: Names {
    /// A static method as the source writes it.
    fn method(&self, class: &str, method: &str) -> String;
}

impl Style {
    /// The style of one who calls a method of a class.
    pub fn of_class(class: &str) -> Option<Style> {
        CLASSES.iter().find(|(known, _)| *known == class).map(|(_, style)| *style)
    }

    /// The style that comes with an annotation.
    pub fn of_annotation(annotation: &str) -> Option<Style> {
        ANNOTATIONS.iter().find(|(known, _)| *known == annotation).map(|(_, style)| *style)
    }

    /// The class whose methods assert; none if tests inherit them.
    fn class(self) -> Option<&'static str> {
        Some(match self {
            Style::JUnit5 => "org.junit.jupiter.api.Assertions",
            Style::JUnit4 => "org.junit.Assert",
            Style::JUnit3 => return None,
            Style::TestNg => "org.testng.Assert",
            Style::AssertJ => "org.assertj.core.api.Assertions",
            Style::Truth => "com.google.common.truth.Truth",
            Style::Hamcrest => "org.hamcrest.MatcherAssert",
        })
    }

    /// The assertion that an expression has the value that it had; none if there is no way to write that.
    pub fn assertion(self, reading: &Reading, source: &dyn Writes) -> Option<Assertion> {
        let mut writing = Writing { style: self, source, uses: Vec::new() };
        let statement = writing.statement(reading)?;
        Some(Assertion { statement, uses: writing.uses })
    }
}

struct Writing<'w> {
    style: Style,
    source: &'w dyn Writes,
    uses: Vec<(&'static str, &'static str)>,
}

impl Writing<'_> {
    fn called(&mut self, method: &'static str) -> String {
        let Some(class) = self.style.class() else { return method.to_string() };
        self.uses.push((class, method));
        self.source.method(class, method)
    }

    fn statement(&mut self, reading: &Reading) -> Option<String> {
        let Reading { expression, desc, found, .. } = reading;
        match found {
            Found::Value(Seen::Boxed(letter, number)) => {
                let of = Desc::parse(&letter.to_string())?;
                let expression = format!("({}) {expression}", of.word()?);
                self.equal(&expression, &of, number)
            }
            Found::Value(value) => self.equal(expression, desc, value),
            Found::Elements(of, elements) => self.elements(expression, of, elements),
            Found::SameAs(other) => Some(match self.style {
                Style::JUnit5 | Style::JUnit4 | Style::JUnit3 => {
                    format!("{}({other}, {expression});", self.called("assertSame"))
                }
                Style::TestNg => format!("{}({expression}, {other});", self.called("assertSame")),
                Style::AssertJ => format!("{}((Object) {expression}).isSameAs({other});", self.called("assertThat")),
                Style::Truth => {
                    format!("{}((Object) {expression}).isSameInstanceAs({other});", self.called("assertThat"))
                }
                Style::Hamcrest => self.is(&format!("{expression} == {other}"), "true"),
            }),
            Found::Something => Some(match self.style {
                Style::AssertJ | Style::Truth => {
                    format!("{}((Object) {expression}).isNotNull();", self.called("assertThat"))
                }
                Style::Hamcrest => self.is(&format!("{expression} != null"), "true"),
                _ => format!("{}({expression});", self.called("assertNotNull")),
            }),
        }
    }

    fn equal(&mut self, expression: &str, desc: &Desc, value: &Seen) -> Option<String> {
        if *desc == Desc::Boolean {
            let Seen::Int(value) = value else { return None };
            let (word, method, method_of) = match value {
                0 => ("false", "assertFalse", "isFalse"),
                _ => ("true", "assertTrue", "isTrue"),
            };
            return Some(match self.style {
                Style::AssertJ | Style::Truth => format!("{}({expression}).{method_of}();", self.called("assertThat")),
                Style::Hamcrest => self.is(expression, word),
                _ => format!("{}({expression});", self.called(method)),
            });
        }
        if *value == Seen::Null {
            return Some(match self.style {
                Style::AssertJ | Style::Truth => {
                    format!("{}((Object) {expression}).isNull();", self.called("assertThat"))
                }
                Style::Hamcrest => self.is(&format!("{expression} == null"), "true"),
                _ => format!("{}({expression});", self.called("assertNull")),
            });
        }
        let literal = self.literal(value, desc)?;
        let is_plain = !desc.is_ref() || matches!(desc, Desc::Ref(name) if &**name == "java/lang/String");
        let as_object = if is_plain { expression.to_string() } else { format!("(Object) {expression}") };
        let delta = match (self.style, desc) {
            // JUnit 5 compares without a delta, and refuses one of 0.
            (Style::JUnit4 | Style::JUnit3 | Style::TestNg, Desc::Double) => ", 0.0",
            (Style::JUnit4 | Style::JUnit3 | Style::TestNg, Desc::Float) => ", 0.0f",
            _ => "",
        };
        Some(match self.style {
            Style::JUnit5 | Style::JUnit4 | Style::JUnit3 => {
                format!("{}({literal}, {expression}{delta});", self.called("assertEquals"))
            }
            Style::TestNg => format!("{}({expression}, {literal}{delta});", self.called("assertEquals")),
            Style::AssertJ | Style::Truth => {
                format!("{}({as_object}).isEqualTo({literal});", self.called("assertThat"))
            }
            Style::Hamcrest => self.is(&as_object, &literal),
        })
    }

    fn is(&mut self, expression: &str, value: &str) -> String {
        const MATCHERS: &str = "org.hamcrest.CoreMatchers";
        let assert = self.called("assertThat");
        self.uses.push((MATCHERS, "is"));
        let is = self.source.method(MATCHERS, "is");
        format!("{assert}({expression}, {is}({value}));")
    }

    fn elements(&mut self, expression: &str, of: &Desc, elements: &[Seen]) -> Option<String> {
        let literals: Option<Vec<String>> = elements.iter().map(|value| self.literal(value, of)).collect();
        let word = match of {
            Desc::Ref(_) => "String",
            of => of.word()?,
        };
        let list = literals?.join(", ");
        let array = if list.is_empty() { format!("new {word}[0]") } else { format!("new {word}[] {{{list}}}") };
        let delta = match (self.style, of) {
            (Style::JUnit4, Desc::Double) => ", 0.0",
            (Style::JUnit4, Desc::Float) => ", 0.0f",
            _ => "",
        };
        Some(match self.style {
            Style::JUnit5 | Style::JUnit4 => {
                format!("{}({array}, {expression}{delta});", self.called("assertArrayEquals"))
            }
            Style::AssertJ | Style::Truth => format!("{}({expression}).isEqualTo({array});", self.called("assertThat")),
            Style::Hamcrest => self.is(expression, &array),
            // These have no method for every type of arrays.
            Style::JUnit3 => {
                let assert = self.called("assertTrue");
                format!("{assert}(java.util.Arrays.equals({array}, {expression}));")
            }
            Style::TestNg => {
                let assert = self.called("assertTrue");
                format!("{assert}(java.util.Arrays.equals({expression}, {array}));")
            }
        })
    }

    fn literal(&self, value: &Seen, desc: &Desc) -> Option<String> {
        Some(match (value, desc) {
            (Seen::Int(value), Desc::Char) => character(u16::try_from(*value).ok()?),
            (Seen::Int(value), Desc::Byte) => format!("(byte) {value}"),
            (Seen::Int(value), Desc::Short) => format!("(short) {value}"),
            (Seen::Int(value), Desc::Boolean) => (*value != 0).to_string(),
            (Seen::Int(value), _) => value.to_string(),
            (Seen::Long(value), _) => format!("{value}L"),
            (Seen::Float(bits), _) => match f32::from_bits(*bits) {
                value if value.is_nan() => "Float.NaN".to_string(),
                f32::INFINITY => "Float.POSITIVE_INFINITY".to_string(),
                f32::NEG_INFINITY => "Float.NEGATIVE_INFINITY".to_string(),
                value => format!("{value:?}f"),
            },
            (Seen::Double(bits), _) => match f64::from_bits(*bits) {
                value if value.is_nan() => "Double.NaN".to_string(),
                f64::INFINITY => "Double.POSITIVE_INFINITY".to_string(),
                f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".to_string(),
                value => format!("{value:?}"),
            },
            (Seen::Text(text), _) => quoted(text),
            (Seen::Null, _) => "null".to_string(),
            (Seen::Constant(class, name), _) => format!("{}.{name}", self.source.written(class)),
            (Seen::Boxed(..) | Seen::Object(_), _) => return None,
        })
    }
}

fn character(unit: u16) -> String {
    match char::from_u32(u32::from(unit)) {
        Some('\'') => "'\\''".to_string(),
        Some('"') => "'\"'".to_string(),
        Some(character) => format!("'{}'", escaped(character)),
        None => format!("'\\u{unit:04x}'"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

fn escaped(character: char) -> String {
    match character {
        '"' => "\\\"".to_string(),
        '\\' => "\\\\".to_string(),
        '\n' => "\\n".to_string(),
        '\t' => "\\t".to_string(),
        '\r' => "\\r".to_string(),
        ' '..='~' => character.to_string(),
        other => other.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    struct Bare;

    impl Names for Bare {
        fn written(&self, class: &str) -> String {
            class.rsplit('/').next().unwrap_or(class).replace('$', ".")
        }
    }

    impl Writes for Bare {
        fn method(&self, _class: &str, method: &str) -> String {
            method.to_string()
        }
    }

    fn written(style: Style, desc: &str, found: Found) -> String {
        let desc = Desc::parse(desc).expect("a type");
        let reading = Reading { expression: "a.x()".to_string(), desc, found, reads: BTreeSet::new() };
        style.assertion(&reading, &Bare).map_or("none".to_string(), |assertion| assertion.statement)
    }

    #[test]
    fn each_framework_has_its_way() {
        let five = || Found::Value(Seen::Int(5));
        let all = |desc: &str, found: Found| {
            use Style::{AssertJ, Hamcrest, JUnit4, JUnit5, TestNg, Truth};
            [JUnit5, JUnit4, TestNg, AssertJ, Truth, Hamcrest].map(|style| written(style, desc, found.clone()))
        };
        assert_eq!(
            all("I", five()),
            [
                "assertEquals(5, a.x());",
                "assertEquals(5, a.x());",
                "assertEquals(a.x(), 5);",
                "assertThat(a.x()).isEqualTo(5);",
                "assertThat(a.x()).isEqualTo(5);",
                "assertThat(a.x(), is(5));",
            ]
        );
        assert_eq!(
            written(Style::JUnit4, "D", Found::Value(Seen::Double(1.5f64.to_bits()))),
            "assertEquals(1.5, a.x(), 0.0);"
        );
        assert_eq!(
            written(Style::JUnit5, "D", Found::Value(Seen::Double(1e-9f64.to_bits()))),
            "assertEquals(1e-9, a.x());"
        );
        assert_eq!(written(Style::JUnit3, "Z", Found::Value(Seen::Int(0))), "assertFalse(a.x());");
        assert_eq!(written(Style::JUnit5, "C", Found::Value(Seen::Int(39))), "assertEquals('\\'', a.x());");
        let text = Found::Value(Seen::Text("a\"b\\\n\u{e4}".to_string()));
        assert_eq!(
            written(Style::AssertJ, "Ljava/lang/String;", text),
            "assertThat(a.x()).isEqualTo(\"a\\\"b\\\\\\n\\u00e4\");"
        );
        let boxed = Found::Value(Seen::Boxed('J', Box::new(Seen::Long(7))));
        assert_eq!(written(Style::JUnit4, "Ljava/lang/Long;", boxed), "assertEquals(7L, (long) a.x());");
        let colour = Found::Value(Seen::Constant("a/Paint$Colour".to_string(), "RED".to_string()));
        assert_eq!(written(Style::TestNg, "La/Paint$Colour;", colour), "assertEquals(a.x(), Paint.Colour.RED);");
        let elements = Found::Elements(Desc::Int, vec![Seen::Int(1), Seen::Int(2)]);
        assert_eq!(written(Style::JUnit5, "[I", elements), "assertArrayEquals(new int[] {1, 2}, a.x());");
        assert_eq!(written(Style::Hamcrest, "La/B;", Found::Value(Seen::Null)), "assertThat(a.x() == null, is(true));");
    }
}
