//! The JVMTI agent that `touchstone measure` loads into every JVM that a command starts. It weaves probes into the user's classes as they are
//! loaded.
//!
//! - `jvm_interface.rs`, `object_reader.rs`: JVMTI and JNI;
//! - `mapped_file.rs`, `measurement_files.rs`: files of a measurement, and classes as they were loaded;
//! - `hit_arrays.rs`: the classes with the hit arrays;
//! - `hit_log_writer.rs`: the log of hits, test by test;
//! - `trace_recorder.rs`: the events that methods record for state coverage;
//! - `running_tests.rs`, `test_frameworks.rs`: the tests that run, and the frameworks that report them;
//! - `test_attribution.rs`: the attribution of hits to tests, by threads;
//! - `heap_snapshot.rs`: the objects that tests leave, for suggested assertions;
//! - `class_selection.rs`, `predicate_plans.rs`: the classes that get probes, and predicates from their sources;
//! - `annotation_processors.rs`: the processors of compilers that run in the JVM.
//!
//! Classes that the agent defines are Java sources in `java/`, with their compiled bytes beside them.
//!
//! A class that can't get probes is loaded unchanged. The agent never terminates the program, prints, or throws: if something fails,
//! the program runs as without the agent. The meaning of the probes is computed later, from the stored classes.
//!
//! Deliberately not here: the layout of probes and weaving (`touchstone-probes-java`).
//!
//! Circles: the hooks of `test_frameworks` begin tests in `running_tests`, which keeps the framework of each test; `running_tests` attributes
//! threads to tests in `test_attribution`, which registers child threads in `running_tests`.

mod annotation_processors;
mod class_selection;
mod heap_snapshot;
mod hit_arrays;
mod hit_log_writer;
mod jvm_interface;
mod mapped_file;
mod measurement_files;
mod object_reader;
mod predicate_plans;
mod running_tests;
mod test_attribution;
mod test_frameworks;
mod trace_recorder;

use class_selection::ClassOrigin;
use hit_log_writer::HitLogWriter;
use jvm_interface::{FunctionTable, JObject, Jni, Jvmti};
use measurement_files::{ProcessInfo, StoredClass, UnitStore};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use touchstone_classfile::ClassFile;
use touchstone_probes_java::{
    PredicatePlan, ProbeLayout, ProbeRequest, WeaveRequest, check_class, check_class_name, has_known_source,
    is_test_class, planned_unit, predicate_class_name, unit, weave,
};
use trace_recorder::TraceRecorder;

// Variables that `touchstone measure` sets.

/// The directory for records and hits.
const DIRECTORY: &str = "TOUCHSTONE_DIR";
/// The directory for hits, if it is another one.
const HITS: &str = "TOUCHSTONE_HITS";
/// The kinds of events to record, separated by commas.
const PROBES: &str = "TOUCHSTONE_JAVA_PROBES";
/// The root directory of the project.
const ROOT: &str = "TOUCHSTONE_ROOT";
/// The name of the test that the process runs.
const TEST: &str = "TOUCHSTONE_TEST";

/// The state of the agent.
struct Agent {
    /// The environment that has all capabilities.
    jvmti: Jvmti,
    hits: PathBuf,
    root: Option<PathBuf>,
    request: ProbeRequest,
    process: ProcessInfo,
    units: UnitStore,
    /// True if a criterion other than state coverage is measured.
    counts_hits: bool,
    /// The trace, if state coverage is measured.
    trace: Option<TraceRecorder>,
    /// Maps each traced unit to the number of its first method.
    traced: HashMap<u64, u32>,
    /// The number of hit arrays. New classes use the last one.
    hit_arrays: u16,
    /// The number of used probes of the last hit array.
    used_probes: u32,
    /// Maps each unit of this process to its hit array and its first probe there.
    allocated: HashMap<u64, (u16, u32)>,
    /// `None` if snapshots are not requested; otherwise true if they can be taken, once the first test class is loaded.
    snapshots: Option<Option<bool>>,
    /// True if test frameworks can be hooked, once the first class of one is loaded.
    hooks_frameworks: Option<bool>,
    /// True if no hits can be stored.
    failed: bool,
}

static AGENT: Mutex<Option<Agent>> = Mutex::new(None);
/// The log of hits. A thread that holds this lock runs no code of the program and takes no other lock.
static HIT_LOG: Mutex<Option<HitLogWriter>> = Mutex::new(None);
/// True if other agents have started, and probes are inserted after them.
static IS_LAST: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Classes that this thread is loading, by name, as the compiler made them. Agents may load other classes while they change one.
    static COMPILED: RefCell<HashMap<CString, Vec<u8>>> = RefCell::new(HashMap::new());
}

