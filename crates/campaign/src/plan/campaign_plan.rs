//! The resolved plan. Functions, names, signatures, test forms and preconditions are checked here, so that a campaign
//! that has started can fail only when it writes files.

use super::resume::ResumedResults;
use crate::externals::ExternalSpecs;
use crate::program::companion::CompanionCode;
use crate::program::precondition;
use crate::program::subject;
use crate::program::{HelperParameters, PlanError};
use crate::program::{Program, Reader};
use crate::request::Notice;
use crate::request::OutDir;
use crate::request::{CAMPAIGN, ObjectiveScope, Purpose, Regeneration, ReplayMode, Request, TestForm};
use crate::request::{OptionsFile, OptionsFileError};
use crate::reuse::baseline_suite::{BaselineSuite, SuiteMembership};
use crate::reuse::earlier_tests::EarlierTests;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use touchstone_base::{Cores, Deadline, MemoryLimit, Span};
use touchstone_criteria::{CriteriaOptions, Criterion, GoalCriterion, objectives};
use touchstone_emit::{Build, PreprocessedUnits, ReplayLimits, Sandbox, SandboxMode, Target, UnitObjects};
use touchstone_engine::{Config, Entry, Search};
use touchstone_ir::{FuncId, Function, Module};
use touchstone_report::Document;
use touchstone_report::document::SourceFile;

/// A resolved request with its program. It holds the lock of the output directory.
#[derive(Debug)]
pub struct Plan {
    /// The request.
    pub request: Request,
    /// The program.
    pub program: Program,
    /// Says whether functions are under test, or a whole program.
    pub entry: Entry,
    /// The explorations, in the order of the report.
    pub tasks: Vec<Task>,
    /// Compiles and replays tests.
    pub target: Target,
    /// The measured suite to start from.
    pub suite: Option<BaselineSuite>,
    /// The older version of the program.
    pub(crate) old: Option<Program>,
    /// The files that define the program's functions, with the exclusions in their comments.
    pub sources: Vec<SourceFile>,
    /// Notices for users before the work starts.
    pub notices: Vec<Notice>,
    /// The results of an interrupted run.
    pub(crate) resumed: ResumedResults,
    /// The tests of an earlier run.
    pub(crate) earlier: EarlierTests,
    /// The output directory.
    pub out: OutDir,
    /// The cores that the run may use.
    pub(crate) cores: Arc<Cores>,
}

/// The exploration of one function.
#[derive(Debug)]
pub struct Task {
    /// The function.
    pub func: FuncId,
    /// The configuration of the exploration. The deadline is set when it starts.
    pub config: Config,
    /// The criteria options of this function.
    pub criteria: CriteriaOptions,
    /// The functions that contribute objectives.
    pub functions: Vec<FuncId>,
}

impl Plan {
    /// Reads the program and resolves the request.
    pub fn new(request: &Request) -> Result<Plan, PlanError> {
        if request.wants_state() {
            return Err(PlanError::State);
        }
        let request = &in_its_language(request)?;
        let out = OutDir::open(&request.out)?;
        let stored = stored(request);
        // Proofs write no tests, so their names do not depend on those of an earlier run.
        let is_named = request.purpose == Purpose::Tests || request.regeneration == Regeneration::Resume;
        let earlier = stored.clone().map(if is_named { EarlierTests::of } else { EarlierTests::unnamed });
        let earlier = earlier.unwrap_or_default();
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
        let read = |directory: &PathBuf| BaselineSuite::read(directory, &request.labellings());
        let suite = request.on_top_of.as_ref().map(read).transpose()?;
        let tasks = names.iter().map(|name| material.task(name, entry)).collect::<Result<Vec<Task>, _>>()?;
        material.program.declare_object_apis(&request.inputs)?;
        let module = &material.program.module;
        let criteria: Vec<&str> = request.labellings().iter().map(|criterion| criterion.name()).collect();
        let mut notices: Vec<Notice> = suite.iter().flat_map(|suite| suite.notices(module, &criteria)).collect();
        notices.extend(suite.iter().flat_map(|suite| unmeasured(suite, module, &tasks, &request.labellings())));
        notices.extend(material.externals.notices(&material.program.module, material.program.translated_specs()));
        notices.extend(material.unchecked.iter().cloned());
        notices.extend(unloadable(&material.program));
        notices.extend(differs(&material.program));
        notices.extend(without_source(&material.program, &tasks));
        let tested: Vec<FuncId> = tasks.iter().map(|task| task.func).collect();
        notices.extend(skipped_decisions(&material.program, &tested, &request.labellings()));
        let target = material.target();
        let cores = Arc::clone(&material.cores);
        let program = material.program;
        let resumed = ResumedResults::default();
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
            cores,
        };
        Ok(match (request.regeneration, stored) {
            (Regeneration::Resume, stored) => plan.resume(stored.unwrap_or_default()),
            _ => plan,
        })
    }
}

