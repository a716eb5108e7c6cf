//! Files of a measurement: unique files for hits and traces, and the classes as they were loaded.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The identity of a process.
#[derive(Clone, Debug)]
pub struct ProcessInfo {
    /// The name of the test that the process runs, if it was given.
    pub test: Option<OsString>,
    /// The command line, as the JVM reports it.
    pub command: String,
}

/// Returns the name of a process's test and its command line for the header of a file. They leave room for a terminating zero.
pub(crate) fn header_strings(process: &ProcessInfo, test_bytes: usize, command_bytes: usize) -> (Vec<u8>, Vec<u8>) {
    let mut test = process.test.as_ref().map(|test| test.as_encoded_bytes().to_vec()).unwrap_or_default();
    test.truncate(test_bytes - 1);
    let words = std::iter::once("java").chain(process.command.split_whitespace());
    let mut words: Vec<u8> = words.flat_map(|word| word.bytes().chain([0])).collect();
    words.truncate(command_bytes - 2);
    (test, words)
}

/// Creates a file with a unique name.
pub fn create_unique(directory: &Path, extension: &str) -> Option<(File, PathBuf)> {
    (0..100).find_map(|number| {
        let path = directory.join(format!("{}-{}-{number}.{extension}", std::process::id(), nanoseconds()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(&path).ok()?;
        // `touchstone measure` must be able to read it, whatever umask the program has.
        let _ = file.set_permissions(std::fs::Permissions::from_mode(0o666));
        Some((file, path))
    })
}

fn nanoseconds() -> u128 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// A class that gets probes.
pub struct StoredClass<'a> {
    /// The class without probes.
    pub bytes: &'a [u8],
    /// The class as the compiler made it, if other agents changed it.
    pub compiled: Option<&'a [u8]>,
    /// Its code source.
    pub source: &'a str,
}

/// The directory with the classes that have probes: each as it was loaded, and its code source.
pub struct UnitStore {
    directory: PathBuf,
    /// The class path and the code sources of classes, in the order in which they were first used.
    sources: Vec<String>,
    /// The jars of the class path with unread manifests.
    jars: Vec<PathBuf>,
    /// The class paths of annotation processors that were stored.
    processor_paths: Vec<Vec<PathBuf>>,
    /// The file with the sources, and how many of them it has.
    written: Option<(PathBuf, usize)>,
}

impl UnitStore {
    /// Uses a directory. `class_path` and `module_path` are those of the JVM.
    pub fn new(directory: PathBuf, class_path: &str, module_path: &str) -> UnitStore {
        let mut store =
            UnitStore { directory, sources: Vec::new(), jars: Vec::new(), processor_paths: Vec::new(), written: None };
        class_path.split(':').filter(|entry| !entry.is_empty()).for_each(|entry| store.add_entry(Path::new(entry)));
        for entry in module_path.split(':').filter(|entry| !entry.is_empty()) {
            store.add_entry(Path::new(entry));
            // It may be a directory of modules.
            let modules = std::fs::read_dir(entry).into_iter().flatten().flatten().map(|module| module.path());
            modules
                .filter(|module| module.extension().is_some_and(|kind| kind == "jar"))
                .for_each(|module| store.add_entry(&module));
        }
        store
    }

    /// Adds an entry of the class path. Class paths in the manifests of jars count as well.
    pub fn add_entry(&mut self, entry: &Path) {
        // The reader has another working directory, and the program may change its own.
        let Ok(path) = std::path::absolute(entry) else { return };
        let text = path.to_string_lossy().into_owned();
        if !self.sources.contains(&text) {
            if path.is_file() {
                self.jars.push(path);
            }
            self.add_source(&text);
        }
    }

    /// Returns the jars of the class path with unread manifests. Build tools delete jars when the JVM ends.
    pub fn take_jars(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.jars)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The class path, and the code sources so far.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// Adds the code source of a class: other classes may be needed from there.
    pub fn add_source(&mut self, source: &str) {
        if !self.sources.iter().any(|known| known == source) {
            self.sources.push(source.to_string());
            if self.written.is_some() {
                self.write_sources();
            }
        }
    }

    /// Writes a class and its code source. Returns true if they are stored.
    pub fn store(&mut self, unit: u64, class: &StoredClass<'_>) -> bool {
        if self.written.is_none() {
            let path = self.directory.join(format!("{}-{}.path", std::process::id(), nanoseconds()));
            self.written = Some((path, 0));
            self.write_sources();
        }
        let name = |extension: &str| self.directory.join(format!("{unit:016x}.{extension}"));
        if name("class").is_file() {
            return true;
        }
        if let Some(compiled) = class.compiled
            && write_atomically(&name("compiled"), compiled).is_none()
        {
            return false;
        }
        write_atomically(&name("loaded"), class.source.as_bytes()).is_some()
            && write_atomically(&name("class"), class.bytes).is_some()
    }

    /// Writes the class path of annotation processors. A failure is ignored: the file only helps to compile sources again.
    pub fn store_processors(&mut self, class_path: Vec<PathBuf>) {
        if !self.processor_paths.contains(&class_path) {
            let text: String = class_path.iter().map(|entry| format!("{}\n", entry.display())).collect();
            let path = self.directory.join(format!("{}-{}.processors", std::process::id(), nanoseconds()));
            write_atomically(&path, text.as_bytes());
            self.processor_paths.push(class_path);
        }
    }

    /// Writes the sources. A failure is ignored: the file only helps to compile sources again.
    fn write_sources(&mut self) {
        if let Some((path, written)) = &mut self.written
            && *written < self.sources.len()
            && write_atomically(path, (self.sources.join("\n") + "\n").as_bytes()).is_some()
        {
            *written = self.sources.len();
        }
    }
}

/// Writes a complete file or none, by renaming a temporary file.
fn write_atomically(path: &Path, bytes: &[u8]) -> Option<()> {
    let name = path.file_name()?.to_string_lossy();
    let temporary = path.with_file_name(format!(".tmp{}-{}-{name}", std::process::id(), nanoseconds()));
    let done = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if done.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    done.ok()
}
