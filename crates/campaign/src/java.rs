//! Reading a Java program: source is compiled with the user's javac, initialisers run once, and what methods under test may
//! call becomes a module.

mod any_heap;
mod effort;
mod looked_at;
mod looking;
mod named;
mod short_sequences;
mod sights;

pub(crate) use any_heap::{AnyHeap, unmakeable};
pub(crate) use looking::look_around;
pub(crate) use short_sequences::FirstInputs;

use crate::program::{Program, ReadError, Reading};
use crate::request::Subject;
use crate::world::java::{SayingError, Spoken};
use crate::world::{self, World};
use effort::Effort;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit};
use touchstone_criteria::{Incomplete, Unsupported};
use touchstone_emit::{JavaField, JavaMethod, JavaTarget, Keeping, ReplayLimits};
use touchstone_engine::{Config, End, Event, Limits, Sink, Starting, Whose};
use touchstone_fixture_java::FixtureValue;
use touchstone_front_java::path::Jar;
use touchstone_front_java::{
    Compiling, Field, Jdk, JdkError, LABELS, Loaded, Marks, Method, Prepared, ProgramError, Reads, Setup, Shows,
    Visible, classfile::ClassFile,
};
use touchstone_ir::{Block, FuncId, Function, Module, TermKind, Terminator};

