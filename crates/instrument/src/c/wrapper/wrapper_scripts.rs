//! Wrapper scripts, which `measure` puts on the path before the compilers.
//!
//! They are in a stable directory: a build may store the path of its compiler, as CMake does in its cache, and use it
//! after the measurement. Outside of a measurement a wrapper runs the compiler of its own name.
//!
//! Deliberately not here: the environment of this process. The caller passes the search path and the directories.

use super::compiler_toolchain::INSIDE_WRAPPER_VARIABLE;
use crate::record::ProbeStorage;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_base::stable_hash;
use touchstone_front_c::ClangServer;

/// The environment variable with the directory of records and hits.
pub const DIRECTORY_VARIABLE: &str = "TOUCHSTONE_DIR";
/// The environment variable with the measured criteria, separated by commas.
pub const CRITERIA_VARIABLE: &str = "TOUCHSTONE_CRITERIA";
/// The environment variable that is set if executions are counted.
pub const COUNTS_VARIABLE: &str = "TOUCHSTONE_COUNTS";
/// The environment variable that is set if expressions at the end of tests are observed.
pub const SUGGEST_VARIABLE: &str = "TOUCHSTONE_SUGGEST";
/// The environment variable with the user's cache, which all measurements share.
pub const CACHE_VARIABLE: &str = "TOUCHSTONE_CACHE";

/// The environment variable with the program that wrappers run.
const PROGRAM: &str = "TOUCHSTONE_PROGRAM";
/// The environment variable with the directory of hits.
const HITS: &str = "TOUCHSTONE_HITS";
/// The environment variable with the clang that reads sources.
const CLANG: &str = "TOUCHSTONE_CLANG";

/// The names of compilers.
const COMPILERS: [&str; 18] = [
    "cc",
    "gcc",
    "clang",
    "c99",
    "c89",
    "gcc-12",
    "gcc-13",
    "gcc-14",
    "clang-19",
    "x86_64-linux-gnu-gcc",
    "c++",
    "g++",
    "clang++",
    "g++-12",
    "g++-13",
    "g++-14",
    "clang++-19",
    "x86_64-linux-gnu-g++",
];

/// Programs that run compilers under their names. They search the path for the compiler, where they would find the
/// wrapper.
const COMPILER_LAUNCHERS: [&str; 6] = ["ccache", "sccache", "distcc", "icecc", "colorgcc", "buildcache"];

/// The wrapper script.
const WRAPPER: &str = include_str!("wrapper.sh");
/// The prefix of the wrappers' directory.
const FOLDER: &str = "compilers-";

/// The beginning of a wrapper, by which it is recognised.
const WRAPPER_HEADER: &str = "#!/bin/sh\n# A wrapper of touchstone measure.";

