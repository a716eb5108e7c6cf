//! The resolved plan: every decision made before any work starts. Targets, names, signatures, forms of tests and
//! preconditions are checked here, so that a campaign that begins can only fail where files are written.

use super::resume::Resumed;
use crate::externals::World;
use crate::program::companion::Beside;
use crate::program::precondition;
use crate::program::subject;
use crate::program::{PlanError, Takes};
use crate::program::{Program, Reader};
use crate::request::Notice;
use crate::request::OutDir;
use crate::request::{ObjectivesOf, Purpose, Regeneration, Replaying, Request, TestForm};
use crate::request::{OptionsFile, OptionsFileError};
use crate::reuse::earlier_tests::Earlier;
use crate::reuse::measured_suite::{Known, Suite};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit};
use touchstone_criteria::{CriteriaOptions, Criterion};
use touchstone_emit::{Build, PreprocessedUnits, ReplayLimits, Sandbox, SandboxMode, Target, UnitObjects};
use touchstone_engine::{Config, Entry, Search};
use touchstone_ir::{FuncId, Function, Module};
use touchstone_report::Document;
use touchstone_report::document::SourceFile;

/// A request with everything decided, and its program read. It holds the output directory.
#[derive(Debug)]
pub struct Plan {
    /// What was asked for.
    pub request: Request,
    /// The program.
    pub program: Program,
    /// Whether functions are under test, or a whole program.
    pub entry: Entry,
    /// The explorations to do, in the order in which reports show them.
    pub tasks: Vec<Task>,
    /// How tests are compiled and replayed.
    pub target: Target,
    /// The suite to begin from.
    pub suite: Option<Suite>,
    /// The older version of the program.
    pub(crate) old: Option<Program>,
    /// The files that define the program's functions, with what their comments exclude.
    pub sources: Vec<SourceFile>,
    /// What the user should know before the work begins.
    pub notices: Vec<Notice>,
    /// What an interrupted run finished.
    pub(crate) resumed: Resumed,
    /// What an earlier run left.
    pub(crate) earlier: Earlier,
    /// Where files are written.
    pub out: OutDir,
}

/// One exploration to do.
#[derive(Debug)]
pub struct Task {
    /// The function.
    pub func: FuncId,
    /// How it is explored. The deadline is set when it begins.
    pub config: Config,
    /// What users switch about criteria, for this function.
    pub criteria: CriteriaOptions,
    /// The functions whose objectives count.
    pub functions: Vec<FuncId>,
}

impl Plan {
    /// Reads the program and decides everything.
    pub fn new(request: &Request) -> Result<Plan, PlanError> {
        if request.wants_state() {
            return Err(PlanError::State);
        }
        let request = &in_its_language(request)?;
        let out = OutDir::open(&request.out)?;
        let stored = stored(request);
        let earlier = stored.clone().map(Earlier::of).unwrap_or_default();
        let material = Material::read(request)?;
        let old = request.old.as_ref().map(|old| old.read(request)).transpose()?;
        let sources = source_files(&material.program)?;
        let (entry, functions) = subject::resolve(&material.program, request)?;
        let functions = subject::testable(&material.program, request, functions)?;
        check_names(&material.program.module, &functions, entry, request)?;
        if request.purpose == Purpose::Tests {
            check_forms(entry, request)?;
        }
        let names = material.names(&functions);
        let material = material.with_preconditions(&functions)?;
        let read = |directory: &PathBuf| Suite::read(directory, &request.labellings());
        let suite = request.on_top_of.as_ref().map(read).transpose()?;
        let tasks = names.iter().map(|name| material.task(name, entry)).collect::<Result<Vec<Task>, _>>()?;
        let module = &material.program.module;
        let criteria: Vec<&str> = request.labellings().iter().map(|criterion| criterion.name()).collect();
        let mut notices: Vec<Notice> = suite.iter().flat_map(|suite| suite.notices(module, &criteria)).collect();
        notices.extend(suite.iter().flat_map(|suite| unmeasured(suite, module, &tasks)));
        notices.extend(material.world.notices(&material.program.module, material.program.specified()));
        notices.extend(material.unchecked.iter().cloned());
        notices.extend(unloadable(&material.program));
        notices.extend(differs(&material.program));
        notices.extend(without_source(&material.program, &tasks));
        let target = material.target();
        let program = material.program;
        let resumed = Resumed::default();
        let plan = Plan {
            request: request.clone(),
            program,
            entry,
            tasks,
            target,
            suite,
            old,
            sources,
            notices,
            resumed,
            earlier,
            out,
        };
        Ok(match (request.regeneration, stored) {
            (Regeneration::Resume, stored) => plan.resume(stored.unwrap_or_default()),
            _ => plan,
        })
    }
}

