//! The exclusions of a measurement: they are stored in its directory, so that merging and extending it keep them.

use crate::measure::error::MeasuringError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_base::write_confined;

/// The name of the file.
pub(crate) const EXCLUSIONS: &str = "exclusions.json";

/// The contents of the file.
#[derive(Default, Serialize, Deserialize)]
struct StoredExclusions {
    /// The files and directories that do not count.
    excluded_paths: BTreeSet<PathBuf>,
}

/// Returns the exclusions of measurements.
pub(crate) fn stored_exclusions(directories: &[PathBuf]) -> Vec<PathBuf> {
    let read = |directory: &PathBuf| {
        let text = std::fs::read_to_string(directory.join(EXCLUSIONS)).ok()?;
        serde_json::from_str::<StoredExclusions>(&text).ok()
    };
    let all: BTreeSet<PathBuf> = directories.iter().filter_map(read).flat_map(|stored| stored.excluded_paths).collect();
    all.into_iter().collect()
}

/// Stores the exclusions of a measurement in its directory.
pub fn store_exclusions(directory: &Path, exclude: &[PathBuf]) -> Result<(), MeasuringError> {
    let path = directory.join(EXCLUSIONS);
    let failed = |source| MeasuringError::NotCopied { path: path.clone(), source };
    if exclude.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        };
    }
    let stored = StoredExclusions { excluded_paths: exclude.iter().cloned().collect() };
    let text = serde_json::to_string(&stored).map_err(std::io::Error::other).map_err(failed)?;
    write_confined(directory, &path, text + "\n").map_err(failed)
}
