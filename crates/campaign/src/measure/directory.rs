//! The directory of a measurement: what is compiled (`units`) and what ran (`hits`).

use crate::measure::error::MeasuringError;
use crate::request::OutDir;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use touchstone_instrument::{
    MeasuredSuite, check_output_directory, clear_output_directory, create_output_directory, fallback_hit_directory,
    read_measurements,
};

/// Directories of a measurement.
pub(super) const KINDS: [&str; 2] = ["units", "hits"];

/// What becomes of what an earlier measurement left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Earlier {
    /// It is added to.
    Kept,
    /// It is removed.
    Forgotten,
}

/// A measurement that was read, in a directory that nobody else writes to meanwhile.
#[derive(Debug)]
pub struct Measurement {
    /// Where it is.
    pub directory: OutDir,
    /// What probes left.
    pub measured: MeasuredSuite,
}

impl Measurement {
    pub(super) fn read(directory: OutDir) -> Result<Measurement, MeasuringError> {
        let measured = read_measurements(&[directory.path().to_path_buf()])?;
        Ok(Measurement { directory, measured })
    }
}

/// Takes a directory for a measurement. What somebody else made there is refused before anything is touched.
pub(super) fn open(out: &Path, earlier: Earlier) -> Result<OutDir, MeasuringError> {
    let lock = OutDir::open(out)?;
    for directory in KINDS.map(|kind| out.join(kind)) {
        check_output_directory(&directory).map_err(|source| MeasuringError::Foreign { directory, source })?;
    }
    for directory in KINDS.map(|kind| out.join(kind)) {
        let own = || directory.clone();
        if earlier == Earlier::Forgotten {
            clear_output_directory(&directory)
                .map_err(|source| MeasuringError::NotCleared { directory: own(), source })?;
        }
        create_output_directory(&directory).map_err(|source| MeasuringError::NotMade { directory: own(), source })?;
    }
    Ok(lock)
}

/// Where hits of other users' processes go if they can't reach the directory. Removed when it goes out of scope.
pub(super) struct Elsewhere {
    place: PathBuf,
    hits: PathBuf,
}

impl Elsewhere {
    /// Lets all users write to the directory of hits, or, if they can't come there, to another one.
    pub fn prepare(hits: &Path) -> Option<Elsewhere> {
        let open = |path: &Path, mode: u32| std::fs::set_permissions(path, Permissions::from_mode(mode));
        let passable = |folder: &Path| std::fs::metadata(folder).is_ok_and(|meta| meta.permissions().mode() & 1 != 0);
        if open(hits, 0o1777).is_ok() && hits.ancestors().skip(1).all(passable) {
            return None;
        }
        let place = PathBuf::from(fallback_hit_directory(&hits.to_string_lossy()));
        // Whoever was there first may be anyone: then those hits are lost, as without it.
        std::fs::create_dir(&place).ok()?;
        let made = Elsewhere { place, hits: hits.to_path_buf() };
        open(&made.place, 0o1777).ok()?;
        Some(made)
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(&self.place).into_iter().flatten().filter_map(|entry| entry.ok()) {
            let from = entry.path();
            // A link may lead anywhere.
            if entry.file_type().is_ok_and(|kind| kind.is_file())
                && copy(&from, &self.hits.join(entry.file_name())).is_ok()
            {
                let _ = std::fs::remove_file(from);
            }
        }
        let _ = std::fs::remove_dir(&self.place);
    }
}

/// Copies a file so that no reader sees half of it.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    touchstone_base::write_atomically(to, std::fs::read(from)?)
}
