//! The compiler wrapper: carries out a compile command with probes in its C sources.
//!
//! The user's own compiler preprocesses, and compiles the text with probes with the user's own flags. What can't be given
//! probes is compiled untouched, and a record says so. Warnings are those of the unchanged source: it is compiled once more for
//! them (some come from the optimiser), and what the compiler says is shown.

use crate::command::CompileCommand;
use crate::frameworks::listener;
use crate::pieces::Pieces;
use crate::probe::{Request, instrument};
use crate::record::{Keeps, RECORD_VERSION, UnitRecord};
use crate::responses;
use crate::state::{Following, StateRecord, probes};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use touchstone_base::stable_hash;
use touchstone_criteria::{CriteriaOptions, Labelling};
use touchstone_front_c::{Options, follow, follow_tests, hazards, lower_files};

/// How probes are made.
pub struct Probing<'a> {
    /// Where records and hits go: `units/` and `hits/` in it.
    pub directory: PathBuf,
    /// What is measured.
    pub criteria: &'a [&'static dyn Labelling],
    /// What users switch.
    pub options: CriteriaOptions,
    /// Our headers.
    pub include_dir: Option<PathBuf>,
    /// Whether state is followed.
    pub state: bool,
    /// What probes keep.
    pub keeps: Keeps,
}

/// Why a compile command could not be carried out at all.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler can't be started.
    #[error("can't run the compiler {compiler}: {source}")]
    NoCompiler {
        /// Its name.
        compiler: String,
        /// Why.
        source: std::io::Error,
    },
    /// Scratch files can't be written.
    #[error("can't write what the compiler shall read: {0}")]
    Scratch(#[from] std::io::Error),
}

/// Carries out a command; its exit status is the compiler's.
pub fn compile(compiler: &str, words: &[String], probing: &Probing<'_>) -> Result<i32, CompileError> {
    carry_out(compiler, words, probing, &Refused::default())
}

/// What the compiler said to probes that it did not take.
#[derive(Clone, Default)]
struct Refused {
    /// Those of state coverage.
    state: Option<String>,
    /// Those of run-time errors.
    errors: Option<String>,
    /// What listens to GoogleTest.
    listener: bool,
}

fn carry_out(compiler: &str, words: &[String], probing: &Probing<'_>, refused: &Refused) -> Result<i32, CompileError> {
    let given = responses::expanded(words);
    let command = CompileCommand::new(compiler, given.as_deref().unwrap_or(words));
    note_foreign(&command, probing);
    if command.compiles_nothing || (command.sources.is_empty() && command.cxx.is_empty()) {
        return run(compiler, words);
    }
    if let Some(why) = &command.strange {
        for &at in &command.sources {
            untouched(probing, &command.words[at], why);
        }
        return run(compiler, words);
    }
    let scratch = tempfile::tempdir()?;
    let mut replaced = Vec::new();
    for &at in &command.sources {
        let source = &command.words[at];
        match probed(compiler, &command, source, (probing, refused), scratch.path()) {
            Ok((text, record)) => replaced.push((at, text, Some(record))),
            Err(why) => untouched(probing, source, &why),
        }
    }
    for &at in command.cxx.iter().filter(|_| !refused.listener) {
        let made = listening(compiler, &command, &command.words[at], (probing, refused), scratch.path());
        replaced.extend(made.map(|(text, record)| (at, text, record)));
    }
    if replaced.is_empty() {
        return run(compiler, words);
    }
    let mut with = Vec::new();
    for (at, text, _) in &replaced {
        // Objects are called after their source.
        let folder = scratch.path().join(at.to_string());
        std::fs::create_dir(&folder)?;
        let stem = Path::new(&command.words[*at]).file_stem().unwrap_or_default();
        let path = folder.join(stem).with_extension(if command.cxx.contains(at) { "ii" } else { "i" });
        std::fs::write(&path, text)?;
        with.push((*at, path));
    }
    let checked = check(compiler, &command, scratch.path())?;
    if checked != 0 {
        return Ok(checked);
    }
    let made = run_quiet(compiler, &command.compile(&with))?;
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        let said = said.lines().find(|line| line.contains("error")).unwrap_or("no message").to_string();
        if probing.state && refused.state.is_none() {
            return carry_out(compiler, words, probing, &Refused { state: Some(said), ..refused.clone() });
        }
        if replaced.iter().any(|(at, ..)| command.cxx.contains(at)) {
            return carry_out(compiler, words, probing, &Refused { listener: true, ..refused.clone() });
        }
        if asks_for_errors(probing) && refused.errors.is_none() {
            return carry_out(compiler, words, probing, &Refused { errors: Some(said), ..refused.clone() });
        }
        for (at, _, _) in &replaced {
            untouched(probing, &command.words[*at], &format!("the compiler refuses it with probes: {said}"));
        }
        return run(compiler, words);
    }
    let _ = std::io::stdout().lock().write_all(&made.stdout);
    for mut record in replaced.into_iter().filter_map(|(_, _, record)| record) {
        if let Some(said) = &refused.state {
            record.no_state = Some(format!("the compiler refuses it with probes for state: {said}"));
        }
        store(probing, &record);
    }
    Ok(0)
}

