//! Reading the user's program: headers, flags, lowering.

use crate::args::Compile;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use touchstone_emit::Unit;
use touchstone_front_c::{
    Followed, Library, Offsets, Options, Surroundings, flags_for, follow, lower_files, write_headers,
};
use touchstone_ir::Module;

/// A program as it was read.
pub struct Program {
    pub module: Module,
    pub units: Vec<Unit>,
}

/// How to read one.
pub struct Reader {
    options: Options,
}

impl Reader {
    /// `include_dir` gets our headers; `flags` are the user's.
    pub fn new(files: &[PathBuf], compile: &Compile, flags: &[String], include_dir: &Path) -> Result<Reader> {
        write_headers(include_dir).with_context(|| format!("can't write headers to {}", include_dir.display()))?;
        let mut all: Vec<String> = compile.define.iter().map(|define| format!("-D{define}")).collect();
        all.extend(compile.include.iter().map(|dir| format!("-I{dir}")));
        all.extend(flags.iter().cloned());
        let options = Options {
            clang: None,
            flags: all,
            compile_commands: find_commands(files, compile.commands.as_deref()),
            include_dir: Some(include_dir.to_path_buf()),
            surroundings: Surroundings::default(),
            compiler: Some(compiler()),
            offsets: Offsets::Spelled,
            library: Library::Modelled,
            dump: None,
        };
        Ok(Reader { options })
    }

    /// The same, with these parts of a program's surroundings as inputs.
    pub fn surrounded(mut self, surroundings: Surroundings) -> Reader {
        self.options.surroundings = surroundings;
        self
    }

    /// Reads these files as one program.
    pub fn read(&self, files: &[PathBuf]) -> Result<Program> {
        let module = lower_files(files, &self.options)?;
        let unit = |path: &PathBuf| Ok(Unit { path: path.clone(), flags: flags_for(path, &self.options)? });
        let units = files.iter().map(unit).collect::<Result<Vec<Unit>>>()?;
        let problems = touchstone_ir::verify(&module);
        if let Some(problem) = problems.first() {
            anyhow::bail!("internal: the lowered program is not well-formed: {problem}");
        }
        Ok(Program { module, units })
    }

    /// What the functions of these names in a file do to data.
    pub fn followed(&self, file: &Path, functions: &BTreeSet<String>) -> Result<Followed> {
        Ok(follow((file, &self.options), (file, &self.options), functions)?)
    }
}

/// The user's compiler.
pub fn compiler() -> String {
    std::env::var("CC").unwrap_or_else(|_| "cc".to_string())
}

/// `compile_commands.json` in the given directory, or beside the sources, in their parents, or in `build/` of those.
fn find_commands(files: &[PathBuf], given: Option<&Path>) -> Option<PathBuf> {
    const NAME: &str = "compile_commands.json";
    if let Some(given) = given {
        return Some(if given.is_dir() { given.join(NAME) } else { given.to_path_buf() });
    }
    let first = std::path::absolute(files.first()?).ok()?;
    let candidates = first.ancestors().skip(1).flat_map(|dir| [dir.join(NAME), dir.join("build").join(NAME)]);
    candidates.into_iter().find(|candidate| candidate.is_file())
}
