//! Traces of C programs: the events of a process and of the processes that it forked (`runtime/state.c` describes the
//! format).

use std::io::Read;
use std::path::Path;

/// The kind of an event. Probes and `runtime/state.c` contain the same numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    /// An object is read: address, size.
    Read = 1,
    /// An assignment begins: address, size.
    Write = 2,
    /// An assignment begins whose address is not known yet.
    Push = 3,
    /// The address of the innermost assignment is known: address, size.
    Place = 4,
    /// An assignment is complete.
    Store = 5,
    /// An object is incremented or decremented: address, size.
    Step = 6,
    /// A variable without an initialiser is declared: address, size.
    Declare = 7,
    /// A variable is initialised: address, size.
    Init = 8,
    /// A statement begins.
    Statement = 9,
    /// A call begins.
    Call = 10,
    /// An argument (its number is the site) is evaluated: its value, the size of its pointee.
    Argument = 11,
    /// A call has returned: its value.
    Returned = 12,
    /// A function is entered: the address of its frame.
    Enter = 13,
    /// A parameter (its number is the site): address, size.
    Parameter = 14,
    /// A function is left.
    Leave = 15,
    /// The evaluation of an argument (its number is the site) begins.
    BeginArgument = 16,
    /// The evaluation of a return value begins.
    Return = 17,
    /// A condition is evaluated.
    Condition = 18,
    /// A controlled statement ends.
    End = 19,
    /// A label is passed: nothing, its depth.
    Label = 20,
    /// The evaluation of a condition inside of an expression begins.
    Choice = 21,
    /// That condition is evaluated.
    Chosen = 22,
    /// A unit of the program is loaded: its identity. Its sites are numbered from this event's site on.
    Unit = 23,
    /// A stream of events begins: process id, the stream that forked.
    Stream = 24,
    /// 16 bytes of a test's name; the site is not 0 for the last ones.
    Test = 25,
    /// A variable argument is read.
    Variadic = 26,
    /// A variable with static storage: address, size.
    Global = 27,
    /// A variable in the head of a loop is initialised: address, size.
    Head = 28,
    /// A controlled statement ends that may assign a variable: address, size.
    Touch = 29,
    /// The callee of a call through a pointer is known: its address.
    Callee = 30,
    /// A function of the C library (its number is the site): its address.
    Function = 31,
    /// An expression is observed at the end of its function: address, size.
    Seen = 32,
    /// Eight bytes of the observed value.
    Bytes = 33,
}

/// The functions that [`EventKind::Function`] numbers.
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

/// The trace of one program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct EventTrace {
    /// The name of the test, if an environment variable set one.
    pub test: Option<String>,
    /// The command line of the process.
    pub command: Vec<String>,
    /// The process id.
    pub pid: u32,
    /// The number of words that were dropped because the file was full.
    pub left_out: u64,
    /// The words that encode its events.
    words: Vec<u8>,
}

const HEADER_BYTES: usize = 4096;
const WORD_BYTES: usize = 8;
/// The kind of a word that is a read in the first stream: its size and its address.
const READ_KIND: u8 = 128;
/// The kind of a word that holds bits 56 to 63 of both operands of the event after it.
const HIGH_OPERAND_KIND: u8 = 253;
/// The kind of a word that holds the first operand of the event after it.
const FIRST_OPERAND_KIND: u8 = 254;
/// The kind of a word that holds the second operand of the event after it.
const SECOND_OPERAND_KIND: u8 = 255;
/// The second operand of an event whose real one is in a word before it.
const SECOND_OPERAND_MARKER: u64 = 255;
/// The stream of [`READ_KIND`].
const FIRST_STREAM: u16 = 1;

impl EventTrace {
    /// Reads a file, or returns `None` if its process died before its first event.
    pub fn read(path: &Path) -> std::io::Result<Option<EventTrace>> {
        EventTrace::parse(std::fs::File::open(path)?)
    }

    pub(crate) fn parse(mut file: impl Read) -> std::io::Result<Option<EventTrace>> {
        let mut header = vec![0; HEADER_BYTES];
        if file.read_exact(&mut header).is_err() || !header.starts_with(b"TSSTATE4") {
            return Ok(None);
        }
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let (count, most) = (word(16), word(24));
        let mut bytes = Vec::new();
        file.take(count.min(most).saturating_mul(WORD_BYTES as u64)).read_to_end(&mut bytes)?;
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
            words: bytes,
        }))
    }

    /// Returns the events. One that was incomplete when its process died has no kind, and is skipped.
    pub fn events(&self) -> impl Iterator<Item = StateEvent> + '_ {
        let mut operands = PendingOperands::default();
        self.words.chunks_exact(WORD_BYTES).filter_map(move |word| {
            let head = u64::from_le_bytes(word.try_into().unwrap_or_default());
            match head as u8 {
                FIRST_OPERAND_KIND => operands.first = head >> 8,
                SECOND_OPERAND_KIND => operands.second = Some(head >> 8),
                HIGH_OPERAND_KIND => operands.high = head >> 8,
                READ_KIND => {
                    operands = PendingOperands::default();
                    let (a, b) = (head >> 16, (head >> 8) & 0xff);
                    return Some(StateEvent { kind: EventKind::Read, stream: FIRST_STREAM, site: 0, a, b });
                }
                kind => return StateEvent::with_operands(kind, head, std::mem::take(&mut operands)),
            }
            None
        })
    }

    /// Truncates a file after its last event; it was created for the maximum number of events.
    pub fn trim(path: &Path) -> std::io::Result<()> {
        let mut header = [0; 32];
        std::fs::File::open(path)?.read_exact(&mut header)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap_or_default());
        let used = HEADER_BYTES as u64 + word(16).min(word(24)).saturating_mul(WORD_BYTES as u64);
        let file = std::fs::OpenOptions::new().write(true).open(path)?;
        if file.metadata()?.len() > used {
            file.set_len(used)?;
        }
        Ok(())
    }
}

