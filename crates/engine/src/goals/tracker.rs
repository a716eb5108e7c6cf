//! What an execution is watched for, and what it reached.

use crate::goals::coverage::Coverage;
use crate::state::State;
use touchstone_criteria::GoalId;
use touchstone_ir::CondId;
use touchstone_solver::{Path, TermId};

/// A goal that a state has reached, with the path on which it holds (`None`: the state's own).
pub(crate) struct Hit {
    pub goal: GoalId,
    pub path: Option<Path>,
}

/// A question for a label that waits for the end of the search.
pub(crate) struct Postponed {
    pub state: State,
    pub goal: GoalId,
    pub cond: TermId,
}

/// More questions than this don't wait.
const MOST_POSTPONED: usize = 4096;

/// What is watched for.
#[derive(Default)]
pub(crate) struct Watching {
    /// What is to be covered.
    pub coverage: Option<Coverage>,
    /// Questions for labels that wait; the driver asks those of them that are still open when nothing else is left.
    pub postponed: Vec<Postponed>,
    /// Scratch: outcomes of one evaluation of a decision.
    pub outcomes: Vec<(CondId, bool)>,
}

impl Watching {
    pub fn new(coverage: Option<Coverage>) -> Watching {
        Watching { coverage, ..Watching::default() }
    }

    /// Whether a goal is watched for and has no test yet.
    pub fn wants(&self, goal: GoalId) -> bool {
        self.coverage.as_ref().is_some_and(|coverage| coverage.is_open(goal))
    }

    /// Whether one more question may wait.
    pub fn has_room(&self) -> bool {
        self.postponed.len() < MOST_POSTPONED
    }
}
