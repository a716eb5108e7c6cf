//! Paths of source files: different paths may name the same file.

use std::path::{Path, PathBuf};

/// Returns the index of a file among the given ones.
pub(crate) fn index_of(files: &[PathBuf], path: &str) -> Option<usize> {
    files.iter().position(|given| same_file(given, Path::new(path)))
}

pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
