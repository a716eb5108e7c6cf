//! The compiler wrapper: executes a compile command with probes in its C sources.
//!
//! The user's own compiler preprocesses the source and compiles the instrumented text with the user's own flags. A
//! source that can't be instrumented is compiled unchanged, and a record says so. The diagnostics are those of the
//! original source (`compiler_diagnostics.rs`).

use super::clang_input::{for_clang, without_gcc};
use super::compile_command::{CompileCommand, CompilerFamily};
use super::compiler_diagnostics::{self as messages, CompilerDiagnostics};
use super::compiler_toolchain::{self as toolchain, CompilerToolchain, exit_code};
use super::configure_check::is_configure_check;
use super::joint_clang_run::{JointClangRun, MAX_JOINT_TEXT_BYTES};
use super::probing_options::ProbingOptions;
use super::rejected_probes::{FunctionOfSource, RejectedProbes, first_error, functions_of_errors, sources_of_errors};
use super::response_files as responses;
use super::system_headers::{can_emit_macros, without_macros};
use crate::c::probes::{
    EventRecording, InstrumentationRequest, RuntimeForm, assemble_cxx_unit, googletest_listener, instrument,
};
use crate::c::state::{StateProbeRequest, UninstrumentedCopies, insert_state_probes};
use crate::c::text::Insertions;
use crate::record::{ProbeObstacle, ProbeStorage, RECORD_VERSION, UnitRecord, system};
use crate::state::StateRecord;
use crate::storage::create_output_directory;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitStatus, Output};
use std::thread::ScopedJoinHandle;
use touchstone_base::stable_hash;
use touchstone_front_c::{
    AstDump, LibraryMode, OffsetofMode, Options, hazards, lower_files, test_data_flow, unit_data_flow,
};

/// The reason why a compile command could not be executed at all.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler can't be started.
    #[error("can't run the compiler {compiler}: {source}")]
    NoCompiler {
        /// The name of the compiler.
        compiler: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// Temporary files can't be written.
    #[error("can't write what the compiler shall read: {0}")]
    Scratch(#[from] std::io::Error),
}

/// Executes a command, and returns the exit status of the compiler.
pub fn compile(compiler: &str, words: &[String], probing: &ProbingOptions<'_>) -> Result<i32, CompileError> {
    let given = responses::expanded(words);
    let command = CompileCommand::new(compiler, given.as_deref().unwrap_or(words));
    if command.compiles_nothing || (command.sources.is_empty() && command.cxx.is_empty()) {
        note_foreign(&command, probing);
        return run(compiler, words, probing);
    }
    // Configure checks must have the same result as without the wrapper.
    if command.sources.iter().chain(&command.foreign).all(|at| is_configure_check(&command.words[*at])) {
        return run(compiler, words, probing);
    }
    note_foreign(&command, probing);
    if let Some(why) = &command.unsupported {
        for &at in &command.sources {
            untouched(probing, &command.words[at], why.clone());
        }
        return run(compiler, words, probing);
    }
    let toolchain = CompilerToolchain::new(compiler, probing);
    let job = InstrumentedCompile { toolchain, command, probing, small: MAX_JOINT_TEXT_BYTES };
    let written = job.command.preprocessor_writes_dependencies(job.toolchain.family);
    let asked = job.command.asks_for_warnings() || (job.command.dependencies().is_some() && !written);
    std::thread::scope(|scope| {
        // The original source is parsed concurrently with the instrumentation.
        let parser_diagnostics =
            asked.then(|| scope.spawn(|| messages::parser_diagnostics(&job.toolchain, &job.command)));
        let mut parser_diagnostics = PendingDiagnostics { running: parser_diagnostics, done: None };
        job.carry_out(words, &RejectedProbes::default(), &mut parser_diagnostics)
    })
}

/// The parser's diagnostics for the original sources, once they are needed.
struct PendingDiagnostics<'scope> {
    running: Option<ScopedJoinHandle<'scope, std::io::Result<CompilerDiagnostics>>>,
    done: Option<CompilerDiagnostics>,
}

impl PendingDiagnostics<'_> {
    /// Returns the diagnostics, if they were requested.
    fn get(&mut self) -> Result<Option<&CompilerDiagnostics>, CompileError> {
        if let Some(running) = self.running.take() {
            let said = running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            self.done = Some(said?);
        }
        Ok(self.done.as_ref())
    }
}

