//! Replay of a suite: compiles and runs it, and compares the results with the predictions.
//!
//! The files of a suite are compiled and run concurrently, with one worker per processor. A file is built twice if it
//! contains both tests that run to completion (plain build) and tests that end in an error (sanitized build).

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler, compile_other_units};
use crate::c::build::configuration::Build;
use crate::c::files::chunk::Chunk;
use crate::c::files::suite_file::chunk_paths;
use crate::c::run::replay_verdict::verdict;
use crate::c::run::symbolizer::Symbolizer;
use crate::tap::{TapReader, TapResult};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{Disagreement, NotCheckable, Outcome, Replay, TestCase};
use touchstone_ir::Module;

/// A program to build and run.
struct Job {
    file: PathBuf,
    names: Vec<String>,
    variant: BuildVariant,
    number: usize,
    /// The number of processes that share its tests.
    shards: usize,
}

/// A message of a worker.
enum Event {
    Result(BuildVariant, TapResult),
    /// The runner stopped before these tests, with the reason.
    Stopped(Vec<String>, NotCheckable),
    /// These tests do not compile, with the errors.
    TestsRejected(BTreeMap<String, String>),
    /// The file does not compile, even without its rejected tests.
    FileRejected(Vec<String>, String),
    Failed(EmitError),
}

/// The result of a replay.
#[derive(Debug, Default)]
pub struct Replayed {
    /// One verdict per test, in the order of the tests.
    pub verdicts: Vec<Replay>,
    /// The tests that are removed from their files, with the reasons: the compiler's errors, or in Java also the failed
    /// assertion.
    pub left_out: BTreeMap<String, String>,
    /// The reason for which no test compiles.
    pub given_up: Option<String>,
    /// The tests that fail if assertions of the language are enabled.
    pub only_without_assertions: BTreeSet<String>,
}

