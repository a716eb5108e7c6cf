//! `touchstone generate`: explore, write tests as they are found, replay them, report.

use crate::args::{Emit, Format, Generate};
use crate::exit::Exit;
use crate::on_top::{self, Known, Suite};
use crate::options_file::OptionsFile;
use crate::outdir::OutDir;
use crate::outputs;
use crate::plan::{self, Task};
use crate::precondition;
use crate::program::{Program, Reader};
use crate::progress::{self, Display, Line};
use crate::tables::{Watched, decision_tables, watch_tests};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use touchstone_criteria::{
    Campaign, Covered, Criterion, DecisionTable, FunctionResult, Goal, GoalId, IncompletePaths, Objective, Objectives,
    Outcome, Replay, Status, TestCase, Watch, covered_by_test,
};
use touchstone_emit::{CSuite, EmitError, Form, Preprocessed, Replayed, Sandbox, Target, TestCompSuite, unmakeable};
use touchstone_engine::{
    Before, Config, Event, Found, Goals, PairsFound, SeenRow, Sink, explore, explore_goals, explore_pairs,
    explore_paths_and_goals, prove_infeasible,
};
use touchstone_ir::{FuncId, Module};
use touchstone_report::Extras;
use touchstone_report::document::SourceFile;

/// Carries out `generate`.
pub fn generate(options: &Generate) -> Result<ExitCode> {
    carry_out(options, Verb::Generate)
}

/// Carries out `prove`: verdicts only.
pub fn prove(options: &Generate) -> Result<ExitCode> {
    carry_out(options, Verb::Prove)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Generate,
    Prove,
}

fn carry_out(options: &Generate, verb: Verb) -> Result<ExitCode> {
    plan::refuse_state(options)?;
    let out = OutDir::open(&options.out)?;
    let include_dir = out.path().join("include");
    let reader = Reader::new(&options.files, &options.compile, &options.flags, &include_dir)?
        .surrounded(options.surroundings.of_program());
    let mut program = reader.read(&options.files)?;
    let file = OptionsFile::beside(&options.files[0])?;

    let criteria: Vec<String> = options.criteria.iter().map(ToString::to_string).collect();
    options.outputs.check_criteria(&criteria)?;
    let sources = source_files(&program)?;

    let (entry, functions) = plan::targets(&program.module, options)?;
    let names: Vec<String> = functions.iter().map(|id| program.module.functions[*id].name.clone()).collect();
    plan::check_names(&program.module, &functions, entry, options)?;
    if verb == Verb::Generate {
        plan::check_forms(entry, options)?;
    }
    let expressions = preconditions(&program, &functions, options, &file);
    program = precondition::add(&reader, program, &options.files, &expressions, &include_dir)?;

    let suite = options.on_top_of.as_ref().map(|directory| Suite::read(directory, &criteria)).transpose()?;
    if let Some(suite) = suite.as_ref().filter(|_| !options.quiet) {
        for func in &functions {
            let name = &program.module.functions[*func].name;
            match suite.knows(&program.module, *func) {
                Known::Yes => {}
                Known::OtherVariant => eprintln!(
                    "warning: the suite was measured on another variant of `{name}`: give the macros of the build (-D, -I)"
                ),
                Known::No => {
                    eprintln!("warning: the suite was not measured on `{name}`: its unit was not compiled then");
                }
            }
        }
    }
    let interrupt = interrupt_flag()?;
    let tasks = names.iter().map(|name| {
        let func = program.module.function_named(name).context("internal: a function got lost")?;
        let mut task = plan::task(&program.module, func, entry, options, &file)?;
        task.config.interrupt = Some(Arc::clone(&interrupt));
        Ok(task)
    });
    let tasks = tasks.collect::<Result<Vec<Task>>>()?;
    let target = Target {
        units: program.units.clone(),
        include_dir,
        cc: crate::program::compiler(),
        limits: plan::replay_limits(options),
        sandbox: if options.unsafe_replay { Sandbox::open() } else { Sandbox::closed() },
        preprocessed: Preprocessed::default(),
    };
    let job = Job { options, verb, program: &program, target: &target, out: out.path(), interrupt: &interrupt, suite };
    let (campaign, mut extras) = job.run(&tasks)?;
    extras.sandbox =
        target.sandbox.told().filter(|_| campaign.tests.iter().any(|test| test.replayed != Replay::NotRun));
    if let Some(told) = extras.sandbox.as_ref().filter(|_| !options.quiet) {
        eprintln!("warning: {told}");
    }
    for name in excluded(&campaign).into_iter().filter(|_| !options.quiet) {
        eprintln!("warning: no input of `{name}` is allowed: its precondition or ranges exclude everything");
    }
    let interrupted = interrupt.load(Ordering::Relaxed);
    let below = report(options, &program, &campaign, &extras, sources, out.path())?;
    Ok(verdict(options, &campaign, interrupted, below).into())
}

