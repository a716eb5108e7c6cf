//! Traces of Java programs, as the agent's recorder writes them (`agent-java/src/trace_recorder.rs` describes the format).

use std::path::Path;

/// The kind of an event. The numbers are those of the recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JavaEventKind {
    /// An instruction is executed.
    At = 1,
    /// A basic block is entered.
    Block = 2,
    /// An instruction is executed on an object.
    On = 3,
    /// An instruction is executed on an array at an index.
    In = 4,
    /// A call with two references.
    Two = 5,
    /// Two more references of the call.
    More = 6,
    /// A method is entered.
    Enter = 7,
    /// The superclass constructor has returned: the object has an identity.
    Init = 8,
    /// A mark about tests: the method field holds its kind. The instruction field is 1 for the last eight bytes of a
    /// name.
    Mark = 9,
}

const JAVA_EVENT_KINDS: [JavaEventKind; 9] = [
    JavaEventKind::At,
    JavaEventKind::Block,
    JavaEventKind::On,
    JavaEventKind::In,
    JavaEventKind::Two,
    JavaEventKind::More,
    JavaEventKind::Enter,
    JavaEventKind::Init,
    JavaEventKind::Mark,
];

/// The mark of a test's beginning, with its name.
pub(crate) const MARK_TEST_BEGINS: u32 = 1;
/// The mark of an incomplete test, with the number of incomplete tests so far.
pub(crate) const MARK_CUT_OFF: u32 = 2;
/// The mark of a test's number.
pub(crate) const MARK_TEST_NUMBER: u32 = 3;
/// The mark of a test's end, with its number.
pub(crate) const MARK_TEST_ENDS: u32 = 4;
/// The mark of a helper thread's number. A helper thread is one that a test started.
pub(crate) const MARK_HELPER_THREAD: u32 = 5;
/// The mark of a helper thread that ended before its test; the test's number is in the upper half.
pub(crate) const MARK_HELPER_ENDED: u32 = 6;
/// The mark from which on tests run concurrently.
pub(crate) const MARK_TESTS_OVERLAP: u32 = 7;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JavaEvent {
    pub kind: JavaEventKind,
    /// The number of the thread.
    pub thread: u32,
    pub method: u32,
    pub insn: usize,
    pub what: u64,
}

impl JavaEvent {
    /// Returns the first object, or 0 if there is none.
    pub fn object(&self) -> u32 {
        self.what as u32
    }

    /// Returns the second object, or the index.
    pub fn second(&self) -> u32 {
        (self.what >> 32) as u32
    }
}

/// A slot of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JavaSlot {
    Event(JavaEvent),
    /// The events of the slots from `start` up to this one are repeated, over and over again.
    Repetition {
        thread: u32,
        start: usize,
        /// The number of repeated events.
        events: u64,
    },
    /// The repetition before it adds `step` to the index of an element in each pass.
    Stride {
        /// The slot of the element, counted from the first one of the body.
        slot: usize,
        step: u32,
    },
    /// An event that was incomplete when its process died.
    Unused,
}

/// A class in the table of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TracedClassEntry {
    pub unit: u64,
    /// The number of its first method.
    pub first: u32,
    /// The number of its methods.
    pub count: u32,
}

/// The trace of one JVM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct JavaTrace {
    /// The name of the test, if an environment variable set one.
    pub test: Option<String>,
    pub command: Vec<String>,
    pub pid: u32,
    /// The number of times that events were dropped because a test's part of the file was full.
    pub left_out: u64,
    /// The classes, in the order of their method numbers.
    pub classes: Vec<TracedClassEntry>,
    slots: Vec<u8>,
}

const CLASSES: usize = 12;
const POSITION: usize = 16;
const LIMIT: usize = 24;
const LEFT: usize = 32;
/// The number of bytes by which concurrent threads may exceed the limit.
const SPARE: u64 = 1024 * SLOT as u64;
const TEST: usize = 64;
const COMMAND: usize = 576;
const TABLE: usize = 4096;
const ENTRY: usize = 16;
const SLOTS: usize = 1 << 20;
const SLOT: usize = 16;
/// The lower half of the first word of a slot, which holds the thread above it.
const BELOW_THREAD: u64 = (1 << 36) - 1;
const REPETITION: u64 = 10;
const STRIDE: u64 = 11;

fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).map_or(0, |part| u64::from_le_bytes(part.try_into().unwrap_or_default()))
}

