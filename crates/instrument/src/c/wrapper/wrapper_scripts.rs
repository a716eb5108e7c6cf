//! The wrappers of compilers, which `measure` puts on the path before them.
//!
//! They stand where they stay: a build may remember the compiler that it found (CMake's cache does), and use it long after
//! the measurement and its directory are gone. Without `measure` around it a wrapper starts the compiler that it stands for.
//!
//! Deliberately not here: the environment of this process. Who asks says where programs are searched and where things stay.

use super::compiler_toolchain::INSIDE_WRAPPER_VARIABLE;
use crate::record::ProbeStorage;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use touchstone_base::stable_hash;
use touchstone_front_c::ClangServer;

/// Set for wrappers: where records and hits go.
pub const DIRECTORY_VARIABLE: &str = "TOUCHSTONE_DIR";
/// Set for wrappers: what is measured, separated by commas.
pub const CRITERIA_VARIABLE: &str = "TOUCHSTONE_CRITERIA";
/// Set for wrappers if executions are counted.
pub const COUNTS_VARIABLE: &str = "TOUCHSTONE_COUNTS";
/// Set if tests are to say what could be looked at where they end.
pub const SUGGEST_VARIABLE: &str = "TOUCHSTONE_SUGGEST";
/// Set for wrappers: where a user keeps what all measurements can use.
pub const CACHE_VARIABLE: &str = "TOUCHSTONE_CACHE";

/// The program that wrappers start.
const PROGRAM: &str = "TOUCHSTONE_PROGRAM";
/// Where programs that run leave their hits.
const HITS: &str = "TOUCHSTONE_HITS";
/// The clang that reads sources.
const CLANG: &str = "TOUCHSTONE_CLANG";

/// Names that compilers go by.
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

/// Programs that stand in for compilers, under their names: they look for the compiler on the path, and would find us.
const COMPILER_LAUNCHERS: [&str; 6] = ["ccache", "sccache", "distcc", "icecc", "colorgcc", "buildcache"];

/// A wrapper.
const WRAPPER: &str = include_str!("wrapper.sh");
/// How their directory is called, before what tells one from another.
const FOLDER: &str = "compilers-";

/// How one begins: by this it is known.
const WRAPPER_HEADER: &str = "#!/bin/sh\n# A wrapper of touchstone measure.";

/// Why there are no wrappers.
#[derive(Debug, thiserror::Error)]
pub enum WrapperError {
    /// There is no place for them.
    #[error("can't write wrappers to {}", folder.display())]
    NotWritten {
        /// The last that was tried.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A directory that can't stand in a list of directories.
    #[error(transparent)]
    Path(#[from] std::env::JoinPathsError),
}

/// What a build is started with, so that all that it compiles has probes.
#[derive(Clone, Debug)]
pub struct WrapperSetup<'a> {
    /// The program that wrappers start: it has the verb `cc`.
    pub program: &'a Path,
    /// Where records and hits go; wrappers, too, as the last resort.
    pub directory: &'a Path,
    /// What is measured.
    pub criteria: &'a [String],
    /// What probes keep.
    pub keeps: ProbeStorage,
    /// Tests say what could be looked at where they end.
    pub suggest: bool,
    /// Where programs are searched.
    pub path: &'a OsStr,
    /// Where wrappers may stay, and what is made of a compiler.
    pub cache: Option<&'a Path>,
    /// The clang that reads sources, if somebody said it already.
    pub reader: Option<&'a OsStr>,
}

impl WrapperSetup<'_> {
    /// Puts wrappers before the compilers of a command, and tells them what to do. What comes back must stay until it ended.
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
        // What a cache gives was compiled for another measurement, or for none.
        command.env("CCACHE_DISABLE", "1").env("SCCACHE_RECACHE", "1");
        Ok(WrapperGuard { _stays: stays })
    }

    /// The clang that reads sources: as asked for, or the newest on the path. It is no compiler of the build, so it is none of
    /// our wrappers.
    fn clang(&self) -> Option<PathBuf> {
        let names = (14..=40).rev().map(|version| format!("clang-{version}"));
        let mut names = std::iter::once("clang".to_string()).chain(names);
        let asked = self.reader.map(PathBuf::from);
        asked.or_else(|| names.find_map(|name| find_real_compiler(name.as_ref(), self.path)))
    }

    /// Makes wrappers for all compilers that are on the path, and gives their directory.
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

/// What has to stay while a command runs.
pub struct WrapperGuard {
    _stays: Option<ResidentClang>,
}

/// A clang that stays while a command runs, and the directory of its socket.
struct ResidentClang {
    _clang: ClangServer,
    directory: tempfile::TempDir,
}

impl ResidentClang {
    /// Without it everything takes longer, and nothing else.
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

/// The compiler of this name on a path: no wrapper, and none that only stands in for it, unless there is no other.
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

/// A path without directories of wrappers: whoever looks for a compiler there does not come back to us.
pub fn path_without_wrappers(path: &OsStr) -> OsString {
    let others = std::env::split_paths(path).filter(|folder| {
        let named = folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(FOLDER.as_bytes()));
        !named || !COMPILERS.iter().any(|name| is_wrapper(&folder.join(name)))
    });
    std::env::join_paths(others).unwrap_or_else(|_| path.to_os_string())
}

/// The word by which a command or its surroundings name a compiler with its place: no wrapper is asked for it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` names a compiler by its place; what it compiled has no probes (say CC=gcc)")]
pub struct AbsoluteCompilerPath(String);

impl AbsoluteCompilerPath {
    /// The first such word of a command, of words around it (`CC=…`), or of what CMake remembers.
    pub fn find(command: &[String], surroundings: &[String]) -> Option<AbsoluteCompilerPath> {
        let cache =
            |folder: &str| std::fs::read_to_string(Path::new(folder).join("CMakeCache.txt")).unwrap_or_default();
        let remembered = [".", "build"].map(cache);
        let words = command.iter().flat_map(|word| word.split_whitespace());
        let lines = remembered.iter().flat_map(|text| text.lines()).filter(|line| line.contains("C_COMPILER:"));
        let named = words.chain(lines).chain(surroundings.iter().map(String::as_str)).find(|word| {
            let place = Path::new(word.rsplit('=').next().unwrap_or_default().trim_matches(['"', '\'']));
            let compiler = place.file_name().is_some_and(|name| COMPILERS.iter().any(|compiler| name == *compiler));
            place.is_absolute() && compiler && !is_wrapper(place)
        });
        named.map(|named| AbsoluteCompilerPath(named.to_string()))
    }
}

/// A command compiled nothing that we saw.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the command compiled no C file through cc, gcc or clang, and loaded no Java class of the project: {}", self.hint())]
pub struct NothingCompiled(pub Option<AbsoluteCompilerPath>);

impl NothingCompiled {
    fn hint(&self) -> String {
        match &self.0 {
            Some(AbsoluteCompilerPath(named)) => {
                format!("`{named}` names its compiler by its place, so that no probes get in: say CC=gcc")
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
