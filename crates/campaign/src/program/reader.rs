//! Reading the user's program: headers, flags, lowering.

use crate::externals::{Spoken, World};
use crate::java::{self, JavaError, JavaFiles, JavaProgram, ReadFor};
use crate::request::{Compilation, Subject};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_base::{Deadline, FileId};
use touchstone_criteria::{HeapOrigin, TestCase, Untestable};
use touchstone_emit::SourceUnit;
use touchstone_front_c::{
    EnvironmentInputs, ExternalSpec, FrontError, LibraryMode, OffsetofMode, Options, UnitDataFlow, flags_for,
    lower_files, unit_data_flow, write_headers,
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
    /// A Java program can't be read.
    #[error(transparent)]
    Java(#[from] JavaError),
    /// Only the data of C is listed without a run.
    #[error(
        "{}: state of Java is not listed without a run: whose array or container a method changes shows only when tests \
         run it; `touchstone measure -c state -- COMMAND` lists what they change",
        .0.display()
    )]
    NotFollowed(PathBuf),
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
    /// What it is compiled from, if it is C.
    pub units: Vec<SourceUnit>,
    /// What of it is Java's own.
    pub(crate) java: Option<JavaProgram>,
}

impl Program {
    /// The function of this name with a suffix (`_pre`), if it is defined.
    pub fn helper(&self, function: &str, suffix: &str) -> Option<String> {
        let name = format!("{function}{suffix}");
        self.module.function_named(&name).filter(|&id| self.module.functions[id].is_defined()).map(|_| name)
    }

    /// What became of what is said of methods without code.
    pub(crate) fn specified(&self) -> Option<&Spoken> {
        self.java.as_ref().map(|java| &java.spoken)
    }

    /// The methods of the given classes, where it has classes.
    pub(crate) fn methods(&self) -> Vec<FuncId> {
        self.java.iter().flat_map(JavaProgram::functions).collect()
    }

    /// The function whose objectives count where tests call another: what makes an object for a method is not tested.
    pub(crate) fn tested_by(&self, entry: FuncId) -> FuncId {
        self.java.as_ref().map_or(entry, |java| java.tested(entry))
    }

    /// How many objects inputs may lead to, where nobody says it. How many there can be follows from how tests make them in Java,
    /// and each text is two.
    pub(crate) fn max_objects(&self) -> u32 {
        const TEXTS_AND_ARRAYS: u32 = 16;
        match self.java {
            Some(_) => TEXTS_AND_ARRAYS,
            None => touchstone_engine::Config::default().max_objects,
        }
    }

    /// How the objects of a test came to be.
    pub(crate) fn heap_of(&self, entry: FuncId, test: &TestCase) -> HeapOrigin {
        self.java.as_ref().map_or(HeapOrigin::Made, |java| java.heap_of(entry, test))
    }

    /// Why tests of it can't be made so.
    pub(crate) fn unmakeable(&self, test: &TestCase) -> Option<Untestable> {
        match self.java {
            Some(_) => crate::java::unmakeable(&self.module, test),
            None => touchstone_emit::construction_obstacle(&self.module, test),
        }
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
    language: Language,
    /// How long it may take to read a program.
    time: Option<Duration>,
    /// What is under test.
    subject: Subject,
    purpose: ReadFor,
    /// What is said of methods without code.
    world: World,
}

/// What the files are written in.
#[derive(Debug)]
enum Language {
    C(Box<Options>),
    /// Compiled classes go to a directory.
    Java {
        classes: PathBuf,
        /// What the program needs and is not tested.
        libraries: Vec<PathBuf>,
    },
}

impl Reader {
    /// `include_dir` gets our headers.
    pub fn new(files: &[PathBuf], compilation: &Compilation, include_dir: &Path) -> Result<Reader, ReadError> {
        if java::is_java(files) {
            let classes = include_dir.with_file_name("touchstone-classes");
            let libraries = compilation.class_path.clone();
            return Ok(Reader::of(Language::Java { classes, libraries }));
        }
        write_headers(include_dir)
            .map_err(|source| ReadError::Headers { directory: include_dir.to_path_buf(), source })?;
        let options = Options {
            clang: None,
            flags: compilation.flags.clone(),
            compile_commands: find_commands(files, compilation.commands.as_deref()),
            include_dir: Some(include_dir.to_path_buf()),
            environment_inputs: EnvironmentInputs::default(),
            external_specs: Vec::new(),
            replacements: Vec::new(),
            compiler: Some(compilation.compiler.clone()),
            offsets: OffsetofMode::Spelled,
            library: LibraryMode::Modelled,
            deadline: Deadline::NEVER,
            dump: None,
        };
        Ok(Reader::of(Language::C(Box::new(options))))
    }

