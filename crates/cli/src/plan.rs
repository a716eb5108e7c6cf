//! The resolved plan of `generate`: every decision made before any work starts.

use crate::args::{Aliases, Emit, Externals, Generate, Labels, Scope, Search, Volatile};
use crate::options_file::OptionsFile;
use anyhow::{Result, bail};
use clap::ValueEnum;
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit};
use touchstone_criteria::{CriteriaOptions, Criterion, Labelling};
use touchstone_emit::ReplayLimits;
use touchstone_engine::{Config, Entry};
use touchstone_ir::{CallGraph, FuncId, Function, FunctionRole, Module};

/// One exploration to do.
#[derive(Debug)]
pub struct Task {
    pub func: FuncId,
    pub config: Config,
    pub criteria: CriteriaOptions,
}

/// Which functions are to be tested, by name: what was asked for, else what the files define.
pub fn targets(module: &Module, options: &Generate) -> Result<(Entry, Vec<FuncId>)> {
    if let Some(entry) = &options.entry {
        return Ok((Entry::Program, vec![find(module, entry)?]));
    }
    if options.surroundings.argv.is_some() {
        if !options.functions.is_empty() {
            bail!("--argv: only a whole program has arguments\n  help: explore one by --entry main, without -f");
        }
        return Ok((Entry::Program, vec![find(module, "main")?]));
    }
    if !options.functions.is_empty() {
        let found = options.functions.iter().map(|name| find(module, name)).collect::<Result<Vec<_>>>()?;
        return Ok((Entry::Function, found));
    }
    let is_helper = |function: &Function| {
        let base = function.name.strip_suffix("_pre").or_else(|| function.name.strip_suffix("_post"));
        base.is_some_and(|base| module.function_named(base).is_some())
    };
    let own = |function: &Function| function.is_defined() && !function.is_library() && !is_helper(function);
    let all: Vec<FuncId> = module.functions.iter().filter(|(_, f)| own(f)).map(|(id, _)| id).collect();
    let main = module.function_named("main").filter(|main| all.contains(main));
    match (all.as_slice(), main) {
        ([], _) => bail!("the files define no function; nothing to test"),
        ([only], Some(main)) if *only == main => Ok((Entry::Program, vec![main])),
        (_, Some(main)) if asks_for_inputs(module, options.surroundings.volatile) => Ok((Entry::Program, vec![main])),
        _ => Ok((Entry::Function, all.into_iter().filter(|id| Some(*id) != main).collect())),
    }
}

/// Whether some code makes its own inputs (a harness for us or for KLEE).
fn asks_for_inputs(module: &Module, volatile: Volatile) -> bool {
    use touchstone_ir::{Builtin, InstKind};
    let asks = |kind: &InstKind| match kind {
        InstKind::Builtin { builtin: Builtin::MakeSymbolic, .. } => true,
        // Reads of volatile objects ask as well, and make no harness.
        InstKind::Builtin { builtin: Builtin::FreshInt, .. } => volatile == Volatile::Memory,
        _ => false,
    };
    // Models of the library ask, too, where its surroundings are inputs.
    let harness = |f: &&Function| !f.is_library() || f.role == FunctionRole::Harness;
    module
        .functions
        .values()
        .filter(harness)
        .flat_map(|f| f.blocks.values())
        .flat_map(|b| &b.insts)
        .any(|inst| asks(&inst.kind))
}

/// Which forms of tests there are for functions only, or for whole programs only.
pub fn check_forms(entry: Entry, options: &Generate) -> Result<()> {
    for kind in &options.emit {
        match (kind, entry) {
            (Emit::Unity | Emit::Cmocka | Emit::Gtest, Entry::Program) => bail!(
                "--emit {}: tests of a whole program can't be written for this framework\n  \
                 help: name functions by -f, or use --emit c, json or testcomp",
                kind.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
            ),
            (Emit::Testcomp, Entry::Function) => bail!(
                "--emit testcomp: a Test-Comp suite has the inputs of a whole program\n  \
                 help: explore one by --entry main; tests of functions are --emit c, json, unity, cmocka or gtest"
            ),
            _ => {}
        }
    }
    Ok(())
}

