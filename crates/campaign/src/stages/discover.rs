//! Everything that is found of a function before its tests have names and files: the search, the tests that stay, what they look
//! at, proofs. It depends on the program and the options alone, so it is also what a cache keeps.

use super::conclude::{Asked, Proofs};
use super::explore::{Explored, explore};
use super::observers::look_around;
use super::progress::FunctionWatcher;
use super::reduce::{Reduced, reduce};
use super::sink::TestSink;
use super::test_coverage::Watched;
use crate::plan::Work;
use crate::program::CampaignError;
use std::collections::BTreeSet;
use touchstone_criteria::{CoveredObjective, GoalId, TestCase};
use touchstone_engine::{ExplorationResult, PairSearchResult};

/// What was found of a function.
pub(crate) struct Discovery {
    pub found: ExplorationResult,
    pub proofs: Proofs,
    /// What is known of independence pairs, if they were searched for.
    pub pairs: Option<PairSearchResult>,
    /// The tests that stay.
    pub tests: Vec<TestCase>,
    /// What they evaluate.
    pub watched: Watched,
    /// An earlier run found it.
    pub cached: bool,
}

impl Discovery {
    /// Whether some goal stayed open.
    fn has_open_goals(&self, work: &Work<'_>) -> bool {
        let covered: BTreeSet<GoalId> = self.tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let is_known = |id: GoalId| {
            let settled = covered.contains(&id) || work.wanted.settled.contains(&id);
            settled || self.found.excluded.contains(&id) || self.proofs.excludes(id)
        };
        !work.wanted.goals.ids().all(is_known)
    }

    /// Whether more time might have found more.
    pub fn is_open(&self, work: &Work<'_>) -> bool {
        let stopped = self.pairs.as_ref().is_some_and(|pairs| pairs.incomplete.is_some());
        stopped || !self.found.result.incomplete.is_empty() || self.has_open_goals(work)
    }

    /// How far it depends on the program. Where a goal is open, functions that were called before, or that made objects, might have
    /// helped; a test that calls some depends on them. What is covered or excluded is so whoever helped.
    pub fn relies(&self, work: &Work<'_>) -> Relies {
        match self.has_open_goals(work) || self.tests.iter().any(|test| !test.earlier().is_empty()) {
            true => Relies::OnOthers,
            false => Relies::OnItself,
        }
    }
}

/// How far a result depends on the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relies {
    /// On what the function runs.
    OnItself,
    /// Also on functions that were run before it, or made its objects.
    OnOthers,
}

/// Finds all that there is to find. Tests go to the sink as they come.
pub(crate) fn discover<'s>(
    work: &Work<'_>,
    sink: Box<dyn TestSink + 's>,
    watcher: &mut dyn FunctionWatcher,
) -> Result<(Discovery, Box<dyn TestSink + 's>), CampaignError> {
    let Explored { mut found, mut proofs, pairs, tests, mut sink } = explore(work, sink, watcher)?;
    let made = tests.len();
    let Reduced { mut tests, watched, not_called } = reduce(work, tests);
    if let Some(java) = &work.plan.program.java {
        let needed = tests.len();
        look_around(work, java, &mut tests, made);
        give(work, &tests[needed..], sink.as_mut())?;
    }
    found.result.incomplete.extend(not_called);
    let (module, func) = (work.module(), work.task.func);
    let asked = Asked { module, func, watch: &work.watch, config: &work.config, wanted: &work.wanted };
    proofs.ask_about_open(&asked, &tests, &found);
    Ok((Discovery { found, proofs, pairs, tests, watched, cached: false }, sink))
}

/// Gives the sink the tests that an earlier run found.
pub(crate) fn give(work: &Work<'_>, tests: &[TestCase], sink: &mut dyn TestSink) -> Result<(), CampaignError> {
    for test in tests {
        let covered = |id| Some(CoveredObjective { objective: work.wanted.list.get(id)?, alone: false });
        let covers: Vec<CoveredObjective<'_>> = test.covers.iter().filter_map(|id| covered(*id)).collect();
        sink.add(test, &covers)?;
    }
    Ok(())
}
