//! How C is to be read, as whoever calls says it.

use crate::clang::dump::Dump;
use std::path::PathBuf;
use touchstone_base::Deadline;

/// How to read C.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The clang to use; `None`: `TOUCHSTONE_CLANG`, then `clang`, then the newest `clang-NN` (14 or later) on the path.
    pub clang: Option<PathBuf>,
    /// Compile flags given by the user.
    pub flags: Vec<String>,
    /// A compile_commands.json, from which per-file flags come.
    pub compile_commands: Option<PathBuf>,
    /// The directory that holds `touchstone.h` and `klee/klee.h`, as made by [`write_headers`](crate::write_headers).
    pub include_dir: Option<PathBuf>,
    /// What the program's surroundings may give it.
    pub surroundings: Surroundings,
    /// The compiler that translates the program in the end: clang then claims its version of GNU C, so that both see the
    /// same side of `#if __GNUC__ >= 5`. `None`: as clang does by itself.
    pub compiler: Option<String>,
    /// How `offsetof` is understood.
    pub offsets: Offsets,
    /// Whether the C library's functions get bodies.
    pub library: Library,
    /// When clang has to be done; it is ended then.
    pub deadline: Deadline,
    /// What clang says of the one file that is lowered, if it was asked already.
    pub dump: Option<Dump>,
}

/// What becomes of functions of the C library that the program calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Library {
    /// They have bodies: the program can be executed.
    #[default]
    Modelled,
    /// They stay declared: the program is only looked at, and need not be read with its library.
    Declared,
}

/// How `offsetof` is understood. clang's JSON does not say of what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Offsets {
    /// clang sees the address of the member beside it, in a macro. For text that was not preprocessed: macros move places.
    #[default]
    Spelled,
    /// From its text.
    FromText,
    /// From its text, and some value where that says nothing. For text that is only looked at.
    Guessed,
    /// Not at all: as whoever reads the text before the preprocessor, where a macro hides it.
    Opaque,
}

/// What of a program's surroundings is an input. What isn't stops whoever asks for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// What functions return that nobody defines; and time and chance.
    pub externals: bool,
    /// What functions return that the program does not have, where a pointer leads to one.
    pub callbacks: bool,
    /// Standard input, of at most so many bytes.
    pub stdin: Option<u32>,
    /// Variables of the environment, of at most so many characters.
    pub environment: Option<u32>,
    /// What volatile objects hold, at every read anew.
    pub volatile: bool,
}
