//! Jars: zip files, read by their central directory. Entries are stored or deflated; no other method occurs in jars.
//!
//! The directory is parsed here in forty lines; `miniz_oxide` inflates, without `unsafe` and with almost no
//! dependencies.

use super::PathError;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes of the end-of-central-directory record, which a comment of up to 65535 bytes may follow.
const END: usize = 22;
const MAX_ENTRY_BYTES: usize = 256 << 20;

/// An open jar.
#[derive(Debug)]
pub struct Jar {
    file: PathBuf,
    reader: RefCell<File>,
    entries: BTreeMap<String, Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    method: u16,
    packed: u64,
    size: u64,
    /// Offset of its local header.
    header: u64,
}

impl Jar {
    /// Opens a jar.
    ///
    /// # Errors
    /// If the file can't be read, or is not a zip file.
    pub fn open(file: &Path) -> Result<Jar, PathError> {
        let unreadable = |source| PathError::unreadable(file, source);
        let wrong = |offset, reason: &str| PathError::malformed(file, offset, reason);
        let mut reader = File::open(file).map_err(unreadable)?;
        let length = reader.metadata().map_err(unreadable)?.len();
        let tail_at = length.saturating_sub((END + 65535) as u64);
        let tail = read_at(&mut reader, tail_at, length - tail_at).map_err(unreadable)?;
        let end = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
        let end = end.filter(|end| end + END <= tail.len());
        let Some(end) = end else { return Err(wrong(0, "no jar: it has no zip directory")) };
        let (size, offset) = (u64::from(u32_at(&tail, end + 12)), u64::from(u32_at(&tail, end + 16)));
        if offset + size > length {
            return Err(wrong(tail_at + end as u64, "a zip directory beyond the end of the file"));
        }
        let directory = read_at(&mut reader, offset, size).map_err(unreadable)?;
        let entries = read_directory(&directory).map_err(|(at, reason)| wrong(offset + at as u64, reason))?;
        Ok(Jar { file: file.to_path_buf(), reader: RefCell::new(reader), entries })
    }

    /// Returns the path of the jar.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the internal names of its classes, sorted.
    pub fn classes(&self) -> Vec<String> {
        let is_class = |name: &&str| !name.starts_with("META-INF/") && !name.ends_with("-info");
        self.names().filter_map(|name| name.strip_suffix(".class")).filter(is_class).map(str::to_string).collect()
    }

    /// Returns the names of its entries, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Returns the contents of an entry, or `None` if the jar has no such entry.
    ///
    /// # Errors
    /// If the entry can't be read or unpacked.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, PathError> {
        let Some(entry) = self.entries.get(name) else { return Ok(None) };
        let unreadable = |source| PathError::unreadable(&self.file, source);
        let wrong = |reason: String| PathError::malformed(&self.file, entry.header, reason);
        let mut reader = self.reader.borrow_mut();
        let header = read_at(&mut reader, entry.header, 30).map_err(unreadable)?;
        if header.len() < 30 || !header.starts_with(b"PK\x03\x04") {
            return Err(wrong(format!("no entry `{name}`")));
        }
        let skip = 30 + u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        let packed = read_at(&mut reader, entry.header + skip, entry.packed).map_err(unreadable)?;
        let size = entry.size as usize;
        let unpacked = match entry.method {
            0 => Some(packed),
            8 if size <= MAX_ENTRY_BYTES => miniz_oxide::inflate::decompress_to_vec_with_limit(&packed, size).ok(),
            _ => None,
        };
        match unpacked.filter(|bytes| bytes.len() == size) {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(wrong(format!("the entry `{name}` can't be unpacked"))),
        }
    }

    /// Returns the value of a manifest attribute.
    ///
    /// # Errors
    /// If the manifest can't be read.
    pub fn manifest(&self, key: &str) -> Result<Option<String>, PathError> {
        let Some(bytes) = self.read("META-INF/MANIFEST.MF")? else { return Ok(None) };
        // A line that starts with a blank continues the line before it.
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace("\n ", "");
        let value = text.lines().take_while(|line| !line.is_empty()).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(key).then(|| value.trim().to_string())
        });
        Ok(value)
    }
}

fn read_directory(bytes: &[u8]) -> Result<BTreeMap<String, Entry>, (usize, &'static str)> {
    let mut entries = BTreeMap::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes.len() - at < 46 || !bytes[at..].starts_with(b"PK\x01\x02") {
            return Err((at, "a malformed zip directory"));
        }
        let (name, extra, comment) = (u16_at(bytes, at + 28), u16_at(bytes, at + 30), u16_at(bytes, at + 32));
        let behind = at + 46 + usize::from(name);
        let Some(text) = bytes.get(at + 46..behind) else { return Err((at, "a malformed zip directory")) };
        let entry = Entry {
            method: u16_at(bytes, at + 10),
            packed: u64::from(u32_at(bytes, at + 20)),
            size: u64::from(u32_at(bytes, at + 24)),
            header: u64::from(u32_at(bytes, at + 42)),
        };
        entries.insert(String::from_utf8_lossy(text).into_owned(), entry);
        at = behind + usize::from(extra) + usize::from(comment);
    }
    Ok(entries)
}

/// Reads `length` bytes at an offset; fewer at the end of the file.
fn read_at(reader: &mut File, at: u64, length: u64) -> std::io::Result<Vec<u8>> {
    reader.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
