//! The record of a concrete run, and its parameters.

use crate::confirm::description::ShortenedOutcomes;
use touchstone_criteria::{EarlierCall, EnvironmentInput, Expected, GoalId, GoalIndex, NamedValue, ObjectInput, Row};
use touchstone_interp::{End, Limits};
use touchstone_ir::{DataValue, DecisionId, FuncId};

/// The control flow that a run records.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EdgeRecording {
    /// Nothing.
    #[default]
    Off,
    /// Control-flow edges and compared integers, in all functions.
    Edges,
    /// Outcomes of source conditions only.
    Conditions,
}

/// One complete evaluation of a decision of a function.
pub type EvaluatedRow = (FuncId, DecisionId, Row);

/// The observations of a concrete run.
#[derive(Clone, PartialEq, Debug)]
pub struct ConcreteRun {
    /// The end of the run.
    pub end: End,
    /// The identity of its path.
    pub path: u64,
    /// The result, final memory and output.
    pub expected: Expected,
    /// The results of the calls before the last one, as far as they returned.
    pub earlier: Vec<Option<DataValue>>,
    /// The contents of constructed objects before the last call, in order.
    pub constructed: Vec<Vec<DataValue>>,
    /// For every constructed object, whether it can be released after the last call.
    pub releasable: Vec<bool>,
    /// For every object of the call, whether the run freed it.
    pub freed: Vec<bool>,
    /// The inputs that the program requested, with the answers.
    pub requested: Vec<EnvironmentInput>,
    /// The goals that it reached.
    pub hits: Vec<GoalId>,
    /// The distinct evaluations of watched decisions.
    pub rows: Vec<EvaluatedRow>,
    /// The control-flow edges that it took, each with its logarithmic count; only if they are recorded.
    pub edges: Vec<u64>,
    /// The outcomes of source conditions; only if they are recorded.
    pub conditions: ShortenedOutcomes,
    /// Pairs of different integers that it compared; only if edges are recorded.
    pub compared: Vec<(u64, u64)>,
    /// True if the oracle accepts the result, or if there is no oracle or no result.
    pub accepted: bool,
    /// True if it executed an operation that traps on common machines: the least integer divided by -1.
    pub traps: bool,
    /// True if it executed an operation with results that are only reproducible in a run of the whole program.
    pub of_one_run: bool,
    /// True if it converted a pointer to an integer. Nothing here depends on which integer: a path that does ends as
    /// unsupported, and a value that does is undefined.
    pub shows_addresses: bool,
    /// True if an integer of the inputs happened to be an address.
    pub guessed: bool,
    /// The variadic argument that was missing and ended the run.
    pub missed: Option<MissedArgument>,
}

/// A missing variadic argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissedArgument {
    /// The object of the test that holds the others.
    pub object: usize,
    /// Its index among them.
    pub index: usize,
    /// The union member that it would be.
    pub member: usize,
}

/// The parameters of the observation of a concrete run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunObservation<'a> {
    /// The goals to observe.
    pub watch: Option<&'a GoalIndex>,
    /// For every goal, whether it must be observed; `None`: all of them. The hits may lack other goals.
    pub wanted: Option<&'a [bool]>,
    /// The oracle, a function that judges the result.
    pub oracle: Option<FuncId>,
    /// The limits of the run.
    pub limits: Limits,
    /// The recording of control flow.
    pub recording: EdgeRecording,
    /// True if only hits are needed: expected values are not computed.
    pub hits_only: bool,
}

/// The inputs of one call, as in [`touchstone_criteria::TestKind::Function`].
#[derive(Clone, Copy, Debug)]
pub struct CallInputs<'a> {
    /// The calls before it.
    pub earlier: &'a [EarlierCall],
    /// The values of the parameters.
    pub params: &'a [NamedValue],
    /// The globals to set.
    pub globals: &'a [NamedValue],
    /// The objects to create.
    pub objects: &'a [ObjectInput],
    /// The answers to requests.
    pub answers: &'a [EnvironmentInput],
}
