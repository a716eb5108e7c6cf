//! The request for a campaign, as plain data. It makes no decisions: [`Plan`](crate::Plan) resolves it. The defaults
//! are those of the command line.
//!
//! Deliberately not here: how a request is written down (the command line is `cli`'s), and how results are shown.

use super::growth_limits::{GrowthLimits, ObjectLimit};
use super::old_version::OldVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{AssumeOption, Criterion, GoalCriterion, Mutator};
use touchstone_engine::{Aliases, Entry, Labels, QueryLog, Search, SearchOptions};
use touchstone_front_c::EnvironmentInputs;

/// The request for a campaign.
#[derive(Clone, Debug)]
pub struct Request {
    /// Source files of the program: C; or Java, also as classes, jars and directories.
    pub files: Vec<PathBuf>,
    /// The output directory.
    pub out: PathBuf,
    /// The directory of the tests.
    pub tests: TestDestination,
    /// How the sources are compiled.
    pub compilation: Compilation,
    /// The functions under test.
    pub subject: Subject,
    /// The expected results.
    pub purpose: Purpose,
    /// The coverage criteria.
    pub criteria: Vec<Criterion>,
    /// Mutation operators of weak mutation; empty means all.
    pub mutators: Vec<Mutator>,
    /// The scope of objectives.
    pub objectives_of: ObjectiveScope,
    /// A measured suite to start from.
    pub on_top_of: Option<PathBuf>,
    /// An older version of the program: only objectives that the change since then affects are covered.
    pub old: Option<OldVersion>,
    /// Assumptions about inputs, and bounds on them.
    pub inputs: InputAssumptions,
    /// The search strategy and its budgets.
    pub effort: Effort,
    /// The assumptions that verdicts may make.
    pub assume: BTreeSet<AssumeOption>,
    /// The forms of emitted tests.
    pub emit: Vec<TestForm>,
    /// How tests are replayed.
    pub replay: ReplayMode,
    /// The cache of results, or `None` to use none.
    pub cache: Option<CacheLocation>,
    /// The number of cores to use, or `None` for all.
    pub jobs: Option<usize>,
    /// The treatment of suites that an earlier run left.
    pub regeneration: Regeneration,
    /// The treatment of passing tests that a run which replays them first does not need.
    pub unneeded: UnneededTests,
    /// The executable with the verb `cc`, by which edited suites are measured; without it they only run.
    pub tool: Option<PathBuf>,
    /// Receives the solver queries that reach the SAT solver. The cache is not used with it.
    pub query_log: Option<Arc<dyn QueryLog>>,
    /// Becomes true when the work has to stop soon.
    pub interrupt: Arc<AtomicBool>,
}

/// The default maximum length of an environment variable's value, in characters.
const MAX_VARIABLE_LENGTH: u32 = 16;

impl Request {
    /// Returns the environment of the program. Where functions are under test, environment variables are inputs like
    /// the results of other external functions.
    pub(crate) fn environment_inputs(&self) -> EnvironmentInputs {
        let asked = self.inputs.environment_inputs;
        let answered = asked.externals && !matches!(self.subject, Subject::Program(_));
        EnvironmentInputs { environment: asked.environment.or(answered.then_some(MAX_VARIABLE_LENGTH)), ..asked }
    }

    /// Creates a request for MC/DC tests in C of every function of these files, written to a directory and replayed.
    pub fn new(files: impl IntoIterator<Item = PathBuf>, out: impl Into<PathBuf>) -> Request {
        Request {
            files: files.into_iter().collect(),
            out: out.into(),
            tests: TestDestination::Output,
            compilation: Compilation::default(),
            subject: Subject::EveryFunction,
            purpose: Purpose::Tests,
            criteria: vec![Criterion::standard()],
            mutators: Vec::new(),
            objectives_of: ObjectiveScope::Own,
            on_top_of: None,
            old: None,
            inputs: InputAssumptions::default(),
            effort: Effort::default(),
            assume: BTreeSet::new(),
            emit: vec![TestForm::C],
            replay: ReplayMode::InSandbox,
            cache: None,
            jobs: None,
            regeneration: Regeneration::Plain,
            unneeded: UnneededTests::Kept,
            tool: None,
            query_log: None,
            interrupt: Arc::default(),
        }
    }

    /// Returns true if the campaign has been interrupted.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Returns true if existing tests are run before the search.
    pub fn runs_first(&self) -> bool {
        self.purpose == Purpose::Tests && (self.regeneration == Regeneration::Update || self.old.is_some())
    }

    /// Returns true if existing tests that pass stay, whatever they cover.
    pub(crate) fn keeps_passing_tests(&self) -> bool {
        self.runs_first() && self.unneeded == UnneededTests::Kept
    }

