//! Objectives and what is known of them.

use crate::{Caveat, CountedItem, Unsupported};
use std::fmt;
use touchstone_base::{Deadline, Span};

touchstone_base::reasons! {
    /// A bound that was hit. Its sentence is the option that lifts it.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
    pub enum Bound {
        /// `--loop-bound` or `paths:K`.
        "loop_bound" => LoopBound,
        /// `--depth`.
        "depth" => Depth,
        /// `--max-paths`.
        "max_paths" => MaxPaths,
        /// `--pair-queries`: questions to the solver in a search for independence pairs.
        "pair_questions" => PairQueries,
        /// `--budget`: the work of a search.
        "budget" => Budget,
        /// `--timeout`.
        "timeout" => Timeout,
        /// `--memory`.
        "memory" => Memory,
        /// `--max-objects`.
        "max_objects" => MaxObjects,
        /// `--len`: an object behind a pointer has one element unless said otherwise.
        "len" => Length,
        /// `--argv`: more or longer arguments of a program.
        "argv" => Arguments,
        /// `--strings`: longer texts.
        "strings" => Strings,
        /// `--inputs api`: states that no API sequence was shown to construct.
        "inputs" => Inputs,
        /// Ctrl-C.
        "interrupted" => Interrupted,
        /// Call depth.
        "call_depth" => CallDepth,
        /// Steps of one path.
        "steps" => Steps,
        /// Too many values of something that must be fixed: an index in eager mode, the size of a copy.
        "max_values" => Values,
    }
}

impl Bound {
    /// Returns the bound by which a deadline that has passed ended a search.
    pub fn of(deadline: Deadline) -> Bound {
        if deadline.is_over_by_wall_clock() { Bound::Timeout } else { Bound::Budget }
    }

    /// The option that lifts it.
    pub fn flag(self) -> &'static str {
        match self {
            Bound::LoopBound => "--loop-bound",
            Bound::Depth => "--depth",
            Bound::MaxPaths => "--max-paths",
            Bound::PairQueries => "--pair-queries",
            Bound::Budget => "--budget",
            Bound::Timeout => "--timeout",
            Bound::Memory => "--memory",
            Bound::MaxObjects => "--max-objects",
            Bound::Length => "--len",
            Bound::Arguments => "--argv",
            Bound::Strings => "--strings",
            Bound::Inputs => "--inputs any",
            Bound::Interrupted => "interrupted",
            Bound::CallDepth => "--call-depth",
            Bound::Steps => "--steps",
            Bound::Values => "--max-values",
        }
    }
}

touchstone_base::reasons! {
    /// The reason why the solver gave no answer.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error, serde::Serialize, serde::Deserialize)]
    pub enum Unanswered {
        /// The question took more conflicts than allowed.
        #[error("Conflicts")]
        "solver_conflicts" => Conflicts,
        /// Two parts of the solver disagree: a bug, caught before it became an answer.
        #[error("Internal")]
        "solver_internal" => Internal,
        /// The run was interrupted.
        #[error("Interrupted")]
        "solver_interrupted" => Interrupted,
        /// The question or the run was out of time.
        #[error("Timeout")]
        "solver_timeout" => Timeout,
    }
}

/// The reason why a path was not explored to its end, or is not conclusive.
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, thiserror::Error, serde::Serialize, serde::Deserialize,
)]
pub enum Incomplete {
    /// A bound was hit.
    #[error("bound: {}", .0.flag())]
    Bound(Bound),
    /// The world around the function may be another than tests make it.
    #[error("world: {0}")]
    Doubt(Caveat),
    /// A construct is not supported.
    #[error("unsupported: {0}")]
    Unsupported(Unsupported),
    /// The solver gave up.
    #[error("solver: {0}")]
    Solver(Unanswered),
}

impl Incomplete {
    /// The word by which programs know it: that of what it is about.
    pub fn word(&self) -> &'static str {
        match self {
            Incomplete::Bound(bound) => bound.word(),
            Incomplete::Doubt(doubt) => doubt.word(),
            Incomplete::Unsupported(what) => what.word(),
            Incomplete::Solver(why) => why.word(),
        }
    }
}

impl From<Unsupported> for Incomplete {
    fn from(what: Unsupported) -> Self {
        Incomplete::Unsupported(what)
    }
}

