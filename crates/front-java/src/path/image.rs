//! The JDK's run-time image (`lib/modules`, the jimage format): an index with a perfect hash, strings, and resources.
//!
//! The index (some megabytes) is read when the image is opened, a resource when it is requested. Images with compressed
//! resources (`jlink --compress`) are rejected with an error that says so.

use super::PathError;
use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const MAGIC: u32 = 0xcafe_dada;
const HASH_SEED: i32 = 0x0100_0193;
const HEADER: usize = 28;
/// Upper bound on the size of the index; a larger one is malformed.
const MAX_INDEX_BYTES: u64 = 256 << 20;
const MAX_RESOURCE_BYTES: u64 = 256 << 20;

/// An open image.
#[derive(Debug)]
pub struct Image {
    file: PathBuf,
    reader: RefCell<File>,
    /// Redirections, offsets, locations and strings, one after the other.
    index: Vec<u8>,
    entries: usize,
    locations: usize,
    strings: usize,
    /// Offset of the first resource in the file.
    resources: u64,
}

/// The attributes of a resource in the index.
#[derive(Default)]
struct Location {
    module: u64,
    parent: u64,
    base: u64,
    extension: u64,
    offset: u64,
    compressed: u64,
    size: u64,
}

impl Image {
    /// Opens an image.
    ///
    /// # Errors
    /// If the file can't be read, or is not an image.
    pub fn open(file: &Path) -> Result<Image, PathError> {
        let unreadable = |source| PathError::unreadable(file, source);
        let wrong = |offset, reason: &str| PathError::malformed(file, offset, reason);
        let mut reader = File::open(file).map_err(unreadable)?;
        let length = reader.metadata().map_err(unreadable)?.len();
        let mut header = [0; HEADER];
        reader.read_exact(&mut header).map_err(|_| wrong(0, "no JDK image: too short"))?;
        let word = |at: usize| word(&header, at).unwrap_or_default();
        if word(0) != MAGIC {
            return Err(wrong(0, "no JDK image: it does not begin with CAFEDADA"));
        }
        let entries = u64::from(word(16));
        let (locations, strings) = (8 * entries, 8 * entries + u64::from(word(20)));
        let size = strings + u64::from(word(24));
        if size > MAX_INDEX_BYTES || HEADER as u64 + size > length || entries == 0 {
            return Err(wrong(16, "an index that is larger than the image"));
        }
        let mut index = vec![0; size as usize];
        reader.read_exact(&mut index).map_err(unreadable)?;
        Ok(Image {
            file: file.to_path_buf(),
            reader: RefCell::new(reader),
            index,
            entries: entries as usize,
            locations: locations as usize,
            strings: strings as usize,
            resources: HEADER as u64 + size,
        })
    }

