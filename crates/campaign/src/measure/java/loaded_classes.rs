//! The classes that JVMs loaded with probes, and those that they could have loaded.

use super::offline::Tree;
use super::plans::plan_of;
use super::project_sources::{ClassSource, ProjectSources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_front_java::classfile::ClassFile;
use touchstone_instrument::{TEST_CLASS_DIRECTORIES, class_unit, has_known_source, planned_unit};

/// A class that was loaded with probes, or that was never loaded.
pub(super) struct LoadedClass {
    pub unit: u64,
    pub bytes: Vec<u8>,
    pub class: ClassFile,
    /// The class as the compiler made it, if another agent changed it.
    pub compiled: Option<ClassFile>,
    /// The directory or jar that it came from.
    pub from: Option<PathBuf>,
}

/// Returns the classes without a record.
pub(super) fn loaded(units: &Path) -> Vec<LoadedClass> {
    let entries = std::fs::read_dir(units).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "class"))
        .filter(|path| !path.with_extension("json").is_file())
        .collect();
    files.sort_unstable();
    let read = |path: &PathBuf| {
        let unit = u64::from_str_radix(path.file_stem()?.to_str()?, 16).ok()?;
        let bytes = std::fs::read(path).ok()?;
        let class = ClassFile::read(&bytes).ok()?;
        let compiled = std::fs::read(path.with_extension("compiled")).ok();
        let compiled = compiled.and_then(|bytes| ClassFile::read(&bytes).ok());
        let from = std::fs::read_to_string(path.with_extension("loaded")).ok()?;
        let from = Some(PathBuf::from(from)).filter(|from| from.is_absolute());
        Some(LoadedClass { unit, bytes, class, compiled, from })
    };
    files.iter().filter_map(read).collect()
}

/// Returns the classes of the project that no JVM loaded: those with a source, from an entry of a class path.
pub(super) fn never_loaded(
    units: &Path,
    class_path: &[PathBuf],
    sources: &ProjectSources,
    criteria: &[String],
    loaded: &[LoadedClass],
) -> Vec<LoadedClass> {
    let mut known: BTreeSet<String> = loaded.iter().map(|loaded| loaded.class.name.to_string()).collect();
    let is_test = |place: &&PathBuf| TEST_CLASS_DIRECTORIES.iter().any(|tests| place.ends_with(tests));
    let mut found = Vec::new();
    for place in class_path.iter().filter(|place| sources.has_root_of(place) && !is_test(place)) {
        let Ok(tree) = Tree::open(place) else { continue };
        for file in tree.files().unwrap_or_default().iter().filter(|file| file.ends_with(".class")) {
            let Ok(bytes) = tree.read(file) else { continue };
            let Ok(class) = ClassFile::read(&bytes) else { continue };
            let is_module = class.name.ends_with("module-info") || class.name.ends_with("package-info");
            if is_module || !has_known_source(&class) || known.contains(&*class.name) {
                continue;
            }
            let unit = class_unit(&bytes, criteria);
            let plan = std::fs::read(plan_of(units, unit)).ok();
            let unit = plan.map_or(unit, |plan| planned_unit(unit, &plan));
            let class = LoadedClass { unit, bytes, class, compiled: None, from: Some(place.clone()) };
            if !units.join(format!("{unit:016x}.json")).is_file()
                && matches!(sources.of(&class), ClassSource::Source(_))
            {
                known.insert(class.class.name.to_string());
                found.push(class);
            }
        }
    }
    found
}

/// Returns all origins of classes, in any JVM.
pub(super) fn class_path(units: &Path) -> Vec<PathBuf> {
    places(units, "path")
}

/// Returns the class paths of the annotation processors that compilers ran, in any JVM.
pub(super) fn processor_path(units: &Path) -> Vec<PathBuf> {
    places(units, "processors")
}

/// Returns the directories and jars in the files with an extension.
fn places(units: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(units).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|own| own == extension)).collect();
    files.sort_unstable();
    let mut found: Vec<PathBuf> = Vec::new();
    for text in files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
        for place in text.lines().map(PathBuf::from).filter(|place| place.exists()) {
            let is_library = place.is_dir() || place.extension().is_some_and(|extension| extension == "jar");
            if is_library && !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}