/// The entry point of the agent.
///
/// # Safety
/// Only the JVM may call it, with the arguments of its specification.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: *mut c_void, _options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: `vm` is the argument of the JVM.
    let jvmti = unsafe { Jvmti::new(vm.cast()) };
    if std::env::var_os(DIRECTORY).is_some()
        && let Some(jvmti) = jvmti
    {
        if std::env::var_os(heap_snapshot::VARIABLE).is_some() {
            jvmti.request_locals();
        }
        if jvmti.register_callbacks(on_init, on_compiled) {
            jvmti.enable(jvm_interface::VM_INIT);
        }
    }
    // Any other result would terminate the program.
    0
}

extern "C" fn on_init(jvmti: FunctionTable, jni: FunctionTable, _thread: JObject) {
    let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let (Some(new), Ok(mut agent)) = (Agent::new(jvmti, jni), AGENT.lock()) {
            *agent = Some(new);
            drop(agent);
            jvmti.enable(jvm_interface::CLASS_FILE_LOAD_HOOK);
            // The JVM initialises environments in the order of their creation: this one after the agents of the command line.
            if let Some(next) = Jvmti::another(jni)
                && next.register_callbacks(on_agents_started, on_load)
            {
                next.enable(jvm_interface::VM_INIT);
            }
        }
    }));
}

/// Inserts probes after all other agents from now on: they get the classes that the compiler made.
extern "C" fn on_agents_started(_jvmti: FunctionTable, jni: FunctionTable, _thread: JObject) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // Agents created environments when they started. Those that can retransform classes are asked last.
        let last = Jvmti::another(Jni(jni)).filter(|last| last.request_retransformation())?;
        let is_last =
            last.register_callbacks(on_agents_started, on_load) && last.enable(jvm_interface::CLASS_FILE_LOAD_HOOK);
        IS_LAST.store(is_last, Ordering::Release);
        Some(())
    }));
}

/// Called before other agents change a class. It only keeps the bytes for [`on_load`], unless other agents are still starting.
extern "C" fn on_compiled(
    jvmti: FunctionTable,
    jni: FunctionTable,
    redefined: JObject,
    loader: JObject,
    name: *const c_char,
    domain: JObject,
    length: c_int,
    bytes: *const c_uchar,
    new_length: *mut c_int,
    new_bytes: *mut *mut c_uchar,
) {
    if !IS_LAST.load(Ordering::Acquire) {
        return on_load(jvmti, jni, redefined, loader, name, domain, length, bytes, new_length, new_bytes);
    }
    if loader.is_null() || name.is_null() || bytes.is_null() || length <= 0 {
        return;
    }
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the JVM passes `length` bytes and a name with a terminating zero, which stay valid until the callback returns.
        let (bytes, name) = unsafe { (std::slice::from_raw_parts(bytes, length as usize), CStr::from_ptr(name)) };
        COMPILED.with_borrow_mut(|classes| classes.insert(name.to_owned(), bytes.to_vec()));
    }));
}

extern "C" fn on_load(
    jvmti: FunctionTable,
    jni: FunctionTable,
    redefined: JObject,
    loader: JObject,
    name: *const c_char,
    domain: JObject,
    length: c_int,
    bytes: *const c_uchar,
    new_length: *mut c_int,
    new_bytes: *mut *mut c_uchar,
) {
    // A null loader is the boot loader: classes of the JDK, and those that the agent defines.
    if loader.is_null() || name.is_null() || bytes.is_null() || length <= 0 {
        return;
    }
    let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the JVM passes `length` bytes, which stay valid until the callback returns.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length as usize) };
        // SAFETY: a name has a terminating zero, and stays valid until the callback returns.
        let name = unsafe { CStr::from_ptr(name) };
        let compiled = COMPILED.with_borrow_mut(|classes| classes.remove(name));
        let compiled = compiled.filter(|compiled| compiled != bytes);
        // A class that was loaded while agents started may be transformed again.
        if !redefined.is_null() && class_selection::has_probes(bytes) {
            return;
        }
        if annotation_processors::is_processor(bytes)
            && let Some(path) = annotation_processors::class_path_of(jni, loader)
            && let Ok(mut agent) = AGENT.lock()
            && let Some(agent) = agent.as_mut()
        {
            agent.units.store_processors(path);
        }
        let woven = match test_frameworks::with_hooks(name, bytes) {
            Some(hooked) if hooks_frameworks(jni) => Some(hooked),
            _ => with_probes(jni, domain, bytes, compiled.as_deref()),
        };
        if let Some(woven) = woven
            && let (Some(memory), Ok(length)) = (jvmti.allocate(&woven), c_int::try_from(woven.len()))
        {
            // SAFETY: the JVM passes valid pointers for the results.
            unsafe {
                *new_length = length;
                *new_bytes = memory;
            }
        }
    }));
}

