//! What somebody wants, as plain data. No decisions are made here: `plan.rs` resolves them. The defaults are those of the
//! command line.
//!
//! Deliberately not here: how a request is written down (the command line is `cli`'s), and how results are shown.

use super::growth_limits::{Growing, Objects};
use super::old_version::OldVersion;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{AssumeOption, Criterion, GoalCriterion, Mutator, criterion_named};
use touchstone_engine::{Aliases, Entry, Labels, Search, Summaries};
use touchstone_front_c::EnvironmentInputs;

/// What somebody wants.
#[derive(Clone, Debug)]
pub struct Request {
    /// Source files of the program: C; or Java, also as classes, jars and directories.
    pub files: Vec<PathBuf>,
    /// Where files are written.
    pub out: PathBuf,
    /// Where tests are written.
    pub tests: TestsGo,
    /// How the sources are compiled.
    pub compilation: Compilation,
    /// What is under test.
    pub subject: Subject,
    /// What is to come out of it.
    pub purpose: Purpose,
    /// What tests are to cover.
    pub criteria: Vec<Criterion>,
    /// Mutation operators of weak mutation; empty means all.
    pub mutators: Vec<Mutator>,
    /// Whose objectives count.
    pub objectives_of: ObjectivesOf,
    /// A measured suite to begin from.
    pub on_top_of: Option<PathBuf>,
    /// An older version of the program: only what the change since then touches is asked for.
    pub old: Option<OldVersion>,
    /// What inputs are like.
    pub inputs: Inputs,
    /// How, and how long, is searched.
    pub effort: Effort,
    /// What verdicts may take for granted.
    pub assume: BTreeSet<AssumeOption>,
    /// What tests are written as.
    pub emit: Vec<TestForm>,
    /// Whether and how the tests are replayed.
    pub replay: Replaying,
    /// Where results are kept for later runs, and found; `None`: nowhere.
    pub cache: Option<CacheIn>,
    /// Functions to work on at the same time; `None`: as many as there are cores.
    pub jobs: Option<usize>,
    /// What becomes of suites that an earlier run left.
    pub regeneration: Regeneration,
    /// The program that has the verb `cc`, by which suites that users edited are measured; without it they only run.
    pub tool: Option<PathBuf>,
    /// Becomes true when the work shall stop soon.
    pub interrupt: Arc<AtomicBool>,
}

/// How long the text of a variable of the environment is at most, where nobody says it.
const VARIABLE_LENGTH: u32 = 16;

impl Request {
    /// What surrounds the program. Where functions are called, variables of the environment are answers as others are.
    pub(crate) fn surroundings(&self) -> EnvironmentInputs {
        let asked = self.inputs.surroundings;
        let answered = asked.externals && !matches!(self.subject, Subject::Program(_));
        EnvironmentInputs { environment: asked.environment.or(answered.then_some(VARIABLE_LENGTH)), ..asked }
    }

    /// MC/DC tests in C for every function of these files, written to a directory and replayed.
    pub fn new(files: impl IntoIterator<Item = PathBuf>, out: impl Into<PathBuf>) -> Request {
        Request {
            files: files.into_iter().collect(),
            out: out.into(),
            tests: TestsGo::ToOut,
            compilation: Compilation::default(),
            subject: Subject::EveryFunction,
            purpose: Purpose::Tests,
            criteria: criterion_named("mcdc").map(Criterion::Goals).into_iter().collect(),
            mutators: Vec::new(),
            objectives_of: ObjectivesOf::Own,
            on_top_of: None,
            old: None,
            inputs: Inputs::default(),
            effort: Effort::default(),
            assume: BTreeSet::new(),
            emit: vec![TestForm::C],
            replay: Replaying::InSandbox,
            cache: None,
            jobs: None,
            regeneration: Regeneration::Plain,
            tool: None,
            interrupt: Arc::default(),
        }
    }

