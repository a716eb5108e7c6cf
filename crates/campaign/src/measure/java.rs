//! Makes records of what the agent left about Java programs: finds the sources of loaded classes and compiles them
//! again, because only the compiler knows which jump belongs to which condition.
//!
//! One circle: `offline.rs` reads the plans that `plans.rs` writes, which reads trees of classes as `offline.rs` does.

mod offline;
mod plans;

pub use offline::{OfflineRequest, ProbedClasses, instrument_classes};
pub use plans::{PlansRequest, plan_classes};

use crate::measure::error::MeasuringError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use touchstone_criteria::{CriteriaOptions, GoalCriterion, STATE, criterion_named};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::{
    CodeLocations, CompileOptions, Jdk, JdkError, LABELS_DIR, LazyProgram, LoadedFunctions, ProgramSetup, SourceMarks,
};
use touchstone_instrument::{
    JavaClass, ProbeObstacle, UnitRecord, class_record, class_unit, empty_class_record, planned_unit,
    unprobed_class_record,
};
use touchstone_ir::{FuncId, Module};

/// A class that was loaded with probes.
struct LoadedClass {
    unit: u64,
    bytes: Vec<u8>,
    class: ClassFile,
    /// The directory or jar that it came from.
    from: Option<PathBuf>,
}

/// The origin of classes, and the number of their version.
type PlaceAndVersion = (Option<PathBuf>, usize);

/// Writes records of classes that have none.
pub(super) fn explain(out: &Path, root: &Path, criteria: &[String]) -> Result<(), MeasuringError> {
    let units = out.join("units");
    let loaded = loaded(&units);
    if loaded.is_empty() {
        return Ok(());
    }
    let sources = Sources::below(root, out);
    let class_path = class_path(&units);
    // A class that was redefined while its program ran has several versions. Each is described separately: at most one
    // of them corresponds to the source.
    let mut versions: BTreeMap<(Option<PathBuf>, Arc<str>), usize> = BTreeMap::new();
    let mut by_place: BTreeMap<PlaceAndVersion, Vec<(LoadedClass, PathBuf)>> = BTreeMap::new();
    let is_state_only = criteria.iter().all(|criterion| criterion == STATE);
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
        let asked = ClassGroup { criteria, class_path: &class_path, scratch: &scratch.path().join(number.to_string()) };
        match asked.records(&classes, &units) {
            Ok(records) => records.iter().try_for_each(|record| write(&units, record))?,
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

/// Returns the classes without a record.
fn loaded(units: &Path) -> Vec<LoadedClass> {
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
        Some(LoadedClass { unit, bytes, class, from: Some(PathBuf::from(from)).filter(|from| from.is_absolute()) })
    };
    files.iter().filter_map(read).collect()
}

/// Returns all origins of classes, in any JVM.
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

/// The sources of a project, by file name.
struct Sources(BTreeMap<String, Vec<PathBuf>>);

/// Directories in which builds generate sources.
const GENERATED: [&str; 2] = ["target/generated-sources", "build/generated"];

/// The source of a class.
enum ClassSource {
    Source(PathBuf),
    /// The class is a test.
    Test(PathBuf),
    /// The build generated the source.
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

    /// Returns the source of a class: of several, the one nearest to the origin of the class.
    fn of(&self, loaded: &LoadedClass) -> ClassSource {
        let Some(name) = loaded.class.source_file() else { return ClassSource::Nothing };
        let package = loaded.class.name.rsplit_once('/').map_or("", |(package, _)| package);
        let in_package = |path: &&PathBuf| has_package(path, package);
        let all: Vec<&PathBuf> = self.0.get(&**name).into_iter().flatten().filter(in_package).collect();
        let is_generated =
            |path: &Path| path.ancestors().any(|folder| GENERATED.iter().any(|own| folder.ends_with(own)));
        let is_test = |path: &Path| path.ancestors().any(|folder| folder.ends_with("src/test"));
        let from = loaded.from.as_deref().unwrap_or(Path::new(""));
        let shared = |path: &Path| path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
        let nearest = all.iter().max_by_key(|path| shared(path));
        match nearest {
            Some(path) if is_generated(path) => ClassSource::Generated,
            Some(path) if is_test(path) => ClassSource::Test((*path).clone()),
            Some(path) => ClassSource::Source((*path).clone()),
            None => ClassSource::Nothing,
        }
    }
}

/// Returns true if a source file declares a package.
fn has_package(path: &Path, package: &str) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let own = line.and_then(|rest| rest.split(';').next()).map_or("", str::trim);
    own.replace('.', "/") == package
}

/// Returns the compiler's first message about a source file, if it rejects it.
fn refusal(said: &str, source: &Path) -> Option<String> {
    let begin = format!("{}:", source.display());
    let line = said.lines().find_map(|line| line.strip_prefix(&begin))?;
    Some(line.split_once("error: ").map_or(line, |(_, what)| what).trim().to_string())
}

/// The request for classes of one origin.
struct ClassGroup<'a> {
    criteria: &'a [String],
    class_path: &'a [PathBuf],
    scratch: &'a Path,
}

