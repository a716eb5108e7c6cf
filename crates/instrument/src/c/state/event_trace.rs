//! Traces: what a process and the processes that it forked did to data (`runtime/state.c` describes the form).

use std::io::Read;
use std::path::Path;

/// What an event says. The numbers stand in probes and in `runtime/state.c`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    /// An object is read: address, size.
    Read = 1,
    /// An assignment begins: address, size.
    Write = 2,
    /// An assignment begins whose place is not known yet.
    Push = 3,
    /// The place of the innermost assignment: address, size.
    Place = 4,
    /// An assignment has happened.
    Store = 5,
    /// One is added or subtracted: address, size.
    Step = 6,
    /// A variable without a value begins to live: address, size.
    Declare = 7,
    /// A variable has its first value: address, size.
    Init = 8,
    /// A statement begins.
    Statement = 9,
    /// A call begins.
    Call = 10,
    /// An argument (its number is the site) has its value: the value, the size of what it points to.
    Argument = 11,
    /// A call is over: its value.
    Returned = 12,
    /// A function begins: the address of its frame.
    Enter = 13,
    /// A parameter (its number is the site): address, size.
    Parameter = 14,
    /// A function ends.
    Leave = 15,
    /// An argument (its number is the site) is evaluated next.
    BeginArgument = 16,
    /// A value is returned next.
    Return = 17,
    /// A condition is known.
    Condition = 18,
    /// A controlled statement is over.
    End = 19,
    /// A label is passed: nothing, its depth.
    Label = 20,
    /// A condition inside of an expression is evaluated next.
    Choice = 21,
    /// It is known.
    Chosen = 22,
    /// A unit of the program: its identity. Its sites begin at this event's.
    Unit = 23,
    /// A stream of events begins: process id, the stream that forked.
    Stream = 24,
    /// 16 bytes of a test's name; its site is not 0 for the last ones.
    Test = 25,
    /// A variable argument is taken.
    Variadic = 26,
    /// A variable with static storage: address, size.
    Global = 27,
    /// A variable in the head of a loop gets its value: address, size.
    Head = 28,
    /// A controlled statement is over that may assign a variable: address, size.
    Touch = 29,
    /// A call goes through a pointer: the address of what is called.
    Callee = 30,
    /// A function of the C library (its number is the site): its address.
    Function = 31,
    /// An expression is looked at where its function ends: address, size.
    Seen = 32,
    /// Eight bytes of what it was.
    Bytes = 33,
}

/// The functions that [`Kind::Function`] numbers.
pub(crate) const ALLOCATION_FUNCTIONS: [&str; 5] = ["malloc", "calloc", "realloc", "free", "strdup"];

const EVENT_KINDS: [EventKind; 33] = [
    EventKind::Read,
    EventKind::Write,
    EventKind::Push,
    EventKind::Place,
    EventKind::Store,
    EventKind::Step,
    EventKind::Declare,
    EventKind::Init,
    EventKind::Statement,
    EventKind::Call,
    EventKind::Argument,
    EventKind::Returned,
    EventKind::Enter,
    EventKind::Parameter,
    EventKind::Leave,
    EventKind::BeginArgument,
    EventKind::Return,
    EventKind::Condition,
    EventKind::End,
    EventKind::Label,
    EventKind::Choice,
    EventKind::Chosen,
    EventKind::Unit,
    EventKind::Stream,
    EventKind::Test,
    EventKind::Variadic,
    EventKind::Global,
    EventKind::Head,
    EventKind::Touch,
    EventKind::Callee,
    EventKind::Function,
    EventKind::Seen,
    EventKind::Bytes,
];

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StateEvent {
    pub kind: EventKind,
    pub stream: u16,
    pub site: u32,
    pub a: u64,
    pub b: u64,
}

/// The events of one program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct EventTrace {
    /// The test's name, if the environment gave one.
    pub test: Option<String>,
    /// The command line of the process.
    pub command: Vec<String>,
    /// Its process id.
    pub pid: u32,
    /// Events that did not fit any more.
    pub left_out: u64,
    pub events: Vec<StateEvent>,
}

const HEADER_BYTES: usize = 4096;
const SLOT_BYTES: usize = 16;
/// The kind of a slot that holds what does not fit into the event behind it.
const WIDE_OPERAND_KIND: u8 = 255;
/// What such an event has instead.
const WIDE_OPERAND_MARKER: u64 = 255;

impl EventTrace {
    /// Reads a file; `None` if its process died before it did anything.
    pub fn read(path: &Path) -> std::io::Result<Option<EventTrace>> {
        EventTrace::parse(std::fs::File::open(path)?)
    }

