//! The sandbox of replayed tests.
//!
//! A test calls the user's code with generated inputs, and that code may remove files, use the network or leave
//! processes behind. A small launcher (`runtime/sandbox/touchstone_sandbox.c`), compiled once and cached
//! (`object_cache.rs`), enters the layers that the kernel supports and executes the test program. The guard that is
//! linked into that program gives each test an empty directory, and names the calls that a test makes and that are
//! forbidden.
//!
//! It fails closed: if no layer protects files, no test is run ([`EmitError::NoSandbox`]) unless the user asked for a replay
//! without a sandbox.
//!
//! Deliberately not here: a sandbox for suites that users run themselves, which are plain programs.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler};
use crate::c::build::object_cache::ObjectCache;
use crate::c::build::runtime_files::{FILTER, GUARD, HEADER, LAUNCHER, RUNNER};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use touchstone_ir::Module;

/// The library functions that the guard wraps.
const WRAPPED_FUNCTIONS: &[&str] = &[
    "fopen",
    "fopen64",
    "freopen",
    "freopen64",
    "mkdir",
    "open",
    "open64",
    "remove",
    "rename",
    "rmdir",
    "tmpfile",
    "tmpfile64",
    "unlink",
];

/// A layer of the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// Landlock: no writes outside of the scratch directory.
    Landlock,
    /// Read-only mounts, for the same purpose, on kernels without Landlock.
    Mounts,
    /// Namespaces of users, processes and the network.
    Namespaces,
    /// A filter of system calls.
    Seccomp,
}

impl Layer {
    const ALL: [Layer; 4] = [Layer::Landlock, Layer::Mounts, Layer::Namespaces, Layer::Seccomp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Layer::Landlock => "landlock",
            Layer::Mounts => "mounts",
            Layer::Namespaces => "namespaces",
            Layer::Seccomp => "seccomp",
        }
    }
}

/// The sandbox and its policy.
#[derive(Clone, Debug)]
pub struct Sandbox {
    policy: Policy,
    /// A directory that all tests may write to, instead of a scratch directory for each.
    writable_dir: Option<PathBuf>,
    built: Arc<OnceLock<Harness>>,
    /// Held during the build, so that concurrent callers wait for it.
    building: Arc<Mutex<()>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Policy {
    /// All layers that the machine supports, except for these.
    Closed { without: Vec<Layer> },
    /// No confinement.
    Open,
}

/// The compiled parts that test programs are linked with and started by.
#[derive(Debug)]
struct Harness {
    /// The directory of the files; it is removed with the last user.
    _dir: tempfile::TempDir,
    runner: PathBuf,
    guard: Option<PathBuf>,
    launcher: Option<PathBuf>,
    layers: Vec<Layer>,
}

impl Sandbox {
    /// Returns a sandbox with every layer that the machine supports.
    pub fn closed() -> Sandbox {
        Sandbox::closed_without(&[])
    }

    /// Returns a sandbox as on a machine that lacks these layers.
    pub fn closed_without(layers: &[Layer]) -> Sandbox {
        Sandbox::of(Policy::Closed { without: layers.to_vec() })
    }

    /// Returns no sandbox: tests are plain processes in the current directory.
    pub fn open() -> Sandbox {
        Sandbox::of(Policy::Open)
    }

    /// Returns a sandbox of the same policy, in which programs may write to `directory`.
    pub fn with_writable_dir(&self, directory: &Path) -> Sandbox {
        Sandbox { writable_dir: Some(directory.to_path_buf()), ..Sandbox::of(self.policy.clone()) }
    }

    fn of(policy: Policy) -> Sandbox {
        Sandbox { policy, writable_dir: None, built: Arc::default(), building: Arc::default() }
    }

    /// Returns a sentence about what the replays so far were not protected from, or `None` if they were confined
    /// completely, or not run at all.
    pub fn unprotected(&self) -> Option<String> {
        if self.policy == Policy::Open {
            return Some("tests were replayed without a sandbox (--unsafe-replay)".to_string());
        }
        let layers = &self.built.get().filter(|harness| protects_files(&harness.layers))?.layers;
        let namespaces = layers.contains(&Layer::Namespaces) || layers.contains(&Layer::Mounts);
        let missing = match (layers.contains(&Layer::Seccomp), namespaces) {
            (true, true) => return None,
            (true, false) => "leaving processes of constructors behind (no user namespaces)",
            (false, true) => "changing modes and owners of files, and creating many processes (no seccomp)",
            (false, false) => "using the network and signalling other processes (no seccomp, no user namespaces)",
        };
        Some(format!("on this machine the replay is not prevented from {missing}"))
    }

