//! What keeps replayed tests from harming anybody.
//!
//! A test calls the user's code with inputs that nobody chose, and that code may remove files, talk to the network or
//! leave processes behind. A small launcher (`runtime/sandbox/touchstone_sandbox.c`), compiled once and cache (`cache.rs`), enters the
//! layers that the kernel has and becomes the test program; the guard that is linked into that program gives each test an
//! empty directory, and says by name what a test called and may not.
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

/// Functions of the library that the guard stands before.
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

/// A part of the sandbox.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// No writes outside of the scratch directory, by the kernel's landlock.
    Landlock,
    /// The same by read-only mounts, where there is no landlock.
    Mounts,
    /// Own users, processes and network.
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

/// Whether and how replayed tests are cache in.
#[derive(Clone, Debug)]
pub struct Sandbox {
    policy: Policy,
    /// Tests may write to all of this directory, instead of one of their own.
    writable_dir: Option<PathBuf>,
    built: Arc<OnceLock<Harness>>,
    /// Held while it is built: whoever comes then waits.
    building: Arc<Mutex<()>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Policy {
    /// With all layers that the machine has, but these.
    Closed { without: Vec<Layer> },
    /// Not at all.
    Open,
}

/// What test programs are linked with and started by.
#[derive(Debug)]
struct Harness {
    /// Has the files; goes with the last user.
    _dir: tempfile::TempDir,
    runner: PathBuf,
    guard: Option<PathBuf>,
    launcher: Option<PathBuf>,
    layers: Vec<Layer>,
}

impl Sandbox {
    /// As closed as the machine can.
    pub fn closed() -> Sandbox {
        Sandbox::closed_without(&[])
    }

    /// The same, as if the machine did not have these layers.
    pub fn closed_without(layers: &[Layer]) -> Sandbox {
        Sandbox::of(Policy::Closed { without: layers.to_vec() })
    }

    /// Tests are plain processes in the current directory.
    pub fn open() -> Sandbox {
        Sandbox::of(Policy::Open)
    }

    /// The same kind of sandbox for programs that leave something in a directory.
    pub fn with_writable_dir(&self, directory: &Path) -> Sandbox {
        Sandbox { writable_dir: Some(directory.to_path_buf()), ..Sandbox::of(self.policy.clone()) }
    }

    fn of(policy: Policy) -> Sandbox {
        Sandbox { policy, writable_dir: None, built: Arc::default(), building: Arc::default() }
    }

    /// What nothing protects from in the replays so far, as a sentence; `None` if there is nothing of the kind.
    pub fn unprotected(&self) -> Option<String> {
        if self.policy == Policy::Open {
            return Some("tests were replayed without a sandbox (--unsafe-replay)".to_string());
        }
        let harness = self.built.get()?;
        let has = |layer| harness.layers.contains(&layer);
        let namespaces = has(Layer::Namespaces) || has(Layer::Mounts);
        let mut missing = Vec::new();
        if !has(Layer::Landlock) && !has(Layer::Mounts) {
            missing.push("writing files outside of its directory (no landlock, no user namespaces)");
        }
        match (has(Layer::Seccomp), namespaces) {
            (true, true) => {}
            (true, false) => missing.push("leaving processes of constructors behind (no user namespaces)"),
            (false, true) => {
                missing.push("changing modes and owners of files, and making many processes (no seccomp)");
            }
            (false, false) => {
                missing.push("using the network and signalling other processes (no seccomp, no user namespaces)");
            }
        }
        let list = missing.join(", and from ");
        (!missing.is_empty()).then(|| format!("on this machine nothing keeps the replay from {list}"))
    }

    /// The objects that every test program is linked with.
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

    /// What can't be compiled or does not work here is left out, and told afterwards.
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

    /// The layers that the launcher found to work and that are wanted. Mounts are only a substitute.
    fn layers(&self, launcher: &Path, scratch: &Path) -> Vec<Layer> {
        let Policy::Closed { without } = &self.policy else { return Vec::new() };
        let mut layers = working_layers(launcher, scratch);
        layers.retain(|layer| !without.contains(layer));
        if layers.contains(&Layer::Landlock) {
            layers.retain(|layer| *layer != Layer::Mounts);
        }
        layers
    }

    /// The linker's words that lead calls of the library to the guard; what the program defines itself stays its own.
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

    /// The command that runs a test program, in a directory `scratch` that it may write to.
    pub(crate) fn command(&self, program: &Path, scratch: &Path) -> Result<Command, EmitError> {
        if self.policy == Policy::Open {
            return Ok(Command::new(program));
        }
        let scratch = self.writable_dir.as_deref().unwrap_or(scratch);
        std::fs::create_dir_all(scratch).map_err(EmitError::io(scratch))?;
        let scratch = scratch.canonicalize().map_err(EmitError::io(scratch))?;
        let Some((harness, launcher)) = self.built.get().and_then(|built| Some((built, built.launcher.as_ref()?)))
        else {
            let mut command = Command::new(program);
            command.current_dir(&scratch).env("TOUCHSTONE_SCRATCH", &scratch).env("TMPDIR", &scratch);
            return Ok(command);
        };
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

/// The layers that a launcher finds to work here.
fn working_layers(launcher: &Path, scratch: &Path) -> Vec<Layer> {
    let output = Command::new(launcher).arg("--probe").arg(scratch).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    Layer::ALL.into_iter().filter(|layer| text.lines().any(|line| line == layer.name())).collect()
}

/// The launcher by itself, for programs that are not linked with our guard, and the layers that work here. What is made goes into
/// a directory.
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

/// What the harness is made of.
struct Parts {
    runner: PathBuf,
    guard: Option<PathBuf>,
    launcher: Option<PathBuf>,
}

/// Our files, compiled: cache by an earlier run, or made now. What only some machines can compile may be missing.
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

/// Writes files of ours into the compiler's directory.
fn write(compiler: &Compiler, files: &[(&str, &str)]) -> Result<(), EmitError> {
    files.iter().try_for_each(|(name, text)| {
        let path = compiler.dir.join(name);
        std::fs::write(&path, text).map_err(EmitError::io(&path))
    })
}

/// Writes a file of ours into the compiler's directory and compiles it.
fn compile(compiler: &Compiler, name: &str, text: &str) -> Result<PathBuf, EmitError> {
    write(compiler, &[(name, text)])?;
    compiler.compile(&compiler.dir.join(name), &[], &[], BuildVariant::Plain, &format!("{name}.o"))
}
