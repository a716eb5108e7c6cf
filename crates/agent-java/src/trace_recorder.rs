//! The trace of a process: the class `java/java/lang/TouchstoneTrace.java`, and the file that it writes to.
//!
//! The file: 8 bytes magic; process id (32 bits); number of classes (32 bits); position of the next slot, room for slots, both in bytes, and the number
//! of times that an event had no room, counted once a test (64 bits each); at 64 the test, at 576 the command line, as in hit files; at 4096 a table of classes (64 bits
//! identity, 32 bits number of the first method, 32 bits number of methods); from `SLOTS` on slots of 16 bytes, one for each event that is not repeated.
//!
//! A *repetition* is a slot with the kind 10, the distance *d* to an earlier slot in its lower 36 bits, and 16 times the number of its
//! events, which are those of the *d* slots before it, over and over again. These slots may contain repetitions. Slots of the kind 11 immediately after it have
//! the number of a slot in this body, and what the upper half of its second word, the index of an element, grows by in each pass (*stride*). All slots
//! of a body belong to one thread.

use crate::jvm_interface::{GlobalRef, Jni};
use crate::mapped_file::MappedFile;
use crate::measurement_files::{ProcessInfo, create_unique, header_strings};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use touchstone_probes_java::trace_calls::RECORDER;
use touchstone_probes_java::{Replacement, instantiate};

const TEMPLATE: &[u8] = include_bytes!("../java/java/lang/TouchstoneTrace.class");
/// The name of `Unsafe` in the template, which is its name since Java 9.
const TEMPLATE_UNSAFE: &str = "jdk/internal/misc/Unsafe";
/// The values of the constants of the template that are replaced.
mod template {
    pub const POSITION: i64 = 0x5453_0000_0000_0001;
    pub const DROPPED: i64 = 0x5453_0000_0000_0002;
    pub const SLOTS: i64 = 0x5453_0000_0000_0003;
    pub const ROOM: i64 = 0x5453_0000_0000_0004;
    pub const HISTORY: i32 = 0x5453_0005;
    pub const NO_SLOT: i64 = 0x5453_0000_0000_0006;
}

const MAGIC: &[u8; 8] = b"TSJAVA02";
const CLASSES: usize = 12;
const POSITION: usize = 16;
const ROOM: usize = 24;
const DROPPED: usize = 32;
/// 16 bytes that are 0.
const NO_SLOT: usize = 40;
const TEST: usize = 64;
const COMMAND: usize = 576;
const TABLE: usize = 4096;
const TABLE_ENTRY_BYTES: usize = 16;
const SLOTS: usize = 1 << 20;
const SLOT_BYTES: u64 = 16;
/// The default number of slots that a thread remembers to find repetitions.
const DEFAULT_HISTORY: i32 = 1 << 15;
/// Sets this number. Tests use it: 0 turns repetitions off.
const HISTORY_VARIABLE: &str = "TOUCHSTONE_STATE_HISTORY";
/// The maximum number of methods: an event has 20 bits for a method.
const MAX_METHODS: u32 = 1 << 20;
/// The default number of events for which the file has room.
const DEFAULT_EVENTS: u64 = 32_000_000;
/// The part of the room that one test may use is one of this many, so that a long test leaves room for the others.
const TEST_SHARES: u64 = 32;
/// The room for threads that pass the limit at the same time, in bytes.
const SPARE_BYTES: u64 = 1024 * SLOT_BYTES;
/// Sets the number of events for which the file has room.
const EVENTS_VARIABLE: &str = "TOUCHSTONE_STATE_EVENTS";

/// The file of a trace.
pub struct TraceRecorder {
    file: MappedFile,
    /// The room for slots in bytes.
    room: u64,
    classes: usize,
    methods: u32,
}

