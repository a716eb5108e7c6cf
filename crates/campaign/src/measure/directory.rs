//! The directory of a measurement: compiled units (`units`) and recorded hits (`hits`).

use crate::measure::error::MeasuringError;
use crate::request::OutDir;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use touchstone_instrument::{
    MeasuredSuite, check_output_directory, clear_output_directory, create_output_directory, fallback_hit_directory,
    read_measurements,
};

/// The subdirectories of a measurement.
pub(super) const SUBDIRECTORIES: [&str; 2] = ["units", "hits"];

/// The subdirectory with instrumented texts that the next build can use again.
const CONTENT_CACHE: &str = "kept";

/// The treatment of an earlier measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierMeasurement {
    /// It is extended.
    Extended,
    /// It is deleted.
    Deleted,
}

/// A measurement that has been read, with the lock of its directory.
#[derive(Debug)]
pub struct Measurement {
    /// Its directory.
    pub directory: OutDir,
    /// The data that probes left.
    pub measured: MeasuredSuite,
    /// The files and directories that earlier measurements exclude.
    pub excluded: Vec<PathBuf>,
}

impl Measurement {
    pub(super) fn read(directory: OutDir, excluded: Vec<PathBuf>) -> Result<Measurement, MeasuringError> {
        let measured = read_measurements(&[directory.path().to_path_buf()])?;
        Ok(Measurement { directory, measured, excluded })
    }
}

/// Opens a directory for a measurement. Foreign contents are rejected before anything is changed.
pub(super) fn open(out: &Path, earlier: EarlierMeasurement) -> Result<OutDir, MeasuringError> {
    let lock = OutDir::open(out)?;
    for directory in SUBDIRECTORIES.into_iter().chain([CONTENT_CACHE]).map(|kind| out.join(kind)) {
        touchstone_base::check_confined(out, &directory)
            .map_err(|source| MeasuringError::Foreign { directory, source })?;
    }
    for directory in SUBDIRECTORIES.map(|kind| out.join(kind)) {
        check_output_directory(&directory).map_err(|source| MeasuringError::Foreign { directory, source })?;
    }
    for directory in SUBDIRECTORIES.map(|kind| out.join(kind)) {
        let own = || directory.clone();
        if earlier == EarlierMeasurement::Deleted {
            clear_output_directory(&directory)
                .map_err(|source| MeasuringError::NotCleared { directory: own(), source })?;
        }
        create_output_directory(&directory).map_err(|source| MeasuringError::NotMade { directory: own(), source })?;
    }
    Ok(lock)
}

/// A directory for hits of other users' processes that cannot access the measurement. Its contents are moved when it is
/// dropped.
pub(super) struct SharedHitDirectory {
    place: PathBuf,
    hits: PathBuf,
}

impl SharedHitDirectory {
    /// Lets all users write to the directory of hits, or, if they have no access, to another one.
    pub fn prepare(hits: &Path) -> Option<SharedHitDirectory> {
        let open = |path: &Path, mode: u32| std::fs::set_permissions(path, Permissions::from_mode(mode));
        let passable = |folder: &Path| std::fs::metadata(folder).is_ok_and(|meta| meta.permissions().mode() & 1 != 0);
        if open(hits, 0o1777).is_ok() && hits.ancestors().skip(1).all(passable) {
            return None;
        }
        let place = PathBuf::from(fallback_hit_directory(&hits.to_string_lossy()));
        // An existing directory may belong to any user: then those hits are lost, as without it.
        std::fs::create_dir(&place).ok()?;
        let made = SharedHitDirectory { place, hits: hits.to_path_buf() };
        open(&made.place, 0o1777).ok()?;
        Some(made)
    }
}

impl Drop for SharedHitDirectory {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(&self.place).into_iter().flatten().filter_map(|entry| entry.ok()) {
            let from = entry.path();
            // A symbolic link may point anywhere.
            if entry.file_type().is_ok_and(|kind| kind.is_file())
                && copy(&from, &self.hits.join(entry.file_name())).is_ok()
            {
                let _ = std::fs::remove_file(from);
            }
        }
        let _ = std::fs::remove_dir(&self.place);
    }
}

/// Copies a file atomically.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    touchstone_base::write_atomically(to, std::fs::read(from)?)
}
