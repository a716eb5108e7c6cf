//! The user's JDK, and its compiler with the helper that records the source's decisions.
//!
//! The helper is compiled once for each JDK and cached in the user's cache directory, or compiled for each run if there
//! is none.

use super::java_compiler::{ARCHIVE_RELEASE, JAR, JavaCompiler};
use crate::coverage::source_marks::SourceMarks;
use crate::program::release_of;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};
use touchstone_base::StableHasher;

/// An error of the JDK or its compiler.
#[derive(Debug, thiserror::Error)]
pub enum JdkError {
    /// No JDK was found.
    #[error("no JDK found: set JAVA_HOME, or put `java` on the path")]
    None,
    /// `JAVA_HOME` is not a JDK.
    #[error("JAVA_HOME is {}, which has no lib/modules: a JDK from 9 on is needed", .0.display())]
    NoHome(PathBuf),
    /// The release is unknown.
    #[error("{} has no file `release`", .0.display())]
    NoRelease(PathBuf),
    /// The JDK has no compiler.
    #[error("{} has no javac: source needs a JDK, not only a JRE", .0.display())]
    NoCompiler(PathBuf),
    /// A process or file could not be started, read or written.
    #[error("{what}: {source}")]
    Io {
        /// The action.
        what: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The compiler rejects the source.
    #[error("javac refuses the program:\n{0}")]
    Refused(String),
    /// The helper does not work with this JDK, which is a bug.
    #[error("internal: the helper for javac does not work with this JDK:\n{0}")]
    Helper(String),
}

/// A JDK.
#[derive(Clone, Debug)]
pub struct Jdk {
    /// Its directory.
    pub home: PathBuf,
    /// Its feature release (17, 25).
    pub release: u32,
    /// The running compiler, which copies of this value share.
    compiler: Arc<JavaCompiler>,
    /// The directory of the compiled helper, after its first use.
    helper: Arc<Mutex<Option<PathBuf>>>,
}

/// The result of a compilation.
#[derive(Debug)]
pub struct CompiledSources {
    /// The marks of the source in the bytecode.
    pub marks: SourceMarks,
    /// The internal names of the compiled classes.
    pub classes: Vec<String>,
}

/// Helper sources in the compiler's own package.
const COMPILER_HELPERS: [(&str, &str); 2] = [
    ("TouchstoneGen.java", include_str!("../../helper/TouchstoneGen.java")),
    ("TouchstoneCompile.java", include_str!("../../helper/TouchstoneCompile.java")),
];

/// Helper sources with a `main` method.
const PROGRAMS: [(&str, &str); 2] = [
    ("TouchstoneMain.java", include_str!("../../helper/TouchstoneMain.java")),
    ("TouchstoneRunner.java", include_str!("../../helper/TouchstoneRunner.java")),
];

/// Replacement of JUnit where the class path has none.
const JUNIT_SHIM: [(&str, &str); 12] = [
    ("Checks.java", include_str!("../../helper/shim/touchstone/junit/Checks.java")),
    ("Assertions.java", include_str!("../../helper/shim/org/junit/jupiter/api/Assertions.java")),
    ("AfterEach.java", include_str!("../../helper/shim/org/junit/jupiter/api/AfterEach.java")),
    ("Assumptions.java", include_str!("../../helper/shim/org/junit/jupiter/api/Assumptions.java")),
    ("After.java", include_str!("../../helper/shim/org/junit/After.java")),
    ("Assume.java", include_str!("../../helper/shim/org/junit/Assume.java")),
    ("DisplayName.java", include_str!("../../helper/shim/org/junit/jupiter/api/DisplayName.java")),
    ("Test.java", include_str!("../../helper/shim/org/junit/jupiter/api/Test.java")),
    ("Executable.java", include_str!("../../helper/shim/org/junit/jupiter/api/function/Executable.java")),
    ("Assert.java", include_str!("../../helper/shim/org/junit/Assert.java")),
    ("junit4/Test.java", include_str!("../../helper/shim/org/junit/Test.java")),
    ("ThrowingRunnable.java", include_str!("../../helper/shim/org/junit/function/ThrowingRunnable.java")),
];

/// The subdirectory of the helper with the class for labels.
pub const LABELS_DIR: &str = "label";

/// The class for labels, unless the program has its own.
const LABEL: [(&str, &str); 1] = [("Label.java", include_str!("../../helper/label/touchstone/Label.java"))];

pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> JdkError {
    let what = what.into();
    move |source| JdkError::Io { what, source }
}

/// Options of a compilation.
#[derive(Clone, Copy, Debug, Default)]
pub struct CompileOptions<'p> {
    /// The directory of other sources.
    pub source_path: Option<&'p Path>,
    /// The release to compile for, as that of existing classes.
    pub release: Option<u32>,
    /// The module of the JDK that the sources belong to, and their directory.
    pub module: Option<(&'p str, &'p Path)>,
    /// The class path of annotation processors if they run. If it is empty, it is that of the program.
    pub processors: Option<&'p [PathBuf]>,
}

