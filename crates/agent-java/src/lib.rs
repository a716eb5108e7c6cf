//! The agent that `touchstone measure` brings into every JVM that a command starts: classes of the user get probes as they are
//! loaded.
//!
//! - `jvm.rs`: the few functions of the JVM that it needs;
//! - `select.rs`: which classes are the user's;
//! - `holder.rs`: the class that keeps what was hit;
//! - `recorder.rs`: the class that methods tell what they do, where state is measured;
//! - `store.rs`, `system.rs`: hit files, and classes as they were loaded.
//!
//! A class that can't get probes stays as it is. Nothing here ever ends the program, prints, or throws: whatever goes wrong, the program runs
//! as without us. What the probes mean is found out later, from the classes that are kept.
//!
//! Deliberately not here: where probes stand, and how they get in (`touchstone-probes-java`).

mod holder;
mod jvm;
mod recorder;
mod select;
mod store;
mod system;

use jvm::{Jni, Jvmti, Object, Table};
use recorder::Recorder;
use select::Whose;
use std::ffi::{CStr, c_char, c_int, c_uchar, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use store::{HitFile, Process, Units};
use touchstone_classfile::ClassFile;
use touchstone_probes_java::telling::RECORDER;
use touchstone_probes_java::{Layout, Places, Weaving, layout, unit, weave};

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
    places: Places,
    process: Process,
    unsafe_class: &'static str,
    units: Units,
    /// Whether anything but state is measured.
    counts: bool,
    /// What methods tell, if state is measured.
    state: Option<Recorder>,
    /// The file and holder that new classes use.
    current: Option<(HitFile, String)>,
    holders: usize,
    /// Units of this process, and the holder and first probe of each.
    known: std::collections::HashMap<u64, (String, u32)>,
    /// Units that tell what they do, and the number of the first method of each.
    told: std::collections::HashMap<u64, u32>,
    /// Nothing can be written.
    failed: bool,
}

static AGENT: Mutex<Option<Agent>> = Mutex::new(None);

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
        jvmti.listen(on_init, on_load);
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
            jvmti.enable(jvm::CLASS_FILE_LOAD_HOOK);
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
        let woven = with_probes(jni, domain, bytes);
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
fn with_probes(jni: Jni, domain: Object, bytes: &[u8]) -> Option<Vec<u8>> {
    let place = place_of(jni, domain);
    let (whose, places, counts, tells) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut().filter(|agent| !agent.failed)?;
        if let Some(path) = place.as_deref().and_then(select::path_of) {
            agent.units.met(&path.to_string_lossy());
        }
        (select::whose(place.as_deref(), agent.root.as_deref()), agent.places, agent.counts, agent.state.is_some())
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
    let class = ClassFile::read(bytes).ok().filter(select::is_of_source)?;
    let layout = if counts { layout(&class, places) } else { Layout::default() };
    if layout.size == 0 && !tells {
        return None;
    }
    let unit = unit(bytes, places);
    let (holder, first, told_from) = {
        let mut agent = AGENT.lock().ok()?;
        let agent = agent.as_mut()?;
        let from = place.as_deref().and_then(select::path_of).unwrap_or_default();
        let (holder, first) = agent.room(jni, unit, layout.size, bytes, &from.to_string_lossy())?;
        let told_from = if tells { agent.methods(unit, class.methods.len()) } else { None };
        (holder, first, told_from)
    };
    let weaving = Weaving { bytes, class: &class, layout: &layout, holder: &holder, first, told_from };
    let (woven, _) = weave(&weaving)?;
    Some(woven)
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
        let state = state.filter(|state| jni.define(RECORDER, &state.class(unsafe_class)));
        Some(Agent {
            hits,
            counts: criteria.split(',').any(|criterion| !is_state(criterion)),
            state,
            root: std::env::var_os(ROOT).map(PathBuf::from),
            places: match criteria.split(',').any(|criterion| criterion == "stmt") {
                true => Places::Probed,
                false => Places::NotProbed,
            },
            process,
            unsafe_class,
            units: Units::new(directory.join("units"), &property(c"java.class.path")),
            current: None,
            holders: 0,
            known: Default::default(),
            told: Default::default(),
            failed: false,
        })
    }

    /// The holder of a class's probes, and the number of the first; `None` if nothing can be kept.
    fn room(&mut self, jni: Jni, unit: u64, size: u32, bytes: &[u8], place: &str) -> Option<(String, u32)> {
        if let Some(known) = self.known.get(&unit) {
            return Some(known.clone());
        }
        if size > holder::PROBES || !self.units.keep(unit, bytes, place) {
            return None;
        }
        if size == 0 {
            return Some((String::new(), 0));
        }
        let taken = match self.current.as_mut().and_then(|(file, _)| file.take(unit, size)) {
            Some(first) => Some(first),
            None => {
                self.new_holder(jni);
                self.current.as_mut().and_then(|(file, _)| file.take(unit, size))
            }
        };
        let found = taken.zip(self.current.as_ref().map(|(_, name)| name.clone()));
        let (first, name) = found?;
        self.known.insert(unit, (name.clone(), first));
        Some((name, first))
    }

    /// The number of a class's first method among all that tell what they do.
    fn methods(&mut self, unit: u64, count: usize) -> Option<u32> {
        if let Some(known) = self.told.get(&unit) {
            return Some(*known);
        }
        let first = self.state.as_mut()?.take(unit, u32::try_from(count).ok()?)?;
        self.told.insert(unit, first);
        Some(first)
    }

    fn new_holder(&mut self, jni: Jni) {
        let name = holder::name(self.holders);
        self.holders += 1;
        let file = HitFile::new(&self.hits, &self.process, holder::PROBES);
        self.current = file.and_then(|file| {
            let class = holder::class(&name, self.unsafe_class, file.address());
            jni.define(&name, &class).then_some((file, name))
        });
        self.failed = self.current.is_none();
    }
}