/// The files that define the program's functions, with what their comments exclude. A comment that is wrong stops the run
/// before it begins.
fn source_files(program: &Program) -> Result<Vec<SourceFile>> {
    let module = &program.module;
    let own = module.functions.values().filter(|function| function.is_defined() && !function.is_library());
    let mut paths: Vec<&String> = own.filter_map(|function| module.files.get(function.span.file)).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let Ok(bytes) = std::fs::read(path) else { continue };
        files.push(touchstone_report::source_file(path, &String::from_utf8_lossy(&bytes))?);
    }
    Ok(files)
}

/// Functions that were explored completely without a single path or test.
fn excluded(campaign: &Campaign) -> Vec<&str> {
    let nothing = |function: &&FunctionResult| {
        let asked = matches!(function.criterion, Criterion::Paths(_)) || function.objectives.total > 0;
        asked && function.exhaustive && function.paths.explored == 0 && function.tests == 0
    };
    let mut names: Vec<&str> =
        campaign.functions.iter().filter(nothing).map(|function| function.name.as_str()).collect();
    names.dedup();
    names
}

/// `--pre` and `pre` of touchstone.toml, by function.
fn preconditions(
    program: &Program,
    functions: &[FuncId],
    options: &Generate,
    file: &OptionsFile,
) -> Vec<(FuncId, String)> {
    let wanted = functions.iter().filter_map(|&func| {
        let name = &program.module.functions[func].name;
        options.pre.clone().or_else(|| file.function(name).pre).map(|expression| (func, expression))
    });
    wanted.collect()
}

/// Becomes true on Ctrl-C; a second Ctrl-C ends at once.
pub fn interrupt_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("can't handle Ctrl-C")?;
    Ok(flag)
}

/// Everything that the workers share.
struct Job<'a> {
    options: &'a Generate,
    verb: Verb,
    program: &'a Program,
    target: &'a Target,
    out: &'a Path,
    interrupt: &'a AtomicBool,
    /// A suite that was measured before.
    suite: Option<Suite>,
}

/// What one function gave.
struct Done {
    /// One entry a criterion.
    results: Vec<FunctionResult>,
    objectives: Vec<Objective>,
    tests: Vec<TestCase>,
    decisions: Vec<DecisionTable>,
}

