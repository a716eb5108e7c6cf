//! The output directory: written as the run goes, locked against a second run, and nobody else's.

use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Files that every verb writes, and how they begin.
const OURS: [(&str, &str); 2] = [("campaign.json", "{\n  \"schema_version\""), ("history.jsonl", "{\"time\":")];

/// An output directory that this process holds.
pub struct OutDir {
    path: PathBuf,
    _lock: File,
}

impl OutDir {
    /// Makes and locks the directory. The lock goes with the process, however it ends.
    pub fn open(path: &Path) -> Result<OutDir> {
        std::fs::create_dir_all(path).with_context(|| format!("can't make the output directory {}", path.display()))?;
        let lock = path.join(".lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let file = file.with_context(|| format!("can't write to the output directory {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {
                touchstone_base::remove_parts(path).with_context(|| format!("can't clean {}", path.display()))?;
                OURS.iter().try_for_each(|(name, begins)| check_file(&path.join(name), begins))?;
                Ok(OutDir { path: path.to_path_buf(), _lock: file })
            }
            Err(std::fs::TryLockError::WouldBlock) => bail!(
                "another touchstone is writing to {}; wait for it, or choose another directory with -o",
                path.display()
            ),
            Err(std::fs::TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("can't lock the output directory {}", path.display()))
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Refuses to replace a file that does not begin like one of ours, however torn it may be.
pub fn check_file(path: &Path, begins: &str) -> Result<()> {
    let Ok(file) = File::open(path) else { return Ok(()) };
    let mut found = Vec::new();
    let read = file.take(begins.len() as u64).read_to_end(&mut found);
    if read.is_err() || !begins.as_bytes().starts_with(&found) {
        bail!(
            "{} was not written by touchstone and would be replaced; choose another directory with -o",
            path.display()
        );
    }
    Ok(())
}
