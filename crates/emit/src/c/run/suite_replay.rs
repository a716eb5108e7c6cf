//! Replay of suites: compiles and runs them, and compares the results with the predictions.
//!
//! Files are compiled and run concurrently, with one worker per processor. A file is built twice if it contains both tests
//! that run to completion (plain build) and tests that end in an error (sanitized build).
//!
//! The suites of a unit are compiled as one file where that is possible. Only tests that agree there count: all others run
//! again in their own file, as it will be delivered.

use crate::EmitError;
use crate::c::build::compiler::{BuildVariant, Compiler, compile_other_units};
use crate::c::build::configuration::Build;
use crate::c::files::chunk::Chunk;
use crate::c::run::merged_suites::{MergedFile, TestFile, merge};
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

/// A suite to replay: all tests of one function.
#[derive(Clone, Copy, Debug)]
pub struct SuiteToReplay<'a> {
    /// Its first file.
    pub suite: &'a Path,
    /// The function that its tests call.
    pub function: &'a str,
    /// Its tests.
    pub tests: &'a [TestCase],
}

/// A program to build and run.
struct Job {
    content: JobContent,
    variant: BuildVariant,
    number: usize,
    /// The number of processes that share its tests.
    shards: usize,
}

/// The tests of a program.
enum JobContent {
    /// A file as it was written.
    File(TestFile),
    /// Several files as one.
    Merged(MergedFile),
}

/// A message of a worker.
enum Event {
    Result {
        variant: BuildVariant,
        result: TapResult,
        /// True if the test is not in its own file.
        merged: bool,
    },
    /// The runner stopped before these tests, with the reason.
    Stopped(Vec<String>, NotCheckable),
    /// These tests of a suite do not compile, with the errors.
    TestsRejected(usize, BTreeMap<String, String>),
    /// A file of a suite does not compile, even without its rejected tests.
    FileRejected(usize, Vec<String>, String),
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

/// Compiles and runs one suite. `progress` is called with the number of tests that are done.
pub fn replay(
    suite: &Path,
    module: &Module,
    target: &Build,
    tests: &[TestCase],
    progress: &mut dyn FnMut(usize),
) -> Result<Replayed, EmitError> {
    let function = tests.first().map_or("", |test| test.function.as_str());
    let suite = SuiteToReplay { suite, function, tests };
    let replayed = replay_suites(&[suite], module, target, &mut |_, done| progress(done))?;
    Ok(replayed.into_iter().next().unwrap_or_default())
}

/// Compiles and runs suites of one unit, and returns one result for each. Tests that do not compile are not checkable, and
/// are returned by name. An error means that nothing can be replayed (no compiler, no space). `progress` is called with the
/// number of a suite and the number of its tests that are done.
pub fn replay_suites(
    suites: &[SuiteToReplay<'_>],
    module: &Module,
    target: &Build,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Replayed>, EmitError> {
    let mut tests = suites.iter().flat_map(|suite| suite.tests);
    let Some(first) = tests.next() else { return Ok(suites.iter().map(|_| Replayed::default()).collect()) };
    let function = module.function_named(&first.function).map(|id| &module.functions[id]);
    let Some(function) = function else {
        return Err(EmitError::NoUnit { function: first.function.clone(), file: "no file".to_string() });
    };
    let unit = target.unit_defining(module, function)?;
    let dir = tempfile::tempdir().map_err(EmitError::io(&std::env::temp_dir()))?;
    let compiler = Compiler { target, module, dir: dir.path() };
    let seconds = u64::from(target.limits.total_seconds).saturating_mul(suites.len() as u64);
    let deadline = Deadline::wall_clock(Some(Duration::from_secs(seconds)));
    let errors = is_error(first) || tests.any(is_error);
    let sanitizers = errors && target.unit_objects.has_sanitizers(&compiler);
    let runs = Runs { compiler: &compiler, unit, deadline };
    let jobs = merged_jobs(suites, sanitizers)?;
    let objects = match runs.program_objects(&jobs) {
        Err(EmitError::DoesNotCompile { stderr, .. }) => {
            return Ok(suites.iter().map(|suite| nothing_compiles(suite.tests, &stderr)).collect());
        }
        objects => objects?,
    };
    let mut results = SuiteResults::new(suites, module);
    runs.run_all(&jobs, &objects, &mut |event| results.add(event, progress))?;
    let own_files = results.own_files(jobs);
    runs.run_all(&own_files, &objects, &mut |event| results.add(event, progress))?;
    Ok(results.finish())
}

/// The results of suites so far.
struct SuiteResults<'a> {
    suites: &'a [SuiteToReplay<'a>],
    module: &'a Module,
    by_name: BTreeMap<&'a str, (usize, &'a TestCase)>,
    verdicts: BTreeMap<String, Replay>,
    /// For each suite, the number of tests with a result.
    done: Vec<usize>,
    replayed: Vec<Replayed>,
}

