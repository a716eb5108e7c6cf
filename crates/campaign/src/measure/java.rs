//! Makes records of what the agent left about Java programs: finds the sources of loaded classes and compiles them
//! again, because only the compiler knows which jump belongs to which condition.
//!
//! - `project_sources.rs`: the sources of the project, and the source of a class;
//! - `loaded_classes.rs`: classes that JVMs loaded, and those that they could have loaded;
//! - `class_group.rs`: records of the classes of one origin;
//! - `plans.rs`: predicates that the agent needs from the source;
//! - `offline.rs`: classes with probes, without the agent.
//!
//! Circles: `offline.rs` reads the plans that `plans.rs` writes, which reads trees of classes as `offline.rs` does, and so does
//! `loaded_classes.rs`, whose classes all of them read.

mod class_group;
mod loaded_classes;
mod offline;
mod plans;
mod project_sources;

pub use offline::{OfflineRequest, ProbedClasses, instrument_classes};
pub use plans::{PlansRequest, plan_classes};

use crate::measure::error::MeasuringError;
use class_group::ClassGroup;
use loaded_classes::{LoadedClass, class_path, loaded, never_loaded, processor_path};
use project_sources::{ClassSource, ProjectSources};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_criteria::STATE;
use touchstone_instrument::{ProbeObstacle, UnitRecord, empty_class_record, unprobed_class_record};

/// The origin of classes, and the number of their version.
type PlaceAndVersion = (Option<PathBuf>, usize);

/// Writes records of classes that have none.
pub(super) fn explain(out: &Path, root: &Path, criteria: &[String]) -> Result<(), MeasuringError> {
    let units = out.join("units");
    let mut loaded = loaded(&units);
    if loaded.is_empty() {
        return Ok(());
    }
    let sources = ProjectSources::below(root, out);
    let (class_path, processor_path) = (class_path(&units), processor_path(&units));
    let is_state_only = criteria.iter().all(|criterion| criterion == STATE);
    if !is_state_only {
        loaded.extend(never_loaded(&units, &class_path, &sources, criteria, &loaded));
    }
    // A class that was redefined while its program ran has several versions. Each is described separately: at most one
    // of them corresponds to the source.
    let mut versions: BTreeMap<(Option<PathBuf>, Arc<str>), usize> = BTreeMap::new();
    let mut by_place: BTreeMap<PlaceAndVersion, Vec<(LoadedClass, PathBuf)>> = BTreeMap::new();
    for loaded in loaded {
        let found = sources.of(&loaded);
        if let ClassSource::Source(source) | ClassSource::Test(source) = &found {
            keep_source(&units, loaded.unit, source)?;
        }
        match found {
            ClassSource::Source(source) if is_state_only => {
                write(&units, &empty_class_record(loaded.unit, source.display().to_string()))?;
            }
            ClassSource::Source(source) => {
                let version = versions.entry((loaded.from.clone(), loaded.class.name.clone())).or_default();
                *version += 1;
                by_place.entry((loaded.from.clone(), *version)).or_default().push((loaded, source));
            }
            ClassSource::Test(_) | ClassSource::Generated => {
                write(&units, &unprobed_class_record(loaded.unit, String::new(), ProbeObstacle::NoSource))?
            }
            ClassSource::Nothing => {
                let file = loaded.from.as_ref().map(|from| from.join(format!("{}.class", loaded.class.name)));
                let file = file.unwrap_or_default().display().to_string();
                write(&units, &unprobed_class_record(loaded.unit, file, ProbeObstacle::NoSource))?;
            }
        }
    }
    let scratch =
        tempfile::tempdir().map_err(|source| MeasuringError::NotMade { directory: out.to_path_buf(), source })?;
    for (number, classes) in by_place.into_values().enumerate() {
        let scratch = scratch.path().join(number.to_string());
        let asked =
            ClassGroup { criteria, class_path: &class_path, processor_path: &processor_path, scratch: &scratch };
        match asked.records(&classes, &units) {
            Ok(records) => {
                // Classes without probes are not stored. They may have been loaded.
                let was_stored = |record: &UnitRecord| units.join(format!("{}.class", record.unit)).is_file();
                let counts = |record: &&UnitRecord| !record.objectives.is_empty() || was_stored(record);
                records.iter().filter(counts).try_for_each(|record| write(&units, record))?;
            }
            Err(why) => {
                for (loaded, source) in &classes {
                    let file = source.display().to_string();
                    write(&units, &unprobed_class_record(loaded.unit, file, ProbeObstacle::NotRead(why.clone())))?;
                }
            }
        }
    }
    Ok(())
}

fn write(units: &Path, record: &UnitRecord) -> Result<(), MeasuringError> {
    record.write(units).map_err(|source| MeasuringError::NotCopied { path: units.to_path_buf(), source })
}

/// Records the source file of a class.
fn keep_source(units: &Path, unit: u64, source: &Path) -> Result<(), MeasuringError> {
    let path = units.join(format!("{unit:016x}.source"));
    let written = std::fs::write(&path, source.display().to_string());
    written.map_err(|source| MeasuringError::NotCopied { path, source })
}
