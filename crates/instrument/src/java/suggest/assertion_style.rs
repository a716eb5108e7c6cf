//! Assertions in the syntax of a test's assertion framework.

use super::observable_expressions::{ClassNames, Observation, ObservedResult};
use super::test_end_state::SnapshotValue;
use touchstone_front_java::classfile::Desc;

/// The framework that a test takes its assertions from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum AssertionFramework {
    JUnit5,
    JUnit4,
    /// JUnit 3: tests inherit their assertions.
    JUnit3,
    TestNg,
    AssertJ,
    Truth,
    Hamcrest,
}

/// Classes with assertion methods, by internal name.
const CLASSES: [(&str, AssertionFramework); 9] = [
    ("org/assertj/core/api/Assertions", AssertionFramework::AssertJ),
    ("org/assertj/core/api/AssertionsForClassTypes", AssertionFramework::AssertJ),
    ("com/google/common/truth/Truth", AssertionFramework::Truth),
    ("org/junit/jupiter/api/Assertions", AssertionFramework::JUnit5),
    ("org/junit/Assert", AssertionFramework::JUnit4),
    ("org/testng/Assert", AssertionFramework::TestNg),
    ("junit/framework/Assert", AssertionFramework::JUnit3),
    ("junit/framework/TestCase", AssertionFramework::JUnit3),
    ("org/hamcrest/MatcherAssert", AssertionFramework::Hamcrest),
];

/// Annotations of tests, and the framework that comes with them.
const ANNOTATIONS: [(&str, AssertionFramework); 4] = [
    ("Lorg/junit/jupiter/api/Test;", AssertionFramework::JUnit5),
    ("Lorg/junit/jupiter/params/ParameterizedTest;", AssertionFramework::JUnit5),
    ("Lorg/junit/Test;", AssertionFramework::JUnit4),
    ("Lorg/testng/annotations/Test;", AssertionFramework::TestNg),
];

/// An assertion statement.
pub(super) struct Assertion {
    pub statement: String,
    /// The static methods that it calls: the class by its canonical name, and the method.
    pub uses: Vec<(&'static str, &'static str)>,
}

/// The names of classes and static methods in a source file.
pub(super) trait SourceNames: ClassNames {
    /// Returns a static method as the source can write it.
    fn method(&self, class: &str, method: &str) -> String;
}

impl AssertionFramework {
    /// Returns the framework of a class with assertion methods.
    pub fn of_class(class: &str) -> Option<AssertionFramework> {
        CLASSES.iter().find(|(known, _)| *known == class).map(|(_, style)| *style)
    }

    /// Returns the framework of an annotation.
    pub fn of_annotation(annotation: &str) -> Option<AssertionFramework> {
        ANNOTATIONS.iter().find(|(known, _)| *known == annotation).map(|(_, style)| *style)
    }

    /// Returns the class with the assertion methods, or `None` if tests inherit them.
    fn class(self) -> Option<&'static str> {
        Some(match self {
            AssertionFramework::JUnit5 => "org.junit.jupiter.api.Assertions",
            AssertionFramework::JUnit4 => "org.junit.Assert",
            AssertionFramework::JUnit3 => return None,
            AssertionFramework::TestNg => "org.testng.Assert",
            AssertionFramework::AssertJ => "org.assertj.core.api.Assertions",
            AssertionFramework::Truth => "com.google.common.truth.Truth",
            AssertionFramework::Hamcrest => "org.hamcrest.MatcherAssert",
        })
    }

    /// Returns the assertion that an expression has its observed value, or `None` if it can't be expressed.
    pub fn assertion(self, reading: &Observation, source: &dyn SourceNames) -> Option<Assertion> {
        let mut writing = AssertionWriter { style: self, source, uses: Vec::new() };
        let statement = writing.statement(reading)?;
        Some(Assertion { statement, uses: writing.uses })
    }
}

struct AssertionWriter<'w> {
    style: AssertionFramework,
    source: &'w dyn SourceNames,
    uses: Vec<(&'static str, &'static str)>,
}