/// Returns the number of bytes of recorded events.
fn recorded_bytes(head: &[u8]) -> u64 {
    number(head, POSITION).min(number(head, LIMIT).saturating_add(SPARE))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl JavaTrace {
    /// Reads a file, or returns `None` if it is no trace.
    pub fn read(path: &Path) -> Option<JavaTrace> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = std::fs::File::open(path).ok()?;
        let mut head = vec![0; SLOTS];
        file.read_exact(&mut head).ok()?;
        let mut slots = Vec::new();
        file.seek(SeekFrom::Start(SLOTS as u64)).ok()?;
        file.take(recorded_bytes(&head)).read_to_end(&mut slots).ok()?;
        JavaTrace::parse(&head, slots)
    }

    /// Reads the header of a file.
    pub fn head(path: &Path) -> Option<JavaTrace> {
        use std::io::Read;
        let mut head = vec![0; SLOTS];
        std::fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
        JavaTrace::parse(&head, Vec::new())
    }

    fn parse(head: &[u8], slots: Vec<u8>) -> Option<JavaTrace> {
        if head.len() != SLOTS || !head.starts_with(b"TSJAVA02") {
            return None;
        }
        let count = (number(head, CLASSES) as u32 as usize).min((SLOTS - TABLE) / ENTRY);
        let classes = head[TABLE..].chunks_exact(ENTRY).take(count).map(|entry| {
            let methods = number(entry, 8);
            TracedClassEntry { unit: number(entry, 0), first: methods as u32, count: (methods >> 32) as u32 }
        });
        let mut classes: Vec<TracedClassEntry> = classes.collect();
        classes.sort_by_key(|class| class.first);
        let words = head[COMMAND..TABLE].split(|byte| *byte == 0).take_while(|word| !word.is_empty());
        Some(JavaTrace {
            test: Some(text(&head[TEST..COMMAND])).filter(|test| !test.is_empty()),
            command: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
            pid: number(head, 8) as u32,
            left_out: number(head, LEFT),
            classes,
            slots,
        })
    }

    /// Returns the number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len() / SLOT
    }

    /// Returns a slot.
    pub fn slot(&self, index: usize) -> JavaSlot {
        let at = index * SLOT;
        let (head, what) = (number(&self.slots, at), number(&self.slots, at + 8));
        let (thread, below) = ((head >> 36) as u32 & 0xff_ffff, head & BELOW_THREAD);
        match head >> 60 {
            REPETITION => match usize::try_from(below).ok().and_then(|distance| index.checked_sub(distance)) {
                Some(start) => JavaSlot::Repetition { thread, start, events: what / SLOT as u64 },
                None => JavaSlot::Unused,
            },
            STRIDE => JavaSlot::Stride { slot: below as usize, step: (what >> 32) as u32 },
            kind => match (kind as usize).checked_sub(1).and_then(|kind| JAVA_EVENT_KINDS.get(kind)) {
                Some(kind) => JavaSlot::Event(JavaEvent {
                    kind: *kind,
                    thread,
                    method: (head >> 16) as u32 & 0xf_ffff,
                    insn: (head & 0xffff) as usize,
                    what,
                }),
                None => JavaSlot::Unused,
            },
        }
    }

    /// Returns the events in order, without those that are repeated.
    pub fn events(&self) -> impl Iterator<Item = JavaEvent> + '_ {
        (0..self.slots()).filter_map(|index| match self.slot(index) {
            JavaSlot::Event(event) => Some(event),
            _ => None,
        })
    }

    /// Truncates a file after its last event.
    pub fn trim(path: &Path) -> std::io::Result<()> {
        use std::io::Read;
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        let mut head = [0; 32];
        (&file).read_exact(&mut head)?;
        file.set_len(SLOTS as u64 + recorded_bytes(&head))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    #[test]
    fn a_damaged_trace_is_read_as_far_as_it_goes() {
        let mut head = vec![0; SLOTS];
        head[..8].copy_from_slice(b"TSJAVA02");
        for (at, value) in [(CLASSES, 2u64), (POSITION, 160), (LIMIT, 1600)] {
            head[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let slots: Vec<u8> = (0..20u64).flat_map(|slot| (slot << 60 | slot << 16 | 7).to_le_bytes()).collect();
        let trace = JavaTrace::parse(&head, slots.clone()).expect("a trace");
        assert_eq!((trace.classes.len(), trace.left_out), (2, 0));
        for damaged in CorruptedInputs::of(&head[..64]).take(2000) {
            let bytes = [damaged.as_slice(), &head[64..]].concat();
            let count = JavaTrace::parse(&bytes, slots.clone()).map(|trace| trace.events().count());
            assert!(count.is_none_or(|count| count <= slots.len() / SLOT));
        }
        for damaged in CorruptedInputs::of(&slots).take(2000) {
            let count = JavaTrace::parse(&head, damaged.clone()).map(|trace| trace.events().count());
            assert!(count.is_some_and(|count| count <= damaged.len() / SLOT));
        }
    }
}
