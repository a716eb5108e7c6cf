//! The target of a search, and its result.

use crate::goals::coverage::Aim;
use crate::growth::Shortage;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use touchstone_criteria::{FunctionResult, GoalId, GoalIndex, IncompletePaths, Proof, UncoveredEvidence};

/// Goals to cover.
#[derive(Clone, Debug)]
pub struct Goals {
    /// All goals.
    pub watch: Arc<GoalIndex>,
    /// Goals that already have a verdict.
    pub closed: Vec<GoalId>,
}

/// The target of a search.
#[derive(Clone, Debug)]
pub enum SearchTarget {
    /// A test for every path.
    Paths,
    /// A test for every goal; the search ends when all have one.
    Goals(Goals),
    /// A test for every path; goals are detected on the way.
    PathsAndGoals(Goals),
}

impl SearchTarget {
    pub(super) fn aim(&self) -> Aim {
        match self {
            SearchTarget::Paths | SearchTarget::PathsAndGoals(_) => Aim::Paths,
            SearchTarget::Goals(_) => Aim::Goals,
        }
    }

    pub(super) fn goals(&self) -> Option<&Goals> {
        match self {
            SearchTarget::Paths => None,
            SearchTarget::Goals(goals) | SearchTarget::PathsAndGoals(goals) => Some(goals),
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct ExplorationResult {
    /// Figures, and what is incomplete.
    pub result: FunctionResult,
    /// Goals that no test covers.
    pub open: Vec<GoalId>,
    /// Open goals that no run of any program reaches.
    pub excluded: BTreeSet<GoalId>,
    /// Open goals that an unrestricted environment may reach, with the reasons.
    pub doubted: BTreeMap<GoalId, Vec<IncompletePaths>>,
    /// Input objects that were too short.
    pub shortage: Shortage,
    /// The number of solver queries for labels.
    pub labels_asked: u64,
    /// The number of these queries that are satisfiable: Bardin et al. count each as a path of its own.
    pub labels_found: u64,
    /// The work time of the search.
    pub work: Duration,
}

impl ExplorationResult {
    /// Creates the result of a search without goals.
    pub fn without_goals(result: FunctionResult) -> ExplorationResult {
        ExplorationResult {
            result,
            open: Vec::new(),
            excluded: BTreeSet::new(),
            doubted: BTreeMap::new(),
            shortage: Shortage::default(),
            labels_asked: 0,
            labels_found: 0,
            work: Duration::ZERO,
        }
    }

    /// Removes goals that tests cover by now.
    pub fn settle(&mut self, covered: &BTreeSet<GoalId>) {
        self.open.retain(|goal| !covered.contains(goal));
        if self.doubted.keys().any(|goal| covered.contains(goal)) {
            self.doubted.retain(|goal, _| !covered.contains(goal));
            // If there are caveats, nothing else was incomplete.
            self.result.incomplete.clear();
            self.result.doubt(self.doubted.values().flatten());
        }
    }

    /// Returns everything that is known of uncovered goals, with the results of static proofs.
    pub fn ruling<'a>(&'a self, proved: &'a BTreeMap<GoalId, Proof>) -> UncoveredEvidence<'a> {
        UncoveredEvidence {
            excluded: &self.excluded,
            proved,
            doubted: &self.doubted,
            incomplete: &self.result.incomplete,
        }
    }
}