/// A command to execute.
pub(super) struct InstrumentedCompile<'a> {
    pub(super) toolchain: CompilerToolchain<'a>,
    pub(super) command: CompileCommand,
    pub(super) probing: &'a ProbingOptions<'a>,
    /// The maximum size in bytes of a text that clang reads together with its source.
    pub(super) small: usize,
}

/// An instrumented source: the index of its word, its text and its record.
type InstrumentedSource = (usize, String, Option<UnitRecord>);

impl InstrumentedCompile<'_> {
    fn carry_out(
        &self,
        words: &[String],
        refused: &RejectedProbes,
        parser_diagnostics: &mut PendingDiagnostics<'_>,
    ) -> Result<i32, CompileError> {
        let (compiler, command, probing) = (self.toolchain.compiler, &self.command, self.probing);
        let scratch = tempfile::tempdir()?;
        let (replaced, warned) = self.replacements(refused, scratch.path());
        if replaced.is_empty() {
            // The compiler reports the diagnostics itself, and only one process may write dependencies.
            parser_diagnostics.get()?;
            return run(compiler, words, probing);
        }
        if parser_diagnostics.get()?.is_some_and(|said| said.status != 0) {
            // The parser reports less than the whole compiler.
            return run(compiler, words, probing);
        }
        let made = self.made(&replaced, scratch.path())?;
        if !made.status.success() {
            let all = String::from_utf8_lossy(&made.stderr);
            let said = first_error(&all).to_string();
            if let Some(refused) = self.without_state(&replaced, refused, &all) {
                return self.carry_out(words, &refused, parser_diagnostics);
            }
            if replaced.iter().any(|(at, ..)| command.cxx.contains(at)) {
                return self.carry_out(
                    words,
                    &RejectedProbes { listener: true, ..refused.clone() },
                    parser_diagnostics,
                );
            }
            if asks_for_errors(probing) && refused.errors.is_none() {
                return self.carry_out(
                    words,
                    &RejectedProbes { errors: Some(said), ..refused.clone() },
                    parser_diagnostics,
                );
            }
            if let Some(refused) = self.without_functions(&replaced, refused, &all)? {
                return self.carry_out(words, &refused, parser_diagnostics);
            }
            for (at, _, _) in &replaced {
                untouched(probing, &command.words[*at], ProbeObstacle::CompilerRefuses(said.clone()));
            }
            return run(compiler, words, probing);
        }
        if self.show_messages(&made.stderr, warned, parser_diagnostics, scratch.path())? != 0 {
            // A command that fails leaves no output.
            command.outputs().iter().filter(|output| output.is_file()).for_each(|output| {
                let _ = std::fs::remove_file(output);
            });
            return run(compiler, words, probing);
        }
        let _ = std::io::stdout().lock().write_all(&made.stdout);
        for (at, _, record) in replaced {
            let Some(mut record) = record else { continue };
            if let Some(said) = refused.state.get(&at) {
                record.no_state = Some(ProbeObstacle::CompilerRefusesState(said.clone()));
            }
            store(&probing.directory, &record);
        }
        Ok(0)
    }

    /// Compiles the instrumented sources.
    fn made(&self, replaced: &[InstrumentedSource], scratch: &Path) -> Result<Output, CompileError> {
        let command = &self.command;
        let mut with = Vec::new();
        for (at, text, _) in replaced {
            // Objects are named after their source.
            let folder = match replaced.len() {
                1 => scratch.to_path_buf(),
                _ => scratch.join(at.to_string()),
            };
            std::fs::create_dir_all(&folder)?;
            let stem = Path::new(&command.words[*at]).file_stem().unwrap_or_default();
            let path = folder.join(stem).with_extension(if command.cxx.contains(at) { "ii" } else { "i" });
            std::fs::write(&path, text)?;
            with.push((*at, path));
        }
        self.run_captured(&command.compile(&with, self.toolchain.family))
    }

    /// Returns the rejections with those of state coverage in the sources with errors, or `None` if no source that has
    /// such probes is left.
    fn without_state(
        &self,
        replaced: &[InstrumentedSource],
        refused: &RejectedProbes,
        said: &str,
    ) -> Option<RejectedProbes> {
        let with_state = replaced.iter().filter(|(at, ..)| self.probing.state && !refused.state.contains_key(at));
        let sources: Vec<(usize, Vec<String>)> = with_state
            .map(|(at, _, record)| {
                let files = record.iter().flat_map(|record| record.files.iter().cloned());
                (*at, files.chain([absolute(&self.command.words[*at])]).collect())
            })
            .collect();
        let mut more = refused.clone();
        more.state.extend(sources_of_errors(said, &sources, absolute));
        (more.state.len() > refused.state.len()).then_some(more)
    }

    /// Returns the rejections with those of single functions, or `None` if the compiler rejects something else.
    fn without_functions(
        &self,
        replaced: &[InstrumentedSource],
        refused: &RejectedProbes,
        said: &str,
    ) -> Result<Option<RejectedProbes>, CompileError> {
        let mut found: BTreeMap<FunctionOfSource, ProbeObstacle> = BTreeMap::new();
        let mut all: Vec<FunctionOfSource> = Vec::new();
        for (at, _, record) in replaced {
            let Some(record) = record else { continue };
            let functions_of_errors = functions_of_errors(said, record, absolute);
            found.extend(
                functions_of_errors.into_iter().map(|(name, said)| ((*at, name), ProbeObstacle::CompilerRefuses(said))),
            );
            all.extend(record.functions.iter().map(|(name, _)| (*at, name.clone())));
        }
        found.retain(|owner, _| !refused.functions.contains_key(owner));
        all.retain(|owner| !refused.functions.contains_key(owner));
        if found.is_empty() {
            let said = self.tried(&all, refused)?;
            found = said.into_iter().map(|(owner, said)| (owner, ProbeObstacle::CompilerRefuses(said))).collect();
        }
        Ok(Some(found).filter(|found| !found.is_empty()).map(|found| refused.and(found)))
    }

    /// Finds the rejected functions by bisection, with the compiler's message for each.
    fn tried(
        &self,
        all: &[FunctionOfSource],
        refused: &RejectedProbes,
    ) -> Result<BTreeMap<FunctionOfSource, String>, CompileError> {
        let said_to = |probed: &[FunctionOfSource]| -> Result<Option<String>, CompileError> {
            let others = all.iter().filter(|owner| !probed.contains(owner));
            let refused = refused
                .and(others.map(|owner| (owner.clone(), ProbeObstacle::CompilerRefuses(String::new()))).collect());
            let scratch = tempfile::tempdir()?;
            let (replaced, _) = self.replacements(&refused, scratch.path());
            let made = self.made(&replaced, scratch.path())?;
            let said = String::from_utf8_lossy(&made.stderr);
            Ok((!made.status.success()).then(|| first_error(&said).to_string()))
        };
        let mut found = BTreeMap::new();
        if said_to(&[])?.is_some() {
            return Ok(found);
        }
        let mut groups = vec![all];
        while let Some(group) = groups.pop() {
            let Some(said) = said_to(group)? else { continue };
            match group {
                [] => {}
                [one] => {
                    found.insert(one.clone(), said);
                }
                _ => groups.extend(<[&[FunctionOfSource]; 2]>::from(group.split_at(group.len() / 2))),
            }
        }
        Ok(found)
    }

    /// Instruments all sources that can be. Also returns whether the preprocessor warned.
    fn replacements(
        &self,
        refused: &RejectedProbes,
        scratch: &Path,
    ) -> (Vec<InstrumentedSource>, PreprocessorWarnings) {
        let (command, probing) = (&self.command, self.probing);
        let mut replaced = Vec::new();
        let mut warned = PreprocessorWarnings::No;
        for &at in &command.sources {
            let source = &command.words[at];
            match self.probed(at, refused, scratch) {
                Ok((text, record, said)) => {
                    replaced.push((at, text, Some(record)));
                    warned = warned.max(said);
                }
                Err(why) => untouched(probing, source, why),
            }
        }
        for &at in command.cxx.iter().filter(|_| !refused.listener) {
            let made = self.listening(at, refused, scratch);
            replaced.extend(made.map(|(text, record)| (at, text, record)));
        }
        (replaced, warned)
    }

    /// Shows the diagnostics of the original sources, unless they fail, and returns the exit status. `said` are the
    /// diagnostics of the instrumented ones.
    fn show_messages(
        &self,
        said: &[u8],
        warned: PreprocessorWarnings,
        parser_diagnostics: &mut PendingDiagnostics<'_>,
        scratch: &Path,
    ) -> Result<i32, CompileError> {
        if self.command.is_silent() {
            return Ok(0);
        }
        let known = match parser_diagnostics.get()? {
            Some(known) => known.clone(),
            None if said.is_empty() && warned == PreprocessorWarnings::No => return Ok(0),
            None => messages::parser_diagnostics(&self.toolchain, &self.command)?,
        };
        let known = match known.lacks_kinds_of(said) {
            true => messages::full_diagnostics(&self.toolchain, &self.command, scratch)?,
            false => known,
        };
        if known.status == 0 {
            known.show();
        }
        Ok(known.status)
    }

    fn run_captured(&self, words: &[String]) -> Result<Output, CompileError> {
        let compiler = || self.toolchain.compiler.to_string();
        self.toolchain.run_captured(words).map_err(|source| CompileError::NoCompiler { compiler: compiler(), source })
    }
}