/// Whether objectives are run-time errors.
fn asks_for_errors(probing: &Probing<'_>) -> bool {
    probing.criteria.iter().any(|criterion| criterion.name() == "rte")
}

fn run(compiler: &str, words: &[String]) -> Result<i32, CompileError> {
    let status = Command::new(compiler).args(words).status();
    let status = status.map_err(|source| CompileError::NoCompiler { compiler: compiler.to_string(), source })?;
    Ok(code(status))
}

fn run_quiet(compiler: &str, words: &[String]) -> Result<Output, CompileError> {
    let output = Command::new(compiler).args(words).stdin(Stdio::null()).output();
    output.map_err(|source| CompileError::NoCompiler { compiler: compiler.to_string(), source })
}

fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The unchanged sources' own warnings and errors; dependencies are written, too.
fn check(compiler: &str, command: &CompileCommand, scratch: &Path) -> Result<i32, CompileError> {
    if let Some(words) = command.dependencies() {
        run_quiet(compiler, &words)?;
    }
    let mut sources: Vec<usize> = command.sources.iter().chain(&command.foreign).copied().collect();
    sources.sort_unstable();
    let mut worst = 0;
    for at in sources {
        let output = run_quiet(compiler, &command.check(&command.words[at], &scratch.join("checked.s")))?;
        // Whoever reads our standard error reads the compiler's.
        let _ = std::io::stderr().lock().write_all(&output.stderr);
        worst = code(output.status).max(worst);
    }
    Ok(worst)
}

