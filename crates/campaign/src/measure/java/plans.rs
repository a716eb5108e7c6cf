//! Plans for the agent: predicates that only the source provides, for each class of an origin (a directory or a jar).
//!
//! A JVM that loads the first class of an origin requests the plans of all its classes, and waits. The sources exist
//! then, since the classes do. Concurrent requests get the same answer, which is computed once.

use super::class_group::ClassGroup;
use super::loaded_classes::{LoadedClass, processor_path};
use super::offline::Tree;
use super::project_sources::{ClassSource, ProjectSources};
use crate::measure::error::MeasuringError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_base::StableHasher;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, criterion_named};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::Jar;
use touchstone_instrument::{class_plan, class_unit, has_predicates};

/// A request of a JVM for plans.
#[derive(Clone, Debug)]
pub struct PlansRequest {
    /// The directory for records and hits.
    pub out: PathBuf,
    /// The root of the sources.
    pub root: PathBuf,
    /// The names of the criteria.
    pub criteria: Vec<String>,
    /// A directory of classes, or a jar.
    pub place: PathBuf,
    /// The other entries of the class path.
    pub class_path: Vec<PathBuf>,
}

/// Writes the plans of all classes of an origin, unless they exist.
pub fn plan_classes(request: &PlansRequest) -> Result<(), MeasuringError> {
    let units = request.out.join("units");
    let mut hash = StableHasher::default();
    std::hash::Hasher::write(&mut hash, request.place.as_os_str().as_encoded_bytes());
    let name = format!("{:016x}.planned", std::hash::Hasher::finish(&hash));
    let path = units.join(name);
    let failed = |source| MeasuringError::NotCopied { path: path.clone(), source };
    let lock = std::fs::OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let planned = std::fs::read_to_string(&path).unwrap_or_default();
    let classes = classes(request, &ProjectSources::below(&request.root, &request.out))?;
    // Builds may compile planned classes again.
    let stamp: String = classes.iter().map(|(loaded, _)| format!("{:016x}\n", loaded.unit)).collect();
    if classes.is_empty() || planned == stamp {
        return Ok(());
    }
    let scratch = tempfile::tempdir().map_err(failed)?;
    let class_path = with_manifests(&request.class_path);
    let asked = ClassGroup {
        criteria: &request.criteria,
        class_path: &class_path,
        processor_path: &processor_path(&units),
        scratch: scratch.path(),
    };
    let named = request.criteria.iter().filter_map(|name| criterion_named(name));
    let criteria: Vec<&'static dyn GoalCriterion> = named.filter(|criterion| has_predicates(*criterion)).collect();
    if let Ok(group) = asked.program(&classes) {
        group.each(&classes, &mut |loaded, _, known| {
            let Ok((module, methods)) = known else { return Ok(()) };
            let plan = class_plan(&loaded.class, module, methods, &criteria, &CriteriaOptions::default());
            let path = plan_of(&units, loaded.unit);
            touchstone_base::write_atomically(&path, &plan).map_err(|source| MeasuringError::NotCopied { path, source })
        })?;
    }
    lock.set_len(0).map_err(failed)?;
    std::io::Write::write_all(&mut &lock, stamp.as_bytes()).map_err(failed)
}

/// Returns the path of a class's plan.
pub(super) fn plan_of(units: &Path, unit: u64) -> PathBuf {
    units.join(format!("{unit:016x}.plan"))
}

/// Returns the classes of an origin that have sources.
fn classes(request: &PlansRequest, sources: &ProjectSources) -> Result<Vec<(LoadedClass, PathBuf)>, MeasuringError> {
    let tree = Tree::open(&request.place)?;
    let mut found = Vec::new();
    for file in tree.files()?.iter().filter(|file| file.ends_with(".class")) {
        let bytes = tree.read(file)?;
        let Ok(class) = ClassFile::read(&bytes) else { continue };
        let loaded = LoadedClass {
            unit: class_unit(&bytes, &request.criteria),
            bytes,
            class,
            compiled: None,
            from: Some(request.place.clone()),
        };
        if let ClassSource::Source(source) = sources.of(&loaded) {
            found.push((loaded, source));
        }
    }
    Ok(found)
}

/// Adds the class paths in the manifests of jars.
fn with_manifests(class_path: &[PathBuf]) -> Vec<PathBuf> {
    let mut waiting: Vec<PathBuf> = class_path.iter().rev().cloned().collect();
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    while let Some(place) = waiting.pop() {
        if !known.insert(place.clone()) || !place.exists() {
            continue;
        }
        if place.is_file() {
            let named = manifest_class_path(&place);
            waiting.extend(named.into_iter().rev());
        }
        let is_library = place.is_dir() || place.extension().is_some_and(|extension| extension == "jar");
        if is_library {
            found.push(place);
        }
    }
    found
}

/// Returns the class path in the manifest of a jar.
fn manifest_class_path(jar: &Path) -> Vec<PathBuf> {
    let bytes = Jar::open(jar).ok().and_then(|opened| opened.read("META-INF/MANIFEST.MF").ok().flatten());
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).replace("\r\n", "\n").replace("\n ", "");
    let line = text.lines().find_map(|line| line.strip_prefix("Class-Path:"));
    let beside = jar.parent().unwrap_or(Path::new("/"));
    line.unwrap_or_default()
        .split_whitespace()
        .map(|word| {
            let path = word.strip_prefix("file:").unwrap_or(word);
            let path = path.strip_prefix("//").filter(|rest| rest.starts_with('/')).unwrap_or(path);
            let joined = beside.join(decoded(path));
            joined.canonicalize().unwrap_or(joined)
        })
        .collect()
}

/// Decodes a URL.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
