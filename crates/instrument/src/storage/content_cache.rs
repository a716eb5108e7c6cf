//! What is kept by its content, so that it is made once: the runtime for a compiler, and units with their probes.
//!
//! A key is a hash of everything that the thing depends on. Whatever can't be read or written is made again.

use super::output_directory::create_output_directory;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// What was not used for so long is removed.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// A directory of things that are kept.
pub(crate) struct ContentCache {
    directory: PathBuf,
}

impl ContentCache {
    /// The directory of a measurement has one, and so has a user's cache.
    pub fn of(owner: &Path) -> ContentCache {
        ContentCache { directory: owner.join("kept") }
    }

    /// What is kept under a key.
    pub fn get(&self, key: u64) -> Option<String> {
        let path = self.path(key);
        let text = std::fs::read_to_string(&path).ok()?;
        if let Ok(file) = std::fs::File::options().append(true).open(&path) {
            // Its age is that of its last use; where it can't be set, it is removed earlier.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(text)
    }

    /// Keeps a text; a full disk is no reason to fail.
    pub fn put(&self, key: u64, text: &str) {
        let written = create_output_directory(&self.directory).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
            file.write_all(text.as_bytes())?;
            file.persist(self.path(key)).map(drop).map_err(|error| error.error)
        });
        drop(written);
    }

    fn path(&self, key: u64) -> PathBuf {
        self.directory.join(format!("{key:016x}.kept"))
    }
}

/// Removes what a measurement or a cache keeps and nobody has used for long.
pub fn prune_content_cache(owner: &Path) {
    let Ok(entries) = std::fs::read_dir(ContentCache::of(owner).directory) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let age = std::fs::metadata(&path).and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
        if path.extension().is_some_and(|extension| extension == "kept") && age.is_some_and(|age| age > UNUSED) {
            // What stays is only older than it must be.
            let _ = std::fs::remove_file(path);
        }
    }
}