/// Compiles and runs the suite that begins with the file `suite`. Tests that do not compile are not checkable, and are
/// returned by name. An error means that nothing can be replayed (no compiler, no space). `progress` is called with the
/// number of tests that are done.
pub fn replay(
    suite: &Path,
    module: &Module,
    target: &Build,
    tests: &[TestCase],
    progress: &mut dyn FnMut(usize),
) -> Result<Replayed, EmitError> {
    let Some(first) = tests.first() else { return Ok(Replayed::default()) };
    let function = module.function_named(&first.function).map(|id| &module.functions[id]);
    let Some(function) = function else {
        return Err(EmitError::NoUnit { function: first.function.clone(), file: "no file".to_string() });
    };
    let unit = target.unit_defining(module, function)?;
    let dir = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
    let compiler = Compiler { target, module, dir: dir.path() };
    let deadline = Deadline::after(Duration::from_secs(target.limits.total_seconds.into()));
    let errors = tests.iter().any(is_error);
    let sanitizers = errors && target.unit_objects.has_sanitizers(&compiler);
    let mut jobs = jobs(suite, tests, sanitizers)?;
    let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
    let shards = processors.div_ceil(jobs.len().max(1));
    jobs.iter_mut().for_each(|job| job.shards = shards);
    let mut parts = BTreeMap::new();
    for variant in [BuildVariant::Plain, BuildVariant::Sanitized] {
        if jobs.iter().any(|job| job.variant == variant) {
            let mut objects = match compile_other_units(&compiler, &[unit], variant) {
                Err(EmitError::DoesNotCompile { stderr, .. }) => return Ok(nothing_compiles(tests, &stderr)),
                objects => objects?,
            };
            objects.extend(target.sandbox.objects(&compiler)?);
            parts.insert(variant == BuildVariant::Sanitized, objects);
        }
    }
    let by_name: BTreeMap<&str, &TestCase> = tests.iter().map(|test| (test.id.as_str(), test)).collect();
    let mut verdicts: BTreeMap<String, Replay> = BTreeMap::new();
    let mut failure = None;
    let (mut left_out, mut given_up) = (BTreeMap::new(), None);
    let next = AtomicUsize::new(0);
    let workers = processors.min(jobs.len());
    let (sender, events) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, jobs, next, compiler, parts) = (sender.clone(), &jobs, &next, &compiler, &parts);
            scope.spawn(move || {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let objects = parts.get(&(job.variant == BuildVariant::Sanitized)).map_or(&[][..], Vec::as_slice);
                    if let Err(error) = run_job(job, compiler, unit, objects, deadline, &sender) {
                        // No further jobs are started; the receiver lives until all workers are done.
                        next.store(jobs.len(), Ordering::Relaxed);
                        let _ = sender.send(Event::Failed(error));
                    }
                }
            });
        }
        drop(sender);
        for event in events {
            match event {
                Event::Result(variant, result) => {
                    if let Some(test) = by_name.get(result.name.as_str()) {
                        let verdict = undefined_call(module, &result)
                            .unwrap_or_else(|| verdict(test, &result, variant, &module.files));
                        verdicts.insert(result.name.clone(), verdict);
                        progress(verdicts.len());
                    }
                }
                Event::TestsRejected(tests) => {
                    for (name, why) in tests {
                        verdicts.insert(name.clone(), does_not_compile(&why));
                        left_out.insert(name, why);
                    }
                }
                Event::FileRejected(names, why) => {
                    verdicts.extend(names.into_iter().map(|name| (name, does_not_compile(&why))));
                    given_up.get_or_insert(why);
                }
                Event::Stopped(names, why) => {
                    for name in names {
                        verdicts.entry(name).or_insert_with(|| Replay::NotCheckable(why.clone()));
                    }
                }
                Event::Failed(error) => {
                    failure.get_or_insert(error);
                }
            }
        }
    });
    if let Some(error) = failure {
        return Err(error);
    }
    let missing = || Replay::Disagreed(Disagreement::NotReached);
    let verdicts = tests.iter().map(|test| verdicts.get(&test.id).cloned().unwrap_or_else(missing)).collect();
    Ok(Replayed { verdicts, left_out, given_up, ..Replayed::default() })
}

fn does_not_compile(why: &str) -> Replay {
    Replay::NotCheckable(NotCheckable::TestDoesNotCompile(why.to_string()))
}

/// Returns the result if another file of the program does not compile, so that nothing can be linked.
fn nothing_compiles(tests: &[TestCase], stderr: &str) -> Replayed {
    let why = stderr.lines().find(|line| line.contains("error: ")).or(stderr.lines().next()).unwrap_or_default();
    let verdict = Replay::NotCheckable(NotCheckable::ProgramDoesNotCompile(why.trim().to_string()));
    Replayed { verdicts: vec![verdict; tests.len()], ..Replayed::default() }
}

/// Returns a verdict if a test called a function that the model defines, but none of the linked files.
fn undefined_call(module: &Module, result: &TapResult) -> Option<Replay> {
    let line = result.stderr.iter().find(|line| line.ends_with("` is called, but defined nowhere"))?;
    let name = line.split('`').nth(1)?;
    let known = module.function_named(name).is_some_and(|id| module.functions[id].is_defined());
    (known && result.end == "exit 99").then(|| Replay::NotCheckable(NotCheckable::UndefinedFunction(line.clone())))
}

fn is_error(test: &TestCase) -> bool {
    matches!(test.outcome, Outcome::Error { .. })
}

