//! What the agent left of Java programs becomes records: sources of the classes that were loaded are found and compiled once more,
//! so that the compiler says which jump is which condition.

mod offline;
mod plans;

pub use offline::{Offline, Probed, instrument_classes};
pub use plans::{Planning, plan_classes};

use crate::measure::error::MeasuringError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, STATE, criterion_named};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::{
    CodeLocations, CompileOptions, Jdk, JdkError, LABELS_DIR, LoadedFunctions, Program, ProgramSetup, SourceMarks,
};
use touchstone_instrument::{
    JavaClass, ProbeObstacle, UnitRecord, class_record, class_unit, empty_class_record, planned_unit,
    unprobed_class_record,
};
use touchstone_ir::{FuncId, Module};

/// A class that was loaded with probes.
struct Kept {
    unit: u64,
    bytes: Vec<u8>,
    class: ClassFile,
    /// Where it came from: a directory or a jar, if any.
    from: Option<PathBuf>,
}

/// Where classes came from, and which version of them it is.
type PlaceAndVersion = (Option<PathBuf>, usize);

/// Records of classes that have none.
pub(super) fn explain(out: &Path, root: &Path, criteria: &[String]) -> Result<(), MeasuringError> {
    let units = out.join("units");
    let kept = kept(&units);
    if kept.is_empty() {
        return Ok(());
    }
    let sources = Sources::below(root, out);
    let class_path = class_path(&units);
    // A class that was swapped for another while its program ran has several versions. Each is described by itself: at most one of them is
    // what the source became.
    let mut versions: BTreeMap<(Option<PathBuf>, Arc<str>), usize> = BTreeMap::new();
    let mut by_place: BTreeMap<PlaceAndVersion, Vec<(Kept, PathBuf)>> = BTreeMap::new();
    let is_state_only = criteria.iter().all(|criterion| criterion == STATE);
    for kept in kept {
        let found = sources.of(&kept);
        if let Found::Source(source) | Found::Test(source) = &found {
            keep_source(&units, kept.unit, source)?;
        }
        match found {
            Found::Source(source) if is_state_only => {
                write(&units, &empty_class_record(kept.unit, source.display().to_string()))?;
            }
            Found::Source(source) => {
                let version = versions.entry((kept.from.clone(), kept.class.name.clone())).or_default();
                *version += 1;
                by_place.entry((kept.from.clone(), *version)).or_default().push((kept, source));
            }
            Found::Test(_) | Found::Generated => {
                write(&units, &unprobed_class_record(kept.unit, String::new(), ProbeObstacle::NoSource))?
            }
            Found::Nothing => {
                let file = kept.from.as_ref().map(|from| from.join(format!("{}.class", kept.class.name)));
                let file = file.unwrap_or_default().display().to_string();
                write(&units, &unprobed_class_record(kept.unit, file, ProbeObstacle::NoSource))?;
            }
        }
    }
    let scratch =
        tempfile::tempdir().map_err(|source| MeasuringError::NotMade { directory: out.to_path_buf(), source })?;
    for (number, classes) in by_place.into_values().enumerate() {
        let asked = Asked { criteria, class_path: &class_path, scratch: &scratch.path().join(number.to_string()) };
        match asked.records(&classes, &units) {
            Ok(records) => records.iter().try_for_each(|record| write(&units, record))?,
            Err(why) => {
                for (kept, source) in &classes {
                    let file = source.display().to_string();
                    write(&units, &unprobed_class_record(kept.unit, file, ProbeObstacle::NotRead(why.clone())))?;
                }
            }
        }
    }
    Ok(())
}

fn write(units: &Path, record: &UnitRecord) -> Result<(), MeasuringError> {
    record.write(units).map_err(|source| MeasuringError::NotCopied { path: units.to_path_buf(), source })
}

/// Keeps where the source of a class is.
fn keep_source(units: &Path, unit: u64, source: &Path) -> Result<(), MeasuringError> {
    let path = units.join(format!("{unit:016x}.source"));
    let written = std::fs::write(&path, source.display().to_string());
    written.map_err(|source| MeasuringError::NotCopied { path, source })
}

/// Classes that have no record.
fn kept(units: &Path) -> Vec<Kept> {
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
        let from = std::fs::read_to_string(path.with_extension("loaded")).ok()?;
        Some(Kept { unit, bytes, class, from: Some(PathBuf::from(from)).filter(|from| from.is_absolute()) })
    };
    files.iter().filter_map(read).collect()
}

/// All that classes came from, in any JVM.
fn class_path(units: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(units).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "path")).collect();
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

/// Sources of a project, by the names of their files.
struct Sources(BTreeMap<String, Vec<PathBuf>>);

