//! Attributes of code that refer to bytecode offsets: line numbers, local variables, type annotations. Their lengths stay the same.

use touchstone_classfile::Cursor;

/// Maps old bytecode offsets to new ones.
pub(crate) struct PositionMap<'m> {
    /// The new offset of the probes before an instruction, or of the end of the code.
    pub start: &'m dyn Fn(usize) -> Option<u16>,
    /// The new offset of the instruction itself.
    pub own: &'m dyn Fn(usize) -> Option<u16>,
}

impl PositionMap<'_> {
    fn number(bytes: &[u8], at: usize) -> Option<usize> {
        Some(usize::from(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])))
    }

    fn put(bytes: &mut [u8], at: usize, number: u16) {
        bytes[at..at + 2].copy_from_slice(&number.to_be_bytes());
    }

    /// Updates the start offset of an instruction.
    fn start_at(&self, bytes: &mut [u8], at: usize) -> Option<()> {
        let moved = (self.start)(Self::number(bytes, at)?)?;
        Self::put(bytes, at, moved);
        Some(())
    }

    /// Updates a start offset and a length.
    fn range_at(&self, bytes: &mut [u8], at: usize) -> Option<()> {
        let (start, length) = (Self::number(bytes, at)?, Self::number(bytes, at + 2)?);
        let (from, to) = ((self.start)(start)?, (self.start)(start + length)?);
        Self::put(bytes, at, from);
        Self::put(bytes, at + 2, to.checked_sub(from)?);
        Some(())
    }

    /// Updates a table whose rows have `row` bytes.
    fn rows(&self, bytes: &mut [u8], row: usize, start: RowStart) -> Option<()> {
        let count = Self::number(bytes, 0)?;
        if bytes.len() != 2 + count * row {
            return None;
        }
        for index in 0..count {
            match start {
                RowStart::Offset => self.start_at(bytes, 2 + index * row)?,
                RowStart::Range => self.range_at(bytes, 2 + index * row)?,
            }
        }
        Some(())
    }

    /// Updates the offsets in an attribute of code, or returns `None` if it is malformed. Unknown attributes stay the same.
    pub fn attribute(&self, name: &str, bytes: &mut [u8]) -> Option<()> {
        match name {
            "LineNumberTable" => self.rows(bytes, 4, RowStart::Offset),
            "LocalVariableTable" | "LocalVariableTypeTable" => self.rows(bytes, 10, RowStart::Range),
            "RuntimeVisibleTypeAnnotations" | "RuntimeInvisibleTypeAnnotations" => self.annotations(bytes),
            _ => Some(()),
        }
    }

    fn annotations(&self, bytes: &mut [u8]) -> Option<()> {
        let copy = bytes.to_vec();
        let mut cursor = Cursor::new(&copy, 0);
        for _ in 0..cursor.u2().ok()? {
            match cursor.u1().ok()? {
                0x40 | 0x41 => {
                    for _ in 0..cursor.u2().ok()? {
                        self.range_at(bytes, cursor.position())?;
                        cursor.take(6).ok()?;
                    }
                }
                0x42 => drop(cursor.u2().ok()?),
                kind @ 0x43..=0x4b => {
                    let at = cursor.position();
                    let moved = (self.own)(Self::number(bytes, at)?)?;
                    Self::put(bytes, at, moved);
                    cursor.take(if kind < 0x47 { 2 } else { 3 }).ok()?;
                }
                _ => return None,
            }
            let path = usize::from(cursor.u1().ok()?);
            cursor.take(2 * path).ok()?;
            skip_annotation(&mut cursor, 0)?;
        }
        (cursor.left() == 0).then_some(())
    }
}

/// The beginning of a row.
#[derive(Clone, Copy)]
enum RowStart {
    Offset,
    Range,
}

/// The maximum depth of nested annotations.
const MAX_DEPTH: usize = 40;

fn skip_annotation(cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
    cursor.u2().ok()?;
    for _ in 0..cursor.u2().ok()? {
        cursor.u2().ok()?;
        skip_value(cursor, depth)?;
    }
    Some(())
}

fn skip_value(cursor: &mut Cursor<'_>, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match cursor.u1().ok()? {
        b'e' => drop(cursor.take(4).ok()?),
        b'@' => skip_annotation(cursor, depth + 1)?,
        b'[' => {
            for _ in 0..cursor.u2().ok()? {
                skip_value(cursor, depth + 1)?;
            }
        }
        _ => drop(cursor.u2().ok()?),
    }
    Some(())
}