impl AssertionWriter<'_> {
    fn called(&mut self, method: &'static str) -> String {
        let Some(class) = self.style.class() else { return method.to_string() };
        self.uses.push((class, method));
        self.source.method(class, method)
    }

    fn statement(&mut self, reading: &Observation) -> Option<String> {
        let Observation { expression, desc, found, .. } = reading;
        match found {
            ObservedResult::Value(SnapshotValue::Boxed(letter, number)) => {
                let of = Desc::parse(&letter.to_string())?;
                let expression = format!("({}) {expression}", of.word()?);
                self.equal(&expression, &of, number)
            }
            ObservedResult::Value(value) => self.equal(expression, desc, value),
            ObservedResult::Elements(of, elements) => self.elements(expression, of, elements),
            ObservedResult::SameAs(other) => Some(match self.style {
                AssertionFramework::JUnit5 | AssertionFramework::JUnit4 | AssertionFramework::JUnit3 => {
                    format!("{}({other}, {expression});", self.called("assertSame"))
                }
                AssertionFramework::TestNg => format!("{}({expression}, {other});", self.called("assertSame")),
                AssertionFramework::AssertJ => {
                    format!("{}((Object) {expression}).isSameAs({other});", self.called("assertThat"))
                }
                AssertionFramework::Truth => {
                    format!("{}((Object) {expression}).isSameInstanceAs({other});", self.called("assertThat"))
                }
                AssertionFramework::Hamcrest => self.is(&format!("{expression} == {other}"), "true"),
            }),
            ObservedResult::Something => Some(match self.style {
                AssertionFramework::AssertJ | AssertionFramework::Truth => {
                    format!("{}((Object) {expression}).isNotNull();", self.called("assertThat"))
                }
                AssertionFramework::Hamcrest => self.is(&format!("{expression} != null"), "true"),
                _ => format!("{}({expression});", self.called("assertNotNull")),
            }),
        }
    }

    fn equal(&mut self, expression: &str, desc: &Desc, value: &SnapshotValue) -> Option<String> {
        if *desc == Desc::Boolean {
            let SnapshotValue::Int(value) = value else { return None };
            let (word, method, method_of) = match value {
                0 => ("false", "assertFalse", "isFalse"),
                _ => ("true", "assertTrue", "isTrue"),
            };
            return Some(match self.style {
                AssertionFramework::AssertJ | AssertionFramework::Truth => {
                    format!("{}({expression}).{method_of}();", self.called("assertThat"))
                }
                AssertionFramework::Hamcrest => self.is(expression, word),
                _ => format!("{}({expression});", self.called(method)),
            });
        }
        if *value == SnapshotValue::Null {
            return Some(match self.style {
                AssertionFramework::AssertJ | AssertionFramework::Truth => {
                    format!("{}((Object) {expression}).isNull();", self.called("assertThat"))
                }
                AssertionFramework::Hamcrest => self.is(&format!("{expression} == null"), "true"),
                _ => format!("{}({expression});", self.called("assertNull")),
            });
        }
        let literal = self.literal(value, desc)?;
        let is_plain = !desc.is_ref() || matches!(desc, Desc::Ref(name) if &**name == "java/lang/String");
        let as_object = if is_plain { expression.to_string() } else { format!("(Object) {expression}") };
        let delta = match (self.style, desc) {
            // JUnit 5 compares without a delta, and rejects a delta of 0.
            (AssertionFramework::JUnit4 | AssertionFramework::JUnit3 | AssertionFramework::TestNg, Desc::Double) => {
                ", 0.0"
            }
            (AssertionFramework::JUnit4 | AssertionFramework::JUnit3 | AssertionFramework::TestNg, Desc::Float) => {
                ", 0.0f"
            }
            _ => "",
        };
        Some(match self.style {
            AssertionFramework::JUnit5 | AssertionFramework::JUnit4 | AssertionFramework::JUnit3 => {
                format!("{}({literal}, {expression}{delta});", self.called("assertEquals"))
            }
            AssertionFramework::TestNg => format!("{}({expression}, {literal}{delta});", self.called("assertEquals")),
            AssertionFramework::AssertJ | AssertionFramework::Truth => {
                format!("{}({as_object}).isEqualTo({literal});", self.called("assertThat"))
            }
            AssertionFramework::Hamcrest => self.is(&as_object, &literal),
        })
    }

    fn is(&mut self, expression: &str, value: &str) -> String {
        const MATCHERS: &str = "org.hamcrest.CoreMatchers";
        let assert = self.called("assertThat");
        self.uses.push((MATCHERS, "is"));
        let is = self.source.method(MATCHERS, "is");
        format!("{assert}({expression}, {is}({value}));")
    }

    fn elements(&mut self, expression: &str, of: &Desc, elements: &[SnapshotValue]) -> Option<String> {
        let literals: Option<Vec<String>> = elements.iter().map(|value| self.literal(value, of)).collect();
        let word = match of {
            Desc::Ref(_) => "String",
            of => of.word()?,
        };
        let list = literals?.join(", ");
        let array = if list.is_empty() { format!("new {word}[0]") } else { format!("new {word}[] {{{list}}}") };
        let delta = match (self.style, of) {
            (AssertionFramework::JUnit4, Desc::Double) => ", 0.0",
            (AssertionFramework::JUnit4, Desc::Float) => ", 0.0f",
            _ => "",
        };
        Some(match self.style {
            AssertionFramework::JUnit5 | AssertionFramework::JUnit4 => {
                format!("{}({array}, {expression}{delta});", self.called("assertArrayEquals"))
            }
            AssertionFramework::AssertJ | AssertionFramework::Truth => {
                format!("{}({expression}).isEqualTo({array});", self.called("assertThat"))
            }
            AssertionFramework::Hamcrest => self.is(expression, &array),
            // These frameworks lack a method for some element types.
            AssertionFramework::JUnit3 => {
                let assert = self.called("assertTrue");
                format!("{assert}(java.util.Arrays.equals({array}, {expression}));")
            }
            AssertionFramework::TestNg => {
                let assert = self.called("assertTrue");
                format!("{assert}(java.util.Arrays.equals({expression}, {array}));")
            }
        })
    }

    fn literal(&self, value: &SnapshotValue, desc: &Desc) -> Option<String> {
        Some(match (value, desc) {
            (SnapshotValue::Int(value), Desc::Char) => character(u16::try_from(*value).ok()?),
            (SnapshotValue::Int(value), Desc::Byte) => format!("(byte) {value}"),
            (SnapshotValue::Int(value), Desc::Short) => format!("(short) {value}"),
            (SnapshotValue::Int(value), Desc::Boolean) => (*value != 0).to_string(),
            (SnapshotValue::Int(value), _) => value.to_string(),
            (SnapshotValue::Long(value), _) => format!("{value}L"),
            (SnapshotValue::Float(bits), _) => match f32::from_bits(*bits) {
                value if value.is_nan() => "Float.NaN".to_string(),
                f32::INFINITY => "Float.POSITIVE_INFINITY".to_string(),
                f32::NEG_INFINITY => "Float.NEGATIVE_INFINITY".to_string(),
                value => format!("{value:?}f"),
            },
            (SnapshotValue::Double(bits), _) => match f64::from_bits(*bits) {
                value if value.is_nan() => "Double.NaN".to_string(),
                f64::INFINITY => "Double.POSITIVE_INFINITY".to_string(),
                f64::NEG_INFINITY => "Double.NEGATIVE_INFINITY".to_string(),
                value => format!("{value:?}"),
            },
            (SnapshotValue::Text(text), _) => quoted(text),
            (SnapshotValue::Null, _) => "null".to_string(),
            (SnapshotValue::Constant(class, name), _) => format!("{}.{name}", self.source.written(class)),
            (SnapshotValue::Boxed(..) | SnapshotValue::Object(_), _) => return None,
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

    struct UnqualifiedNames;

    impl ClassNames for UnqualifiedNames {
        fn written(&self, class: &str) -> String {
            class.rsplit('/').next().unwrap_or(class).replace('$', ".")
        }
    }

    impl SourceNames for UnqualifiedNames {
        fn method(&self, _class: &str, method: &str) -> String {
            method.to_string()
        }
    }

    fn written(style: AssertionFramework, desc: &str, found: ObservedResult) -> String {
        let desc = Desc::parse(desc).expect("a type");
        let reading = Observation { expression: "a.x()".to_string(), desc, found, reads: BTreeSet::new() };
        style.assertion(&reading, &UnqualifiedNames).map_or("none".to_string(), |assertion| assertion.statement)
    }

    #[test]
    fn each_framework_has_its_way() {
        let five = || ObservedResult::Value(SnapshotValue::Int(5));
        let all = |desc: &str, found: ObservedResult| {
            use AssertionFramework::{AssertJ, Hamcrest, JUnit4, JUnit5, TestNg, Truth};
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
            written(AssertionFramework::JUnit4, "D", ObservedResult::Value(SnapshotValue::Double(1.5f64.to_bits()))),
            "assertEquals(1.5, a.x(), 0.0);"
        );
        assert_eq!(
            written(AssertionFramework::JUnit5, "D", ObservedResult::Value(SnapshotValue::Double(1e-9f64.to_bits()))),
            "assertEquals(1e-9, a.x());"
        );
        assert_eq!(
            written(AssertionFramework::JUnit3, "Z", ObservedResult::Value(SnapshotValue::Int(0))),
            "assertFalse(a.x());"
        );
        assert_eq!(
            written(AssertionFramework::JUnit5, "C", ObservedResult::Value(SnapshotValue::Int(39))),
            "assertEquals('\\'', a.x());"
        );
        let text = ObservedResult::Value(SnapshotValue::Text("a\"b\\\n\u{e4}".to_string()));
        assert_eq!(
            written(AssertionFramework::AssertJ, "Ljava/lang/String;", text),
            "assertThat(a.x()).isEqualTo(\"a\\\"b\\\\\\n\\u00e4\");"
        );
        let boxed = ObservedResult::Value(SnapshotValue::Boxed('J', Box::new(SnapshotValue::Long(7))));
        assert_eq!(written(AssertionFramework::JUnit4, "Ljava/lang/Long;", boxed), "assertEquals(7L, (long) a.x());");
        let colour = ObservedResult::Value(SnapshotValue::Constant("a/Paint$Colour".to_string(), "RED".to_string()));
        assert_eq!(
            written(AssertionFramework::TestNg, "La/Paint$Colour;", colour),
            "assertEquals(a.x(), Paint.Colour.RED);"
        );
        let elements = ObservedResult::Elements(Desc::Int, vec![SnapshotValue::Int(1), SnapshotValue::Int(2)]);
        assert_eq!(written(AssertionFramework::JUnit5, "[I", elements), "assertArrayEquals(new int[] {1, 2}, a.x());");
        assert_eq!(
            written(AssertionFramework::Hamcrest, "La/B;", ObservedResult::Value(SnapshotValue::Null)),
            "assertThat(a.x() == null, is(true));"
        );
    }
}
