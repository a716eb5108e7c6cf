//! Exit codes: an interface that scripts rely on.

use std::process::ExitCode;

/// How a run of the tool ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Done and adequate.
    Done,
    /// Usage or input error.
    Usage,
    /// Less is covered than `--fail-under` asks for.
    Below,
    /// Unknowns remain, and `--strict` was given.
    Unknowns,
    /// The real program did something else than predicted.
    Disagreed,
    /// The command that was measured failed.
    CommandFailed,
    /// A bug of ours.
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