/// Assigns the tests to files and builds.
fn jobs(suite: &Path, tests: &[TestCase], sanitizers: bool) -> Result<Vec<Job>, EmitError> {
    let wanted: BTreeMap<&str, bool> = tests.iter().map(|test| (test.id.as_str(), is_error(test))).collect();
    let mut jobs = Vec::new();
    for (index, file) in chunk_paths(suite).take_while(|file| file.exists()).enumerate() {
        let text = std::fs::read_to_string(&file).map_err(EmitError::io(&file))?;
        let chunk = Chunk::new(&text);
        let written: Vec<&str> = chunk.names().collect();
        for variant in [BuildVariant::Plain, BuildVariant::Sanitized] {
            let here = |name: &&&str| {
                let error = wanted.get(**name).copied();
                error.map(|error| if error && sanitizers { BuildVariant::Sanitized } else { BuildVariant::Plain })
                    == Some(variant)
            };
            let names: Vec<String> = written.iter().filter(here).map(|name| name.to_string()).collect();
            if !names.is_empty() {
                jobs.push(Job { file: file.clone(), names, variant, number: index + 1, shards: 1 });
            }
        }
    }
    Ok(jobs)
}

fn run_job(
    job: &Job,
    compiler: &Compiler,
    unit: usize,
    objects: &[PathBuf],
    deadline: Deadline,
    events: &mpsc::Sender<Event>,
) -> Result<(), EmitError> {
    if deadline.is_over() || compiler.target.is_interrupted() {
        let _ = events.send(Event::Stopped(job.names.clone(), NotCheckable::Timeout));
        return Ok(());
    }
    let program = format!("tests{}.{:?}", job.number, job.variant);
    let defines: &[&str] = if job.variant == BuildVariant::Sanitized { &["-DTOUCHSTONE_ERRORS_ONLY"] } else { &[] };
    let (object, left_out) = match compile_tests(job, compiler, unit, defines, &program)? {
        Compiled::Object(object, left_out) => (object, left_out),
        Compiled::Rejected(why) => {
            let _ = events.send(Event::FileRejected(job.names.clone(), why));
            return Ok(());
        }
    };
    let names: Vec<String> = job.names.iter().filter(|name| !left_out.contains_key(*name)).cloned().collect();
    if !left_out.is_empty() {
        let _ = events.send(Event::TestsRejected(left_out));
    }
    let mut linked = vec![object];
    linked.extend_from_slice(objects);
    let path = match compiler.link(&linked, job.variant, &program) {
        Err(EmitError::DoesNotCompile { stderr, .. }) => {
            let first = stderr.lines().find(|line| line.contains(": ")).unwrap_or_default().trim();
            let _ = events.send(Event::Stopped(names, NotCheckable::NotLinked(first.to_string())));
            return Ok(());
        }
        path => path?,
    };
    // With few files and many processors, the tests of a file run in several concurrent processes.
    let shard = names.len().div_ceil(job.shards).max(50);
    std::thread::scope(|scope| {
        let shards: Vec<_> = names
            .chunks(shard)
            .enumerate()
            .map(|(number, names)| {
                let (path, scratch) = (&path, compiler.dir.join(format!("{program}.scratch{number}")));
                scope.spawn(move || run_program(path, &scratch, names, job.variant, compiler.target, deadline, events))
            })
            .collect();
        let ended = shards.into_iter().map(|shard| shard.join().expect("invariant: a shard doesn't panic"));
        ended.collect::<Result<Vec<()>, EmitError>>().map(|_| ())
    })
}

/// A test file after compilation.
enum Compiled {
    /// The object file, and the tests that were left out, with the errors.
    Object(PathBuf, BTreeMap<String, String>),
    /// The error, if no part of the file compiles.
    Rejected(String),
}

