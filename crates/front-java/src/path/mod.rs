//! The class path: the JDK's image, directories and jars. Classes are looked up by name on request; only the indices of
//! images and jars are kept in memory.

mod class_path;
mod image;
mod jar;

pub use class_path::{ClassPath, FoundClass};
pub use image::Image;
pub use jar::Jar;

use std::path::{Path, PathBuf};

/// An error of the class path.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The file can't be read.
    #[error("can't read {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file does not have the format that its name promises.
    #[error("{}: {reason} at byte {offset}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Offset of the error in bytes.
        offset: u64,
        /// The violated rule.
        reason: String,
    },
    /// The file does not exist.
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