/// The output of the preprocessor.
pub(super) struct PreprocessorOutput {
    pub(super) status: ExitStatus,
    pub(super) text: String,
    /// The same with all macro definitions, if the preprocessor emitted them.
    pub(super) with_macros: Option<String>,
    warned: PreprocessorWarnings,
}

/// The preprocessed text of a unit.
#[derive(Clone, Copy)]
pub(super) struct PreprocessedText<'a> {
    pub(super) text: &'a str,
    /// The same with its macro definitions.
    pub(super) with_macros: Option<&'a str>,
}

/// The options for a source and for its preprocessed text in `copy`, and clang's dumps of both.
#[derive(Clone)]
struct ClangInputs {
    written: Options,
    preprocessed: Options,
    copy: PathBuf,
    dumps: (Option<AstDump>, Option<AstDump>),
}

/// The preprocessor's warnings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PreprocessorWarnings {
    No,
    Yes,
}

/// Returns true if run-time errors are measured.
fn asks_for_errors(probing: &ProbingOptions<'_>) -> bool {
    probing.criteria.iter().any(|criterion| criterion.asks_for_errors())
}

fn run(compiler: &str, words: &[String], probing: &ProbingOptions<'_>) -> Result<i32, CompileError> {
    let status = toolchain::command(compiler, probing.path.as_deref()).args(words).status();
    let status = status.map_err(|source| CompileError::NoCompiler { compiler: compiler.to_string(), source })?;
    Ok(exit_code(status))
}

