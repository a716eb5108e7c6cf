//! Loads the part of the JDK that methods under test need. What a short exploration of the methods reaches is loaded,
//! in rounds; initialisers run in the reference interpreter.

use super::error::JavaError;
use super::symbolic_heap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit, work_time};
use touchstone_criteria::{Incomplete, Unsupported};
use touchstone_engine::{Config, End, Limits, SearchEvent, Sink, Startup, StartupOwner};
use touchstone_front_java::{InitialiserEffect, LoadedFunctions, MethodUnderTest, ObserverAccess, PreparedCall};
use touchstone_ir::{Block, FuncId, Function, Module, TermKind, Terminator};

/// The number of JDK functions that are lowered before any exploration.
pub(super) const INITIAL_JDK_FUNCTIONS: usize = 400;
/// The number of functions that are lowered with each function that an exploration reached.
const JDK_FUNCTIONS_PER_STEP: usize = 80;
/// The number of functions that are lowered for observers.
const JDK_FUNCTIONS_FOR_OBSERVERS: usize = 150;
/// The maximum number of rounds.
const MAX_LOADING_ROUNDS: usize = 40;
/// The CPU time for all explorations of one method, whatever other methods need: its results must be those of a run
/// with this method alone.
const LOADING_TIME_PER_METHOD: Duration = Duration::from_secs(5);
/// The memory limit of the process during exploration, in bytes.
const EXPLORATION_MEMORY_BYTES: u64 = 1 << 30;

/// A program that is being loaded, with the state that initialisers left.
pub(super) struct Loading<'p> {
    program: &'p touchstone_front_java::LazyProgram,
    starting: Startup<'p>,
    pub(super) loaded: LoadedFunctions,
    ran: Vec<FuncId>,
    /// Initialisers of the program that were tried, and those that succeeded.
    tried: Vec<FuncId>,
    initialised: Vec<FuncId>,
    /// Classes under test that cannot be initialised, with the reason.
    unusable: Vec<(String, End)>,
}

