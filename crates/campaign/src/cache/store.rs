//! The files of a cache: one an entry, named by its key. A line says what it is, whose, how long and its hash; the rest is JSON.
//!
//! Entries are written as a whole, so runs at the same time share them. What is truncated, or somebody else's, is told and ignored.
//! When there is too much, what nobody used for longest goes.

use crate::request::Notice;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use touchstone_base::{WideHasher, write_atomically};

/// What files begin with; the number grows when what is in them changes its meaning.
const FORMAT: &str = "touchstone cache 1";

/// So many bytes are kept.
const MOST_BYTES: u64 = 512 << 20;

/// What an entry is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Verdicts and tests of a function.
    Verdicts,
    /// What the replay of a suite said.
    Replays,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Verdicts, Kind::Replays];

    /// The folder that has them.
    fn folder(self) -> &'static str {
        match self {
            Kind::Verdicts => "verdicts",
            Kind::Replays => "replays",
        }
    }
}

/// The first line of a file.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    format: String,
    kind: Kind,
    key: String,
    /// What wrote it.
    build: String,
    /// What it is about.
    function: String,
    /// What follows, in bytes, and its hash.
    length: u64,
    hash: String,
}

/// A directory of entries.
pub(crate) struct Store {
    directory: PathBuf,
    build: String,
    told: Mutex<Vec<Notice>>,
    wrote: AtomicBool,
}

impl Store {
    pub fn open(directory: &Path, build: &str) -> Store {
        let (directory, build) = (directory.to_path_buf(), build.to_string());
        Store { directory, build, told: Mutex::default(), wrote: AtomicBool::new(false) }
    }

    /// What is kept under a key.
    pub fn read<T: DeserializeOwned>(&self, kind: Kind, key: u128) -> Option<T> {
        let path = self.path(kind, key);
        match self.try_to_read(kind, key, &path) {
            Ok(found) => {
                // Whoever can't say that it is in use finds it as long as it is new.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Some(found)
            }
            Err(Unreadable::Absent | Unreadable::OtherBuild) => None,
            Err(Unreadable::Wrong(why)) => {
                self.tell(Notice::NotOfCache { file: path, why });
                None
            }
        }
    }

    fn try_to_read<T: DeserializeOwned>(&self, kind: Kind, key: u128, path: &Path) -> Result<T, Unreadable> {
        let wrong = |why: &str| Unreadable::Wrong(why.to_string());
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unreadable::Absent),
            Err(error) => return Err(Unreadable::Wrong(error.to_string())),
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| wrong("it is no entry"))?;
        let head: Head = serde_json::from_slice(&bytes[..end]).map_err(|_| wrong("it is no entry"))?;
        let body = &bytes[end + 1..];
        if head.format != FORMAT || head.kind != kind || head.key != key_text(key) {
            return Err(wrong("it is another entry than its name says"));
        }
        if head.build != self.build {
            return Err(Unreadable::OtherBuild);
        }
        if head.length != body.len() as u64 {
            return Err(wrong("it is truncated"));
        }
        if head.hash != hash_text(body) {
            return Err(wrong("it is damaged"));
        }
        serde_json::from_slice(body).map_err(|error| Unreadable::Wrong(error.to_string()))
    }

    /// Keeps something under a key. That nothing can be kept is told once.
    pub fn write(&self, kind: Kind, key: u128, function: &str, entry: &impl Serialize) {
        if let Err(error) = self.try_to_write(kind, key, function, entry) {
            self.tell(Notice::CacheNotWritten { directory: self.directory.clone(), why: error.to_string() });
        }
    }

    fn try_to_write(&self, kind: Kind, key: u128, function: &str, entry: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_vec(entry).map_err(io::Error::other)?;
        let head = Head {
            format: FORMAT.to_string(),
            kind,
            key: key_text(key),
            build: self.build.clone(),
            function: function.to_string(),
            length: body.len() as u64,
            hash: hash_text(&body),
        };
        let mut bytes = serde_json::to_vec(&head).map_err(io::Error::other)?;
        bytes.push(b'\n');
        bytes.extend(body);
        let path = self.path(kind, key);
        let folder = self.directory.join(kind.folder());
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        write_atomically(&path, &bytes)?;
        self.wrote.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn path(&self, kind: Kind, key: u128) -> PathBuf {
        self.directory.join(kind.folder()).join(key_text(key))
    }

    fn tell(&self, notice: Notice) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if !told.contains(&notice) {
            told.push(notice);
        }
    }

    /// What was not as it should be.
    pub fn notices(&self) -> Vec<Notice> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.wrote.load(Ordering::Relaxed) {
            // What could not be removed is still right.
            let _ = remove_oldest(&self.directory, MOST_BYTES);
        }
    }
}

/// Why there is nothing.
enum Unreadable {
    Absent,
    /// Another Touchstone wrote it, and may have known less.
    OtherBuild,
    Wrong(String),
}

fn key_text(key: u128) -> String {
    format!("{key:032x}")
}

fn hash_text(bytes: &[u8]) -> String {
    let mut hasher = WideHasher::default();
    hasher.write(bytes);
    key_text(hasher.wide())
}

/// A file of a cache.
struct Found {
    path: PathBuf,
    kind: Kind,
    bytes: u64,
    used: SystemTime,
}

