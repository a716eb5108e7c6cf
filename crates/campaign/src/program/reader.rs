//! Reads the user's program: headers, flags, lowering.

use super::shown_reachable::StateOfProgram;
use crate::externals::{ExternalSpecs, JavaSpecs};
use crate::java::{self, JavaError, JavaFiles, JavaProgram, ReadPurpose};
use crate::request::{Compilation, Subject};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use touchstone_base::{Deadline, FileId};
use touchstone_criteria::{HeapOrigin, TestCase, Untestable};
use touchstone_emit::SourceUnit;
use touchstone_front_c::{
    DeclarationTexts, EnvironmentInputs, ExternalSpec, FrontError, LibraryMode, OffsetofMode, Options, UnitDataFlow,
    flags_for, lower_files, unit_data_flow, write_headers,
};
use touchstone_ir::{FuncId, GlobalId, Linkage, Module, reachable_functions};

/// An error of reading a program.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Touchstone's headers cannot be written.
    #[error("can't write headers to {}", directory.display())]
    Headers {
        /// The directory.
        directory: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The front end rejects the program.
    #[error(transparent)]
    Front(#[from] FrontError),
    /// A Java program cannot be read.
    #[error(transparent)]
    Java(#[from] JavaError),
    /// Only the state of C programs is listed without a run.
    #[error(
        "{}: state of Java is not listed without a run: whose array or container a method changes shows only when tests \
         run it; `touchstone measure -c state -- COMMAND` lists what they change",
        .0.display()
    )]
    NotFollowed(PathBuf),
    /// The front end produced a malformed module: a bug in Touchstone.
    #[error("internal: the lowered program is not well-formed: {problem}")]
    Malformed {
        /// The verifier's message.
        problem: String,
    },
}

/// A program as it was read.
#[derive(Debug)]
pub struct Program {
    /// The lowered program.
    pub module: Module,
    /// The translation units of a C program.
    pub units: Vec<SourceUnit>,
    /// The Java-specific part of a Java program.
    pub(crate) java: Option<JavaProgram>,
    /// The state that only its functions change, as far as it was determined.
    pub(super) state: StateOfProgram,
}

impl Program {
    /// Returns the name of the function with a suffix (`_pre`), if it is defined.
    pub fn helper(&self, function: &str, suffix: &str) -> Option<String> {
        let name = format!("{function}{suffix}");
        self.module.function_named(&name).filter(|&id| self.module.functions[id].is_defined()).map(|_| name)
    }

    /// Returns the specifications of abstract methods, after translation.
    pub(crate) fn translated_specs(&self) -> Option<&JavaSpecs> {
        self.java.as_ref().map(|java| &java.specs)
    }

    /// Returns the methods of the given classes.
    pub(crate) fn methods(&self) -> Vec<FuncId> {
        self.java.iter().flat_map(JavaProgram::functions).collect()
    }

    /// Returns the function that contributes objectives when tests call an entry point: the set-up of a fixture is not
    /// under test.
    pub(crate) fn tested_by(&self, entry: FuncId) -> FuncId {
        self.java.as_ref().map_or(entry, |java| java.tested(entry))
    }

    /// Returns the default limit on objects per path. In Java, fixtures limit the number anyway, and each string has
    /// two objects.
    pub(crate) fn max_objects(&self) -> u32 {
        const TEXTS_AND_ARRAYS: u32 = 16;
        match self.java {
            Some(_) => TEXTS_AND_ARRAYS,
            None => touchstone_engine::Config::default().max_objects,
        }
    }

    /// Returns the origin of a test's objects.
    pub(crate) fn heap_of(&self, entry: FuncId, test: &TestCase) -> HeapOrigin {
        match &self.java {
            Some(java) => java.heap_of(entry, test),
            None => self.state_of(entry, test),
        }
    }

    /// Returns the reason why a test cannot be constructed.
    pub(crate) fn unmakeable(&self, test: &TestCase) -> Option<Untestable> {
        match self.java {
            Some(_) => crate::java::unmakeable(&self.module, test),
            None => touchstone_emit::construction_obstacle(&self.module, test),
        }
    }

    /// Returns the variables that a test of a function cannot name: the test includes one file, and they are private to
    /// another.
    pub fn unnamed_by_tests_of(&self, func: FuncId) -> BTreeSet<GlobalId> {
        let module = &self.module;
        let own = module.functions[func].span.file;
        let units: Vec<PathBuf> = self.units.iter().filter_map(|unit| unit.path.canonicalize().ok()).collect();
        let is_unit = |path: &String| Path::new(path).canonicalize().is_ok_and(|path| units.contains(&path));
        let files: BTreeSet<FileId> =
            module.files.iter().filter(|(_, path)| is_unit(path)).map(|(file, _)| file).collect();
        // A function that a header defines is tested where the header is included.
        if !files.contains(&own) {
            return BTreeSet::new();
        }
        let elsewhere = |file: FileId| file != own && files.contains(&file);
        let private = module.globals.iter().filter(|(_, global)| global.linkage == Linkage::Internal);
        private.filter(|(_, global)| elsewhere(global.span.file)).map(|(id, _)| id).collect()
    }

