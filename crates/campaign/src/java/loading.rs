//! Loading.

use super::error::JavaError;
use super::load_budget::Effort;
use super::symbolic_heap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit};
use touchstone_criteria::{Incomplete, Unsupported};
use touchstone_engine::{Config, End, Limits, SearchEvent, Sink, Startup, StartupOwner};
use touchstone_front_java::{InitialiserEffect, LoadedFunctions, MethodUnderTest, ObserverAccess, PreparedCall};
use touchstone_ir::{Block, FuncId, Function, Module, TermKind, Terminator};

/// So many functions of the JDK are lowered before anybody met them,
pub(super) const AT_FIRST: usize = 400;
/// and so many with each that somebody met.
const AT_ONCE: usize = 80;
/// So many are lowered for what tests look at.
const FOR_LOOKS: usize = 150;
/// How often that is done,
const ROUNDS: usize = 40;
/// and how long: at least, and so much longer for each method.
const LOADING: Duration = Duration::from_secs(8);
const LOADING_EACH: Duration = Duration::from_secs(1);
/// So much memory the process may have while methods are followed.
const FOLLOWING: u64 = 1 << 30;

/// A program that is being made ready: what is loaded, and what initialisers left.
pub(super) struct Loading<'p> {
    program: &'p touchstone_front_java::Program,
    starting: Startup<'p>,
    pub(super) loaded: LoadedFunctions,
    ran: Vec<FuncId>,
    /// Initialisers of the program that were tried, and those that ran.
    tried: Vec<FuncId>,
    initialised: Vec<FuncId>,
    /// Initialisers of the JDK that throw here: what they need is not there, and in a JVM it is.
    throwing: Vec<FuncId>,
    /// Classes under test that can't be initialised, and why.
    unusable: Vec<(String, End)>,
}

impl<'p> Loading<'p> {
    pub(super) fn new(program: &'p touchstone_front_java::Program) -> Loading<'p> {
        let limits = Limits { steps: 50_000_000, frames: 3_000, heap_bytes: 256 << 20 };
        let mut starting = Startup::new(program.module(), program, limits);
        let _ = starting.run(program.entry(), StartupOwner::Library);
        let (ran, tried, initialised) = (Vec::new(), Vec::new(), Vec::new());
        let (throwing, unusable) = (Vec::new(), Vec::new());
        Loading { program, starting, loaded: LoadedFunctions::default(), ran, tried, initialised, throwing, unusable }
    }

    /// Loads functions with what is near; initialisers of the JDK run at once, and may need others.
    pub(super) fn load(&mut self, roots: &[FuncId], most: usize) {
        for _ in 0..3 {
            let met = self.program.load(roots, most, &mut self.loaded);
            let new: Vec<FuncId> = met.into_iter().filter(|init| !self.ran.contains(init)).collect();
            if new.is_empty() {
                break;
            }
            for init in new {
                self.ran.push(init);
                // One that can't be run here is run by the path that needs it.
                if let Err(end) = self.starting.run(init, StartupOwner::Library) {
                    self.loaded.functions.insert(init);
                    if matches!(end, End::Threw { .. }) {
                        self.throwing.push(init);
                    }
                }
            }
        }
        self.initialise_met();
    }

    /// Loads what tests look at after the calls of methods, by what they call.
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
        self.load(&roots, FOR_LOOKS);
        found
    }

    /// Initialises classes that methods under test may use: somebody may have done that, and what their variables hold since
    /// then is an input. One that uses others' variables stays as it is: paths stop where they need it.
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

    /// Initialises the classes under test: whoever calls their methods has done that.
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

