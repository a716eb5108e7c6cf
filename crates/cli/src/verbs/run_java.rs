//! `touchstone run` for Java: compiles sources with the user's javac, then interprets the classes and the JDK's own
//! bytecode.

use super::run::{Output, arrived};
use crate::plan::args::Run;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use touchstone_front_java::classfile::ClassFile;
use touchstone_front_java::path::Jar;
use touchstone_front_java::{LazyProgram, ProgramSetup, release_of};
use touchstone_interp::{End, LimitKind, Limits, Machine};

/// The maximum depth of the call stack.
const MAX_FRAMES: usize = 30_000;

/// The maximum size of all objects that the program allocates.
const MAX_HEAP_BYTES: u64 = 1 << 30;

/// Returns true if the files are a Java program.
pub fn is_java(files: &[PathBuf]) -> bool {
    files.iter().any(|file| {
        let extension = file.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("java" | "class" | "jar"))
    })
}

/// Runs `run`.
pub fn run(options: &Run) -> Result<ExitCode> {
    let home = java_home()?;
    let release = release_of(&home).with_context(|| format!("{} has no file `release`", home.display()))?;
    let scratch = tempfile::tempdir()?;
    let (class_path, main_class) = program(&options.files, &home, scratch.path())?;
    let arguments = options.arguments.clone();
    let setup = ProgramSetup { java_home: home, release, class_path, main_class, locale: locale(), arguments };
    let program = LazyProgram::new(setup)?;
    let limits = Limits { steps: u64::MAX, frames: MAX_FRAMES, heap_bytes: MAX_HEAP_BYTES };
    let mut machine = Machine::growing(program.module(), &program, limits);
    let mut output = Output::new();
    let end = machine.call(program.entry(), &[], &mut output);
    arrived(output)?;
    let at = |span: touchstone_base::Span| span.display(&program.files());
    Ok(match end {
        End::Returned(_) => ExitCode::SUCCESS,
        End::Exited(status) => ExitCode::from(status as u8),
        // The program might catch the error that a JVM throws, at another depth or size.
        End::Limit(LimitKind::Frames) => bail!("unsupported: a call stack of more than {MAX_FRAMES} frames"),
        End::Limit(LimitKind::Memory) => {
            bail!("unsupported: more than {} MiB of objects; the interpreter collects no garbage", MAX_HEAP_BYTES >> 20)
        }
        End::Unsupported { what, span } => bail!("unsupported: {what} at {}", at(span)),
        End::Error { kind, span } => bail!("internal: {kind} at {}", at(span)),
        End::Hung => bail!("the program is in an infinite loop"),
        End::Threw { .. } => bail!("an exception before the program began"),
        End::Assumed => bail!("an assumption of the program does not hold"),
        End::Limit(limit) => bail!("a limit of the interpreter was hit: {limit:?}"),
    })
}

/// Returns the class path and the main class of the given files. Sources are compiled into a temporary directory.
fn program(files: &[PathBuf], home: &Path, scratch: &Path) -> Result<(Vec<PathBuf>, String)> {
    let with = |extension: &str| -> Vec<&PathBuf> {
        files.iter().filter(|file| file.extension().is_some_and(|own| own == extension)).collect()
    };
    let (sources, classes, jars) = (with("java"), with("class"), with("jar"));
    if sources.len() + classes.len() + jars.len() != files.len() {
        bail!("a Java program consists of .java files, .class files or jars");
    }
    let jars_of_path: Vec<PathBuf> = jars.iter().map(|jar| jar.to_path_buf()).collect();
    if let Some(first) = sources.first() {
        let package = if first.is_file() { package_of(first)? } else { None };
        compile(&sources, package.as_deref(), &jars_of_path, home, scratch)?;
        let main = first.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let main = package.map_or(main.clone(), |package| format!("{package}.{main}"));
        let path = std::iter::once(scratch.to_path_buf()).chain(jars_of_path).collect();
        return Ok((path, main));
    }
    if let Some(first) = classes.first() {
        let bytes = std::fs::read(first).with_context(|| format!("can't read {}", first.display()))?;
        let class = ClassFile::read(&bytes).with_context(|| format!("{}", first.display()))?;
        let root = std::path::absolute(first)?;
        let depth = class.name.split('/').count();
        let root = root.ancestors().nth(depth).unwrap_or(Path::new("/")).to_path_buf();
        let path = std::iter::once(root).chain(jars_of_path).collect();
        return Ok((path, class.name.replace('/', ".")));
    }
    let jar = Jar::open(&jars_of_path[0])?;
    match jar.manifest("Main-Class")? {
        Some(main) => Ok((jars_of_path, main)),
        None => bail!("{} names no main class in its manifest", jars_of_path[0].display()),
    }
}

/// Compiles sources. The source path is the root directory of their package.
fn compile(sources: &[&PathBuf], package: Option<&str>, jars: &[PathBuf], home: &Path, scratch: &Path) -> Result<()> {
    for source in sources {
        if !source.is_file() {
            bail!("{}: no such file", source.display());
        }
    }
    let javac = home.join("bin").join("javac");
    if !javac.is_file() {
        bail!("{} has no javac: source needs a JDK, not only a JRE", home.display());
    }
    let mut command = Command::new(javac);
    command.args(["-g", "-nowarn", "-proc:none", "-encoding", "UTF-8", "-d"]).arg(scratch);
    let first = std::path::absolute(sources[0])?;
    let depth = 1 + package.map_or(0, |package| package.split('.').count());
    if let Some(root) = first.ancestors().nth(depth) {
        command.arg("-sourcepath").arg(root);
    }
    if !jars.is_empty() {
        command.arg("-cp").arg(std::env::join_paths(jars)?);
    }
    let output = command.args(sources).output().context("can't run javac")?;
    if !output.status.success() {
        bail!("javac refuses the program:\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}

/// Returns the package that a source file declares.
fn package_of(source: &Path) -> Result<Option<String>> {
    let text = std::fs::read_to_string(source).with_context(|| format!("can't read {}", source.display()))?;
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    Ok(line.and_then(|rest| rest.split(';').next()).map(|name| name.trim().to_string()))
}

/// Returns the language and the country of the environment, as the JVM does.
fn locale() -> (String, String) {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let value = set("LC_ALL").or_else(|| set("LC_MESSAGES")).or_else(|| set("LANG")).unwrap_or_default();
    let value = value.split(['.', '@']).next().unwrap_or_default();
    match value.split_once('_') {
        _ if matches!(value, "" | "C" | "POSIX") => ("en".to_string(), String::new()),
        Some((language, country)) => (language.to_string(), country.to_string()),
        None => (value.to_string(), String::new()),
    }
}

/// Returns the JDK: `JAVA_HOME`, else the JDK of the `java` on the path.
fn java_home() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        let home = PathBuf::from(home);
        if home.join("lib").join("modules").is_file() {
            return Ok(home);
        }
        bail!("JAVA_HOME is {}, which has no lib/modules: a JDK from 9 on is needed", home.display());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .filter_map(|directory| directory.join("java").canonicalize().ok())
        .filter_map(|java| Some(java.parent()?.parent()?.to_path_buf()))
        .find(|home| home.join("lib").join("modules").is_file());
    found.context("no JDK found: set JAVA_HOME, or put `java` on the path")
}
