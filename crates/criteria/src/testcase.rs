//! Test cases: concrete inputs of one run and what must come out.
//!
//! A test case is language-neutral data over the module's data types; `emit` turns it into source.

use crate::{GoalId, Replay};
use std::fmt;
use touchstone_base::Span;
use touchstone_ir::{
    DataType, DataTypeId, DataTypes, DataValue, ErrorKind, FILE_FAILURES, FILE_WRITES, Field, InputSource,
    PointerTarget, mask,
};

/// One test.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct TestCase {
    /// Unique in the campaign and an identifier: `max3_1`.
    pub id: String,
    /// The function under test (or the entry of the program).
    pub function: String,
    /// The called function and its inputs.
    pub kind: TestKind,
    /// The inputs from the environment: program arguments, then answers to requests, in order.
    pub answers: Vec<EnvironmentInput>,
    /// The end of the run.
    pub outcome: Outcome,
    /// The expected values.
    pub expected: Expected,
    /// The oracle function (`NAME_post`) exists and must accept the result.
    pub oracle: Option<String>,
    /// The path for people: the conditions with their outcomes, in order, shortened.
    pub description: String,
    /// The path's identity: equal for two tests if and only if they take the same path.
    pub path: u64,
    /// Goals that the test reaches, of those that were watched.
    pub covers: Vec<GoalId>,
    /// The origin of its objects.
    #[serde(default)]
    pub heap: HeapOrigin,
    /// True if it relies on initial values of variables that it does not set.
    #[serde(default)]
    pub needs_initial_state: bool,
    /// The behaviour of an older version, if it was compared and differs.
    #[serde(skip)]
    pub older: Option<String>,
    /// The result of the replay on the real program, set by each run.
    #[serde(skip)]
    pub replayed: Replay,
}

/// The origin of the objects of a test, for languages in which only code of the program constructs objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum HeapOrigin {
    /// Constructed by functions of the program, where the language also allows to set their fields.
    Constructed,
    /// Constructed as a caller constructs them.
    #[default]
    Made,
    /// Set field by field: no API sequence was shown to construct them.
    NotShownReachable,
}

impl HeapOrigin {
    /// Returns the remark about a test on such a heap, if there is one.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            HeapOrigin::Constructed | HeapOrigin::Made => None,
            HeapOrigin::NotShownReachable => Some("no API sequence constructs this state; it may be unreachable"),
        }
    }
}

/// The kind of run of a test.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum TestKind {
    /// Calls the function directly.
    Function {
        /// Calls before that, in order: they leave what no test can set.
        earlier: Vec<EarlierCall>,
        /// One value a parameter of the source, in order (no hidden result pointer). A declared-array parameter has a
        /// pointer to an object; a structure by value has a `Struct`.
        params: Vec<NamedValue>,
        /// Globals to set before the call.
        globals: Vec<NamedValue>,
        /// Objects that pointers point to; `PointerTarget::Object` indexes this list.
        objects: Vec<ObjectInput>,
    },
    /// Runs the whole program.
    Program,
}

/// A call before the one that a test is about.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct EarlierCall {
    /// The function.
    pub function: String,
    /// One value for each parameter of the source, in order. Pointers point to objects of the test.
    pub params: Vec<NamedValue>,
    /// The result; `None` if there is none, or if the call does not return.
    pub result: Option<DataValue>,
}

/// A named value.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct NamedValue {
    /// Name in the source.
    pub name: String,
    /// Its data type.
    pub data: DataTypeId,
    /// Its value.
    pub value: DataValue,
}

/// An object that exists before the call.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ObjectInput {
    /// A name that is an identifier and unique in the test: made from the pointer that leads here (`list_next`).
    pub name: String,
    /// Type of one element.
    pub element: DataTypeId,
    /// The elements; one for a plain pointee.
    pub values: Vec<DataValue>,
    /// The number of elements of declared array type; `None` for the pointee of a plain pointer.
    pub is_array: bool,
    /// It is a block of the heap: the function under test ends its life.
    pub on_heap: bool,
    /// Its creation.
    #[serde(default)]
    pub origin: ObjectOrigin,
}