    /// Returns the path of the image file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn wrong<T>(&self, offset: u64, reason: &str) -> Result<T, PathError> {
        Err(PathError::Malformed { file: self.file.clone(), offset, reason: reason.to_string() })
    }

    /// Returns the bytes of a class by its internal name, or `None` if the image has no such class.
    ///
    /// # Errors
    /// If the image is malformed or can't be read.
    pub fn class(&self, name: &str) -> Result<Option<Vec<u8>>, PathError> {
        let Some((package, _)) = name.rsplit_once('/') else { return Ok(None) };
        let Some(module) = self.module_of(package)? else { return Ok(None) };
        self.resource(&format!("/{module}/{name}.class"))
    }

    /// Returns the module that defines a class, by the class's internal name.
    pub fn module_of_class(&self, name: &str) -> Option<String> {
        self.module_of(name.rsplit_once('/')?.0).ok().flatten()
    }

    /// Returns the module that defines the classes of a package.
    fn module_of(&self, package: &str) -> Result<Option<String>, PathError> {
        let Some(rows) = self.resource(&format!("/packages/{}", package.replace('/', ".")))? else { return Ok(None) };
        let row = rows.chunks_exact(8).find(|row| word(row, 0) == Some(0));
        let Some(name) = row.and_then(|row| word(row, 4)) else { return Ok(None) };
        Ok(self.string(u64::from(name)).map(|name| String::from_utf8_lossy(name).into_owned()))
    }

    /// Returns the bytes of a resource by its path, or `None` if the image has no such resource.
    ///
    /// # Errors
    /// If the image is malformed or can't be read.
    pub fn resource(&self, path: &str) -> Result<Option<Vec<u8>>, PathError> {
        let slot = hash(path.as_bytes(), HASH_SEED) as usize % self.entries;
        let slot = match word(&self.index, 4 * slot).unwrap_or_default() as i32 {
            0 => return Ok(None),
            seed if seed > 0 => hash(path.as_bytes(), seed) as usize % self.entries,
            direct => (-1 - i64::from(direct)) as usize,
        };
        match self.location(slot) {
            Some(location) if self.path(&location).as_deref() == Some(path.as_bytes()) => {
                self.contents(&location).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Returns the internal names of all classes of a module, sorted.
    pub fn classes_of(&self, module: &str) -> Vec<String> {
        let prefix = format!("/{module}/");
        let paths = (0..self.entries).filter_map(|slot| self.path(&self.location(slot)?));
        let name = |path: Vec<u8>| {
            Some(String::from_utf8(path).ok()?.strip_prefix(&prefix)?.strip_suffix(".class")?.to_string())
        };
        let mut names: Vec<String> = paths.filter_map(name).collect();
        names.sort();
        names
    }

    fn location(&self, slot: usize) -> Option<Location> {
        let offset = word(&self.index, 4 * self.entries + 4 * slot).filter(|_| slot < self.entries)?;
        let mut at = self.locations.checked_add(offset as usize)?;
        let mut location = Location::default();
        loop {
            let head = *self.index.get(at).filter(|_| at < self.strings)?;
            let length = usize::from(head & 7) + 1;
            if head >> 3 == 0 {
                return Some(location);
            }
            let bytes = self.index.get(at + 1..at + 1 + length)?;
            let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            match head >> 3 {
                1 => location.module = value,
                2 => location.parent = value,
                3 => location.base = value,
                4 => location.extension = value,
                5 => location.offset = value,
                6 => location.compressed = value,
                7 => location.size = value,
                _ => return None,
            }
            at += 1 + length;
        }
    }

    fn string(&self, offset: u64) -> Option<&[u8]> {
        let start = self.strings.checked_add(usize::try_from(offset).ok()?)?;
        let rest = self.index.get(start..)?;
        Some(&rest[..rest.iter().position(|byte| *byte == 0)?])
    }

    fn path(&self, location: &Location) -> Option<Vec<u8>> {
        let mut path = Vec::new();
        let parts = [(location.module, "/", "/"), (location.parent, "", "/"), (location.base, "", "")];
        for (part, before, behind) in parts {
            let text = self.string(part)?;
            if !text.is_empty() {
                path.extend_from_slice(before.as_bytes());
                path.extend_from_slice(text);
                path.extend_from_slice(behind.as_bytes());
            }
        }
        let extension = self.string(location.extension)?;
        if !extension.is_empty() {
            path.push(b'.');
            path.extend_from_slice(extension);
        }
        Some(path)
    }

    fn contents(&self, location: &Location) -> Result<Vec<u8>, PathError> {
        let at = self.resources.saturating_add(location.offset);
        if location.compressed != 0 {
            return self.wrong(at, "a compressed resource (`jlink --compress`), which is not supported");
        }
        if location.size > MAX_RESOURCE_BYTES {
            return self.wrong(at, "a resource of more than 256 MB");
        }
        let unreadable = |source| PathError::unreadable(&self.file, source);
        let mut reader = self.reader.borrow_mut();
        reader.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        let mut bytes = Vec::new();
        (&mut *reader).take(location.size).read_to_end(&mut bytes).map_err(unreadable)?;
        match bytes.len() as u64 == location.size {
            true => Ok(bytes),
            false => self.wrong(at, "a resource beyond the end of the image"),
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

fn hash(path: &[u8], seed: i32) -> u32 {
    let hash = path.iter().fold(seed, |hash, byte| hash.wrapping_mul(HASH_SEED) ^ i32::from(*byte));
    hash as u32 & 0x7fff_ffff
}
