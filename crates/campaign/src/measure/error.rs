//! Errors of a measurement.

use crate::request::OutDirError;
use std::path::PathBuf;
use touchstone_criteria::{REGISTRY, STATE};
use touchstone_instrument::{MeasurementError, NothingCompiled, WrapperError};
use touchstone_report::BadExclusion;

/// An error of measuring, merging or showing a measurement.
#[derive(Debug, thiserror::Error)]
pub enum MeasuringError {
    /// State coverage is not supported by classes that were instrumented offline.
    #[error("state is followed by the agent only: `touchstone measure -c state -- COMMAND`")]
    StateOffline,
    /// The criterion does not exist, or has no probes.
    #[error("`{name}` can't be measured; criteria are {}", known())]
    Criterion {
        /// The requested name.
        name: String,
    },
    /// The output directory cannot be written to.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// A directory in it was not written by Touchstone.
    #[error("can't use {}: move it away, or choose another directory with -o", directory.display())]
    Foreign {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A directory cannot be cleared.
    #[error("can't clear {}", directory.display())]
    NotCleared {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A directory cannot be created.
    #[error("can't make {}", directory.display())]
    NotMade {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The command is missing.
    #[error("no command")]
    NoCommand,
    /// The compiler wrappers cannot be set up.
    #[error(transparent)]
    Wrappers(#[from] WrapperError),
    /// The command cannot be started.
    #[error("can't run {program}")]
    NotStarted {
        /// The executable.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The command was started, and its exit status is unknown.
    #[error("can't wait for {program}")]
    NotEnded {
        /// The executable.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// Nothing was compiled with probes.
    #[error(transparent)]
    Nothing(#[from] NothingCompiled),
    /// The data of probes cannot be read.
    #[error(transparent)]
    Read(#[from] MeasurementError),
    /// A directory is no measurement.
    #[error(
        "{} holds no measurement; name the directories that `touchstone measure -o` wrote",
        directory.display()
    )]
    NoMeasurement {
        /// The directory.
        directory: PathBuf,
    },
    /// A directory would be merged into itself.
    #[error("{} is read and written; say by -o where everything shall go", directory.display())]
    ReadAndWritten {
        /// The directory.
        directory: PathBuf,
    },
    /// A file of a measurement cannot be copied.
    #[error("can't copy {}", path.display())]
    NotCopied {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A measured source file cannot be read.
    #[error("can't read {}", path.display())]
    NotRead {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Classes have probes already.
    #[error("classes of {} have probes already: name those that the compiler made", tree.display())]
    ProbesAlready {
        /// The directory or jar.
        tree: PathBuf,
    },
    /// The directory for instrumented classes is not empty.
    #[error("{} is not empty: classes with probes go to a directory of their own", directory.display())]
    NotEmpty {
        /// The directory.
        directory: PathBuf,
    },
    /// The class that stores hits does not compile.
    #[error("the class that keeps hits can't be made: {why}")]
    Holder {
        /// The compiler's message.
        why: String,
    },
    /// A comment with an exclusion is malformed.
    #[error(transparent)]
    Exclusion(#[from] BadExclusion),
}

fn known() -> String {
    let known: Vec<&str> = REGISTRY.iter().map(|criterion| criterion.name()).chain([STATE]).collect();
    known.join(", ")
}