    /// Returns true if every path gets a test.
    pub fn wants_paths(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Paths(_)))
    }

    /// Returns how far objects grow in rounds after the first, or `None` if there are none. Such rounds only find tests
    /// for goals.
    pub(crate) fn growing(&self) -> Option<GrowthLimits> {
        let objects = if self.inputs.max_objects.is_some() { ObjectLimit::Fixed } else { ObjectLimit::Grow };
        let growing = match self.inputs.grow {
            None => GrowthLimits { max_elements: 16, max_while_quick: 64, objects },
            Some(most) => GrowthLimits { max_elements: most, max_while_quick: most, objects },
        };
        (!self.wants_paths() && growing.max_elements > 1).then_some(growing)
    }

    /// Returns the maximum number of calls of a test. Sequences of several calls only find tests for goals.
    pub(crate) fn calls(&self, entry: Entry) -> u32 {
        match entry {
            Entry::Function if !self.wants_paths() => self.inputs.calls,
            Entry::Function | Entry::Program => 1,
        }
    }

    /// Returns the deadline of a first round that starts now; the rest of the time belongs to later rounds.
    pub(crate) fn first_round(&self) -> Deadline {
        self.growing().map_or(Deadline::NEVER, |_| GrowthLimits::first_round(self.effort.budget))
    }

    /// Returns true if state coverage is requested.
    pub fn wants_state(&self) -> bool {
        self.criteria.contains(&Criterion::State)
    }

    /// Returns the criteria that have goals as objectives.
    pub fn labellings(&self) -> Vec<&'static dyn GoalCriterion> {
        let goals = self.criteria.iter().filter_map(|criterion| match criterion {
            Criterion::Goals(labelling) => Some(*labelling),
            Criterion::Paths(_) | Criterion::State => None,
        });
        goals.collect()
    }
}

/// The location of the cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheLocation {
    /// The directory.
    pub directory: PathBuf,
    /// The identity of this executable: only entries of the same build are trusted.
    pub build: String,
}

/// How sources are compiled.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Flags for the compiler.
    pub flags: Vec<String>,
    /// `compile_commands.json` or its directory; `None` to search the directories above the sources.
    pub commands: Option<PathBuf>,
    /// The user's compiler.
    pub compiler: String,
    /// Java: jars and directories that the program needs and that are not under test.
    pub class_path: Vec<PathBuf>,
}

impl Default for Compilation {
    fn default() -> Self {
        Compilation { flags: Vec::new(), commands: None, compiler: "cc".to_string(), class_path: Vec::new() }
    }
}

/// The directory of the tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestDestination {
    /// The output directory.
    Output,
    /// The test directory of the project (`src/test/java`) if its root was given; otherwise the output directory.
    Project,
}

/// The functions under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Every function that the files define; the whole program if they define only `main`, or a harness.
    EveryFunction,
    /// These functions.
    Functions(Vec<String>),
    /// The whole program, from this function.
    Program(String),
}

/// The expected results of a campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Tests, and verdicts.
    Tests,
    /// Verdicts only.
    Verdicts,
}

/// The scope of objectives when a function is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectiveScope {
    /// Objectives of the function itself.
    Own,
    /// Objectives of the function and of everything that it calls.
    Callees,
}

/// Assumptions about inputs, and bounds on them.
#[derive(Clone, Debug)]
pub struct InputAssumptions {
    /// A C expression over the parameters that holds for all of them.
    pub precondition: Option<String>,
    /// The number of elements behind a pointer or array, by name.
    pub lengths: BTreeMap<String, u64>,
    /// Inclusive ranges of integers, by name.
    pub ranges: BTreeMap<String, (i128, i128)>,
    /// The maximum number of objects that symbolic input pointers point to on one path.
    pub max_objects: Option<u32>,
    /// The maximum number of elements to which objects of unspecified length grow while goals are open. By default 16,
    /// and 64 while rounds are quick.
    pub grow: Option<u64>,
    /// The maximum number of calls of a test, where state that no test can set has to change before a goal is
    /// reachable.
    pub calls: u32,
    /// The objects and private variables that tests may set.
    pub heaps: HeapChoice,
    /// The functions that return or store the address of a new object, each with the type of the object.
    pub returned_by: Vec<(String, String)>,
    /// The functions that initialise an object, each with the type of the object.
    pub initialised_by: Vec<(String, String)>,
    /// The maximum length of strings that pointers to characters point to.
    pub strings: Option<u32>,
    /// Arguments of a whole program: the maximum number of words, and of characters of each.
    pub arguments: Option<(u32, u32)>,
    /// Other parts of the environment that are inputs.
    pub environment_inputs: EnvironmentInputs,
    /// Files with specifications of external functions.
    pub external_specs: Vec<PathBuf>,
}