/// Returns true if test frameworks can be hooked. The class for it is defined here, while another class is loaded: otherwise the JVM warns of
/// native methods.
fn hooks_frameworks(jni: Jni) -> bool {
    let Ok(mut agent) = AGENT.lock() else { return false };
    agent.as_mut().is_some_and(|agent| *agent.hooks_frameworks.get_or_insert_with(|| test_frameworks::define(jni)))
}

/// Returns the code source of a class (a URL), from its protection domain.
fn code_source(jni: Jni, domain: JObject) -> Option<String> {
    if domain.is_null() {
        return None;
    }
    jni.with_local_frame(|| {
        let source = jni.call(domain, c"getCodeSource", c"()Ljava/security/CodeSource;")?;
        let location = jni.call(source, c"getLocation", c"()Ljava/net/URL;")?;
        jni.string(jni.call(location, c"toString", c"()Ljava/lang/String;")?)
    })
}

/// Returns a class with probes, or `None` if it is no class of the user's project or has nothing to measure. `compiled` is the class that
/// other agents changed.
fn with_probes(jni: Jni, domain: JObject, bytes: &[u8], compiled: Option<&[u8]>) -> Option<Vec<u8>> {
    let source = code_source(jni, domain);
    let path = source.as_deref().and_then(class_selection::path_of);
    let (origin, request, counts_hits, traces) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut().filter(|agent| !agent.failed)?;
        if let Some(path) = &path {
            agent.units.add_source(&path.to_string_lossy());
        }
        let origin = class_selection::origin_of(source.as_deref(), agent.root.as_deref());
        (origin, agent.request, agent.counts_hits, agent.trace.is_some())
    };
    let counts_hits = match origin {
        ClassOrigin::Program => counts_hits,
        // Tests are traced, but their own coverage is not measured.
        ClassOrigin::Tests => false,
        ClassOrigin::Library => return None,
    };
    if !counts_hits && !traces {
        return None;
    }
    let class = ClassFile::read(bytes).ok().filter(has_known_source)?;
    let traces = traces && class.source_file().is_some_and(|file| file.ends_with(".java"));
    read_manifests(jni);
    let mut layout = if counts_hits { ProbeLayout::new(&class, request) } else { ProbeLayout::default() };
    let mut unit = unit(bytes, request);
    let path = path.unwrap_or_default();
    if counts_hits
        && request.plans
        && let Some(encoded) = plan(&path, unit)
        && let Some(plan) = PredicatePlan::read(&encoded)
    {
        layout = layout.with_plan(&plan);
        unit = planned_unit(unit, &encoded);
    }
    if layout.size == 0 && !traces {
        return None;
    }
    let takes_snapshots = traces && is_test_class(&class, &path) && takes_snapshots(jni);
    if traces && !takes_snapshots {
        heap_snapshot::add_class(&class);
    }
    let (array, first_probe, first_traced_method) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut()?;
        let stored = StoredClass { bytes, compiled, source: &path.to_string_lossy() };
        let (array, first) = agent.allocate(jni, unit, &layout, &stored)?;
        (array, first, if traces { agent.trace_methods(jni, unit, class.methods.len()) } else { None })
    };
    let hits_class = hit_arrays::class_name(array);
    let request = WeaveRequest {
        bytes,
        class: &class,
        layout: &layout,
        hits_class: &hits_class,
        first_probe,
        first_traced_method,
        takes_snapshots,
    };
    let (woven, _) = weave(&request)?;
    Some(woven)
}

/// Adds the class paths in the manifests of jars to the stored class path.
fn read_manifests(jni: Jni) -> Option<()> {
    loop {
        let jars = AGENT.lock().ok()?.as_mut()?.units.take_jars();
        if jars.is_empty() {
            return None;
        }
        // The JVM loads classes of its own to read them.
        let read = |jar: &PathBuf| {
            let urls = jni.manifest_attribute(&jar.to_string_lossy(), "Class-Path")?;
            Some(class_selection::manifest_class_path(jar, &urls))
        };
        let found: Vec<PathBuf> = jars.iter().filter_map(read).flatten().collect();
        let mut agent = AGENT.lock().ok()?;
        let units = &mut agent.as_mut()?.units;
        found.iter().filter(|entry| entry.exists()).for_each(|entry| units.add_entry(entry));
    }
}

/// Returns the encoded predicate plan of a class from a path.
fn plan(path: &Path, unit: u64) -> Option<Vec<u8>> {
    let (units, class_path) = {
        let agent = AGENT.lock().ok()?;
        let agent = agent.as_ref().filter(|_| path.exists())?;
        (agent.units.directory().to_path_buf(), agent.units.sources().to_vec())
    };
    predicate_plans::plan(&units, path, &class_path, unit)
}

