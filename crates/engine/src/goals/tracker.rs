//! The goals that an execution observes, and those that it has reached.

use crate::goals::coverage::Coverage;
use crate::state::State;
use touchstone_criteria::GoalId;
use touchstone_ir::CondId;
use touchstone_solver::{Path, TermId};

/// A goal that a state has reached, with the path on which it holds (`None`: the state's own).
pub(crate) struct GoalHit {
    pub goal: GoalId,
    pub path: Option<Path>,
}

/// A solver query for a label that is deferred to the end of the search.
pub(crate) struct DeferredQuery {
    pub state: State,
    pub goal: GoalId,
    pub cond: TermId,
}

/// The maximum number of deferred queries; others are asked immediately.
const MAX_DEFERRED_QUERIES: usize = 4096;

/// The goals that an execution observes.
#[derive(Default)]
pub(crate) struct GoalTracker {
    /// The goals to cover, if there are any.
    pub coverage: Option<Coverage>,
    /// Deferred queries; the driver asks those for goals that are still open when nothing else is left.
    pub deferred: Vec<DeferredQuery>,
    /// Scratch space for the outcomes of one evaluation of a decision.
    pub outcomes: Vec<(CondId, bool)>,
}

impl GoalTracker {
    pub fn new(coverage: Option<Coverage>) -> GoalTracker {
        GoalTracker { coverage, ..GoalTracker::default() }
    }

    /// Returns true if a goal is observed and has no test yet.
    pub fn wants(&self, goal: GoalId) -> bool {
        self.coverage.as_ref().is_some_and(|coverage| coverage.is_open(goal))
    }

    /// Returns true if another query may be deferred.
    pub fn has_room(&self) -> bool {
        self.deferred.len() < MAX_DEFERRED_QUERIES
    }
}
