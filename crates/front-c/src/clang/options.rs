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
    /// Files that stand for others, and are compiled as those are: each with what it stands for.
    pub stand_for: Vec<(PathBuf, PathBuf)>,
    /// A compile_commands.json, from which per-file flags come.
    pub compile_commands: Option<PathBuf>,
    /// The directory that holds `touchstone.h` and `klee/klee.h`, as made by [`write_headers`](crate::write_headers).
    pub include_dir: Option<PathBuf>,
    /// What the program's surroundings may give it.
    pub surroundings: Surroundings,
    /// What is said of functions that nobody defines; the helpers for it are among the files.
    pub described: Vec<Described>,
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

/// What is said of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Described {
    /// Its name.
    pub function: String,
    /// What may happen, from 1 on.
    pub cases: Vec<DescribedCase>,
}

/// What happens in one case.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DescribedCase {
    /// Values that are left open.
    pub chosen: usize,
    /// What is written: globals first, then by parameters.
    pub written: Vec<Place>,
    /// The call ends the program.
    pub fails: bool,
}

/// Something that a case writes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A global, by its name in the source.
    Global(String),
    /// What the parameter with this index leads to.
    Object(usize),
    /// Anything behind the parameter with this index.
    Anything(usize),
}

/// The name of what is compiled beside the program.
pub fn helper(function: &str, what: &str) -> String {
    format!("{function}__touchstone_{what}")
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
