//! Selects the measured files that count.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_emit::is_emitted;
use touchstone_instrument::{MeasuredSuite, MeasuredUnit, SourceRange};

/// The selection of files that count.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The directory that paths are shown relative to.
    pub here: PathBuf,
    /// Only files below it count.
    pub root: PathBuf,
    /// Files and directories that don't count.
    pub exclude: Vec<PathBuf>,
}

impl Selection {
    /// Returns true if a file counts.
    pub fn counts(&self, file: &Path) -> bool {
        // Files of configure scripts no longer exist; CMake keeps some of its own.
        let of_cmake = file.components().any(|part| part.as_os_str() == "CMakeFiles");
        let excluded = self.exclude.iter().any(|other| file.starts_with(other));
        file.starts_with(&self.root) && !excluded && !of_cmake && file.is_file()
    }

    /// Returns the tests among the measured files that Touchstone generated: their code is no part of the program.
    pub(super) fn own_tests(&self, measured: &MeasuredSuite) -> Vec<PathBuf> {
        let files: BTreeSet<&str> =
            measured.units.iter().flat_map(|unit| &unit.record.files).map(String::as_str).collect();
        let ours = files.into_iter().map(Path::new).filter(|file| self.counts(file) && is_emitted(file));
        ours.map(Path::to_path_buf).collect()
    }

    /// Returns the files of a unit that count: a test that includes the code under test may itself be excluded.
    pub(super) fn counted(&self, unit: &MeasuredUnit) -> Counted {
        Counted(unit.record.files.iter().map(|file| self.counts(Path::new(file))).collect())
    }

    pub(super) fn shown(&self, file: &str) -> String {
        Path::new(file).strip_prefix(&self.here).map_or(file, |inside| inside.to_str().unwrap_or(file)).to_string()
    }
}

/// For each file of a unit: true if it counts.
pub(super) struct Counted(Vec<bool>);

impl Counted {
    pub fn holds(&self, place: SourceRange) -> bool {
        self.0.get(place.file as usize).copied().unwrap_or(false)
    }
}