/// The reason why wrappers can't be used.
#[derive(Debug, thiserror::Error)]
pub enum WrapperError {
    /// No directory for wrappers is writable.
    #[error("can't write wrappers to {}", folder.display())]
    NotWritten {
        /// The last directory that was tried.
        folder: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A directory can't be an element of `PATH`.
    #[error(transparent)]
    Path(#[from] std::env::JoinPathsError),
}

/// The set-up of a build that instruments everything that it compiles.
#[derive(Clone, Debug)]
pub struct WrapperSetup<'a> {
    /// The program that wrappers run, with the verb `cc`.
    pub program: &'a Path,
    /// The directory of records and hits, and of wrappers if there is no cache.
    pub directory: &'a Path,
    /// The measured criteria.
    pub criteria: &'a [String],
    /// The content of a probe.
    pub keeps: ProbeStorage,
    /// True if the expressions at the end of tests are observed, for suggestions.
    pub suggest: bool,
    /// The search path of programs.
    pub path: &'a OsStr,
    /// The cache, for wrappers and for results that depend on the compiler.
    pub cache: Option<&'a Path>,
    /// The clang that reads sources, if the user named one.
    pub reader: Option<&'a OsStr>,
}

impl WrapperSetup<'_> {
    /// Puts wrappers before the compilers of a command and sets their environment. The result must live until the
    /// command has ended.
    pub fn wrap_compilers(&self, command: &mut Command) -> Result<WrapperGuard, WrapperError> {
        let wrappers = self.make()?;
        let behind = path_without_wrappers(self.path);
        let path = std::env::join_paths(std::iter::once(wrappers.clone()).chain(std::env::split_paths(&behind)))?;
        command
            .env("PATH", path)
            .env(PROGRAM, self.program)
            .env_remove(INSIDE_WRAPPER_VARIABLE)
            .env(DIRECTORY_VARIABLE, self.directory);
        if self.keeps == ProbeStorage::Counts {
            command.env(COUNTS_VARIABLE, "1");
        }
        if self.suggest {
            command.env(SUGGEST_VARIABLE, "1");
        }
        command.envs(self.cache.map(|cache| (CACHE_VARIABLE, cache)));
        command.env(CRITERIA_VARIABLE, self.criteria.join(",")).env(HITS, self.directory.join("hits"));
        let clang = self.clang();
        let stays = clang.as_deref().and_then(|clang| ResidentClang::start(clang, &wrappers));
        command.envs(clang.iter().map(|clang| (CLANG, clang)));
        command
            .envs(stays.iter().zip(&clang).flat_map(|(stays, clang)| ClangServer::variables(clang, &stays.socket())));
        // A compiler cache would return objects without these probes.
        command.env("CCACHE_DISABLE", "1").env("SCCACHE_RECACHE", "1");
        Ok(WrapperGuard { _stays: stays })
    }

    /// Returns the clang that reads sources: the requested one, or the newest on the path. It is never a wrapper.
    fn clang(&self) -> Option<PathBuf> {
        let names = (14..=40).rev().map(|version| format!("clang-{version}"));
        let mut names = std::iter::once("clang".to_string()).chain(names);
        let asked = self.reader.map(PathBuf::from);
        asked.or_else(|| names.find_map(|name| find_real_compiler(name.as_ref(), self.path)))
    }

    /// Creates wrappers for all compilers on the path, and returns their directory.
    fn make(&self) -> Result<PathBuf, WrapperError> {
        let is_there = |name: &&str| find_real_compiler(name.as_ref(), self.path).is_some();
        let names: Vec<&str> = COMPILERS.into_iter().filter(is_there).collect();
        let folder = format!("{FOLDER}{:08x}", stable_hash(&(names.join(" ").as_str(), WRAPPER)) & 0xffff_ffff);
        if let Some(stable) = self.cache.map(|cache| cache.join(&folder))
            && fill(&stable, &names).is_ok()
        {
            return Ok(stable);
        }
        let beside = self.directory.join(folder);
        match fill(&beside, &names) {
            Ok(()) => Ok(beside),
            Err(source) => Err(WrapperError::NotWritten { folder: beside, source }),
        }
    }
}

/// Resources that must live while a command runs.
pub struct WrapperGuard {
    _stays: Option<ResidentClang>,
}

/// A clang process that serves a whole build, and the directory of its socket.
struct ResidentClang {
    _clang: ClangServer,
    directory: tempfile::TempDir,
}

impl ResidentClang {
    /// Starts the process. Without it everything works, but takes longer.
    fn start(clang: &Path, library: &Path) -> Option<ResidentClang> {
        let only_ours = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().permissions(only_ours).tempdir().ok()?;
        let clang = ClangServer::start(clang, library, &ResidentClang::socket_in(directory.path()))?;
        Some(ResidentClang { _clang: clang, directory })
    }

    fn socket(&self) -> PathBuf {
        ResidentClang::socket_in(self.directory.path())
    }

    fn socket_in(directory: &Path) -> PathBuf {
        directory.join("clang")
    }
}

fn fill(folder: &Path, names: &[&str]) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for name in names {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == WRAPPER.as_bytes()) {
            continue;
        }
        let mut made = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut made, WRAPPER.as_bytes())?;
        made.as_file().set_permissions(std::fs::Permissions::from_mode(0o755))?;
        made.persist(&path)?;
    }
    Ok(())
}