/// The creation of an object of a test.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum ObjectOrigin {
    /// The test sets its values.
    #[default]
    Values,
    /// Functions of the program construct it in the calls before the tested one. Its values are those that they leave.
    Constructed {
        /// The call that creates it.
        creation: ObjectCreation,
        /// The function that releases it, if the test calls one at its end.
        released_by: Option<String>,
    },
    /// A pointer variable in which a call stores the address of a constructed object.
    Receiver,
}

/// The way in which a call creates an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ObjectCreation {
    /// The test declares the object, zeroed, and a call initialises it.
    Initialised,
    /// The earlier call with this index returns its address.
    Returned(usize),
    /// The earlier call with this index stores its address where a parameter points to.
    Stored {
        /// The call.
        call: usize,
        /// The index of the parameter.
        param: usize,
    },
}

impl ObjectOrigin {
    /// Returns the index of the earlier call that returns or stores the address of the object.
    pub fn creating_call(&self) -> Option<usize> {
        match self {
            ObjectOrigin::Constructed {
                creation: ObjectCreation::Returned(call) | ObjectCreation::Stored { call, .. },
                ..
            } => Some(*call),
            _ => None,
        }
    }

    /// Returns true if functions of the program construct it.
    pub fn is_constructed(&self) -> bool {
        matches!(self, ObjectOrigin::Constructed { .. })
    }
}

/// An argument of the program, or the answer to one request for an input.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct EnvironmentInput {
    /// The source of the input.
    pub source: InputSource,
    /// The name of the input, as [`InputSource`] defines it.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The targets of the pointers in it, by offset; their bytes are zero.
    pub pointers: Vec<(usize, PointerTarget)>,
    /// The type of the bytes, if the request has one.
    pub data: Option<DataTypeId>,
}

/// A file that a test makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileInput<'a> {
    /// The contents.
    pub text: &'a [u8],
    failing: u16,
}

impl FileInput<'_> {
    /// Returns the failing operations: "read", "close", "write2" if only the first write succeeds.
    pub fn failures(&self) -> Vec<String> {
        let fails = |(bit, _): &(usize, &str)| self.failing >> bit & 1 == 1;
        let word = |(_, word): (usize, &str)| match self.failing >> 8 {
            before @ 1.. if word == FILE_WRITES => format!("{word}{}", before + 1),
            _ => word.to_string(),
        };
        FILE_FAILURES.into_iter().enumerate().filter(fails).map(word).collect()
    }

    /// Returns true if the file is a default one, which a test need not declare.
    pub fn is_plain(&self) -> bool {
        self.text.is_empty() && self.failing == 0
    }
}

