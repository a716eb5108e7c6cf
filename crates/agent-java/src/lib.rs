//! The agent that `touchstone measure` brings into every JVM that a command starts: classes of the user get probes as they are
//! loaded.
//!
//! - `jvm.rs`: the few functions of the JVM that it needs;
//! - `select.rs`: which classes are the user's;
//! - `holder.rs`: the class that keeps what was hit; `owners.rs`: the class that knows for which test a thread works;
//! - `written.rs`: classes that are written here;
//! - `log.rs`, `system.rs`: the file that tells it, test by test;
//! - `tests.rs`: which tests run now; `frameworks.rs`: who says so;
//! - `recorder.rs`: the class that methods tell what they do, where state is measured;
//! - `ends.rs`, `objects.rs`: what tests leave behind, where assertions are to be suggested;
//! - `plans.rs`: what else is asked of classes, where only the source says it;
//! - `store.rs`: new files, and classes as they were loaded.
//!
//! A class that can't get probes stays as it is. Nothing here ever ends the program, prints, or throws: whatever goes wrong, the program runs
//! as without us. What the probes mean is found out later, from the classes that are kept.
//!
//! Deliberately not here: where probes stand, and how they get in (`touchstone-probes-java`).

mod class_selection;
mod class_writer;
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

use class_selection::Whose;
use hit_log_writer::Log;
use jvm_interface::{Jni, Jvmti, Object, Table};
use measurement_files::{Process, Units};
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use touchstone_classfile::ClassFile;
use touchstone_probes_java::{
    Layout, Plan, Wanted, Weaving, answers, answers_name, is_test_class, judge_name, layout, planned_unit, pool, unit,
    weave,
};
use trace_recorder::Recorder;

/// Set by `touchstone measure`: where records and hits go,
const DIRECTORY: &str = "TOUCHSTONE_DIR";
/// where hits go, if that is somewhere else,
const HITS: &str = "TOUCHSTONE_HITS";
/// what is measured,
const CRITERIA: &str = "TOUCHSTONE_CRITERIA";
/// where the project is,
const ROOT: &str = "TOUCHSTONE_ROOT";
/// and which test this is.
const TEST: &str = "TOUCHSTONE_TEST";

/// What the agent knows.
struct Agent {
    hits: PathBuf,
    root: Option<PathBuf>,
    wanted: Wanted,
    process: Process,
    units: Units,
    /// Whether anything but state is measured.
    counts: bool,
    /// What methods tell, if state is measured.
    state: Option<Recorder>,
    /// Units that tell what they do, and the number of the first method of each.
    told: std::collections::HashMap<u64, u32>,
    /// How many holders there are; new classes use the last one,
    holders: u16,
    /// of which so many probes are taken.
    used: u32,
    /// Units of this process, and the holder and first probe of each.
    known: std::collections::HashMap<u64, (u16, u32)>,
    /// Whether tests say what they leave behind: none if nobody wants to know, else once the first class of tests is there.
    ends: Option<Option<bool>>,
    /// Whether tests are told apart, once the first class of a framework is there.
    listens: Option<bool>,
    /// Nothing can be written.
    failed: bool,
}

static AGENT: Mutex<Option<Agent>> = Mutex::new(None);
/// What was hit. Whoever has this lock runs nothing of the program, and takes no other lock.
static LOG: Mutex<Option<Log>> = Mutex::new(None);

/// What the JVM calls first.
///
/// # Safety
/// The JVM calls it, with what its specification says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn Agent_OnLoad(vm: *mut c_void, _options: *const c_char, _reserved: *mut c_void) -> c_int {
    // SAFETY: the JVM gives itself.
    let jvmti = unsafe { Jvmti::new(vm.cast()) };
    if std::env::var_os(DIRECTORY).is_some()
        && let Some(jvmti) = jvmti
    {
        jvmti.listen(on_init, on_load, std::env::var_os(heap_snapshot::VARIABLE).is_some());
    }
    // Anything else would end the program.
    0
}

extern "C" fn on_init(jvmti: Table, jni: Table, _thread: Object) {
    let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        if let (Some(agent), Ok(mut place)) = (Agent::new(jvmti, jni), AGENT.lock()) {
            *place = Some(agent);
            drop(place);
            jvmti.enable(jvm_interface::CLASS_FILE_LOAD_HOOK);
        }
    }));
}