/// A source with probes and its record.
fn probed(
    compiler: &str,
    command: &CompileCommand,
    source: &str,
    (probing, refused): (&Probing<'_>, &Refused),
    scratch: &Path,
) -> Result<(String, UnitRecord), String> {
    let (status, text) = preprocess(compiler, command, source)?;
    if !status.success() {
        return Err("the compiler's preprocessor fails on it".to_string());
    }
    let path = absolute(source);
    let written = Options {
        flags: command.meaning(),
        include_dir: probing.include_dir.clone(),
        compiler: Some(compiler.to_string()),
        ..Options::default()
    };
    let lowered = |files: &[PathBuf], options: &Options| {
        lower_files(files, options).map_err(|error| first_line(&error.to_string()))
    };
    let original = lowered(&[PathBuf::from(source)], &written)?;
    let copy = scratch.join("preprocessed.c");
    std::fs::write(&copy, for_clang(&text)).map_err(|error| error.to_string())?;
    let options = Options { flags: language(command, &text), ..Options::default() };
    let mut preprocessed = vec![lowered(std::slice::from_ref(&copy), &options)?];
    if text.contains("__builtin_offsetof") {
        let opaque = Options { opaque_offsets: true, ..options.clone() };
        preprocessed.push(lowered(std::slice::from_ref(&copy), &opaque)?);
    }
    let defined = original.functions.values().filter(|function| function.is_defined() && !function.library);
    let names = defined.map(|function| function.name.clone()).collect();
    let state = probing.state && refused.state.is_none();
    let found = match &refused.errors {
        Some(said) => Err(format!("the compiler refuses it with probes for errors: {said}")),
        None if state => Err("errors are not measured together with state".to_string()),
        None if asks_for_errors(probing) => {
            hazards((&copy, &options), &names).map_err(|error| first_line(&error.to_string()))
        }
        None => Ok(BTreeMap::new()),
    };
    let followed = match state {
        true => Some(follow((&copy, &options), (Path::new(source), &written), &names)),
        false => None,
    };
    let no_state =
        followed.as_ref().and_then(|followed| followed.as_ref().err()).map(|error| first_line(&error.to_string()));
    let followed = followed.and_then(Result::ok);
    // Hits that other probes left mean something else.
    let asked: Vec<&str> = probing.criteria.iter().map(|criterion| criterion.name()).collect();
    let unit = stable_hash(&(path.as_str(), text.as_str(), command.object(source), asked, state, probing.keeps));
    let request = Request {
        written: &original,
        preprocessed: &preprocessed,
        text: &text,
        criteria: probing.criteria,
        options: &probing.options,
        file: path,
        macros: command.macros(),
        keeps: probing.keeps,
        unit,
        hits: probing.directory.join("hits").to_string_lossy().into_owned(),
        followed: followed.as_ref(),
        hazards: found,
    };
    let mut made = instrument(&request);
    made.record.no_state = made.record.no_state.or(no_state);
    let of_state = made.record.state.iter_mut().flat_map(|state| &mut state.files);
    made.record.files.iter_mut().chain(of_state).for_each(|file| *file = absolute(file));
    made.record.keep_lines(&text);
    made.record.keep_texts();
    Ok((made.text, made.record))
}

/// A C++ source that includes GoogleTest, with what says where its tests begin; and a record if their state is followed.
fn listening(
    compiler: &str,
    command: &CompileCommand,
    source: &str,
    (probing, refused): (&Probing<'_>, &Refused),
    scratch: &Path,
) -> Option<(String, Option<UnitRecord>)> {
    let (status, text) = preprocess(compiler, command, source).ok()?;
    let listener = listener(&text).filter(|_| status.success())?;
    if !probing.state || refused.state.is_some() {
        return Some((format!("{text}\n{listener}"), None));
    }
    let file = absolute(source);
    let mut record = empty_record(file.clone());
    let unit = stable_hash(&(file.as_str(), text.as_str(), command.object(source)));
    record.unit = format!("{unit:016x}");
    record.untouched = vec![("what is C++".to_string(), ONLY_C.to_string())];
    match tests_followed(command, &text, unit, scratch) {
        Ok((with, behind, state)) => {
            record.state = Some(state);
            let hits = probing.directory.join("hits").to_string_lossy().into_owned();
            let with = crate::runtime::around_cxx(&with, unit, &hits, &behind);
            Some((format!("{with}\n{listener}"), Some(record)))
        }
        Err(why) => {
            record.no_state = Some(why);
            Some((format!("{text}\n{listener}"), Some(record)))
        }
    }
}

/// The text with probes in the tests, what stands behind it, and what the probes mean.
fn tests_followed(
    command: &CompileCommand,
    text: &str,
    unit: u64,
    scratch: &Path,
) -> Result<(String, String, StateRecord), String> {
    let copy = scratch.join("preprocessed.cc");
    let plain = without_gcc(text);
    std::fs::write(&copy, &plain).map_err(|error| error.to_string())?;
    let options = Options { flags: language(command, text), ..Options::default() };
    let followed = follow_tests(&copy, &plain, &options).map_err(|error| first_line(&error.to_string()))?;
    let mut pieces = Pieces::default();
    let following = Following { text, followed: &followed, unit };
    let (state, behind) = probes(&following, &mut pieces).ok_or("it has too many places")?;
    Ok((pieces.apply(text), behind, state))
}

fn preprocess(compiler: &str, command: &CompileCommand, source: &str) -> Result<(ExitStatus, String), String> {
    let output = Command::new(compiler).args(command.preprocess(source)).stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8(output.stdout).map_err(|_| "it is not UTF-8".to_string())?;
    Ok((output.status, text))
}

/// The flags that tell clang what a preprocessed text means.
fn language(command: &CompileCommand, text: &str) -> Vec<String> {
    let mut flags = command.language();
    // Keywords of gcc that clang has under other names.
    for (name, ty) in
        [("32", "float"), ("64", "double"), ("32x", "double"), ("64x", "long double"), ("128", "__float128")]
    {
        // Where the user's compiler is clang, the C library's headers define them.
        if !text.contains(&format!("typedef {ty} _Float{name};")) {
            flags.push(format!("-D_Float{name}={ty}"));
        }
    }
    flags
}

/// The text with what only gcc understands blanked out and line markers as comments: every byte keeps its place, and
/// clang speaks of places in this text.
fn for_clang(text: &str) -> String {
    let mut made = without_gcc(text).into_bytes();
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    for at in starts.filter(|at| text[*at..].starts_with("# ")) {
        made[at..at + 2].copy_from_slice(b"//");
    }
    String::from_utf8(made).unwrap_or_else(|_| text.to_string())
}

/// The text with what only gcc understands blanked out.
fn without_gcc(text: &str) -> String {
    const ATTRIBUTE: &str = "__malloc__";
    let mut made = text.as_bytes().to_vec();
    for (at, _) in text.match_indices(ATTRIBUTE) {
        let rest = &text[at + ATTRIBUTE.len()..];
        let open = rest.len() - rest.trim_start_matches(' ').len();
        if !rest[open..].starts_with('(') {
            continue;
        }
        let mut depth = 0i32;
        for (index, byte) in rest.bytes().enumerate().skip(open) {
            depth += i32::from(byte == b'(') - i32::from(byte == b')');
            made[at + ATTRIBUTE.len() + index] = if byte == b'\n' { b'\n' } else { b' ' };
            if depth == 0 {
                break;
            }
        }
    }
    String::from_utf8(made).unwrap_or_else(|_| text.to_string())
}

fn absolute(source: &str) -> String {
    let path = std::path::absolute(source).unwrap_or_else(|_| PathBuf::from(source));
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            // `tests/../lib.c` is `lib.c`, unless `tests` is a link to somewhere else.
            Component::ParentDir if !plain.is_symlink() && plain.pop() => {}
            part => plain.push(part),
        }
    }
    plain.to_string_lossy().into_owned()
}