impl Job<'_> {
    /// Explores all functions, several at a time; the result is in the order of the tasks, whoever finishes first.
    fn run(&self, tasks: &[Task]) -> Result<(Campaign, Extras)> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let jobs = self.options.jobs.unwrap_or(cores).clamp(1, tasks.len().max(1));
        let display = Display::new(self.options.quiet);
        let next = AtomicUsize::new(0);
        let done: Vec<Mutex<Option<Result<Done>>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(task) = tasks.get(index) else { break };
                if self.interrupt.load(Ordering::Relaxed) && index > 0 {
                    break;
                }
                let result = self.function(task, &display);
                *done[index].lock().expect("invariant: no worker panics with the lock") = Some(result);
            }
        };
        std::thread::scope(|scope| {
            let others = (1..jobs).filter_map(|_| touchstone_base::spawn_deep(scope, &work)).count();
            // This stack is deep, too; what could not be begun elsewhere is done here.
            debug_assert!(others < jobs);
            work();
        });
        let mut campaign = Campaign::default();
        let mut extras = Extras { verbose: self.options.verbose, ..Extras::default() };
        for slot in done {
            if let Some(done) = slot.into_inner().expect("invariant: no worker panics with the lock") {
                let done = done?;
                campaign.functions.extend(done.results);
                campaign.objectives.extend(done.objectives);
                campaign.tests.extend(done.tests);
                extras.decisions.extend(done.decisions);
            }
        }
        Ok((campaign, extras))
    }

    fn function(&self, task: &Task, display: &Display) -> Result<Done> {
        let module = &self.program.module;
        let name = &module.functions[task.func].name;
        let mut config = task.config.clone();
        config.deadline = plan::deadline(self.options);
        let line = display.line(name);
        let criteria = plan::labellings(self.options);
        let functions = plan::scope(module, task.func, config.entry, self.options);
        let mut wanted = touchstone_criteria::objectives(module, &functions, &criteria, &task.criteria);
        if let Some(suite) = &self.suite {
            suite.settle(module, &mut wanted);
        }
        // Made once: the graphs of wide decisions take long.
        let watch = Rc::new(Watch::new(module, wanted.goals.clone()));
        let known = self.known_rows(&functions);
        let files = self.files(task.func)?;
        let mut writer = Writer { module, wanted: &wanted, files, tests: Vec::new(), line, failed: None };
        let (mut found, explored) = self.explore(task.func, &config, &wanted, &watch, &mut writer);
        let pairs = match self.verb {
            Verb::Generate if !explored.paths => {
                Some(self.pairs(task.func, &config, &watch, &known, &mut found.result, &mut writer))
            }
            _ => None,
        };
        let Writer { mut files, mut tests, failed, line, .. } = writer;
        if let Some(failed) = failed {
            return Err(failed);
        }
        // What follows the search may take as long again.
        let after = plan::deadline(self.options);
        let mut watched = match criteria.is_empty() {
            true => Watched::default(),
            false => watch_tests(module, task.func, &mut tests, &watch, after),
        };
        if !explored.paths && !criteria.is_empty() {
            if watched.left_out == 0 {
                let rows = rows_for_pairs(&tests, &watched, &known, &watch);
                tests = touchstone_criteria::reduce(tests, &rows, &wanted.settled, after);
            }
            let called = wanted.list.values().any(|objective| matches!(objective.status, Status::Covered(_)));
            if tests.is_empty() && !called && criteria.iter().any(|criterion| criterion.wants_a_call()) {
                match self.any_test(task.func, &Config { deadline: after, ..config.clone() }) {
                    Ok(test) => {
                        let mut once = [test.clone()];
                        watched.rows.extend(watch_tests(module, task.func, &mut once, &watch, after).rows);
                        tests.push(test);
                    }
                    Err(why) => found.result.incomplete.extend(why),
                }
            }
        }
        if watched.left_out > 0 && !self.options.quiet {
            let (some, all) = (watched.left_out, tests.len());
            eprintln!("warning: bound --timeout: {some} of {all} tests of `{name}` name only what they were found for");
        }
        conclude(module, task.func, &config, &mut wanted, &watch, &tests, &found);
        if self.suite.is_some() && self.verb == Verb::Prove {
            on_top::keep_only_the_suite(&mut wanted);
        }
        if !criteria.is_empty() {
            // Tests were written as they were found; what stays is the smallest part that covers as much, and only now
            // it is known what each test covers alone.
            files = self.written(task.func, &tests, &wanted, &Replayed::default())?;
        }
        files.finish()?;
        if let Some(why) = &files.refused {
            tests.iter_mut().for_each(|test| test.replayed = Replay::NotCheckable(why.clone()));
        }
        let mut replay_seconds = 0.0;
        if let (Some(suite), false) = (files.suite, self.options.no_replay) {
            let started = Instant::now();
            let replayed = self.replay(&suite, &mut tests, &line)?;
            if replayed.given_up.is_some() || !replayed.left_out.is_empty() {
                self.written(task.func, &tests, &wanted, &replayed)?.finish()?;
            }
            replay_seconds = started.elapsed().as_secs_f64();
        }
        line.finish();
        let results = self.results(found.result, replay_seconds, &wanted, tests.len() as u64);
        let decisions = match criteria.is_empty() {
            true => Vec::new(),
            false => decision_tables(module, &functions, &tests, &known, &watched, (&wanted, &watch), pairs.as_ref()),
        };
        Ok(Done { decisions, results, objectives: wanted.list.values().cloned().collect(), tests })
    }

    /// What a measured suite evaluated of these functions' decisions, with the test.
    fn known_rows(&self, functions: &[FuncId]) -> Vec<(String, SeenRow)> {
        let Some(suite) = &self.suite else { return Vec::new() };
        let module = &self.program.module;
        functions.iter().flat_map(|func| suite.rows(module, *func)).collect()
    }

    /// The files for the tests of a function, empty.
    fn files(&self, func: FuncId) -> Result<TestFiles<'_>> {
        let module = &self.program.module;
        let emits = |kind: Emit| self.verb == Verb::Generate && self.options.emit.contains(&kind);
        let mut refused = None;
        let mut create = |kind: Emit, folder: &str, form: Form| -> Result<Option<CSuite<'_>>> {
            if !emits(kind) {
                return Ok(None);
            }
            match CSuite::create(&self.out.join(folder), module, func, self.target, form) {
                // There is no way to write tests of this function; of others there may be.
                Err(error @ (EmitError::NoUnit { .. } | EmitError::NotIncludable { .. })) => {
                    refused = Some(error.to_string());
                    Ok(None)
                }
                suite => Ok(Some(suite?)),
            }
        };
        let suite = create(Emit::C, "", Form::Touchstone)?;
        let mut others = Vec::new();
        for (kind, form, folder) in FRAMEWORKS {
            others.extend(create(kind, folder, form)?);
        }
        let producer = concat!("touchstone ", env!("CARGO_PKG_VERSION"));
        let testcomp = match emits(Emit::Testcomp) {
            true => Some(TestCompSuite::create(self.out, module, func, self.target, producer)?),
            false => None,
        };
        let json = match emits(Emit::Json) {
            true => Some(JsonLines::create(self.out, &module.functions[func].name)?),
            false => None,
        };
        Ok(TestFiles { program: self.program, suite, others, testcomp, json, refused })
    }

    /// The files of a function with these tests; what does not compile is left out.
    fn written(
        &self,
        func: FuncId,
        tests: &[TestCase],
        wanted: &Objectives,
        replayed: &Replayed,
    ) -> Result<TestFiles<'_>> {
        let mut files = self.files(func)?;
        let covered = covered_by_test(wanted.list.values());
        for test in tests {
            let covers = covered.get(test.id.as_str()).map_or(&[][..], Vec::as_slice);
            match replayed.left_out.get(&test.id).filter(|_| replayed.given_up.is_none()) {
                Some(why) => files.leave_out(test, covers, why)?,
                None => files.add(test, covers)?,
            }
        }
        if let Some(why) = &replayed.given_up {
            files.give_up(why)?;
        }
        Ok(files)
    }

    /// A test that calls the function, without an error if one of the first paths has none; or why there is none.
    fn any_test(&self, func: FuncId, config: &Config) -> Result<TestCase, Vec<IncompletePaths>> {
        let module = &self.program.module;
        let mut found = Tests::of(module);
        let config = Config { max_paths: Some(FIRST_PATHS), ..config.clone() };
        let result = explore(module, func, &config, &mut found);
        let returns = found.kept.iter().position(|test| !matches!(test.outcome, Outcome::Error { .. }));
        match found.kept.is_empty() {
            true => Err(result.incomplete),
            false => Ok(found.kept.swap_remove(returns.unwrap_or(0))),
        }
    }

    /// Explores for what is wanted.
    fn explore(
        &self,
        func: FuncId,
        config: &Config,
        wanted: &Objectives,
        watch: &Rc<Watch>,
        writer: &mut Writer<'_, '_>,
    ) -> (Found, Explored) {
        let module = &self.program.module;
        let paths = plan::wants_paths(self.options);
        if wanted.goals.is_empty() && paths {
            return (Found::without_goals(explore(module, func, config, writer)), Explored { paths });
        }
        let closed = wanted.settled.iter().copied().collect();
        let goals = Goals { closed, watch: Rc::clone(watch) };
        let found = if paths {
            explore_paths_and_goals(module, func, goals, config, writer)
        } else {
            explore_goals(module, func, goals, config, writer)
        };
        (found, Explored { paths })
    }

    /// Where MC/DC is asked for, tests that complete independence pairs.
    fn pairs(
        &self,
        func: FuncId,
        config: &Config,
        watch: &Watch,
        known: &[(String, SeenRow)],
        result: &mut FunctionResult,
        writer: &mut Writer<'_, '_>,
    ) -> PairsFound {
        let module = &self.program.module;
        let config = Config { questions: self.options.pair_questions, ..config.clone() };
        let tests = writer.tests.clone();
        let known: Vec<SeenRow> = known.iter().map(|(_, row)| row.clone()).collect();
        let before = Before { tests: &tests, known: &known, queries: result.solver.queries };
        let found = explore_pairs(module, func, watch, before, &config, writer);
        result.seconds += found.seconds;
        result.solver.seconds += found.solver.seconds;
        result.solver.queries += found.solver.queries;
        found
    }

    /// One entry a criterion, with the figures that they share.
    fn results(
        &self,
        mut result: FunctionResult,
        replay_seconds: f64,
        wanted: &Objectives,
        tests: u64,
    ) -> Vec<FunctionResult> {
        result.replay_seconds = replay_seconds;
        result.tests = tests;
        let entry = |criterion: &Criterion| match criterion {
            Criterion::Paths(_) | Criterion::State => result.clone(),
            Criterion::Goals(labelling) => FunctionResult {
                criterion: *criterion,
                objectives: touchstone_criteria::count(wanted, labelling.name()),
                ..result.clone()
            },
        };
        self.options.criteria.iter().map(entry).collect()
    }

    fn replay(&self, suite: &CSuite<'_>, tests: &mut [TestCase], line: &Line) -> Result<Replayed> {
        if tests.is_empty() {
            return Ok(Replayed::default());
        }
        let total = tests.len();
        let mut replayed =
            touchstone_emit::replay(suite.path(), &self.program.module, self.target, tests, &mut |done| {
                line.replayed(done, total)
            })?;
        for (test, verdict) in tests.iter_mut().zip(std::mem::take(&mut replayed.verdicts)) {
            // What the interpreter disagreed with stays disagreed.
            if !matches!(test.replayed, Replay::Disagreed(_)) {
                test.replayed = verdict;
            }
        }
        Ok(replayed)
    }
}