impl Plan {
    /// Returns the deadline of a phase that starts now: the search, or afterwards naming and reducing tests.
    pub(crate) fn deadline(&self) -> Deadline {
        self.request.effort.deadline()
    }

    /// Returns a number of the unit that the tests of a function include in C, or of the class with the tests in Java.
    pub(crate) fn unit_of(&self, task: &Task) -> Option<usize> {
        let module = &self.program.module;
        let function = &module.functions[task.func];
        match &self.target {
            Target::C(build) => build.unit_with(module, function),
            Target::Java(target) => target.test_class_of(&function.name),
        }
    }
}

/// A request's program as it was read, with specifications and options.
pub(crate) struct Material<'r> {
    request: &'r Request,
    reader: Reader,
    options: OptionsFile,
    include_dir: PathBuf,
    externals: ExternalSpecs,
    /// Notices about specifications that could not be checked.
    unchecked: Vec<Notice>,
    cores: Arc<Cores>,
    /// The program.
    pub program: Program,
}

impl<'r> Material<'r> {
    /// Reads the program in the environment of the request.
    pub fn read(request: &'r Request) -> Result<Material<'r>, PlanError> {
        let include_dir = request.out.join("include");
        let first = request.files.first().ok_or(PlanError::NoFiles)?;
        let externals = ExternalSpecs::read(&request.inputs.external_specs)?;
        let reader = Reader::new(&request.files, &request.compilation, &include_dir)?
            .with_externals(&externals)
            .within(request.effort.timeout)
            .with_environment(request.environment_inputs())
            .about(&request.subject);
        let program = reader.read(&request.files)?;
        let options = OptionsFile::near(first)?;
        options.check(program.module.functions.values().map(|function| function.name.as_str()))?;
        let all = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let cores = Arc::new(Cores::new(request.jobs.unwrap_or_else(all).max(1)));
        Ok(Material { request, reader, options, include_dir, externals, unchecked: Vec::new(), cores, program })
    }

    /// Returns the names of functions, which remain valid when the program is read again.
    pub fn names(&self, functions: &[FuncId]) -> Vec<String> {
        functions.iter().map(|id| self.program.module.functions[*id].name.clone()).collect()
    }

    /// Adds the preconditions of these functions (from the request, or else from `touchstone.toml`) and the
    /// specifications of external functions.
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
        let mut companion = CompanionCode::default();
        precondition::add(&mut companion, &self.program, &self.request.files, &wanted)?;
        companion.describe(&self.externals, &self.program, &self.request.files)?;
        self.program = companion.read(&self.reader, self.program, &self.request.files, &self.include_dir)?;
        self.unchecked = self.externals.check(&self.program.module, self.program.translated_specs())?;
        Ok(self)
    }

    /// Creates the task for one function from the request and `touchstone.toml`.
    pub fn task(&self, name: &str, entry: Entry) -> Result<Task, PlanError> {
        let func = self.program.module.function_named(name).ok_or(PlanError::LostFunction)?;
        let config = self.config(func, entry)?;
        let functions = match (self.request.objectives_of, entry) {
            (ObjectiveScope::Own, Entry::Function) => vec![self.program.tested_by(func)],
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
            search: effort.order.unwrap_or(match request.wants_paths() {
                true => Search::Dfs,
                false => Search::Nearest,
            }),
            loop_bound: effort.loop_bound.or(from_file.loop_bound),
            max_paths: effort.max_paths,
            externals: inputs.environment_inputs.externals,
            assume: request.assume.clone(),
            memory: effort.memory.map(MemoryLimit::bytes),
            solver_timeout: effort.solver_timeout,
            proof_time: effort.budget.map_or(proof_time, |limit| limit.min(proof_time)),
            max_objects: inputs.max_objects.or(from_file.max_objects).unwrap_or(self.program.max_objects()),
            steps: effort.steps,
            lengths,
            ranges,
            excluded_choices: self.program.java.iter().flat_map(|java| java.not_taken(func)).collect(),
            arguments: inputs.arguments,
            strings: inputs.strings,
            precondition,
            oracle,
            options: effort.search,
            interrupt: Some(Arc::clone(&request.interrupt)),
            query_log: request.query_log.clone(),
            cores: Some(Arc::clone(&self.cores)),
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
                ReplayMode::Unprotected => Sandbox::open(),
                ReplayMode::Off | ReplayMode::InSandbox => Sandbox::closed(),
            },
            preprocessed: PreprocessedUnits::default(),
            unit_objects: UnitObjects::default(),
        }))
    }
}

/// Returns whether Java tests run in a sandbox.
pub(crate) fn keeping(request: &Request) -> SandboxMode {
    match request.replay {
        ReplayMode::Unprotected => SandboxMode::Open,
        ReplayMode::Off | ReplayMode::InSandbox => SandboxMode::Closed,
    }
}

/// Adapts the test forms to the language: for Java, JUnit 5 replaces C.
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

