//! What a search is asked for, and what it found.

use crate::goals::coverage::Aim;
use crate::growth::Shortage;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_criteria::{FunctionResult, GoalId, IncompletePaths, Proof, Ruling, Watch};

/// Goals to find tests for.
#[derive(Clone, Debug)]
pub struct Goals {
    /// All goals.
    pub watch: Rc<Watch>,
    /// Goals that have their verdict already.
    pub closed: Vec<GoalId>,
}

/// What a search is to find.
#[derive(Clone, Debug)]
pub enum Wanted {
    /// A test for every path.
    Paths,
    /// A test for every goal; when all have one, the search ends.
    Goals(Goals),
    /// A test for every path, with goals watched on the way.
    PathsAndGoals(Goals),
}

impl Wanted {
    pub(super) fn aim(&self) -> Aim {
        match self {
            Wanted::Paths | Wanted::PathsAndGoals(_) => Aim::Paths,
            Wanted::Goals(_) => Aim::Goals,
        }
    }

    pub(super) fn goals(&self) -> Option<&Goals> {
        match self {
            Wanted::Paths => None,
            Wanted::Goals(goals) | Wanted::PathsAndGoals(goals) => Some(goals),
        }
    }
}

/// What an exploration found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Figures and what is incomplete.
    pub result: FunctionResult,
    /// Goals that no test covers.
    pub open: Vec<GoalId>,
    /// Those of them that no run of any program reaches.
    pub excluded: BTreeSet<GoalId>,
    /// Those that only a wider world than tests make may reach, and why.
    pub doubted: BTreeMap<GoalId, Vec<IncompletePaths>>,
    /// Input objects that were too short.
    pub shortage: Shortage,
    /// Questions asked for labels.
    pub labels_asked: u64,
    /// Of them, those that some input answers: Bardin et al. counts each as a path of its own.
    pub labels_found: u64,
}

impl Found {
    /// An exploration that looked for no goals.
    pub fn without_goals(result: FunctionResult) -> Found {
        Found {
            result,
            open: Vec::new(),
            excluded: BTreeSet::new(),
            doubted: BTreeMap::new(),
            shortage: Shortage::default(),
            labels_asked: 0,
            labels_found: 0,
        }
    }

    /// Tests cover these goals by now, whatever was not known of them.
    pub fn settle(&mut self, covered: &BTreeSet<GoalId>) {
        self.open.retain(|goal| !covered.contains(goal));
        if self.doubted.keys().any(|goal| covered.contains(goal)) {
            self.doubted.retain(|goal, _| !covered.contains(goal));
            // Nothing else was left out where there are doubts.
            self.result.incomplete.clear();
            self.result.doubt(self.doubted.values().flatten());
        }
    }

    /// What is known of goals that no test covers, with what static proofs add.
    pub fn ruling<'a>(&'a self, proved: &'a BTreeMap<GoalId, Proof>) -> Ruling<'a> {
        Ruling { excluded: &self.excluded, proved, doubted: &self.doubted, incomplete: &self.result.incomplete }
    }
}