/// All entries, by their names: other files are not ours.
fn entries(directory: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let files = match std::fs::read_dir(directory.join(kind.folder())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            files => files?,
        };
        for file in files {
            let file = file?;
            let name = file.file_name();
            let is_key = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Somebody else may be removing it.
            let Ok(data) = file.metadata() else { continue };
            if name.to_str().is_some_and(is_key) && data.is_file() {
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(Found { path: file.path(), kind, bytes: data.len(), used });
            }
        }
    }
    Ok(found)
}

fn remove_oldest(directory: &Path, most: u64) -> io::Result<()> {
    let mut all = entries(directory)?;
    let mut bytes: u64 = all.iter().map(|entry| entry.bytes).sum();
    all.sort_by_key(|entry| entry.used);
    for entry in all {
        if bytes <= most {
            break;
        }
        std::fs::remove_file(&entry.path)?;
        bytes -= entry.bytes;
    }
    Ok(())
}

/// What a cache holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CacheSummary {
    /// Entries with verdicts and tests.
    pub verdicts: usize,
    /// Entries that say what a replay said.
    pub replays: usize,
    /// All their bytes.
    pub bytes: u64,
    /// Of the entries with verdicts: how many are for each function, by its name.
    pub functions: BTreeMap<String, usize>,
    /// Files that are no entries, though they are called so.
    pub unreadable: usize,
}

/// What is in a cache. A directory that is not there has nothing.
pub fn summarize_cache(directory: &Path) -> io::Result<CacheSummary> {
    let mut summary = CacheSummary::default();
    for entry in entries(directory)? {
        summary.bytes += entry.bytes;
        let mut line = String::new();
        let read = File::open(&entry.path).and_then(|file| BufReader::new(file).read_line(&mut line));
        let head = read.ok().and_then(|_| serde_json::from_str::<Head>(&line).ok());
        match (entry.kind, head.filter(|head| head.format == FORMAT)) {
            (_, None) => summary.unreadable += 1,
            (Kind::Replays, Some(_)) => summary.replays += 1,
            (Kind::Verdicts, Some(head)) => {
                summary.verdicts += 1;
                *summary.functions.entry(head.function).or_default() += 1;
            }
        }
    }
    Ok(summary)
}

/// Removes all entries of a cache, and nothing else; how many there were.
pub fn clear_cache(directory: &Path) -> io::Result<usize> {
    let mut removed = 0;
    for entry in entries(directory)? {
        match std::fs::remove_file(&entry.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => removed += 1,
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let scratch = tempfile::tempdir().expect("a directory");
        let store = Store::open(scratch.path(), "this");
        for key in 1..=4 {
            store.write(Kind::Verdicts, key, "f", &"x".repeat(1000));
            let file = File::options().append(true).open(store.path(Kind::Verdicts, key)).expect("written");
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(key as u64)).expect("its own");
        }
        assert!(store.read::<String>(Kind::Verdicts, 1).is_some(), "and by that it is the newest");
        remove_oldest(scratch.path(), 2600).expect("removed");
        let there = |key| store.read::<String>(Kind::Verdicts, key).is_some();
        assert_eq!([1, 2, 3, 4].map(there), [true, false, false, true]);
    }

    #[test]
    fn truncated_damaged_and_foreign_files_are_told_and_other_builds_are_not() {
        let scratch = tempfile::tempdir().expect("a directory");
        let told = |change: &dyn Fn(&mut Vec<u8>), build: &str| {
            Store::open(scratch.path(), "this").write(Kind::Replays, 7, "f", &[1, 2, 3]);
            let store = Store::open(scratch.path(), build);
            let path = store.path(Kind::Replays, 7);
            let mut bytes = std::fs::read(&path).expect("written");
            change(&mut bytes);
            std::fs::write(&path, bytes).expect("written");
            (store.read::<Vec<u32>>(Kind::Replays, 7), store.notices().len())
        };
        assert_eq!(told(&|_| {}, "this"), (Some(vec![1, 2, 3]), 0));
        assert_eq!(told(&|_| {}, "that"), (None, 0));
        assert_eq!(told(&|bytes| bytes.truncate(bytes.len() - 1), "this"), (None, 1));
        assert_eq!(told(&|bytes| bytes.truncate(9), "this"), (None, 1));
        assert_eq!(told(&|bytes| bytes.clear(), "this"), (None, 1));
        assert_eq!(told(&|bytes| *bytes.last_mut().expect("some") = b'}', "this"), (None, 1));
        assert_eq!(told(&|bytes| *bytes = b"#!/bin/sh\n".to_vec(), "this"), (None, 1));
    }

    #[test]
    fn only_entries_are_cleared() {
        let scratch = tempfile::tempdir().expect("a directory");
        let store = Store::open(scratch.path(), "this");
        store.write(Kind::Verdicts, 1, "f", &1);
        store.write(Kind::Replays, 1, "f", &1);
        let other = scratch.path().join("verdicts/notes.txt");
        std::fs::write(&other, "mine").expect("written");
        let summary = summarize_cache(scratch.path()).expect("readable");
        assert_eq!((summary.verdicts, summary.replays, summary.functions.get("f")), (1, 1, Some(&1)));
        assert_eq!(clear_cache(scratch.path()).expect("cleared"), 2);
        assert!(other.exists());
        assert_eq!(summarize_cache(scratch.path()).expect("readable"), CacheSummary::default());
        assert_eq!(clear_cache(&scratch.path().join("none")).expect("nothing there"), 0);
    }
}
