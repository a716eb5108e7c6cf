//! The output directory: written as the run goes, locked against a second run.

use anyhow::{Context, Result, bail};
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

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