/// Directories that builds put sources into that they made themselves.
const GENERATED: [&str; 2] = ["target/generated-sources", "build/generated"];

/// What there is of a class.
enum Found {
    Source(PathBuf),
    /// It is a test.
    Test(PathBuf),
    /// The build made its source: nobody wrote it.
    Generated,
    Nothing,
}

impl Sources {
    fn below(root: &Path, out: &Path) -> Sources {
        let mut found: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let mut waiting = vec![root.to_path_buf()];
        while let Some(directory) = waiting.pop() {
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !name.starts_with('.') && path != *out => waiting.push(path),
                    Ok(kind) if kind.is_file() && name.ends_with(".java") => found.entry(name).or_default().push(path),
                    _ => {}
                }
            }
        }
        found.values_mut().for_each(|paths| paths.sort_unstable());
        Sources(found)
    }

    /// The source of a class: of several the one that is nearest to where the class came from.
    fn of(&self, kept: &Kept) -> Found {
        let Some(name) = kept.class.source_file() else { return Found::Nothing };
        let package = kept.class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let in_package = |path: &&PathBuf| has_package(path, package);
        let all: Vec<&PathBuf> = self.0.get(&**name).into_iter().flatten().filter(in_package).collect();
        let is_generated =
            |path: &Path| path.ancestors().any(|folder| GENERATED.iter().any(|own| folder.ends_with(own)));
        let is_test = |path: &Path| path.ancestors().any(|folder| folder.ends_with("src/test"));
        let from = kept.from.as_deref().unwrap_or(Path::new(""));
        let shared = |path: &Path| path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
        let nearest = all.iter().max_by_key(|path| shared(path));
        match nearest {
            Some(path) if is_generated(path) => Found::Generated,
            Some(path) if is_test(path) => Found::Test((*path).clone()),
            Some(path) => Found::Source((*path).clone()),
            None => Found::Nothing,
        }
    }
}

/// Whether a source says that it is of a package.
fn has_package(path: &Path, package: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let own = line.and_then(|rest| rest.split(';').next()).map_or("", str::trim);
    own.replace('.', "/") == package
}

/// What the compiler says of a source first, if it refuses it.
fn refusal(said: &str, source: &Path) -> Option<String> {
    let begin = format!("{}:", source.display());
    let line = said.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(line.split_once("error: ").map_or(line, |(_, what)| what).trim().to_string())
}

/// What is asked of classes that came from one place.
struct Asked<'a> {
    criteria: &'a [String],
    class_path: &'a [PathBuf],
    scratch: &'a Path,
}

/// Java 1.0.2 had the version 45, and every release since then one more.
const BEFORE_FIRST: u16 = 44;