    /// Whether somebody wants us to stop.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Whether tests that are there are run before others are searched for.
    pub fn runs_first(&self) -> bool {
        self.purpose == Purpose::Tests && (self.regeneration == Regeneration::Update || self.old.is_some())
    }

    /// Whether every path is to have a test.
    pub fn wants_paths(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::Paths(_)))
    }

    /// How far objects grow in rounds after the first, if there are any: all that they find is tests for goals.
    pub(crate) fn growing(&self) -> Option<Growing> {
        let objects = if self.inputs.max_objects.is_some() { Objects::Said } else { Objects::Grow };
        let growing = match self.inputs.grow {
            None => Growing { most: 16, while_quick: 64, objects },
            Some(most) => Growing { most, while_quick: most, objects },
        };
        (!self.wants_paths() && growing.most > 1).then_some(growing)
    }

    /// How many calls a test may make: all that more than one find is tests for goals.
    pub(crate) fn calls(&self, entry: Entry) -> u32 {
        match entry {
            Entry::Function if !self.wants_paths() => self.inputs.calls,
            Entry::Function | Entry::Program => 1,
        }
    }

    /// When a first round that begins now leaves the rest of the time to others.
    pub(crate) fn first_round(&self) -> Deadline {
        self.growing().map_or(Deadline::NEVER, |_| Growing::first_round(self.effort.timeout))
    }

    /// Whether state coverage is asked for.
    pub fn wants_state(&self) -> bool {
        self.criteria.contains(&Criterion::State)
    }

    /// The criteria whose objectives are goals.
    pub fn labellings(&self) -> Vec<&'static dyn GoalCriterion> {
        let goals = self.criteria.iter().filter_map(|criterion| match criterion {
            Criterion::Goals(labelling) => Some(*labelling),
            Criterion::Paths(_) | Criterion::State => None,
        });
        goals.collect()
    }
}

/// Where results of earlier runs are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheIn {
    /// The directory.
    pub directory: PathBuf,
    /// What tells this program from others, also of its own version: only what it wrote itself is believed.
    pub build: String,
}

/// How sources are compiled.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// Flags for the compiler.
    pub flags: Vec<String>,
    /// `compile_commands.json` or its directory; `None`: it is looked for around the sources.
    pub commands: Option<PathBuf>,
    /// The user's compiler.
    pub compiler: String,
    /// Java: jars and directories that the program needs and that are not tested.
    pub class_path: Vec<PathBuf>,
}

impl Default for Compilation {
    fn default() -> Self {
        Compilation { flags: Vec::new(), commands: None, compiler: "cc".to_string(), class_path: Vec::new() }
    }
}

/// Where tests are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestsGo {
    /// Where everything else is written.
    ToOut,
    /// Where the project has its tests (`src/test/java`), if its directory was given; else where everything else is.
    ToProject,
}

/// What is under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Every function that the files define; the whole program if that is plainly meant (only `main`, or a harness).
    EveryFunction,
    /// These functions.
    Functions(Vec<String>),
    /// The whole program, from this function.
    Program(String),
}

/// What is to come out of a campaign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Tests, and verdicts.
    Tests,
    /// Verdicts only.
    Verdicts,
}

/// Whose objectives count when a function is explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectivesOf {
    /// Its own.
    Own,
    /// Its own, and those of everything that it calls.
    Callees,
}

/// What inputs are like.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// A C expression over the parameters that holds for all of them.
    pub precondition: Option<String>,
    /// Elements behind a pointer or array, by its name.
    pub lengths: BTreeMap<String, u64>,
    /// Inclusive ranges of integers, by name.
    pub ranges: BTreeMap<String, (i128, i128)>,
    /// Objects that undecided input pointers may lead to, on one path.
    pub max_objects: Option<u32>,
    /// Where nobody said how long they are, objects behind pointer inputs grow to so many elements while something is open; by
    /// default to 16, and to 64 while that is quick.
    pub grow: Option<u64>,
    /// A test makes at most so many calls, where what no test can set has to become what a goal needs.
    pub calls: u32,
    /// Java: which objects tests use.
    pub heaps: Heaps,
    /// Pointers to characters lead to texts of at most so many characters.
    pub strings: Option<u32>,
    /// Arguments of a whole program: at most so many words of at most so many characters.
    pub arguments: Option<(u32, u32)>,
    /// What else of a program's surroundings is an input.
    pub surroundings: EnvironmentInputs,
    /// Files that say what functions do that nobody defines.
    pub world: Vec<PathBuf>,
}

