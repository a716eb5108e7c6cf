//! An older version of the program: the same files below another directory.
//!
//! Deliberately not here: how a revision gets into a directory, and how the program is read (`program/old_program.rs`).

use std::path::{Path, PathBuf, absolute};

/// Where an older version is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OldVersion {
    /// What people call it: a revision, a directory.
    pub name: String,
    /// Its directory.
    pub root: PathBuf,
    /// The directory of the new version that it is compared with.
    pub of: PathBuf,
}

impl OldVersion {
    /// Where a path of the new version is in the old one, if it is there.
    pub(crate) fn was(&self, path: &Path) -> Option<PathBuf> {
        let inside = |path: PathBuf, root: PathBuf| Some(path.strip_prefix(root).ok()?.to_path_buf());
        let plain = absolute(path).ok().zip(absolute(&self.of).ok()).and_then(|(path, of)| inside(path, of));
        // Links may stand on the way to it.
        let real = || path.canonicalize().ok().zip(self.of.canonicalize().ok()).and_then(|(path, of)| inside(path, of));
        let was = self.root.join(plain.or_else(real)?);
        was.exists().then_some(was)
    }
}
