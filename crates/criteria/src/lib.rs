//! What is to be tested and what was found: objectives, criteria, test cases, verdicts, campaigns.
//!
//! These are the data that the verbs share. A criterion (`criteria/`, listed in `registry.rs`) turns a function into
//! objectives; each has a [`Goal`], which is all that an executor understands. Nothing here executes, solves or prints.

#![warn(missing_docs)]

mod campaign;
mod covered;
mod criteria;
mod criterion;
mod decision_graph;
mod doubt;
mod goal;
mod masks;
mod mutator;
mod objective;
mod pairs;
mod prospect;
mod registry;
mod renumber;
mod replay;
mod suite;
mod tables;
mod testcase;
mod unsupported;
mod verdict;
mod watch;

pub use campaign::{Campaign, FunctionResult, ObjectiveCounts, PathCounts, SCHEMA_VERSION, SolverUse};
pub use covered::{Covered, ErrorTests, HeapTests, covered_by_test};
pub use criterion::{Criterion, CriterionParseError, PathsOf, STATE};
pub use decision_graph::{DecisionGraph, Edge, Next, Node, NodeId, Row, Walk};
pub use doubt::{Assume, Assumption, Authority, Doubt, Unsettled};
pub use goal::{Goal, GoalId};
pub use masks::Masks;
pub use mutator::{Mutator, MutatorParseError};
pub use objective::{Objectives, objectives};
pub use pairs::{ConditionOf, MOST_ROWS_TRIED, PairSearch, PairsStopped, SeenRows, unique_cause};
pub use registry::{CriteriaOptions, Draft, Known, Labelling, Many, REGISTRY, Scope, criterion_named};
pub use renumber::Renumber;
pub use replay::{Disagreement, NotCheckable, Replay, Unmakeable};
pub use suite::{Ruling, conclude, count, reduce};
pub use tables::{
    DecisionTable, MOST_PAIRS, MOST_POSSIBLE, Pair, PairKind, Side, TableCondition, TableHead, TableRow,
    decision_tables,
};
pub use testcase::{
    Again, Call, EarlierCall, Expected, Given, GivenFile, Heap, Left, MadeInput, NamedValue, Noticed, Noticing,
    ObjectInput, Outcome, Seen, TestCase, TestKind,
};
pub use unsupported::Unsupported;
pub use verdict::{
    Bound, Incomplete, IncompletePaths, Objective, Proof, Status, Unanswered, WhyInfeasible, WhyUnknown,
};
pub use watch::{DecisionWatch, Watch};
