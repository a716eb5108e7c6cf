//! Output directories of measurements.
//!
//! The user may name any directory, and its `units` or `hits` may hold the user's own files. So each output directory
//! contains a marker file. Nothing is written to or deleted from a directory without it, and only files with known
//! extensions are deleted from a directory with it.

use std::fs;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// The file that marks an output directory.
pub const MARKER: &str = ".touchstone";

const TEXT: &str = "Touchstone wrote this directory, and clears it for the next measurement.\n";

/// The extensions of the files that measurements write.
const EXTENSIONS: [&str; 13] = [
    "json",
    "hits",
    "state",
    "class",
    "loaded",
    "compiled",
    "path",
    "processors",
    "jstate",
    "jends",
    "source",
    "plan",
    "planned",
];

/// Creates an output directory. An existing directory must be empty or carry the marker.
pub fn create_output_directory(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    check_output_directory(directory)?;
    if !directory.join(MARKER).exists() {
        let mut marker = tempfile::NamedTempFile::new_in(directory)?;
        marker.write_all(TEXT.as_bytes())?;
        marker.persist(directory.join(MARKER)).map_err(|error| error.error)?;
    }
    Ok(())
}

/// Fails if a directory is neither empty nor marked. A missing directory is accepted.
pub fn check_output_directory(directory: &Path) -> Result<()> {
    if fs::symlink_metadata(directory).is_err() || directory.join(MARKER).is_file() {
        return Ok(());
    }
    let mut entries = fs::read_dir(directory)?.filter_map(|entry| entry.ok());
    // Several compilers may create the directory concurrently: a marker that is still being written is ignored.
    match entries.find(|entry| !is_temporary(&entry.file_name().to_string_lossy())) {
        Some(_) if directory.join(MARKER).is_file() => Ok(()),
        Some(entry) => Err(Error::new(
            ErrorKind::AlreadyExists,
            format!("it was not written by touchstone (it holds {})", entry.file_name().to_string_lossy()),
        )),
        None => Ok(()),
    }
}

/// Deletes the files of earlier measurements from an output directory, and keeps all others.
pub fn clear_output_directory(directory: &Path) -> Result<()> {
    check_output_directory(directory)?;
    let Ok(entries) = fs::read_dir(directory) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let extension = Path::new(&name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let ours = EXTENSIONS.contains(&extension) || is_temporary(&name.to_string_lossy());
        if ours && entry.file_type()?.is_file() {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Returns true for the name of a temporary file.
fn is_temporary(name: &str) -> bool {
    name.starts_with(".tmp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_wrote_is_cleared() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let own = folder.path().join("units");
        create_output_directory(&own).expect("a new one is made");
        create_output_directory(&own).expect("and is ours");
        for name in ["1.json", "2.hits", "3.state", ".tmpabc", "notes.txt"] {
            fs::write(own.join(name), "x").expect("writable");
        }
        fs::create_dir(own.join("4.json")).expect("writable");
        clear_output_directory(&own).expect("ours");
        let mut left: Vec<_> =
            fs::read_dir(&own).expect("there").map(|entry| entry.expect("one").file_name()).collect();
        left.sort();
        assert_eq!(left, [".touchstone", "4.json", "notes.txt"]);
        clear_output_directory(&folder.path().join("nothing")).expect("nothing belongs to no other program");
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch directory");
        let theirs = folder.path().join("hits");
        fs::create_dir(&theirs).expect("writable");
        create_output_directory(&theirs).expect("an empty one belongs to no other program");
        fs::remove_file(theirs.join(MARKER)).expect("there");
        fs::write(theirs.join("song.hits"), "x").expect("writable");
        let said = clear_output_directory(&theirs).expect_err("theirs").to_string();
        assert!(said.contains("song.hits"), "{said}");
        assert!(create_output_directory(&theirs).is_err() && theirs.join("song.hits").is_file());
    }
}
