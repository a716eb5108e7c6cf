//! Paths of source files: two spellings of one path are the same file.

use std::path::{Path, PathBuf};

/// The index of a file among those that are given.
pub(crate) fn index_of(files: &[PathBuf], path: &str) -> Option<usize> {
    files.iter().position(|given| same_file(given, Path::new(path)))
}

pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
