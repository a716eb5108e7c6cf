//! The judges' tools, and programs built with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A coverage tool that judges our claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judge {
    Llvm,
    Gcov,
}

/// The required programs; `setup.sh test` installs them.
const TOOLS: [&str; 5] = ["clang-19", "llvm-profdata-19", "llvm-cov-19", "gcc", "gcov"];

/// Returns true if all judges are installed. In CI a missing judge is a failure.
pub fn judges_are_here() -> bool {
    let here = |tool: &&str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    let mut missing: Vec<&str> = TOOLS.into_iter().filter(|tool| !here(tool)).collect();
    if missing.is_empty() && !profile_runtime_is_here() {
        missing.push("libclang-rt-19-dev (clang-19's profile runtime)");
    }
    if missing.is_empty() {
        return true;
    }
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0");
    assert!(!ci, "missing: {}; setup.sh installs them", missing.join(", "));
    eprintln!("skipped: no {}; setup.sh installs what is missing", missing.join(", "));
    false
}

/// Debian has the runtime in a package of its own.
fn profile_runtime_is_here() -> bool {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let source = scratch.path().join("probe.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").expect("writable");
    let mut command = Command::new("clang-19");
    command.args(Judge::Llvm.instrumentation()).arg(&source).arg("-o").arg(scratch.path().join("probe"));
    command.output().is_ok_and(|output| output.status.success())
}

impl Judge {
    fn compiler(self) -> &'static str {
        match self {
            Judge::Llvm => "clang-19",
            Judge::Gcov => "gcc",
        }
    }

    fn instrumentation(self) -> &'static [&'static str] {
        match self {
            Judge::Llvm => &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"],
            Judge::Gcov => &["--coverage"],
        }
    }
}

/// The objects that every program of a judge is linked with: the runner, and code that saves the counters of processes
/// that end early.
pub struct Kit {
    judge: Judge,
    dir: tempfile::TempDir,
}

impl Kit {
    /// Compiled once.
    pub fn new(judge: Judge) -> Kit {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let runtime = root.join("../emit/runtime");
        let kit = Kit { judge, dir };
        let workshop = kit.workshop(kit.dir.path(), &runtime);
        workshop.compile(&runtime.join("touchstone_test.c"), "runner.o", &[]);
        workshop.compile(&root.join("tests/cli/judges/flush.c"), "flush.o", &[]);
        kit
    }

    /// A place to build in; `include` is where `touchstone.h` and the like are.
    pub fn workshop<'a>(&'a self, dir: &'a Path, include: &'a Path) -> Workshop<'a> {
        Workshop { judge: self.judge, kit: self, dir, include }
    }
}

/// A directory in which one program is built and run.
pub struct Workshop<'a> {
    judge: Judge,
    kit: &'a Kit,
    pub dir: &'a Path,
    include: &'a Path,
}

impl Workshop<'_> {
    /// Compiles to an object file, with the semantics that replays have.
    pub fn compile(&self, source: &Path, object: &str, flags: &[&str]) -> PathBuf {
        let object = self.dir.join(object);
        let mut command = Command::new(self.judge.compiler());
        command.current_dir(self.dir).args(["-O0", "-w", "-fwrapv", "-fno-strict-aliasing", "-isystem"]);
        command.arg(self.include).args(flags).arg("-c").arg(source).arg("-o").arg(&object);
        succeed(&mut command);
        object
    }

    /// The same, with counters.
    pub fn instrument(&self, source: &Path, object: &str, flags: &[&str]) -> PathBuf {
        self.compile(source, object, &[self.judge.instrumentation(), flags].concat())
    }

    /// Links with the kit.
    pub fn link(&self, objects: &[PathBuf]) -> PathBuf {
        let kit = ["runner.o", "flush.o"].map(|object| self.kit.dir.path().join(object));
        let program = self.dir.join("program");
        let mut command = Command::new(self.judge.compiler());
        command.args(&self.judge.instrumentation()[..1]).arg("-Wl,--wrap=_exit").args(objects).args(kit);
        succeed(command.arg("-lm").arg("-o").arg(&program));
        program
    }

    /// Runs the program: all its tests must pass, since a suite that doesn't hold shows nothing. What failed, if so.
    pub fn run(&self, program: &Path) -> Result<(), String> {
        // %m: processes add to one file, under a lock.
        let profile = self.dir.join("%m.profraw");
        let output = Command::new(program).current_dir(self.dir).env("LLVM_PROFILE_FILE", profile).output();
        let output = output.expect("the program runs");
        let failed = || format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stdout));
        if output.status.success() { Ok(()) } else { Err(failed()) }
    }
}

/// Runs a command that must succeed.
pub fn succeed(command: &mut Command) -> Output {
    let output = command.env("LC_ALL", "C").output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (&output.stdout, &output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{}{}", output.status, text(stdout), text(stderr));
    output
}