/// Paths that were given up for one reason at one place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub struct IncompletePaths {
    /// The reason.
    pub why: Incomplete,
    /// The source position.
    pub span: Span,
    /// The number of paths.
    pub count: u64,
}

/// The kind of a static proof.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Proof {
    /// Intervals and known bits, to a fixpoint.
    Intervals,
    /// Induction over loops with the solver.
    Induction,
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::Intervals => "intervals",
            Proof::Induction => "induction",
        })
    }
}

/// Something to be covered.
#[derive(Clone, PartialEq, Debug)]
pub struct Objective {
    /// Identity that survives edits elsewhere.
    pub id: String,
    /// Criterion it belongs to.
    pub criterion: String,
    /// The function.
    pub function: String,
    /// The source position.
    pub span: Span,
    /// The text for people.
    pub text: String,
    /// The verdict.
    pub status: Status,
}

/// The verdict of an objective.
#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    /// These tests cover it.
    Covered(Vec<String>),
    /// No test can cover it, and how that was shown.
    Infeasible(WhyInfeasible),
    /// Not known, and why.
    Unknown(WhyUnknown),
    /// No test of a measured suite covers it; whether one could was not asked.
    Uncovered,
    /// A change does not touch it: the inputs that reach it are those that reached it in the old version.
    Unaffected,
}

touchstone_base::reasons! {
    /// The proof that no test can cover an objective.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
    pub enum WhyInfeasible {
        /// Everything was explored, and nothing gets there.
        #[error("exhaustive")]
        "exhaustive" => Exhaustive,
        /// Constants rule it out.
        #[error("constant")]
        "constant" => Constant,
        /// Without following paths.
        #[error("static proof: {0}")]
        "static_proof" => Proved(Proof),
    }
}

/// The reason why an objective is unknown.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WhyUnknown {
    /// No search asked for it.
    #[error("not tried")]
    NotTried,
    /// It represents more than are tried.
    #[error("more than {0} {1}")]
    TooMany(usize, CountedItem),
    /// There is no further information.
    #[error("not followed to the end")]
    NotFollowed,
    /// A test should cover it, but no probe in the real program was seen to fire, for this reason.
    #[error("unconfirmed: {0}")]
    Unconfirmed(Unconfirmed),
    /// It was proved infeasible, but a run of the real program contradicts the model, as this says.
    #[error("contradicted: {0}")]
    Contradicted(String),
    /// Paths were given up for these reasons, the first of them here.
    #[error("{} at {place}", sentences(.why))]
    GivenUp {
        /// At least one.
        why: Vec<Incomplete>,
        /// As it is shown.
        place: String,
    },
}

/// The reason why no replay confirmed that a test covers an objective.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unconfirmed {
    /// The tests that should cover it did not run, or the real program disagreed with them.
    #[error("no test that should cover it passed")]
    NoTestPassed,
    /// Its tests passed, but none of them hit its probe.
    #[error("its tests passed, but none of them reaches it in the real program")]
    NotReached,
    /// There is no probe for it.
    #[error("no probe can observe it ({0})")]
    NoProbe(String),
    /// The tests could not be run with probes.
    #[error("its tests could not be run with probes ({0})")]
    NotRun(String),
}

fn sentences(why: &[Incomplete]) -> String {
    why.iter().map(Incomplete::to_string).collect::<Vec<_>>().join("; ")
}

impl WhyUnknown {
    /// The words of its own; others are those of the first [`Incomplete`].
    pub const WORDS: &'static [&'static str] = &[
        "not_tried",
        "too_many_combinations",
        "too_many_mutants",
        "too_deep",
        "not_followed",
        "unconfirmed",
        "contradicted",
    ];

    /// The word by which programs know it.
    pub fn word(&self) -> &'static str {
        match self {
            WhyUnknown::NotTried => "not_tried",
            WhyUnknown::TooMany(_, CountedItem::Combinations) => "too_many_combinations",
            WhyUnknown::TooMany(_, CountedItem::Mutants) => "too_many_mutants",
            WhyUnknown::TooMany(_, CountedItem::Levels) => "too_deep",
            WhyUnknown::NotFollowed => "not_followed",
            WhyUnknown::Unconfirmed(_) => "unconfirmed",
            WhyUnknown::Contradicted(_) => "contradicted",
            WhyUnknown::GivenUp { why, .. } => why.first().map_or("not_followed", Incomplete::word),
        }
    }
}
