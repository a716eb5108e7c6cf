//! The measurement of a test suite: the records of instrumented units joined with the hits of their runs.

use crate::hits::{HitError, HitFile, MeasuredUnit};
use crate::record::{ProbeObstacle, ProbeStorage, RECORD_VERSION, UnitRecord, text_now};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The coverage of a test suite.
#[derive(Clone, Debug, Default)]
pub struct MeasuredSuite {
    /// The instrumented units, by file. A file that was compiled several times with different flags has several units.
    pub units: Vec<MeasuredUnit>,
    /// The files of which an older version was also compiled; its hits don't count.
    pub outdated: BTreeSet<String>,
    /// The files without probes, and the obstacles.
    pub untouched: BTreeMap<String, ProbeObstacle>,
    /// The names of the tests, sorted.
    pub tests: Vec<String>,
    /// For each test, the units that its processes loaded.
    pub linked: Vec<BTreeSet<String>>,
    /// The number of processes with hits.
    pub processes: usize,
    /// The units of older versions of files.
    forgotten: BTreeSet<u64>,
    /// The units that have hits but no record.
    pub unexplained: BTreeSet<String>,
    /// The hit files that could not be used.
    pub damaged: Vec<String>,
    /// The traces of C processes.
    pub traces: Vec<PathBuf>,
    /// The traces of JVMs.
    pub java_traces: Vec<PathBuf>,
    /// The snapshots of the ends of Java tests.
    pub java_ends: Vec<PathBuf>,
}

impl MeasuredSuite {
    /// Returns true if state was traced.
    pub fn has_traces(&self) -> bool {
        !self.traces.is_empty() || !self.java_traces.is_empty()
    }
}

/// The reason why a measurement can't be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementError {
    /// A directory can't be read.
    #[error("can't read {path}: {source}")]
    NotReadable {
        /// The directory.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A record is damaged or has another version.
    #[error("{path} is no record of this version of touchstone ({why}): measure again")]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// The defect.
        why: String,
    },
    /// A hit file can't be read.
    #[error(transparent)]
    Hits(#[from] HitError),
}

