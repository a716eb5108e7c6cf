//! The log of hits, which `touchstone-instrument` reads. It is a mapped file, so that hits survive any end of the process.
//!
//! The file: 8 bytes magic; process id, unused (32 bits each); 512 bytes name of the test, 1024 bytes command line; from 4096 on
//! little-endian words of 32 bits:
//!
//! | word | meaning |
//! |---|---|
//! | 0 | unused |
//! | less than `TEST` | probe (word - 1) was hit |
//! | `TEST` + n | the following hits belong to a test; its name follows, n bytes, padded to a word |
//! | `NO_TEST` | the following hits belong to no test |
//! | `CONCURRENT` | the following hits belong to one of several tests that run concurrently, and it is not known to which |
//! | `BY` + n | the following hits belong to owner n: a test that runs concurrently with others, or a thread (`CHILD_THREAD`) that one started |
//! | `OWNER` + n | the number of an owner follows, and the name of the test that it is: n bytes, padded to a word |
//! | `THREAD_END` | two words follow: a thread, and the test that started it and was still running when the thread ended |
//! | `UNIT` | four words follow: the identity of a unit (the lower half first), its first probe, its number of probes |
//! | `SKIP` + n | n unused words follow |

use crate::hit_arrays;
use crate::jvm_interface::{GlobalRef, Jni};
use crate::mapped_file::MappedFile;
use crate::measurement_files::{ProcessInfo, create_unique, header_strings};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"TSLOG001";
const EXTENSION: &str = "hits";
const NAME: usize = 16;
const COMMAND: usize = 528;
const COMMAND_END: usize = 1552;
const WORDS: usize = 4096;
const TEST: u32 = 0x4000_0000;
const NO_TEST: u32 = 0x5000_0000;
const CONCURRENT: u32 = 0x6000_0000;
const BY: u32 = 0x7000_0000;
const UNIT: u32 = 0x8000_0000;
const OWNER: u32 = 0x9000_0000;
const THREAD_END: u32 = 0xa000_0000;
const SKIP: u32 = 0xc000_0000;

/// The size of the first part of the file, in bytes. Each further part is twice as large as the one before.
const FIRST_PART_BYTES: usize = 64 * 1024;
/// The maximum size of a part, in bytes.
const MAX_PART_BYTES: usize = 4 * 1024 * 1024;
/// The maximum length of a name, in bytes.
const MAX_NAME_BYTES: usize = 2000;

/// The bit of owners that are threads which tests started.
pub const CHILD_THREAD: u32 = 1 << 27;

/// The owner of hits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HitOwner {
    /// No test runs.
    NoTest,
    /// The only test that runs.
    Test(String),
    /// One of several tests that run concurrently.
    Concurrent,
    /// A known owner, while tests run concurrently.
    Owner(u32),
}

/// The log of a process.
pub struct HitLogWriter {
    path: PathBuf,
    /// The part of the file that is mapped.
    part: MappedFile,
    /// The offset of the next word in the part.
    at: usize,
    /// The offset of the end of the part in the file.
    end: u64,
    /// The owner of the hits that follow.
    owner: HitOwner,
    /// The tests that run, once tests ran concurrently.
    concurrent: Option<Vec<u32>>,
    /// The probes whose bytes are set in the hit arrays.
    set: Vec<u32>,
    hit_arrays: Vec<GlobalRef>,
    /// True if the file can't grow.
    full: bool,
}

impl HitLogWriter {
    /// Creates a log in a directory.
    pub fn new(directory: &Path, process: &ProcessInfo) -> Option<HitLogWriter> {
        let (file, path) = create_unique(directory, EXTENSION)?;
        let Some(mut part) = MappedFile::extend(&file, 0, FIRST_PART_BYTES) else {
            // An empty file says that hits are lost.
            let _ = file.set_len(0);
            return None;
        };
        part.put(8, &std::process::id().to_le_bytes());
        let (test, command) = header_strings(process, COMMAND - NAME, COMMAND_END - COMMAND);
        part.put(NAME, &test);
        part.put(COMMAND, &command);
        part.put(0, MAGIC);
        Some(HitLogWriter {
            path,
            part,
            at: WORDS,
            end: FIRST_PART_BYTES as u64,
            owner: HitOwner::NoTest,
            concurrent: None,
            set: Vec::new(),
            hit_arrays: Vec::new(),
            full: false,
        })
    }

    /// Returns the number of a probe in the log.
    pub fn number(array: u16, probe: u32) -> u32 {
        u32::from(array) * (hit_arrays::PROBES + 1) + probe
    }

