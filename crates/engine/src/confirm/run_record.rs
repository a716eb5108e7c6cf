//! RECORD

use crate::confirm::description::ConditionOutcome;
use crate::confirm::goal_observer::Ways;
use touchstone_criteria::{EarlierCall, Expected, GoalId, MadeInput, NamedValue, ObjectInput, Row, Watch};
use touchstone_interp::{End, Limits};
use touchstone_ir::{DataValue, DecisionId, FuncId};

/// One complete evaluation of a decision of a function.
pub type SeenRow = (FuncId, DecisionId, Row);

/// What a concrete run showed.
#[derive(Clone, PartialEq, Debug)]
pub struct ConcreteRun {
    /// How it ended.
    pub end: End,
    /// Identity of the path.
    pub path: u64,
    /// Result, final memory and output.
    pub expected: Expected,
    /// What the calls before the last one returned, as far as they did.
    pub earlier: Vec<Option<DataValue>>,
    /// By object of the call, whether the run ended its life.
    pub freed: Vec<bool>,
    /// Inputs that a program asked for, with what it got.
    pub requested: Vec<MadeInput>,
    /// Goals that it reached.
    pub hits: Vec<GoalId>,
    /// Evaluations of watched decisions.
    pub rows: Vec<SeenRow>,
    /// The ways on that it took at branches, each with how often, roughly; only if they were asked for.
    pub ways: Vec<u64>,
    /// How conditions of the source came out, in order; only if they were asked for.
    pub conditions: Vec<ConditionOutcome>,
    /// Different numbers that it compared; only if its ways were asked for.
    pub compared: Vec<(u64, u64)>,
    /// The oracle, if there is one and the run returned, accepts the result.
    pub accepted: bool,
    /// It did something that traps on common machines: the least number divided by -1.
    pub traps: bool,
    /// It did something whose results are only known of one run of a whole program.
    pub of_one_run: bool,
    /// It turned a pointer into a number. What depends on which number is not there: a path that does ends as
    /// unsupported, and a value that does is undefined.
    pub shows_addresses: bool,
    /// A number of the inputs was an address by chance.
    pub guessed: bool,
    /// The variable argument that ended it because nobody passed it.
    pub missed: Option<MissedArgument>,
}

/// A variable argument that a program wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissedArgument {
    /// The object of the test that the others are in.
    pub object: usize,
    /// Its number among them, from 0.
    pub index: usize,
    /// The member of the union that it would be.
    pub member: usize,
}

/// What to look at in a concrete run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look<'a> {
    /// Goals to watch.
    pub watch: Option<&'a Watch>,
    /// By goal, whether it is worth the time; all are if this is `None`. Others may be missing among the hits.
    pub wanted: Option<&'a [bool]>,
    /// The function that judges the result.
    pub oracle: Option<FuncId>,
    /// Limits.
    pub limits: Limits,
    /// Whether it says which ways it took.
    pub ways: Ways,
    /// Nobody asks what it leaves: nothing is expected of it.
    pub hits_only: bool,
}

/// The inputs of one call, as in [`touchstone_criteria::TestKind::Function`].
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Calls before it.
    pub earlier: &'a [EarlierCall],
    /// Values of the parameters.
    pub params: &'a [NamedValue],
    /// Globals to set.
    pub globals: &'a [NamedValue],
    /// Objects to make.
    pub objects: &'a [ObjectInput],
    /// Answers to what is asked for on the way.
    pub answers: &'a [MadeInput],
}