impl Plan {
    /// When a phase of the work on a function that begins now has to stop: the search, and after it naming and choosing
    /// tests.
    pub(crate) fn deadline(&self) -> Deadline {
        Deadline::within(self.request.effort.timeout)
    }
}

/// A request's program as it was read, and what stands beside it.
pub(crate) struct Material<'r> {
    request: &'r Request,
    reader: Reader,
    options: OptionsFile,
    include_dir: PathBuf,
    world: World,
    /// What could not be checked of it.
    unchecked: Vec<Notice>,
    /// The program.
    pub program: Program,
}

impl<'r> Material<'r> {
    /// Reads the program with its surroundings as the request has them.
    pub fn read(request: &'r Request) -> Result<Material<'r>, PlanError> {
        let include_dir = request.out.join("include");
        let first = request.files.first().ok_or(PlanError::NoFiles)?;
        let world = World::read(&request.inputs.world)?;
        let reader = Reader::new(&request.files, &request.compilation, &include_dir)?
            .in_world(&world)
            .within(request.effort.timeout)
            .surrounded(request.surroundings())
            .about(&request.subject);
        let program = reader.read(&request.files)?;
        let options = OptionsFile::near(first)?;
        options.check(program.module.functions.values().map(|function| function.name.as_str()))?;
        Ok(Material { request, reader, options, include_dir, world, unchecked: Vec::new(), program })
    }

    /// The names of functions, which stay when the program is read again.
    pub fn names(&self, functions: &[FuncId]) -> Vec<String> {
        functions.iter().map(|id| self.program.module.functions[*id].name.clone()).collect()
    }

    /// The same with the preconditions that the request, or else `touchstone.toml`, gives for these functions, and with what is said of
    /// functions that nobody defines.
    pub fn with_preconditions(mut self, functions: &[FuncId]) -> Result<Material<'r>, PlanError> {
        let wanted = functions.iter().filter_map(|&func| {
            let name = &self.program.module.functions[func].name;
            let given = self.request.inputs.precondition.clone();
            given.or_else(|| self.options.function(name).pre).map(|expression| (func, expression))
        });
        let wanted: Vec<(FuncId, String)> = wanted.collect();
        if let (Some(_), Some((func, _))) = (&self.program.java, wanted.first()) {
            let function = self.program.module.functions[*func].name.clone();
            return Err(PlanError::PreconditionOfJava { function });
        }
        let mut beside = Beside::default();
        precondition::add(&mut beside, &self.program, &self.request.files, &wanted)?;
        beside.describe(&self.world, &self.program, &self.request.files)?;
        self.program = beside.read(&self.reader, self.program, &self.request.files, &self.include_dir)?;
        self.unchecked = self.world.check(&self.program.module, self.program.specified())?;
        Ok(self)
    }

    /// The exploration of one function, from the request and `touchstone.toml`.
    pub fn task(&self, name: &str, entry: Entry) -> Result<Task, PlanError> {
        let func = self.program.module.function_named(name).ok_or(PlanError::LostFunction)?;
        let config = self.config(func, entry)?;
        let functions = match (self.request.objectives_of, entry) {
            (ObjectivesOf::Own, Entry::Function) => vec![self.program.tested_by(func)],
            _ => self.program.with_callees(func),
        };
        Ok(Task { func, config, criteria: criteria_options(self.request, &self.options, name)?, functions })
    }