/// The major version of Java 1.0.2 was 45, and each release since then added one.
const BEFORE_FIRST: u16 = 44;

impl ClassGroup<'_> {
    /// Returns the records of classes, or the reason why there are none, as a sentence.
    fn records(&self, classes: &[(LoadedClass, PathBuf)], units: &Path) -> Result<Vec<UnitRecord>, String> {
        let (program, classes, mut records) = self.program(classes)?;
        let criteria: Vec<&'static dyn GoalCriterion> =
            self.criteria.iter().filter_map(|name| criterion_named(name)).collect();
        let options = CriteriaOptions::default();
        let described = self.each(&program, &classes, &mut |loaded, source, known| -> Result<(), String> {
            let file = source.display().to_string();
            let plan = std::fs::read(plans::plan_of(units, class_unit(&loaded.bytes, self.criteria))).ok();
            // The agent may have loaded the class without it.
            let plan = plan.filter(|plan| planned_unit(class_unit(&loaded.bytes, self.criteria), plan) == loaded.unit);
            records.push(match known {
                Err(why) => unprobed_class_record(loaded.unit, file, ProbeObstacle::NotRead(why)),
                Ok((module, methods)) => class_record(&JavaClass {
                    unit: loaded.unit,
                    bytes: &loaded.bytes,
                    class: &loaded.class,
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

    /// Returns the program, the classes in it, and records of the others; or the reason why there is none, as a
    /// sentence.
    fn program<'k>(&self, classes: &'k [(LoadedClass, PathBuf)]) -> Result<Read<'k>, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string().lines().take(2).collect::<Vec<_>>().join(" ");
        let jdk = Jdk::find().map_err(|error| said(&error))?;
        let (loaded, compiled) = (self.scratch.join("loaded"), self.scratch.join("compiled"));
        for (class, _) in classes {
            let path = loaded.join(format!("{}.class", class.class.name));
            let folder = path.parent().unwrap_or(&loaded);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&path, &class.bytes))
                .map_err(|error| said(&error))?;
        }
        let path: Vec<PathBuf> = std::iter::once(loaded.clone()).chain(self.class_path.iter().cloned()).collect();
        let mut classes: Vec<&(LoadedClass, PathBuf)> = classes.iter().collect();
        let mut records = Vec::new();
        // A source file that the compiler rejects is left out with its classes; the others are compiled without it.
        let marks = loop {
            match self.compiled(&jdk, &classes, &path, &compiled) {
                Ok(marks) => break marks,
                Err(JdkError::Refused(text)) => {
                    let refused = |(_, source): &&(LoadedClass, PathBuf)| refusal(&text, source);
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
        let program = LazyProgram::of_methods(setup, Some(marks)).map_err(|error| said(&error))?;
        Ok((program, classes, records))
    }

    /// Compiles the sources of classes again. Marks of methods with other code are removed.
    fn compiled(
        &self,
        jdk: &Jdk,
        classes: &[&(LoadedClass, PathBuf)],
        path: &[PathBuf],
        to: &Path,
    ) -> Result<SourceMarks, JdkError> {
        let sources: BTreeSet<PathBuf> = classes.iter().map(|(_, source)| source.clone()).collect();
        let sources: Vec<PathBuf> = sources.into_iter().collect();
        let release = classes.first().map(|(loaded, _)| u32::from(loaded.class.major.saturating_sub(BEFORE_FIRST)));
        let root = classes.first().and_then(|(loaded, source)| {
            source.ancestors().nth(loaded.class.name.split('/').count()).map(Path::to_path_buf)
        });
        let how = CompileOptions { source_path: root.as_deref(), release, module: None };
        let mut marks = jdk.compile(&sources, path, &how, to)?.marks;
        for (loaded, _) in classes {
            let bytes = std::fs::read(to.join(format!("{}.class", loaded.class.name))).unwrap_or_default();
            if let Ok(again) = ClassFile::read(&bytes) {
                marks.keep_matching(&loaded.class, &again);
            }
        }
        Ok(marks)
    }

    /// Calls a function for each class with its methods, or with the reason why they are unknown.
    fn each<E>(
        &self,
        program: &LazyProgram,
        classes: &[&(LoadedClass, PathBuf)],
        told: &mut dyn FnMut(&LoadedClass, &Path, Methods<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let names: Vec<String> = classes.iter().map(|(loaded, _)| loaded.class.name.to_string()).collect();
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
        for ((loaded, source), methods) in classes.iter().zip(methods) {
            if let Some(why) = unloadable.get(&*loaded.class.name) {
                told(loaded, source, Err(why.clone()))?;
                continue;
            }
            let located: Vec<(FuncId, CodeLocations)> =
                methods.into_iter().filter_map(|func| Some((func, program.code_locations(func)?))).collect();
            told(loaded, source, Ok((&module, &located)))?;
        }
        Ok(())
    }
}

/// The methods of a class with their program, or the reason why they are unknown.
type Methods<'m> = Result<(&'m Module, &'m [(FuncId, CodeLocations)]), String>;

/// A program, the classes in it, and records of the others.
type Read<'k> = (LazyProgram, Vec<&'k (LoadedClass, PathBuf)>, Vec<UnitRecord>);