    /// Returns the declarations of a C program as text, or `None` if they cannot be read.
    pub(crate) fn declaration_texts(&self, compiler: &str) -> Option<DeclarationTexts> {
        let mut all = DeclarationTexts::default();
        for SourceUnit { path, flags } in &self.units {
            let options = Options { flags: flags.clone(), compiler: Some(compiler.to_string()), ..Options::default() };
            all.read(path, &options).ok()?;
        }
        Some(all)
    }

    /// Returns a function and everything that it may call, except the library.
    pub fn with_callees(&self, func: FuncId) -> Vec<FuncId> {
        let functions = &self.module.functions;
        let own = |id: &FuncId| functions[*id].is_defined() && !functions[*id].is_library();
        reachable_functions(&self.module, [func]).into_iter().filter(own).collect()
    }
}

/// Reads programs.
#[derive(Debug)]
pub struct Reader {
    language: Language,
    /// The time limit for reading a program.
    time: Option<Duration>,
    /// The functions under test.
    subject: Subject,
    purpose: ReadPurpose,
    /// Specifications of abstract methods.
    externals: ExternalSpecs,
}

/// The language of the files.
#[derive(Debug)]
enum Language {
    C(Box<Options>),
    /// Java, with the directory for compiled classes.
    Java {
        classes: PathBuf,
        /// Libraries that the program needs.
        libraries: Vec<PathBuf>,
    },
}

impl Reader {
    /// Creates a reader. Touchstone's headers are written to `include_dir`.
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
        let externals = ExternalSpecs::default();
        Reader { language, time: None, subject: Subject::EveryFunction, purpose: ReadPurpose::Search, externals }
    }

    /// Adds specifications of external functions.
    pub(crate) fn with_externals(mut self, externals: &ExternalSpecs) -> Reader {
        self.externals = externals.clone();
        self
    }

    /// Reads only as much as a list of objectives needs.
    pub(crate) fn for_listing(mut self) -> Reader {
        self.purpose = ReadPurpose::Listing;
        self
    }

    /// Sets the time limit from `--timeout`: reading may take ten times as long and half a minute. A small source can
    /// take minutes, because clang's output grows with the square of the nesting depth.
    pub fn within(mut self, timeout: Option<Duration>) -> Reader {
        const READ_TIME_ALLOWANCE: Duration = Duration::from_secs(30);
        self.time = timeout.map(|limit| limit.saturating_mul(10).saturating_add(READ_TIME_ALLOWANCE));
        self
    }

    /// Makes parts of the environment inputs.
    pub fn with_environment(mut self, environment_inputs: EnvironmentInputs) -> Reader {
        if let Language::C(options) = &mut self.language {
            options.environment_inputs = environment_inputs;
        }
        self
    }

    /// Restricts what is under test, so that less has to be loaded.
    pub fn about(mut self, subject: &Subject) -> Reader {
        self.subject = subject.clone();
        self
    }

    /// Returns the compiler flags of a C file.
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
                let externals = &self.externals;
                let given = JavaFiles { files, libraries, classes, subject: &self.subject, externals };
                let (module, java) = java::read(&given, self.purpose)?;
                Program { module, units: Vec::new(), java: Some(java), state: StateOfProgram::default() }
            }
        };
        verified(program)
    }

    /// Reads companion sources, which include the files, together with specifications of external functions.
    pub(crate) fn read_companions(
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
        let options = Options { deadline: Deadline::wall_clock(self.time), ..known.clone() };
        let module = lower_files(files, &options)?;
        let unit = |path: &PathBuf| Ok(SourceUnit { path: path.clone(), flags: flags_for(path, known)? });
        let units = files.iter().map(unit).collect::<Result<Vec<SourceUnit>, FrontError>>()?;
        Ok(Program { module, units, java: None, state: StateOfProgram::default() })
    }

    /// Returns the data flow of the named functions in a file.
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

/// Finds `compile_commands.json`: in the given directory, or in a directory above the sources or its `build/`.
fn find_commands(files: &[PathBuf], given: Option<&Path>) -> Option<PathBuf> {
    const NAME: &str = "compile_commands.json";
    if let Some(given) = given {
        return Some(if given.is_dir() { given.join(NAME) } else { given.to_path_buf() });
    }
    let first = std::path::absolute(files.first()?).ok()?;
    let candidates = first.ancestors().skip(1).flat_map(|dir| [dir.join(NAME), dir.join("build").join(NAME)]);
    candidates.into_iter().find(|candidate| candidate.is_file())
}
