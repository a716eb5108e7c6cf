//! Tests of a document: their inputs, outcomes and replays, and the state that they change.

use crate::document::name::Name;
use crate::document::objectives::Position;
use serde::{Deserialize, Serialize};

/// A test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Test {
    /// Unique in the document.
    pub id: String,
    /// The function under test; empty for a test of a measured suite.
    pub function: String,
    /// What its path looks like.
    pub description: String,
    /// `heap_not_shown_reachable` if nobody showed that calls make its objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<String>,
    /// What an older version does instead, if that was asked and differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<String>,
    /// The path's identity, as text: not every reader of JSON keeps 64 bits.
    pub path: String,
    /// Calls before the one that it is about, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierCall>,
    /// Inputs by name.
    pub inputs: Json,
    /// The call in one line, for people: of tests that end in an error, or that the oracle rejects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// `returned`, `exited`, `threw`, `error`, `oracle_rejected`.
    pub outcome: String,
    /// With `exited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// With `threw`: the class of what nobody caught.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threw: Option<String>,
    /// With `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<TestError>,
    /// What must hold afterwards.
    pub expected: Json,
    /// Ids of the objectives that it covers.
    #[serde(default)]
    pub covers: Vec<Name>,
    /// Ids of those that no other test of its suite covers.
    #[serde(default)]
    pub covers_alone: Vec<Name>,
    /// Whether the real program did what was predicted; `replay` says more.
    pub replayed: bool,
    /// What the real program did.
    pub replay: Replay,
    /// Why it disagreed or can't be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A call before the one that a test is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EarlierCall {
    /// The call in one line, for people: `feed('a')`.
    pub call: String,
    /// Who is called.
    pub function: String,
    /// Values of its parameters by name.
    pub inputs: Json,
    /// What it must return, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<serde_json::Value>,
}

/// Data whose form the program under test decides, as the text of a JSON object: there can be many tests, and few of their
/// values are ever looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<serde_json::value::RawValue>);

impl Json {
    /// Data as text.
    pub fn of(data: &impl Serialize) -> Json {
        let text = serde_json::value::to_raw_value(data);
        Json(text.expect("invariant: every key is a string and nothing here refuses to be written"))
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The object's members.
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

/// What is said of an objective that only such tests cover: the sentence, and the word for it.
pub const ON_ANY_HEAP: (&str, &str) = ("only on a heap that was not shown reachable", "heap_not_shown_reachable");

/// The outcome of a test that was only measured.
pub const MEASURED: &str = "measured";

/// Calls and inputs as one text, which tells tests of a function apart.
pub(crate) fn given(calls: impl Iterator<Item = String>, inputs: &str) -> String {
    calls.map(|call| call + "; ").chain([inputs.to_string()]).collect()
}

impl Test {
    /// The calls before the one that it is about, and its inputs.
    pub fn given(&self) -> String {
        given(self.earlier.iter().map(|earlier| earlier.call.clone()), self.inputs.text())
    }

    /// A test of a measured suite.
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

/// How a test goes wrong.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestError {
    /// How.
    pub kind: String,
    /// Where.
    #[serde(flatten)]
    pub at: Position,
}

/// What the real program did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// Nothing: it was not run.
    NotRun,
    /// What was predicted.
    Agreed,
    /// Something else.
    Disagreed,
    /// Nothing that could be judged.
    NotCheckable,
}

/// The state that a test changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TestState {
    /// The test.
    pub test: String,
    /// What it changed.
    pub updates: Vec<StateUpdate>,
}

impl TestState {
    /// How many of its changes an assertion depends on.
    pub fn checked(&self) -> usize {
        self.updates.iter().filter(|update| update.checked).count()
    }
}

/// A piece of state that a test changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StateUpdate {
    /// The variable or field.
    pub what: String,
    /// Where it was written last.
    #[serde(flatten)]
    pub at: Position,
    /// Whether it influences an assertion of the test.
    pub checked: bool,
}
