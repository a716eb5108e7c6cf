//! Where a trial takes place: a scratch directory and the tool in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A scratch directory.
pub struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    pub fn new() -> Room {
        Room { folder: tempfile::tempdir().expect("a scratch directory") }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, contents).expect("writable");
        path
    }

    pub fn read(&self, name: &str) -> String {
        let path = self.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.current_dir(self.path()).args(words).env("NO_COLOR", "1");
        command
    }

    /// Runs the tool, which may fail but never panics, overflows its stack or dies of a signal.
    pub fn touchstone(&self, words: &[&str]) -> Output {
        let output = self.command(words).output().expect("touchstone runs");
        no_bug(words, &output);
        output
    }
}

/// The tool failed in no way that is a bug of ours.
pub fn no_bug(words: &[&str], output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    let broken = ["panicked", "overflowed its stack", "internal error"].iter().any(|word| said.contains(word));
    assert!(!broken && output.status.code().is_some(), "{words:?}: {:?}: {said}", output.status);
}