/// Why a Java program could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JavaError {
    /// The JDK can't be used, or its compiler refuses the source.
    #[error(transparent)]
    Jdk(#[from] JdkError),
    /// A class can't be loaded.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// A class file is none.
    #[error("{}: {why}", file.display())]
    NoClassFile {
        /// Which file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// A file is of another kind.
    #[error("{}: a Java program is made of .java files, .class files, jars and directories of them", .0.display())]
    OtherFile(PathBuf),
    /// A file is not there.
    #[error("{}: no such file", .0.display())]
    NoFile(PathBuf),
    /// A part of the class path is not there.
    #[error("{}: no such jar or directory; it is part of --class-path", .0.display())]
    NoLibrary(PathBuf),
    /// No class can be loaded.
    #[error("can't load the class {class}: {reason}{}", needs(*.others))]
    NoneLoads {
        /// The first one.
        class: String,
        /// Why not.
        reason: String,
        /// How many others.
        others: usize,
    },
    /// What is said of methods without code can't be used.
    #[error(transparent)]
    Saying(#[from] SayingError),
    /// There is nothing to read.
    #[error("no class is in {}", .0.display())]
    NoClass(PathBuf),
}

fn needs(others: usize) -> String {
    let others = if others > 0 { format!(", nor {others} more") } else { String::new() };
    format!("{others}; give what the program needs with --class-path")
}

/// What a program is read from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JavaFiles<'f> {
    /// What is tested.
    pub files: &'f [PathBuf],
    /// What that needs.
    pub libraries: &'f [PathBuf],
    /// Where compiled classes go.
    pub classes: &'f Path,
    /// Which methods are tested.
    pub subject: &'f Subject,
    /// What is said of methods without code.
    pub world: &'f World,
}

/// What of a program is Java's own.
#[derive(Debug)]
pub(crate) struct JavaProgram {
    jdk: Jdk,
    helper: PathBuf,
    class_path: Vec<PathBuf>,
    methods: Vec<Method>,
    /// How calls are prepared and looked at, by what tests call.
    prepared: BTreeMap<FuncId, Prepared>,
    fields: Vec<Field>,
    /// Classes that came without source.
    bare: Vec<String>,
    /// The directory of a project that was given (Maven, Gradle).
    project: Option<PathBuf>,
    /// Methods whose code is not what their source was compiled to.
    differ: usize,
    /// Classes that can't be loaded, and why.
    unloadable: Vec<(String, String)>,
    /// What became of what is said of methods without code.
    pub spoken: Spoken,
    /// What checks it: the class that says it, which method of it, and what is called.
    pub checks: Vec<(String, String, FuncId)>,
}

impl JavaProgram {
    /// How tests call it and run.
    pub fn target(&self, limits: ReplayLimits, keeping: Keeping) -> JavaTarget {
        let java = self.jdk.tool("java");
        let mut target = JavaTarget::new(self.class_path.clone(), self.helper.clone(), java, limits, keeping);
        let method = |method: &Method| {
            let made = JavaMethod {
                package: method.test_package.clone(),
                home: method.package.clone(),
                class: method.class.clone(),
                method: method.method.clone(),
                fixture: method.fixture.clone(),
            };
            (method.entry_name.clone(), made)
        };
        let field = |field: &Field| {
            let private = field.visible == Visible::ToClass;
            (field.name.clone(), JavaField { class: field.class.clone(), field: field.field.clone(), private })
        };
        target.methods = self.methods.iter().map(method).collect();
        target.fields = self.fields.iter().map(field).collect();
        target
    }

    /// The methods of the given classes.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.methods.iter().map(|method| method.func)
    }

    /// Whether somebody who writes this name means a function.
    pub fn is_called(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_called(method, name))
    }

    /// Whether a function is a method of the class that somebody means who writes this name.
    pub fn is_of_class(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_of_class(method, name))
    }

    /// The function that tests of a method call.
    pub fn entry(&self, func: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.func == func).map_or(func, |method| method.entry)
    }

    /// The method that is tested by calls of a function.
    pub fn tested(&self, entry: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.entry == entry).map_or(entry, |method| method.func)
    }

    /// The parameter that says which calls fill the object whose method is tested, if one does.
    pub fn fills(&self, entry: FuncId) -> Option<usize> {
        let method = self.methods.iter().find(|method| method.entry == entry)?;
        match method.fixture.as_ref()?.receiver.as_ref()? {
            FixtureValue::Object(object) => object.fill_loops.as_ref().map(|many| many.selector),
            FixtureValue::Parameter(_) => None,
        }
    }

    /// What is run first of a function that makes objects by calls.
    pub fn first_inputs(&self, entry: FuncId, seed: u64) -> FirstInputs {
        let method = self.methods.iter().find(|method| method.entry == entry);
        let fixture = method.and_then(|method| method.fixture.as_ref());
        fixture.map_or_else(FirstInputs::default, |fixture| FirstInputs::of(fixture, seed))
    }

    /// Whether a function's source is not known: its decisions are then the compiler's.
    pub fn is_bare(&self, entry: FuncId) -> bool {
        self.methods.iter().any(|method| method.entry == entry && self.bare.contains(&method.internal))
    }

    /// Where the project has its tests, if its directory was given.
    pub fn project_tests(&self) -> Option<PathBuf> {
        self.project.as_ref().map(|project| project.join("src/test/java"))
    }

    /// How many methods have other code than what their source was compiled to.
    pub fn differ(&self) -> usize {
        self.differ
    }

    /// Classes that can't be loaded, and why.
    pub fn unloadable(&self) -> &[(String, String)] {
        &self.unloadable
    }

    /// Why no tests of a method can be made, if none can: `None` of what is no method of the given classes.
    pub fn refusal(&self, function: &str) -> Option<String> {
        match self.methods.iter().find(|method| method.name == function) {
            Some(method) => method.refusal(),
            None => Some("it is no method of the given files".to_string()),
        }
    }
}

/// Whether these files are a Java program.
pub(crate) fn is_java(files: &[PathBuf]) -> bool {
    let of_java = |file: &PathBuf| match extension(file) {
        "java" | "class" | "jar" => true,
        "c" | "h" | "i" => false,
        _ => file.is_dir() || named::class(file).is_some(),
    };
    files.iter().any(of_java)
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|extension| extension.to_str()).unwrap_or_default()
}