impl TraceRecorder {
    /// Creates a file in a directory.
    pub fn new(directory: &Path, process: &ProcessInfo) -> Option<TraceRecorder> {
        let given = std::env::var(EVENTS_VARIABLE).ok().and_then(|text| text.parse::<u64>().ok());
        let room = given.unwrap_or(DEFAULT_EVENTS).checked_mul(SLOT_BYTES)?;
        let length = SLOTS + usize::try_from(room + SPARE_BYTES).ok()?;
        let mut file = MappedFile::sparse(&create_unique(directory, "jstate")?.0, length)?;
        file.put(8, &std::process::id().to_le_bytes());
        file.put(ROOM, &room.to_le_bytes());
        let (test, command) = header_strings(process, COMMAND - TEST, TABLE - COMMAND);
        file.put(TEST, &test);
        file.put(COMMAND, &command);
        file.put(0, MAGIC);
        Some(TraceRecorder { file, room, classes: 0, methods: 0 })
    }

    /// Adds a class to the table. Returns the number of its first method, or `None` if there is no room.
    pub fn add_class(&mut self, unit: u64, methods: u32) -> Option<u32> {
        let first = self.methods;
        let entry = TABLE + TABLE_ENTRY_BYTES * self.classes;
        if entry + TABLE_ENTRY_BYTES > SLOTS || first.checked_add(methods)? > MAX_METHODS {
            return None;
        }
        self.file.put(entry, &unit.to_le_bytes());
        self.file.put(entry + 8, &first.to_le_bytes());
        self.file.put(entry + 12, &methods.to_le_bytes());
        (self.classes, self.methods) = (self.classes + 1, first + methods);
        self.file.put(CLASSES, &(self.classes as u32).to_le_bytes());
        Some(first)
    }

    /// Defines the class that writes to this file. Returns true if it is defined.
    pub fn define(&self, jni: Jni, unsafe_class: &str) -> bool {
        let history = std::env::var(HISTORY_VARIABLE).ok().and_then(|text| text.parse::<i32>().ok());
        let history = history.unwrap_or(DEFAULT_HISTORY).clamp(0, DEFAULT_HISTORY);
        let class = recorder_class(unsafe_class, self.file.address(), self.room, history);
        let class = jni.with_local_frame(|| jni.new_global_ref(jni.define(RECORDER, &class?)?));
        let dropped = (self.file.address() + DROPPED as u64) as *const AtomicU64;
        let test_bytes = (self.room / TEST_SHARES).max(SLOT_BYTES);
        let defined = |class| RecorderClass { class, dropped, dropped_before: 0.into(), test_bytes };
        class.is_some_and(|class| RECORDER_CLASS.set(defined(class)).is_ok())
    }
}

/// Returns the class that writes to a file that is mapped at an address.
fn recorder_class(unsafe_class: &str, address: u64, room: u64, history: i32) -> Option<Vec<u8>> {
    let at = |offset: usize| (address + offset as u64) as i64;
    instantiate(
        TEMPLATE,
        &[
            Replacement::Class(TEMPLATE_UNSAFE, unsafe_class),
            Replacement::Long(template::POSITION, at(POSITION)),
            Replacement::Long(template::DROPPED, at(DROPPED)),
            Replacement::Long(template::SLOTS, at(SLOTS)),
            Replacement::Long(template::ROOM, room as i64),
            Replacement::Int(template::HISTORY, history),
            Replacement::Long(template::NO_SLOT, at(NO_SLOT)),
        ],
    )
}

/// The class that records events, and its counter of tests with dropped events.
struct RecorderClass {
    class: GlobalRef,
    dropped: *const AtomicU64,
    /// The value of the counter when the last test began.
    dropped_before: AtomicU64,
    /// The room that one test may use, in bytes.
    test_bytes: u64,
}

// SAFETY: the counter is atomic, and mapped for as long as the process lives.
unsafe impl Send for RecorderClass {}
// SAFETY: likewise.
unsafe impl Sync for RecorderClass {}

static RECORDER_CLASS: OnceLock<RecorderClass> = OnceLock::new();

