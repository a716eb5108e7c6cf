//! The user's compiler: how it is run, its identity, and the runtime that it compiles.

use super::compile_command::{CompileCommand, CompilerFamily};
use super::probing_options::ProbingOptions;
use crate::c::probes::{self as runtime, EventRecording, RuntimeForm};
use crate::record::{ProbeObstacle, system};
use crate::storage::ContentCache;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::time::UNIX_EPOCH;
use touchstone_base::stable_hash;

/// The environment variable of every compiler that a wrapper runs. A wrapper that finds it set only runs the real
/// compiler.
pub const INSIDE_WRAPPER_VARIABLE: &str = "TOUCHSTONE_INSIDE";

/// The environment variable with which wrappers configure the allocator of this program; compilers don't get it.
pub const ALLOCATOR_VARIABLE: &str = "MIMALLOC_ARENA_EAGER_COMMIT";

/// A compiler.
pub(crate) struct CompilerToolchain<'a> {
    pub compiler: &'a str,
    pub kept: ContentCache,
    /// The user's cache of results that depend on the compiler alone.
    shared: Option<ContentCache>,
    /// A hash that changes with the compiler.
    pub identity: u64,
    pub family: CompilerFamily,
    path: Option<&'a OsStr>,
}

impl<'a> CompilerToolchain<'a> {
    pub fn new(compiler: &'a str, probing: &'a ProbingOptions<'_>) -> CompilerToolchain<'a> {
        let real = resolve_program(compiler).canonicalize().unwrap_or_else(|_| PathBuf::from(compiler));
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let identity = stable_hash(&(real.to_string_lossy().as_ref(), file_stamp(&real)));
        let clang = name.contains("clang") || compiler.contains("clang");
        let family = if clang { CompilerFamily::Clang } else { CompilerFamily::Gcc };
        let (kept, shared) = (ContentCache::of(&probing.directory), probing.cache.as_deref().map(ContentCache::of));
        CompilerToolchain { compiler, kept, shared, identity, family, path: probing.path.as_deref() }
    }

    /// Returns a cached result.
    fn made_before(&self, key: u64) -> Option<String> {
        self.shared.as_ref().and_then(|shared| shared.get(key)).or_else(|| self.kept.get(key))
    }

    /// Caches a result. The user's cache may be unavailable later, so the measurement keeps a copy.
    fn keep(&self, key: u64, made: &str) {
        self.shared.iter().chain([&self.kept]).for_each(|kept| kept.put(key, made));
    }

    /// Returns a command that runs the compiler.
    pub fn command(&self) -> Command {
        command(self.compiler, self.path)
    }

    /// Runs the compiler without a terminal, and captures its output.
    pub fn run_captured<S: AsRef<OsStr>>(&self, words: &[S]) -> std::io::Result<Output> {
        self.command().args(words).stdin(Stdio::null()).output()
    }

    /// Returns the flag that makes clang report the same GNU C version as this compiler.
    pub fn gnu_version(&self) -> Option<String> {
        let key = stable_hash(&("gnu version", self.identity));
        if let Some(known) = self.made_before(key) {
            return Some(known).filter(|flag| !flag.is_empty());
        }
        let found = touchstone_front_c::gnu_version(self.compiler);
        self.keep(key, found.as_deref().unwrap_or_default());
        found
    }

    /// Returns the runtime in a form that can be appended to a unit.
    pub fn runtime(
        &self,
        command: &CompileCommand,
        form: RuntimeForm,
        events: EventRecording,
    ) -> Result<String, ProbeObstacle> {
        let machine = command.machine();
        let source = match form {
            RuntimeForm::Assembly => runtime::source(events),
            RuntimeForm::Text => runtime::source_behind_unit(events),
        };
        let key = stable_hash(&("runtime", self.identity, source.as_str(), machine.join("\n").as_str(), form));
        if let Some(known) = self.made_before(key) {
            return Ok(known);
        }
        let made = self.make_runtime(&machine, form, &source)?;
        self.keep(key, &made);
        Ok(made)
    }

    fn make_runtime(&self, machine: &[String], form: RuntimeForm, source: &str) -> Result<String, ProbeObstacle> {
        const ASSEMBLY: [&str; 9] = [
            "-S",
            "-O1",
            "-fPIC",
            "-w",
            "-fno-asynchronous-unwind-tables",
            "-fno-unwind-tables",
            "-fno-stack-protector",
            "-fno-common",
            "-fno-lto",
        ];
        let scratch = tempfile::tempdir().map_err(system)?;
        let (from, to) = (scratch.path().join("runtime.c"), scratch.path().join("made"));
        std::fs::write(&from, source).map_err(system)?;
        let flags: &[&str] = if form == RuntimeForm::Assembly { &ASSEMBLY } else { &["-E", "-P"] };
        let mut words: Vec<&OsStr> = flags.iter().map(OsStr::new).chain(machine.iter().map(OsStr::new)).collect();
        words.extend([OsStr::new("-x"), OsStr::new("c"), from.as_os_str(), OsStr::new("-o"), to.as_os_str()]);
        let made = self.run_captured(&words).map_err(system)?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(ProbeObstacle::RuntimeDoesNotCompile(said.lines().next().unwrap_or_default().to_string()));
        }
        let text = std::fs::read_to_string(&to).map_err(system)?;
        Ok(match form {
            RuntimeForm::Assembly => format!("# 1 \"<touchstone>\" 3\n{}", runtime::as_declaration(&text)),
            RuntimeForm::Text => format!("# 1 \"<touchstone>\" 3\n{text}"),
        })
    }
}

/// Returns a command that runs a compiler so that its child processes don't use the wrappers.
pub(crate) fn command(compiler: &str, path: Option<&OsStr>) -> Command {
    let mut command = Command::new(compiler);
    command.env(INSIDE_WRAPPER_VARIABLE, "1").env_remove(ALLOCATOR_VARIABLE).envs(path.map(|path| ("PATH", path)));
    command
}

/// Returns the path of a program, as it is named or on `PATH`.
fn resolve_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").filter(|_| !name.contains('/')).unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
    found.unwrap_or_else(|| PathBuf::from(name))
}

/// Returns the size and modification time of a file.
pub(crate) fn file_stamp(path: &Path) -> (u64, u64) {
    let meta = std::fs::metadata(path).ok();
    let time = meta.as_ref().and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    (meta.map_or(0, |meta| meta.len()), time.map_or(0, |time| time.as_nanos() as u64))
}

pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
