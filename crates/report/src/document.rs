//! The document: what a run found, as plain data that every renderer reads and that the JSON form is.
//!
//! It needs neither the program's IR nor its sources, so a stored document can be rendered again at any time. Keys come
//! in the order of the structures here, never in the order of a hash map. Keys may be added; one that changes meaning or
//! goes away makes [`touchstone_criteria::SCHEMA_VERSION`] grow.
//!
//! Deliberately not here: how a document is made of a campaign (`json.rs`), and what it adds up to (`figures.rs`).

use crate::forms::FormSuites;
use crate::kept::KeptSuite;
use crate::name::Name;
use crate::suggestions::Suggestions;
use serde::{Deserialize, Serialize};
use touchstone_criteria::SCHEMA_VERSION;

/// What a run found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Document {
    /// Version of the form.
    pub schema_version: u32,
    /// The source files that something is known of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFile>,
    /// One entry a function and criterion.
    pub functions: Vec<Function>,
    /// All objectives.
    pub objectives: Vec<Objective>,
    /// Truth tables.
    pub decisions: Vec<Decision>,
    /// All tests.
    pub tests: Vec<Test>,
    /// Tests that an earlier run left of functions that a change does not touch: they are there, and nobody looked at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<Test>,
    /// What nothing kept the replay of the tests from, as a sentence; not there if it was kept in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected_replay: Option<String>,
    /// Per test, the state that it changed and whether an assertion looked at it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<TestState>,
    /// Assertions that would check what is not checked, if somebody asked for them.
    #[serde(default, skip_serializing_if = "Suggestions::is_empty")]
    pub suggestions: Suggestions,
    /// Suites that were there before the run and stayed, or were asked whether they still pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptSuite>,
    /// What the emitted suites run and cover, one entry a form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<FormSuites>,
    /// What changed since an older version, if that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

impl Default for Document {
    fn default() -> Self {
        Document {
            schema_version: SCHEMA_VERSION,
            files: Vec::new(),
            functions: Vec::new(),
            objectives: Vec::new(),
            decisions: Vec::new(),
            tests: Vec::new(),
            left_alone: Vec::new(),
            unprotected_replay: None,
            state: Vec::new(),
            suggestions: Suggestions::default(),
            kept: Vec::new(),
            forms: Vec::new(),
            change: None,
        }
    }
}

/// Why a text is no document that this version can read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoDocument(pub String);

impl std::fmt::Display for NoDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoDocument {}

impl Document {
    /// Reads the JSON form.
    pub fn parse(text: &str) -> Result<Document, NoDocument> {
        #[derive(Deserialize)]
        struct Head {
            schema_version: u32,
        }
        let bad = |error: serde_json::Error| NoDocument(error.to_string());
        let head: Head = serde_json::from_str(text).map_err(bad)?;
        if head.schema_version != SCHEMA_VERSION {
            return Err(NoDocument(format!(
                "it has schema_version {}, this version reads {SCHEMA_VERSION}; run the campaign again",
                head.schema_version
            )));
        }
        crate::stored::completed(serde_json::from_str(text).map_err(bad)?, text)
    }

    /// The form that is kept for later reports, which [`Document::parse`] reads as well.
    pub fn to_stored(&self) -> String {
        crate::stored::stored(self)
    }

    /// The JSON form.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        text.expect("invariant: every key is a string and nothing here refuses to be written")
    }
}

/// A source file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path, as in the rest of the document.
    pub path: String,
    /// Its number of lines.
    pub lines: u32,
    /// A hash of its text, so that a later report can tell that the file has changed since.
    pub hash: String,
    /// What its comments exclude.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclusions: Vec<Exclusion>,
}

/// Lines that a comment excludes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Exclusion {
    /// First line.
    pub line: u32,
    /// Last line.
    pub end_line: u32,
    /// Why.
    pub reason: String,
    /// What of them.
    #[serde(default, skip_serializing_if = "Excludes::is_all")]
    pub what: Excludes,
}

/// What a comment excludes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Excludes {
    /// Everything on its lines.
    #[default]
    All,
    /// Decisions with their branches and conditions.
    Branches,
    /// The function that begins on its line.
    Function,
}

impl Excludes {
    fn is_all(&self) -> bool {
        *self == Excludes::All
    }
}

