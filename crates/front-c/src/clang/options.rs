//! Options of the front end.

use crate::clang::dump::AstDump;
use std::path::PathBuf;
use touchstone_base::Deadline;

/// The options for reading C.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The clang to run. `None` selects `TOUCHSTONE_CLANG`, then `clang`, then the newest `clang-NN` (14 or later) on
    /// the path.
    pub clang: Option<PathBuf>,
    /// Compile flags given by the user.
    pub flags: Vec<String>,
    /// Files that replace others and are compiled with the flags of those: pairs of replacement and original.
    pub replacements: Vec<(PathBuf, PathBuf)>,
    /// A compile_commands.json, from which per-file flags come.
    pub compile_commands: Option<PathBuf>,
    /// The directory that contains `touchstone.h` and `klee/klee.h`, as written by
    /// [`write_headers`](crate::write_headers).
    pub include_dir: Option<PathBuf>,
    /// The parts of the environment that are inputs.
    pub environment_inputs: EnvironmentInputs,
    /// Specifications of external functions. Their helper functions are among the files.
    pub external_specs: Vec<ExternalSpec>,
    /// The compiler that translates the program in the end. clang then claims its version of GNU C, so that both select
    /// the same branch of `#if __GNUC__ >= 5`. `None` leaves clang's own version.
    pub compiler: Option<String>,
    /// The evaluation of `offsetof`.
    pub offsets: OffsetofMode,
    /// The treatment of functions of the C library.
    pub library: LibraryMode,
    /// The deadline for clang, which is killed when it passes.
    pub deadline: Deadline,
    /// The AST of the only file, if clang has already been run on it.
    pub dump: Option<AstDump>,
}

/// A specification of an external function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ExternalSpec {
    /// The name of the function.
    pub function: String,
    /// The possible outcomes of a call; case numbers start at 1.
    pub cases: Vec<SpecCase>,
}

/// One possible outcome of a call.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct SpecCase {
    /// The number of values that the case leaves unconstrained.
    pub chosen: usize,
    /// The objects that the case writes: globals first, then pointees of parameters.
    pub written: Vec<WriteTarget>,
    /// True if the call ends the program.
    pub fails: bool,
}

/// An object that a case writes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum WriteTarget {
    /// A global, by its name in the source.
    Global(String),
    /// The pointee of the parameter with this index.
    Object(usize),
    /// Any object reachable from the parameter with this index.
    Anything(usize),
}

/// Returns the name of a helper function that is compiled with the program.
pub fn helper_name(function: &str, what: &str) -> String {
    format!("{function}__touchstone_{what}")
}

/// The treatment of C library functions that the program calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LibraryMode {
    /// They get the bodies of their models, so that the program can be executed.
    #[default]
    Modelled,
    /// They stay declarations: the program is only analysed.
    Declared,
}

/// The evaluation of `offsetof`. clang's JSON does not contain its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OffsetofMode {
    /// A macro puts the address of the member next to the `offsetof`, so that the AST contains it. Only for text that
    /// is not preprocessed: macros shift source positions.
    #[default]
    Spelled,
    /// The source text is parsed.
    FromText,
    /// The source text is parsed; where that fails, the value is arbitrary. Only for text that is not executed.
    Guessed,
    /// Not evaluated, as in the text before preprocessing, where a macro hides the operands.
    Opaque,
}

/// The parts of a program's environment that are inputs. A run stops at a use of any other part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EnvironmentInputs {
    /// Results of external functions, of the clock and of random number generators.
    pub externals: bool,
    /// Results of functions that only a function pointer of the environment points to.
    pub callbacks: bool,
    /// Standard input, with its maximum number of bytes.
    pub stdin: Option<u32>,
    /// Environment variables, with their maximum number of characters.
    pub environment: Option<u32>,
    /// The contents of volatile objects, anew at every read.
    pub volatile: bool,
}
