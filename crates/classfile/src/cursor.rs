//! A position in bytes that are read in order.

/// Bytes that are no class file: where, and why not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// Offset from the beginning of the file.
    pub offset: usize,
    /// What is wrong there.
    pub reason: String,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for Malformed {}

/// Reads big-endian numbers from a part of a file.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the part begins in the file.
    base: usize,
}

impl<'a> Cursor<'a> {
    /// A part of a file, and where it begins there.
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

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// What is wrong here.
    ///
    /// # Errors
    /// Always.
    pub fn wrong<T>(&self, reason: impl Into<String>) -> Result<T, Malformed> {
        Err(Malformed { offset: self.offset(), reason: reason.into() })
    }

    /// The next bytes.
    ///
    /// # Errors
    /// If there are fewer.
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
    ///
    /// # Errors
    /// If there are fewer.
    pub fn part(&mut self, length: usize) -> Result<Cursor<'a>, Malformed> {
        let base = self.offset();
        Ok(Cursor::new(self.take(length)?, base))
    }

    /// One byte.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn u1(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    /// A number of two bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn u2(&mut self) -> Result<u16, Malformed> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A number of four bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn u4(&mut self) -> Result<u32, Malformed> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A number of four bytes with a sign.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn i4(&mut self) -> Result<i32, Malformed> {
        Ok(self.u4()? as i32)
    }

    /// A number of eight bytes.
    ///
    /// # Errors
    /// If there are fewer.
    pub fn u8(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from(self.u4()?) << 32 | u64::from(self.u4()?))
    }

    /// As many items as a number of two bytes says. Each item takes at least one byte, so that a count alone allocates little.
    ///
    /// # Errors
    /// If an item is wrong.
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

    /// Nothing may be left.
    ///
    /// # Errors
    /// If something is.
    pub fn end(&self, what: &str) -> Result<(), Malformed> {
        match self.left() {
            0 => Ok(()),
            left => self.wrong(format!("{left} bytes too many in {what}")),
        }
    }
}