impl InstrumentedCompile<'_> {
    /// Instruments a source, and returns its record.
    fn probed(
        &self,
        at: usize,
        refused: &RejectedProbes,
        scratch: &Path,
    ) -> Result<(String, UnitRecord, PreprocessorWarnings), ProbeObstacle> {
        let command = &self.command;
        let source = command.words[at].as_str();
        let events = if self.records_state(at, refused) { EventRecording::Recorded } else { EventRecording::None };
        let form = if command.merges_units() { RuntimeForm::Text } else { RuntimeForm::Assembly };
        let runtime = self.toolchain.runtime(command, form, events)?;
        let PreprocessorOutput { status, text, with_macros, warned } = self.preprocess(source)?;
        if !status.success() {
            return Err(ProbeObstacle::NotPreprocessed);
        }
        let key = self.key(source, &text, refused);
        let unit = self.unit(at, &text, refused);
        if let Some((text, record)) = self.toolchain.kept.get(key).as_deref().and_then(unpacked) {
            let (text, record) = as_unit(unit, text, record);
            return Ok((text + &runtime, UnitRecord { macros: command.distinguishing_flags(), ..record }, warned));
        }
        let unit_text = PreprocessedText { text: &text, with_macros: with_macros.as_deref() };
        let (text, record) = self.with_probes(at, unit_text, refused, scratch)?;
        self.toolchain.kept.put(key, &packed(&text, &record));
        Ok((text + &runtime, record, warned))
    }

    /// Returns the cache key of an instrumented unit: a hash of everything that its probes depend on, apart from its
    /// identity. So a source that is compiled for a library and for a program is instrumented once.
    fn key(&self, source: &str, text: &str, refused: &RejectedProbes) -> u64 {
        let probing = self.probing;
        let criteria: Vec<&str> = probing.criteria.iter().map(|criterion| criterion.name()).collect();
        let own = std::env::current_exe().map(|path| toolchain::file_stamp(&path)).unwrap_or_default();
        // The source and all included files, because the preprocessed text lacks their macros.
        let marked = text.lines().filter(|line| line.starts_with("# ")).filter_map(|line| line.split('"').nth(1));
        let files: BTreeSet<&str> = marked.filter(|file| !file.starts_with('<')).chain([source]).collect();
        let command = match probing.state {
            // Events refer to their unit in many places.
            true => format!("{:?} {:?}", self.command.object(source), self.command.words),
            false => format!("{:?}", self.command.meaning_without(&unmentioned(&self.command.macros(), &files))),
        };
        let files: Vec<u64> = files.into_iter().map(content).collect();
        let clang = std::env::var("TOUCHSTONE_CLANG").unwrap_or_default();
        let hits = probing.directory.to_string_lossy();
        let (options, state, keeps, order) = (&probing.options, probing.state, probing.keeps, self.command.order());
        let suggest = probing.suggest;
        let what = format!("{criteria:?} {options:?} {state} {suggest} {keeps:?} {order:?} {refused:?} {clang} {hits}");
        let command = format!("{} {command}", absolute(source));
        stable_hash(&(self.toolchain.identity, own, what.as_str(), command.as_str(), text, files))
    }

    /// Returns the identity of a unit. It depends on the probes, because the hits of other probes have another meaning.
    fn unit(&self, at: usize, text: &str, refused: &RejectedProbes) -> u64 {
        let source = self.command.words[at].as_str();
        let asked: Vec<&str> = self.probing.criteria.iter().map(|criterion| criterion.name()).collect();
        let state = self.records_state(at, refused);
        let object = self.command.object(source);
        let order = self.command.order();
        let state = (state, self.probing.suggest);
        stable_hash(&(absolute(source).as_str(), text, object, asked, state, self.probing.keeps, order))
    }

    /// Returns true if a source gets probes of state coverage.
    fn records_state(&self, at: usize, refused: &RejectedProbes) -> bool {
        self.probing.state && !refused.state.contains_key(&at)
    }

    /// Prepares the inputs of clang, and runs it if one run can read both.
    fn both(&self, source: &str, unit: PreprocessedText<'_>, scratch: &Path) -> Result<ClangInputs, ProbeObstacle> {
        let (command, text) = (&self.command, unit.text);
        let claimed = self.toolchain.gnu_version();
        let written = Options {
            flags: claimed.clone().into_iter().chain(command.meaning()).collect(),
            include_dir: self.probing.include_dir.clone(),
            library: LibraryMode::Declared,
            ..Options::default()
        };
        let copy = scratch.join("preprocessed.c");
        let preprocessed = Options {
            flags: claimed.into_iter().chain(language(command, text)).collect(),
            offsets: OffsetofMode::Guessed,
            library: LibraryMode::Declared,
            ..Options::default()
        };
        let (written_as, preprocessed_as) = (&written, &preprocessed);
        let pair = JointClangRun {
            source,
            written: written_as,
            command,
            copy: &copy,
            preprocessed: preprocessed_as,
            small: self.small,
            with_macros: unit.with_macros,
        };
        let dumps = pair.write_and_dump(for_clang(text)).map_err(system)?;
        Ok(ClangInputs { written, preprocessed, copy, dumps })
    }

    /// Instruments a source with its preprocessed text, and returns its record.
    pub(super) fn with_probes(
        &self,
        at: usize,
        unit: PreprocessedText<'_>,
        refused: &RejectedProbes,
        scratch: &Path,
    ) -> Result<(String, UnitRecord), ProbeObstacle> {
        let both = self.both(&self.command.words[at], unit, scratch)?;
        let at_once = both.dumps.0.is_some();
        let apart = ClangInputs { dumps: (None, None), ..both.clone() };
        match self.with_probes_of(both, at, unit.text, refused) {
            // A joint run reads the texts in a different environment: if that could lose a probe, they are read
            // separately.
            Ok((_, record)) if at_once && record.differs() => self.with_probes_of(apart, at, unit.text, refused),
            Err(_) if at_once => self.with_probes_of(apart, at, unit.text, refused),
            made => made,
        }
    }

    fn with_probes_of(
        &self,
        both: ClangInputs,
        at: usize,
        text: &str,
        refused: &RejectedProbes,
    ) -> Result<(String, UnitRecord), ProbeObstacle> {
        let (command, probing) = (&self.command, self.probing);
        let (source, refused_functions) = (command.words[at].as_str(), refused.of(at, text));
        let path = absolute(source);
        let ClangInputs { written, preprocessed: options, copy, dumps } = both;
        let lowered = |files: &[PathBuf], options: &Options| lower_files(files, options).map_err(not_read);
        let written_once = Options { dump: dumps.0, ..written.clone() };
        let copy_once = Options { dump: dumps.1, ..options.clone() };
        let as_written = || lowered(&[PathBuf::from(source)], &written_once);
        let (original, first) = std::thread::scope(|scope| {
            let original = touchstone_base::spawn_deep(scope, as_written);
            let first = lowered(std::slice::from_ref(&copy), &copy_once);
            let joined = original.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (joined.unwrap_or_else(&as_written), first)
        });
        let original = original?;
        let mut preprocessed = vec![first?];
        if text.contains("__builtin_offsetof") {
            let opaque = Options { offsets: OffsetofMode::Opaque, ..options.clone() };
            preprocessed.push(lowered(std::slice::from_ref(&copy), &opaque)?);
        }
        let defined = original.functions.values().filter(|function| function.is_defined() && !function.is_library());
        let names = defined.map(|function| function.name.clone());
        let names = names.filter(|name| !refused_functions.contains_key(name)).collect();
        let state = self.records_state(at, refused);
        let found = match &refused.errors {
            Some(said) => Err(ProbeObstacle::CompilerRefusesErrors(said.clone())),
            None if state => Err(ProbeObstacle::ErrorsWithState),
            None if asks_for_errors(probing) => hazards((&copy, &options), &names).map_err(not_read),
            None => Ok(BTreeMap::new()),
        };
        let followed = match state {
            true => Some(unit_data_flow((&copy, &options), (Path::new(source), &written), &names)),
            false => None,
        };
        let no_state = followed.as_ref().and_then(|followed| followed.as_ref().err()).map(not_read);
        let followed = followed.and_then(Result::ok);
        let unit = self.unit(at, text, refused);
        let request = InstrumentationRequest {
            written: &original,
            preprocessed: &preprocessed,
            text,
            criteria: probing.criteria,
            options: &probing.options,
            file: path,
            macros: command.distinguishing_flags(),
            keeps: probing.keeps,
            order: command.order(),
            unit,
            hits: probing.directory.join("hits").to_string_lossy().into_owned(),
            followed: followed.as_ref(),
            suggest: probing.suggest,
            hazards: found,
            refused: refused_functions,
        };
        let mut made = instrument(&request);
        made.record.no_state = made.record.no_state.or(no_state);
        let of_state = made.record.state.iter_mut().flat_map(|state| &mut state.files);
        made.record.files.iter_mut().chain(of_state).for_each(|file| *file = absolute(file));
        made.record.keep_lines(text);
        made.record.keep_texts();
        Ok((made.text, made.record))
    }

    /// Adds the listener to a C++ source that includes GoogleTest, with a record if state is traced.
    fn listening(&self, at: usize, refused: &RejectedProbes, scratch: &Path) -> Option<(String, Option<UnitRecord>)> {
        let (command, probing) = (&self.command, self.probing);
        let source = command.words[at].as_str();
        let PreprocessorOutput { status, text, .. } = self.preprocess(source).ok()?;
        let listener = googletest_listener(&text).filter(|_| status.success())?;
        if !self.records_state(at, refused) {
            return Some((format!("{text}\n{listener}"), None));
        }
        let file = absolute(source);
        let mut record = empty_record(file.clone());
        let unit = stable_hash(&(file.as_str(), text.as_str(), command.object(source)));
        record.unit = format!("{unit:016x}");
        record.untouched = vec![("what is C++".to_string(), ProbeObstacle::OnlyC)];
        let runtime = self.toolchain.runtime(command, RuntimeForm::Text, EventRecording::Recorded);
        match runtime.and_then(|runtime| Ok((tests_followed(command, &text, unit, scratch)?, runtime))) {
            Ok(((with, behind, state), runtime)) => {
                record.state = Some(state);
                let hits = probing.directory.join("hits").to_string_lossy().into_owned();
                let with = assemble_cxx_unit(&with, unit, &hits, &behind, &runtime);
                Some((format!("{with}\n{listener}"), Some(record)))
            }
            Err(why) => {
                record.no_state = Some(why);
                Some((format!("{text}\n{listener}"), Some(record)))
            }
        }
    }

    pub(super) fn preprocess(&self, source: &str) -> Result<PreprocessorOutput, ProbeObstacle> {
        let family = self.toolchain.family;
        let mut words = self.command.preprocess(source, family);
        let tells =
            family == CompilerFamily::Gcc && !self.command.is_cxx(source) && can_emit_macros(&self.command.words);
        words.extend(tells.then(|| "-dD".to_string()));
        let output = self.toolchain.run_captured(&words).map_err(system)?;
        let said = String::from_utf8(output.stdout).map_err(|_| ProbeObstacle::NotUtf8)?;
        let (text, with_macros) = if tells { (without_macros(&said), Some(said)) } else { (said, None) };
        let warned = if output.stderr.is_empty() { PreprocessorWarnings::No } else { PreprocessorWarnings::Yes };
        Ok(PreprocessorOutput { status: output.status, text, with_macros, warned })
    }

    /// Returns the definitions of all macros at the end of a source.
    pub(super) fn list_macros(&self, source: &str) -> Result<String, ProbeObstacle> {
        let mut words = self.command.preprocess(source, self.toolchain.family);
        words.push("-dM".to_string());
        let output = self.toolchain.run_captured(&words).map_err(system)?;
        String::from_utf8(output.stdout).map_err(|_| ProbeObstacle::NotUtf8)
    }
}