/// What files give: a class path, the classes under test, and what their source says.
#[derive(Default)]
struct Given {
    class_path: Vec<PathBuf>,
    classes: Vec<String>,
    marks: Option<Marks>,
    /// Classes that come without source, and those that come with it.
    bare: Vec<String>,
    with_source: BTreeSet<String>,
    /// Methods whose code is not what their source was compiled to.
    differ: usize,
    /// Classes that were named instead of a file.
    named: Vec<String>,
}

/// Reads a program; compiled classes go to a directory.
pub(crate) fn read(files: &JavaFiles<'_>, reading: Reading) -> Result<Program, ReadError> {
    Ok(read_java(files, reading)?)
}

fn read_java(files: &JavaFiles<'_>, reading: Reading) -> Result<Program, JavaError> {
    let subject = files.subject;
    let jdk = Jdk::find()?;
    let mut given = given(&jdk, files)?;
    let helper = jdk.helper(files.classes)?;
    given.class_path.push(helper.join(LABELS));
    let saying = files.classes.with_file_name(SAYING);
    let mut class_path = given.class_path.clone();
    if !files.world.said.is_empty() {
        let failed = |error| SayingError::Jdk(JdkError::Refused(format!("can't write {}: {error}", saying.display())));
        std::fs::create_dir_all(&saying).map_err(failed)?;
        class_path.push(saying.clone());
    }
    let setup = Setup {
        java_home: jdk.home.clone(),
        release: jdk.release,
        class_path,
        main_class: String::new(),
        locale: ("en".to_string(), String::new()),
        arguments: Vec::new(),
    };
    let program = touchstone_front_java::Program::of_methods(setup, given.marks)?;
    let unloadable = program.know(&given.classes);
    given.classes.retain(|class| !unloadable.iter().any(|(other, _)| other == class));
    if let (true, [(class, reason), others @ ..]) = (given.classes.is_empty(), unloadable.as_slice()) {
        let (class, reason) = (class.replace('/', "."), reason.clone());
        return Err(JavaError::NoneLoads { class, reason, others: others.len() });
    }
    let spoken = world::java::tell(files.world, &program, &jdk, &given.class_path, &saying)?;
    let mut methods = Vec::new();
    for class in &given.classes {
        methods.extend(program.methods(class)?);
    }
    let checks = checks(&program, &spoken)?;
    for method in methods.iter_mut().filter(|method| is_meant(method, subject)) {
        program.plan(method);
    }
    let is_tested = |method: &&Method| is_meant(method, subject) && method.refusal().is_none();
    let tested: Vec<&Method> = methods.iter().filter(is_tested).collect();
    let roots: Vec<FuncId> = tested
        .iter()
        .copied()
        .chain(&checks)
        .flat_map(|method| [method.entry, method.func].into_iter().chain(method.possible).chain(method.post))
        .collect();
    let all: Vec<FuncId> = methods.iter().map(|method| method.func).collect();
    let mut loading = Loading::new(&program);
    loading.load(&roots, AT_FIRST);
    loading.initialise(&tested)?;
    // What is not tested is there to be listed.
    program.load_only(&all, &mut loading.loaded);
    let (module, prepared) = match reading {
        Reading::Listing => (loading.module(&tested), BTreeMap::new()),
        Reading::Search => {
            let module = loading.follow(&tested);
            match loading.prepare(&tested) {
                prepared if prepared.is_empty() => (module, prepared),
                prepared => (loading.module(&tested), prepared),
            }
        }
    };
    let project = files.files.iter().find(|file| main_sources(file).is_some()).cloned();
    let (class_path, bare, fields, differ) = (given.class_path, given.bare, program.fields(), given.differ);
    let checks = checks.into_iter().map(|method| (method.internal, method.method, method.entry)).collect();
    let java = JavaProgram {
        jdk,
        helper,
        class_path,
        fields,
        methods,
        prepared,
        bare,
        unloadable,
        differ,
        project,
        spoken,
        checks,
    };
    Ok(Program { module, units: Vec::new(), java: Some(java) })
}