impl<'a> SuiteResults<'a> {
    fn new(suites: &'a [SuiteToReplay<'a>], module: &'a Module) -> SuiteResults<'a> {
        let tests = suites.iter().enumerate().flat_map(|(suite, of)| of.tests.iter().map(move |test| (suite, test)));
        SuiteResults {
            suites,
            module,
            by_name: tests.map(|(suite, test)| (test.id.as_str(), (suite, test))).collect(),
            verdicts: BTreeMap::new(),
            done: vec![0; suites.len()],
            replayed: suites.iter().map(|_| Replayed::default()).collect(),
        }
    }

    fn add(&mut self, event: Event, progress: &mut dyn FnMut(usize, usize)) {
        match event {
            Event::Result { variant, result, merged } => {
                let Some((suite, test)) = self.by_name.get(result.name.as_str()) else { return };
                let verdict = undefined_call(self.module, &result)
                    .unwrap_or_else(|| verdict(test, &result, variant, &self.module.files));
                if !merged || verdict == Replay::Agreed {
                    self.verdicts.insert(result.name.clone(), verdict);
                    self.done[*suite] += 1;
                    progress(*suite, self.done[*suite]);
                }
            }
            Event::TestsRejected(suite, tests) => {
                for (name, why) in tests {
                    self.verdicts.insert(name.clone(), does_not_compile(&why));
                    self.replayed[suite].left_out.insert(name, why);
                }
            }
            Event::FileRejected(suite, names, why) => {
                self.verdicts.extend(names.into_iter().map(|name| (name, does_not_compile(&why))));
                self.replayed[suite].given_up.get_or_insert(why);
            }
            Event::Stopped(names, why) => {
                for name in names {
                    self.verdicts.entry(name).or_insert_with(|| Replay::NotCheckable(why.clone()));
                }
            }
        }
    }

    /// Returns the files whose tests did not all agree in a merged file, with those that did not.
    fn own_files(&self, jobs: Vec<Job>) -> Vec<Job> {
        let jobs_before = jobs.len();
        let own = |mut file: TestFile| {
            file.tests.retain(|name| !self.verdicts.contains_key(name));
            (!file.tests.is_empty()).then_some(JobContent::File(file))
        };
        let merged = jobs.into_iter().filter_map(|job| match job.content {
            JobContent::Merged(merged) => Some((job.variant, merged.parts)),
            JobContent::File(_) => None,
        });
        let files = merged.flat_map(|(variant, parts)| {
            parts.into_iter().filter_map(own).map(move |content| (variant, content)).collect::<Vec<_>>()
        });
        numbered(files.collect(), jobs_before)
    }

    fn finish(self) -> Vec<Replayed> {
        let missing = || Replay::Disagreed(Disagreement::NotReached);
        let verdict = |test: &TestCase| self.verdicts.get(&test.id).cloned().unwrap_or_else(missing);
        let suites = self.suites.iter().zip(self.replayed);
        suites
            .map(|(suite, replayed)| Replayed { verdicts: suite.tests.iter().map(verdict).collect(), ..replayed })
            .collect()
    }
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

/// Assigns the tests to programs.
fn merged_jobs(suites: &[SuiteToReplay<'_>], sanitizers: bool) -> Result<Vec<Job>, EmitError> {
    let paths: Vec<&Path> = suites.iter().map(|suite| suite.suite).collect();
    let errors: Vec<BTreeMap<&str, bool>> = suites
        .iter()
        .map(|suite| suite.tests.iter().map(|test| (test.id.as_str(), is_error(test))).collect())
        .collect();
    let mut jobs = Vec::new();
    for variant in [BuildVariant::Plain, BuildVariant::Sanitized] {
        let select = |suite: usize, name: &str| {
            let error = errors[suite].get(name);
            error.is_some_and(|error| (*error && sanitizers) == (variant == BuildVariant::Sanitized))
        };
        for mut merged in merge(&paths, &select, &|prologue, _| prologue.to_string())? {
            let content = match merged.parts.len() {
                1 => JobContent::File(merged.parts.remove(0)),
                _ => JobContent::Merged(merged),
            };
            jobs.push((variant, content));
        }
    }
    Ok(numbered(jobs, 0))
}

/// Returns jobs with numbers from `first` on that share the processors.
fn numbered(jobs: Vec<(BuildVariant, JobContent)>, first: usize) -> Vec<Job> {
    let shards = processors().div_ceil(jobs.len().max(1));
    let job = |(index, (variant, content))| Job { content, variant, number: first + index, shards };
    jobs.into_iter().enumerate().map(job).collect()
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get())
}

/// The object files of the rest of the program, by variant.
type ProgramObjects = BTreeMap<BuildVariant, Vec<PathBuf>>;

/// The context of the runs of one unit's tests.
#[derive(Clone, Copy)]
struct Runs<'a> {
    compiler: &'a Compiler<'a>,
    /// The unit that the tests include.
    unit: usize,
    deadline: Deadline,
}

