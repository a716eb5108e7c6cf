//! What users should know that is no error, as data. Who shows it decides how.

use std::fmt;
use std::path::PathBuf;

/// What users should know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The suite to begin from has the function, compiled otherwise.
    OtherVariant {
        /// Which function.
        function: String,
    },
    /// The suite to begin from does not have the function.
    NotMeasured {
        /// Which function.
        function: String,
    },
    /// There was no time to ask every test what it covers: some name only what they were found for.
    NotNamed {
        /// Whose tests.
        function: String,
        /// So many
        some: usize,
        /// of so many.
        all: usize,
    },
    /// What nothing kept the replay from.
    Unprotected {
        /// As a sentence.
        told: String,
    },
    /// A file that would be written was edited, or is somebody else's.
    FileStays {
        /// Which.
        file: PathBuf,
    },
    /// There is no test because there is no input.
    NothingAllowed {
        /// Which function.
        function: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::OtherVariant { function } => write!(
                f,
                "the suite was measured on another variant of `{function}`: give the macros of the build (-D, -I)"
            ),
            Notice::NotMeasured { function } => {
                write!(f, "the suite was not measured on `{function}`: its unit was not compiled then")
            }
            Notice::NotNamed { function, some, all } => {
                write!(f, "bound --timeout: {some} of {all} tests of `{function}` name only what they were found for")
            }
            Notice::Unprotected { told } => f.write_str(told),
            Notice::FileStays { file } => {
                write!(f, "{} was edited, or is not Touchstone's: it stays as it is", file.display())
            }
            Notice::NothingAllowed { function } => {
                write!(f, "no input of `{function}` is allowed: its precondition or ranges exclude everything")
            }
        }
    }
}
