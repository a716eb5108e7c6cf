//! FileOwnership a file is. A file that we write has a checksum of itself in its first comment. While it fits, nobody else changed
//! the file, and a later run may write it again; as soon as it does not, the file is its user's and is never touched.
//!
//! The checksum is right after every write, so a run that is killed between two tests leaves a file of ours. Killed between
//! a test and its checksum, it leaves one that counts as edited: that is kept, not lost.
//!
//! Deliberately not here: cryptography. The checksum tells edits from no edits, not friends from foes.

use crate::EmitError;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use touchstone_base::StableHasher;

/// What stands for the digits while they are computed.
const PLACEHOLDER_DIGITS: &str = "0000000000000000";
/// What stands before them, in comments of C and of makefiles.
const CHECKSUM_PREFIXES: [&str; 2] = [" * Checksum ", "# Checksum "];

/// FileOwnership a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileOwnership {
    /// It is not there.
    Missing,
    /// We wrote it, and nobody changed it.
    Generated,
    /// We wrote it, and somebody changed it since; or a version wrote it that had no checksums.
    Edited,
    /// We never wrote it.
    Foreign,
}

/// The line of a C comment that has the checksum.
pub(crate) fn checksum_line() -> String {
    line(CHECKSUM_PREFIXES[0])
}

/// The line of a makefile that has the checksum.
pub(crate) fn checksum_line_of_makefile() -> String {
    line(CHECKSUM_PREFIXES[1])
}

fn line(before: &str) -> String {
    format!(
        "{before}{PLACEHOLDER_DIGITS}: Touchstone writes this file again until you edit it; from then on it is yours.\n"
    )
}

/// Where the digits are in a text.
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

/// Whether we wrote a file, whoever edited it since: its first comment has our checksum.
pub fn is_emitted(path: &Path) -> bool {
    const FIRST_COMMENT: u64 = 1 << 16;
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FIRST_COMMENT).read_to_end(&mut head));
    let comment = head.windows(2).position(|bytes| bytes == b"*/").map_or(&head[..], |end| &head[..end]);
    read.is_ok() && comment.starts_with(b"/*") && digits(comment).is_some()
}

/// The checksum of a text, whatever its digits are now.
fn hash(text: &[u8], digits: usize) -> StableHasher {
    let mut hasher = StableHasher::default();
    hasher.write(&text[..digits]);
    hasher.write(PLACEHOLDER_DIGITS.as_bytes());
    hasher.write(&text[digits + PLACEHOLDER_DIGITS.len()..]);
    hasher
}

/// The text with its checksum.
pub(crate) fn with_valid_checksum(text: &str) -> String {
    match digits(text.as_bytes()) {
        None => text.to_string(),
        Some(at) => {
            let sum = hash(text.as_bytes(), at).finish();
            format!("{}{sum:016x}{}", &text[..at], &text[at + PLACEHOLDER_DIGITS.len()..])
        }
    }
}

/// Whether a text is as we wrote it; `None` if it has no checksum.
pub(crate) fn has_valid_checksum(bytes: &[u8]) -> Option<bool> {
    let at = digits(bytes)?;
    let said = std::str::from_utf8(&bytes[at..at + PLACEHOLDER_DIGITS.len()]).ok()?;
    let fits = |bytes: &[u8], at: usize| format!("{:016x}", hash(bytes, at).finish()) == said;
    if fits(bytes, at) {
        return Some(true);
    }
    // Version control may have changed how lines end; that is no edit.
    let plain: Vec<u8> = String::from_utf8_lossy(bytes).replace("\r\n", "\n").into_bytes();
    Some(digits(&plain).is_some_and(|at| fits(&plain, at)))
}

/// How our files begin, which may be torn anywhere by a full disk or the end of the machine.
pub(crate) struct FileSignature {
    /// From the first byte on.
    pub(crate) starts: &'static [&'static str],
    /// What is in the first lines of ours, also of older versions.
    pub(crate) marks: &'static [&'static str],
    /// Older versions' files that have no tests, and no checksum.
    pub(crate) empty: &'static str,
}

impl FileSignature {
    /// FileOwnership a file is.
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

/// A file of ours that grows.
pub(crate) struct ChecksummedFile {
    path: PathBuf,
    file: File,
    sum: StableHasher,
    /// Where its digits are.
    digits: Option<usize>,
    /// What it ends in for now: more may come before it.
    end: String,
}

impl ChecksummedFile {
    /// Begins a file; one that is there is replaced.
    pub(crate) fn create(path: &Path, text: &str) -> Result<ChecksummedFile, EmitError> {
        let mut file = File::create(path).map_err(EmitError::io(path))?;
        file.write_all(with_valid_checksum(text).as_bytes()).map_err(EmitError::io(path))?;
        let digits = digits(text.as_bytes());
        let sum = digits.map_or_else(StableHasher::default, |at| hash(text.as_bytes(), at));
        Ok(ChecksummedFile { path: path.to_path_buf(), file, sum, digits, end: String::new() })
    }

    /// Appends; after this call the text and its checksum are on disk.
    pub(crate) fn append(&mut self, text: &str) -> Result<(), EmitError> {
        self.append_with_end(text, "")
    }

    /// Appends a text, and an end that more may come before.
    pub(crate) fn append_with_end(&mut self, text: &str, end: &str) -> Result<(), EmitError> {
        if text.is_empty() && end.is_empty() {
            return Ok(());
        }
        self.sum.write(self.end.as_bytes());
        self.end = end.to_string();
        self.write(text)
    }

    /// Adds a text before the end.
    pub(crate) fn append_before_end(&mut self, text: &str) -> Result<(), EmitError> {
        let back = -i64::try_from(self.end.len()).unwrap_or(0);
        self.file.seek(SeekFrom::Current(back)).map_err(EmitError::io(&self.path))?;
        self.write(text)
    }

    /// Writes a text and the end in one piece, and their checksum.
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

/// Writes a file of ours as a whole, unless somebody edited the one that is there.
pub(crate) fn write_checksummed(path: &Path, text: &str) -> Result<(), EmitError> {
    let text = with_valid_checksum(text);
    match fs::read(path) {
        // Another suite of the same directory may be compiling with it.
        Ok(old) if old == text.as_bytes() => Ok(()),
        Ok(old) if has_valid_checksum(&old) == Some(false) => Ok(()),
        _ => touchstone_base::write_atomically(path, text).map_err(EmitError::io(path)),
    }
}

/// A text whose first comment has no checksum yet, with one after its first line.
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