fn find(module: &Module, name: &str) -> Result<FuncId> {
    let twins: Vec<&str> = module
        .functions
        .values()
        .map(|function| function.name.as_str())
        .filter(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with(['@', '$'])))
        .collect();
    if !twins.is_empty() {
        bail!("several files define a static `{name}`: give only one of these files ({name} and {})", twins.join(", "));
    }
    match module.function_named(name) {
        Some(id) if module.functions[id].is_defined() => Ok(id),
        Some(_) => {
            bail!("function `{name}` is declared but not defined in the given files; add the file that defines it")
        }
        None => {
            let mut known: Vec<&str> = module
                .functions
                .values()
                .filter(|f| f.is_defined() && !f.is_library())
                .map(|f| f.name.as_str())
                .collect();
            known.sort_unstable();
            if known.is_empty() {
                bail!("there is no function `{name}`: the files define no function");
            }
            bail!("there is no function `{name}`; the files define: {}", known.join(", "))
        }
    }
}

/// The exploration of one function, from options and `touchstone.toml`.
pub fn task(module: &Module, func: FuncId, entry: Entry, options: &Generate, file: &OptionsFile) -> Result<Task> {
    let name = module.functions[func].name.clone();
    let from_file = file.function(&name);
    let iterations = options.criteria.iter().find_map(|criterion| match criterion {
        Criterion::Paths(iterations) => *iterations,
        Criterion::Goals(_) | Criterion::State => None,
    });
    let mut lengths = from_file.len.clone();
    lengths.extend(options.len.iter().cloned());
    let mut ranges = from_file.ranges()?;
    ranges.extend(options.range.iter().cloned());
    let named = |suffix: &str| {
        let name = format!("{name}{suffix}");
        module.function_named(&name).filter(|&id| module.functions[id].is_defined()).map(|_| name)
    };
    let given = named(crate::precondition::SUFFIX);
    let (precondition, oracle) = match entry {
        Entry::Function => (given.or_else(|| named("_pre")), named("_post")),
        Entry::Program => (None, None),
    };
    check_signature(module, func, precondition.as_deref(), Role::Precondition)?;
    check_signature(module, func, oracle.as_deref(), Role::Oracle)?;
    let proof_time = Config::default().proof_time;
    let config = Config {
        entry,
        aliases: match options.aliases {
            Aliases::Late => touchstone_engine::Aliases::Late,
            Aliases::Eager => touchstone_engine::Aliases::Eager,
        },
        iterations,
        labels: match options.labels {
            Labels::Direct => touchstone_engine::Labels::Direct,
            Labels::Tight => touchstone_engine::Labels::Tight,
            Labels::Idl => touchstone_engine::Labels::Idl,
        },
        search: match options.search {
            None if wants_paths(options) => touchstone_engine::Search::Dfs,
            None | Some(Search::Nearest) => touchstone_engine::Search::Nearest,
            Some(Search::Dfs) => touchstone_engine::Search::Dfs,
            Some(Search::Bfs) => touchstone_engine::Search::Bfs,
            Some(Search::Random) => touchstone_engine::Search::Random,
        },
        loop_bound: options.loop_bound.or(from_file.loop_bound),
        depth: options.depth,
        max_paths: options.max_paths,
        externals: options.surroundings.externals == Externals::Inputs,
        assume: options.assume.iter().copied().collect(),
        memory: (options.memory > 0).then(|| MemoryLimit::bytes(options.memory.saturating_mul(1 << 20))),
        solver_timeout: seconds(options.solver_timeout),
        proof_time: seconds(options.timeout).map_or(proof_time, |limit| limit.min(proof_time)),
        max_objects: options.max_objects.or(from_file.max_objects).unwrap_or(Config::default().max_objects),
        call_depth: options.call_depth,
        steps: options.steps,
        max_values: options.max_values,
        lengths,
        ranges,
        arguments: options.surroundings.argv,
        strings: options.strings,
        precondition,
        oracle,
        seed: options.seed,
        ..Config::default()
    };
    Ok(Task { func, config, criteria: criteria_options(options, file, &name)? })
}

/// When a phase of the work on a function that begins now has to stop: the search, and after it naming and choosing tests.
pub fn deadline(options: &Generate) -> Deadline {
    Deadline::within(seconds(options.timeout))
}

