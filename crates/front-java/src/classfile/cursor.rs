//! A position in bytes that are read in order.

/// Bytes that are no class file: where, and why not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct Malformed {
    /// Offset from the beginning of the file.
    pub offset: usize,
    /// What is wrong there.
    pub reason: String,
}

/// Reads big-endian numbers from a part of a file.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the part begins in the file.
    base: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], base: usize) -> Cursor<'a> {
        Cursor { bytes, at: 0, base }
    }

    /// Where the next byte stands in the file.
    pub fn offset(&self) -> usize {
        self.base + self.at
    }

    /// Where the next byte stands in this part.
    pub fn position(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn wrong<T>(&self, reason: impl Into<String>) -> Result<T, Malformed> {
        Err(Malformed { offset: self.offset(), reason: reason.into() })
    }

    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return self.wrong(format!("{length} bytes expected, {} left", self.left()));
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A part of so many bytes, as a cursor of its own.
    pub fn part(&mut self, length: usize) -> Result<Cursor<'a>, Malformed> {
        let base = self.offset();
        Ok(Cursor::new(self.take(length)?, base))
    }

    pub fn u1(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    pub fn u2(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub fn u4(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub fn i4(&mut self) -> Result<i32, Malformed> {
        Ok(self.u4()? as i32)
    }

    pub fn u8(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from(self.u4()?) << 32 | u64::from(self.u4()?))
    }

    /// As many items as a number of two bytes says. Each item takes at least one byte, so that a count alone allocates little.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Cursor<'a>) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = usize::from(self.u2()?);
        let mut items = Vec::with_capacity(count.min(self.left()));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub fn end(&self, what: &str) -> Result<(), Malformed> {
        match self.left() {
            0 => Ok(()),
            left => self.wrong(format!("{left} bytes too many in {what}")),
        }
    }
}
