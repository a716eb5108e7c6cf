//! Test cases: concrete inputs of one run and what must come out.
//!
//! A test case is language-neutral data over the module's data types; `emit` turns it into source.

use crate::GoalId;
use touchstone_base::Span;
use touchstone_ir::{DataTypeId, DataValue, ErrorKind};

/// One test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestCase {
    /// Unique in the campaign and an identifier: `max3_1`.
    pub id: String,
    /// The function under test (or the entry of the program).
    pub function: String,
    /// What is called, and with what.
    pub kind: TestKind,
    /// How the run ends.
    pub outcome: Outcome,
    /// What must hold afterwards.
    pub expected: Expected,
    /// The oracle function (`NAME_post`) exists and must accept the result.
    pub oracle: Option<String>,
    /// What the path looks like, for people: the conditions with their outcomes, in order, shortened.
    pub description: String,
    /// The path's identity: equal for two tests if and only if they take the same path.
    pub path: u64,
    /// Goals that the test reaches, of those that were watched.
    pub covers: Vec<GoalId>,
    /// What the replay on the real program said.
    pub replayed: Replay,
}

/// What a test runs.
#[derive(Clone, PartialEq, Debug)]
pub enum TestKind {
    /// Calls the function directly.
    Function {
        /// One value a parameter of the source, in order (no hidden result pointer). A declared-array parameter has a
        /// pointer to an object; a structure by value has a `Struct`.
        params: Vec<NamedValue>,
        /// Globals to set before the call.
        globals: Vec<NamedValue>,
        /// Objects that pointers point to; `PointerTarget::Object` indexes this list.
        objects: Vec<ObjectInput>,
    },
    /// Runs the whole program; its requests for inputs are answered in this order.
    Program {
        /// The answers.
        inputs: Vec<MadeInput>,
    },
}

/// A named value.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedValue {
    /// Name in the source.
    pub name: String,
    /// Its data type.
    pub data: DataTypeId,
    /// Its value.
    pub value: DataValue,
}

/// An object that exists before the call.
#[derive(Clone, PartialEq, Debug)]
pub struct ObjectInput {
    /// A name that is an identifier and unique in the test: made from the pointer that leads here (`list_next`).
    pub name: String,
    /// Type of one element.
    pub element: DataTypeId,
    /// The elements; one for a plain pointee.
    pub values: Vec<DataValue>,
    /// How many elements of declared array type it has; `None` for a pointee of a plain pointer.
    pub is_array: bool,
}

/// The answer to one request for an input.
#[derive(Clone, PartialEq, Debug)]
pub struct MadeInput {
    /// The name that the program gave.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// How a run ends.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// The function returns.
    Returned,
    /// The program exits with this status.
    Exited(i32),
    /// The run goes wrong.
    Error {
        /// How.
        kind: ErrorKind,
        /// Where.
        span: Span,
    },
    /// The function returns, but its oracle rejects the result.
    OracleRejected,
}

/// What must hold after the run. Empty for runs that go wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expected {
    /// The result.
    pub result: Option<DataValue>,
    /// Final values of the objects of the test, in the order of `TestKind::Function::objects`.
    pub objects: Vec<Vec<DataValue>>,
    /// Final values of globals that are inputs or were written.
    pub globals: Vec<NamedValue>,
    /// What the run writes to standard output; `None` if it isn't known.
    pub output: Option<Vec<u8>>,
}

/// What the replay on the real program said.
#[derive(Clone, PartialEq, Debug)]
pub enum Replay {
    /// Not replayed (yet).
    NotRun,
    /// The real program did what was predicted.
    Agreed,
    /// It did something else.
    Disagreed(String),
    /// It can't be judged (and why): for example an uninitialised read.
    NotCheckable(String),
}