impl Default for Inputs {
    fn default() -> Self {
        Inputs {
            precondition: None,
            lengths: BTreeMap::new(),
            ranges: BTreeMap::new(),
            max_objects: None,
            grow: None,
            calls: 4,
            heaps: Heaps::Any,
            strings: None,
            arguments: None,
            surroundings: EnvironmentInputs { externals: true, callbacks: true, ..EnvironmentInputs::default() },
            world: Vec::new(),
        }
    }
}

/// Which objects tests use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Heaps {
    /// Those that calls make.
    Calls,
    /// Also others, where these leave something open.
    Any,
}

/// How, and how long, is searched. `touchstone_engine::Config` says more of each.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Treatment of offsets that depend on inputs.
    pub aliases: Aliases,
    /// How labels are searched for.
    pub labels: Labels,
    /// Which path is followed next; `None`: what suits the criteria.
    pub order: Option<Search>,
    /// Where calls are composed.
    pub summaries: Summaries,
    /// At most so many iterations of each loop entry.
    pub loop_bound: Option<u32>,
    /// At most so many outcomes on a path that depend on inputs.
    pub depth: Option<u32>,
    /// At most so many paths a function.
    pub max_paths: Option<u64>,
    /// Questions to the solver for tests that complete independence pairs.
    pub pair_questions: Option<u64>,
    /// Time of search a function. Naming and choosing its tests may take as long again; replay ten times as long and half
    /// a minute.
    pub timeout: Option<Duration>,
    /// Bytes that the process may have.
    pub memory: Option<u64>,
    /// Time for one question to the solver.
    pub solver_timeout: Option<Duration>,
    /// Frames of one path's call stack.
    pub call_depth: usize,
    /// Values of one thing that must be fixed on a path.
    pub max_values: usize,
    /// Instructions of one path.
    pub steps: u64,
    /// Seed for every free choice.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Effort {
            aliases: Aliases::Late,
            labels: Labels::Idl,
            order: None,
            summaries: Summaries::Auto,
            loop_bound: None,
            depth: None,
            max_paths: None,
            pair_questions: None,
            timeout: Some(Duration::from_secs(60)),
            memory: Some(1900 << 20),
            solver_timeout: Some(Duration::from_secs(6)),
            call_depth: 500,
            max_values: 4096,
            steps: 2_000_000,
            seed: 0,
        }
    }
}

/// What tests are written as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestForm {
    /// One C file a function, compiled against the unmodified source.
    C,
    /// One file a function, a JSON object a line.
    Json,
    /// For Unity, under `unity/`.
    Unity,
    /// For cmocka, under `cmocka/`.
    Cmocka,
    /// For GoogleTest, under `gtest/`.
    Gtest,
    /// A Test-Comp suite.
    TestComp,
    /// JUnit 5: one class for each class under test.
    JUnit5,
    /// JUnit 4: the same.
    JUnit4,
}

impl TestForm {
    /// Its name.
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

/// What becomes of suites that an earlier run left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regeneration {
    /// Those that nobody edited are written again.
    Plain,
    /// The same, but first they are asked which of their tests still hold.
    Update,
    /// An interrupted run goes on: functions that it finished, and that are as they were, are not explored again.
    Resume,
}

/// Whether and how tests are replayed on the compiled program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replaying {
    /// They are not.
    Off,
    /// In a sandbox.
    InSandbox,
    /// Without one: what the tested functions remove, write or send is real.
    Unprotected,
}