    /// Returns the object files that every test program is linked with.
    pub(crate) fn objects(&self, compiler: &Compiler) -> Result<Vec<PathBuf>, EmitError> {
        let harness = self.harness(compiler)?;
        Ok([harness.runner.clone()].into_iter().chain(harness.guard.clone()).collect())
    }

    fn harness(&self, compiler: &Compiler) -> Result<&Harness, EmitError> {
        let _building = self.building.lock();
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        let built = self.build(compiler)?;
        Ok(self.built.get_or_init(|| built))
    }

    /// Builds the harness. Parts that do not compile or do not work here are left out, and reported afterwards.
    fn build(&self, compiler: &Compiler) -> Result<Harness, EmitError> {
        let dir = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
        let own = Compiler { dir: dir.path(), ..*compiler };
        if self.policy == Policy::Open {
            write(&own, &[("touchstone_test.h", HEADER)])?;
            let runner = compile(&own, "touchstone_test.c", RUNNER)?;
            return Ok(Harness { runner, guard: None, launcher: None, layers: Vec::new(), _dir: dir });
        }
        let Parts { runner, guard, launcher } = parts(&own)?;
        let scratch = dir.path().join("probe");
        std::fs::create_dir(&scratch).map_err(EmitError::io(&scratch))?;
        let layers = launcher.as_ref().map_or(Vec::new(), |launcher| self.layers(launcher, &scratch));
        Ok(Harness { runner, guard, launcher: launcher.filter(|_| !layers.is_empty()), layers, _dir: dir })
    }

    /// Returns the layers that work and that the policy admits. Mounts are used only without Landlock.
    fn layers(&self, launcher: &Path, scratch: &Path) -> Vec<Layer> {
        let Policy::Closed { without } = &self.policy else { return Vec::new() };
        let mut layers = working_layers(launcher, scratch);
        layers.retain(|layer| !without.contains(layer));
        if layers.contains(&Layer::Landlock) {
            layers.retain(|layer| *layer != Layer::Mounts);
        }
        layers
    }

    /// Returns linker flags that redirect library calls to the guard, except for functions that the program defines
    /// itself.
    pub(crate) fn link_flags(&self, module: &Module) -> Vec<String> {
        if self.built.get().is_none_or(|harness| harness.guard.is_none()) {
            return Vec::new();
        }
        let own = |name: &str| {
            module.function_named(name).is_some_and(|id| {
                let function = &module.functions[id];
                function.is_defined() && !function.is_library()
            })
        };
        WRAPPED_FUNCTIONS.iter().filter(|name| !own(name)).map(|name| format!("-Wl,--wrap={name}")).collect()
    }