/// What was found for one function and criterion.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What a later run knows it by that resumes this one, which was interrupted; not there if it was not finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The file it stands in.
    pub file: String,
    /// First line.
    #[serde(default)]
    pub line: Option<u32>,
    /// Last line.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// The criterion.
    pub criterion: String,
    /// Objectives by status.
    pub objectives: Counts,
    /// Paths by how they ended.
    pub paths: Paths,
    /// Number of tests.
    pub tests: u64,
    /// Nothing was left unexplored.
    pub exhaustive: bool,
    /// An earlier run found all this, and it was kept; seconds are those that it took then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Seconds of exploration.
    pub seconds: f64,
    /// Seconds of compiling and replaying.
    pub replay_seconds: f64,
    /// The solver's share.
    pub solver: Solver,
    /// What was given up.
    pub incomplete: Vec<IncompletePaths>,
    /// What verdicts and the completeness of paths rest on beside the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumptions: Vec<Assumption>,
}

impl Function {
    /// Whether its objectives are paths.
    pub fn counts_paths(&self) -> bool {
        ["paths", "block"].contains(&self.criterion.split(':').next().unwrap_or_default())
    }
}

/// Something that verdicts rest on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Assumption {
    /// What is assumed.
    pub text: String,
    /// Who says so: an option, `declaration`, or `tests` (how tests are made; no infeasible verdict rests on it).
    pub by: String,
}

impl Assumption {
    /// Whether verdicts rest on it, too, and not only the paths of tests.
    pub fn binds_verdicts(&self) -> bool {
        !["declaration", "tests"].contains(&self.by.as_str())
    }
}

/// Objectives by status.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub total: u64,
    pub covered: u64,
    pub infeasible: u64,
    pub unknown: u64,
    /// Of a measured suite.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncovered: u64,
    /// Of the covered ones, those that only tests cover which end in an error.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub by_error: u64,
    /// Beside the total: what a change does not touch was not asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unaffected: u64,
}

fn is_false(truth: &bool) -> bool {
    !truth
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Paths by how they ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Paths {
    pub explored: u64,
    pub infeasible: u64,
    pub error: u64,
    pub incomplete: u64,
    pub longer: u64,
}

/// The solver's share.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Solver {
    pub queries: u64,
    pub seconds: f64,
}

/// Paths that were given up for one reason at one place.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct IncompletePaths {
    /// Why.
    pub why: String,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where.
    #[serde(flatten)]
    pub at: Position,
    /// How many.
    pub count: u64,
}

/// A position; all three are null where there is none.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Position {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

impl Position {
    /// `file.c:12:7`, as compilers print it.
    pub fn display(&self) -> String {
        display(self.file.as_deref(), self.line, self.column)
    }
}

fn display(file: Option<&str>, line: Option<u32>, column: Option<u32>) -> String {
    match (file, line, column) {
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        (Some(file), Some(line), None) => format!("{file}:{line}"),
        _ => "<no position>".to_string(),
    }
}

/// A stretch of a file; all are null where there is none. Columns count bytes from 1, the end is exclusive.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Stretch {
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    #[serde(default)]
    pub end_line: Option<u32>,
    #[serde(default)]
    pub end_column: Option<u32>,
}

impl Stretch {
    /// The file and the first line, where they are known.
    pub fn start(&self) -> Option<(&str, u32)> {
        Some((self.file.as_deref()?, self.line?))
    }

    /// `file.c:12:7`, as compilers print it.
    pub fn display(&self) -> String {
        display(self.file.as_deref(), self.line, self.column)
    }
}

/// Something to be covered.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Objective {
    /// Identity that survives edits elsewhere.
    pub id: String,
    /// Its criterion.
    pub criterion: String,
    /// The function it stands in.
    pub function: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// What it asks.
    pub text: String,
    /// What is known.
    pub status: Verdict,
    /// How that is known, or why it isn't.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tests that cover it.
    pub tests: Vec<Name>,
    /// It is covered, but only by tests that end in an error.
    #[serde(default, skip_serializing_if = "is_false")]
    pub by_error: bool,
    /// Why the user doesn't want it counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excluded: Option<String>,
    /// Which variant of the code it belongs to, where one source was compiled in several ways that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// How often it was executed, where that was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// How the reason begins why a measurement can say nothing about an objective.
pub const NOT_MEASURED: &str = "not measured: ";

impl Objective {
    /// Why a measurement can say nothing about it, if that is so: it is neither covered nor uncovered.
    pub fn not_measured(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.status == Verdict::Unknown)?.strip_prefix(NOT_MEASURED)
    }
}

/// What is known of an objective.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Some test covers it.
    Covered,
    /// No test can.
    Infeasible,
    /// Not known.
    Unknown,
    /// No test of the suite covers it; whether one could was not asked.
    Uncovered,
    /// A change does not touch it: the inputs that reach it are those that reached it in the old version.
    Unaffected,
}

impl Verdict {
    /// As in the JSON form.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Covered => "covered",
            Verdict::Infeasible => "infeasible",
            Verdict::Unknown => "unknown",
            Verdict::Uncovered => "uncovered",
            Verdict::Unaffected => "unaffected",
        }
    }
}