/// Compiles a test file, and repeats without the tests that the compiler rejects until it succeeds.
fn compile_tests(
    job: &Job,
    compiler: &Compiler,
    unit: usize,
    defines: &[&str],
    program: &str,
) -> Result<Compiled, EmitError> {
    let object = format!("{program}.o");
    let mut flags = compiler.target.units[unit].flags.clone();
    let mut stderr = match compiler.compile(&job.file, &flags, defines, job.variant, &object) {
        Ok(object) => return Ok(Compiled::Object(object, BTreeMap::new())),
        Err(EmitError::DoesNotCompile { stderr, .. }) => stderr,
        Err(error) => return Err(error),
    };
    let text = std::fs::read_to_string(&job.file).map_err(EmitError::io(&job.file))?;
    let chunk = Chunk::new(&text);
    let reduced = compiler.dir.join(format!("{program}.c"));
    // Quoted includes are relative to the original file.
    let folder = job.file.parent().unwrap_or(Path::new("."));
    flags.extend(["-iquote".to_string(), folder.display().to_string()]);
    let mut file = job.file.display().to_string();
    let mut left_out: BTreeMap<String, String> = BTreeMap::new();
    loop {
        let diagnostics = chunk.diagnostics(&stderr, &file);
        let before = left_out.len();
        for (test, why) in diagnostics.tests {
            left_out.entry(test).or_insert(why);
        }
        if left_out.len() == before || chunk.names().all(|name| left_out.contains_key(name)) {
            return Ok(Compiled::Rejected(diagnostics.first));
        }
        std::fs::write(&reduced, chunk.without(&left_out)).map_err(EmitError::io(&reduced))?;
        file = reduced.display().to_string();
        match compiler.compile(&reduced, &flags, defines, job.variant, &object) {
            Ok(object) => return Ok(Compiled::Object(object, left_out)),
            Err(EmitError::DoesNotCompile { stderr: next, .. }) => stderr = next,
            Err(error) => return Err(error),
        }
    }
}

fn run_program(
    program: &Path,
    scratch: &Path,
    names: &[String],
    variant: BuildVariant,
    target: &Build,
    deadline: Deadline,
    events: &mpsc::Sender<Event>,
) -> Result<(), EmitError> {
    let mut symbols = Symbolizer::new(program);
    let stopped = run_tests(program, scratch, names, target, deadline, &mut |mut result| {
        symbols.resolve(&mut result.stderr);
        // The receiver lives until all workers are done.
        let _ = events.send(Event::Result(variant, result));
    })?;
    if let Some(why) = stopped {
        let _ = events.send(Event::Stopped(names.to_vec(), NotCheckable::RunnerGaveUp(why)));
    }
    Ok(())
}

/// Runs tests of a program in the sandbox, and passes each result on. Returns the reason if the runner stopped early.
pub(crate) fn run_tests(
    program: &Path,
    scratch: &Path,
    names: &[String],
    target: &Build,
    deadline: Deadline,
    tell: &mut dyn FnMut(TapResult),
) -> Result<Option<String>, EmitError> {
    let limits = target.limits;
    let mut command = target.sandbox.command(program, scratch)?;
    command.args(["--seconds", &limits.seconds.to_string(), "--memory", &limits.memory_mib.to_string()]);
    // 0 would mean no limit.
    let total = deadline.left().map_or(limits.total_seconds.into(), |left| left.as_secs().max(1));
    command.args(["--total", &total.to_string()]);
    command.args(names);
    let asan = format!(
        "symbolize=0:detect_leaks=0:detect_stack_use_after_return=1:abort_on_error=0:handle_abort=0:color=never:\
         allocator_may_return_null=1:hard_rss_limit_mb={}",
        limits.memory_mib
    );
    command.env("ASAN_OPTIONS", asan).env("UBSAN_OPTIONS", "print_stacktrace=0:color=never").env("LC_ALL", "C");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let cannot = |source| EmitError::CannotRun { program: program.to_path_buf(), source };
    let mut child = command.spawn().map_err(cannot)?;
    let mut reader = TapReader::default();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(cannot)? > 0 {
            if let Some(result) = reader.line(String::from_utf8_lossy(&line).trim_end_matches('\n')) {
                tell(result);
            }
            line.clear();
        }
    }
    child.wait().map_err(cannot)?;
    if let Some(result) = reader.finish() {
        tell(result);
    }
    Ok(reader.bailed_out)
}