/// The methods that check what is said.
fn checks(program: &touchstone_front_java::Program, spoken: &Spoken) -> Result<Vec<Method>, JavaError> {
    let mut found = Vec::new();
    for (_, class) in &spoken.by {
        let mut methods = program.methods(class)?;
        methods.retain(|method| ["never", "twice"].contains(&method.method.as_str()));
        methods.iter_mut().for_each(|method| program.plan(method));
        found.extend(methods.into_iter().filter(|method| method.refusal().is_none()));
    }
    Ok(found)
}

/// Whether a method is to be tested.
fn is_meant(method: &Method, subject: &Subject) -> bool {
    match subject {
        Subject::EveryFunction => true,
        Subject::Functions(names) => names.iter().any(|name| is_called(method, name) || is_of_class(method, name)),
        Subject::Program(name) => is_called(method, name),
    }
}

/// Whether somebody who writes this name means the method: packages, and parameter types, may be left out.
fn is_called(method: &Method, name: &str) -> bool {
    let (plain, params) = match name.split_once('(') {
        Some((plain, params)) => (plain, Some(params.trim_end().trim_end_matches(')'))),
        None => (name, None),
    };
    let own = method.name.split('(').next().unwrap_or(&method.name);
    ends(own, plain.trim())
        && params.is_none_or(|params| {
            let written: Vec<String> = params
                .split(',')
                .map(|param| param.trim().replace("...", "[]"))
                .filter(|param| !param.is_empty())
                .collect();
            written.len() == method.params.len()
                && method.params.iter().zip(&written).all(|(param, end)| ends(param, end))
        })
}

/// Whether somebody who writes this name means the class of a method: packages may be left out.
fn is_of_class(method: &Method, name: &str) -> bool {
    ends(&format!("{}.{}", method.package, method.class), name.trim())
}

/// Whether a name is another one, or what is behind a point of it.
fn ends(text: &str, end: &str) -> bool {
    text == end || text.strip_suffix(end).is_some_and(|front| front.ends_with('.'))
}