/// Finds the compiler of a name on a path. Wrappers are skipped, and launchers unless there is nothing else.
pub fn find_real_compiler(name: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let mut first = None;
    for candidate in std::env::split_paths(path).map(|folder| folder.join(name)) {
        if !is_program(&candidate) || is_wrapper(&candidate) {
            continue;
        }
        if !is_launcher(&candidate) {
            return Some(candidate);
        }
        first = first.or(Some(candidate));
    }
    first
}

/// Returns a path without the directories of wrappers.
pub fn path_without_wrappers(path: &OsStr) -> OsString {
    let others = std::env::split_paths(path).filter(|folder| {
        let named = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(FOLDER.as_bytes()));
        !named || !COMPILERS.iter().any(|name| is_wrapper(&folder.join(name)))
    });
    std::env::join_paths(others).unwrap_or_else(|_| path.to_os_string())
}

/// A compiler that a command or its environment names by an absolute path, which bypasses the wrappers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{word}` names a compiler by its place; what it compiled has no probes ({})", self.remedy())]
pub struct AbsoluteCompilerPath {
    /// The word that names the compiler.
    word: String,
    /// The directory of the CMake cache that contains it, if it is from there.
    cmake: Option<PathBuf>,
}

impl AbsoluteCompilerPath {
    /// Finds the first such word in a command, in environment variables (`CC=…`) or in CMake's cache.
    pub fn find(command: &[String], environment: &[String]) -> Option<AbsoluteCompilerPath> {
        let is_compiler = |word: &&str| {
            let place = Path::new(word.rsplit('=').next().unwrap_or_default().trim_matches(['"', '\'']));
            let compiler = place.file_name().is_some_and(|name| COMPILERS.iter().any(|compiler| name == *compiler));
            place.is_absolute() && compiler && !is_wrapper(place)
        };
        let words = || command.iter().flat_map(|word| word.split_whitespace());
        let mut all = words().chain(environment.iter().map(String::as_str));
        if let Some(word) = all.find(is_compiler) {
            return Some(AbsoluteCompilerPath { word: word.to_string(), cmake: None });
        }
        // Build directories are mostly named in the command: `cmake --build out`.
        let plain = |word: &str| word.trim_matches(['"', '\'', ';', '&']).to_string();
        let named = words().map(plain).map(|word| word.strip_prefix("-B").map(str::to_string).unwrap_or(word));
        let folders = [".", "build"].map(str::to_string).into_iter().chain(named.filter(|word| !word.is_empty()));
        folders.map(PathBuf::from).find_map(|folder| {
            let cache = std::fs::read_to_string(folder.join("CMakeCache.txt")).ok()?;
            let line = cache.lines().filter(|line| line.contains("C_COMPILER:")).find(is_compiler)?;
            Some(AbsoluteCompilerPath { word: line.to_string(), cmake: Some(folder) })
        })
    }

    /// Returns what the user can do.
    fn remedy(&self) -> String {
        match &self.cmake {
            None => "set CC=gcc".to_string(),
            Some(folder) => format!(
                "delete {} or configure a new build directory within the measured command, because CMake keeps the \
                 compiler of its first run",
                folder.join("CMakeCache.txt").display()
            ),
        }
    }
}

/// The error for a command that compiled nothing through the wrappers.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the command compiled no C file through cc, gcc or clang, and loaded no Java class of the project: {}", self.hint())]
pub struct NothingCompiled(pub Option<AbsoluteCompilerPath>);

impl NothingCompiled {
    fn hint(&self) -> String {
        match &self.0 {
            Some(named) => {
                format!(
                    "`{}` names its compiler by its place, so that no probes get in: {}",
                    named.word,
                    named.remedy()
                )
            }
            None => {
                "if everything is built already, clean first; a daemon of Gradle that runs already is not seen, so say \
                     --no-daemon"
                    .to_string()
            }
        }
    }
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn is_wrapper(path: &Path) -> bool {
    let mut head = [0; WRAPPER_HEADER.len()];
    std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head)).is_ok()
        && head == *WRAPPER_HEADER.as_bytes()
}

fn is_launcher(path: &Path) -> bool {
    let real = path.canonicalize().unwrap_or_default();
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    COMPILER_LAUNCHERS.iter().any(|stand_in| name.starts_with(stand_in))
}