/// The operands of the next event, as far as their words were read.
#[derive(Clone, Copy, Default)]
struct PendingOperands {
    first: u64,
    second: Option<u64>,
    high: u64,
}

impl StateEvent {
    /// Returns the event of a word and of the operands before it, unless one of them is missing.
    fn with_operands(kind: u8, head: u64, operands: PendingOperands) -> Option<StateEvent> {
        let kind = *EVENT_KINDS.get(usize::from(kind.checked_sub(1)?))?;
        let b = match (head >> 24) & 0xff {
            SECOND_OPERAND_MARKER => operands.second?,
            narrow => narrow,
        };
        let (a, b) = (operands.first | (operands.high & 0xff) << 56, b | (operands.high >> 8 & 0xff) << 56);
        Some(StateEvent { kind, stream: (head >> 8) as u16, site: (head >> 32) as u32, a, b })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_base::CorruptedInputs;

    /// Returns a file with a header and words.
    fn trace(words: &[u64]) -> Vec<u8> {
        let mut whole = vec![0; HEADER_BYTES];
        whole[..8].copy_from_slice(b"TSSTATE4");
        for (at, word) in [(8, 7), (16, words.len() as u64), (24, 1000)] {
            whole[at..at + 8].copy_from_slice(&u64::to_le_bytes(word));
        }
        whole[64..68].copy_from_slice(b"test");
        whole.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        whole
    }

    #[test]
    fn a_damaged_trace_is_read_as_far_as_it_goes() {
        let words = 40u64;
        let kind = |word: u64| match word % 9 {
            0 => [FIRST_OPERAND_KIND, SECOND_OPERAND_KIND, HIGH_OPERAND_KIND, READ_KIND][word as usize / 9 % 4].into(),
            _ => 1 + word % EVENT_KINDS.len() as u64,
        };
        let whole = trace(&(0..words).map(|word| kind(word) | word << 32).collect::<Vec<_>>());
        let events = |bytes: &[u8]| EventTrace::parse(bytes).expect("readable").map(|trace| trace.events().count());
        let all = events(&whole).expect("a trace");
        assert!(all > 30, "only {all}");
        // The header is large and mostly empty: only its beginning and the words are damaged.
        for damaged in CorruptedInputs::of(&whole[..128]).take(3000) {
            let bytes = [damaged.as_slice(), &whole[128..]].concat();
            assert!(events(&bytes).is_none_or(|events| events <= words as usize + 2));
        }
        for damaged in CorruptedInputs::of(&whole[HEADER_BYTES..]).take(3000) {
            assert!(
                events(&[&whole[..HEADER_BYTES], &damaged].concat()).is_some_and(|events| events <= words as usize + 2)
            );
        }
    }

    #[test]
    fn operands_before_an_incomplete_event_belong_to_no_other() {
        let head = |kind: EventKind, size: u64| kind as u64 | 1 << 8 | size << 24 | 5 << 32;
        let operand = |kind: u8, value: u64| u64::from(kind) | value << 8;
        let words = [
            operand(FIRST_OPERAND_KIND, 0x1234),
            head(EventKind::Write, 4),
            // A process was killed here: the word of the event is missing.
            operand(FIRST_OPERAND_KIND, 0x5678),
            0,
            head(EventKind::Store, 0),
            operand(SECOND_OPERAND_KIND, 9),
            u64::from(READ_KIND) | 8 << 8 | 0x7fff_0000_0010 << 16,
            // The second operand is missing.
            head(EventKind::Touch, SECOND_OPERAND_MARKER),
            operand(HIGH_OPERAND_KIND, 0x22_11),
            operand(FIRST_OPERAND_KIND, 3),
            operand(SECOND_OPERAND_KIND, 300),
            head(EventKind::Test, SECOND_OPERAND_MARKER),
        ];
        let trace = EventTrace::parse(trace(&words).as_slice()).expect("readable").expect("a trace");
        let events: Vec<StateEvent> = trace.events().collect();
        let found: Vec<(EventKind, u32, u64, u64)> =
            events.iter().map(|event| (event.kind, event.site, event.a, event.b)).collect();
        assert_eq!(
            found,
            [
                (EventKind::Write, 5, 0x1234, 4),
                (EventKind::Store, 5, 0, 0),
                (EventKind::Read, 0, 0x7fff_0000_0010, 8),
                (EventKind::Test, 5, 0x11 << 56 | 3, 0x22 << 56 | 300),
            ]
        );
        assert!(events.iter().all(|event| event.stream == 1));
    }

    #[test]
    fn kinds_stand_at_their_numbers() {
        for (index, kind) in EVENT_KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, index + 1);
        }
    }
}
