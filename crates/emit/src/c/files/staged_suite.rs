//! Staged suites: a suite that replaces an older one is written to hidden files beside it, and takes its place when its
//! function is finished. A run that is interrupted or killed before leaves the older suite as it was.
//!
//! The hidden files are in the same directory, because suites include sources by relative paths. A file whose text does
//! not change is not written again.

use crate::EmitError;
use crate::c::files::edited_suites::{RetainedSuites, files, first_unedited_suite, remove_other_suites};
use crate::c::files::suite_file::{chunk_paths, refuse_foreign, remove_generated};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files to which the tests of a function are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SuiteDestination {
    /// The suite itself: there is no older one, and every test is on disk as soon as it is found.
    #[default]
    InPlace,
    /// Hidden files, until [`deliver_suite`] or [`discard_staged_suites`].
    Staged,
}

/// The beginning of the names of staged files.
pub(crate) const STAGED_PREFIX: &str = ".touchstone-staged-";

impl SuiteDestination {
    /// Returns the path to which a suite is written, given its final path.
    pub fn path_of(self, suite: &Path) -> PathBuf {
        match self {
            SuiteDestination::InPlace => suite.to_path_buf(),
            SuiteDestination::Staged => {
                let name = suite.file_name().unwrap_or_default().to_string_lossy();
                suite.with_file_name(format!("{STAGED_PREFIX}{name}"))
            }
        }
    }
}

/// Returns the final path of a file that may be staged.
pub(crate) fn delivered_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(name.strip_prefix(STAGED_PREFIX).unwrap_or(&name))
}

/// Puts the staged suite of a function in the place of its older one.
pub fn deliver_suite(dir: &Path, function: &str, retained: &RetainedSuites) -> Result<(), EmitError> {
    let suite = first_unedited_suite(dir, function, retained)?;
    let mut delivered = BTreeSet::new();
    for staged in chunk_paths(&SuiteDestination::Staged.path_of(&suite)).take_while(|path| path.exists()) {
        for file in [staged.clone(), staged.with_extension("cc")].into_iter().filter(|file| file.exists()) {
            let path = delivered_path(&file);
            refuse_foreign(&path)?;
            deliver_file(&file, &path)?;
            delivered.insert(path);
        }
    }
    for old in files(&suite).iter().filter(|file| !delivered.contains(*file)) {
        remove_generated(old)?;
    }
    remove_other_suites(dir, function, retained, &suite)
}

/// Renames a staged file, or removes it if the text is that of the existing file.
pub fn deliver_file(staged: &Path, path: &Path) -> Result<(), EmitError> {
    let is_equal = fs::read(path).is_ok_and(|old| fs::read(staged).is_ok_and(|new| old == new));
    match is_equal {
        true => fs::remove_file(staged),
        false => fs::rename(staged, path),
    }
    .map_err(EmitError::io(path))
}

/// Removes all staged files of a directory: those of interrupted functions, and those of a killed run. The caller must
/// hold the lock of the output directory.
pub fn discard_staged_suites(dir: &Path) -> Result<(), EmitError> {
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_staged = name.to_str().is_some_and(|name| name.starts_with(STAGED_PREFIX));
        if is_staged && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::remove_file(entry.path()).map_err(EmitError::io(&entry.path()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged_names_are_mapped_back_to_their_suites() {
        let suite = Path::new("out/test_f.c");
        let staged = SuiteDestination::Staged.path_of(suite);
        assert_eq!(staged, Path::new("out/.touchstone-staged-test_f.c"));
        assert_eq!(delivered_path(&staged), suite);
        assert_eq!(delivered_path(suite), suite);
        assert_eq!(SuiteDestination::InPlace.path_of(suite), suite);
    }
}
