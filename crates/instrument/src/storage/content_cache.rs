//! A content-addressed cache of generated text: the runtime for a compiler, and instrumented units.
//!
//! A key is a hash of everything that the text depends on. An entry that can't be read or written is generated again.

use super::output_directory::create_output_directory;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Entries that were not used for this long are deleted.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 3600);

/// A directory of cache entries.
pub(crate) struct ContentCache {
    directory: PathBuf,
}

impl ContentCache {
    /// The cache inside a measurement's directory, or inside the user's cache directory.
    pub fn of(owner: &Path) -> ContentCache {
        ContentCache { directory: owner.join("kept") }
    }

    /// Returns the entry of a key, and marks it as used.
    pub fn get(&self, key: u64) -> Option<String> {
        let path = self.path(key);
        let text = std::fs::read_to_string(&path).ok()?;
        if let Ok(file) = std::fs::File::options().append(true).open(&path) {
            // The modification time is the time of the last use. If it can't be set, the entry is deleted earlier.
            let _ = file.set_modified(SystemTime::now());
        }
        Some(text)
    }

    /// Stores an entry. Errors are ignored: a full disk must not fail the build.
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

/// Deletes the entries that were not used for a month from the cache inside `owner`.
pub fn prune_content_cache(owner: &Path) {
    let Ok(entries) = std::fs::read_dir(ContentCache::of(owner).directory) else { return };
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let age = std::fs::metadata(&path).and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
        if path.extension().is_some_and(|extension| extension == "kept") && age.is_some_and(|age| age > UNUSED) {
            // An entry that can't be deleted does no harm.
            let _ = std::fs::remove_file(path);
        }
    }
}
