//! Joins several measurements.

use crate::measure::directory::{EarlierMeasurement, Measurement, SUBDIRECTORIES, copy, open};
use crate::measure::error::MeasuringError;
use crate::measure::stored_exclusions::stored_exclusions;
use std::path::{Path, PathBuf};

/// Joins measurements in a directory. The result of an earlier merge is deleted first.
pub fn merge(directories: &[PathBuf], out: &Path) -> Result<Measurement, MeasuringError> {
    if let Some(directory) = directories.iter().find(|directory| !directory.join(SUBDIRECTORIES[0]).is_dir()) {
        return Err(MeasuringError::NoMeasurement { directory: directory.clone() });
    }
    let same = |directory: &&PathBuf| directory.canonicalize().ok() == out.canonicalize().ok();
    if let Some(directory) = directories.iter().find(same) {
        return Err(MeasuringError::ReadAndWritten { directory: directory.clone() });
    }
    let lock = open(out, EarlierMeasurement::Deleted)?;
    for kind in SUBDIRECTORIES {
        for (index, directory) in directories.iter().enumerate() {
            let Ok(entries) = std::fs::read_dir(directory.join(kind)) else { continue };
            for entry in entries {
                let path = match entry {
                    Ok(entry) => entry.path(),
                    Err(source) => return Err(MeasuringError::NotCopied { path: directory.join(kind), source }),
                };
                if path.extension().is_none() || !path.is_file() {
                    continue;
                }
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                // Hit files of several machines may have the same name.
                let name = if kind == "hits" { format!("{index}-{name}") } else { name };
                copy(&path, &out.join(kind).join(name)).map_err(|source| MeasuringError::NotCopied { path, source })?;
            }
        }
    }
    Measurement::read(lock, stored_exclusions(directories))
}