    fn config(&self, func: FuncId, entry: Entry) -> Result<Config, PlanError> {
        let (request, module) = (self.request, &self.program.module);
        let (inputs, effort) = (&request.inputs, &request.effort);
        let name = &module.functions[func].name;
        let from_file = self.options.function(name);
        let paths = request.criteria.iter().find_map(|criterion| match criterion {
            Criterion::Paths(of) => Some(*of),
            Criterion::Goals(_) | Criterion::State => None,
        });
        let mut lengths = from_file.len.clone();
        lengths.extend(inputs.lengths.clone());
        let mut ranges = from_file.ranges()?;
        ranges.extend(inputs.ranges.clone());
        let named = |suffix: &str| self.program.helper(name, suffix);
        let given = named(precondition::SUFFIX);
        let (precondition, oracle) = match entry {
            Entry::Function => (given.or_else(|| named("_pre")), named("_post")),
            Entry::Program => (None, None),
        };
        check_signature(module, func, precondition.as_deref(), Role::Precondition)?;
        check_signature(module, func, oracle.as_deref(), Role::Oracle)?;
        let proof_time = Config::default().proof_time;
        Ok(Config {
            entry,
            unnamed: match entry {
                Entry::Function => self.program.unnamed_by_tests_of(func),
                Entry::Program => BTreeSet::new(),
            },
            aliases: effort.aliases,
            paths: paths.unwrap_or_default(),
            labels: effort.labels,
            summaries: effort.summaries,
            search: effort.order.unwrap_or(match request.wants_paths() {
                true => Search::Dfs,
                false => Search::Nearest,
            }),
            loop_bound: effort.loop_bound.or(from_file.loop_bound),
            depth: effort.depth,
            max_paths: effort.max_paths,
            externals: inputs.surroundings.externals,
            assume: request.assume.clone(),
            memory: effort.memory.map(MemoryLimit::bytes),
            solver_timeout: effort.solver_timeout,
            proof_time: effort.timeout.map_or(proof_time, |limit| limit.min(proof_time)),
            max_objects: inputs.max_objects.or(from_file.max_objects).unwrap_or(self.program.max_objects()),
            call_depth: effort.call_depth,
            steps: effort.steps,
            max_values: effort.max_values,
            lengths,
            ranges,
            excluded_choices: self.program.java.iter().flat_map(|java| java.not_taken(func)).collect(),
            arguments: inputs.arguments,
            strings: inputs.strings,
            precondition,
            oracle,
            seed: effort.seed,
            interrupt: Some(Arc::clone(&request.interrupt)),
            ..Config::default()
        })
    }

    fn target(&self) -> Target {
        if let Some(java) = &self.program.java {
            return Target::Java(Box::new(java.target(replay_limits(self.request), keeping(self.request))));
        }
        Target::C(Box::new(Build {
            units: self.program.units.clone(),
            include_dir: self.include_dir.clone(),
            cc: self.request.compilation.compiler.clone(),
            limits: replay_limits(self.request),
            interrupt: Arc::clone(&self.request.interrupt),
            sandbox: match self.request.replay {
                Replaying::Unprotected => Sandbox::open(),
                Replaying::Off | Replaying::InSandbox => Sandbox::closed(),
            },
            preprocessed: PreprocessedUnits::default(),
            unit_objects: UnitObjects::default(),
        }))
    }
}

/// Whether tests of Java are kept from harm.
pub(crate) fn keeping(request: &Request) -> SandboxMode {
    match request.replay {
        Replaying::Unprotected => SandboxMode::Open,
        Replaying::Off | Replaying::InSandbox => SandboxMode::Closed,
    }
}

/// The request with the forms that tests of its language have: what C is for C, JUnit 5 is for Java.
fn in_its_language(request: &Request) -> Result<Request, PlanError> {
    let java = crate::java::is_java(&request.files);
    let mut made = request.clone();
    for form in &mut made.emit {
        *form = match (java, *form) {
            (true, TestForm::C) => TestForm::JUnit5,
            (true, TestForm::Json | TestForm::JUnit4 | TestForm::JUnit5) => *form,
            (false, TestForm::JUnit4 | TestForm::JUnit5) | (true, _) => {
                return Err(PlanError::FormOfOtherLanguage { form: *form });
            }
            (false, _) => *form,
        };
    }
    Ok(made)
}

/// What an earlier run left. A document that can't be read says nothing.
fn stored(request: &Request) -> Option<Document> {
    if request.purpose != Purpose::Tests && request.regeneration != Regeneration::Resume {
        return None;
    }
    let text = std::fs::read_to_string(request.out.join("campaign.json")).ok()?;
    Document::parse(&text).ok()
}

/// What replay may take: at least half a minute for each function, and ten times the time of its search.
fn replay_limits(request: &Request) -> ReplayLimits {
    const LEAST: Duration = Duration::from_secs(30);
    let limits = ReplayLimits::default();
    let most = Duration::from_secs(limits.total_seconds.into());
    let wanted = |limit: Duration| limit.saturating_mul(10).saturating_add(LEAST).min(most);
    let total = request.effort.timeout.map_or(most, wanted);
    ReplayLimits { total_seconds: u32::try_from(total.as_secs()).unwrap_or(limits.total_seconds), ..limits }
}