/// The word for annotation processors of the class path.
const OF_CLASS_PATH: &str = "processors";

/// The oldest release that current compilers support.
const OLDEST_RELEASE: u32 = 8;

impl Jdk {
    /// Finds the JDK of `JAVA_HOME`, else that of the `java` on the path.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Jdk, JdkError> {
        let home = home()?;
        let release = release_of(&home).ok_or_else(|| JdkError::NoRelease(home.clone()))?;
        Ok(Jdk { home, release, compiler: Arc::default(), helper: Arc::default() })
    }

    /// Returns the path of a program of the JDK.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// Returns the archive with the sources of the JDK's classes, if it is installed.
    pub fn sources(&self) -> Option<PathBuf> {
        Some(self.home.join("lib").join("src.zip")).filter(|file| file.is_file())
    }

    /// Compiles sources into a directory, which is emptied first.
    ///
    /// # Errors
    /// If there is no compiler, or it rejects the sources.
    pub fn compile(
        &self,
        sources: &[PathBuf],
        class_path: &[PathBuf],
        how: &CompileOptions<'_>,
        to: &Path,
    ) -> Result<CompiledSources, JdkError> {
        if !self.tool("javac").is_file() {
            return Err(JdkError::NoCompiler(self.home.clone()));
        }
        // Files of an earlier run are not part of this program.
        let _ = std::fs::remove_dir_all(to);
        std::fs::create_dir_all(to).map_err(io(to.display().to_string()))?;
        let helper = self.helper(to)?;
        let records = to.join("touchstone-records");
        let labels = helper.join(LABELS_DIR);
        // The compiler would look for the modules that a module requires on a module path. The class path has all classes.
        let is_module = |source: &&PathBuf| how.module.is_none() && source.ends_with("module-info.java");
        let sources = sources.iter().filter(|source| !is_module(source));
        let source_path = how.source_path.filter(|path| !path.join("module-info.java").is_file());
        let joined = std::env::join_paths(class_path.iter().chain([&labels])).unwrap_or_default();
        let release =
            how.release.map_or(String::new(), |release| release.min(self.release).max(OLDEST_RELEASE).to_string());
        let module = how.module.map_or(String::new(), |(module, within)| format!("{module}={}", within.display()));
        let mut request = vec!["marks".to_string(), records.display().to_string(), to.display().to_string()];
        request.push(joined.to_string_lossy().into_owned());
        request.push(source_path.unwrap_or(Path::new("")).display().to_string());
        let processors = match how.processors {
            None => String::new(),
            Some([]) => OF_CLASS_PATH.to_string(),
            Some(path) => std::env::join_paths(path).unwrap_or_default().to_string_lossy().into_owned(),
        };
        request.extend([release, module, processors]);
        request.extend(sources.map(|source| source.display().to_string()));
        let compiled = self.compiler.compile(&self.tool("java"), &helper, &request);
        if how.processors.is_some() {
            // Annotation processors may have changed the state of the JVM.
            self.compiler.stop();
        }
        compiled?;
        let text = std::fs::read_to_string(&records).map_err(io(records.display().to_string()))?;
        let marks =
            SourceMarks::parse(&text).ok_or_else(|| JdkError::Helper("its records can't be read".to_string()))?;
        let mut classes = Vec::new();
        collect_classes(to, String::new(), &mut classes);
        classes.sort_unstable();
        Ok(CompiledSources { marks, classes })
    }

    /// Compiles internal sources for the oldest supported release, into a directory with other classes.
    ///
    /// # Errors
    /// If there is no compiler, or it rejects the sources.
    pub fn compile_portable(&self, sources: &[PathBuf], to: &Path) -> Result<(), JdkError> {
        let release = OLDEST_RELEASE.to_string();
        self.compile_plainly(sources, &["--release", &release, "-Xlint:-options", "-g:none"], &[], to)
    }

    /// Compiles internal sources that use the program's classes, into a directory with other files.
    ///
    /// # Errors
    /// If there is no compiler, or it rejects the sources.
    pub fn compile_alongside(&self, sources: &[PathBuf], class_path: &[PathBuf], to: &Path) -> Result<(), JdkError> {
        self.compile_plainly(sources, &["-g"], class_path, to)
    }

    /// Compiles tests into a directory, which must exist.
    ///
    /// # Errors
    /// If there is no compiler, or it rejects the sources.
    pub fn compile_tests(&self, sources: &[PathBuf], class_path: &[PathBuf], to: &Path) -> Result<(), JdkError> {
        self.compile_plainly(sources, &["-g:none"], class_path, to)
    }

    /// Compiles sources without records and annotation processors.
    fn compile_plainly(
        &self,
        sources: &[PathBuf],
        options: &[&str],
        class_path: &[PathBuf],
        to: &Path,
    ) -> Result<(), JdkError> {
        if !self.tool("javac").is_file() {
            return Err(JdkError::NoCompiler(self.home.clone()));
        }
        let joined = |paths: &[PathBuf]| std::env::join_paths(paths).unwrap_or_default().to_string_lossy().into_owned();
        let helper = self.helper(to)?;
        let mut request = vec!["plain".to_string(), joined(sources)];
        request.extend(
            options
                .iter()
                .chain(&["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d"])
                .map(|option| option.to_string()),
        );
        request.extend([to.display().to_string(), "-cp".to_string(), joined(class_path)]);
        self.compiler.compile(&self.tool("java"), &helper, &request)
    }

    /// Returns the directory of the compiled helper: the compiler's helper, the test runner, in `shim` the replacement
    /// of JUnit, and in [`LABELS_DIR`] the class for labels. The scratch directory is used if nothing can be cached.
    ///
    /// # Errors
    /// If the helper can't be compiled.
    pub fn helper(&self, scratch: &Path) -> Result<PathBuf, JdkError> {
        let mut known = self.helper.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref().filter(|helper| is_complete(helper)) {
            Some(helper) => Ok(helper.clone()),
            None => Ok(known.insert(self.find_helper(scratch)?).clone()),
        }
    }

    fn find_helper(&self, scratch: &Path) -> Result<PathBuf, JdkError> {
        let mut hash = StableHasher::default();
        hash.write(self.home.display().to_string().as_bytes());
        hash.write(&std::fs::read(self.home.join("release")).unwrap_or_default());
        let texts = COMPILER_HELPERS.iter().chain(&PROGRAMS).chain(&JUNIT_SHIM).chain(&LABEL);
        texts.for_each(|(_, text)| hash.write(text.as_bytes()));
        let kept = touchstone_base::user_cache_dir()
            .map(|cache| cache.join(format!("touchstone/java/{:016x}", hash.finish())));
        if let Some(kept) = kept.as_ref().filter(|kept| is_complete(kept)) {
            return Ok(kept.clone());
        }
        let made = scratch.join("touchstone-helper");
        self.make_helper(&made)?;
        // The rename is atomic, since other processes may do the same. Errors only cost the cache entry.
        if let Some(kept) = kept
            && let Some(parent) = kept.parent()
            && std::fs::create_dir_all(parent).is_ok()
            && copy(&made, &parent.join(format!("new-{}", std::process::id()))).is_ok()
            && std::fs::rename(parent.join(format!("new-{}", std::process::id())), &kept).is_ok()
        {
            // The scratch directory is part of the class path, by which cached replays are found.
            let _ = std::fs::remove_dir_all(&made);
            if self.release >= ARCHIVE_RELEASE {
                JavaCompiler::archive_classes(&self.tool("java"), &kept, &kept.join("source").join(LABEL[0].0));
            }
            return Ok(kept);
        }
        Ok(made)
    }

    fn make_helper(&self, to: &Path) -> Result<(), JdkError> {
        let source = to.join("source");
        for directory in [source.join("junit4"), to.join("shim"), to.join(LABELS_DIR)] {
            std::fs::create_dir_all(&directory).map_err(io(directory.display().to_string()))?;
        }
        let (shim, labels) = (to.join("shim"), to.join(LABELS_DIR));
        for (files, into) in [(&COMPILER_HELPERS[..], to), (&PROGRAMS, to), (&JUNIT_SHIM, &shim), (&LABEL, &labels)] {
            for (name, text) in files {
                std::fs::write(source.join(name), text).map_err(io(*name))?;
            }
            let mut command = Command::new(self.tool("javac"));
            command.args(["-nowarn", "-proc:none", "-encoding", "UTF-8", "-d"]).arg(into);
            if files[0].0 == COMPILER_HELPERS[0].0 {
                command.arg("--patch-module").arg(format!("jdk.compiler={}", source.display()));
            }
            command.args(files.iter().map(|(name, _)| source.join(name)));
            let output = command.output().map_err(io("can't run javac"))?;
            if !output.status.success() {
                return Err(JdkError::Helper(String::from_utf8_lossy(&output.stderr).trim_end().to_string()));
            }
        }
        let mut command = Command::new(self.tool("jar"));
        command.args(["--create", "--file"]).arg(to.join(JAR)).arg("-C").arg(to).arg("TouchstoneMain.class");
        match command.output().map_err(io("can't run jar"))? {
            output if output.status.success() => Ok(()),
            output => Err(JdkError::Helper(String::from_utf8_lossy(&output.stderr).trim_end().to_string())),
        }
    }
}

/// Returns true if a directory contains the compiled helper.
fn is_complete(helper: &Path) -> bool {
    helper.join(JAR).is_file()
}

/// Collects the classes in a directory.
fn collect_classes(directory: &Path, package: String, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if name != "touchstone-helper" {
                collect_classes(&path, format!("{package}{name}/"), found);
            }
        } else if let Some(class) = name.strip_suffix(".class")
            && class != "module-info"
            && class != "package-info"
        {
            found.push(format!("{package}{class}"));
        }
    }
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target)?,
            false => std::fs::copy(entry.path(), target).map(|_| ())?,
        }
    }
    Ok(())
}

fn home() -> Result<PathBuf, JdkError> {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        let home = PathBuf::from(home);
        return match home.join("lib").join("modules").is_file() {
            true => Ok(home),
            false => Err(JdkError::NoHome(home)),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter_map(|directory| directory.join("java").canonicalize().ok())
        .filter_map(|java| Some(java.parent()?.parent()?.to_path_buf()))
        .find(|home| home.join("lib").join("modules").is_file())
        .ok_or(JdkError::None)
}
