//! Why nothing could be measured.

use crate::request::OutDirError;
use std::path::PathBuf;
use touchstone_criteria::{REGISTRY, STATE};
use touchstone_instrument::{MeasurementError, NothingCompiled, WrapperError};
use touchstone_report::BadExclusion;

/// Why nothing could be measured, merged or shown.
#[derive(Debug, thiserror::Error)]
pub enum MeasuringError {
    /// State is not measured by classes that have their probes already.
    #[error("state is followed by the agent only: `touchstone measure -c state -- COMMAND`")]
    StateOffline,
    /// There is no such criterion, or no probe for it.
    #[error("`{name}` can't be measured; criteria are {}", known())]
    Criterion {
        /// What was asked for.
        name: String,
    },
    /// The output directory can't be written to.
    #[error(transparent)]
    OutDir(#[from] OutDirError),
    /// A directory in it is somebody else's.
    #[error("can't use {}: move it away, or choose another directory with -o", directory.display())]
    Foreign {
        /// Which.
        directory: PathBuf,
        /// What is in it.
        source: std::io::Error,
    },
    /// A directory can't be cleared.
    #[error("can't clear {}", directory.display())]
    NotCleared {
        /// Which.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory can't be made.
    #[error("can't make {}", directory.display())]
    NotMade {
        /// Which.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no command.
    #[error("no command")]
    NoCommand,
    /// Compilers have no wrappers.
    #[error(transparent)]
    Wrappers(#[from] WrapperError),
    /// The command can't be started.
    #[error("can't run {program}")]
    NotStarted {
        /// Its program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The command started, and its end is not known.
    #[error("can't wait for {program}")]
    NotEnded {
        /// Its program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// Nothing got probes.
    #[error(transparent)]
    Nothing(#[from] NothingCompiled),
    /// What probes left can't be read.
    #[error(transparent)]
    Read(#[from] MeasurementError),
    /// A directory is no measurement.
    #[error(
        "{} holds no measurement; name the directories that `touchstone measure -o` wrote",
        directory.display()
    )]
    NoMeasurement {
        /// Which.
        directory: PathBuf,
    },
    /// A directory would be merged into itself.
    #[error("{} is read and written; say by -o where everything shall go", directory.display())]
    ReadAndWritten {
        /// Which.
        directory: PathBuf,
    },
    /// A file of a measurement can't be copied.
    #[error("can't copy {}", path.display())]
    NotCopied {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A source that was measured can't be read.
    #[error("can't read {}", path.display())]
    NotRead {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Classes have probes already.
    #[error("classes of {} have probes already: name those that the compiler made", tree.display())]
    ProbesAlready {
        /// Where they are.
        tree: PathBuf,
    },
    /// A directory for classes with probes has something in it.
    #[error("{} is not empty: classes with probes go to a directory of their own", directory.display())]
    NotEmpty {
        /// Which.
        directory: PathBuf,
    },
    /// What keeps hits does not compile.
    #[error("the class that keeps hits can't be made: {why}")]
    Holder {
        /// Why.
        why: String,
    },
    /// A comment that excludes nothing because it is wrong.
    #[error(transparent)]
    Exclusion(#[from] BadExclusion),
}

fn known() -> String {
    let known: Vec<&str> = REGISTRY.iter().map(|criterion| criterion.name()).chain([STATE]).collect();
    known.join(", ")
}
