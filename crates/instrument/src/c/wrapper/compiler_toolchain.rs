//! The user's compiler: how it is started, what it is, and what is made with it once and kept.

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

/// Set for every compiler that a wrapper starts: whatever comes back to a wrapper from there is only passed on.
pub const INSIDE_WRAPPER_VARIABLE: &str = "TOUCHSTONE_INSIDE";

/// How wrappers tell this program to take its memory; a compiler is not told.
pub const ALLOCATOR_VARIABLE: &str = "MIMALLOC_ARENA_EAGER_COMMIT";

/// A compiler.
pub(crate) struct CompilerToolchain<'a> {
    pub compiler: &'a str,
    pub kept: ContentCache,
    /// What is made of the compiler alone is of use to all measurements of a user.
    shared: Option<ContentCache>,
    /// Changes when the compiler does.
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

    /// What was made of this compiler before.
    fn made_before(&self, key: u64) -> Option<String> {
        self.shared.as_ref().and_then(|shared| shared.get(key)).or_else(|| self.kept.get(key))
    }

    /// Keeps what is made of it. A cache may be somebody else's, so the measurement has it as well.
    fn keep(&self, key: u64, made: &str) {
        self.shared.iter().chain([&self.kept]).for_each(|kept| kept.put(key, made));
    }

    /// Starts the compiler; what it does in the end is the caller's.
    pub fn command(&self) -> Command {
        command(self.compiler, self.path)
    }

    /// Runs it without a terminal; what it says is kept.
    pub fn run_captured<S: AsRef<OsStr>>(&self, words: &[S]) -> std::io::Result<Output> {
        self.command().args(words).stdin(Stdio::null()).output()
    }

    /// The flag that makes clang claim this compiler's version of GNU C.
    pub fn gnu_version(&self) -> Option<String> {
        let key = stable_hash(&("gnu version", self.identity));
        if let Some(known) = self.made_before(key) {
            return Some(known).filter(|flag| !flag.is_empty());
        }
        let found = touchstone_front_c::gnu_version(self.compiler);
        self.keep(key, found.as_deref().unwrap_or_default());
        found
    }

    /// The runtime, in a form that fits behind a unit.
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

/// A command that starts a compiler so that nothing that it starts comes back to us.
pub(crate) fn command(compiler: &str, path: Option<&OsStr>) -> Command {
    let mut command = Command::new(compiler);
    command.env(INSIDE_WRAPPER_VARIABLE, "1").env_remove(ALLOCATOR_VARIABLE).envs(path.map(|path| ("PATH", path)));
    command
}

/// Where a program is: as it is named, or on the path.
fn resolve_program(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").filter(|_| !name.contains('/')).unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file());
    found.unwrap_or_else(|| PathBuf::from(name))
}

/// Size and time of a file.
pub(crate) fn file_stamp(path: &Path) -> (u64, u64) {
    let meta = std::fs::metadata(path).ok();
    let time = meta.as_ref().and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
    (meta.map_or(0, |meta| meta.len()), time.map_or(0, |time| time.as_nanos() as u64))
}

pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}