fn asks_for_mcdc(watch: &Watch) -> bool {
    watch.goals.values().any(|goal| matches!(goal, Goal::Independent { .. }))
}

/// The rows of decisions whose pairs must survive the reduction.
fn rows_for_pairs(
    tests: &[TestCase],
    watched: &Watched,
    known: &[(String, SeenRow)],
    watch: &Watch,
) -> Vec<Vec<SeenRow>> {
    if !asks_for_mcdc(watch) {
        return Vec::new();
    }
    let mut rows: Vec<Vec<SeenRow>> = tests.iter().map(|test| watched.rows(test).to_vec()).collect();
    if !known.is_empty() {
        rows.push(known.iter().map(|(_, row)| row.clone()).collect());
    }
    for rows in &mut rows {
        rows.retain(|(func, decision, _)| watch.asks_for_mcdc(*func, *decision));
    }
    rows
}

/// Gives every objective its verdict; where exploration left something open, the static prover is asked.
pub fn conclude(
    module: &Module,
    func: FuncId,
    config: &Config,
    wanted: &mut Objectives,
    watch: &Watch,
    tests: &[TestCase],
    found: &Found,
) {
    let covered: BTreeSet<GoalId> = tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
    let open = |id: &GoalId| !covered.contains(id) && !wanted.settled.contains(id) && !found.excluded.contains(id);
    let open: Vec<GoalId> = wanted.goals.ids().filter(open).collect();
    let proved = match open.is_empty() {
        true => BTreeMap::new(),
        false => prove_infeasible(module, func, watch, &open, config),
    };
    touchstone_criteria::conclude(wanted, tests, &found.ruling(&proved), &module.files);
}

