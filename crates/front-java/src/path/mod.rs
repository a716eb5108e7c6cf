//! Where classes come from: the JDK's image, directories and jars. Everything is looked up by name when it is asked for; of
//! images and jars only the index is kept.

mod image;
mod jar;
mod search;

pub use image::Image;
pub use jar::Jar;
pub use search::{ClassPath, Found};

use std::path::{Path, PathBuf};

/// Why classes can't be looked up.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The file can't be read.
    #[error("can't read {}: {source}", file.display())]
    Unreadable {
        /// Which one.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not what its name says.
    #[error("{}: {reason} at byte {offset}", file.display())]
    Malformed {
        /// Which one.
        file: PathBuf,
        /// Where.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// There is no such file.
    #[error("{}: no such directory, class file or jar", .0.display())]
    Missing(PathBuf),
}

impl PathError {
    fn unreadable(file: &Path, source: std::io::Error) -> PathError {
        PathError::Unreadable { file: file.to_path_buf(), source }
    }

    fn malformed(file: &Path, offset: u64, reason: impl Into<String>) -> PathError {
        PathError::Malformed { file: file.to_path_buf(), offset, reason: reason.into() }
    }
}
