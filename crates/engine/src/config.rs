//! The configuration of an exploration. Everything is passed in; there is no global state.

use crate::growth::Growth;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use touchstone_base::{Cores, Deadline, MemoryLimit};
use touchstone_criteria::{AssumeOption, PathsOf};
use touchstone_ir::GlobalId;
use touchstone_solver::QueryLog;

/// The treatment of memory accesses at symbolic offsets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aliases {
    /// The access is delayed (Kosmatov, our default): the value is a term that the solver relates to the memory
    /// contents on demand.
    #[default]
    Late,
    /// The offset is fixed at the access and all its values are enumerated: the baseline that Kosmatov improves on.
    Eager,
}

/// The search strategy for labels (Bardin et al.).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Labels {
    /// Every label forks the path: the paper's baseline.
    Direct,
    /// Inputs are solved for at every label; the path continues with neither the label nor its negation.
    Tight,
    /// Like tight, but covered labels are not solved for again.
    #[default]
    Idl,
}

/// The calls that are composed: all cases of a function become one term, instead of a path for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Summaries {
    /// Calls of small functions.
    #[default]
    Auto,
    /// All calls that can be composed.
    On,
    /// No calls.
    Off,
}

/// The order in which states are explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Search {
    /// The newest state first.
    #[default]
    Dfs,
    /// The oldest state first.
    Bfs,
    /// Random order, determined by the seed.
    Random,
    /// The state closest to an open goal first.
    Nearest,
}

/// The code under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Entry {
    /// A function; everything that it reads is an input.
    #[default]
    Function,
    /// A whole program from its entry function; its inputs are the answers to its requests.
    Program,
}

/// The role of the explored function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Calls {
    /// The function under test itself.
    #[default]
    Itself,
    /// A driver that makes a call sequence ([`crate::Sequence`]).
    Several {
        /// The initial contents of private globals.
        private_globals: PrivateGlobals,
        /// The number of functions that each call but the last is chosen from.
        ways: usize,
        /// The states that continue from one call to the next.
        kept_states: SequenceStates,
    },
    /// A driver whose first calls construct objects for the others.
    Constructing {
        /// The initial contents of private globals.
        private_globals: PrivateGlobals,
    },
}

impl Calls {
    /// Returns true if the inputs of one function are all that a run depends on.
    pub(crate) fn is_one_function(self) -> bool {
        matches!(self, Calls::Itself | Calls::Constructing { .. })
    }

    /// Returns true if private globals have their initial values, not those of inputs.
    pub(crate) fn start_with_initial_globals(self) -> bool {
        match self {
            Calls::Itself => false,
            Calls::Several { private_globals, .. } | Calls::Constructing { private_globals } => {
                private_globals == PrivateGlobals::Initial
            }
        }
    }
}

/// The states that continue from one call of a sequence to the next. States that differ in constants always do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequenceStates {
    /// A few of the states that differ only in input-dependent contents: most paths through a call leave the same state
    /// of a state machine.
    Few,
    /// All states.
    All,
}

/// The contents of private globals before the first call of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrivateGlobals {
    /// The initial values of the program: only calls change them.
    Initial,
    /// Any value that a test can set.
    Inputs,
}

/// The configuration of an exploration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The code under test.
    pub entry: Entry,
    /// Globals that no test of the function can name: they are private to other files.
    pub unnamed: BTreeSet<GlobalId>,
    /// The role of the explored function.
    pub calls: Calls,
    /// The treatment of memory accesses at symbolic offsets.
    pub aliases: Aliases,
    /// The search strategy for labels.
    pub labels: Labels,
    /// The order in which states are explored.
    pub search: Search,
    /// The paths that are objectives (`paths:K`, `block:K`).
    pub paths: PathsOf,
    /// The maximum number of iterations of one loop entry on a path.
    pub loop_bound: Option<u32>,
    /// The maximum number of paths.
    pub max_paths: Option<u64>,
    /// The maximum number of solver queries.
    pub questions: Option<u64>,
    /// The deadline of the exploration.
    pub deadline: Deadline,
    /// True if external functions are treated as returning an unconstrained value without side effects; verdicts about
    /// code after such calls rest on that.
    pub externals: bool,
    /// Behaviour of the environment that the user excludes.
    pub assume: BTreeSet<AssumeOption>,
    /// The memory limit of the process.
    pub memory: Option<MemoryLimit>,
    /// The timeout of one solver query.
    pub solver_timeout: Option<Duration>,
    /// The time for proofs by induction about one function; they begin after the exploration.
    pub proof_time: Duration,
    /// A flag that ends the exploration early when it becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The maximum number of objects created for symbolic pointers on one path.
    pub max_objects: u32,
    /// The maximum number of instructions on one path. Instructions over constants don't count until all paths together
    /// have executed [`FREE_STEPS_FACTOR`] times as many.
    ///
    /// [`FREE_STEPS_FACTOR`]: crate::exec::instructions::constant_run::FREE_STEPS_FACTOR
    pub steps: u64,
    /// The number of elements of the pointees of input pointers, by input name.
    pub lengths: BTreeMap<String, u64>,
    /// The lengths of other input objects, in a round after the first.
    pub growth: Option<Growth>,
    /// The use of interior pointers as inputs.
    pub interior_pointers: InteriorPointers,
    /// The deadline of a first round in which objects were too short: a round with longer ones may do better.
    pub first_round: Deadline,
    /// The maximum number of elements of an input array with a length field, unless `lengths` gives it.
    pub array_length: u64,
    /// The maximum size in bytes of an object that is allocated with a symbolic size.
    pub allocation: u64,
    /// The maximum length of a string behind a character pointer without a given length; `None`: a single character.
    pub strings: Option<u32>,
    /// Inclusive ranges of integer inputs, by input name; the name of an array applies to every element.
    pub ranges: BTreeMap<String, (i128, i128)>,
    /// Values of choice parameters that are excluded from the search.
    pub excluded_choices: Vec<ExcludedChoice>,
    /// The maximum number and length of a program's command-line arguments. `None`: it is called without arguments, and
    /// code that reads them is not explored.
    pub arguments: Option<(u32, u32)>,
    /// The name of the precondition, a function that says which inputs are allowed.
    pub precondition: Option<String>,
    /// The name of the oracle, a function that judges the result.
    pub oracle: Option<String>,
    /// The maximum number of waiting states that are kept as states; of the others only the path prefix is kept.
    pub waiting_states: usize,
    /// Receives the solver queries that reach the SAT solver.
    pub query_log: Option<Arc<dyn QueryLog>>,
    /// When and how a search is split into rounds.
    pub rounds: Rounds,
    /// The cores of the run that may help. They change no result.
    pub cores: Option<Arc<Cores>>,
    /// Options that the user's request passes on unchanged.
    pub options: SearchOptions,
}