extern "C" fn on_load(
    jvmti: Table,
    jni: Table,
    _redefined: Object,
    loader: Object,
    name: *const c_char,
    domain: Object,
    length: c_int,
    bytes: *const c_uchar,
    new_length: *mut c_int,
    new_bytes: *mut *mut c_uchar,
) {
    // The JVM's own classes, and our holders.
    if loader.is_null() || name.is_null() || bytes.is_null() || length <= 0 {
        return;
    }
    let (jvmti, jni) = (Jvmti(jvmti), Jni(jni));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the JVM gives as many bytes as it says, and they stay until we return.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, length as usize) };
        // SAFETY: a name ends with a zero, and stays until we return.
        let name = unsafe { CStr::from_ptr(name) };
        let woven = match test_frameworks::listened(name, bytes) {
            Some(listened) if listens(jni) => Some(listened),
            _ => with_probes(jvmti, jni, domain, bytes),
        };
        if let Some(woven) = woven
            && let (Some(memory), Ok(length)) = (jvmti.allocate(&woven), c_int::try_from(woven.len()))
        {
            // SAFETY: the JVM gives where it wants to be told so.
            unsafe {
                *new_length = length;
                *new_bytes = memory;
            }
        }
    }));
}

/// Whether frameworks can be listened to. The JVM warns of native methods that come while nothing is being loaded, so this waits.
fn listens(jni: Jni) -> bool {
    let Ok(mut agent) = AGENT.lock() else { return false };
    agent.as_mut().is_some_and(|agent| *agent.listens.get_or_insert_with(|| test_frameworks::prepare(jni)))
}

/// Where a class comes from, as its protection domain says.
fn place_of(jni: Jni, domain: Object) -> Option<String> {
    if domain.is_null() {
        return None;
    }
    jni.within_frame(|| {
        let source = jni.call(domain, c"getCodeSource", c"()Ljava/security/CodeSource;")?;
        let location = jni.call(source, c"getLocation", c"()Ljava/net/URL;")?;
        jni.text(jni.call(location, c"toString", c"()Ljava/lang/String;")?)
    })
}

/// A class with probes, if it is one of the user's.
fn with_probes(jvmti: Jvmti, jni: Jni, domain: Object, bytes: &[u8]) -> Option<Vec<u8>> {
    let place = place_of(jni, domain);
    let (whose, wanted, counts, tells) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut().filter(|agent| !agent.failed)?;
        if let Some(path) = place.as_deref().and_then(class_selection::path_of) {
            agent.units.met(&path.to_string_lossy());
        }
        (
            class_selection::whose(place.as_deref(), agent.root.as_deref()),
            agent.wanted,
            agent.counts,
            agent.state.is_some(),
        )
    };
    // What tests do is of interest only where it is followed.
    let (counts, tells) = match whose {
        Whose::Program => (counts, tells),
        Whose::Tests => (false, tells),
        Whose::Others => return None,
    };
    if !counts && !tells {
        return None;
    }
    let class = ClassFile::read(bytes).ok().filter(class_selection::is_of_source)?;
    let mut layout = if counts { layout(&class, wanted) } else { Layout::default() };
    let mut unit = unit(bytes, wanted);
    let from = place.as_deref().and_then(class_selection::path_of).unwrap_or_default();
    if counts
        && wanted.plans
        && let Some(plan) = plan(&from, unit)
        && let Some(read) = Plan::read(&plan)
    {
        layout = layout.with_plan(&read);
        unit = planned_unit(unit, &plan);
    }
    if layout.size == 0 && !tells {
        return None;
    }
    let ends = tells && is_test_class(&class, &from) && ends_are_told(jvmti, jni);
    if tells && !ends {
        heap_snapshot::met(&class);
    }
    let (holder, first, told_from) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut()?;
        let (holder, first) = agent.room(jni, unit, &layout, bytes, &from.to_string_lossy())?;
        let told_from = if tells { agent.methods(jni, unit, class.methods.len()) } else { None };
        (holder, first, told_from)
    };
    let holder = hit_arrays::name(holder);
    let weaving = Weaving { bytes, class: &class, layout: &layout, holder: &holder, first, told_from, ends };
    let (woven, _) = weave(&weaving)?;
    Some(woven)
}

/// What whoever has the source asks of a class from a place.
fn plan(place: &Path, unit: u64) -> Option<Vec<u8>> {
    let (units, class_path) = {
        let agent = AGENT.lock().ok()?;
        let agent = agent.as_ref().filter(|_| place.exists())?;
        (agent.units.directory().to_path_buf(), agent.units.sources().to_vec())
    };
    predicate_plans::plan(&units, place, &class_path, unit)
}

