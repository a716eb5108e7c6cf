//! Reading the user's program: headers, flags, lowering.

use crate::request::Compilation;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_base::{Deadline, FileId};
use touchstone_emit::SourceUnit;
use touchstone_front_c::{
    Followed, FrontError, Library, Offsets, Options, Surroundings, flags_for, follow, lower_files, write_headers,
};
use touchstone_ir::{CallGraph, FuncId, GlobalId, Linkage, Module};

/// Why a program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Our headers could not be written.
    #[error("can't write headers to {}", directory.display())]
    Headers {
        /// Where they go.
        directory: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The front end refuses it.
    #[error(transparent)]
    Front(#[from] FrontError),
    /// The front end made something that is no program: a bug of ours.
    #[error("internal: the lowered program is not well-formed: {problem}")]
    Malformed {
        /// What the verifier says.
        problem: String,
    },
}

/// A program as it was read.
#[derive(Debug)]
pub struct Program {
    /// What it does.
    pub module: Module,
    /// What it is compiled from.
    pub units: Vec<SourceUnit>,
}

impl Program {
    /// The function of this name with a suffix (`_pre`), if it is defined.
    pub fn helper(&self, function: &str, suffix: &str) -> Option<String> {
        let name = format!("{function}{suffix}");
        self.module.function_named(&name).filter(|&id| self.module.functions[id].is_defined()).map(|_| name)
    }

    /// The variables that a test of a function can't name, since it includes one file and they are private to another.
    pub fn unnamed_by_tests_of(&self, func: FuncId) -> BTreeSet<GlobalId> {
        let module = &self.module;
        let own = module.functions[func].span.file;
        let units: Vec<PathBuf> = self.units.iter().filter_map(|unit| unit.path.canonicalize().ok()).collect();
        let is_unit = |path: &String| Path::new(path).canonicalize().is_ok_and(|path| units.contains(&path));
        let files: BTreeSet<FileId> =
            module.files.iter().filter(|(_, path)| is_unit(path)).map(|(file, _)| file).collect();
        // One that a header defines is tested where the header is included.
        if !files.contains(&own) {
            return BTreeSet::new();
        }
        let elsewhere = |file: FileId| file != own && files.contains(&file);
        let private = module.globals.iter().filter(|(_, global)| global.linkage == Linkage::Internal);
        private.filter(|(_, global)| elsewhere(global.span.file)).map(|(id, _)| id).collect()
    }

    /// A function and everything of the user's that it may call.
    pub fn with_callees(&self, func: FuncId) -> Vec<FuncId> {
        let functions = &self.module.functions;
        let own = |id: &FuncId| functions[*id].is_defined() && !functions[*id].is_library();
        CallGraph::new(&self.module).reachable_from(func).into_iter().filter(own).collect()
    }
}

/// How to read one.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    /// How long it may take to read a program.
    time: Option<Duration>,
}

impl Reader {
    /// `include_dir` gets our headers.
    pub fn new(files: &[PathBuf], compilation: &Compilation, include_dir: &Path) -> Result<Reader, ReadError> {
        write_headers(include_dir)
            .map_err(|source| ReadError::Headers { directory: include_dir.to_path_buf(), source })?;
        let options = Options {
            clang: None,
            flags: compilation.flags.clone(),
            compile_commands: find_commands(files, compilation.commands.as_deref()),
            include_dir: Some(include_dir.to_path_buf()),
            surroundings: Surroundings::default(),
            compiler: Some(compilation.compiler.clone()),
            offsets: Offsets::Spelled,
            library: Library::Modelled,
            deadline: Deadline::NEVER,
            dump: None,
        };
        Ok(Reader { options, time: None })
    }

    /// The same, where `--timeout` is this much: to read a program may take ten times as long and half a minute. A
    /// source can be small and still take minutes: what clang says of nested code grows with the square of its depth.
    pub fn within(mut self, timeout: Option<Duration>) -> Reader {
        const LEAST: Duration = Duration::from_secs(30);
        self.time = timeout.map(|limit| limit.saturating_mul(10).saturating_add(LEAST));
        self
    }

    /// The same, with these parts of a program's surroundings as inputs.
    pub fn surrounded(mut self, surroundings: Surroundings) -> Reader {
        self.options.surroundings = surroundings;
        self
    }

    /// Reads these files as one program.
    pub fn read(&self, files: &[PathBuf]) -> Result<Program, ReadError> {
        let options = Options { deadline: Deadline::within(self.time), ..self.options.clone() };
        let module = lower_files(files, &options)?;
        let unit = |path: &PathBuf| Ok(SourceUnit { path: path.clone(), flags: flags_for(path, &self.options)? });
        let units = files.iter().map(unit).collect::<Result<Vec<SourceUnit>, FrontError>>()?;
        match touchstone_ir::verify(&module).first() {
            Some(problem) => Err(ReadError::Malformed { problem: problem.to_string() }),
            None => Ok(Program { module, units }),
        }
    }

    /// What the functions of these names in a file do to data.
    pub fn followed(&self, file: &Path, functions: &BTreeSet<String>) -> Result<Followed, ReadError> {
        Ok(follow((file, &self.options), (file, &self.options), functions)?)
    }
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