/// What a change since an older version is to the functions under test.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Change {
    /// What the older version is called.
    pub since: String,
    /// Functions that nothing of the change touches.
    pub unaffected: Vec<String>,
    /// The others.
    pub functions: Vec<ChangedFunction>,
}

/// A function that a change touches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChangedFunction {
    /// Its name.
    pub name: String,
    /// Whether both versions do the same.
    pub behaviour: Behaviour,
    /// How that is known, or why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Tests on which they differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
}

/// Whether two versions of a function do the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Behaviour {
    /// On every input, within bounds.
    Equivalent,
    /// Not on every input.
    Differs,
    /// No difference was found.
    Unknown,
}

/// The truth table of a decision. Conditions and rows are named by their position, from 0.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The function it stands in.
    pub function: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// Its text.
    pub text: String,
    /// Its conditions, in evaluation order.
    pub conditions: Vec<Condition>,
    /// The rows that were seen.
    pub rows: Vec<ReportedRow>,
    /// Rows that would show what none of them shows; no test has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<ReportedRow>,
    /// Independence pairs among the rows.
    pub pairs: Vec<Pair>,
    /// Pairs that were found and are not listed.
    pub pairs_left_out: usize,
    /// The search for unique-cause pairs.
    #[serde(default)]
    pub pair_search: PairSearch,
    /// Which variant of the code it belongs to, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

impl Decision {
    /// How many of the conditions' values are shown, and how many there are.
    pub fn shown(&self) -> (usize, usize) {
        let sides = self.conditions.iter().flat_map(|condition| [&condition.r#true, &condition.r#false]);
        (sides.filter(|side| side.status == SideStatus::Shown).count(), 2 * self.conditions.len())
    }

    /// The first pair of a condition in this sense.
    pub fn pair(&self, condition: usize, kind: PairKind) -> Option<&Pair> {
        self.pairs.iter().find(|pair| pair.condition == condition && pair.kind == kind)
    }

    /// Whether every condition is shown with both values, and by a pair of rows with different outcomes.
    pub fn is_complete(&self) -> bool {
        let (shown, all) = self.shown();
        let is_paired = |condition| self.pairs.iter().any(|pair| pair.condition == condition);
        shown == all && (0..self.conditions.len()).all(is_paired)
    }

    /// Whether every condition has a unique-cause pair.
    pub fn is_unique_cause_complete(&self) -> bool {
        (0..self.conditions.len()).all(|condition| self.pair(condition, PairKind::UniqueCause).is_some())
    }
}

/// How the search for unique-cause pairs ended.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PairSearch {
    /// In one word.
    pub status: SearchStatus,
    /// Why it was stopped.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How the search for unique-cause pairs ended, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SearchStatus {
    #[default]
    NotAsked,
    Finished,
    Stopped,
}

/// A condition of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Condition {
    /// Its text.
    pub text: String,
    /// Where it stands.
    #[serde(flatten)]
    pub at: Stretch,
    /// What is known of it deciding when true.
    pub r#true: Side,
    /// What is known of it deciding when false.
    pub r#false: Side,
}

/// What is known of a condition deciding with a value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Side {
    /// In one word.
    pub status: SideStatus,
    /// How that is known, or why it isn't.
    pub why: Option<String>,
    /// The word for that, which never changes; not there in files of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What is known of a condition deciding with a value, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SideStatus {
    /// Some row shows it.
    Shown,
    /// No test can show it.
    Infeasible,
    /// Not known whether one can.
    Unknown,
    /// No row shows it; nothing more was asked.
    NotShown,
}

/// A distinct evaluation of a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedRow {
    /// One a condition; null where it was not evaluated.
    pub values: Vec<Option<bool>>,
    /// The outcome.
    pub result: bool,
    /// The conditions that are not masked.
    pub shows: Vec<usize>,
    /// The tests that evaluated it.
    pub tests: Vec<Name>,
}

/// Two rows that show together that a condition matters.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pair {
    /// The condition.
    pub condition: usize,
    /// `unique_cause` or `masking`.
    pub kind: PairKind,
    /// The rows.
    pub rows: [usize; 2],
}

/// In which sense two rows are a pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum PairKind {
    UniqueCause,
    Masking,
}

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

impl Document {
    /// The state of each test, that of which least is checked first: so every report lists it.
    pub fn least_checked_first(&self) -> Vec<&TestState> {
        let mut tests: Vec<&TestState> = self.state.iter().collect();
        tests.sort_by_key(|test| {
            let (checked, total) = (test.checked(), test.updates.len());
            (checked * 1000 / total.max(1), std::cmp::Reverse(total - checked), &test.test)
        });
        tests
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