/// The content of an [`EnvironmentInput`], by its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputContent<'a> {
    /// The answer to a call of an intrinsic or of an external function, or what a volatile object held.
    Answer(&'a [u8]),
    /// A word of the command line.
    Argument(&'a [u8]),
    /// All of standard input.
    Stdin(&'a [u8]),
    /// The next file that is opened or first read; nothing if it cannot be opened.
    File(Option<FileInput<'a>>),
    /// Standard output, of which something may fail.
    Output(FileInput<'a>),
    /// A variable of the environment: its name, and its text if it is set.
    Variable(&'a str, Option<&'a [u8]>),
    /// The allocation with this number gets no memory.
    FailingAllocation(&'a str),
}

impl TestCase {
    /// Returns the description of its path, and the behaviour of an older version.
    pub fn full_description(&self) -> String {
        match (&self.older, self.description.is_empty()) {
            (None, _) => self.description.clone(),
            (Some(older), true) => older.clone(),
            (Some(older), false) => format!("{}; {older}", self.description),
        }
    }

    /// Returns the actions of stubs in order: answers to requests, and side effects. Values that a description leaves
    /// open show in these.
    pub fn stub_script(&self) -> Vec<&EnvironmentInput> {
        let mut left = self.expected.left.iter().peekable();
        let (mut all, mut asked) = (Vec::new(), 0);
        for input in &self.answers {
            if input.is_asked_for() {
                while let Some(left) = left.next_if(|left| left.after <= asked) {
                    all.push(&left.input);
                }
                asked += 1;
            }
            all.push(input);
        }
        all.extend(left.map(|left| &left.input));
        all.retain(|input| input.source != InputSource::Chosen);
        all
    }

    /// Returns true if standard output fails.
    pub fn output_fails(&self) -> bool {
        self.answers.iter().any(EnvironmentInput::is_failing_output)
    }

    /// Returns true if functions of the program construct one of its objects.
    pub fn has_constructed_objects(&self) -> bool {
        let TestKind::Function { objects, .. } = &self.kind else { return false };
        objects.iter().any(|object| object.origin.is_constructed())
    }

    /// Sets what a run observed of the earlier calls: their results, the contents of constructed objects, and whether
    /// these can be released.
    pub fn set_observed_before(
        &mut self,
        results: Vec<Option<DataValue>>,
        constructed: Vec<Vec<DataValue>>,
        releasable: &[bool],
    ) {
        let TestKind::Function { earlier, objects, .. } = &mut self.kind else { return };
        earlier.iter_mut().zip(results).for_each(|(call, result)| call.result = result);
        let own = objects.iter_mut().filter(|object| object.origin.is_constructed());
        for (index, (object, values)) in own.zip(constructed).enumerate() {
            object.values = values;
            if let ObjectOrigin::Constructed { released_by, .. } = &mut object.origin
                && releasable.get(index) != Some(&true)
            {
                *released_by = None;
            }
        }
    }

    /// The calls before the one that it is about.
    pub fn earlier(&self) -> &[EarlierCall] {
        match &self.kind {
            TestKind::Function { earlier, .. } => earlier,
            TestKind::Program => &[],
        }
    }
}

impl EnvironmentInput {
    /// Returns the title of the input for people and documents; unlike the name, it is different for different sources.
    pub fn title(&self) -> String {
        Self::title_of(self.source, &self.name)
    }

    /// An input without pointers.
    pub fn of_bytes(source: InputSource, name: impl Into<String>, bytes: Vec<u8>) -> EnvironmentInput {
        EnvironmentInput { source, name: name.into(), bytes, pointers: Vec::new(), data: None }
    }

    /// The title of an input that comes in there with this name.
    pub fn title_of(source: InputSource, name: &str) -> String {
        match source {
            InputSource::Request
            | InputSource::External
            | InputSource::Written
            | InputSource::Changed
            | InputSource::Chosen => name.to_string(),
            InputSource::Argument => format!("<argv {name}>"),
            InputSource::Stdin => "<stdin>".to_string(),
            InputSource::File => "<file>".to_string(),
            InputSource::Output => "<stdout>".to_string(),
            InputSource::Variable => format!("<getenv {name}>"),
            InputSource::Register => format!("<register {name}>"),
            InputSource::Allocation => format!("<failing allocation {name}>"),
            InputSource::Volatile => format!("<volatile {name}>"),
        }
    }

    /// The value that the bytes are, and its type, where a value says all: it is made of numbers only, and nothing is between them.
    pub fn typed(&self, types: &DataTypes) -> Option<(DataTypeId, DataValue)> {
        let data = self.data.filter(|data| types[*data].size(types) == self.bytes.len() as u64)?;
        let mut rest = self.bytes.clone();
        take_known_bits(types, data, &mut rest);
        rest.iter().all(|byte| *byte == 0).then(|| (data, self.value(types, data, 0)))
    }

    /// The numbers in it that are not 0, by name: `i.speed` is 106. Pointers are numbers, too, and what has no type is left out.
    pub fn parts(&self, types: &DataTypes) -> Vec<(String, DataTypeId, u64)> {
        let mut parts = Vec::new();
        if let Some(data) = self.data.filter(|data| types[*data].size(types) == self.bytes.len() as u64) {
            self.parts_at(types, data, 0, &self.title(), &mut parts);
        }
        parts
    }

    fn parts_at(
        &self,
        types: &DataTypes,
        data: DataTypeId,
        at: usize,
        name: &str,
        parts: &mut Vec<(String, DataTypeId, u64)>,
    ) {
        match &types[data] {
            DataType::Array { element, length } => {
                let size = types[*element].size(types) as usize;
                for index in 0..*length as usize {
                    self.parts_at(types, *element, at + index * size, &format!("{name}[{index}]"), parts);
                }
            }
            DataType::Struct { fields, .. } => {
                for field in fields {
                    let part = if field.name.is_empty() { name.to_string() } else { format!("{name}.{}", field.name) };
                    self.parts_at(types, field.ty, at + field.offset as usize, &part, parts);
                }
            }
            DataType::Void | DataType::OneOf { .. } | DataType::Opaque { .. } => {}
            DataType::Bits { first, width, .. } => {
                let number = mask(self.number(at, 8) >> first, *width);
                parts.extend((number != 0).then(|| (name.to_string(), data, number)));
            }
            scalar => {
                let number = self.number(at, scalar.size(types) as usize);
                parts.extend((number != 0).then(|| (name.to_string(), data, number)));
            }
        }
    }

    fn number(&self, at: usize, bytes: usize) -> u64 {
        let word = self.bytes.iter().skip(at).take(bytes.min(8)).rev();
        word.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }

    /// The value of a type that the input has at a place.
    pub fn value(&self, types: &DataTypes, data: DataTypeId, at: usize) -> DataValue {
        match &types[data] {
            DataType::Array { element, length } => {
                let size = types[*element].size(types) as usize;
                let elements = (0..*length as usize).map(|index| self.value(types, *element, at + index * size));
                DataValue::Array(elements.collect())
            }
            DataType::Struct { fields, .. } => {
                let field = |field: &Field| self.value(types, field.ty, at + field.offset as usize);
                DataValue::Struct(fields.iter().map(field).collect())
            }
            DataType::Pointer { .. } => {
                let mut pointers = self.pointers.iter();
                let target = pointers.find(|(place, _)| *place == at).map(|(_, target)| target.clone());
                DataValue::Pointer(target.unwrap_or(PointerTarget::Null))
            }
            DataType::Bits { first, width, .. } => DataValue::Int(mask(self.number(at, 8) >> first, *width)),
            DataType::Void | DataType::Union { .. } | DataType::OneOf { .. } | DataType::Opaque { .. } => {
                DataValue::Undefined
            }
            scalar => DataValue::Int(self.number(at, scalar.size(types) as usize)),
        }
    }

    /// Returns true if standard output fails.
    pub fn is_failing_output(&self) -> bool {
        matches!(self.given(), InputContent::Output(output) if !output.failures().is_empty())
    }

    /// Returns true if it is a program argument.
    pub fn is_argument(&self) -> bool {
        self.source == InputSource::Argument
    }

    /// Returns true if an instruction requests it; the others exist before the run.
    pub fn is_asked_for(&self) -> bool {
        !matches!(self.source, InputSource::Argument | InputSource::Allocation) && !self.marks_registers()
    }

    /// Returns true if it only says that the program has registers.
    pub fn marks_registers(&self) -> bool {
        self.source == InputSource::Register && self.bytes.is_empty()
    }

    /// Decodes the content from the bytes, as [`InputSource`] lays them out.
    pub fn given(&self) -> InputContent<'_> {
        let text = |bytes: &'_ [u8]| bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        match (self.source, self.bytes.as_slice()) {
            (InputSource::Stdin, [a, b, c, d, rest @ ..]) => {
                let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                InputContent::Stdin(&rest[..length.min(rest.len())])
            }
            (InputSource::File, [a, b, c, d, rest @ ..]) => {
                let length = usize::from(u16::from_le_bytes([*a, *b]));
                let file =
                    || FileInput { text: &rest[..length.min(rest.len())], failing: u16::from_le_bytes([*c, *d]) };
                InputContent::File((length < rest.len() + 2).then(file))
            }
            (InputSource::Output, [a, b, ..]) => {
                InputContent::Output(FileInput { text: &[], failing: u16::from_le_bytes([*a, *b]) })
            }
            (InputSource::Argument, bytes) => InputContent::Argument(&bytes[..text(bytes)]),
            (InputSource::Variable, [set, rest @ ..]) => {
                InputContent::Variable(&self.name, (*set != 0).then(|| &rest[..text(rest)]))
            }
            (InputSource::Allocation, _) => InputContent::FailingAllocation(&self.name),
            (_, bytes) => InputContent::Answer(bytes),
        }
    }
}

/// Sets the bits to zero that belong to numbers in the value of a type.
fn take_known_bits(types: &DataTypes, data: DataTypeId, bytes: &mut [u8]) {
    match &types[data] {
        DataType::Array { element, .. } => {
            let size = (types[*element].size(types) as usize).max(1);
            bytes.chunks_mut(size).for_each(|bytes| take_known_bits(types, *element, bytes));
        }
        DataType::Struct { fields, .. } => {
            for field in fields {
                let at = (field.offset as usize).min(bytes.len());
                let end = (at + types[field.ty].size(types) as usize).min(bytes.len());
                take_known_bits(types, field.ty, &mut bytes[at..end]);
            }
        }
        DataType::Bits { first, width, .. } => {
            for bit in *first..first + width {
                if let Some(byte) = bytes.get_mut(usize::from(bit / 8)) {
                    *byte &= !(1 << (bit % 8));
                }
            }
        }
        DataType::Int { .. } | DataType::Enum { .. } | DataType::Bool { .. } | DataType::Float { .. } => bytes.fill(0),
        DataType::Pointer { .. }
        | DataType::Void
        | DataType::Union { .. }
        | DataType::OneOf { .. }
        | DataType::Opaque { .. } => {}
    }
}

/// The end of a run.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Outcome {
    /// The function returns.
    Returned,
    /// An uncaught exception.
    Threw {
        /// The class of that, by its name.
        class: String,
    },
    /// The program exits with this status.
    Exited(i32),
    /// It stays in a loop that has no end and does nothing.
    Hung,
    /// The run goes wrong.
    Error {
        /// The kind of error.
        kind: ErrorKind,
        /// The source position.
        span: Span,
    },
    /// The function returns, but its oracle rejects the result.
    OracleRejected,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Returned => write!(f, "a return"),
            Outcome::Threw { class } => write!(f, "a thrown {class}"),
            Outcome::Exited(status) => write!(f, "exit status {status}"),
            Outcome::Hung => write!(f, "an infinite loop"),
            Outcome::Error { kind, .. } => write!(f, "{kind}"),
            Outcome::OracleRejected => write!(f, "a result that the oracle rejects"),
        }
    }
}

