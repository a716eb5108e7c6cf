//! What the agent is told before classes are loaded: predicates that only the source knows, for each class of a place.
//!
//! A JVM that meets the first class of a place asks for the plans of all its classes, and waits. The sources are there then, since the classes
//! are. Several JVMs that ask at once get the same answer, which is made once.

use super::offline::Tree;
use super::{Asked, Found, Kept, Sources};
use crate::measure::error::MeasuringError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_base::StableHasher;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, criterion_named};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::Jar;
use touchstone_instrument::{PLANNED, class_plan, class_unit};

/// Plans that a JVM asks for.
#[derive(Clone, Debug)]
pub struct Planning {
    /// Where records and hits go.
    pub out: PathBuf,
    /// Where sources are.
    pub root: PathBuf,
    /// Criteria by name.
    pub criteria: Vec<String>,
    /// A directory of classes, or a jar.
    pub place: PathBuf,
    /// Where other classes are.
    pub class_path: Vec<PathBuf>,
}

/// Makes the plans of all classes of a place, unless somebody has.
pub fn plan_classes(request: &Planning) -> Result<(), MeasuringError> {
    let units = request.out.join("units");
    let mut hash = StableHasher::default();
    std::hash::Hasher::write(&mut hash, request.place.as_os_str().as_encoded_bytes());
    let name = format!("{:016x}.planned", std::hash::Hasher::finish(&hash));
    let path = units.join(name);
    let failed = |source| MeasuringError::NotCopied { path: path.clone(), source };
    let lock = std::fs::OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let planned = std::fs::read_to_string(&path).unwrap_or_default();
    let classes = classes(request, &Sources::below(&request.root, &request.out))?;
    // Builds may compile what was planned before once more.
    let stamp: String = classes.iter().map(|(kept, _)| format!("{:016x}\n", kept.unit)).collect();
    if classes.is_empty() || planned == stamp {
        return Ok(());
    }
    let scratch = tempfile::tempdir().map_err(failed)?;
    let class_path = with_manifests(&request.class_path);
    let asked = Asked { criteria: &request.criteria, class_path: &class_path, scratch: scratch.path() };
    let criteria: Vec<&'static dyn GoalCriterion> = criterion_named(PLANNED)
        .into_iter()
        .filter(|own| request.criteria.iter().any(|name| name == own.name()))
        .collect();
    if let Ok((program, classes, _)) = asked.program(&classes) {
        asked.each(&program, &classes, &mut |kept, _, known| {
            let Ok((module, methods)) = known else { return Ok(()) };
            let plan = class_plan(&kept.class, module, methods, &criteria, &CriteriaOptions::default());
            let path = plan_of(&units, kept.unit);
            touchstone_base::write_atomically(&path, &plan).map_err(|source| MeasuringError::NotCopied { path, source })
        })?;
    }
    lock.set_len(0).map_err(failed)?;
    std::io::Write::write_all(&mut &lock, stamp.as_bytes()).map_err(failed)
}

/// Where the plan of a class is.
pub(super) fn plan_of(units: &Path, unit: u64) -> PathBuf {
    units.join(format!("{unit:016x}.plan"))
}

/// The classes of a place that have sources.
fn classes(request: &Planning, sources: &Sources) -> Result<Vec<(Kept, PathBuf)>, MeasuringError> {
    let tree = Tree::open(&request.place)?;
    let mut found = Vec::new();
    for file in tree.files()?.iter().filter(|file| file.ends_with(".class")) {
        let bytes = tree.read(file)?;
        let Ok(class) = ClassFile::read(&bytes) else { continue };
        let kept =
            Kept { unit: class_unit(&bytes, &request.criteria), bytes, class, from: Some(request.place.clone()) };
        if let Found::Source(source) = sources.of(&kept) {
            found.push((kept, source));
        }
    }
    Ok(found)
}

/// A class path, with what the manifests of its jars name.
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

/// What the manifest of a jar names.
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

/// An address without its escapes.
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