fn first_line(text: &str) -> String {
    text.lines().find(|line| line.contains("error")).or(text.lines().next()).unwrap_or_default().to_string()
}

fn note_foreign(command: &CompileCommand, probing: &Probing<'_>) {
    for &at in &command.foreign {
        if !command.compiles_nothing {
            untouched(probing, &command.words[at], ONLY_C);
        }
    }
}

const ONLY_C: &str = "only C sources get probes";

/// Records that a source was compiled as it is.
fn untouched(probing: &Probing<'_>, source: &str, why: &str) {
    let untouched = vec![(String::new(), why.to_string())];
    store(probing, &UnitRecord { untouched, ..empty_record(absolute(source)) });
}

/// The record of a file without probes.
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
        keeps: Keeps::Hits,
        objectives: Vec::new(),
        decisions: Vec::new(),
        untouched: Vec::new(),
        state: None,
        no_state: None,
        file,
    }
}

/// Writes a record so that no reader sees half of it. A build goes on without it: then its hits mean nothing, which the
/// reader of hits reports.
fn store(probing: &Probing<'_>, record: &UnitRecord) {
    let folder = probing.directory.join("units");
    let text = serde_json::to_vec(record).expect("invariant: a record has only strings as keys");
    let written = std::fs::create_dir_all(&folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(&folder)?;
        file.write_all(&text)?;
        file.persist(folder.join(format!("{}.json", record.unit))).map(drop).map_err(|error| error.error)
    });
    if let Err(error) = written {
        eprintln!("touchstone: can't write the record of {}: {error}", record.file);
    }
}