/// What replay may take: at least half a minute for each function, and ten times the time of its search.
pub fn replay_limits(options: &Generate) -> ReplayLimits {
    const LEAST: Duration = Duration::from_secs(30);
    let limits = ReplayLimits::default();
    let most = Duration::from_secs(limits.total_seconds.into());
    let total = seconds(options.timeout).map_or(most, |limit| limit.saturating_mul(10).saturating_add(LEAST).min(most));
    ReplayLimits { total_seconds: u32::try_from(total.as_secs()).unwrap_or(limits.total_seconds), ..limits }
}

/// A limit in seconds; `None` for 0, and for what no clock counts to.
fn seconds(limit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(limit).ok().filter(|limit| !limit.is_zero())
}

/// Whether every path is to have a test.
pub fn wants_paths(options: &Generate) -> bool {
    options.criteria.iter().any(|criterion| matches!(criterion, Criterion::Paths(_)))
}

/// Whether state coverage is asked for.
pub fn wants_state(options: &Generate) -> bool {
    options.criteria.contains(&Criterion::State)
}

/// No test is searched for state.
pub fn refuse_state(options: &Generate) -> Result<()> {
    if wants_state(options) {
        bail!("state coverage says what tests check, and is only measured: touchstone measure -c state -- COMMAND");
    }
    Ok(())
}

/// The criteria whose objectives are goals.
pub fn labellings(options: &Generate) -> Vec<&'static dyn Labelling> {
    let goals = options.criteria.iter().filter_map(|criterion| match criterion {
        Criterion::Goals(labelling) => Some(*labelling),
        Criterion::Paths(_) | Criterion::State => None,
    });
    goals.collect()
}

/// The functions whose objectives count when `func` is explored.
pub fn scope(module: &Module, func: FuncId, entry: Entry, options: &Generate) -> Vec<FuncId> {
    match (options.scope, entry) {
        (Scope::Own, Entry::Function) => vec![func],
        _ => {
            let reachable = CallGraph::new(module).reachable_from(func);
            let own = |id: &FuncId| module.functions[*id].is_defined() && !module.functions[*id].is_library();
            reachable.into_iter().filter(own).collect()
        }
    }
}

/// What users switch about criteria, for one function.
pub fn criteria_options(options: &Generate, file: &OptionsFile, function: &str) -> Result<CriteriaOptions> {
    let partitions = file.function(function).partitions()?;
    Ok(CriteriaOptions { mutators: options.mutators.clone(), partitions })
}

/// What a function beside the function under test is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Precondition,
    Oracle,
}

/// A precondition takes the parameters of its function; an oracle the same and, unless there is none, the result.
fn check_signature(module: &Module, func: FuncId, helper: Option<&str>, role: Role) -> Result<()> {
    let Some(helper) = helper.and_then(|name| module.function_named(name)) else { return Ok(()) };
    let (function, helper) = (&module.functions[func], &module.functions[helper]);
    let ty = |f: &Function, index: usize| f.params.get(index).map(|param| (f.regs[param.reg].ty, param.aggregate));
    let hidden = usize::from(function.aggregate_result);
    let own = function.params.len() - hidden;
    let same = (0..own).all(|index| ty(function, index + hidden) == ty(helper, index));
    let gives = function.result.is_some() || function.aggregate_result;
    let extra = usize::from(role == Role::Oracle && gives);
    if same && helper.params.len() == own + extra && helper.result.is_some() {
        return Ok(());
    }
    let what = match (role, extra) {
        (Role::Precondition, _) | (Role::Oracle, 0) => "the parameters",
        (Role::Oracle, _) => "the parameters and the result",
    };
    bail!(
        "`{}` at {} must take {what} of `{}` and return a number; rename it if it is not meant for `{}`",
        helper.name,
        helper.span.display(&module.files),
        function.name,
        function.name
    )
}

/// Names in `--len` and `--range` must be names of something.
pub fn check_names(module: &Module, functions: &[FuncId], entry: Entry, options: &Generate) -> Result<()> {
    if entry == Entry::Program {
        return Ok(());
    }
    let names = options.len.iter().map(|(name, _)| name).chain(options.range.iter().map(|(name, _)| name));
    for name in names {
        let base = name.split(['[', '.']).next().unwrap_or(name);
        let is_param = |id: &FuncId| module.functions[*id].params.iter().any(|param| param.name == base);
        if !functions.iter().any(is_param) && module.global_named(base).is_none() {
            bail!("`{base}` is no parameter of the tested functions and no global; check --len and --range");
        }
    }
    Ok(())
}
