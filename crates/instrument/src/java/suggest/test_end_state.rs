//! Snapshots of the state at the end of tests, as the agent writes them (`agent-java/src/heap_snapshot.rs` describes the
//! format).

use std::collections::BTreeMap;
use std::path::Path;

/// A value in a snapshot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum SnapshotValue {
    /// An `int`, `short`, `byte`, `char` or `boolean`.
    Int(i32),
    Long(i64),
    /// The bits of a `float`.
    Float(u32),
    /// The bits of a `double`.
    Double(u64),
    Null,
    Text(String),
    /// A boxed value: the descriptor of its primitive type, and the value.
    Boxed(char, Box<SnapshotValue>),
    /// A constant of an enum: its class and its name.
    Constant(String, String),
    /// An object, by its identity.
    Object(u32),
}

/// A field and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SnapshotField {
    /// The class that declares it.
    pub class: String,
    pub name: String,
    pub desc: String,
    pub value: SnapshotValue,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct SnapshotObject {
    pub class: String,
    pub fields: Vec<SnapshotField>,
    /// The first elements of an array.
    pub elements: Vec<SnapshotValue>,
    /// The length of an array or the size of a container.
    pub size: Option<usize>,
    /// The result of a container's `toString`.
    pub shown: Option<String>,
}

/// The snapshot at the end of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct TestEndSnapshot {
    /// The method.
    pub method: u32,
    pub insn: usize,
    pub test: String,
    /// The local variables that hold references: slot and object.
    pub slots: Vec<(u16, u32)>,
    pub objects: BTreeMap<u32, SnapshotObject>,
    pub statics: Vec<SnapshotField>,
}

impl TestEndSnapshot {
    /// Reads the snapshots in a file. Incomplete lines, from processes that died, are skipped.
    pub fn read(path: &Path) -> Vec<TestEndSnapshot> {
        TestEndSnapshot::parse(&String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()))
    }

    fn parse(text: &str) -> Vec<TestEndSnapshot> {
        let mut ends: Vec<TestEndSnapshot> = Vec::new();
        let mut object = 0;
        for line in text.lines() {
            let words: Vec<String> = line.split('\t').map(plain).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if let ["end", method, insn, test] = words[..] {
                let (Ok(method), Ok(insn)) = (method.parse(), insn.parse()) else { continue };
                ends.push(TestEndSnapshot { method, insn, test: test.to_string(), ..TestEndSnapshot::default() });
                continue;
            }
            if let Some(end) = ends.last_mut() {
                end.line(&words, &mut object);
            }
        }
        ends
    }

    fn line(&mut self, words: &[&str], object: &mut u32) -> Option<()> {
        let field = |class: &str, name: &str, desc: &str, value: &str| {
            let value = SnapshotValue::parse(desc, value)?;
            Some(SnapshotField { class: class.to_string(), name: name.to_string(), desc: desc.to_string(), value })
        };
        match *words {
            ["slot", slot, id] => self.slots.push((slot.parse().ok()?, id.parse().ok()?)),
            ["object", id, class] => {
                *object = id.parse().ok()?;
                self.objects.entry(*object).or_default().class = class.to_string();
            }
            ["static", class, name, desc, value] => self.statics.push(field(class, name, desc, value)?),
            _ => {
                let seen = self.objects.get_mut(object)?;
                match *words {
                    ["field", class, name, desc, value] => seen.fields.push(field(class, name, desc, value)?),
                    ["element", _, desc, value] => seen.elements.push(SnapshotValue::parse(desc, value)?),
                    ["size", size] => seen.size = size.parse().ok(),
                    ["shown", text] => seen.shown = Some(text.to_string()),
                    _ => {}
                }
            }
        }
        Some(())
    }
}

impl SnapshotValue {
    fn parse(desc: &str, text: &str) -> Option<SnapshotValue> {
        Some(match desc.as_bytes().first()? {
            b'J' => SnapshotValue::Long(text.parse().ok()?),
            b'F' => SnapshotValue::Float(text.parse().ok()?),
            b'D' => SnapshotValue::Double(text.parse().ok()?),
            b'L' | b'[' => {
                let rest = text.get(1..)?;
                match text.as_bytes()[0] {
                    b'@' => SnapshotValue::Object(rest.parse().ok()?),
                    b'"' => SnapshotValue::Text(rest.to_string()),
                    b'%' => {
                        let letter = rest.chars().next().filter(char::is_ascii)?;
                        SnapshotValue::Boxed(letter, Box::new(SnapshotValue::parse(&rest[..1], &rest[1..])?))
                    }
                    b'!' => {
                        let (class, name) = rest.rsplit_once('.')?;
                        SnapshotValue::Constant(class.to_string(), name.to_string())
                    }
                    _ => SnapshotValue::Null,
                }
            }
            _ => SnapshotValue::Int(text.parse().ok()?),
        })
    }
}

/// Decodes the escape sequences of a word.
fn plain(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    let mut characters = word.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push(match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => break,
            }),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_as_far_as_they_go() {
        let text = "end\t3\t17\ta.BTest.adds [1,\\t2]\nslot\t1\t77\nobject\t77\ta/B\nfield\ta/B\tn\tI\t-5\nfield\ta/B\ts\tLjava/lang/String;\t\"a\\\\b\n\
             field\ta/B\tk\tLa/K;\t!a/K.RED\nfield\ta/B\tx\tLjava/lang/Long;\t%J7\nobject\t78\t[I\nsize\t2\nelement\t0\tI\t4\nstatic\ta/B\tc\tZ\t1\nfield\ta/B";
        let ends = TestEndSnapshot::parse(text);
        assert_eq!(ends.len(), 1);
        let end = &ends[0];
        assert_eq!((end.method, end.insn, end.test.as_str()), (3, 17, "a.BTest.adds [1,\t2]"));
        let values: Vec<&SnapshotValue> = end.objects[&77].fields.iter().map(|field| &field.value).collect();
        let expected = [
            SnapshotValue::Int(-5),
            SnapshotValue::Text("a\\b".to_string()),
            SnapshotValue::Constant("a/K".to_string(), "RED".to_string()),
            SnapshotValue::Boxed('J', Box::new(SnapshotValue::Long(7))),
        ];
        assert_eq!(values, expected.iter().collect::<Vec<_>>());
        assert_eq!((end.objects[&78].size, end.objects[&78].elements.len(), end.statics.len()), (Some(2), 1, 1));
    }
}
