//! How the user's program is compiled, and where its files are.

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

/// How the user's program is compiled.
#[derive(Clone, Debug)]
pub struct Build {
    /// All source files of the program.
    pub units: Vec<SourceUnit>,
    /// The directory that has `touchstone.h` and `klee/klee.h`.
    pub include_dir: PathBuf,
    /// The C compiler.
    pub cc: String,
    /// Limits of the replay.
    pub limits: ReplayLimits,
    /// What keeps the replay from harming anybody.
    pub sandbox: Sandbox,
    /// Nothing more is compiled or run once this is true.
    pub interrupt: Arc<AtomicBool>,
    /// What is known of the files after preprocessing.
    pub preprocessed: PreprocessedUnits,
    /// What is compiled already.
    pub unit_objects: UnitObjects,
}

/// One source file of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceUnit {
    /// The file.
    pub path: PathBuf,
    /// Its compile flags.
    pub flags: Vec<String>,
}

/// Limits of the replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayLimits {
    /// Seconds for one test.
    pub seconds: u32,
    /// Memory of one test, in MiB.
    pub memory_mib: u32,
    /// Seconds for all tests of one function; what is being compiled then is finished, and not run.
    pub total_seconds: u32,
}

impl Default for ReplayLimits {
    fn default() -> Self {
        ReplayLimits { seconds: 10, memory_mib: 1024, total_seconds: 1800 }
    }
}

impl Build {
    /// Compiles what every replay needs, so that it is there when the first test is. What can't be compiled is told when
    /// it is needed.
    pub fn prepare(&self, module: &Module) {
        let Ok(dir) = self.unit_objects.dir() else { return };
        let _ = self.sandbox.objects(&Compiler { target: self, module, dir: &dir });
    }

    /// The unit whose main file is this file of the module.
    pub(crate) fn unit_of_file(&self, module: &Module, file: FileId) -> Option<usize> {
        let path = Path::new(module.files.get(file)?);
        let exact = self.units.iter().position(|unit| unit.path == path);
        exact.or_else(|| self.units.iter().position(|unit| same_file(&unit.path, path)))
    }

    /// The unit to include: the one that defines the function, or one that includes the header that does; that which its name says, where
    /// several have another one of it, or else the first.
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
            // Blanks in names are written with a backslash.
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

    /// Whether somebody wants us to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Whether this unit has the program's `main`.
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
