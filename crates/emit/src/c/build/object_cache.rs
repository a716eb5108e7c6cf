//! A cache of compiled runtime files, which depend on nothing but the compiler and the sources that are embedded here.
//!
//! Entries are directories in the user's cache directory, named by a hash of the inputs. They may be removed at any
//! time. An entry lists the hashes of its files: one that is damaged or replaced is compiled again, never executed.
//! Without a cache directory, or if other users can write to it, the files are compiled in each run.

use std::fs::File;
use std::hash::Hasher;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use touchstone_base::{StableHasher, stable_hash, user_cache_dir};

/// The file of an entry that lists the hashes of the others.
const HASHES: &str = "hashes";
/// The number of entries that are always kept.
const MAX_ENTRIES: usize = 16;
/// The minimum age of an evicted entry: a run that still uses it has ended by then.
const MIN_EVICTION_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The directory of the entries in the user's cache directory.
const ROOT: &str = "touchstone/replay";

/// A cache entry.
pub(crate) struct ObjectCache {
    root: PathBuf,
    entry: PathBuf,
    user: u32,
}

impl ObjectCache {
    /// Returns the entry for what a compiler produces from these sources, or `None` if there is no cache. `owned` is a
    /// file or directory of the current user.
    pub(crate) fn new(cc: &str, texts: &[&str], owned: &Path) -> Option<ObjectCache> {
        let compiler = executable_path(cc)?.canonicalize().ok()?;
        let file = compiler.metadata().ok()?;
        let changed = file.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH).ok()?;
        let mut hash = StableHasher::default();
        hash.write(compiler.to_str()?.as_bytes());
        hash.write(&file.len().to_le_bytes());
        hash.write(&changed.as_nanos().to_le_bytes());
        texts.iter().for_each(|text| {
            hash.write(text.as_bytes());
            hash.write(&[0]);
        });
        let root = user_cache_dir()?.join(ROOT);
        let entry = root.join(format!("{:016x}", hash.finish()));
        Some(ObjectCache { root, entry, user: owned.metadata().ok()?.uid() })
    }

    /// Returns the directory of the entry, or `None` unless it contains all of the files as they were stored.
    pub(crate) fn find(&self, names: &[&str]) -> Option<&Path> {
        if !self.is_private() {
            return None;
        }
        let listed = std::fs::read_to_string(self.entry.join(HASHES)).ok()?;
        let is_stored = |name: &&str| hash_line(name, &self.entry.join(name)).is_ok_and(|line| listed.contains(&line));
        let found = names.iter().all(is_stored).then_some(self.entry.as_path())?;
        // The modification time marks the last use. If it cannot be set, the entry ages from its creation on.
        let _ = File::open(found).and_then(|dir| dir.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Stores files for later runs. Errors are ignored: the cache only saves time.
    pub(crate) fn store(&self, files: &[(&str, &Path)]) {
        let _ = self.try_store(files);
    }

    fn try_store(&self, files: &[(&str, &Path)]) -> std::io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.root)?;
        if !self.is_private() {
            return Ok(());
        }
        self.evict_unused()?;
        // A rename publishes the entry atomically, also if another run stores it concurrently.
        let dir = tempfile::tempdir_in(&self.root)?;
        let mut hashes = String::new();
        for (name, file) in files {
            std::fs::copy(file, dir.path().join(name))?;
            hashes += &hash_line(name, file)?;
        }
        std::fs::write(dir.path().join(HASHES), hashes)?;
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        if self.entry.exists() && self.find(&names).is_none() {
            std::fs::remove_dir_all(&self.entry)?;
        }
        std::fs::rename(dir.path(), &self.entry)
    }

    /// Returns true if no other user can write to the cache.
    fn is_private(&self) -> bool {
        self.root.metadata().is_ok_and(|dir| dir.is_dir() && dir.uid() == self.user && dir.mode() & 0o022 == 0)
    }

    fn evict_unused(&self) -> std::io::Result<()> {
        let mut known: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in std::fs::read_dir(&self.root)? {
            let entry = entry?;
            known.push((entry.metadata()?.modified()?, entry.path()));
        }
        known.sort();
        known.truncate(known.len().saturating_sub(MAX_ENTRIES - 1));
        let unused = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > MIN_EVICTION_AGE);
        known.iter().filter(|(time, _)| unused(time)).try_for_each(|(_, path)| std::fs::remove_dir_all(path))
    }
}