    pub(crate) fn parse(mut file: impl Read) -> std::io::Result<Option<EventTrace>> {
        let mut header = vec![0; HEADER_BYTES];
        if file.read_exact(&mut header).is_err() || !header.starts_with(b"TSSTATE3") {
            return Ok(None);
        }
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let (count, most) = (word(16), word(24));
        let mut bytes = Vec::new();
        file.take(count.min(most).saturating_mul(SLOT_BYTES as u64)).read_to_end(&mut bytes)?;
        let events = StateEvent::parse_all(&bytes);
        let text = |range: std::ops::Range<usize>| {
            let end = header[range.clone()].iter().position(|byte| *byte == 0).unwrap_or(range.len());
            String::from_utf8_lossy(&header[range.start..range.start + end]).into_owned()
        };
        let words = header[1024..2048].split(|byte| *byte == 0).filter(|word| !word.is_empty());
        Ok(Some(EventTrace {
            test: Some(text(64..576)).filter(|test| !test.is_empty()),
            command: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
            pid: (word(8) & 0xffff_ffff) as u32,
            left_out: count.saturating_sub(most),
            events,
        }))
    }

    /// Cuts a file to what is used of it: it was made for the most events that there may be.
    pub fn trim(path: &Path) -> std::io::Result<()> {
        let mut header = [0; 32];
        std::fs::File::open(path)?.read_exact(&mut header)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let used = HEADER_BYTES as u64 + word(16).min(word(24)).saturating_mul(SLOT_BYTES as u64);
        let file = std::fs::OpenOptions::new().write(true).open(path)?;
        if file.metadata()?.len() > used {
            file.set_len(used)?;
        }
        Ok(())
    }
}

impl StateEvent {
    /// The events of slots. One that was being written when its process died has no kind, and is left out.
    fn parse_all(bytes: &[u8]) -> Vec<StateEvent> {
        let mut events = Vec::with_capacity(bytes.len() / SLOT_BYTES);
        let mut wide = None;
        for slot in bytes.chunks_exact(SLOT_BYTES) {
            let word = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().unwrap_or_default());
            let (head, a) = (word(0), word(8));
            let before = wide.take();
            if head as u8 == WIDE_OPERAND_KIND {
                wide = Some(a);
                continue;
            }
            let kind = (head as u8).checked_sub(1).and_then(|index| EVENT_KINDS.get(usize::from(index)));
            let b = match (head >> 24) & 0xff {
                WIDE_OPERAND_MARKER => before,
                narrow => Some(narrow),
            };
            if let (Some(kind), Some(b)) = (kind, b) {
                events.push(StateEvent { kind: *kind, stream: (head >> 8) as u16, site: (head >> 32) as u32, a, b });
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    #[test]
    fn a_damaged_trace_is_read_as_far_as_it_goes() {
        let mut whole = vec![0; HEADER_BYTES];
        whole[..8].copy_from_slice(b"TSSTATE3");
        let slots = 40u64;
        for (at, word) in [(8, 7), (16, slots), (24, 1000)] {
            whole[at..at + 8].copy_from_slice(&u64::to_le_bytes(word));
        }
        whole[64..68].copy_from_slice(b"test");
        for slot in 0..slots {
            let head = if slot % 9 == 0 { u64::from(WIDE_OPERAND_KIND) } else { 1 + slot % EVENT_KINDS.len() as u64 };
            whole.extend((head | slot << 32).to_le_bytes());
            whole.extend(slot.to_le_bytes());
        }
        let events = |bytes: &[u8]| EventTrace::parse(bytes).expect("readable").map(|trace| trace.events.len());
        let all = events(&whole).expect("a trace");
        assert!(all > 30, "only {all}");
        // The header is large and mostly empty: what stands in it and behind it is damaged.
        for damaged in CorruptedInputs::of(&whole[..128]).take(3000) {
            let bytes = [damaged.as_slice(), &whole[128..]].concat();
            assert!(events(&bytes).is_none_or(|events| events <= slots as usize + 2));
        }
        for damaged in CorruptedInputs::of(&whole[HEADER_BYTES..]).take(3000) {
            assert!(
                events(&[&whole[..HEADER_BYTES], &damaged].concat()).is_some_and(|events| events <= slots as usize + 2)
            );
        }
    }

    #[test]
    fn kinds_stand_at_their_numbers() {
        for (index, kind) in EVENT_KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, index + 1);
        }
    }
}