/// Serialises an instrumented unit for the cache.
fn packed(text: &str, record: &UnitRecord) -> String {
    let record = serde_json::to_string(record).expect("invariant: a record has only strings as keys");
    format!("{record}\n{text}")
}

fn unpacked(kept: &str) -> Option<(String, UnitRecord)> {
    let (record, text) = kept.split_once('\n')?;
    Some((text.to_string(), serde_json::from_str(record).ok()?))
}

/// Moves cached probes to another unit.
fn as_unit(unit: u64, text: String, mut record: UnitRecord) -> (String, UnitRecord) {
    let own = format!("{unit:016x}");
    if record.unit == own {
        return (text, record);
    }
    let text = text.replace(&format!("0x{}ull", record.unit), &format!("0x{own}ull"));
    record.unit = own;
    (text, record)
}

/// Returns the macros of a command that no file mentions. Reserved names count as mentioned.
fn unmentioned(macros: &[String], files: &BTreeSet<&str>) -> BTreeSet<String> {
    let name = |flag: &String| flag[2..].split(['=', '(']).next().unwrap_or_default().to_string();
    let mut names: BTreeSet<String> = macros.iter().map(name).filter(|name| !name.starts_with('_')).collect();
    for file in files {
        if names.is_empty() {
            break;
        }
        let text = std::fs::read(file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let ends = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        let alone = |at: usize, name: &str| {
            ends(at.checked_sub(1).and_then(|before| text.as_bytes().get(before)))
                && ends(text.as_bytes().get(at + name.len()))
        };
        names.retain(|name| name.is_empty() || !text.match_indices(name.as_str()).any(|(at, _)| alone(at, name)));
    }
    names
}

/// Returns a hash of a file.
fn content(file: &str) -> u64 {
    // System headers are many, and change only when packages are installed.
    match file.starts_with("/usr/") {
        true => stable_hash(&(file, toolchain::file_stamp(Path::new(file)))),
        false => stable_hash(&(file, std::fs::read(file).unwrap_or_default())),
    }
}

/// Instruments the tests of a C++ text. Returns the text, the code to append to it and the record.
fn tests_followed(
    command: &CompileCommand,
    text: &str,
    unit: u64,
    scratch: &Path,
) -> Result<(String, String, StateRecord), ProbeObstacle> {
    let copy = scratch.join("preprocessed.cc");
    let plain = without_gcc(text);
    std::fs::write(&copy, &plain).map_err(system)?;
    let options = Options { flags: language(command, text), ..Options::default() };
    let followed = test_data_flow(&copy, &plain, &options).map_err(not_read)?;
    let mut insertions = Insertions::default();
    let following =
        StateProbeRequest { text, followed: &followed, unit, copies: UninstrumentedCopies::None, ends: false };
    let (state, behind) = insert_state_probes(&following, &mut insertions).ok_or(ProbeObstacle::TooManyPlaces)?;
    Ok((insertions.apply(text), behind, state))
}

/// Returns the flags with which clang reads preprocessed text.
fn language(command: &CompileCommand, text: &str) -> Vec<String> {
    let mut flags = command.language();
    // A text that uses these names has undefined the predefined macros.
    flags.extend(["linux", "unix", "i386"].map(|name| format!("-U{name}")));
    // Keywords of gcc that clang spells differently.
    for (name, ty) in
        [("32", "float"), ("64", "double"), ("32x", "double"), ("64x", "long double"), ("128", "__float128")]
    {
        // If the user's compiler is clang, the headers of the C library define them.
        if !text.contains(&format!("typedef {ty} _Float{name};")) {
            flags.push(format!("-D_Float{name}={ty}"));
        }
    }
    flags
}

fn absolute(source: &str) -> String {
    let path = std::path::absolute(source).unwrap_or_else(|_| PathBuf::from(source));
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            // `tests/../lib.c` is `lib.c`, unless `tests` is a symbolic link.
            Component::ParentDir if !plain.is_symlink() && plain.pop() => {}
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}

fn not_read(error: impl std::fmt::Display) -> ProbeObstacle {
    let text = error.to_string();
    let line = text.lines().find(|line| line.contains("error")).or(text.lines().next()).unwrap_or_default();
    ProbeObstacle::NotRead(line.to_string())
}

fn note_foreign(command: &CompileCommand, probing: &ProbingOptions<'_>) {
    for &at in &command.foreign {
        if !command.compiles_nothing {
            untouched(probing, &command.words[at], ProbeObstacle::OnlyC);
        }
    }
}

/// Records that a source was compiled without probes.
fn untouched(probing: &ProbingOptions<'_>, source: &str, why: ProbeObstacle) {
    record_unprobed_source(&probing.directory, source, why);
}

/// Records in the directory of a measurement that a source was compiled without probes.
pub fn record_unprobed_source(directory: &Path, source: &str, why: ProbeObstacle) {
    let untouched = vec![(String::new(), why)];
    store(directory, &UnitRecord { untouched, ..empty_record(absolute(source)) });
}

/// Returns the record of a file without probes.
fn empty_record(file: String) -> UnitRecord {
    UnitRecord {
        version: RECORD_VERSION,
        unit: format!("{:016x}", stable_hash(&(file.as_str(), "untouched"))),
        size: 0,
        files: vec![file.clone()],
        functions: Vec::new(),
        meanings: BTreeMap::new(),
        macros: Vec::new(),
        texts: Vec::new(),
        lines: Vec::new(),
        keeps: ProbeStorage::Hits,
        objectives: Vec::new(),
        decisions: Vec::new(),
        implied: Vec::new(),
        untouched: Vec::new(),
        state: None,
        no_state: None,
        from_bytecode: None,
        file,
    }
}

/// Writes a record atomically. Without it the build continues, and the reader reports hits without a record.
fn store(directory: &Path, record: &UnitRecord) {
    let folder = directory.join("units");
    let text = serde_json::to_vec(record).expect("invariant: a record has only strings as keys");
    let written = create_output_directory(&folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(&text)?;
        file.persist(folder.join(format!("{}.json", record.unit))).map(drop).map_err(|error| error.error)
    });
    if let Err(error) = written {
        eprintln!("touchstone: can't write the record of {}: {error}", record.file);
    }
}

#[cfg(test)]
#[path = "joint_run_tests.rs"]
mod joint_run_tests;
