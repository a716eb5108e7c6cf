//! Exit codes: an interface that scripts rely on.

use std::process::ExitCode;

/// The exit code of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Success.
    Done,
    /// Usage or input error.
    Usage,
    /// The coverage is below `--fail-under`.
    Below,
    /// Unknown objectives remain, and `--strict` is set.
    Unknowns,
    /// A replay disagreed with its prediction.
    Disagreed,
    /// The measured command failed.
    CommandFailed,
    /// An internal error.
    Internal,
    /// Ctrl-C or SIGTERM.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::Usage => 1,
            Exit::Below => 2,
            Exit::Unknowns => 3,
            Exit::Disagreed => 4,
            Exit::CommandFailed => 5,
            Exit::Internal => 70,
            Exit::Interrupted => 130,
        })
    }
}
