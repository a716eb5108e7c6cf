//! The scratch directory of a trial, and the tool in it.

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

/// Repetitions of something that is worth more with more: few here, many in the long trial.
pub fn rounds(few: u64, many: u64) -> u64 {
    if std::env::var_os("TOUCHSTONE_LONG").is_some() { many } else { few }
}

/// Numbers that look random, the same in every run.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        let mut numbers = Numbers((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| {
            numbers.below(1);
        });
        numbers
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// Text with a few changes: bytes that are changed, left out, doubled or put elsewhere.
    pub fn mutated(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(text.len());
            let end = (at + 1 + self.below(12)).min(text.len());
            const ALIKE: &[u8] = b"+-*/%&|^<>0123456789";
            match self.below(10) {
                // Still C, as often as not.
                5.. => {
                    let alike = text.iter().skip(at).position(|byte| ALIKE.contains(byte));
                    if let Some(place) = alike {
                        text[at + place] = ALIKE[self.below(ALIKE.len())];
                    }
                }
                0 if at < text.len() => text[at] = self.below(256) as u8,
                1 => drop(text.drain(at..end)),
                2 => {
                    let piece = text[at..end].to_vec();
                    let to = self.below(text.len() + 1);
                    text.splice(to..to, piece);
                }
                3 => text.truncate(at),
                _ => {
                    let piece = *[&b"(("[..], b"}", b"\"", b"0x7fffffffffffffffffff", b"\xff", b"*", b"[-1]", b"\n"]
                        .get(self.below(8))
                        .unwrap_or(&&b";"[..]);
                    text.splice(at..at, piece.iter().copied());
                }
            }
        }
        text
    }
}
