//! Classes that are compiled from Java sources and get some of their constants at run time.
//!
//! The sources are beside the compiled bytes, and a test compares these with what `javac` writes. A template has no debug information.

use crate::encode::constant_pool::tag;
use touchstone_classfile::Cursor;

/// The class-file version of all classes that are written here: every JVM from Java 5 on reads it, and it needs no stack maps.
pub const CLASS_VERSION: u16 = 49;

/// A constant of a template that is replaced wherever it occurs.
#[derive(Clone, Copy, Debug)]
pub enum Replacement<'r> {
    /// The internal name of a class, also in descriptors.
    Class(&'r str, &'r str),
    /// An `int`.
    Int(i32, i32),
    /// A `long`.
    Long(i64, i64),
}

/// Returns a template with other constants, or `None` if it is malformed or lacks one of the constants.
///
/// `javac` of JDK 17 writes at least version 51. The templates use nothing that is newer than version 49, so they get this version; JVMs then
/// ignore the stack maps.
pub fn instantiate(template: &[u8], replacements: &[Replacement<'_>]) -> Option<Vec<u8>> {
    let mut cursor = Cursor::new(template, 0);
    let mut out = cursor.take(6).ok()?.to_vec();
    out.extend(CLASS_VERSION.to_be_bytes());
    cursor.take(2).ok()?;
    let count = cursor.u2().ok()?;
    out.extend(count.to_be_bytes());
    let mut found = vec![false; replacements.len()];
    let mut index = 1;
    while index < count {
        let tag = cursor.u1().ok()?;
        out.push(tag);
        index += if matches!(tag, tag::LONG | tag::DOUBLE) { 2 } else { 1 };
        match tag {
            tag::UTF8 => {
                let length = usize::from(cursor.u2().ok()?);
                let mut text = std::str::from_utf8(cursor.take(length).ok()?).ok()?.to_string();
                for (replacement, found) in replacements.iter().zip(&mut found) {
                    let Replacement::Class(from, to) = replacement else { continue };
                    let replaced = match text == *from {
                        true => to.to_string(),
                        false => text.replace(&format!("L{from};"), &format!("L{to};")),
                    };
                    *found |= replaced != text || from == to;
                    text = replaced;
                }
                out.extend(u16::try_from(text.len()).ok()?.to_be_bytes());
                out.extend(text.as_bytes());
            }
            tag::INTEGER => {
                let number = |replacement: &Replacement<'_>| match replacement {
                    Replacement::Int(from, to) => Some((*from, *to)),
                    _ => None,
                };
                let value = replaced(cursor.i4().ok()?, replacements.iter().map(number), &mut found);
                out.extend(value.to_be_bytes());
            }
            tag::LONG => {
                let number = |replacement: &Replacement<'_>| match replacement {
                    Replacement::Long(from, to) => Some((*from, *to)),
                    _ => None,
                };
                let value = replaced(cursor.u8().ok()? as i64, replacements.iter().map(number), &mut found);
                out.extend(value.to_be_bytes());
            }
            _ => out.extend(cursor.take(constant_length(tag)).ok()?),
        }
    }
    out.extend(cursor.take(cursor.left()).ok()?);
    found.iter().all(|found| *found).then_some(out)
}

/// Returns the number that replaces `value`, and marks the replacement as found.
fn replaced<T: PartialEq>(value: T, pairs: impl Iterator<Item = Option<(T, T)>>, found: &mut [bool]) -> T {
    for (pair, found) in pairs.zip(found) {
        if let Some((from, to)) = pair
            && value == from
        {
            *found = true;
            return to;
        }
    }
    value
}

/// Returns the number of bytes of a constant after its tag, except for strings.
pub(crate) fn constant_length(tag: u8) -> usize {
    match tag {
        tag::LONG | tag::DOUBLE => 8,
        tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
        tag::METHOD_HANDLE => 3,
        _ => 4,
    }
}