    /// Adds a hit array. Its bytes are cleared when the owner of hits changes.
    pub fn add_hit_array(&mut self, bytes: GlobalRef) {
        self.hit_arrays.push(bytes);
    }

    /// Logs the probes of a unit. Returns true if the log has them.
    pub fn unit(&mut self, unit: u64, first: u32, size: u32) -> bool {
        let words = [unit as u32, (unit >> 32) as u32, first, size];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.append(UNIT, &bytes);
        !self.full
    }

    /// Logs a hit; the owner 0 is unknown. Returns true if the caller needs not log it again. It must, with its owner, if tests run concurrently and the
    /// owner was unknown; while tests run one after another the log knows the owner.
    pub fn hit(&mut self, jni: Jni, array: u16, probe: u32, owner: u32) -> bool {
        let number = HitLogWriter::number(array, probe);
        if number >= TEST - 1 {
            return true;
        }
        let Some(running) = &self.concurrent else {
            self.append(number + 1, &[]);
            if let Some(bytes) = self.hit_arrays.get(usize::from(array)) {
                jni.set_byte(bytes.0, probe, 1);
                self.set.push(number);
            }
            return owner == 0;
        };
        let owner = match owner {
            owner if owner & CHILD_THREAD != 0 || running.contains(&owner) => HitOwner::Owner(owner),
            // The thread has no owner, or its test has ended.
            _ if running.is_empty() => HitOwner::NoTest,
            _ => HitOwner::Concurrent,
        };
        self.write_owner(owner);
        self.append(number + 1, &[]);
        true
    }

    /// Sets the owner of the hits that follow. All probes count again.
    pub fn set_owner(&mut self, jni: Jni, owner: HitOwner) {
        if self.owner != owner {
            self.clear_hits(jni);
            self.write_owner(owner);
        }
    }

    /// Sets the tests that run concurrently, with their numbers and names. From now on each hit has an owner.
    pub fn set_concurrent<'t>(&mut self, jni: Jni, running: impl Iterator<Item = (u32, &'t str)> + Clone) {
        self.clear_hits(jni);
        let before = self.concurrent.replace(running.clone().map(|(owner, _)| owner).collect()).unwrap_or_default();
        for (owner, name) in running.filter(|(owner, _)| !before.contains(owner)) {
            let name = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
            let content = [&owner.to_le_bytes()[..], name.as_bytes()].concat();
            self.append(OWNER + name.len() as u32, &content);
        }
    }

    /// Logs that a thread ended before the test that started it.
    pub fn thread_ended(&mut self, thread: u32, test: u32) {
        let content: Vec<u8> = [thread, test].iter().flat_map(|word| word.to_le_bytes()).collect();
        self.append(THREAD_END, &content);
    }

    fn clear_hits(&mut self, jni: Jni) {
        for number in std::mem::take(&mut self.set) {
            let (array, probe) = (number / (hit_arrays::PROBES + 1), number % (hit_arrays::PROBES + 1));
            if let Some(bytes) = self.hit_arrays.get(array as usize) {
                jni.set_byte(bytes.0, probe, 0);
            }
        }
    }

    fn write_owner(&mut self, owner: HitOwner) {
        if self.owner == owner {
            return;
        }
        match &owner {
            HitOwner::NoTest => self.append(NO_TEST, &[]),
            HitOwner::Concurrent => self.append(CONCURRENT, &[]),
            HitOwner::Owner(owner) => self.append(BY + owner, &[]),
            HitOwner::Test(name) => {
                let name = &name[..name.floor_char_boundary(MAX_NAME_BYTES)];
                self.append(TEST + name.len() as u32, name.as_bytes());
            }
        }
        self.owner = owner;
    }

    /// Appends a word and its content. The word is written last: a process that is killed leaves `SKIP` or nothing, never a half entry.
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

    /// Maps another part of the file. No descriptor stays open.
    fn grow(&mut self) {
        if self.full {
            return;
        }
        let length = (2 * self.part.length()).min(MAX_PART_BYTES);
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&self.path);
        match file.ok().and_then(|file| MappedFile::extend(&file, self.end, length)) {
            Some(part) => (self.part, self.at, self.end) = (part, 0, self.end + length as u64),
            None => {
                self.full = true;
                // An empty file says that hits are lost.
                drop(self.path.parent().and_then(|directory| create_unique(directory, EXTENSION)));
            }
        }
    }
}