/// So many functions of the JDK are lowered before anybody met them,
const AT_FIRST: usize = 400;
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
struct Loading<'p> {
    program: &'p touchstone_front_java::Program,
    starting: Starting<'p>,
    loaded: Loaded,
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
    fn new(program: &'p touchstone_front_java::Program) -> Loading<'p> {
        let limits = Limits { steps: 50_000_000, frames: 3_000, heap_bytes: 256 << 20 };
        let mut starting = Starting::new(program.module(), program, limits);
        let _ = starting.run(program.entry(), Whose::Library);
        let (ran, tried, initialised) = (Vec::new(), Vec::new(), Vec::new());
        let (throwing, unusable) = (Vec::new(), Vec::new());
        Loading { program, starting, loaded: Loaded::default(), ran, tried, initialised, throwing, unusable }
    }

    /// Loads functions with what is near; initialisers of the JDK run at once, and may need others.
    fn load(&mut self, roots: &[FuncId], most: usize) {
        for _ in 0..3 {
            let met = self.program.load(roots, most, &mut self.loaded);
            let new: Vec<FuncId> = met.into_iter().filter(|init| !self.ran.contains(init)).collect();
            if new.is_empty() {
                break;
            }
            for init in new {
                self.ran.push(init);
                // One that can't be run here is run by the path that needs it.
                if let Err(end) = self.starting.run(init, Whose::Library) {
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
    fn prepare(&mut self, tested: &[&Method]) -> BTreeMap<FuncId, Prepared> {
        let mut found = BTreeMap::new();
        let mut roots = Vec::new();
        for method in tested {
            let Some(prepared) = self.program.prepared(method) else { continue };
            roots.push(prepared.func);
            roots.extend(prepared.tested.iter().map(|(func, _)| *func));
            for probe in prepared.looks.iter().flat_map(|looks| &looks.probes) {
                if let Reads::Method(func) = probe.reads {
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
            if shows == Shows::InItsClass && !self.tried.contains(&init) {
                self.tried.push(init);
                if self.starting.run(init, Whose::Program).is_ok() {
                    self.initialised.push(init);
                }
            }
        }
    }

    /// Initialises the classes under test: whoever calls their methods has done that.
    fn initialise(&mut self, tested: &[&Method]) -> Result<(), JavaError> {
        let mut classes: Vec<&str> = tested.iter().map(|method| method.internal.as_str()).collect();
        classes.dedup();
        for class in classes {
            let Some(init) = self.program.initialiser(class)? else { continue };
            if self.initialised.contains(&init) || self.ran.contains(&init) {
                continue;
            }
            let whose = if self.program.is_of_image(class) { Whose::Library } else { Whose::Program };
            match self.starting.run(init, whose) {
                Ok(()) => self.initialised.push(init),
                Err(end) => self.unusable.push((class.to_string(), end)),
            }
        }
        Ok(())
    }

    /// The module as it is now.
    fn module(&self, tested: &[&Method]) -> Module {
        let met = self.program.loaded(&self.loaded);
        let mut unusable = self.unusable.clone();
        let mut module = match self.starting.left(&met, &|word| self.program.never_changes(word)) {
            Ok(module) => module,
            Err(end) => {
                unusable.extend(tested.iter().map(|method| (method.internal.clone(), end.clone())));
                met
            }
        };
        for (init, shows) in self.program.initialisers(&self.loaded) {
            if shows != Shows::Nowhere && !self.initialised.contains(&init) {
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
    fn follow(&mut self, tested: &[&Method]) -> Module {
        let effort = Effort::of(LOADING + LOADING_EACH * u32::try_from(tested.len()).unwrap_or(u32::MAX));
        let mut module = self.module(tested);
        let mut open: Vec<&Method> = tested.to_vec();
        for how in [Following::SHORTLY, Following::LONGER] {
            let mut further: Vec<FuncId> = Vec::new();
            for _ in 0..ROUNDS {
                let far: BTreeMap<String, FuncId> = self.program.too_far(&self.loaded).into_iter().collect();
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
fn stops_of_all(module: &Module, methods: &[&Method], how: Following) -> Vec<Vec<String>> {
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
fn stops(module: &Module, method: &Method, how: Following) -> Vec<String> {
    let possible = method.possible.map(|id| module.functions[id].name.clone());
    let config = Config {
        max_paths: Some(how.paths),
        deadline: Deadline::within(Some(how.time)),
        solver_timeout: Some(Following::SHORTLY.time / 4),
        memory: Some(MemoryLimit::bytes(FOLLOWING)),
        precondition: possible,
        not_taken: method.fixture.as_deref().map_or_else(Vec::new, any_heap::not_taken),
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
    fn event(&mut self, _: Event<'_>) {}
}

fn given(jdk: &Jdk, of: &JavaFiles<'_>) -> Result<Given, JavaError> {
    let (files, directory, libraries) = (of.files, of.classes, libraries(of.libraries)?);
    let mut given = Given::default();
    let mut sources: Vec<PathBuf> = Vec::new();
    for file in files {
        if let Some(class) = named::class(file) {
            given.named.push(class);
            continue;
        }
        if !file.exists() {
            return Err(JavaError::NoFile(file.clone()));
        }
        match extension(file) {
            _ if file.is_dir() => {
                let within = main_sources(file).unwrap_or_else(|| file.clone());
                of_directory(&within, &mut sources, &mut given)?;
            }
            "java" => sources.push(file.clone()),
            "class" => {
                let class = class_name(file)?;
                let root = std::path::absolute(file).unwrap_or_else(|_| file.clone());
                let root = root.ancestors().nth(class.split('/').count()).unwrap_or(Path::new("/")).to_path_buf();
                given.add_path(root);
                given.classes.push(class);
            }
            "jar" => {
                let jar = Jar::open(file).map_err(|error| JavaError::Program(ProgramError::Path(error)))?;
                let classes = jar.classes();
                if !classes.is_empty() {
                    given.add_path(file.clone());
                }
                match classes.is_empty() {
                    true => sources.extend(unpacked(&jar, of.subject, &directory.with_file_name(SOURCES))?),
                    false => given.classes.extend(classes),
                }
            }
            _ => return Err(JavaError::OtherFile(file.clone())),
        }
    }
    if !sources.is_empty() {
        let root = source_root(&sources[0]);
        let path: Vec<PathBuf> = given.class_path.iter().chain(&libraries).cloned().collect();
        let release = given.classes.iter().find_map(|class| release(class, &given.class_path));
        let how = Compiling { source_path: root.as_deref(), release, module: None };
        let compiled = jdk.compile(&sources, &path, &how, directory)?;
        // A class that is there already is the one that is used.
        let there: BTreeSet<String> = given.classes.iter().cloned().collect();
        let mut marks = compiled.marks;
        for class in compiled.classes {
            match there.contains(&class) {
                true => given.differ += differing(&mut marks, &class, &given.class_path, directory),
                false => given.classes.push(class.clone()),
            }
            given.with_source.insert(class);
        }
        given.class_path.push(directory.to_path_buf());
        given.marks = Some(marks);
    }
    given.add_named(jdk, directory)?;
    given.bare = given.classes.iter().filter(|class| !given.with_source.contains(*class)).cloned().collect();
    libraries.into_iter().for_each(|library| given.add_path(library));
    match (given.classes.is_empty(), files.first()) {
        (true, Some(first)) => Err(JavaError::NoClass(first.clone())),
        _ => Ok(given),
    }
}

/// Where sources of jars go, beside the classes.
const SOURCES: &str = "touchstone-sources";

/// Where classes go that say what methods without code do.
const SAYING: &str = "touchstone-world";

/// Unpacks the sources in a jar: those of the classes that are tested, where only some are; the compiler finds what these need.
fn unpacked(jar: &Jar, subject: &Subject, to: &Path) -> Result<Vec<PathBuf>, JavaError> {
    let wrong = |why: String| JavaError::NoClassFile { file: jar.file().to_path_buf(), why };
    let named = |source: &str| {
        let class = source.trim_end_matches(".java").rsplit('/').next().unwrap_or_default();
        let means = |name: &String| name.split('(').next().unwrap_or_default().split('.').any(|part| part == class);
        match subject {
            Subject::EveryFunction => true,
            Subject::Functions(names) => names.iter().any(means),
            Subject::Program(name) => means(name),
        }
    };
    let mut wanted = Vec::new();
    let _ = std::fs::remove_dir_all(to);
    for name in jar.names().filter(|name| name.ends_with(".java") && !name.ends_with("-info.java")) {
        if name.split('/').any(|part| part.is_empty() || part == ".." || part.contains('\\')) {
            continue;
        }
        let (path, bytes) = (to.join(name), jar.read(name).map_err(|error| wrong(error.to_string()))?);
        let directory = path.parent().unwrap_or(to);
        std::fs::create_dir_all(directory).map_err(|error| wrong(error.to_string()))?;
        std::fs::write(&path, bytes.unwrap_or_default()).map_err(|error| wrong(error.to_string()))?;
        if named(name) {
            wanted.push(path);
        }
    }
    Ok(wanted)
}

/// The class file of a class in the first place that has one.
fn class_file(class: &str, places: &[PathBuf]) -> Option<ClassFile> {
    let name = format!("{class}.class");
    let bytes = places.iter().find_map(|place| match place.is_dir() {
        true => std::fs::read(place.join(&name)).ok(),
        false => Jar::open(place).ok()?.read(&name).ok()?,
    })?;
    ClassFile::read(&bytes).ok()
}

/// The release of Java that a class was compiled for.
fn release(class: &str, places: &[PathBuf]) -> Option<u32> {
    /// Java 1.0.2 had 45, and every release since then one more.
    const BEFORE_FIRST: u16 = 44;
    let file = class_file(class, places)?;
    Some(u32::from(file.major.saturating_sub(BEFORE_FIRST)))
}

/// Forgets what the source says of methods that were compiled to other code; how many there are.
fn differing(marks: &mut Marks, class: &str, places: &[PathBuf], compiled: &Path) -> usize {
    let compiled = class_file(class, &[compiled.to_path_buf()]);
    match (class_file(class, places), compiled) {
        (Some(used), Some(compiled)) => marks.keep_matching(&used, &compiled),
        _ => 0,
    }
}

/// What a class path says: a directory of jars is all of them.
fn libraries(places: &[PathBuf]) -> Result<Vec<PathBuf>, JavaError> {
    let mut found = Vec::new();
    for place in places {
        let all = place.file_name().is_some_and(|name| name == "*");
        let directory = if all { place.parent().unwrap_or(Path::new("")) } else { place };
        match directory.is_dir() {
            true => {
                let entries = std::fs::read_dir(directory).map_err(|_| JavaError::NoLibrary(place.clone()))?;
                let mut jars: Vec<PathBuf> =
                    entries.flatten().map(|entry| entry.path()).filter(|path| extension(path) == "jar").collect();
                jars.sort_unstable();
                found.extend((!all).then(|| directory.to_path_buf()).into_iter().chain(jars));
            }
            false if place.is_file() => found.push(place.clone()),
            false => return Err(JavaError::NoLibrary(place.clone())),
        }
    }
    Ok(found)
}

impl Given {
    fn add_path(&mut self, path: PathBuf) {
        if !self.class_path.contains(&path) {
            self.class_path.push(path);
        }
    }
}

/// Where a project of Maven or Gradle has what is tested, if a directory is one.
fn main_sources(directory: &Path) -> Option<PathBuf> {
    Some(directory.join("src/main/java")).filter(|sources| sources.is_dir())
}

/// Whether a directory is no part of the program: tests of a project, and what its build leaves.
fn is_beside(directory: &Path) -> bool {
    let there = |name: &str| directory.with_file_name(name).is_file();
    directory.ends_with("src/test")
        || (directory.ends_with("target") && there("pom.xml"))
        || (directory.ends_with("build") && (there("build.gradle") || there("build.gradle.kts")))
}

fn of_directory(directory: &Path, sources: &mut Vec<PathBuf>, given: &mut Given) -> Result<(), JavaError> {
    let mut waiting = vec![directory.to_path_buf()];
    let (mut found, mut classes) = (Vec::new(), Vec::new());
    while let Some(next) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&next) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_info = path.file_stem().is_some_and(|stem| stem == "module-info" || stem == "package-info");
            match extension(&path) {
                _ if path.is_dir() && is_beside(&path) => {}
                _ if path.is_dir() => waiting.push(path),
                "java" if !is_info => found.push(path),
                "class" if !is_info => classes.push(path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    classes.sort_unstable();
    if !classes.is_empty() {
        given.add_path(directory.to_path_buf());
        for class in classes {
            given.classes.push(class_name(&class)?);
        }
    }
    sources.extend(found);
    Ok(())
}

fn class_name(file: &Path) -> Result<String, JavaError> {
    let wrong = |why: String| JavaError::NoClassFile { file: file.to_path_buf(), why };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let class = ClassFile::read(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok(class.name.to_string())
}

/// The directory that the package of a source begins in.
fn source_root(source: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(source).ok()?;
    let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix("package "));
    let package = line.and_then(|rest| rest.split(';').next()).map(str::trim);
    let depth = 1 + package.map_or(0, |package| package.split('.').count());
    std::path::absolute(source).ok()?.ancestors().nth(depth).map(Path::to_path_buf)
}
