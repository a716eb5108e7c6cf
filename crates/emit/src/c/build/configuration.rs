//! The configuration of a build: translation units with their flags, the compiler, and the limits of the replay.

use crate::EmitError;
use crate::c::build::compiler::Compiler;
use crate::c::build::preprocessor::PreprocessedUnits;
use crate::c::build::sandbox::Sandbox;
use crate::c::build::unit_objects::UnitObjects;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_base::FileId;
use touchstone_ir::{Function, Module};

/// The way in which the user's program is compiled.
#[derive(Clone, Debug)]
pub struct Build {
    /// All source files of the program.
    pub units: Vec<SourceUnit>,
    /// The directory that has `touchstone.h` and `klee/klee.h`.
    pub include_dir: PathBuf,
    /// The C compiler.
    pub cc: String,
    /// The limits of the replay.
    pub limits: ReplayLimits,
    /// The sandbox of the replay.
    pub sandbox: Sandbox,
    /// Nothing more is compiled or run after this becomes true.
    pub interrupt: Arc<AtomicBool>,
    /// The preprocessed translation units, as far as they were needed.
    pub preprocessed: PreprocessedUnits,
    /// The object files that were compiled so far.
    pub unit_objects: UnitObjects,
}

/// A translation unit of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceUnit {
    /// The source file.
    pub path: PathBuf,
    /// The compiler flags.
    pub flags: Vec<String>,
}

/// The limits of the replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayLimits {
    /// The timeout of one test, in seconds.
    pub seconds: u32,
    /// The memory limit of one test, in MiB.
    pub memory_mib: u32,
    /// The time for all tests of one function, in seconds. A compilation that is running when it expires completes, but
    /// its program is not run.
    pub total_seconds: u32,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        ReplayLimits { seconds: 10, memory_mib: 1024, total_seconds: 1800 }
    }
}

impl Build {
    /// Compiles the parts that every replay needs, before the first test arrives. A failure is reported when the part
    /// is used.
    pub fn prepare(&self, module: &Module) {
        let Ok(dir) = self.unit_objects.dir() else { return };
        let _ = self.sandbox.objects(&Compiler { target: self, module, dir: &dir });
    }

    /// Returns the unit whose main file is this file of the module.
    pub(crate) fn unit_of_file(&self, module: &Module, file: FileId) -> Option<usize> {
        let path = Path::new(module.files.get(file)?);
        let exact = self.units.iter().position(|unit| unit.path == path);
        exact.or_else(|| self.units.iter().position(|unit| same_file(&unit.path, path)))
    }

    /// Returns the unit that tests of a function include: the unit that defines the function, or one that includes the
    /// header that does. If several include the header, the function's qualified name selects one; otherwise the first
    /// is used.
    pub(crate) fn unit_defining(&self, module: &Module, function: &Function) -> Result<usize, EmitError> {
        if let Some(unit) = self.unit_of_file(module, function.span.file) {
            return Ok(unit);
        }
        let file = module.files.get(function.span.file).cloned().unwrap_or_default();
        let name = Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let includes = |unit: &SourceUnit| {
            let mut command = Command::new(&self.cc);
            command.args(&unit.flags).arg("-I").arg(&self.include_dir).args(["-w", "-M"]).arg(&unit.path);
            let list = command.output().map(|output| output.stdout).unwrap_or_default();
            // `-M` escapes blanks in file names by a backslash.
            let list = String::from_utf8_lossy(&list).replace("\\\n", " ").replace("\\ ", "\u{1}").replace("\\#", "#");
            list.split_whitespace().any(|path| Path::new(&path.replace('\u{1}', " ")).ends_with(&name))
        };
        let is_named = |unit: &SourceUnit| {
            function
                .name
                .split_once('@')
                .is_some_and(|(_, said)| unit.path.ends_with(said.split('$').next().unwrap_or(said)))
        };
        let with_header = |unit: &SourceUnit| !name.is_empty() && includes(unit);
        let named = self.units.iter().position(|unit| is_named(unit) && with_header(unit));
        let found = named.or_else(|| self.units.iter().position(with_header));
        found.ok_or(EmitError::NoUnit { function: function.name.clone(), file })
    }

    /// Returns true after an interrupt.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Returns the unit that tests of a function include, as an index into the units.
    pub fn unit_with(&self, module: &Module, function: &Function) -> Option<usize> {
        self.unit_defining(module, function).ok()
    }

    /// Returns the flags that rename `main` if this unit defines it: the runner has another one.
    pub(crate) fn rename_of_main(&self, module: &Module, unit: usize) -> &'static [&'static str] {
        if self.defines_main(module, unit) { &["-Dmain=touchstone_program_main"] } else { &[] }
    }

    /// Returns true if this unit defines the program's `main`.
    pub(crate) fn defines_main(&self, module: &Module, unit: usize) -> bool {
        module.function_named("main").is_some_and(|id| {
            let main = &module.functions[id];
            main.is_defined() && self.unit_of_file(module, main.span.file) == Some(unit)
        })
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
