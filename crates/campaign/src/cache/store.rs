//! The files of a cache: one per entry, named by its key. The first line has kind, function, length and hash; the rest
//! is JSON.
//!
//! Entries are written atomically, so concurrent runs can share them. Truncated and foreign files are reported and
//! ignored. When the cache is too large, the least recently used entries are deleted.

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

/// The first word of every file; the number grows when the contents change their meaning.
const FORMAT: &str = "touchstone cache 1";

/// The maximum size of the cache, in bytes.
const MAX_CACHE_BYTES: u64 = 512 << 20;

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryKind {
    /// Verdicts and tests of a function.
    Verdicts,
    /// Replay results of a suite.
    Replays,
    /// Hits of the probes of a replay.
    Observed,
}

impl EntryKind {
    const ALL: [EntryKind; 3] = [EntryKind::Verdicts, EntryKind::Replays, EntryKind::Observed];

    /// Returns the directory of a kind.
    fn folder(self) -> &'static str {
        match self {
            EntryKind::Verdicts => "verdicts",
            EntryKind::Replays => "replays",
            EntryKind::Observed => "observed",
        }
    }
}

/// The first line of a file.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct EntryHeader {
    format: String,
    kind: EntryKind,
    key: String,
    /// The build that wrote it.
    build: String,
    /// The name of the function.
    function: String,
    /// The length of the rest in bytes, and its hash.
    length: u64,
    hash: String,
}

/// A directory of entries.
pub(crate) struct Store {
    directory: PathBuf,
    build: String,
    reported: Mutex<Vec<Notice>>,
    wrote: AtomicBool,
}

impl Store {
    pub fn open(directory: &Path, build: &str) -> Store {
        let (directory, build) = (directory.to_path_buf(), build.to_string());
        Store { directory, build, reported: Mutex::default(), wrote: AtomicBool::new(false) }
    }

    /// Returns the entry of a key.
    pub fn read<T: DeserializeOwned>(&self, kind: EntryKind, key: u128) -> Option<T> {
        let path = self.path(kind, key);
        match self.try_to_read(kind, key, &path) {
            Ok(found) => {
                // If the time of use cannot be recorded, the entry lives as long as a new one.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
                Some(found)
            }
            Err(Unreadable::Absent | Unreadable::OtherBuild) => None,
            Err(Unreadable::Wrong(why)) => {
                self.report_once(Notice::NotOfCache { file: path, why });
                None
            }
        }
    }

    fn try_to_read<T: DeserializeOwned>(&self, kind: EntryKind, key: u128, path: &Path) -> Result<T, Unreadable> {
        let wrong = |why: &str| Unreadable::Wrong(why.to_string());
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Unreadable::Absent),
            Err(error) => return Err(Unreadable::Wrong(error.to_string())),
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| wrong("it is no entry"))?;
        let head: EntryHeader = serde_json::from_slice(&bytes[..end]).map_err(|_| wrong("it is no entry"))?;
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

    /// Stores an entry. A failure is reported once.
    pub fn write(&self, kind: EntryKind, key: u128, function: &str, entry: &impl Serialize) {
        if let Err(error) = self.try_to_write(kind, key, function, entry) {
            self.report_once(Notice::CacheNotWritten { directory: self.directory.clone(), why: error.to_string() });
        }
    }

    fn try_to_write(&self, kind: EntryKind, key: u128, function: &str, entry: &impl Serialize) -> io::Result<()> {
        let body = serde_json::to_vec(entry).map_err(io::Error::other)?;
        let head = EntryHeader {
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

    fn path(&self, kind: EntryKind, key: u128) -> PathBuf {
        self.directory.join(kind.folder()).join(key_text(key))
    }

    fn report_once(&self, notice: Notice) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if !reported.contains(&notice) {
            reported.push(notice);
        }
    }

    /// Returns notices about damaged files.
    pub fn notices(&self) -> Vec<Notice> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.wrote.load(Ordering::Relaxed) {
            // Entries that could not be deleted are still valid.
            let _ = remove_oldest(&self.directory, MAX_CACHE_BYTES);
        }
    }
}