    /// The module as it is now.
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
        for (init, shows) in self.program.initialisers(&self.loaded) {
            if shows != InitialiserEffect::Invisible && !self.initialised.contains(&init) {
                stop(&mut module.functions[init], "a class that could not be initialised, or only at another time");
            }
        }
        for init in &self.throwing {
            let what = format!("{}, which throws here", self.program.title(*init));
            stop(&mut module.functions[*init], &what);
        }
        for (class, end) in unusable {
            for method in tested.iter().filter(|method| method.internal == class) {
                let what = format!("the initialiser of {}: {}", class.replace('/', "."), why(&end));
                stop(&mut module.functions[method.entry], &what);
            }
        }
        module
    }

    /// Follows methods for a short time, and those that met something of the JDK a little longer; what is met on the way is loaded.
    pub(super) fn follow(&mut self, tested: &[&MethodUnderTest]) -> Module {
        let effort = Effort::of(LOADING + LOADING_EACH * u32::try_from(tested.len()).unwrap_or(u32::MAX));
        let mut module = self.module(tested);
        let mut open: Vec<&MethodUnderTest> = tested.to_vec();
        for how in [Following::SHORTLY, Following::LONGER] {
            let mut further: Vec<FuncId> = Vec::new();
            for _ in 0..ROUNDS {
                let far: BTreeMap<String, FuncId> = self.program.unloaded_functions(&self.loaded).into_iter().collect();
                let mut met: BTreeSet<FuncId> = BTreeSet::new();
                let mut stopped = stops_of_all(&module, &open, how.each_of(open.len())).into_iter();
                open.retain(|method| {
                    let stopped = stopped.next().into_iter().flatten();
                    let own: Vec<FuncId> = stopped.filter_map(|what| far.get(&what).copied()).collect();
                    met.extend(&own);
                    // Others may have met the same: behind it is more.
                    if !own.is_empty() {
                        further.push(method.entry);
                    }
                    !own.is_empty()
                });
                if met.is_empty() {
                    break;
                }
                for function in met {
                    self.loaded.functions.insert(function);
                    self.load(&[function], AT_ONCE);
                }
                module = self.module(tested);
                if effort.is_over() {
                    return module;
                }
            }
            open = tested.iter().copied().filter(|method| further.contains(&method.entry)).collect();
        }
        module
    }
}

/// How far a method is followed, each time.
#[derive(Clone, Copy)]
struct Following {
    time: Duration,
    /// The time of all together, if that is more.
    together: Duration,
    paths: u64,
}

impl Following {
    const SHORTLY: Following = Following { time: Duration::from_millis(400), together: Duration::ZERO, paths: 60 };
    /// Behind a stream, or a table of characters, is a lot.
    const LONGER: Following =
        Following { time: Duration::from_millis(1200), together: Duration::from_secs(6), paths: 400 };

    /// How far each of so many methods is followed.
    fn each_of(self, methods: usize) -> Following {
        let share = self.together / u32::try_from(methods.max(1)).unwrap_or(u32::MAX);
        Following { time: self.time.max(share), ..self }
    }
}

/// Why something could not be run, for people.
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

/// Whoever calls the function stops with this name.
fn stop(function: &mut Function, what: &str) {
    let terminator = Terminator { kind: TermKind::Unsupported(what.to_string()), span: function.span };
    if let Some(entry) = function.blocks.values_mut().next() {
        *entry = Block { insts: Vec::new(), terminator };
    }
}

/// What stops paths of methods, by method; several are followed at a time.
fn stops_of_all(module: &Module, methods: &[&MethodUnderTest], how: Following) -> Vec<Vec<String>> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let next = AtomicUsize::new(0);
    let all: Vec<Mutex<Vec<String>>> = methods.iter().map(|_| Mutex::default()).collect();
    let work = || {
        while let Some((method, found)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            methods.get(index).zip(all.get(index))
        } {
            *found.lock().expect("invariant: nobody panics with the lock") = stops(module, method, how);
        }
    };
    std::thread::scope(|scope| {
        let begun = (0..cores.min(methods.len())).filter_map(|_| touchstone_base::spawn_deep(scope, work)).count();
        if begun == 0 {
            work();
        }
    });
    all.into_iter().map(|found| found.into_inner().expect("invariant: nobody panics with the lock")).collect()
}

/// What stops paths of a method, of those that a short search follows.
fn stops(module: &Module, method: &MethodUnderTest, how: Following) -> Vec<String> {
    let possible = method.possible.map(|id| module.functions[id].name.clone());
    let config = Config {
        max_paths: Some(how.paths),
        deadline: Deadline::within(Some(how.time)),
        solver_timeout: Some(Following::SHORTLY.time / 4),
        memory: Some(MemoryLimit::bytes(FOLLOWING)),
        precondition: possible,
        excluded_choices: method.fixture.as_deref().map_or_else(Vec::new, symbolic_heap::not_taken),
        ..Config::default()
    };
    let func = method.entry;
    let result = touchstone_engine::explore(module, func, &config, &mut Deaf);
    let what = |paths: &touchstone_criteria::IncompletePaths| match &paths.why {
        Incomplete::Unsupported(Unsupported::Construct(what)) => Some(what.clone()),
        _ => None,
    };
    result.incomplete.iter().filter_map(what).collect()
}

/// Nobody wants to know.
struct Deaf;

impl Sink for Deaf {
    fn event(&mut self, _: SearchEvent<'_>) {}
}