impl Asked<'_> {
    /// Their records, or why there are none, in a sentence.
    fn records(&self, classes: &[(Kept, PathBuf)], units: &Path) -> Result<Vec<UnitRecord>, String> {
        let (program, classes, mut records) = self.program(classes)?;
        let criteria: Vec<&'static dyn GoalCriterion> =
            self.criteria.iter().filter_map(|name| criterion_named(name)).collect();
        let options = CriteriaOptions::default();
        let described = self.each(&program, &classes, &mut |kept, source, known| -> Result<(), String> {
            let file = source.display().to_string();
            let plan = std::fs::read(plans::plan_of(units, class_unit(&kept.bytes, self.criteria))).ok();
            // The agent may not have had it.
            let plan = plan.filter(|plan| planned_unit(class_unit(&kept.bytes, self.criteria), plan) == kept.unit);
            records.push(match known {
                Err(why) => unprobed_class_record(kept.unit, file, ProbeObstacle::NotRead(why)),
                Ok((module, methods)) => class_record(&JavaClass {
                    unit: kept.unit,
                    bytes: &kept.bytes,
                    class: &kept.class,
                    plan: plan.as_deref(),
                    file,
                    module,
                    methods,
                    criteria: &criteria,
                    options: &options,
                }),
            });
            Ok(())
        });
        described.map(|()| records)
    }

    /// The program that they are, those that are in it, and records of the others; or why there is none, in a sentence.
    fn program<'k>(&self, classes: &'k [(Kept, PathBuf)]) -> Result<Read<'k>, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string().lines().take(2).collect::<Vec<_>>().join(" ");
        let jdk = Jdk::find().map_err(|error| said(&error))?;
        let (loaded, compiled) = (self.scratch.join("loaded"), self.scratch.join("compiled"));
        for (kept, _) in classes {
            let path = loaded.join(format!("{}.class", kept.class.name));
            let folder = path.parent().unwrap_or(&loaded);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, &kept.bytes))
                .map_err(|error| said(&error))?;
        }
        let path: Vec<PathBuf> = std::iter::once(loaded.clone()).chain(self.class_path.iter().cloned()).collect();
        let mut classes: Vec<&(Kept, PathBuf)> = classes.iter().collect();
        let mut records = Vec::new();
        // A source that the compiler refuses is left out, with its classes: the others are compiled without it.
        let marks = loop {
            match self.compiled(&jdk, &classes, &path, &compiled) {
                Ok(marks) => break marks,
                Err(JdkError::Refused(text)) => {
                    let refused = |(_, source): &&(Kept, PathBuf)| refusal(&text, source);
                    let (without, with): (Vec<_>, Vec<_>) = classes.iter().partition(|class| refused(class).is_none());
                    if with.is_empty() || without.is_empty() {
                        return Err(said(&JdkError::Refused(text)));
                    }
                    records.extend(with.iter().map(|class| {
                        let why =
                            ProbeObstacle::NotRead(format!("javac refuses it: {}", refused(class).unwrap_or_default()));
                        unprobed_class_record(class.0.unit, class.1.display().to_string(), why)
                    }));
                    classes = without;
                }
                Err(error) => return Err(said(&error)),
            }
        };
        let helper = jdk.helper(self.scratch).map_err(|error| said(&error))?;
        let setup = ProgramSetup {
            java_home: jdk.home.clone(),
            release: jdk.release,
            class_path: path.into_iter().chain([helper.join(LABELS_DIR)]).collect(),
            main_class: String::new(),
            locale: ("en".to_string(), String::new()),
            arguments: Vec::new(),
        };
        let program = Program::of_methods(setup, Some(marks)).map_err(|error| said(&error))?;
        Ok((program, classes, records))
    }

    /// Compiles the sources of classes again. What the source says of methods that became other code is forgotten.
    fn compiled(
        &self,
        jdk: &Jdk,
        classes: &[&(Kept, PathBuf)],
        path: &[PathBuf],
        to: &Path,
    ) -> Result<SourceMarks, JdkError> {
        let sources: BTreeSet<PathBuf> = classes.iter().map(|(_, source)| source.clone()).collect();
        let sources: Vec<PathBuf> = sources.into_iter().collect();
        let release = classes.first().map(|(kept, _)| u32::from(kept.class.major.saturating_sub(BEFORE_FIRST)));
        let root = classes.first().and_then(|(kept, source)| {
            source.ancestors().nth(kept.class.name.split('/').count()).map(Path::to_path_buf)
        });
        let how = CompileOptions { source_path: root.as_deref(), release, module: None };
        let mut marks = jdk.compile(&sources, path, &how, to)?.marks;
        for (kept, _) in classes {
            let bytes = std::fs::read(to.join(format!("{}.class", kept.class.name))).unwrap_or_default();
            if let Ok(again) = ClassFile::read(&bytes) {
                marks.keep_matching(&kept.class, &again);
            }
        }
        Ok(marks)
    }

    /// Tells of each class what its methods are, or why nobody knows.
    fn each<E>(
        &self,
        program: &Program,
        classes: &[&(Kept, PathBuf)],
        told: &mut dyn FnMut(&Kept, &Path, Methods<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let names: Vec<String> = classes.iter().map(|(kept, _)| kept.class.name.to_string()).collect();
        let unloadable: BTreeMap<String, String> = program.add_program_classes(&names).into_iter().collect();
        let methods_of = |name: &String| -> Vec<FuncId> {
            let methods = program.methods(name).unwrap_or_default();
            methods.into_iter().map(|method| method.func).collect()
        };
        let methods: Vec<Vec<FuncId>> = names
            .iter()
            .map(|name| if unloadable.contains_key(name) { Vec::new() } else { methods_of(name) })
            .collect();
        let mut loaded = LoadedFunctions::default();
        program.load_without_callees(&methods.concat(), &mut loaded);
        let module = program.loaded(&loaded);
        for ((kept, source), methods) in classes.iter().zip(methods) {
            if let Some(why) = unloadable.get(&*kept.class.name) {
                told(kept, source, Err(why.clone()))?;
                continue;
            }
            let located: Vec<(FuncId, CodeLocations)> =
                methods.into_iter().filter_map(|func| Some((func, program.code_locations(func)?))).collect();
            told(kept, source, Ok((&module, &located)))?;
        }
        Ok(())
    }
}

/// The methods of a class and the program that they are of, or why nobody knows.
type Methods<'m> = Result<(&'m Module, &'m [(FuncId, CodeLocations)]), String>;

/// A program, classes that are in it, and records of those that are not.
type Read<'k> = (Program, Vec<&'k (Kept, PathBuf)>, Vec<UnitRecord>);