impl Runs<'_> {
    /// Compiles everything but the tests.
    fn program_objects(&self, jobs: &[Job]) -> Result<ProgramObjects, EmitError> {
        let variants: BTreeSet<BuildVariant> = jobs.iter().map(|job| job.variant).collect();
        let compiled = variants.into_iter().map(|variant| {
            let mut objects = compile_other_units(self.compiler, &[self.unit], variant)?;
            objects.extend(self.compiler.target.sandbox.objects(self.compiler)?);
            Ok((variant, objects))
        });
        compiled.collect()
    }

    /// Runs jobs concurrently.
    fn run_all(&self, jobs: &[Job], objects: &ProgramObjects, receive: &mut dyn FnMut(Event)) -> Result<(), EmitError> {
        let next = AtomicUsize::new(0);
        let (sender, events) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..processors().min(jobs.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let objects = objects.get(&job.variant).map_or(&[][..], Vec::as_slice);
                        let run = JobRun { runs: *self, job, objects, events: &sender };
                        if let Err(error) = run.run() {
                            // No further jobs are started; the receiver lives until all workers are done.
                            next.store(jobs.len(), Ordering::Relaxed);
                            let _ = sender.send(Err(error));
                        }
                    }
                });
            }
            drop(sender);
            let mut failure = None;
            for event in events {
                match event {
                    Ok(event) => receive(event),
                    Err(error) => drop(failure.get_or_insert(error)),
                }
            }
            failure.map_or(Ok(()), Err)
        })
    }
}

/// The number of merged files of a job that the compiler may reject before each part runs in its own file.
const MAX_REJECTED: usize = 6;

/// The run of one job.
struct JobRun<'a> {
    runs: Runs<'a>,
    job: &'a Job,
    objects: &'a [PathBuf],
    /// Receives the results; it lives until all workers are done.
    events: &'a mpsc::Sender<Result<Event, EmitError>>,
}