    fn of(language: Language) -> Reader {
        let world = World::default();
        Reader { language, time: None, subject: Subject::EveryFunction, purpose: ReadFor::Search, world }
    }

    /// The same, where this is said of what nobody defines.
    pub(crate) fn in_world(mut self, world: &World) -> Reader {
        self.world = world.clone();
        self
    }

    /// The same, where nobody is going to follow the program's paths.
    pub(crate) fn for_listing(mut self) -> Reader {
        self.purpose = ReadFor::Listing;
        self
    }

    /// The same, where `--timeout` is this much: to read a program may take ten times as long and half a minute. A
    /// source can be small and still take minutes: what clang says of nested code grows with the square of its depth.
    pub fn within(mut self, timeout: Option<Duration>) -> Reader {
        const LEAST: Duration = Duration::from_secs(30);
        self.time = timeout.map(|limit| limit.saturating_mul(10).saturating_add(LEAST));
        self
    }

    /// The same, with these parts of a program's surroundings as inputs.
    pub fn surrounded(mut self, surroundings: EnvironmentInputs) -> Reader {
        if let Language::C(options) = &mut self.language {
            options.environment_inputs = surroundings;
        }
        self
    }

    /// The same, where only this is under test: what else there is need not be known as well.
    pub fn about(mut self, subject: &Subject) -> Reader {
        self.subject = subject.clone();
        self
    }

    /// How a C file is compiled.
    pub(crate) fn flags(&self, file: &Path) -> Result<Vec<String>, ReadError> {
        match &self.language {
            Language::C(options) => Ok(flags_for(file, options)?),
            Language::Java { .. } => Ok(Vec::new()),
        }
    }

    /// Reads these files as one program.
    pub fn read(&self, files: &[PathBuf]) -> Result<Program, ReadError> {
        let program = match &self.language {
            Language::C(options) => self.read_c(files, options)?,
            Language::Java { classes, libraries } => {
                let world = &self.world;
                let given = JavaFiles { files, libraries, classes, subject: &self.subject, world };
                let (module, java) = java::read(&given, self.purpose)?;
                Program { module, units: Vec::new(), java: Some(java) }
            }
        };
        verified(program)
    }

    /// The same with other files in their place, which include them, and with what is said of functions that nobody defines.
    pub(crate) fn read_beside(
        &self,
        files: &[PathBuf],
        wrapped: &[PathBuf],
        described: &[ExternalSpec],
    ) -> Result<Program, ReadError> {
        let Language::C(options) = &self.language else { return self.read(files) };
        let replacements = wrapped.iter().cloned().zip(files.iter().cloned()).collect();
        let options = Options { external_specs: described.to_vec(), replacements, ..(**options).clone() };
        verified(self.read_c(wrapped, &options)?)
    }

    fn read_c(&self, files: &[PathBuf], known: &Options) -> Result<Program, ReadError> {
        let options = Options { deadline: Deadline::within(self.time), ..known.clone() };
        let module = lower_files(files, &options)?;
        let unit = |path: &PathBuf| Ok(SourceUnit { path: path.clone(), flags: flags_for(path, known)? });
        let units = files.iter().map(unit).collect::<Result<Vec<SourceUnit>, FrontError>>()?;
        Ok(Program { module, units, java: None })
    }

    /// What the functions of these names in a file do to data.
    pub fn followed(&self, file: &Path, functions: &BTreeSet<String>) -> Result<UnitDataFlow, ReadError> {
        match &self.language {
            Language::C(options) => Ok(unit_data_flow((file, options), (file, options), functions)?),
            Language::Java { .. } => Err(ReadError::NotFollowed(file.to_path_buf())),
        }
    }
}

fn verified(program: Program) -> Result<Program, ReadError> {
    match touchstone_ir::verify(&program.module).first() {
        Some(problem) => Err(ReadError::Malformed { problem: problem.to_string() }),
        None => Ok(program),
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