impl Default for InputAssumptions {
    fn default() -> Self {
        InputAssumptions {
            precondition: None,
            lengths: BTreeMap::new(),
            ranges: BTreeMap::new(),
            max_objects: None,
            grow: None,
            calls: 4,
            heaps: HeapChoice::Any,
            returned_by: Vec::new(),
            initialised_by: Vec::new(),
            strings: None,
            arguments: None,
            environment_inputs: EnvironmentInputs { externals: true, callbacks: true, ..EnvironmentInputs::default() },
            external_specs: Vec::new(),
        }
    }
}

/// The states that tests may start from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapChoice {
    /// States that API sequences construct.
    Calls,
    /// Any state as well, where those leave goals open.
    Any,
}

/// The search strategy and its budgets. `touchstone_engine::Config` documents each of them.
#[derive(Clone, Debug)]
pub struct Effort {
    /// The treatment of offsets that depend on inputs.
    pub aliases: Aliases,
    /// The search strategy for labels.
    pub labels: Labels,
    /// The order of exploration, or `None` for one that suits the criteria.
    pub order: Option<Search>,
    /// The maximum number of iterations of each loop entry.
    pub loop_bound: Option<u32>,
    /// The maximum number of paths per function.
    pub max_paths: Option<u64>,
    /// The maximum number of solver queries for tests that complete independence pairs.
    pub pair_queries: Option<u64>,
    /// The work time of the search per function. Naming and reducing its tests may take as much again.
    pub budget: Option<Duration>,
    /// The time of the search per function by the clock, whatever work was done. Replay may take ten times as long and half
    /// a minute.
    pub timeout: Option<Duration>,
    /// The memory limit of the process, in bytes.
    pub memory: Option<u64>,
    /// The work time of one solver query.
    pub solver_timeout: Option<Duration>,
    /// The maximum number of instructions of one path.
    pub steps: u64,
    /// Options that the engine gets unchanged.
    pub search: SearchOptions,
}

impl Effort {
    /// Returns the deadline of a search that starts now.
    pub fn deadline(&self) -> Deadline {
        Deadline::within(self.budget).or_earlier(Deadline::wall_clock(self.timeout))
    }
}

impl Default for Effort {
    fn default() -> Self {
        Effort {
            aliases: Aliases::Late,
            labels: Labels::Idl,
            order: None,
            loop_bound: None,
            max_paths: None,
            pair_queries: None,
            budget: Some(Duration::from_secs(20)),
            timeout: Some(Duration::from_secs(60)),
            memory: Some(1900 << 20),
            solver_timeout: Some(Duration::from_secs(6)),
            steps: 2_000_000,
            search: SearchOptions { call_depth: 500, ..SearchOptions::default() },
        }
    }
}

/// The form of emitted tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestForm {
    /// One C file per function, compiled against the unmodified source.
    C,
    /// One file per function, with a JSON object per line.
    Json,
    /// Unity, under `unity/`.
    Unity,
    /// cmocka, under `cmocka/`.
    Cmocka,
    /// GoogleTest, under `gtest/`.
    Gtest,
    /// A Test-Comp suite.
    TestComp,
    /// JUnit 5: one test class per class under test.
    JUnit5,
    /// JUnit 4: one test class per class under test.
    JUnit4,
}

impl TestForm {
    /// Returns the name of the form on the command line.
    pub fn word(self) -> &'static str {
        match self {
            TestForm::C => "c",
            TestForm::Json => "json",
            TestForm::Unity => "unity",
            TestForm::Cmocka => "cmocka",
            TestForm::Gtest => "gtest",
            TestForm::TestComp => "testcomp",
            TestForm::JUnit5 => "junit5",
            TestForm::JUnit4 => "junit4",
        }
    }
}

/// The treatment of suites that an earlier run left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regeneration {
    /// Suites without edits are overwritten.
    Plain,
    /// Suites without edits are replayed, then overwritten.
    Update,
    /// An interrupted run continues: finished functions that are unchanged are not explored again.
    Resume,
}

/// The treatment of existing tests that pass, but that no objective of the run needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnneededTests {
    /// They stay.
    Kept,
    /// They are removed, and the report lists them.
    Pruned,
}

/// How tests are replayed on the compiled program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayMode {
    /// They are not replayed.
    Off,
    /// In a sandbox.
    InSandbox,
    /// Without a sandbox: what the tested functions delete, write or send is real.
    Unprotected,
}