/// Returns the line of a file in the list of hashes.
fn hash_line(name: &str, file: &Path) -> std::io::Result<String> {
    Ok(format!("{:016x} {name}\n", stable_hash(&std::fs::read(file)?)))
}

/// Removes the compiled runtime files of all compilers. Returns the number of removed entries.
pub fn clear_compiled_runtime() -> std::io::Result<usize> {
    let Some(root) = user_cache_dir().map(|cache| cache.join(ROOT)).filter(|root| root.is_dir()) else { return Ok(0) };
    let entries = std::fs::read_dir(&root)?.count();
    std::fs::remove_dir_all(&root)?;
    Ok(entries)
}

/// Returns the executable that a command starts.
pub(crate) fn executable_path(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(cache: &Path, cc: &Path, text: &str) -> ObjectCache {
        let made = ObjectCache::new(cc.to_str().expect("a name"), &[text], cache).expect("a place");
        let root = cache.join("touchstone/replay");
        ObjectCache { entry: root.join(made.entry.file_name().expect("a name")), root, user: made.user }
    }

    #[test]
    fn files_are_found_again_by_what_they_were_made_of() {
        let cache = tempfile::tempdir().expect("a directory");
        let (cc, object) = (cache.path().join("cc"), cache.path().join("a.o"));
        std::fs::write(&cc, "compiler").expect("a written file");
        std::fs::write(&object, "object").expect("a written file");
        let place = self::cache(cache.path(), &cc, "text");
        assert!(place.find(&["a.o"]).is_none());
        place.store(&[("a.o", &object)]);
        place.store(&[("a.o", &object)]);
        let found = place.find(&["a.o"]).expect("a kept file").join("a.o");
        assert_eq!(std::fs::read_to_string(found).expect("readable"), "object");
        assert!(place.find(&["a.o", "b.o"]).is_none());
        // A damaged file is not used, and the next run replaces it.
        std::fs::write(place.entry.join("a.o"), "objekt").expect("a written file");
        assert!(place.find(&["a.o"]).is_none());
        place.store(&[("a.o", &object)]);
        assert!(place.find(&["a.o"]).is_some());
        assert!(self::cache(cache.path(), &cc, "other text").find(&["a.o"]).is_none());
        std::fs::write(&cc, "another compiler").expect("a written file");
        assert!(self::cache(cache.path(), &cc, "text").find(&["a.o"]).is_none());
    }

    #[test]
    fn what_others_could_have_written_is_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let cache = tempfile::tempdir().expect("a directory");
        let file = cache.path().join("cc");
        std::fs::write(&file, "compiler").expect("a written file");
        let place = self::cache(cache.path(), &file, "text");
        place.store(&[("a.o", &file)]);
        assert!(place.find(&["a.o"]).is_some());
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(cache.path().join("touchstone/replay"), open).expect("changed");
        assert!(place.find(&["a.o"]).is_none());
    }

    #[test]
    fn old_files_go() {
        let cache = tempfile::tempdir().expect("a directory");
        let file = cache.path().join("cc");
        std::fs::write(&file, "compiler").expect("a written file");
        let count = || std::fs::read_dir(cache.path().join("touchstone/replay")).expect("a directory").count();
        let place = |number: usize| self::cache(cache.path(), &file, &number.to_string());
        for number in 0..MAX_ENTRIES + 4 {
            place(number).store(&[("a.o", &file)]);
        }
        assert_eq!(count(), MAX_ENTRIES + 4, "another process may be using them");
        for number in 0..MAX_ENTRIES + 4 {
            let long_ago = SystemTime::now() - 2 * MIN_EVICTION_AGE;
            File::open(&place(number).entry).and_then(|dir| dir.set_modified(long_ago)).expect("our directory");
        }
        assert!(place(1).find(&["a.o"]).is_some());
        place(MAX_ENTRIES + 4).store(&[("a.o", &file)]);
        assert_eq!(count(), MAX_ENTRIES);
        assert!(place(1).find(&["a.o"]).is_some(), "it was used just now");
        assert!(place(MAX_ENTRIES + 4).find(&["a.o"]).is_some());
    }
}
