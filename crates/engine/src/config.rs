//! What an exploration is asked to do. Everything is passed in; there is no global state.

use crate::growth::Growth;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use touchstone_base::{Deadline, MemoryLimit};
use touchstone_criteria::{Assume, PathsOf};
use touchstone_ir::GlobalId;

/// How an access at an offset that depends on inputs is treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Aliases {
    /// Delay it (Kosmatov, our default): the value is a term that the solver relates to the memory contents when needed.
    #[default]
    Late,
    /// Fix the offset where it is met and enumerate all its values: the baseline that Kosmatov improves on.
    Eager,
}

/// How labels are searched for (Bardin et al.).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Labels {
    /// Fork on every label: the paper's baseline.
    Direct,
    /// Ask for inputs at every label; the path goes on with neither the label nor its negation.
    Tight,
    /// Tight, and a label that is covered is not asked for again.
    #[default]
    Idl,
}

/// Where all cases of a function that is called become one term, instead of a path for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Summaries {
    /// Where it pays: small functions.
    #[default]
    Auto,
    /// Wherever it can be done.
    On,
    /// Ended.
    Off,
}

/// Which state is followed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Search {
    /// The newest.
    #[default]
    Dfs,
    /// The oldest.
    Bfs,
    /// Any, by the seed.
    Random,
    /// The one closest to an open goal.
    Nearest,
}

/// What is under test.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Entry {
    /// A function with everything it reads as input.
    #[default]
    Function,
    /// A whole program from its entry function; inputs are what it asks for.
    Program,
}

/// What the function that is explored does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Calls {
    /// What it is written for.
    #[default]
    Itself,
    /// It was made to call others, one after the other ([`crate::Sequence`]).
    Several {
        /// What variables hold that only their own file names.
        privates: Privates,
        /// Each call but the last is chosen among so many.
        ways: usize,
        /// Which states go on from one call to the next.
        going_on: GoingOn,
    },
}

/// Of several calls, the states that go on from one to the next. What differs in numbers always does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoingOn {
    /// A few of those that differ only in what depends on inputs: most ways through a call leave the same state of a machine.
    Few,
    /// All of them.
    All,
}

/// What variables hold before the first of several calls that only their own file names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privates {
    /// What the program begins with: calls make the rest of it.
    Initial,
    /// Whatever a test can set.
    Inputs,
}

/// What an exploration is asked to do.
#[derive(Clone, Debug)]
pub struct Config {
    /// Function or program.
    pub entry: Entry,
    /// Variables that no test of the function can name: they are private to other files.
    pub unnamed: BTreeSet<GlobalId>,
    /// Whether the function makes calls for a test.
    pub calls: Calls,
    /// Treatment of symbolic offsets.
    pub aliases: Aliases,
    /// How labels are searched for.
    pub labels: Labels,
    /// Where calls are composed.
    pub summaries: Summaries,
    /// Which state is followed next.
    pub search: Search,
    /// Which paths are wanted (`paths:K`, `block:K`).
    pub paths: PathsOf,
    /// Give up a path after so many iterations of one loop entry.
    pub loop_bound: Option<u32>,
    /// At most so many input-dependent outcomes on a path.
    pub depth: Option<u32>,
    /// At most so many paths.
    pub max_paths: Option<u64>,
    /// At most so many questions to the solver.
    pub questions: Option<u64>,
    /// Stop at this time.
    pub deadline: Deadline,
    /// Functions that the program does not have do nothing but return: what is behind calls of them is decided by that.
    pub externals: bool,
    /// What is ruled out of the world around the function.
    pub assume: BTreeSet<Assume>,
    /// Stop when the process has this much memory.
    pub memory: Option<MemoryLimit>,
    /// Time for one question to the solver.
    pub solver_timeout: Option<Duration>,
    /// Time for proofs by induction about one function; they begin when exploration is over.
    pub proof_time: Duration,
    /// Stop soon when this becomes true.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// At most so many objects made for undecided input pointers on one path.
    pub max_objects: u32,
    /// At most so many frames.
    pub call_depth: usize,
    /// At most so many instructions on one path.
    pub steps: u64,
    /// At most so many values of one offset in eager mode.
    pub max_values: usize,
    /// Elements of the object behind a pointer input, by the input's name.
    pub lengths: BTreeMap<String, u64>,
    /// How long other objects behind pointer inputs are, in a round after the first.
    pub growth: Option<Growth>,
    /// Whether input pointers lead into parts of other things.
    pub parts: Parts,
    /// A first round stops here if objects were too short for it: a round with longer ones may do better.
    pub first_round: Deadline,
    /// At most so many elements of an input array whose length is a field, where `lengths` says nothing about it.
    pub array_length: u64,
    /// At most so many bytes of an object that is allocated with a size that depends on inputs and stays a term.
    pub allocation: u64,
    /// Behind a pointer to characters without a length is a text of at most so many, and its end; `None`: one character.
    pub strings: Option<u32>,
    /// Inclusive ranges of integer inputs, by the input's name; an array's name means every element.
    pub ranges: BTreeMap<String, (i128, i128)>,
    /// Ways that are not taken, though the function has them.
    pub not_taken: Vec<NotTaken>,
    /// The words that a program may be called with, beside its name: at most so many, of at most so many characters.
    /// `None`: it is called without, and what reads them is not known.
    pub arguments: Option<(u32, u32)>,
    /// The function that says which inputs are allowed, if there is one.
    pub precondition: Option<String>,
    /// The function that judges the result, if there is one.
    pub oracle: Option<String>,
    /// Of the states that wait so many stay states; of the others there is only the way to them.
    pub waiting_states: usize,
    /// Seed for every choice that is free.
    pub seed: u64,
}

/// A way that is not taken: a number that chooses among several is another one. What is left out by that is for whoever says so: a
/// function that takes it for granted would rest its verdicts on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotTaken {
    /// The parameter that chooses.
    pub choice: String,
    /// What it is not.
    pub value: u64,
    /// The parameter that nobody union_accesses at then.
    pub unused: String,
}

/// Whether input pointers lead into parts of other things: into fields and elements of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Parts {
    /// To things of their own type only.
    #[default]
    Apart,
    /// Also into others, as far as their types have such parts.
    Inside,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            entry: Entry::Function,
            unnamed: BTreeSet::new(),
            calls: Calls::Itself,
            aliases: Aliases::Late,
            labels: Labels::default(),
            summaries: Summaries::default(),
            search: Search::default(),
            paths: PathsOf::Any,
            loop_bound: None,
            depth: None,
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
            call_depth: 1000,
            steps: 10_000_000,
            max_values: 4096,
            lengths: BTreeMap::new(),
            growth: None,
            parts: Parts::Apart,
            first_round: Deadline::NEVER,
            array_length: 4,
            allocation: 1024,
            strings: None,
            ranges: BTreeMap::new(),
            not_taken: Vec::new(),
            arguments: None,
            precondition: None,
            oracle: None,
            waiting_states: 4096,
            seed: 0,
        }
    }
}