/// Returns true if tests take snapshots when they return.
fn takes_snapshots(jni: Jni) -> bool {
    let Ok(mut agent) = AGENT.lock() else { return false };
    let Some(agent) = agent.as_mut() else { return false };
    let (hits, jvmti) = (&agent.hits, agent.jvmti);
    let define = || heap_snapshot::define(jni, jvmti, hits);
    agent.snapshots.as_mut().is_some_and(|snapshots| *snapshots.get_or_insert_with(define))
}

impl Agent {
    fn new(jvmti: Jvmti, jni: Jni) -> Option<Agent> {
        let directory = PathBuf::from(std::env::var_os(DIRECTORY)?);
        let hits = std::env::var_os(HITS).map_or_else(|| directory.join("hits"), PathBuf::from);
        let probes = std::env::var(PROBES).unwrap_or_default();
        let property = |name: &CStr| jvmti.property(name).unwrap_or_default();
        let is_java_8 = property(c"java.specification.version").starts_with("1.");
        let unsafe_class = if is_java_8 { "sun/misc/Unsafe" } else { "jdk/internal/misc/Unsafe" };
        let process = ProcessInfo { test: std::env::var_os(TEST), command: property(c"sun.java.command") };
        let has = |word: &str| probes.split(',').any(|own| own == word);
        let trace = has("state").then(|| TraceRecorder::new(&hits, &process)).flatten();
        Some(Agent {
            jvmti,
            hits,
            counts_hits: has("jumps"),
            trace: trace.filter(|trace| trace.define(jni, unsafe_class)),
            root: std::env::var_os(ROOT).map(PathBuf::from),
            request: ProbeRequest::from_words(probes.split(',')),
            process,
            units: UnitStore::new(
                directory.join("units"),
                &property(c"java.class.path"),
                &property(c"jdk.module.path"),
            ),
            hit_arrays: 0,
            used_probes: 0,
            allocated: HashMap::new(),
            traced: HashMap::new(),
            snapshots: std::env::var_os(heap_snapshot::VARIABLE).is_some().then_some(None),
            hooks_frameworks: None,
            failed: false,
        })
    }

    /// Stores a class and allocates its probes. Returns the hit array and the first probe, or `None` if hits can't be stored.
    fn allocate(&mut self, jni: Jni, unit: u64, layout: &ProbeLayout, class: &StoredClass<'_>) -> Option<(u16, u32)> {
        let size = layout.size;
        if let Some(known) = self.allocated.get(&unit) {
            return Some(*known);
        }
        if size > hit_arrays::PROBES || !self.units.store(unit, class) {
            return None;
        }
        if size == 0 {
            return Some((0, 0));
        }
        if self.hit_arrays == 0 || self.used_probes + size > hit_arrays::PROBES {
            self.failed = self.add_hit_array(jni).is_none();
        }
        if self.failed {
            return None;
        }
        let (array, first) = (self.hit_arrays - 1, self.used_probes);
        let name = hit_arrays::class_name(array);
        if let Some(class) = layout.predicate_class(&name, first) {
            jni.with_local_frame(|| jni.define(&predicate_class_name(&name, first), &class).map(|_| ()))?;
        }
        if !HIT_LOG.lock().ok()?.as_mut()?.unit(unit, HitLogWriter::number(array, first), size) {
            return None;
        }
        self.used_probes += size;
        self.allocated.insert(unit, (array, first));
        Some((array, first))
    }

    /// Returns the number of a class's first method in the trace, or `None` if it can't be traced.
    fn trace_methods(&mut self, jni: Jni, unit: u64, count: usize) -> Option<u32> {
        if let Some(known) = self.traced.get(&unit) {
            return Some(*known);
        }
        // The recorder attributes threads to tests.
        if !test_attribution::define_once(jni) {
            return None;
        }
        let first = self.trace.as_mut()?.add_class(unit, u32::try_from(count).ok()?)?;
        self.traced.insert(unit, first);
        Some(first)
    }

    /// Defines the class with another hit array.
    fn add_hit_array(&mut self, jni: Jni) -> Option<()> {
        if self.hit_arrays == 0 {
            *HIT_LOG.lock().ok()? = Some(HitLogWriter::new(&self.hits, &self.process)?);
            running_tests::update_log(jni);
        }
        if !test_attribution::define_once(jni) {
            return None;
        }
        let number = self.hit_arrays;
        let name = hit_arrays::class_name(number);
        let bytes = jni.with_local_frame(|| {
            let class = jni.define(&name, &hit_arrays::class(number)?)?;
            if self.request.checks_values() {
                jni.define(&check_class_name(&name), &check_class(&name))?;
            }
            jni.static_field(class, hit_arrays::HIT)
        })?;
        HIT_LOG.lock().ok()?.as_mut()?.add_hit_array(bytes);
        self.hit_arrays = number.checked_add(1)?;
        self.used_probes = 0;
        Some(())
    }
}