impl<'p> Loading<'p> {
    pub(super) fn new(program: &'p touchstone_front_java::LazyProgram) -> Loading<'p> {
        let limits = Limits { steps: 50_000_000, frames: 3_000, heap_bytes: 256 << 20 };
        let mut starting = Startup::new(program.module(), program, limits);
        let _ = starting.run(program.entry(), StartupOwner::Library);
        let (ran, tried, initialised) = (Vec::new(), Vec::new(), Vec::new());
        let unusable = Vec::new();
        Loading { program, starting, loaded: LoadedFunctions::default(), ran, tried, initialised, unusable }
    }

    /// Loads functions with their neighbourhood. Initialisers of the JDK run immediately, and may need others.
    pub(super) fn load(&mut self, roots: &[FuncId], most: usize) {
        for _ in 0..3 {
            let met = self.program.load(roots, most, &mut self.loaded);
            let new: Vec<FuncId> = met.into_iter().filter(|init| !self.ran.contains(init)).collect();
            if new.is_empty() {
                break;
            }
            for init in new {
                self.ran.push(init);
                // An initialiser that cannot run here is executed by the path that needs it.
                if self.starting.run(init, StartupOwner::Library).is_err() {
                    self.loaded.functions.insert(init);
                }
            }
        }
        self.initialise_met();
    }

    /// Loads the set-up and the observers of tests, by entry point.
    pub(super) fn prepare(&mut self, tested: &[&MethodUnderTest]) -> BTreeMap<FuncId, PreparedCall> {
        let mut found = BTreeMap::new();
        let mut roots = Vec::new();
        for method in tested {
            let Some(prepared) = self.program.prepared_call(method) else { continue };
            roots.push(prepared.func);
            roots.extend(prepared.tested.iter().map(|(func, _)| *func));
            for probe in prepared.observers.iter().flat_map(|looks| &looks.observers) {
                if let ObserverAccess::Method(func) = probe.reads {
                    roots.push(func);
                }
            }
            found.insert(method.entry, prepared);
        }
        roots.sort_unstable();
        roots.dedup();
        self.load(&roots, JDK_FUNCTIONS_FOR_OBSERVERS);
        found
    }

    /// Initialises classes that methods under test may use: a caller may have done so, and the values of their
    /// variables since then are inputs. An initialiser that uses variables of other classes does not run: paths stop
    /// where they need it.
    fn initialise_met(&mut self) {
        for (init, shows) in self.program.initialisers(&self.loaded) {
            if shows == InitialiserEffect::OwnClass && !self.tried.contains(&init) {
                self.tried.push(init);
                if self.starting.run(init, StartupOwner::Program).is_ok() {
                    self.initialised.push(init);
                }
            }
        }
    }

    /// Initialises the classes under test, as every caller of their methods has.
    pub(super) fn initialise(&mut self, tested: &[&MethodUnderTest]) -> Result<(), JavaError> {
        let mut classes: Vec<&str> = tested.iter().map(|method| method.internal.as_str()).collect();
        classes.dedup();
        for class in classes {
            let Some(init) = self.program.initialiser(class)? else { continue };
            if self.initialised.contains(&init) || self.ran.contains(&init) {
                continue;
            }
            let whose = if self.program.is_jdk_class(class) { StartupOwner::Library } else { StartupOwner::Program };
            match self.starting.run(init, whose) {
                Ok(()) => self.initialised.push(init),
                Err(end) => self.unusable.push((class.to_string(), end)),
            }
        }
        Ok(())
    }

    /// Returns the module in its current state.
    pub(super) fn module(&self, tested: &[&MethodUnderTest]) -> Module {
        let met = self.program.loaded(&self.loaded);
        let mut unusable = self.unusable.clone();
        let mut module = match self.starting.left(&met, &|word| self.program.is_immutable(word)) {
            Ok(module) => module,
            Err(end) => {
                unusable.extend(tested.iter().map(|method| (method.internal.clone(), end.clone())));
                met
            }
        };
        self.mark_environment_dependent_fields(&mut module);
        for (init, shows) in self.program.initialisers(&self.loaded) {
            if shows != InitialiserEffect::Invisible && !self.initialised.contains(&init) {
                stop(&mut module.functions[init], "a class that could not be initialised, or only at another time");
            }
        }
        for (class, end) in unusable {
            for method in tested.iter().filter(|method| method.internal == class) {
                let what = format!("the initialiser of {}: {}", class.replace('/', "."), why(&end));
                stop(&mut module.functions[method.entry], &what);
            }
        }
        module
    }

    /// Marks reads of static fields that tests cannot set and whose initial values depend on the environment: a path ends there with a
    /// reason.
    fn mark_environment_dependent_fields(&self, module: &mut Module) {
        let unknown = self.starting.environment_dependent().into_iter().filter_map(|(field, source)| {
            let name = self.program.unsettable_field(field)?;
            Some((field, format!("{name}, whose initial value depends on {source}")))
        });
        module.end_paths_at(unknown.collect());
    }

    /// Loads what methods under test reach, and returns the module. Functions that remain unloaded end a path with a
    /// reason for the report.
    pub(super) fn follow(&mut self, tested: &[&MethodUnderTest]) -> Module {
        let mut module = self.load_reached(tested);
        for (reason, id) in self.program.unloaded_functions(&self.loaded) {
            let function = &mut module.functions[id];
            if function.blocks.values().any(|block| block.terminator.kind == TermKind::Unsupported(reason.clone())) {
                stop(function, &self.program.unloaded_text(id));
            }
        }
        module
    }

    /// Explores methods for a short time, and those that reached unloaded JDK functions a little longer; loads what
    /// they reach.
    fn load_reached(&mut self, tested: &[&MethodUnderTest]) -> Module {
        let mut spent: BTreeMap<FuncId, Duration> = BTreeMap::new();
        let mut module = self.module(tested);
        let mut open: Vec<&MethodUnderTest> = tested.to_vec();
        for how in [ExplorationBudget::FIRST_ATTEMPT, ExplorationBudget::SECOND_ATTEMPT] {
            let mut further: Vec<FuncId> = Vec::new();
            for _ in 0..MAX_LOADING_ROUNDS {
                let far: BTreeMap<String, FuncId> = self.program.unloaded_functions(&self.loaded).into_iter().collect();
                let mut met: BTreeSet<FuncId> = BTreeSet::new();
                let mut explored = unsupported_constructs_of_all(&module, &open, how).into_iter();
                open.retain(|method| {
                    let Some(Exploration { stopped, work }) = explored.next() else { return false };
                    let own: Vec<FuncId> = stopped.iter().filter_map(|what| far.get(what).copied()).collect();
                    met.extend(&own);
                    let spent = spent.entry(method.entry).or_default();
                    *spent += work;
                    // Other methods may have reached the same function: more may lie behind it.
                    let goes_on = !own.is_empty() && *spent < LOADING_TIME_PER_METHOD;
                    if goes_on {
                        further.push(method.entry);
                    }
                    goes_on
                });
                if met.is_empty() {
                    break;
                }
                for function in met {
                    self.loaded.functions.insert(function);
                    self.load(&[function], JDK_FUNCTIONS_PER_STEP);
                }
                module = self.module(tested);
            }
            open = tested.iter().copied().filter(|method| further.contains(&method.entry)).collect();
        }
        module
    }
}

/// The budget of one exploration of a method.
#[derive(Clone, Copy)]
struct ExplorationBudget {
    time: Duration,
    paths: u64,
}

/// The result of one exploration of a method.
#[derive(Default)]
struct Exploration {
    /// The constructs at which paths stop.
    stopped: Vec<String>,
    work: Duration,
}

impl ExplorationBudget {
    const FIRST_ATTEMPT: ExplorationBudget = ExplorationBudget { time: Duration::from_millis(400), paths: 60 };
    /// Streams and character tables need more.
    const SECOND_ATTEMPT: ExplorationBudget = ExplorationBudget { time: Duration::from_millis(2500), paths: 400 };
}

/// Describes the end of a run to users.
fn why(end: &End) -> String {
    match end {
        End::Unsupported { what, .. } => what.to_string(),
        End::Threw { .. } => "it throws".to_string(),
        End::Exited(status) => format!("it ends the program with {status}"),
        End::Limit(_) => "it takes too long, or needs too much memory".to_string(),
        End::Hung => "it never ends".to_string(),
        End::Error { kind, .. } => format!("it goes wrong: {kind}"),
        End::Returned(_) | End::Assumed => "what it leaves can't be used".to_string(),
    }
}

/// Replaces the body of a function by an unsupported construct of this name.
fn stop(function: &mut Function, what: &str) {
    let terminator = Terminator { kind: TermKind::Unsupported(what.to_string()), span: function.span };
    if let Some(entry) = function.blocks.values_mut().next() {
        *entry = Block { insts: Vec::new(), terminator };
    }
}

/// Explores each method; several are explored concurrently.
fn unsupported_constructs_of_all(
    module: &Module,
    methods: &[&MethodUnderTest],
    how: ExplorationBudget,
) -> Vec<Exploration> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let next = AtomicUsize::new(0);
    let all: Vec<Mutex<Exploration>> = methods.iter().map(|_| Mutex::default()).collect();
    let work = || {
        while let Some((method, found)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            methods.get(index).zip(all.get(index))
        } {
            let begun = work_time();
            let stopped = unsupported_constructs(module, method, how);
            let work = work_time() - begun;
            *found.lock().expect("invariant: no thread panics while it holds the lock") = Exploration { stopped, work };
        }
    };
    std::thread::scope(|scope| {
        let begun = (0..cores.min(methods.len())).filter_map(|_| touchstone_base::spawn_deep(scope, work)).count();
        if begun == 0 {
            work();
        }
    });
    all.into_iter()
        .map(|found| found.into_inner().expect("invariant: no thread panics while it holds the lock"))
        .collect()
}

/// Returns the constructs at which paths of a method stop, in a short exploration.
fn unsupported_constructs(module: &Module, method: &MethodUnderTest, how: ExplorationBudget) -> Vec<String> {
    let possible = method.possible.map(|id| module.functions[id].name.clone());
    let config = Config {
        max_paths: Some(how.paths),
        deadline: Deadline::within(Some(how.time)),
        solver_timeout: Some(ExplorationBudget::FIRST_ATTEMPT.time / 4),
        memory: Some(MemoryLimit::bytes(EXPLORATION_MEMORY_BYTES)),
        precondition: possible,
        excluded_choices: method.fixture.as_deref().map_or_else(Vec::new, symbolic_heap::not_taken),
        ..Config::default()
    };
    let func = method.entry;
    let result = touchstone_engine::explore(module, func, &config, &mut IgnoreEvents);
    let what = |paths: &touchstone_criteria::IncompletePaths| match &paths.why {
        Incomplete::Unsupported(Unsupported::Construct(what)) => Some(what.clone()),
        _ => None,
    };
    result.incomplete.iter().filter_map(what).collect()
}

/// Ignores all events.
struct IgnoreEvents;

impl Sink for IgnoreEvents {
    fn event(&mut self, _: SearchEvent<'_>) {}
}
