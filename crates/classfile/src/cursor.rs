//! A reader of big-endian numbers, and the error of malformed class files.

/// The reason why bytes are not a class file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The offset in the class file.
    pub offset: usize,
    /// The reason, as a phrase.
    pub reason: String,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for Malformed {}

/// A position in a part of a class file.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The offset of the part in the class file.
    base: usize,
}

impl<'a> Cursor<'a> {
    /// Reads a part of a class file that begins at the offset `base`.
    pub fn new(bytes: &'a [u8], base: usize) -> Cursor<'a> {
        Cursor { bytes, at: 0, base }
    }

    /// The offset of the next byte in the class file.
    pub fn offset(&self) -> usize {
        self.base + self.at
    }

    /// The offset of the next byte in this part.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The number of bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns an error at the current position.
    ///
    /// # Errors
    /// Always.
    pub fn wrong<T>(&self, reason: impl Into<String>) -> Result<T, Malformed> {
        Err(Malformed { offset: self.offset(), reason: reason.into() })
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let end = self.at.checked_add(length).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else {
            return self.wrong(format!("{length} bytes expected, {} left", self.left()));
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Reads bytes as a cursor of their own.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn part(&mut self, length: usize) -> Result<Cursor<'a>, Malformed> {
        let base = self.offset();
        Ok(Cursor::new(self.take(length)?, base))
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// If none is left.
    pub fn u1(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// Reads a number of two bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u2(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// Reads a number of four bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u4(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Reads a signed number of four bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn i4(&mut self) -> Result<i32, Malformed> {
        Ok(self.u4()? as i32)
    }

    /// Reads a number of eight bytes.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u8(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from(self.u4()?) << 32 | u64::from(self.u4()?))
    }

    /// Reads a count of two bytes, and that many items. The allocation is bounded by the bytes that are left, whatever
    /// the count is.
    ///
    /// # Errors
    /// If an item is malformed.
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

    /// Checks that no bytes are left.
    ///
    /// # Errors
    /// If some are.
    pub fn end(&self, what: &str) -> Result<(), Malformed> {
        match self.left() {
            0 => Ok(()),
            left => self.wrong(format!("{left} bytes too many in {what}")),
        }
    }
}
