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
//! | `TOGETHER` | from here on several tests run at the same time, and nobody knows whose hits these are |
//! | `BY` + n | from here on hits are those of owner n: a test that runs beside others, or a thread (`HELPER`) that one started |
//! | `OWNER` + n | an owner's number follows, and the name of the test that it is: n bytes, filled up to a word |
//! | `OVER` | two words follow: a thread, and the test that started it, which was still there when the thread was over |
//! | `UNIT` | four words follow: a unit's identity (the lower half first), its first probe, how many it has |
//! | `SKIP` + n | n words that mean nothing |

use crate::hit_arrays;
use crate::jvm_interface::{Jni, Object};
use crate::mapped_file::Mapped;
use crate::measurement_files::{Process, fresh, words_of};
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
const BY: u32 = 0x7000_0000;
const UNIT: u32 = 0x8000_0000;
const OWNER: u32 = 0x9000_0000;
const OVER: u32 = 0xa000_0000;
const SKIP: u32 = 0xc000_0000;

/// The file grows by a part of so many bytes, and each time by twice as many,
const FIRST_PART: usize = 64 * 1024;
/// up to so many.
const LARGEST_PART: usize = 4 * 1024 * 1024;
/// A name has at most so many bytes.
const LONGEST_NAME: usize = 2000;

/// Numbers of owners that are threads which tests started have this bit; others are less.
pub const HELPER: u32 = 1 << 27;

/// Whose hits are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// Nobody's: no test runs.
    Outside,
    /// A test's.
    Test(String),
    /// One of several tests' that run at the same time.
    Together,
    /// An owner's, while tests run at the same time.
    By(u32),
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
    /// Once tests ran at the same time: those that do now.
    together: Option<Vec<u32>>,
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
        let end = FIRST_PART as u64;
        Some(Log { path, part, at: WORDS, end, whose, together: None, hit, holders, full: false })
    }

    /// The number that a probe of a holder has in the log.
    pub fn number(holder: u16, probe: u32) -> u32 {
        u32::from(holder) * (hit_arrays::PROBES + 1) + probe
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

    /// A probe was hit that its owner did not hit before; 0 is who does not know it. Whether it needs not be told again: who does not know it must
    /// find it out where tests run at the same time, and nobody needs to where they don't.
    pub fn hit(&mut self, jni: Jni, holder: u16, probe: u32, owner: u32) -> bool {
        let number = Log::number(holder, probe);
        if number >= TEST - 1 {
            return true;
        }
        let Some(running) = &self.together else {
            self.append(number + 1, &[]);
            if let Some(held) = self.holders.get(usize::from(holder)) {
                jni.set(held.0, probe, 1);
                self.hit.push(number);
            }
            return owner == 0;
        };
        let whose = match owner {
            owner if owner & HELPER != 0 || running.contains(&owner) => Whose::By(owner),
            // A thread of nobody's, or of a test that is over.
            _ if running.is_empty() => Whose::Outside,
            _ => Whose::Together,
        };
        self.says(whose);
        self.append(number + 1, &[]);
        true
    }

    /// From here on hits are somebody else's: all probes count again.
    pub fn belongs(&mut self, jni: Jni, whose: Whose) {
        if self.whose != whose {
            self.forget(jni);
            self.says(whose);
        }
    }

    /// From here on these tests run at the same time, with their numbers and names: each hit belongs to an owner.
    pub fn together<'t>(&mut self, jni: Jni, running: impl Iterator<Item = (u32, &'t str)> + Clone) {
        self.forget(jni);
        let before = self.together.replace(running.clone().map(|(owner, _)| owner).collect()).unwrap_or_default();
        for (owner, name) in running.filter(|(owner, _)| !before.contains(owner)) {
            let name = &name[..name.floor_char_boundary(LONGEST_NAME)];
            let content = [&owner.to_le_bytes()[..], name.as_bytes()].concat();
            self.append(OWNER + name.len() as u32, &content);
        }
    }

    /// A thread that a test started was over before the test was.
    pub fn over(&mut self, helper: u32, test: u32) {
        let content: Vec<u8> = [helper, test].iter().flat_map(|word| word.to_le_bytes()).collect();
        self.append(OVER, &content);
    }

    fn forget(&mut self, jni: Jni) {
        for number in std::mem::take(&mut self.hit) {
            let (holder, probe) = (number / (hit_arrays::PROBES + 1), number % (hit_arrays::PROBES + 1));
            if let Some(held) = self.holders.get(holder as usize) {
                jni.set(held.0, probe, 0);
            }
        }
    }

    fn says(&mut self, whose: Whose) {
        if self.whose == whose {
            return;
        }
        match &whose {
            Whose::Outside => self.append(OUTSIDE, &[]),
            Whose::Together => self.append(TOGETHER, &[]),
            Whose::By(owner) => self.append(BY + owner, &[]),
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
