//! Tests of a document: their inputs, outcomes and replays, and the state that they change.

use crate::document::name::Name;
use crate::document::objectives::Position;
use serde::{Deserialize, Serialize};

/// A test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Test {
    /// The id, which is unique in the document.
    pub id: String,
    /// The function under test; empty for a test of a measured suite.
    pub function: String,
    /// A description of its path.
    pub description: String,
    /// `heap_not_shown_reachable` if no API sequence was found that constructs its objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<String>,
    /// The behaviour of an older version, if it was compared and differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<String>,
    /// The identity of the path, as a string: not every JSON reader keeps 64 bits.
    pub path: String,
    /// The calls before the call under test, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierCall>,
    /// Inputs by name.
    pub inputs: Json,
    /// The call in one line, for tests that end in an error or that the oracle rejects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// `returned`, `exited`, `threw`, `error`, `oracle_rejected`.
    pub outcome: String,
    /// The exit status, with `exited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The class of the uncaught exception, with `threw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threw: Option<String>,
    /// The error, with `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TestError>,
    /// The expected results.
    pub expected: Json,
    /// Ids of the objectives that it covers.
    #[serde(default)]
    pub covers: Vec<Name>,
    /// Ids of the objectives that no other test of its suite covers.
    #[serde(default)]
    pub covers_alone: Vec<Name>,
    /// True if the real program agreed with the prediction; `replay` has the details.
    pub replayed: bool,
    /// The result of the replay.
    pub replay: Replay,
    /// The reason why it disagreed or can't be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_why: Option<String>,
    /// The stable word for the reason; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A call before the call under test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EarlierCall {
    /// The call in one line: `feed('a')`.
    pub call: String,
    /// The callee.
    pub function: String,
    /// The values of its parameters by name.
    pub inputs: Json,
    /// The expected result, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<serde_json::Value>,
}

/// Data of a form that the program under test determines, as the text of a JSON object: there can be many tests, and
/// few of their values are ever read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<serde_json::value::RawValue>);

impl Json {
    /// Serialises data.
    pub fn of(data: &impl Serialize) -> Json {
        let text = serde_json::value::to_raw_value(data);
        Json(text.expect("invariant: every key is a string and nothing here refuses to be written"))
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Returns the object's members.
    pub fn members(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

impl Default for Json {
    fn default() -> Json {
        Json::of(&serde_json::Map::new())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.text() == other.text()
    }
}

/// The remark on an objective that only tests on an arbitrary heap cover: the sentence and its stable word.
pub const ON_ANY_HEAP: (&str, &str) = ("only in a state that was not shown reachable", "heap_not_shown_reachable");

/// The outcome of a test that was only measured.
pub const MEASURED: &str = "measured";

/// Returns calls and inputs as one string, which identifies a test of a function.
pub(crate) fn given(calls: impl Iterator<Item = String>, inputs: &str) -> String {
    calls.map(|call| call + "; ").chain([inputs.to_string()]).collect()
}

impl Test {
    /// Returns the calls before the call under test, and its inputs.
    pub fn given(&self) -> String {
        given(self.earlier.iter().map(|earlier| earlier.call.clone()), self.inputs.text())
    }

    /// Creates a test of a measured suite.
    pub fn measured(id: String, covers: Vec<Name>, covers_alone: Vec<Name>) -> Test {
        Test {
            id,
            function: String::new(),
            description: String::new(),
            heap: None,
            older: None,
            path: String::new(),
            earlier: Vec::new(),
            inputs: Json::default(),
            brief: None,
            outcome: MEASURED.to_string(),
            exit_status: None,
            threw: None,
            error: None,
            expected: Json::default(),
            covers,
            covers_alone,
            replayed: false,
            replay: Replay::NotRun,
            replay_why: None,
            reason: None,
        }
    }
}

/// The error that a test ends in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestError {
    /// The kind of the error.
    pub kind: String,
    /// The source position.
    #[serde(flatten)]
    pub at: Position,
}

/// The result of a replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// It was not run.
    NotRun,
    /// The real program did what was predicted.
    Agreed,
    /// The real program did something else.
    Disagreed,
    /// The result can't be checked.
    NotCheckable,
}

/// The state that a test changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestState {
    /// The name of the test.
    pub test: String,
    /// The state updates.
    pub updates: Vec<ReportedUpdate>,
    /// The reason why it is unknown for unchecked state whether an assertion depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

impl TestState {
    /// Returns the share of checked state: `2 of 3`, or `at least 2 of 3`.
    pub fn share(&self) -> String {
        let at_least = if self.unknown.is_some() { "at least " } else { "" };
        format!("{at_least}{} of {}", self.checked(), self.updates.len())
    }

    /// Returns the number of updates that an assertion depends on.
    pub fn checked(&self) -> usize {
        self.updates.iter().filter(|update| update.checked).count()
    }
}

/// A variable or field that a test changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedUpdate {
    /// The name of the variable or field.
    pub what: String,
    /// The position of the last write.
    #[serde(flatten)]
    pub at: Position,
    /// True if an assertion of the test depends on it.
    pub checked: bool,
}