/// The work before a search is split into rounds, and that of a part.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounds {
    /// The work before a round of a search for all paths.
    pub begin: Duration,
    /// The minimum work without a new test before a round of a search for goals. Rounds explore many states a little,
    /// and the nearest states may be worth more.
    pub unproductive: Duration,
    /// The same, as a part of the work that is left at the beginning.
    pub unproductive_share: f64,
    /// The work of one batch of a round.
    pub quota: Duration,
}

impl Rounds {
    /// Rounds as early and as small as possible, for tests of rounds.
    pub const SMALL: Rounds = Rounds {
        begin: Duration::ZERO,
        unproductive: Duration::ZERO,
        unproductive_share: 0.0,
        quota: Duration::from_millis(1),
    };
}

impl Default for Rounds {
    fn default() -> Self {
        Rounds {
            begin: Duration::from_millis(250),
            unproductive: Duration::from_secs(1),
            unproductive_share: 0.25,
            quota: Duration::from_millis(200),
        }
    }
}

/// Options of the search that a request passes on unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchOptions {
    /// The calls that are composed.
    pub summaries: Summaries,
    /// The maximum number of input-dependent outcomes on a path.
    pub depth: Option<u32>,
    /// The maximum number of frames.
    pub call_depth: usize,
    /// The maximum number of values of one term that are enumerated.
    pub max_values: usize,
    /// The seed of all random choices.
    pub seed: u64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions { summaries: Summaries::default(), depth: None, call_depth: 1000, max_values: 4096, seed: 0 }
    }
}

/// An excluded value of a parameter that chooses among alternatives. The exclusion is not recorded as an assumption:
/// the caller is responsible for verdicts that rest on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExcludedChoice {
    /// The parameter that chooses.
    pub choice: String,
    /// The excluded value.
    pub value: u64,
    /// The parameter that is unused with this value.
    pub unused: String,
}

/// The use of interior pointers as inputs: pointers to fields and elements of other objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InteriorPointers {
    /// Input pointers point only to objects of their own type.
    #[default]
    Excluded,
    /// Input pointers may also point into other objects that have parts of their type.
    Included,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            entry: Entry::Function,
            unnamed: BTreeSet::new(),
            calls: Calls::Itself,
            aliases: Aliases::Late,
            labels: Labels::default(),
            search: Search::default(),
            paths: PathsOf::Any,
            loop_bound: None,
            max_paths: None,
            questions: None,
            deadline: Deadline::NEVER,
            externals: false,
            assume: BTreeSet::new(),
            memory: None,
            solver_timeout: None,
            proof_time: Duration::from_secs(5),
            interrupt: None,
            max_objects: 4,
            steps: 10_000_000,
            lengths: BTreeMap::new(),
            growth: None,
            interior_pointers: InteriorPointers::Excluded,
            first_round: Deadline::NEVER,
            array_length: 4,
            allocation: 1024,
            strings: None,
            ranges: BTreeMap::new(),
            excluded_choices: Vec::new(),
            arguments: None,
            precondition: None,
            oracle: None,
            waiting_states: 4096,
            query_log: None,
            rounds: Rounds::default(),
            cores: None,
            options: SearchOptions::default(),
        }
    }
}
