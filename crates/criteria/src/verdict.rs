//! Objectives and what is known of them.

use crate::Doubt;
use std::fmt;
use touchstone_base::Span;

/// A bound that was hit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bound {
    /// `--loop-bound` or `paths:K`.
    LoopBound,
    /// `--depth`.
    Depth,
    /// `--max-paths`.
    MaxPaths,
    /// `--pair-questions`: questions to the solver in a search for independence pairs.
    Questions,
    /// `--timeout`.
    Timeout,
    /// `--memory`.
    Memory,
    /// `--max-objects`.
    MaxObjects,
    /// `--len`: an object behind a pointer has one element unless said otherwise.
    Length,
    /// `--argv`: more or longer arguments of a program.
    Arguments,
    /// `--strings`: longer texts.
    Strings,
    /// Ctrl-C.
    Interrupted,
    /// Call depth.
    CallDepth,
    /// Steps of one path.
    Steps,
    /// Too many values of something that must be fixed: an index in eager mode, the size of a copy.
    Values,
}

impl Bound {
    /// The option that lifts it.
    pub fn flag(self) -> &'static str {
        match self {
            Bound::LoopBound => "--loop-bound",
            Bound::Depth => "--depth",
            Bound::MaxPaths => "--max-paths",
            Bound::Questions => "--pair-questions",
            Bound::Timeout => "--timeout",
            Bound::Memory => "--memory",
            Bound::MaxObjects => "--max-objects",
            Bound::Length => "--len",
            Bound::Arguments => "--argv",
            Bound::Strings => "--strings",
            Bound::Interrupted => "interrupted",
            Bound::CallDepth => "--call-depth",
            Bound::Steps => "--steps",
            Bound::Values => "--max-values",
        }
    }
}

/// Why a path was not followed to its end, or does not say everything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Incomplete {
    /// A bound was hit.
    Bound(Bound),
    /// The world around the function may be another than tests make it.
    Doubt(Doubt),
    /// A construct is not supported.
    Unsupported(String),
    /// The solver gave up.
    Solver(String),
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Bound(bound) => write!(f, "bound: {}", bound.flag()),
            Incomplete::Doubt(doubt) => write!(f, "world: {doubt}"),
            Incomplete::Unsupported(what) => write!(f, "unsupported: {what}"),
            Incomplete::Solver(why) => write!(f, "solver: {why}"),
        }
    }
}

/// Paths that were given up for one reason at one place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct IncompletePaths {
    /// Why.
    pub why: Incomplete,
    /// Where.
    pub span: Span,
    /// How many.
    pub count: u64,
}

/// How a static proof rules a goal out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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
    /// Function it stands in.
    pub function: String,
    /// Where it stands.
    pub span: Span,
    /// What it asks, for people.
    pub text: String,
    /// What is known.
    pub status: Status,
}

/// What is known of an objective.
#[derive(Clone, PartialEq, Debug)]
pub enum Status {
    /// These tests cover it.
    Covered(Vec<String>),
    /// No test can cover it, and how that was shown.
    Infeasible(String),
    /// Not known, and why.
    Unknown(String),
    /// No test of a measured suite covers it; whether one could was not asked.
    Uncovered,
}
