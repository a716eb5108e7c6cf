//! The classes under test: finds them in the given files, directories and jars, and compiles sources.

use super::error::JavaError;
use super::named_class;
use crate::externals::ExternalSpecs;
use crate::request::Subject;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_front_java::path::Jar;
use touchstone_front_java::{CompileOptions, Jdk, ProgramError, SourceMarks, classfile::ClassFile};

/// The files that a program is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JavaFiles<'f> {
    /// Files under test.
    pub files: &'f [PathBuf],
    /// Libraries that they need.
    pub libraries: &'f [PathBuf],
    /// The directory for compiled classes.
    pub classes: &'f Path,
    /// The methods under test.
    pub subject: &'f Subject,
    /// Specifications of abstract methods.
    pub externals: &'f ExternalSpecs,
}

/// Returns true if these files are a Java program.
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

/// The class path, the classes under test, and facts from their source.
#[derive(Default)]
pub(super) struct ClassSet {
    pub(super) class_path: Vec<PathBuf>,
    pub(super) classes: Vec<String>,
    pub(super) marks: Option<SourceMarks>,
    /// Classes without source, and classes with source.
    pub(super) without_source: Vec<String>,
    pub(super) with_source: BTreeSet<String>,
    /// The number of methods with other code than their source compiles to.
    pub(super) mismatched_methods: usize,
    /// Classes that were given by name instead of a file.
    pub(super) named: Vec<String>,
}

pub(super) fn collect_classes(jdk: &Jdk, of: &JavaFiles<'_>) -> Result<ClassSet, JavaError> {
    let (files, directory, libraries) = (of.files, of.classes, libraries(of.libraries)?);
    let mut class_set = ClassSet::default();
    let mut sources: Vec<PathBuf> = Vec::new();
    for file in files {
        if let Some(class) = named_class::class(file) {
            class_set.named.push(class);
            continue;
        }
        if !file.exists() {
            return Err(JavaError::NoFile(file.clone()));
        }
        match extension(file) {
            _ if file.is_dir() => {
                let within = main_sources(file).unwrap_or_else(|| file.clone());
                of_directory(&within, &mut sources, &mut class_set)?;
            }
            "java" => sources.push(file.clone()),
            "class" => {
                let class = class_name(file)?;
                let root = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                let root = root.ancestors().nth(class.split('/').count()).unwrap_or(Path::new("/")).to_path_buf();
                class_set.add_path(root);
                class_set.classes.push(class);
            }
            "jar" => {
                let jar = Jar::open(file).map_err(|error| JavaError::Program(ProgramError::Path(error)))?;
                let classes = jar.classes();
                if !classes.is_empty() {
                    class_set.add_path(file.clone());
                }
                match classes.is_empty() {
                    true => sources.extend(unpacked(&jar, of.subject, &directory.with_file_name(SOURCES))?),
                    false => class_set.classes.extend(classes),
                }
            }
            _ => return Err(JavaError::OtherFile(file.clone())),
        }
    }
    if !sources.is_empty() {
        let root = source_root(&sources[0]);
        let path: Vec<PathBuf> = class_set.class_path.iter().chain(&libraries).cloned().collect();
        let release = class_set.classes.iter().find_map(|class| release(class, &class_set.class_path));
        let how = CompileOptions { source_path: root.as_deref(), release, ..CompileOptions::default() };
        let compiled = jdk.compile(&sources, &path, &how, directory)?;
        // An existing class takes precedence over the compiled one.
        let there: BTreeSet<String> = class_set.classes.iter().cloned().collect();
        let mut marks = compiled.marks;
        for class in compiled.classes {
            match there.contains(&class) {
                true => class_set.mismatched_methods += differing(&mut marks, &class, &class_set.class_path, directory),
                false => class_set.classes.push(class.clone()),
            }
            class_set.with_source.insert(class);
        }
        class_set.class_path.push(directory.to_path_buf());
        class_set.marks = Some(marks);
    }
    class_set.add_named_classes(jdk, directory)?;
    class_set.without_source =
        class_set.classes.iter().filter(|class| !class_set.with_source.contains(*class)).cloned().collect();
    libraries.into_iter().for_each(|library| class_set.add_path(library));
    match (class_set.classes.is_empty(), files.first()) {
        (true, Some(first)) => Err(JavaError::NoClass(first.clone())),
        _ => Ok(class_set),
    }
}

/// The directory for sources from jars, beside the classes.
const SOURCES: &str = "touchstone-sources";

/// Unpacks the sources in a jar, and returns those of the classes under test; the compiler finds the others.
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

/// Reads a class file from the first directory or jar that has it.
fn class_file(class: &str, places: &[PathBuf]) -> Option<ClassFile> {
    let name = format!("{class}.class");
    let bytes = places.iter().find_map(|place| match place.is_dir() {
        true => std::fs::read(place.join(&name)).ok(),
        false => Jar::open(place).ok()?.read(&name).ok()?,
    })?;
    ClassFile::read(&bytes).ok()
}

/// Returns the Java release that a class was compiled for.
fn release(class: &str, places: &[PathBuf]) -> Option<u32> {
    /// The major version of Java 1.0.2 was 45, and each release since then added one.
    const BEFORE_FIRST: u16 = 44;
    let file = class_file(class, places)?;
    Some(u32::from(file.major.saturating_sub(BEFORE_FIRST)))
}

/// Removes the marks of methods that compile to other code than the class has; returns their number.
fn differing(marks: &mut SourceMarks, class: &str, places: &[PathBuf], compiled: &Path) -> usize {
    let compiled = class_file(class, &[compiled.to_path_buf()]);
    match (class_file(class, places), compiled) {
        (Some(used), Some(compiled)) => marks.keep_matching(&used, &compiled),
        _ => 0,
    }
}

/// Expands a class path: a directory includes all jars in it.
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

impl ClassSet {
    fn add_path(&mut self, path: PathBuf) {
        if !self.class_path.contains(&path) {
            self.class_path.push(path);
        }
    }
}

/// Returns the source directory of a Maven or Gradle project, if the directory is one.
pub(super) fn main_sources(directory: &Path) -> Option<PathBuf> {
    Some(directory.join("src/main/java")).filter(|sources| sources.is_dir())
}

/// Returns true if a directory does not belong to the program: tests of a project, and build output.
fn is_outside_program(directory: &Path) -> bool {
    let there = |name: &str| directory.with_file_name(name).is_file();
    directory.ends_with("src/test")
        || (directory.ends_with("target") && there("pom.xml"))
        || (directory.ends_with("build") && (there("build.gradle") || there("build.gradle.kts")))
}

fn of_directory(directory: &Path, sources: &mut Vec<PathBuf>, class_set: &mut ClassSet) -> Result<(), JavaError> {
    let mut waiting = vec![directory.to_path_buf()];
    let (mut found, mut classes) = (Vec::new(), Vec::new());
    while let Some(next) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_info = path.file_stem().is_some_and(|stem| stem == "module-info" || stem == "package-info");
            match extension(&path) {
                _ if path.is_dir() && is_outside_program(&path) => {}
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
        class_set.add_path(directory.to_path_buf());
        for class in classes {
            class_set.classes.push(class_name(&class)?);
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

/// Returns the directory in which the package of a source begins.
fn source_root(source: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(source).ok()?;
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let package = line.and_then(|rest| rest.split(';').next()).map(str::trim);
    let depth = 1 + package.map_or(0, |package| package.split('.').count());
    std::path::absolute(source).ok()?.ancestors().nth(depth).map(Path::to_path_buf)
}
