//! The shared data of all commands: objectives, criteria, test cases, verdicts, results.
//!
//! A criterion (`criteria/`, listed in `registry.rs`) turns a function into objectives; each has a [`Goal`], which is
//! all that an executor understands. Nothing here executes, solves or prints.

#![warn(missing_docs)]

mod assumption;
mod campaign;
mod criteria;
mod criterion;
mod goal;
mod goal_index;
mod mcdc;
mod mutator;
mod objective;
mod registry;
mod renumber;
mod replay;
mod suite;
mod test_coverage;
mod testcase;
mod unsupported;
mod verdict;

pub use assumption::{AssumeOption, Assumption, Authority, Caveat, Unspecified};
pub use campaign::{Campaign, FunctionResult, ObjectiveCounts, PathCounts, SCHEMA_VERSION, SolverUse};
pub use criterion::{Criterion, CriterionParseError, PathsOf, STATE};
pub use goal::{Goal, GoalId, ResultPredicate};
pub use goal_index::{DecisionGoals, GoalIndex};
pub use mcdc::decision_graph::{
    DecisionEdge, DecisionEvaluation, DecisionGraph, DecisionNode, DecisionStep, NodeId, Row,
};
pub use mcdc::decision_table::{
    DecisionTable, IndependencePair, MAX_PAIRS_LISTED, MAX_ROWS_LISTED, PairKind, TableCondition, TableHead, TableRow,
    ValueStatus, decision_tables,
};
pub use mcdc::independence_pairs::{
    ConditionKey, EvaluatedRows, MAX_ROWS_TRIED, PairSearch, PairsStopped, unique_cause,
};
pub use mcdc::masks::Masks;
pub use mutator::{Mutator, MutatorParseError};
pub use objective::{Objectives, objectives};
pub use registry::{
    CountedItem, CoverageKind, CoverageSource, CriteriaOptions, CriterionScope, GoalCriterion, ObjectiveSpec,
    PresetVerdict, REGISTRY, RecordedEvent, coverage_kind, criterion_named,
};
pub use renumber::Renumber;
pub use replay::{Disagreement, NotCheckable, Replay, Untestable};
pub use suite::{UncoveredEvidence, conclude, count, reduce};
pub use test_coverage::{CoveredObjective, ErrorTests, HeapTests, objectives_by_test};
pub use testcase::{
    EarlierCall, EnvironmentInput, Expected, ExpectedCall, FileInput, HeapOrigin, InputContent, NamedValue,
    ObjectCreation, ObjectInput, ObjectOrigin, Observation, ObservationPoint, ObservedValue, ObserverArgument, Outcome,
    StubEffect, TestCase, TestKind,
};
pub use unsupported::Unsupported;
pub use verdict::{
    Bound, Incomplete, IncompletePaths, Objective, Proof, Status, Unanswered, Unconfirmed, WhyInfeasible, WhyUnknown,
};