/// Whether tests say what they leave behind.
fn ends_are_told(jvmti: Jvmti, jni: Jni) -> bool {
    let Ok(mut agent) = AGENT.lock() else { return false };
    let Some(agent) = agent.as_mut() else { return false };
    let hits = &agent.hits;
    agent.ends.as_mut().is_some_and(|ends| *ends.get_or_insert_with(|| heap_snapshot::prepare(jni, jvmti, hits)))
}

impl Agent {
    fn new(jvmti: Jvmti, jni: Jni) -> Option<Agent> {
        let directory = PathBuf::from(std::env::var_os(DIRECTORY)?);
        let hits = std::env::var_os(HITS).map_or_else(|| directory.join("hits"), PathBuf::from);
        let criteria = std::env::var(CRITERIA).unwrap_or_default();
        let property = |name: &CStr| jvmti.property(name).unwrap_or_default();
        let older = property(c"java.specification.version").starts_with("1.");
        let unsafe_class = if older { "sun/misc/Unsafe" } else { "jdk/internal/misc/Unsafe" };
        let process = Process { test: std::env::var_os(TEST), command: property(c"sun.java.command") };
        let is_state = |criterion: &str| criterion == "state";
        let state = criteria.split(',').any(is_state).then(|| Recorder::new(&hits, &process)).flatten();
        let state = state.filter(|state| state.define(jni, unsafe_class));
        Some(Agent {
            hits,
            counts: criteria.split(',').any(|criterion| !is_state(criterion)),
            state,
            root: std::env::var_os(ROOT).map(PathBuf::from),
            wanted: Wanted::by(criteria.split(',')),
            process,
            units: Units::new(directory.join("units"), &property(c"java.class.path")),
            holders: 0,
            used: 0,
            known: Default::default(),
            told: Default::default(),
            ends: std::env::var_os(heap_snapshot::VARIABLE).is_some().then_some(None),
            listens: None,
            failed: false,
        })
    }

    /// The holder of a class's probes, and the number of the first; `None` if nothing can be kept.
    fn room(&mut self, jni: Jni, unit: u64, layout: &Layout, bytes: &[u8], place: &str) -> Option<(u16, u32)> {
        let size = layout.size;
        if let Some(known) = self.known.get(&unit) {
            return Some(*known);
        }
        if size > hit_arrays::PROBES || !self.units.keep(unit, bytes, place) {
            return None;
        }
        if size == 0 {
            return Some((0, 0));
        }
        if self.holders == 0 || self.used + size > hit_arrays::PROBES {
            self.failed = self.new_holder(jni).is_none();
        }
        if self.failed {
            return None;
        }
        let (holder, first) = (self.holders - 1, self.used);
        let name = hit_arrays::name(holder);
        if let Some(judge) = layout.judge(&name, first) {
            jni.within_frame(|| jni.define(&judge_name(&name, first), &judge).map(|_| ()))?;
        }
        if !LOG.lock().ok()?.as_mut()?.unit(unit, Log::number(holder, first), size) {
            return None;
        }
        self.used += size;
        self.known.insert(unit, (holder, first));
        Some((holder, first))
    }

    /// The number of a class's first method among all that tell what they do.
    fn methods(&mut self, jni: Jni, unit: u64, count: usize) -> Option<u32> {
        if let Some(known) = self.told.get(&unit) {
            return Some(*known);
        }
        // Threads that tell something are asked for whom they work.
        if !test_attribution::prepare(jni) {
            return None;
        }
        let first = self.state.as_mut()?.take(unit, u32::try_from(count).ok()?)?;
        self.told.insert(unit, first);
        Some(first)
    }

    fn new_holder(&mut self, jni: Jni) -> Option<()> {
        if self.holders == 0 {
            *LOG.lock().ok()? = Some(Log::new(&self.hits, &self.process)?);
            running_tests::tell_again(jni);
        }
        if !test_attribution::prepare(jni) {
            return None;
        }
        let number = self.holders;
        let bytes = jni.within_frame(|| {
            let class = jni.define(&hit_arrays::name(number), &hit_arrays::class(number))?;
            if self.wanted.asks() {
                jni.define(&answers_name(&hit_arrays::name(number)), &answers(&hit_arrays::name(number)))?;
            }
            jni.held_by(class, hit_arrays::HIT)
        })?;
        LOG.lock().ok()?.as_mut()?.add_holder(bytes);
        self.holders = number.checked_add(1)?;
        self.used = 0;
        Some(())
    }
}
