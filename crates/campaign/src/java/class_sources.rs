//! The classes under test.

use super::error::JavaError;
use super::named_class;
use crate::externals::World;
use crate::request::Subject;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_front_java::path::Jar;
use touchstone_front_java::{CompileOptions, Jdk, ProgramError, SourceMarks, classfile::ClassFile};

/// What a program is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JavaFiles<'f> {
    /// What is tested.
    pub files: &'f [PathBuf],
    /// What that needs.
    pub libraries: &'f [PathBuf],
    /// Where compiled classes go.
    pub classes: &'f Path,
    /// Which methods are tested.
    pub subject: &'f Subject,
    /// What is said of methods without code.
    pub world: &'f World,
}

/// Whether these files are a Java program.
pub(crate) fn is_java(files: &[PathBuf]) -> bool {
    let of_java = |file: &PathBuf| match extension(file) {
        "java" | "class" | "jar" => true,
        "c" | "h" | "i" => false,
        _ => file.is_dir() || named_class::class(file).is_some(),
    };
    files.iter().any(of_java)
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// What files give: a class path, the classes under test, and what their source says.
#[derive(Default)]
pub(super) struct Given {
    pub(super) class_path: Vec<PathBuf>,
    pub(super) classes: Vec<String>,
    pub(super) marks: Option<SourceMarks>,
    /// Classes that come without source, and those that come with it.
    pub(super) bare: Vec<String>,
    pub(super) with_source: BTreeSet<String>,
    /// Methods whose code is not what their source was compiled to.
    pub(super) differ: usize,
    /// Classes that were named instead of a file.
    pub(super) named: Vec<String>,
}

pub(super) fn given(jdk: &Jdk, of: &JavaFiles<'_>) -> Result<Given, JavaError> {
    let (files, directory, libraries) = (of.files, of.classes, libraries(of.libraries)?);
    let mut given = Given::default();
    let mut sources: Vec<PathBuf> = Vec::new();
    for file in files {
        if let Some(class) = named_class::class(file) {
            given.named.push(class);
            continue;
        }
        if !file.exists() {
            return Err(JavaError::NoFile(file.clone()));
        }
        match extension(file) {
            _ if file.is_dir() => {
                let within = main_sources(file).unwrap_or_else(|| file.clone());
                of_directory(&within, &mut sources, &mut given)?;
            }
            "java" => sources.push(file.clone()),
            "class" => {
                let class = class_name(file)?;
                let root = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                let root = root.ancestors().nth(class.split('/').count()).unwrap_or(Path::new("/")).to_path_buf();
                given.add_path(root);
                given.classes.push(class);
            }
            "jar" => {
                let jar = Jar::open(file).map_err(|error| JavaError::Program(ProgramError::Path(error)))?;
                let classes = jar.classes();
                if !classes.is_empty() {
                    given.add_path(file.clone());
                }
                match classes.is_empty() {
                    true => sources.extend(unpacked(&jar, of.subject, &directory.with_file_name(SOURCES))?),
                    false => given.classes.extend(classes),
                }
            }
            _ => return Err(JavaError::OtherFile(file.clone())),
        }
    }
    if !sources.is_empty() {
        let root = source_root(&sources[0]);
        let path: Vec<PathBuf> = given.class_path.iter().chain(&libraries).cloned().collect();
        let release = given.classes.iter().find_map(|class| release(class, &given.class_path));
        let how = CompileOptions { source_path: root.as_deref(), release, module: None };
        let compiled = jdk.compile(&sources, &path, &how, directory)?;
        // A class that is there already is the one that is used.
        let there: BTreeSet<String> = given.classes.iter().cloned().collect();
        let mut marks = compiled.marks;
        for class in compiled.classes {
            match there.contains(&class) {
                true => given.differ += differing(&mut marks, &class, &given.class_path, directory),
                false => given.classes.push(class.clone()),
            }
            given.with_source.insert(class);
        }
        given.class_path.push(directory.to_path_buf());
        given.marks = Some(marks);
    }
    given.add_named(jdk, directory)?;
    given.bare = given.classes.iter().filter(|class| !given.with_source.contains(*class)).cloned().collect();
    libraries.into_iter().for_each(|library| given.add_path(library));
    match (given.classes.is_empty(), files.first()) {
        (true, Some(first)) => Err(JavaError::NoClass(first.clone())),
        _ => Ok(given),
    }
}

/// Where sources of jars go, beside the classes.
const SOURCES: &str = "touchstone-sources";

/// Unpacks the sources in a jar: those of the classes that are tested, where only some are; the compiler finds what these need.
fn unpacked(jar: &Jar, subject: &Subject, to: &Path) -> Result<Vec<PathBuf>, JavaError> {
    let wrong = |why: String| JavaError::NoClassFile { file: jar.file().to_path_buf(), why };
    let named = |source: &str| {
        let class = source.trim_end_matches(".java").rsplit('/').next().unwrap_or_default();
        let means = |name: &String| name.split('(').next().unwrap_or_default().split('.').any(|part| part == class);
        match subject {
            Subject::EveryFunction => true,
            Subject::Functions(names) => names.iter().any(means),
            Subject::Program(name) => means(name),
        }
    };
    let mut wanted = Vec::new();
    let _ = std::fs::remove_dir_all(to);
    for name in jar.names().filter(|name| name.ends_with(".java") && !name.ends_with("-info.java")) {
        if name.split('/').any(|part| part.is_empty() || part == ".." || part.contains('\\')) {
            continue;
        }
        let (path, bytes) = (to.join(name), jar.read(name).map_err(|error| wrong(error.to_string()))?);
        let directory = path.parent().unwrap_or(to);
        std::fs::create_dir_all(directory).map_err(|error| wrong(error.to_string()))?;
        std::fs::write(&path, bytes.unwrap_or_default()).map_err(|error| wrong(error.to_string()))?;
        if named(name) {
            wanted.push(path);
        }
    }
    Ok(wanted)
}

/// The class file of a class in the first place that has one.
fn class_file(class: &str, places: &[PathBuf]) -> Option<ClassFile> {
    let name = format!("{class}.class");
    let bytes = places.iter().find_map(|place| match place.is_dir() {
        true => std::fs::read(place.join(&name)).ok(),
        false => Jar::open(place).ok()?.read(&name).ok()?,
    })?;
    ClassFile::read(&bytes).ok()
}

/// The release of Java that a class was compiled for.
fn release(class: &str, places: &[PathBuf]) -> Option<u32> {
    /// Java 1.0.2 had 45, and every release since then one more.
    const BEFORE_FIRST: u16 = 44;
    let file = class_file(class, places)?;
    Some(u32::from(file.major.saturating_sub(BEFORE_FIRST)))
}

/// Forgets what the source says of methods that were compiled to other code; how many there are.
fn differing(marks: &mut SourceMarks, class: &str, places: &[PathBuf], compiled: &Path) -> usize {
    let compiled = class_file(class, &[compiled.to_path_buf()]);
    match (class_file(class, places), compiled) {
        (Some(used), Some(compiled)) => marks.keep_matching(&used, &compiled),
        _ => 0,
    }
}

/// What a class path says: a directory of jars is all of them.
fn libraries(places: &[PathBuf]) -> Result<Vec<PathBuf>, JavaError> {
    let mut found = Vec::new();
    for place in places {
        let all = place.file_name().is_some_and(|name| name == "*");
        let directory = if all { place.parent().unwrap_or(Path::new("")) } else { place };
        match directory.is_dir() {
            true => {
                let entries = std::fs::read_dir(directory).map_err(|_| JavaError::NoLibrary(place.clone()))?;
                let mut jars: Vec<PathBuf> =
                    entries.flatten().map(|entry| entry.path()).filter(|path| extension(path) == "jar").collect();
                jars.sort_unstable();
                found.extend((!all).then(|| directory.to_path_buf()).into_iter().chain(jars));
            }
            false if place.is_file() => found.push(place.clone()),
            false => return Err(JavaError::NoLibrary(place.clone())),
        }
    }
    Ok(found)
}

impl Given {
    fn add_path(&mut self, path: PathBuf) {
        if !self.class_path.contains(&path) {
            self.class_path.push(path);
        }
    }
}

/// Where a project of Maven or Gradle has what is tested, if a directory is one.
pub(super) fn main_sources(directory: &Path) -> Option<PathBuf> {
    Some(directory.join("src/main/java")).filter(|sources| sources.is_dir())
}

/// Whether a directory is no part of the program: tests of a project, and what its build leaves.
fn is_beside(directory: &Path) -> bool {
    let there = |name: &str| directory.with_file_name(name).is_file();
    directory.ends_with("src/test")
        || (directory.ends_with("target") && there("pom.xml"))
        || (directory.ends_with("build") && (there("build.gradle") || there("build.gradle.kts")))
}

fn of_directory(directory: &Path, sources: &mut Vec<PathBuf>, given: &mut Given) -> Result<(), JavaError> {
    let mut waiting = vec![directory.to_path_buf()];
    let (mut found, mut classes) = (Vec::new(), Vec::new());
    while let Some(next) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_info = path.file_stem().is_some_and(|stem| stem == "module-info" || stem == "package-info");
            match extension(&path) {
                _ if path.is_dir() && is_beside(&path) => {}
                _ if path.is_dir() => waiting.push(path),
                "java" if !is_info => found.push(path),
                "class" if !is_info => classes.push(path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    classes.sort_unstable();
    if !classes.is_empty() {
        given.add_path(directory.to_path_buf());
        for class in classes {
            given.classes.push(class_name(&class)?);
        }
    }
    sources.extend(found);
    Ok(())
}

fn class_name(file: &Path) -> Result<String, JavaError> {
    let wrong = |why: String| JavaError::NoClassFile { file: file.to_path_buf(), why };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let class = ClassFile::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(class.name.to_string())
}

/// The directory that the package of a source begins in.
fn source_root(source: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(source).ok()?;
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let package = line.and_then(|rest| rest.split(';').next()).map(str::trim);
    let depth = 1 + package.map_or(0, |package| package.split('.').count());
    std::path::absolute(source).ok()?.ancestors().nth(depth).map(Path::to_path_buf)
}
