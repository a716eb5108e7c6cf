//! How the user's program is compiled, and where its files are.

use crate::c::build::compiler::Compiler;
use crate::c::build::preprocessor::Preprocessed;
use crate::c::build::sandbox::Sandbox;
use crate::c::build::unit_objects::Once;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_base::FileId;
use touchstone_ir::Module;

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
    pub preprocessed: Preprocessed,
    /// What is compiled already.
    pub once: Once,
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
        let Ok(dir) = self.once.dir() else { return };
        let _ = self.sandbox.objects(&Compiler { target: self, module, dir: &dir });
    }

    /// The unit whose main file is this file of the module.
    pub(crate) fn unit_of_file(&self, module: &Module, file: FileId) -> Option<usize> {
        let path = Path::new(module.files.get(file)?);
        let exact = self.units.iter().position(|unit| unit.path == path);
        exact.or_else(|| self.units.iter().position(|unit| same_file(&unit.path, path)))
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

/// `path` as it is reached from the directory `from`; both must be absolute and without links.
pub(crate) fn relative_path(path: &Path, from: &Path) -> PathBuf {
    let (to, base): (Vec<Component>, Vec<Component>) = (path.components().collect(), from.components().collect());
    let common = to.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, base.len() - common);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_from_where_the_test_file_stands() {
        let check = |path: &str, from: &str, expected: &str| {
            assert_eq!(relative_path(Path::new(path), Path::new(from)), PathBuf::from(expected));
        };
        check("/p/src/a.c", "/p/tests", "../src/a.c");
        check("/p/a.c", "/p", "a.c");
        check("/p/a.c", "/q/r/s", "../../../p/a.c");
        check("/p/out/deep/a.c", "/p/out", "deep/a.c");
    }
}
