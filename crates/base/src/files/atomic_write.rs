//! Files that are there as a whole or not at all, whatever kills the writer and however full the disk is.
//!
//! The text goes to a file of its own in the same directory, which then takes the name. Deliberately not here: waiting for the
//! disk (`fsync`). What is promised is about killed processes and full disks, not about power cuts. Files that grow as a run
//! goes (tests, one after the other) are not written this way: they are to be read before they end.
//!
//! Writes to output directories are confined: no symbolic link below the directory redirects them to files elsewhere. The
//! directory itself may be a link, because the user named it. Links that another process creates between the check and the
//! write are not noticed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The prefix and suffix of temporary files.
const BEGIN: &str = ".touchstone-";
const END: &str = ".part";

/// Writes a file atomically: a reader finds the old or the new contents, also if the write fails.
///
/// A symbolic link is kept, and its target is replaced. Special files (a terminal, a pipe) are written directly, and so
/// is a writable file in a directory that accepts no new files.
pub fn write_atomically(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let contents = contents.as_ref();
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(contents);
    }
    let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_path_buf() };
    let (part, mut file) = match begin(&target) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && old.is_some() => {
            return fs::write(&target, contents);
        }
        begun => begun?,
    };
    let written = file.write_all(contents).and_then(|()| match &old {
        Some(old) => file.set_permissions(old.permissions()),
        None => Ok(()),
    });
    drop(file);
    let written = written.and_then(|()| fs::rename(&part, &target));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// Fails if a symbolic link between `root` and `path`, or `path` itself, points out of `root`. Missing files are
/// accepted.
pub fn check_confined(root: &Path, path: &Path) -> io::Result<()> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let mut place = if below == path { PathBuf::new() } else { root.to_path_buf() };
    for component in below.components() {
        place.push(component);
        if !matches!(component, Component::Normal(_)) {
            continue;
        }
        if !std::fs::symlink_metadata(&place).is_ok_and(|meta| meta.is_symlink()) {
            continue;
        }
        let home = std::fs::canonicalize(if root.as_os_str().is_empty() { Path::new(".") } else { root })?;
        let resolved = std::fs::canonicalize(&place);
        if !resolved.as_ref().is_ok_and(|resolved| resolved.starts_with(&home)) {
            let target = resolved.or_else(|_| std::fs::read_link(&place))?;
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "{} is a symbolic link to {}, outside of {}; remove the link, or choose another output directory",
                    place.display(),
                    target.display(),
                    home.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Writes a file in `root` atomically, unless a symbolic link points out of `root`.
pub fn write_confined(root: &Path, path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    check_confined(root, path)?;
    write_atomically(path, contents)
}

/// Writes a file atomically, unless it is a symbolic link out of its directory.
pub fn write_beside(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    write_confined(path.parent().unwrap_or(Path::new("")), path, contents)
}

/// Deletes the temporary files of killed writers. The caller must hold the lock of the directory, because a live writer
/// may own one.
pub fn remove_partial_files(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with(BEGIN) && name.ends_with(END));
        if ours && entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// A new file beside the target. Its name has nothing of the target's, which may be as long as names can be.
fn begin(target: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let part = target.with_file_name(format!("{BEGIN}{}-{number}{END}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            // Left by a killed process that had our number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((part, made?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A directory that goes with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let path = std::env::temp_dir().join(format!("touchstone-whole-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a directory");
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("a directory");
            let mut names: Vec<_> =
                entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_replaced_and_nothing_else_stays() {
        let folder = Folder::new("replaced");
        let path = folder.0.join("a");
        write_atomically(&path, "old").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        write_atomically(&path, "new").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("read"), "new");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o640);
        assert_eq!(folder.names(), ["a"]);
    }

    #[test]
    fn a_link_stays_a_link() {
        let folder = Folder::new("link");
        write_atomically(&folder.0.join("a"), "old").expect("written");
        symlink("a", folder.0.join("b")).expect("a link");
        write_atomically(&folder.0.join("b"), "new").expect("written");
        assert_eq!(fs::read_to_string(folder.0.join("a")).expect("read"), "new");
        assert!(fs::symlink_metadata(folder.0.join("b")).expect("there").is_symlink());
    }

    #[test]
    fn a_name_may_be_as_long_as_names_can_be() {
        let folder = Folder::new("long");
        let path = folder.0.join("n".repeat(255));
        write_atomically(&path, "text").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("read"), "text");
    }

    #[test]
    fn devices_are_written_to_and_a_full_one_is_an_error() {
        write_atomically(Path::new("/dev/null"), "text").expect("taken");
        if Path::new("/dev/full").exists() {
            write_atomically(Path::new("/dev/full"), "text").expect_err("full");
        }
    }

    #[test]
    fn what_killed_writers_left_is_removed_and_nothing_else() {
        let folder = Folder::new("parts");
        for name in [".touchstone-1-0.part", ".touchstone-notes", "a.part", "b"] {
            fs::write(folder.0.join(name), "text").expect("written");
        }
        remove_partial_files(&folder.0).expect("removed");
        assert_eq!(folder.names(), [".touchstone-notes", "a.part", "b"]);
    }

    #[test]
    fn links_inside_are_followed_and_links_to_the_outside_are_errors() {
        let scratch = std::env::temp_dir().join(format!("touchstone-confined-{}", std::process::id()));
        let root = scratch.join("out");
        fs::create_dir_all(root.join("inside")).expect("a directory");
        fs::create_dir_all(scratch.join("elsewhere")).expect("a directory");
        fs::write(scratch.join("elsewhere/a"), "mine").expect("written");
        symlink("inside", root.join("near")).expect("a link");
        symlink("../elsewhere", root.join("far")).expect("a link");
        symlink("../elsewhere/a", root.join("a")).expect("a link");
        symlink("../elsewhere/new", root.join("dangling")).expect("a link");
        write_confined(&root, &root.join("near/b"), "text").expect("written");
        assert_eq!(fs::read_to_string(root.join("inside/b")).expect("there"), "text");
        for name in ["far/a", "far/new", "a", "dangling"] {
            let error = write_confined(&root, &root.join(name), "text").expect_err("refused").to_string();
            assert!(error.contains("symbolic link"), "{error}");
        }
        write_beside(&root.join("a"), "text").expect_err("refused");
        assert_eq!(fs::read_to_string(scratch.join("elsewhere/a")).expect("there"), "mine");
        assert_eq!(fs::read_dir(scratch.join("elsewhere")).expect("there").count(), 1);
        // The root itself may be a link.
        symlink("out", scratch.join("named")).expect("a link");
        write_confined(&scratch.join("named"), &scratch.join("named/c"), "text").expect("written");
        fs::remove_dir_all(&scratch).expect("removed");
    }
}