/// Reads the document of an earlier run; an unreadable one is ignored.
fn stored(request: &Request) -> Option<Document> {
    let text = std::fs::read_to_string(request.out.join(CAMPAIGN)).ok()?;
    Document::parse(&text).ok()
}

/// Returns the time limit of the replay: ten times the search time and half a minute.
fn replay_limits(request: &Request) -> ReplayLimits {
    const REPLAY_TIME_ALLOWANCE: Duration = Duration::from_secs(30);
    let limits = ReplayLimits::default();
    let most = Duration::from_secs(limits.total_seconds.into());
    let wanted = |limit: Duration| limit.saturating_mul(10).saturating_add(REPLAY_TIME_ALLOWANCE).min(most);
    let total = request.effort.timeout.map_or(most, wanted);
    ReplayLimits { total_seconds: u32::try_from(total.as_secs()).unwrap_or(limits.total_seconds), ..limits }
}

/// Returns the criteria options of one function.
pub(crate) fn criteria_options(
    request: &Request,
    file: &OptionsFile,
    function: &str,
) -> Result<CriteriaOptions, OptionsFileError> {
    let partitions = file.function(function).partitions()?;
    Ok(CriteriaOptions { mutators: request.mutators.clone(), partitions })
}

/// Returns the files that define the program's functions, with the exclusions in their comments. A malformed comment is
/// an error.
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

/// Returns a notice if source and classes are different programs.
fn differs(program: &Program) -> Option<Notice> {
    let methods = program.java.as_ref()?.mismatched_methods();
    (methods > 0).then_some(Notice::SourceDiffers { methods })
}

/// Returns a notice about classes that were left out.
fn unloadable(program: &Program) -> Option<Notice> {
    let [(class, why), others @ ..] = program.java.as_ref()?.unloadable() else { return None };
    Some(Notice::Unloadable { class: class.replace('/', "."), why: why.clone(), others: others.len() })
}

/// Returns a notice about methods without source.
fn without_source(program: &Program, tasks: &[Task]) -> Option<Notice> {
    let java = program.java.as_ref()?;
    let mut bare = tasks.iter().filter(|task| java.lacks_source(task.func));
    let function = program.module.functions[bare.next()?.func].name.clone();
    Some(Notice::NoSource { function, others: bare.count() })
}

/// Returns notices about decisions without objectives.
pub(super) fn skipped_decisions(
    program: &Program,
    functions: &[FuncId],
    criteria: &[&'static dyn GoalCriterion],
) -> Vec<Notice> {
    // Criteria on decisions record jumps only.
    let asks_for_decisions = criteria.iter().any(|criterion| criterion.recorded_events().is_empty());
    let java = program.java.as_ref().filter(|_| asks_for_decisions);
    let of = |func: &FuncId| {
        let func = *func;
        java.into_iter().flat_map(move |java| java.skipped_decisions(func))
    };
    let place = |span: Span| span.display(&program.module.files).to_string();
    let notice = |(span, text): (Span, &str)| Notice::SkippedDecision { place: place(span), text: text.to_string() };
    functions.iter().flat_map(of).map(notice).collect()
}

/// Returns notices about functions with objectives that the suite does not have.
fn unmeasured(
    suite: &BaselineSuite,
    module: &Module,
    tasks: &[Task],
    criteria: &[&'static dyn GoalCriterion],
) -> Vec<Notice> {
    let notice = |task: &Task| {
        let function = module.functions[task.func].name.clone();
        let notice = match suite.knows(module, task.func) {
            SuiteMembership::Measured => return None,
            SuiteMembership::OtherVariant => Notice::OtherVariant { function },
            SuiteMembership::NotMeasured => Notice::NotMeasured { function },
        };
        let has_objectives = !objectives(module, &task.functions, criteria, &task.criteria).list.is_empty();
        has_objectives.then_some(notice)
    };
    tasks.iter().filter_map(notice).collect()
}

/// Rejects test forms that exist only for functions, or only for whole programs.
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

/// Rejects lengths and ranges of unknown names.
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

/// The role of a helper function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Precondition,
    Oracle,
}

/// Checks the signature of a helper: a precondition takes the parameters of its function, an oracle also the result, if
/// there is one.
fn check_signature(module: &Module, func: FuncId, helper: Option<&str>, role: Role) -> Result<(), PlanError> {
    let Some(helper) = helper.and_then(|name| module.function_named(name)) else { return Ok(()) };
    let (function, helper) = (&module.functions[func], &module.functions[helper]);
    let ty = |f: &Function, index: usize| f.params.get(index).map(|param| (f.regs[param.reg].ty, param.aggregate));
    let hidden = usize::from(function.aggregate_result);
    let own = function.params.len() - hidden;
    let same = (0..own).all(|index| ty(function, index + hidden) == ty(helper, index));
    let gives = function.result.is_some() || function.aggregate_result;
    let (takes, count) = match role {
        Role::Oracle if gives => (HelperParameters::ParametersAndResult, own + 1),
        Role::Oracle | Role::Precondition => (HelperParameters::Parameters, own),
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
