//! The log of what was hit, as `touchstone-instrument` reads it. It is a mapped file, so no end of the process loses anything.
//!
//! The file: 8 bytes magic; process id, nothing (32 bits each); 512 bytes name of the test, 1024 bytes command line; from 4096 on words of
//! 32 bits, the lowest byte first:
//!
//! | word | what |
//! |---|---|
//! | 0 | nothing |
//! | less than `TEST` | probe (word - 1) was hit |
//! | `TEST` + n | from here on hits are those of a test; its name follows, n bytes, filled up to a word |
//! | `OUTSIDE` | from here on no test runs |
//! | `TOGETHER` | from here on several tests run at the same time |
//! | `UNIT` | four words follow: a unit's identity (the lower half first), its first probe, how many it has |
//! | `SKIP` + n | n words that mean nothing |

use crate::holder;
use crate::jvm::{Jni, Object};
use crate::store::{Process, fresh, words_of};
use crate::system::Mapped;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"TSLOG001";
const EXTENSION: &str = "hits";
const NAME: usize = 16;
const COMMAND: usize = 528;
const COMMAND_END: usize = 1552;
const WORDS: usize = 4096;
const TEST: u32 = 0x4000_0000;
const OUTSIDE: u32 = 0x5000_0000;
const TOGETHER: u32 = 0x6000_0000;
const UNIT: u32 = 0x8000_0000;
const SKIP: u32 = 0xc000_0000;

/// The file grows by a part of so many bytes, and each time by twice as many,
const FIRST_PART: usize = 64 * 1024;
/// up to so many.
const LARGEST_PART: usize = 4 * 1024 * 1024;
/// A name has at most so many bytes.
const LONGEST_NAME: usize = 2000;

/// Whose hits are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Nobody's: no test runs.
    Outside,
    /// A test's.
    Test(String),
    /// One of several tests' that run at the same time.
    Together,
}

/// The log of a process.
pub struct Log {
    path: PathBuf,
    part: Mapped,
    /// The next place in the part,
    at: usize,
    /// and where in the file the part ends.
    end: u64,
    whose: Whose,
    /// Probes that are not to be logged again before somebody else's hits are written.
    hit: Vec<u32>,
    holders: Vec<Held>,
    /// Nothing can be written any more.
    full: bool,
}

/// The bytes of a holder.
struct Held(Object);

// SAFETY: it is a reference that every thread may use, for as long as the JVM runs.
unsafe impl Send for Held {}

impl Log {
    /// A new file in a directory.
    pub fn new(directory: &Path, process: &Process) -> Option<Log> {
        let (file, path) = fresh(directory, EXTENSION)?;
        let Some(mut part) = Mapped::new(&file, 0, FIRST_PART) else {
            // An empty file says that something is not in any.
            let _ = file.set_len(0);
            return None;
        };
        part.put(8, &std::process::id().to_le_bytes());
        let (test, words) = words_of(process, COMMAND - NAME, COMMAND_END - COMMAND);
        part.put(NAME, &test);
        part.put(COMMAND, &words);
        part.put(0, MAGIC);
        let (whose, hit, holders) = (Whose::Outside, Vec::new(), Vec::new());
        Some(Log { path, part, at: WORDS, end: FIRST_PART as u64, whose, hit, holders, full: false })
    }

    /// The number that a probe of a holder has in the log.
    pub fn number(holder: u16, probe: u32) -> u32 {
        u32::from(holder) * (holder::PROBES + 1) + probe
    }

    /// Another holder: its bytes are set to zero when somebody else's hits are written.
    pub fn add_holder(&mut self, bytes: Object) {
        self.holders.push(Held(bytes));
    }

    /// Probes of a unit have these numbers; whether that could be written.
    pub fn unit(&mut self, unit: u64, first: u32, size: u32) -> bool {
        let words = [unit as u32, (unit >> 32) as u32, first, size];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.append(UNIT, &bytes);
        !self.full
    }

    /// A probe was hit that was not hit before.
    pub fn hit(&mut self, number: u32) {
        if number < TEST - 1 {
            self.append(number + 1, &[]);
            self.hit.push(number);
        }
    }

    /// From here on hits are somebody else's: all probes count again.
    pub fn belongs(&mut self, jni: Jni, whose: Whose) {
        if self.whose == whose {
            return;
        }
        for number in std::mem::take(&mut self.hit) {
            let (holder, probe) = (number / (holder::PROBES + 1), number % (holder::PROBES + 1));
            if let Some(held) = self.holders.get(holder as usize) {
                jni.clear(held.0, probe);
            }
        }
        match &whose {
            Whose::Outside => self.append(OUTSIDE, &[]),
            Whose::Together => self.append(TOGETHER, &[]),
            Whose::Test(name) => {
                let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
                self.append(TEST + name.len() as u32, name.as_bytes());
            }
        }
        self.whose = whose;
    }

    /// A word, and what follows it. It says so last: whoever ends the process, nobody takes half of it for something else.
    fn append(&mut self, word: u32, content: &[u8]) {
        let words = content.len().div_ceil(4);
        let length = 4 * (1 + words);
        if self.part.length() - self.at < length {
            self.grow();
        }
        if self.full {
            return;
        }
        if words > 0 {
            self.part.put_word(self.at, SKIP + words as u32);
            self.part.put(self.at + 4, content);
        }
        self.part.put_word(self.at, word);
        self.at += length;
    }

    /// Another part of the file. No descriptor stays open.
    fn grow(&mut self) {
        if self.full {
            return;
        }
        let length = (2 * self.part.length()).min(LARGEST_PART);
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&self.path);
        match file.ok().and_then(|file| Mapped::new(&file, self.end, length)) {
            Some(part) => (self.part, self.at, self.end) = (part, 0, self.end + length as u64),
            None => {
                self.full = true;
                // An empty file says that something is not in any.
                drop(self.path.parent().and_then(|directory| fresh(directory, EXTENSION)));
            }
        }
    }
}
