//! Offline instrumentation: inserts probes into a tree of classes before it is loaded, and writes its records
//! immediately, since the sources are available.

use super::explain;
use super::plans::{PlansRequest, plan_classes, plan_of};
use crate::measure::directory::{EarlierMeasurement, open};
use crate::measure::error::MeasuringError;
use std::path::{Component, Path, PathBuf};
use touchstone_criteria::{STATE, criterion_named};
use touchstone_front_java::Jdk;
use touchstone_front_java::path::{Jar, PathError};
use touchstone_instrument::{OfflineWeaver, class_unit, has_predicates};

/// A request for offline instrumentation.
#[derive(Clone, Debug)]
pub struct OfflineRequest {
    /// A directory of classes, or a jar.
    pub tree: PathBuf,
    /// The directory for instrumented classes and all other files of the tree.
    pub to: PathBuf,
    /// The directory for records and hits.
    pub out: PathBuf,
    /// The root of the sources.
    pub root: PathBuf,
    /// The libraries that the classes need.
    pub class_path: Vec<PathBuf>,
    /// The names of the criteria.
    pub criteria: Vec<String>,
    /// The treatment of an earlier measurement.
    pub earlier: EarlierMeasurement,
}

/// The result of offline instrumentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbedClasses {
    /// The number of classes with probes.
    pub with: usize,
    /// The number of classes without probes.
    pub without: usize,
}

/// Signature files of jars: they do not match instrumented classes.
const SIGNATURES: [&str; 3] = [".SF", ".RSA", ".DSA"];

/// Inserts probes into a tree of classes.
pub fn instrument_classes(request: &OfflineRequest) -> Result<ProbedClasses, MeasuringError> {
    if request.criteria.iter().any(|name| name == STATE) {
        return Err(MeasuringError::StateOffline);
    }
    if let Some(name) = request.criteria.iter().find(|name| criterion_named(name).is_none()) {
        return Err(MeasuringError::Criterion { name: name.clone() });
    }
    let tree = Tree::open(&request.tree)?;
    let files = tree.files()?;
    if files.iter().any(|file| OfflineWeaver::is_holder(file)) {
        return Err(MeasuringError::ProbesAlready { tree: request.tree.clone() });
    }
    if std::fs::read_dir(&request.to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(MeasuringError::NotEmpty { directory: request.to.clone() });
    }
    let directory = open(&request.out, request.earlier)?;
    let (units, hits) = (request.out.join("units"), request.out.join("hits"));
    let mut probes = OfflineWeaver::new(&request.tree, &request.criteria);
    let mut made = ProbedClasses { with: 0, without: 0 };
    if request.criteria.iter().filter_map(|name| criterion_named(name)).any(has_predicates) {
        plan_classes(&PlansRequest {
            out: request.out.clone(),
            root: request.root.clone(),
            criteria: request.criteria.clone(),
            place: request.tree.clone(),
            class_path: std::iter::once(&request.tree).chain(&request.class_path).cloned().collect(),
        })?;
    }
    for file in &files {
        if file.starts_with("META-INF/") && SIGNATURES.iter().any(|end| file.ends_with(end)) {
            continue;
        }
        let bytes = tree.read(file)?;
        let plan = std::fs::read(plan_of(&units, class_unit(&bytes, &request.criteria))).ok();
        match file.ends_with(".class").then(|| probes.class(&bytes, plan.as_deref())).flatten() {
            Some(class) => {
                made.with += 1;
                let loaded = units.join(format!("{:016x}", class.unit));
                write(&loaded.with_extension("loaded"), request.tree.as_os_str().as_encoded_bytes())?;
                write(&loaded.with_extension("class"), &bytes)?;
                write(&request.to.join(file), &class.bytes)?;
            }
            None => {
                made.without += usize::from(file.ends_with(".class"));
                write(&request.to.join(file), &bytes)?;
            }
        }
    }
    let places: Vec<String> =
        std::iter::once(&request.tree).chain(&request.class_path).map(|place| place.display().to_string()).collect();
    let name = format!("{}.path", std::process::id());
    write(&units.join(name), (places.join("\n") + "\n").as_bytes())?;
    for (file, bytes) in probes.answers() {
        write(&request.to.join(file), &bytes)?;
    }
    compile_holders(&probes, &hits, &request.to)?;
    explain(&request.out, &request.root, &request.criteria)?;
    drop(directory);
    Ok(made)
}

fn compile_holders(probes: &OfflineWeaver, hits: &Path, to: &Path) -> Result<(), MeasuringError> {
    let scratch =
        tempfile::tempdir().map_err(|source| MeasuringError::NotMade { directory: to.to_path_buf(), source })?;
    let mut sources = Vec::new();
    for holder in probes.holders(hits) {
        let path = scratch.path().join(&holder.file);
        write(&path, holder.text.as_bytes())?;
        sources.push(path);
    }
    if sources.is_empty() {
        return Ok(());
    }
    let refused = |why: touchstone_front_java::JdkError| MeasuringError::Holder { why: why.to_string() };
    Jdk::find().and_then(|found| found.compile_portable(&sources, to)).map_err(refused)
}

/// A tree of classes.
pub(super) enum Tree {
    Directory(PathBuf),
    Jar(Jar),
}

impl Tree {
    pub fn open(place: &Path) -> Result<Tree, MeasuringError> {
        match place.is_dir() {
            true => Ok(Tree::Directory(place.to_path_buf())),
            false => Jar::open(place).map(Tree::Jar).map_err(|why| not_read(place, why)),
        }
    }

    /// Returns its files, in order.
    pub fn files(&self) -> Result<Vec<String>, MeasuringError> {
        let root = match self {
            Tree::Directory(root) => root,
            // A malicious jar must not write outside of the directory.
            Tree::Jar(jar) => {
                let inside =
                    |name: &&str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
                return Ok(jar
                    .names()
                    .filter(|name| !name.ends_with('/'))
                    .filter(inside)
                    .map(str::to_string)
                    .collect());
            }
        };
        let mut found = Vec::new();
        let mut waiting = vec![root.clone()];
        while let Some(directory) = waiting.pop() {
            let entries = std::fs::read_dir(&directory).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
            let failed = |source| MeasuringError::NotRead { path: directory.clone(), source };
            for path in entries.map_err(failed)?.into_iter().map(|entry| entry.path()) {
                match path.is_dir() {
                    true => waiting.push(path),
                    false => found.extend(path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_string)),
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    pub fn read(&self, file: &str) -> Result<Vec<u8>, MeasuringError> {
        match self {
            Tree::Directory(root) => {
                let path = root.join(file);
                std::fs::read(&path).map_err(|source| MeasuringError::NotRead { path, source })
            }
            Tree::Jar(jar) => match jar.read(file) {
                Ok(bytes) => Ok(bytes.unwrap_or_default()),
                Err(why) => Err(not_read(jar.file(), why)),
            },
        }
    }
}

fn not_read(place: &Path, why: PathError) -> MeasuringError {
    MeasuringError::NotRead { path: place.to_path_buf(), source: std::io::Error::other(why.to_string()) }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), MeasuringError> {
    let made = path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes));
    made.map_err(|source| MeasuringError::NotCopied { path: path.to_path_buf(), source })
}
