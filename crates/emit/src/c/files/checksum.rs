//! Ownership of generated files. A file that Touchstone writes contains a checksum of itself in its first comment.
//! While the checksum is valid, nothing else changed the file, and a later run may overwrite it. An invalid checksum
//! means that the file was edited: it then belongs to the user and is never touched.
//!
//! The checksum is updated after every write, so a run that is killed between two tests leaves a valid file. If it is
//! killed between a test and the checksum, the file counts as edited, so that it is kept and not lost.
//!
//! Deliberately not here: cryptography. The checksum detects edits, not forgery.

use crate::EmitError;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use touchstone_base::{StableHasher, check_confined, write_beside};

/// The placeholder for the digits during the computation.
const PLACEHOLDER_DIGITS: &str = "0000000000000000";
/// The text before the digits, in comments of C and of makefiles.
const CHECKSUM_PREFIXES: [&str; 2] = [" * Checksum ", "# Checksum "];

/// The ownership of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileOwnership {
    /// The file does not exist.
    Missing,
    /// Touchstone wrote it, and it is unmodified.
    Generated,
    /// Touchstone wrote it and it was modified since, or a version without checksums wrote it.
    Edited,
    /// Touchstone never wrote it.
    Foreign,
}

/// Returns the checksum line of a C comment.
pub(crate) fn checksum_line() -> String {
    line(CHECKSUM_PREFIXES[0])
}

/// Returns the checksum line of a makefile.
pub(crate) fn checksum_line_of_makefile() -> String {
    line(CHECKSUM_PREFIXES[1])
}

fn line(before: &str) -> String {
    format!(
        "{before}{PLACEHOLDER_DIGITS}: Touchstone overwrites this file until you edit it; an edited file is kept.\n"
    )
}

/// Returns the offset of the digits.
fn digits(text: &[u8]) -> Option<usize> {
    let mut start = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        for before in CHECKSUM_PREFIXES {
            let rest = line.strip_prefix(before.as_bytes()).unwrap_or_default();
            if rest.len() > PLACEHOLDER_DIGITS.len()
                && rest[..PLACEHOLDER_DIGITS.len()].iter().all(u8::is_ascii_hexdigit)
                && rest[PLACEHOLDER_DIGITS.len()] == b':'
            {
                return Some(start + before.len());
            }
        }
        start += line.len();
    }
    None
}

/// Returns true if Touchstone wrote the file, edited or not: its first comment contains a checksum.
pub fn is_emitted(path: &Path) -> bool {
    const FIRST_COMMENT: u64 = 1 << 16;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FIRST_COMMENT).read_to_end(&mut head));
    let comment = head.windows(2).position(|bytes| bytes == b"*/").map_or(&head[..], |end| &head[..end]);
    read.is_ok() && comment.starts_with(b"/*") && digits(comment).is_some()
}

/// Returns the checksum of a text, independently of its current digits.
fn hash(text: &[u8], digits: usize) -> StableHasher {
    let mut hasher = StableHasher::default();
    hasher.write(&text[..digits]);
    hasher.write(PLACEHOLDER_DIGITS.as_bytes());
    hasher.write(&text[digits + PLACEHOLDER_DIGITS.len()..]);
    hasher
}

/// Returns the text with its checksum filled in.
pub(crate) fn with_valid_checksum(text: &str) -> String {
    match digits(text.as_bytes()) {
        None => text.to_string(),
        Some(at) => {
            let sum = hash(text.as_bytes(), at).finish();
            format!("{}{sum:016x}{}", &text[..at], &text[at + PLACEHOLDER_DIGITS.len()..])
        }
    }
}

/// Returns true if the checksum is valid, or `None` if the text has none.
pub(crate) fn has_valid_checksum(bytes: &[u8]) -> Option<bool> {
    let at = digits(bytes)?;
    let said = std::str::from_utf8(&bytes[at..at + PLACEHOLDER_DIGITS.len()]).ok()?;
    let fits = |bytes: &[u8], at: usize| format!("{:016x}", hash(bytes, at).finish()) == said;
    if fits(bytes, at) {
        return Some(true);
    }
    // Version control may have converted line ends, which is not an edit.
    let plain: Vec<u8> = String::from_utf8_lossy(bytes).replace("\r\n", "\n").into_bytes();
    Some(digits(&plain).is_some_and(|at| fits(&plain, at)))
}

/// The beginning of generated files, which a full disk or a crash of the machine may truncate anywhere.
pub(crate) struct FileSignature {
    /// The possible first characters.
    pub(crate) starts: &'static [&'static str],
    /// Strings in the first lines of generated files, of older versions as well.
    pub(crate) marks: &'static [&'static str],
    /// The beginning of files without tests and without a checksum, which older versions wrote.
    pub(crate) empty: &'static str,
}

impl FileSignature {
    /// Returns the ownership of a file.
    pub(crate) fn ownership(&self, path: &Path) -> Result<FileOwnership, EmitError> {
        if !path.exists() {
            return Ok(FileOwnership::Missing);
        }
        let bytes = fs::read(path).map_err(EmitError::io(path))?;
        match has_valid_checksum(&bytes) {
            Some(true) => return Ok(FileOwnership::Generated),
            Some(false) => return Ok(FileOwnership::Edited),
            None => {}
        }
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]);
        let torn = self.starts.iter().any(|begin| {
            begin.starts_with(&*head) || (head.starts_with(begin) && !head.contains('\n') && !head.contains("*/"))
        });
        Ok(match () {
            () if torn || head.starts_with(self.empty) => FileOwnership::Generated,
            () if self.marks.iter().any(|mark| head.contains(mark)) => FileOwnership::Edited,
            () => FileOwnership::Foreign,
        })
    }
}