    /// Returns the command that runs a test program, with write access to `scratch`.
    pub(crate) fn command(&self, program: &Path, scratch: &Path) -> Result<Command, EmitError> {
        if self.policy == Policy::Open {
            return Ok(Command::new(program));
        }
        let scratch = self.writable_dir.as_deref().unwrap_or(scratch);
        std::fs::create_dir_all(scratch).map_err(EmitError::io(scratch))?;
        let scratch = scratch.canonicalize().map_err(EmitError::io(scratch))?;
        let harness = self.built.get().filter(|harness| protects_files(&harness.layers)).ok_or(EmitError::NoSandbox)?;
        let launcher = harness.launcher.as_ref().ok_or(EmitError::NoSandbox)?;
        let names: Vec<&str> = harness.layers.iter().map(|layer| layer.name()).collect();
        let mut command = Command::new(launcher);
        command.args(["--parent", &std::process::id().to_string(), "--layers", &names.join(",")]);
        if self.writable_dir.is_some() {
            command.env("TOUCHSTONE_SANDBOXED", "1");
        }
        command.arg(scratch).arg(program);
        Ok(command)
    }
}

/// Returns true if these layers keep a program from writing to files outside of its directory. Without that, there is
/// no sandbox.
pub(crate) fn protects_files(layers: &[Layer]) -> bool {
    layers.contains(&Layer::Landlock) || layers.contains(&Layer::Mounts)
}

/// Returns the layers that the launcher finds to work on this machine.
fn working_layers(launcher: &Path, scratch: &Path) -> Vec<Layer> {
    let output = Command::new(launcher).arg("--probe").arg(scratch).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    Layer::ALL.into_iter().filter(|layer| text.lines().any(|line| line == layer.name())).collect()
}

/// Compiles the launcher into `dir`, for programs that are not linked with the guard, and returns it with the layers
/// that work here.
pub(crate) fn plain_launcher(cc: &str, dir: &Path) -> Option<(PathBuf, Vec<Layer>)> {
    const PROGRAM: &str = "touchstone_sandbox";
    let cache = ObjectCache::new(cc, &[FILTER, LAUNCHER], dir);
    let known = cache.as_ref().and_then(|cache| cache.find(&[PROGRAM])).map(|found| found.join(PROGRAM));
    let launcher = match known {
        Some(launcher) => launcher,
        None => {
            let (made, source) = (dir.join(PROGRAM), dir.join("touchstone_sandbox.c"));
            std::fs::write(dir.join("touchstone_filter.h"), FILTER).ok()?;
            std::fs::write(&source, LAUNCHER).ok()?;
            let output = Command::new(cc).args(["-O1", "-w", "-o"]).arg(&made).arg(source).output().ok()?;
            output.status.success().then_some(())?;
            cache.iter().for_each(|cache| cache.store(&[(PROGRAM, &made)]));
            made
        }
    };
    let scratch = dir.join("probe");
    std::fs::create_dir(&scratch).ok()?;
    let layers = working_layers(&launcher, &scratch);
    Some((launcher, layers))
}

/// The compiled files of the harness.
struct Parts {
    runner: PathBuf,
    guard: Option<PathBuf>,
    launcher: Option<PathBuf>,
}

/// Returns the compiled files of the runtime, from the cache if possible. Guard and launcher do not compile on every
/// machine and may be missing.
fn parts(compiler: &Compiler) -> Result<Parts, EmitError> {
    const RUNNER_OBJECT: &str = "touchstone_test.c.o";
    const GUARD_OBJECT: &str = "touchstone_guard.c.o";
    const PROGRAM: &str = "touchstone_sandbox";
    let cache = ObjectCache::new(&compiler.target.cc, &[HEADER, RUNNER, FILTER, GUARD, LAUNCHER], compiler.dir);
    if let Some(dir) = cache.as_ref().and_then(|cache| cache.find(&[RUNNER_OBJECT, GUARD_OBJECT, PROGRAM])) {
        let at = |name: &str| dir.join(name);
        return Ok(Parts { runner: at(RUNNER_OBJECT), guard: Some(at(GUARD_OBJECT)), launcher: Some(at(PROGRAM)) });
    }
    write(compiler, &[("touchstone_filter.h", FILTER), ("touchstone_test.h", HEADER)])?;
    let link = |object: PathBuf| compiler.link_plain(&object, PROGRAM);
    let (runner, guard, launcher) = std::thread::scope(|scope| {
        let guard = scope.spawn(|| compile(compiler, "touchstone_guard.c", GUARD));
        let launcher = scope.spawn(|| compile(compiler, "touchstone_sandbox.c", LAUNCHER).and_then(link));
        let runner = compile(compiler, "touchstone_test.c", RUNNER);
        let ended = "invariant: a compilation doesn't panic";
        (runner, guard.join().expect(ended), launcher.join().expect(ended))
    });
    let parts = Parts { runner: runner?, guard: guard.ok(), launcher: launcher.ok() };
    if let (Some(cache), Some(guard), Some(launcher)) = (&cache, &parts.guard, &parts.launcher) {
        cache.store(&[(RUNNER_OBJECT, &parts.runner), (GUARD_OBJECT, guard), (PROGRAM, launcher)]);
    }
    Ok(parts)
}

/// Writes runtime files into the compiler's directory.
fn write(compiler: &Compiler, files: &[(&str, &str)]) -> Result<(), EmitError> {
    files.iter().try_for_each(|(name, text)| {
        let path = compiler.dir.join(name);
        std::fs::write(&path, text).map_err(EmitError::io(&path))
    })
}

/// Writes a runtime file into the compiler's directory and compiles it.
fn compile(compiler: &Compiler, name: &str, text: &str) -> Result<PathBuf, EmitError> {
    write(compiler, &[(name, text)])?;
    compiler.compile(&compiler.dir.join(name), &[], &[], BuildVariant::Plain, &format!("{name}.o"))
}