/// Marks of tests and of the threads that they started. `TouchstoneTestAttribution` records 5: the thread that records the mark works for a test.
mod mark {
    pub const TEST_NAME: u64 = 1;
    pub const CUT_OFF: u64 = 2;
    pub const TEST_OWNER: u64 = 3;
    pub const TEST_END: u64 = 4;
    pub const THREAD_END: u64 = 6;
    pub const CONCURRENT: u64 = 7;
}

fn record_mark(jni: Jni, mark: &[u64; 3]) {
    if let Some(recorder) = RECORDER_CLASS.get() {
        jni.call_static_void(recorder.class.0, (c"mark", c"(IIJ)V"), mark);
    }
}

/// Records that a test begins in the current thread.
pub fn begin_test(jni: Jni, name: &str, owner: u32) {
    let Some(recorder) = RECORDER_CLASS.get() else { return };
    jni.call_static_void(recorder.class.0, (c"limitTest", c"(J)V"), &[recorder.test_bytes]);
    // SAFETY: the counter is mapped for as long as the process lives.
    let dropped = unsafe { (*recorder.dropped).load(Relaxed) };
    if recorder.dropped_before.swap(dropped, Relaxed) != dropped {
        record_mark(jni, &[mark::CUT_OFF, 1, dropped]);
    }
    // A mark has eight bytes of the name.
    let mut parts = name.as_bytes().chunks(8).peekable();
    while let Some(part) = parts.next() {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        record_mark(jni, &[mark::TEST_NAME, u64::from(parts.peek().is_none()), u64::from_le_bytes(bytes)]);
    }
    record_mark(jni, &[mark::TEST_OWNER, 1, u64::from(owner)]);
}

/// Records that tests run concurrently from now on.
pub fn set_concurrent(jni: Jni) {
    record_mark(jni, &[mark::CONCURRENT, 1, 0]);
}

/// Records that a test ends, and that some of its threads ended before it.
pub fn end_test(jni: Jni, owner: u32, ended_threads: &[u32]) {
    for thread in ended_threads {
        record_mark(jni, &[mark::THREAD_END, 1, u64::from(*thread) | u64::from(owner) << 32]);
    }
    record_mark(jni, &[mark::TEST_END, 1, u64::from(owner)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_classfile::{ClassFile, Constant};
    use touchstone_probes_java::trace_calls::{
        BLOCK, ELEMENT, ENTER, INITIALISED, INSTRUCTION, MORE_REFERENCES, OBJECT, REFERENCES,
    };

    #[test]
    fn the_recorder_has_its_addresses_and_the_methods_that_woven_code_calls() {
        let class = recorder_class("sun/misc/Unsafe", 0x7000_0000_0000, 1600, 100).expect("an instance");
        let file = ClassFile::read(&class).expect("a class file");
        assert_eq!(&*file.name, RECORDER);
        let calls = [
            INSTRUCTION,
            BLOCK,
            OBJECT,
            ELEMENT,
            REFERENCES,
            MORE_REFERENCES,
            ENTER,
            INITIALISED,
            ("mark", "(IIJ)V"),
            ("limitTest", "(J)V"),
        ];
        for (name, desc) in calls {
            assert!(file.method(name, desc).is_some(), "{name}{desc}");
        }
        let constant = |name: &str| {
            let field = file.fields.iter().find(|field| &*field.name == name).and_then(|field| field.constant());
            field.and_then(|index| file.pool.get(index).ok())
        };
        assert_eq!(constant("SLOTS"), Some(&Constant::Long(0x7000_0010_0000)));
        assert_eq!(constant("ROOM"), Some(&Constant::Long(1600)));
        assert_eq!(constant("HISTORY"), Some(&Constant::Integer(100)));
        let names = (1..file.pool.len() as u16).filter_map(|index| file.pool.class(index).ok());
        assert!(
            names.clone().any(|name| &*name == "sun/misc/Unsafe")
                && !names.into_iter().any(|name| &*name == TEMPLATE_UNSAFE)
        );
    }
}
