//! An older version of the program: the same files below another directory.
//!
//! Deliberately not here: how a revision gets into a directory, and how the program is read (`program/old_program.rs`).

use std::path::{Path, PathBuf, absolute};

/// The location of an older version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OldVersion {
    /// The name that users know it by: a revision, a directory.
    pub name: String,
    /// Its directory.
    pub root: PathBuf,
    /// The directory of the new version that it is compared with.
    pub of: PathBuf,
}

impl OldVersion {
    /// Maps a path of the new version to the old one, or returns `None` if it does not exist there.
    pub(crate) fn was(&self, path: &Path) -> Option<PathBuf> {
        let inside = |path: PathBuf, root: PathBuf| Some(path.strip_prefix(root).ok()?.to_path_buf());
        let plain = absolute(path).ok().zip(absolute(&self.of).ok()).and_then(|(path, of)| inside(path, of));
        // The path may contain symbolic links.
        let real = || path.canonicalize().ok().zip(self.of.canonicalize().ok()).and_then(|(path, of)| inside(path, of));
        let was = self.root.join(plain.or_else(real)?);
        was.exists().then_some(was)
    }
}
