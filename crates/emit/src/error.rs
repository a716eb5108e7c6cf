//! What can go wrong while writing and replaying tests.

use crate::EmitLimitation;
use std::path::{Path, PathBuf};

/// Why tests could not be written or replayed.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file would be replaced or removed that we did not write.
    #[error("{path} was not written by Touchstone and would be replaced; choose another directory with -o")]
    NotOurs {
        /// Which file.
        path: PathBuf,
    },
    /// The function under test is in none of the files that are compiled.
    #[error("`{function}` is defined in {file}, which none of the given source files includes")]
    NoUnit {
        /// The function.
        function: String,
        /// The file that has it.
        file: String,
    },
    /// No `#include` line can name the file.
    #[error(
        "tests have to include {}, whose name no #include line can have: it has a quote, a line break or bytes that are \
         no UTF-8; rename the file, or give a link to it with another name",
        path.display()
    )]
    NotIncludable {
        /// The file.
        path: PathBuf,
    },
    /// A parameter has a type that C has no name for.
    #[error("the parameters of `{function}` can't be written: {why}")]
    NoParameterList {
        /// The function.
        function: String,
        /// Why.
        why: EmitLimitation,
    },
    /// The test has no place in Test-Comp's format.
    #[error(
        "a Test-Comp suite has only the inputs of a whole program that asks for them by __VERIFIER_nondet_…(); {why}\n  \
         help: leave out `--emit testcomp`, or test a program from its main by `--entry main`"
    )]
    NotTestComp {
        /// What is in the way.
        why: String,
    },
    /// The compiler could not be started.
    #[error("the C compiler `{cc}` can't be started ({source}); set CC to the compiler of this program")]
    NoCompiler {
        /// The compiler.
        cc: String,
        /// Why.
        source: std::io::Error,
    },
    /// A test file does not compile or link.
    #[error("the tests don't compile\n  command: {command}\n{stderr}")]
    DoesNotCompile {
        /// The command line.
        command: String,
        /// What the compiler said.
        stderr: String,
    },
    /// The compiled test program could not be started.
    #[error("the test program {program} can't be started: {source}")]
    CannotRun {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl EmitError {
    /// Attaches the path to an IO error.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> EmitError + '_ {
        move |source| EmitError::Io { path: path.to_path_buf(), source }
    }
}