/// Reads the measurements in directories.
pub fn read_measurements(directories: &[PathBuf]) -> Result<MeasuredSuite, MeasurementError> {
    let mut measured = MeasuredSuite::default();
    let mut units: BTreeMap<u64, UnitRecord> = BTreeMap::new();
    for directory in directories {
        for path in files(&directory.join("units"), "json")? {
            let bad = |why: String| MeasurementError::BadRecord { path: path.clone(), why };
            let bytes = std::fs::read(&path).map_err(|error| bad(error.to_string()))?;
            let record: UnitRecord = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
            if record.version != RECORD_VERSION {
                return Err(bad(format!("version {}", record.version)));
            }
            // The record of a file without probes names no function.
            if let Some((_, why)) = record.untouched.iter().find(|(function, _)| function.is_empty()) {
                // A class may have run with probes whose meaning is unknown.
                measured.forgotten.extend(u64::from_str_radix(&record.unit, 16).ok());
                measured.untouched.insert(record.file, why.clone());
                continue;
            }
            let unit = u64::from_str_radix(&record.unit, 16).map_err(|error| bad(error.to_string()))?;
            units.insert(unit, record);
        }
    }
    let old = outdated(&units);
    for unit in old {
        measured.outdated.extend(units.remove(&unit).map(|record| record.file));
        measured.forgotten.insert(unit);
    }
    let mut by_test: BTreeMap<String, Vec<HitFile>> = BTreeMap::new();
    for directory in directories {
        for path in files(&directory.join("hits"), "hits")? {
            match HitFile::read(&path) {
                Ok(files) => {
                    measured.processes += usize::from(!files.is_empty());
                    for file in files {
                        let name = file.test.clone().unwrap_or_else(|| file.process_name());
                        by_test.entry(name).or_default().push(file);
                    }
                }
                Err(error @ HitError::Damaged { .. }) => measured.damaged.push(error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        measured.traces.extend(files(&directory.join("hits"), "state")?);
        measured.java_traces.extend(files(&directory.join("hits"), "jstate")?);
        measured.java_ends.extend(files(&directory.join("hits"), "jends")?);
    }
    let mut hits: BTreeMap<u64, BTreeMap<u32, BTreeSet<u32>>> = BTreeMap::new();
    let mut counts: BTreeMap<u64, BTreeMap<u32, u64>> = BTreeMap::new();
    for (index, (name, processes)) in by_test.into_iter().enumerate() {
        measured.tests.push(name);
        let linked = processes.iter().flat_map(|file| &file.units).map(|(unit, _)| format!("{unit:016x}"));
        measured.linked.push(linked.collect());
        for (unit, probes) in processes.into_iter().flat_map(|file| file.units) {
            let Some(record) = units.get(&unit) else {
                if measured.forgotten.contains(&unit) {
                    continue;
                }
                measured.unexplained.insert(format!("{unit:016x}"));
                continue;
            };
            let width = record.keeps.bytes();
            let (all, sums) = (hits.entry(unit).or_default(), counts.entry(unit).or_default());
            for (at, byte) in probes.into_iter().filter(|(at, _)| at / width < record.size) {
                all.entry(at / width).or_default().insert(index as u32);
                let sum: &mut u64 = sums.entry(at / width).or_default();
                *sum = sum.saturating_add(u64::from(byte) << (8 * (at % width)));
            }
        }
    }
    let made = units.into_iter().map(|(unit, record)| {
        let mut hits = hits.remove(&unit).unwrap_or_default();
        let mut counts = counts.remove(&unit).unwrap_or_default();
        for (probe, by) in &record.implied {
            let tests: BTreeSet<u32> = by.iter().filter_map(|by| hits.get(by)).flatten().copied().collect();
            if !tests.is_empty() {
                hits.insert(*probe, tests);
                counts.insert(
                    *probe,
                    by.iter().filter_map(|by| counts.get(by)).fold(0, |sum: u64, n| sum.saturating_add(*n)),
                );
            }
        }
        let counts = (record.keeps == ProbeStorage::Counts).then_some(counts);
        MeasuredUnit { record, hits, counts }
    });
    measured.units = made.collect();
    measured.units.sort_by(|a, b| (&a.record.file, &a.record.unit).cmp(&(&b.record.file, &b.record.unit)));
    let probed: BTreeSet<&String> = measured.units.iter().map(|unit| &unit.record.file).collect();
    measured.untouched.retain(|file, _| !probed.contains(file));
    Ok(measured)
}

/// Returns the units of older versions of files of which the current version was also compiled.
fn outdated(units: &BTreeMap<u64, UnitRecord>) -> Vec<u64> {
    let mut now: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut is_old = |record: &UnitRecord| {
        let texts = record.files.iter().zip(&record.texts).filter(|(_, text)| !text.is_empty()).collect::<Vec<_>>();
        texts.into_iter().any(|(file, text)| {
            let now = now.entry(file.clone()).or_insert_with(|| text_now(file));
            now.as_ref().is_some_and(|now| now != text)
        })
    };
    let old: BTreeSet<u64> = units.iter().filter(|(_, record)| is_old(record)).map(|(unit, _)| *unit).collect();
    let fresh: BTreeSet<&str> =
        units.iter().filter(|(unit, _)| !old.contains(unit)).map(|(_, record)| record.file.as_str()).collect();
    old.iter().filter(|unit| fresh.contains(units[unit].file.as_str())).copied().collect()
}

/// Returns the files of a directory with an extension, sorted; none if the directory does not exist.
fn files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, MeasurementError> {
    let failed = |source| MeasurementError::NotReadable { path: directory.to_path_buf(), source };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