/// A generated file that grows.
pub(crate) struct ChecksummedFile {
    path: PathBuf,
    file: File,
    sum: StableHasher,
    /// The offset of its digits.
    digits: Option<usize>,
    /// The current end of the file; further text is inserted before it.
    end: String,
}

impl ChecksummedFile {
    /// Creates a file, or overwrites an existing one.
    pub(crate) fn create(path: &Path, text: &str) -> Result<ChecksummedFile, EmitError> {
        check_confined(path.parent().unwrap_or(Path::new("")), path).map_err(EmitError::io(path))?;
        let mut file = File::create(path).map_err(EmitError::io(path))?;
        file.write_all(with_valid_checksum(text).as_bytes()).map_err(EmitError::io(path))?;
        let digits = digits(text.as_bytes());
        let sum = digits.map_or_else(StableHasher::default, |at| hash(text.as_bytes(), at));
        Ok(ChecksummedFile { path: path.to_path_buf(), file, sum, digits, end: String::new() })
    }

    /// Appends; after this call, the text and the checksum are on disk.
    pub(crate) fn append(&mut self, text: &str) -> Result<(), EmitError> {
        self.append_with_end(text, "")
    }

    /// Appends a text, and an end before which more may be inserted.
    pub(crate) fn append_with_end(&mut self, text: &str, end: &str) -> Result<(), EmitError> {
        if text.is_empty() && end.is_empty() {
            return Ok(());
        }
        self.sum.write(self.end.as_bytes());
        self.end = end.to_string();
        self.write(text)
    }

    /// Inserts a text before the end.
    pub(crate) fn append_before_end(&mut self, text: &str) -> Result<(), EmitError> {
        let back = -i64::try_from(self.end.len()).unwrap_or(0);
        self.file.seek(SeekFrom::Current(back)).map_err(EmitError::io(&self.path))?;
        self.write(text)
    }

    /// Writes a text and the end by one call, then the checksum.
    fn write(&mut self, text: &str) -> Result<(), EmitError> {
        let all = format!("{text}{}", self.end);
        self.file.write_all(all.as_bytes()).map_err(EmitError::io(&self.path))?;
        self.sum.write(text.as_bytes());
        let Some(at) = self.digits else { return Ok(()) };
        let mut sum = self.sum.clone();
        sum.write(self.end.as_bytes());
        let sum = format!("{:016x}", sum.finish());
        self.file.write_all_at(sum.as_bytes(), at as u64).map_err(EmitError::io(&self.path))
    }
}

/// Writes a generated file as a whole, unless the existing file was edited. A foreign file is an error.
pub(crate) fn write_checksummed(path: &Path, text: &str) -> Result<(), EmitError> {
    let text = with_valid_checksum(text);
    match fs::read(path) {
        // A concurrent compilation of another suite of the directory may be reading it.
        Ok(old) if old == text.as_bytes() => Ok(()),
        Ok(old) => match has_valid_checksum(&old) {
            Some(false) => Ok(()),
            // A full disk may have truncated the file.
            None if !text.as_bytes().starts_with(&old) => Err(EmitError::NotOurs { path: path.to_path_buf() }),
            _ => write_beside(path, text).map_err(EmitError::io(path)),
        },
        Err(_) => write_beside(path, text).map_err(EmitError::io(path)),
    }
}

/// Returns a text with a checksum line after the first line of its first comment.
pub(crate) fn with_checksum_line(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first}\n{}{rest}", checksum_line()),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNATURE: FileSignature =
        FileSignature { starts: &["/* Tests of "], marks: &["written by Touchstone"], empty: "/* No tests of " };

    #[test]
    fn a_file_is_ours_after_every_write_and_its_users_after_an_edit() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("test_f.c");
        assert_eq!(SIGNATURE.ownership(&path).expect("readable"), FileOwnership::Missing);
        let head = format!("/* Tests of f, written by Touchstone\n{} */\n", checksum_line());
        let mut file = ChecksummedFile::create(&path, &head).expect("written");
        assert_eq!(SIGNATURE.ownership(&path).expect("readable"), FileOwnership::Generated);
        file.append("TEST(f_1, \"\") {\n}\n").expect("written");
        assert_eq!(SIGNATURE.ownership(&path).expect("readable"), FileOwnership::Generated);
        let text = fs::read_to_string(&path).expect("readable");
        let check = |text: &str, expected: FileOwnership| {
            fs::write(&path, text).expect("written");
            assert_eq!(SIGNATURE.ownership(&path).expect("readable"), expected, "{text}");
        };
        check(&text.replace('\n', "\r\n"), FileOwnership::Generated);
        check(&text.replace("f_1", "rejects_null"), FileOwnership::Edited);
        check(&text.replace(" */", " * mine */"), FileOwnership::Edited);
        check(&format!("{text}\n"), FileOwnership::Edited);
        check("/* Tests of f in a.c, written by Touchstone. */\nTEST(f_1, \"\") {}\n", FileOwnership::Edited);
        check("/* Te", FileOwnership::Generated);
        check("/* my tests */\n", FileOwnership::Foreign);
    }
}
