//! Files of a measurement: new ones for what is hit, and classes as they were loaded.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Who a process is.
#[derive(Clone, Debug)]
pub struct Process {
    /// The test that it is, if somebody said so.
    pub test: Option<OsString>,
    /// What it runs, as the JVM says it.
    pub command: String,
}

/// The name of a process's test, and its command line, each with room for so many bytes and a zero behind them.
pub(crate) fn words_of(process: &Process, for_test: usize, for_command: usize) -> (Vec<u8>, Vec<u8>) {
    let mut test = process.test.as_ref().map(|test| test.as_encoded_bytes().to_vec()).unwrap_or_default();
    test.truncate(for_test - 1);
    let words = std::iter::once("java").chain(process.command.split_whitespace());
    let mut words: Vec<u8> = words.flat_map(|word| word.bytes().chain([0])).collect();
    words.truncate(for_command - 2);
    (test, words)
}

/// A file that nobody else has.
pub fn fresh(directory: &Path, extension: &str) -> Option<(File, PathBuf)> {
    (0..100).find_map(|number| {
        let path = directory.join(format!("{}-{}-{number}.{extension}", std::process::id(), nanoseconds()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(&path).ok()?;
        // Whoever measures reads it, whatever mask the program has.
        let _ = file.set_permissions(std::fs::Permissions::from_mode(0o666));
        Some((file, path))
    })
}

fn nanoseconds() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Where classes that have probes are kept, each as it was loaded, and where it came from.
pub struct Units {
    directory: PathBuf,
    /// Where classes came from, in the order in which they did; and how many of these are written.
    sources: Vec<String>,
    written: Option<(PathBuf, usize)>,
}

impl Units {
    /// In a directory.
    pub fn new(directory: PathBuf, class_path: &str) -> Units {
        let places = class_path.split(':').filter(|place| !place.is_empty());
        // The program may be somewhere else later, and so may be who reads this.
        let whole = places.filter_map(|place| Some(std::path::absolute(place).ok()?.to_string_lossy().into_owned()));
        Units { directory, sources: whole.collect(), written: None }
    }

    /// Where they are kept.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where classes came from so far, and the class path.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// A class came from a place: others may be needed from there.
    pub fn met(&mut self, place: &str) {
        if !self.sources.iter().any(|known| known == place) {
            self.sources.push(place.to_string());
            if self.written.is_some() {
                self.write_sources();
            }
        }
    }

    /// Keeps a class; whether that worked.
    pub fn keep(&mut self, unit: u64, bytes: &[u8], place: &str) -> bool {
        if self.written.is_none() {
            let path = self.directory.join(format!("{}-{}.path", std::process::id(), nanoseconds()));
            self.written = Some((path, 0));
            self.write_sources();
        }
        let name = |extension: &str| self.directory.join(format!("{unit:016x}.{extension}"));
        name("class").is_file()
            || (whole(&name("loaded"), place.as_bytes()).is_some() && whole(&name("class"), bytes).is_some())
    }

    /// Only what helps to compile sources again is in it; so it is no loss if it can't be written.
    fn write_sources(&mut self) {
        if let Some((path, written)) = &mut self.written
            && *written < self.sources.len()
            && whole(path, (self.sources.join("\n") + "\n").as_bytes()).is_some()
        {
            *written = self.sources.len();
        }
    }
}

/// Writes a file as a whole, or not at all.
fn whole(path: &Path, bytes: &[u8]) -> Option<()> {
    let name = path.file_name()?.to_string_lossy();
    let temporary = path.with_file_name(format!(".tmp{}-{}-{name}", std::process::id(), nanoseconds()));
    let done = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    done.ok()
}