/// What users switch about criteria, for one function.
pub(crate) fn criteria_options(
    request: &Request,
    file: &OptionsFile,
    function: &str,
) -> Result<CriteriaOptions, OptionsFileError> {
    let partitions = file.function(function).partitions()?;
    Ok(CriteriaOptions { mutators: request.mutators.clone(), partitions })
}

/// The files that define the program's functions, with what their comments exclude. A comment that is wrong stops the run
/// before it begins.
fn source_files(program: &Program) -> Result<Vec<SourceFile>, PlanError> {
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

/// Whether source and classes are not the same program.
fn differs(program: &Program) -> Option<Notice> {
    let methods = program.java.as_ref()?.differ();
    (methods > 0).then_some(Notice::SourceDiffers { methods })
}

/// Classes that were left out.
fn unloadable(program: &Program) -> Option<Notice> {
    let [(class, why), others @ ..] = program.java.as_ref()?.unloadable() else { return None };
    Some(Notice::Unloadable { class: class.replace('/', "."), why: why.clone(), others: others.len() })
}

/// Methods that came without source.
fn without_source(program: &Program, tasks: &[Task]) -> Option<Notice> {
    let java = program.java.as_ref()?;
    let mut bare = tasks.iter().filter(|task| java.is_bare(task.func));
    let function = program.module.functions[bare.next()?.func].name.clone();
    Some(Notice::NoSource { function, others: bare.count() })
}

/// What the suite does not have of the functions under test.
fn unmeasured(suite: &Suite, module: &Module, tasks: &[Task]) -> Vec<Notice> {
    let notice = |task: &Task| {
        let function = module.functions[task.func].name.clone();
        match suite.knows(module, task.func) {
            Known::Yes => None,
            Known::OtherVariant => Some(Notice::OtherVariant { function }),
            Known::No => Some(Notice::NotMeasured { function }),
        }
    };
    tasks.iter().filter_map(notice).collect()
}

/// Which forms of tests there are for functions only, or for whole programs only.
fn check_forms(entry: Entry, request: &Request) -> Result<(), PlanError> {
    for &form in &request.emit {
        match (form, entry) {
            (TestForm::Unity | TestForm::Cmocka | TestForm::Gtest, Entry::Program) => {
                return Err(PlanError::FrameworkOfProgram { form });
            }
            (TestForm::TestComp, Entry::Function) => return Err(PlanError::TestCompOfFunctions),
            _ => {}
        }
    }
    Ok(())
}

/// Names of lengths and ranges must be names of something.
fn check_names(module: &Module, functions: &[FuncId], entry: Entry, request: &Request) -> Result<(), PlanError> {
    if entry == Entry::Program {
        return Ok(());
    }
    for name in request.inputs.lengths.keys().chain(request.inputs.ranges.keys()) {
        let base = name.split(['[', '.']).next().unwrap_or(name);
        let is_param = |id: &FuncId| module.functions[*id].params.iter().any(|param| param.name == base);
        if !functions.iter().any(is_param) && module.global_named(base).is_none() {
            return Err(PlanError::NoSuchInput { name: base.to_string() });
        }
    }
    Ok(())
}

/// What a function beside the function under test is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Precondition,
    Oracle,
}

/// A precondition takes the parameters of its function; an oracle the same and, unless there is none, the result.
fn check_signature(module: &Module, func: FuncId, helper: Option<&str>, role: Role) -> Result<(), PlanError> {
    let Some(helper) = helper.and_then(|name| module.function_named(name)) else { return Ok(()) };
    let (function, helper) = (&module.functions[func], &module.functions[helper]);
    let ty = |f: &Function, index: usize| f.params.get(index).map(|param| (f.regs[param.reg].ty, param.aggregate));
    let hidden = usize::from(function.aggregate_result);
    let own = function.params.len() - hidden;
    let same = (0..own).all(|index| ty(function, index + hidden) == ty(helper, index));
    let gives = function.result.is_some() || function.aggregate_result;
    let (takes, count) = match role {
        Role::Oracle if gives => (Takes::ParametersAndResult, own + 1),
        Role::Oracle | Role::Precondition => (Takes::Parameters, own),
    };
    if same && helper.params.len() == count && helper.result.is_some() {
        return Ok(());
    }
    Err(PlanError::Signature {
        helper: helper.name.clone(),
        at: helper.span.display(&module.files).to_string(),
        takes,
        function: function.name.clone(),
    })
}
