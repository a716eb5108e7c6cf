//! Names of the files of a suite, and the signature by which files that Touchstone wrote are recognised.

use crate::EmitError;
use crate::c::files::checksum::{ChecksummedFile, FileOwnership, FileSignature, checksum_line};
use crate::c::files::staged_suite::delivered_path;
use crate::c::syntax::names::source_name;
use crate::c::text::form::CTestForm;
use std::fs;
use std::path::{Path, PathBuf};

/// The beginning of a test file, from its first byte on.
pub(crate) const SUITE_START: &str = "/* Tests of ";
/// The beginning of a file that registers tests.
const REGISTRY_START: &str = "/* Registers the tests of ";
/// The signature of generated suites. Older versions began a file without tests differently.
pub(crate) const SUITE_SIGNATURE: FileSignature = FileSignature {
    starts: &[SUITE_START, REGISTRY_START],
    marks: &["written by Touchstone", REGISTRY_START],
    empty: "/* No tests of ",
};

/// Fails if the file exists and was not generated: the user's directory may contain tests with names like ours.
pub(crate) fn refuse_foreign(path: &Path) -> Result<(), EmitError> {
    match SUITE_SIGNATURE.ownership(path)? {
        FileOwnership::Missing | FileOwnership::Generated => Ok(()),
        FileOwnership::Edited | FileOwnership::Foreign => Err(EmitError::NotOurs { path: path.to_path_buf() }),
    }
}

/// Removes a generated file, if it exists.
pub(crate) fn remove_generated(path: &Path) -> Result<(), EmitError> {
    refuse_foreign(path)?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(EmitError::io(path)(error)),
        _ => Ok(()),
    }
}

/// A placeholder in the prologue for the name of the file.
pub(crate) const FILE_NAME_MARK: &str = "\u{1}";
/// A placeholder in the prologue for the name of the file that registers the tests.
pub(crate) const REGISTRY_NAME_MARK: &str = "\u{2}";

pub(crate) fn begin_file(path: &Path, prologue: &str) -> Result<ChecksummedFile, EmitError> {
    refuse_foreign(path)?;
    let delivered = delivered_path(path);
    let name = delivered.file_name().unwrap_or_default().to_string_lossy();
    ChecksummedFile::create(
        path,
        &prologue.replace(FILE_NAME_MARK, &name).replace(REGISTRY_NAME_MARK, &format!("{name}c")),
    )
}

pub(crate) fn begin_registry(form: CTestForm, path: &Path) -> Result<Option<ChecksummedFile>, EmitError> {
    if form != CTestForm::Gtest {
        return Ok(None);
    }
    let delivered = delivered_path(path);
    let name = delivered.file_name().unwrap_or_default().to_string_lossy();
    let head = format!("{REGISTRY_START}{name}.\n{} */\n#include <gtest/gtest.h>\n", checksum_line());
    begin_file(&path.with_extension("cc"), &head).map(Some)
}

/// Returns the file name of a function's suite: `test_max3.c`. If several files define the name, that of the file is
/// added.
pub(crate) fn file_name(function: &str) -> String {
    let own = source_name(function);
    let rest: String = function[own.len()..]
        .chars()
        .enumerate()
        .map(|(index, char)| match char {
            _ if index == 0 => '.',
            char if char.is_ascii_alphanumeric() => char,
            _ => '_',
        })
        .collect();
    format!("test_{own}{rest}.c")
}

/// Returns the path of the `number`th file of a suite, counted from 1.
pub(crate) fn chunk_path(first: &Path, number: usize) -> PathBuf {
    if number == 1 { first.to_path_buf() } else { first.with_extension(format!("{number:03}.c")) }
}

/// Returns the paths of all files that a suite may have, in order.
pub(crate) fn chunk_paths(first: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    (1..).map(|number| chunk_path(first, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_different_functions_never_clash() {
        let check = |function: &str, expected: &str| assert_eq!(file_name(function), expected);
        check("max3", "test_max3.c");
        check("help@b.c", "test_help.b_c.c");
        check("help$2", "test_help.2.c");
        assert_eq!(chunk_path(Path::new("d/test_max3.c"), 1), Path::new("d/test_max3.c"));
        assert_eq!(chunk_path(Path::new("d/test_max3.c"), 2), Path::new("d/test_max3.002.c"));
    }
}
