//! The output directory: it is written during the run, locked against a second run, and files that Touchstone did not
//! write are never overwritten.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The document of `generate` and `prove`, and the figures of all their runs.
pub const CAMPAIGN: &str = "campaign.json";
/// The figures of all runs of `generate` and `prove`.
pub const CAMPAIGN_HISTORY: &str = "history.jsonl";
/// The document of `measure` and `merge`.
pub const MEASUREMENT: &str = "measurement.json";
/// The figures of all measurements.
pub const MEASUREMENT_HISTORY: &str = "measurement-history.jsonl";

/// Files that commands write, with their first bytes.
const OURS: [(&str, &str); 5] = [
    (CAMPAIGN, "{\n  \"schema_version\""),
    (MEASUREMENT, "{\n  \"schema_version\""),
    (CAMPAIGN_HISTORY, "{\"time\":"),
    (MEASUREMENT_HISTORY, "{\"time\":"),
    ("exclusions.json", "{\"excluded_paths\":"),
];

/// Errors of the output directory.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum OutDirError {
    #[error("can't make the output directory {}", path.display())]
    NotMade { path: PathBuf, source: std::io::Error },
    #[error("can't write {}", path.display())]
    NotWritable { path: PathBuf, source: std::io::Error },
    #[error("can't clean {}", path.display())]
    NotCleaned { path: PathBuf, source: std::io::Error },
    #[error("can't lock the output directory {}", path.display())]
    NotLocked { path: PathBuf, source: std::io::Error },
    #[error("another touchstone is writing to {}; wait for it, or choose another directory with -o", path.display())]
    Taken { path: PathBuf },
    #[error("{} was not written by touchstone and would be replaced; choose another directory with -o", path.display())]
    NotOurs { path: PathBuf },
}

/// An output directory that this process has locked.
#[derive(Debug)]
pub struct OutDir {
    path: PathBuf,
    lock: File,
}

impl Drop for OutDir {
    /// Unlocks explicitly: closing the file is not enough, because a process that is being spawned holds it, too.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl OutDir {
    /// Creates and locks the directory. The lock ends with the process.
    pub fn open(path: &Path) -> Result<OutDir, OutDirError> {
        let own = || path.to_path_buf();
        std::fs::create_dir_all(path).map_err(|source| OutDirError::NotMade { path: own(), source })?;
        let lock = path.join(".lock");
        touchstone_base::check_confined(path, &lock)
            .map_err(|source| OutDirError::NotWritable { path: lock.clone(), source })?;
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let file = file.map_err(|source| OutDirError::NotWritable { path: own(), source })?;
        match file.try_lock() {
            Ok(()) => {
                touchstone_base::remove_partial_files(path)
                    .map_err(|source| OutDirError::NotCleaned { path: own(), source })?;
                OURS.iter().try_for_each(|(name, begins)| check_file(path, &path.join(name), begins))?;
                Ok(OutDir { path: own(), lock: file })
            }
            Err(std::fs::TryLockError::WouldBlock) => Err(OutDirError::Taken { path: own() }),
            Err(std::fs::TryLockError::Error(source)) => Err(OutDirError::NotLocked { path: own(), source }),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns an error if a file exists that does not begin like one of ours, even if it is truncated, or if it is a
/// symbolic link out of the root.
pub(crate) fn check_file(root: &Path, path: &Path, begins: &str) -> Result<(), OutDirError> {
    touchstone_base::check_confined(root, path)
        .map_err(|source| OutDirError::NotWritable { path: path.to_path_buf(), source })?;
    let Ok(file) = File::open(path) else { return Ok(()) };
    let mut found = Vec::new();
    let read = file.take(begins.len() as u64).read_to_end(&mut found);
    match read.is_err() || !begins.as_bytes().starts_with(&found) {
        true => Err(OutDirError::NotOurs { path: path.to_path_buf() }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_held_by_one_at_a_time_and_foreign_files_in_it_are_never_replaced() {
        let scratch = tempfile::tempdir().expect("a directory");
        let held = OutDir::open(scratch.path()).expect("it is free");
        assert!(matches!(OutDir::open(scratch.path()), Err(OutDirError::Taken { .. })));
        drop(held);
        std::fs::write(scratch.path().join("campaign.json"), "{\n  \"sch").expect("written");
        OutDir::open(scratch.path()).expect("a torn file of ours is ours");
        std::fs::write(scratch.path().join("campaign.json"), "my notes").expect("written");
        assert!(matches!(OutDir::open(scratch.path()), Err(OutDirError::NotOurs { .. })));
    }
}