impl JobRun<'_> {
    fn run(&self) -> Result<(), EmitError> {
        let program = format!("tests{}.{:?}", self.job.number, self.job.variant);
        match &self.job.content {
            JobContent::File(file) => self.run_file(file, &program),
            JobContent::Merged(merged) => self.run_merged(merged, &program, &mut 0),
        }
    }

    fn send(&self, event: Event) {
        let _ = self.events.send(Ok(event));
    }

    fn is_over(&self) -> bool {
        self.runs.deadline.is_over() || self.runs.compiler.target.is_interrupted()
    }

    fn defines(&self) -> &'static [&'static str] {
        if self.job.variant == BuildVariant::Sanitized { &["-DTOUCHSTONE_ERRORS_ONLY"] } else { &[] }
    }

    /// Returns a linked program, or the error if it can't be linked.
    fn link(&self, object: PathBuf, program: &str) -> Result<Result<PathBuf, String>, EmitError> {
        let objects: Vec<PathBuf> = std::iter::once(object).chain(self.objects.iter().cloned()).collect();
        match self.runs.compiler.link(&objects, self.job.variant, program) {
            Err(EmitError::DoesNotCompile { stderr, .. }) => Ok(Err(stderr)),
            linked => linked.map(Ok),
        }
    }

    fn run_file(&self, file: &TestFile, program: &str) -> Result<(), EmitError> {
        if self.is_over() {
            self.send(Event::Stopped(file.tests.clone(), NotCheckable::Timeout));
            return Ok(());
        }
        let (object, left_out) = match self.compile_tests(file, program)? {
            Compiled::Object(object, left_out) => (object, left_out),
            Compiled::Rejected(why) => {
                self.send(Event::FileRejected(file.suite, file.tests.clone(), why));
                return Ok(());
            }
        };
        let names: Vec<String> = file.tests.iter().filter(|name| !left_out.contains_key(*name)).cloned().collect();
        if !left_out.is_empty() {
            self.send(Event::TestsRejected(file.suite, left_out));
        }
        match self.link(object, program)? {
            Ok(path) => self.run_tests(&path, program, &names, false),
            Err(stderr) => {
                let first = stderr.lines().find(|line| line.contains(": ")).unwrap_or_default().trim();
                self.send(Event::Stopped(names, NotCheckable::NotLinked(first.to_string())));
                Ok(())
            }
        }
    }

    /// Runs the tests of several files as one. If the compiler rejects the file, its halves are tried. Tests without a
    /// result run later, in their own file.
    fn run_merged(&self, merged: &MergedFile, program: &str, rejected: &mut usize) -> Result<(), EmitError> {
        if self.is_over() {
            return Ok(());
        }
        let compiler = self.runs.compiler;
        let source = compiler.dir.join(format!("{program}.c"));
        std::fs::write(&source, merged.text()).map_err(EmitError::io(&source))?;
        let mut flags = compiler.target.units[self.runs.unit].flags.clone();
        flags.extend(merged.include_flags());
        let object = format!("{program}.o");
        match compiler.compile(&source, &flags, self.defines(), self.job.variant, &object) {
            Ok(object) => match self.link(object, program)? {
                Ok(path) => self.run_tests(&path, program, &merged.tests(), true),
                // The files alone can't be linked either.
                Err(_) => Ok(()),
            },
            Err(EmitError::DoesNotCompile { .. }) => {
                *rejected += 1;
                let halves = merged.halves().filter(|_| *rejected < MAX_REJECTED).into_iter().flatten();
                for (number, half) in halves.enumerate().filter(|(_, half)| half.parts.len() > 1) {
                    self.run_merged(&half, &format!("{program}.{number}"), rejected)?;
                }
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Runs tests of a program. With few programs and many processors, they run in several concurrent processes.
    fn run_tests(&self, path: &Path, program: &str, names: &[String], merged: bool) -> Result<(), EmitError> {
        let shard = names.len().div_ceil(self.job.shards).max(50);
        std::thread::scope(|scope| {
            let shards: Vec<_> = names
                .chunks(shard)
                .enumerate()
                .map(|(number, names)| {
                    let scratch = self.runs.compiler.dir.join(format!("{program}.scratch{number}"));
                    scope.spawn(move || self.run_shard(path, &scratch, names, merged))
                })
                .collect();
            let ended = shards.into_iter().map(|shard| shard.join().expect("invariant: a shard doesn't panic"));
            ended.collect::<Result<Vec<()>, EmitError>>().map(|_| ())
        })
    }

    fn run_shard(&self, program: &Path, scratch: &Path, names: &[String], merged: bool) -> Result<(), EmitError> {
        let mut symbols = Symbolizer::new(program);
        let (variant, target) = (self.job.variant, self.runs.compiler.target);
        let stopped = run_tests(program, scratch, names, target, self.runs.deadline, &mut |mut result| {
            symbols.resolve(&mut result.stderr);
            self.send(Event::Result { variant, result, merged });
        })?;
        if let Some(why) = stopped.filter(|_| !merged) {
            self.send(Event::Stopped(names.to_vec(), NotCheckable::RunnerGaveUp(why)));
        }
        Ok(())
    }

    /// Compiles a test file, and repeats without the tests that the compiler rejects until it succeeds.
    fn compile_tests(&self, test_file: &TestFile, program: &str) -> Result<Compiled, EmitError> {
        let (compiler, variant, defines) = (self.runs.compiler, self.job.variant, self.defines());
        let object = format!("{program}.o");
        let mut flags = compiler.target.units[self.runs.unit].flags.clone();
        let mut stderr = match compiler.compile(&test_file.path, &flags, defines, variant, &object) {
            Ok(object) => return Ok(Compiled::Object(object, BTreeMap::new())),
            Err(EmitError::DoesNotCompile { stderr, .. }) => stderr,
            Err(error) => return Err(error),
        };
        let text = std::fs::read_to_string(&test_file.path).map_err(EmitError::io(&test_file.path))?;
        let chunk = Chunk::new(&text);
        let reduced = compiler.dir.join(format!("{program}.c"));
        // Quoted includes are relative to the original file.
        flags.extend(["-iquote".to_string(), test_file.folder().display().to_string()]);
        let mut file = test_file.path.display().to_string();
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
            match compiler.compile(&reduced, &flags, defines, variant, &object) {
                Ok(object) => return Ok(Compiled::Object(object, left_out)),
                Err(EmitError::DoesNotCompile { stderr: next, .. }) => stderr = next,
                Err(error) => return Err(error),
            }
        }
    }
}

/// A test file after compilation.
enum Compiled {
    /// The object file, and the tests that were left out, with the errors.
    Object(PathBuf, BTreeMap<String, String>),
    /// The error, if no part of the file compiles.
    Rejected(String),
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