/// The reason why an entry is missing.
enum Unreadable {
    Absent,
    /// Another build wrote it, and may have been less capable.
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
struct CacheFile {
    path: PathBuf,
    kind: EntryKind,
    bytes: u64,
    used: SystemTime,
}

/// Returns all entries, recognised by name.
fn entries(directory: &Path) -> io::Result<Vec<CacheFile>> {
    let mut found = Vec::new();
    for kind in EntryKind::ALL {
        let files = match std::fs::read_dir(directory.join(kind.folder())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            files => files?,
        };
        for file in files {
            let file = file?;
            let name = file.file_name();
            let is_key = |name: &str| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            // Another process may be deleting it.
            let Ok(data) = file.metadata() else { continue };
            if name.to_str().is_some_and(is_key) && data.is_file() {
                let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(CacheFile { path: file.path(), kind, bytes: data.len(), used });
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

/// The contents of a cache.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CacheSummary {
    /// The number of entries with verdicts and tests.
    pub verdicts: usize,
    /// The number of entries with replay results.
    pub replays: usize,
    /// The size of all entries, in bytes.
    pub bytes: u64,
    /// The number of entries with verdicts, by function.
    pub functions: BTreeMap<String, usize>,
    /// The number of unreadable files with the name of an entry.
    pub unreadable: usize,
}

/// Summarises a cache. A missing directory is empty.
pub fn summarize_cache(directory: &Path) -> io::Result<CacheSummary> {
    let mut summary = CacheSummary::default();
    for entry in entries(directory)? {
        summary.bytes += entry.bytes;
        let mut line = String::new();
        let read = File::open(&entry.path).and_then(|file| BufReader::new(file).read_line(&mut line));
        let head = read.ok().and_then(|_| serde_json::from_str::<EntryHeader>(&line).ok());
        match (entry.kind, head.filter(|head| head.format == FORMAT)) {
            (_, None) => summary.unreadable += 1,
            (EntryKind::Replays, Some(_)) => summary.replays += 1,
            (EntryKind::Observed, Some(_)) => {}
            (EntryKind::Verdicts, Some(head)) => {
                summary.verdicts += 1;
                *summary.functions.entry(head.function).or_default() += 1;
            }
        }
    }
    Ok(summary)
}

/// Deletes all entries of a cache, and nothing else; returns their number.
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
            store.write(EntryKind::Verdicts, key, "f", &"x".repeat(1000));
            let file = File::options().append(true).open(store.path(EntryKind::Verdicts, key)).expect("written");
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(key as u64)).expect("its own");
        }
        assert!(store.read::<String>(EntryKind::Verdicts, 1).is_some(), "and by that it is the newest");
        remove_oldest(scratch.path(), 2600).expect("removed");
        let there = |key| store.read::<String>(EntryKind::Verdicts, key).is_some();
        assert_eq!([1, 2, 3, 4].map(there), [true, false, false, true]);
    }

    #[test]
    fn truncated_damaged_and_foreign_files_are_told_and_other_builds_are_not() {
        let scratch = tempfile::tempdir().expect("a directory");
        let reported = |change: &dyn Fn(&mut Vec<u8>), build: &str| {
            Store::open(scratch.path(), "this").write(EntryKind::Replays, 7, "f", &[1, 2, 3]);
            let store = Store::open(scratch.path(), build);
            let path = store.path(EntryKind::Replays, 7);
            let mut bytes = std::fs::read(&path).expect("written");
            change(&mut bytes);
            std::fs::write(&path, bytes).expect("written");
            (store.read::<Vec<u32>>(EntryKind::Replays, 7), store.notices().len())
        };
        assert_eq!(reported(&|_| {}, "this"), (Some(vec![1, 2, 3]), 0));
        assert_eq!(reported(&|_| {}, "that"), (None, 0));
        assert_eq!(reported(&|bytes| bytes.truncate(bytes.len() - 1), "this"), (None, 1));
        assert_eq!(reported(&|bytes| bytes.truncate(9), "this"), (None, 1));
        assert_eq!(reported(&|bytes| bytes.clear(), "this"), (None, 1));
        assert_eq!(reported(&|bytes| *bytes.last_mut().expect("some") = b'}', "this"), (None, 1));
        assert_eq!(reported(&|bytes| *bytes = b"#!/bin/sh\n".to_vec(), "this"), (None, 1));
    }

    #[test]
    fn only_entries_are_cleared() {
        let scratch = tempfile::tempdir().expect("a directory");
        let store = Store::open(scratch.path(), "this");
        store.write(EntryKind::Verdicts, 1, "f", &1);
        store.write(EntryKind::Replays, 1, "f", &1);
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