/// The expected state after the run. Empty for runs that end in an error.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Expected {
    /// The result.
    pub result: Option<DataValue>,
    /// The pointees of the result outside of the test's objects and globals: on the heap, in a literal. The name has
    /// the members to follow from the result (`""` for its pointee, `next>next`); the type is that of one element, and
    /// the value is an array if there are several.
    pub reached: Vec<NamedValue>,
    /// Final values of the objects of the test, in the order of `TestKind::Function::objects`.
    pub objects: Vec<Vec<DataValue>>,
    /// Final values of globals that are inputs or were written.
    pub globals: Vec<NamedValue>,
    /// The calls of external functions in order; `None` if they are not known.
    pub calls: Option<Vec<ExpectedCall>>,
    /// The side effects of described functions, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<StubEffect>,
    /// The standard output of the run; `None` if it is not known.
    pub output: Option<Vec<u8>>,
    /// Further observations, in order: of calls before the tested one, and after it.
    pub noticed: Vec<Observation>,
}

/// Something that is seen besides what the tested call itself leaves.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Observation {
    /// The point of the observation.
    pub at: ObservationPoint,
    /// The observed value.
    pub seen: ObservedValue,
}

/// The point of an observation.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ObservationPoint {
    /// The result of the set-up call that this parameter selects.
    Before(usize),
    /// The result of the tested call.
    Result,
    /// A member of an object after the call.
    After {
        /// The object that the test makes, by its number; `None` for the result.
        object: Option<usize>,
        /// The name of the member.
        member: String,
        /// The arguments of an observer; `None` for a field.
        arguments: Option<Vec<ObserverArgument>>,
    },
}

/// A value that is passed once more.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ObserverArgument {
    /// A parameter of the test.
    Param(usize),
    /// An object that the test makes, by its number.
    Object(usize),
    /// A number.
    Number(DataTypeId, DataValue),
}

/// An observed value.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ObservedValue {
    /// A number, a character or a truth value.
    Value(DataTypeId, DataValue),
    /// A text or an array, as [`Expected::reached`] tells it.
    Built(Vec<NamedValue>),
    /// The value of a parameter of the test.
    Given(usize),
    /// Nothing.
    Null,
    /// Some object.
    Object,
    /// An object that the test makes, by its number.
    Same(usize),
    /// A box of this class, and what it holds.
    Boxed(String, DataTypeId, DataValue),
    /// A constant, as source writes it.
    Constant(String),
}

/// A side effect of a described function.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StubEffect {
    /// The number of requested inputs before it.
    pub after: usize,
    /// The written bytes and their location.
    pub input: EnvironmentInput,
}

/// A call of an external function.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct ExpectedCall {
    /// The function.
    pub function: String,
    /// One value a parameter of the source; undefined if nothing can be said about it.
    pub arguments: Vec<DataValue>,
}
