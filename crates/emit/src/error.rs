//! Errors of emission and replay.

use crate::EmitLimitation;
use std::path::{Path, PathBuf};

/// An error that prevents tests from being written or replayed.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A file that Touchstone did not write would be overwritten or removed.
    #[error("{path} was not written by Touchstone and would be overwritten; choose another directory with -o")]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// None of the compiled translation units contains the function under test.
    #[error("`{function}` is defined in {file}, which none of the given source files includes")]
    NoUnit {
        /// The function.
        function: String,
        /// The file that defines it.
        file: String,
    },
    /// No `#include` line can name the file.
    #[error(
        "tests must include {}, but no #include line can contain its name: it has a quote, a line break or bytes that are \
         not UTF-8; rename the file, or link to it under another name",
        path.display()
    )]
    NotIncludable {
        /// The file.
        path: PathBuf,
    },
    /// A parameter has a type that C has no name for.
    #[error("the parameters of `{function}` cannot be declared: {why}")]
    NoParameterList {
        /// The function.
        function: String,
        /// The limitation.
        why: EmitLimitation,
    },
    /// Test-Comp's format cannot express the test.
    #[error(
        "a Test-Comp suite contains only inputs that a whole program requests by __VERIFIER_nondet_…(); {why}\n  \
         help: leave out `--emit testcomp`, or test a program from its main by `--entry main`"
    )]
    NotTestComp {
        /// The obstacle.
        why: String,
    },
    /// The compiler could not be started.
    #[error("the C compiler `{cc}` cannot be started ({source}); set CC to the compiler of this program")]
    NoCompiler {
        /// The compiler.
        cc: String,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// A test file does not compile or link.
    #[error("the tests do not compile\n  command: {command}\n{stderr}")]
    DoesNotCompile {
        /// The command line.
        command: String,
        /// The output of the compiler.
        stderr: String,
    },
    /// No layer of the sandbox that protects files works on this machine, so no test runs.
    #[error("no sandbox works on this machine: the tests were not run; --unsafe-replay runs them without one")]
    NoSandbox,
    /// The compiled test program could not be started.
    #[error("the test program {program} cannot be started: {source}")]
    CannotRun {
        /// The program.
        program: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
}

impl EmitError {
    /// Returns a function that attaches the path to an I/O error.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> EmitError + '_ {
        move |source| EmitError::Io { path: path.to_path_buf(), source }
    }
}