/// What an exploration was for.
struct Explored {
    paths: bool,
}

/// Writes tests as they are found.
struct Writer<'w, 'a> {
    module: &'w Module,
    wanted: &'w Objectives,
    files: TestFiles<'a>,
    tests: Vec<TestCase>,
    line: Line,
    failed: Option<anyhow::Error>,
}

impl Sink for Writer<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => self.line.explored(&progress),
            Event::Test(test) => {
                let covered = |id: &GoalId| Some(Covered { objective: self.wanted.list.get(*id)?, alone: false });
                let covers: Vec<Covered> = test.covers.iter().filter_map(covered).collect();
                if let Err(error) = self.files.add(test, &covers) {
                    self.failed.get_or_insert(error);
                }
                self.tests.push(test.clone());
            }
        }
    }

    fn refuses(&self, test: &TestCase) -> Option<String> {
        unmakeable(self.module, test)
    }
}

/// How many paths are looked at for a test that only calls the function.
const FIRST_PATHS: u64 = 8;

/// Keeps the tests.
pub struct Tests<'m> {
    module: &'m Module,
    /// Those that can be made.
    pub kept: Vec<TestCase>,
}

impl<'m> Tests<'m> {
    pub fn of(module: &'m Module) -> Tests<'m> {
        Tests { module, kept: Vec::new() }
    }
}

impl Sink for Tests<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Test(test) = event {
            self.kept.push(test.clone());
        }
    }

    fn refuses(&self, test: &TestCase) -> Option<String> {
        unmakeable(self.module, test)
    }
}

/// The files that the tests of one function go to.
struct TestFiles<'a> {
    program: &'a Program,
    suite: Option<CSuite<'a>>,
    /// For other frameworks.
    others: Vec<CSuite<'a>>,
    testcomp: Option<TestCompSuite>,
    json: Option<JsonLines>,
    /// Why there are no C files.
    refused: Option<String>,
}

/// The frameworks that suites can be written for, and the folder of each.
const FRAMEWORKS: [(Emit, Form, &str); 3] =
    [(Emit::Unity, Form::Unity, "unity"), (Emit::Cmocka, Form::Cmocka, "cmocka"), (Emit::Gtest, Form::Gtest, "gtest")];

impl TestFiles<'_> {
    fn add(&mut self, test: &TestCase, covers: &[Covered<'_>]) -> Result<()> {
        for suite in self.suite.iter_mut().chain(&mut self.others) {
            suite.add(test, covers)?;
        }
        self.add_data(test, covers)
    }

    /// The same for a test that is no C that compiles.
    fn leave_out(&mut self, test: &TestCase, covers: &[Covered<'_>], why: &str) -> Result<()> {
        for suite in self.suite.iter_mut().chain(&mut self.others) {
            suite.leave_out(test, why)?;
        }
        self.add_data(test, covers)
    }

    /// No test of the function is C that compiles.
    fn give_up(&mut self, why: &str) -> Result<()> {
        for suite in self.suite.iter_mut().chain(&mut self.others) {
            suite.give_up(why)?;
        }
        Ok(())
    }

    fn add_data(&mut self, test: &TestCase, covers: &[Covered<'_>]) -> Result<()> {
        if let Some(testcomp) = &mut self.testcomp {
            testcomp.add(test)?;
        }
        if let Some(json) = &mut self.json {
            json.add(&touchstone_report::test_json(test, covers, &self.program.module))?;
        }
        Ok(())
    }

    /// No test follows.
    fn finish(&mut self) -> Result<()> {
        for suite in self.suite.iter_mut().chain(&mut self.others) {
            suite.finish()?;
        }
        if let Some(testcomp) = &self.testcomp {
            testcomp.finish()?;
        }
        Ok(())
    }
}

/// One JSON object a line: whole after every test.
struct JsonLines {
    file: std::fs::File,
}

impl JsonLines {
    fn create(out: &Path, function: &str) -> Result<JsonLines> {
        let path = out.join(format!("tests_{function}.jsonl"));
        crate::outdir::check_file(&path, "{\"id\":")?;
        let file = std::fs::File::create(&path).with_context(|| format!("can't write {}", path.display()))?;
        Ok(JsonLines { file })
    }

    fn add(&mut self, json: &str) -> Result<()> {
        let line = json.replace('\n', " ");
        Ok(writeln!(self.file, "{line}")?)
    }
}

/// Stores the campaign, shows it, and writes the reports that are asked for.
fn report(
    options: &Generate,
    program: &Program,
    campaign: &Campaign,
    extras: &Extras,
    files: Vec<SourceFile>,
    out: &Path,
) -> Result<Exit> {
    let module = &program.module;
    let mut document = touchstone_report::document(campaign, module, extras);
    document.files = files;
    on_top::add_tests(&mut document);
    touchstone_report::exclude(&mut document);
    let history = outputs::store(out, &document)?;
    let text = match options.format {
        Format::Json => document.to_json(),
        Format::Text => {
            let style = touchstone_report::Style { color: progress::color_on_stdout(), width: 100 };
            let mut text = touchstone_report::text_with(campaign, module, extras, style);
            if let Some(directory) = &options.on_top_of {
                text += &on_top::summary(directory, &document);
            }
            text
        }
    };
    // Files are written even where nobody can be shown anything.
    let shown = crate::stdout::show(if text.ends_with('\n') { text } else { text + "\n" });
    let exit = options.outputs.write(&document, &history, options.quiet)?;
    shown.map(|()| exit)
}

fn verdict(options: &Generate, campaign: &Campaign, interrupted: bool, below: Exit) -> Exit {
    if interrupted {
        Exit::Interrupted
    } else if campaign.tests.iter().any(|test| matches!(test.replayed, Replay::Disagreed(_))) {
        Exit::Disagreed
    } else if below != Exit::Done {
        below
    } else if options.strict && campaign.functions.iter().any(|function| function.objectives.unknown > 0) {
        Exit::Unknowns
    } else {
        Exit::Done
    }
}
