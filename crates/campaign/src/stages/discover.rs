//! Everything that is found about a function before its tests get names and files: the search, the reduced tests, their
//! assertions, proofs. It depends only on the program and the options, so it is what the cache stores.

use super::conclude::{ProofContext, Proofs};
use super::explore::{Explored, explore};
use super::observers::add_observers;
use super::progress::FunctionProgress;
use super::reduce::{Reduced, reduce};
use super::sink::TestSink;
use super::test_coverage::TestRows;
use crate::plan::Work;
use crate::program::CampaignError;
use std::collections::BTreeSet;
use touchstone_criteria::{CoveredObjective, GoalId, HeapOrigin, TestCase, TestKind};
use touchstone_engine::{ExplorationResult, PairSearchResult};
use touchstone_ir::DataType;

/// The results for a function.
pub(crate) struct Discovery {
    pub found: ExplorationResult,
    pub proofs: Proofs,
    /// The results for independence pairs, if they were searched for.
    pub pairs: Option<PairSearchResult>,
    /// The reduced tests.
    pub tests: Vec<TestCase>,
    /// The rows that they evaluate.
    pub evaluated: TestRows,
    /// True if the results come from the cache.
    pub cached: bool,
}

impl Discovery {
    /// Returns true if a goal is open.
    fn has_open_goals(&self, work: &Work<'_>) -> bool {
        let covered: BTreeSet<GoalId> = self.tests.iter().flat_map(|test| test.covers.iter().copied()).collect();
        let is_known = |id: GoalId| {
            let settled = covered.contains(&id) || work.objectives.settled.contains(&id);
            settled || self.found.excluded.contains(&id) || self.proofs.excludes(id)
        };
        !work.objectives.goals.ids().all(is_known)
    }

    /// Returns true if more time might have found more.
    pub fn is_open(&self, work: &Work<'_>) -> bool {
        let stopped = self.pairs.as_ref().is_some_and(|pairs| pairs.incomplete.is_some());
        stopped || !self.found.result.incomplete.is_empty() || self.has_open_goals(work)
    }

    /// Returns how far the results depend on the program. An open goal might have become reachable by functions that
    /// are called before or construct objects, and a test that calls some or could call some depends on them. Covered and
    /// excluded goals don't.
    pub fn dependence(&self, work: &Work<'_>) -> ResultDependence {
        let types = &work.module().types;
        let has_structure = |test: &TestCase| match &test.kind {
            TestKind::Function { objects, .. } => {
                objects.iter().any(|object| matches!(types[object.element], DataType::Struct { .. }))
            }
            TestKind::Program => false,
        };
        let is_c = work.plan.program.java.is_none();
        let could_call = |test: &TestCase| {
            !test.earlier().is_empty() || (is_c && (test.heap != HeapOrigin::Made || has_structure(test)))
        };
        match self.has_open_goals(work) || self.tests.iter().any(could_call) {
            true => ResultDependence::OnEarlierCalls,
            false => ResultDependence::OnFunction,
        }
    }
}

/// The extent to which results depend on the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResultDependence {
    /// On the code that the function executes.
    OnFunction,
    /// Also on functions that are called before it, or construct its objects.
    OnEarlierCalls,
}

/// Runs all stages up to the proofs. Tests arrive at the sink as they are found.
pub(crate) fn discover<'s>(
    work: &Work<'_>,
    sink: Box<dyn TestSink + 's>,
    listener: &mut dyn FunctionProgress,
) -> Result<(Discovery, Box<dyn TestSink + 's>), CampaignError> {
    let Explored { mut found, mut proofs, pairs, tests, mut sink } = explore(work, sink, listener)?;
    let made = tests.len();
    let Reduced { mut tests, evaluated, not_called } = reduce(work, tests);
    if let Some(java) = &work.plan.program.java {
        let needed = tests.len();
        add_observers(work, java, &mut tests, made);
        pass_to_sink(work, &tests[needed..], sink.as_mut())?;
    }
    found.result.incomplete.extend(not_called);
    let (module, func) = (work.module(), work.task.func);
    let asked = ProofContext { module, func, watch: &work.watch, config: &work.config, objectives: &work.objectives };
    proofs.prove_open(&asked, &tests, &found);
    Ok((Discovery { found, proofs, pairs, tests, evaluated, cached: false }, sink))
}

/// Passes tests to the sink.
pub(crate) fn pass_to_sink(work: &Work<'_>, tests: &[TestCase], sink: &mut dyn TestSink) -> Result<(), CampaignError> {
    for test in tests {
        let covered = |id| Some(CoveredObjective { objective: work.objectives.list.get(id)?, alone: false });
        let covers: Vec<CoveredObjective<'_>> = test.covers.iter().filter_map(|id| covered(*id)).collect();
        sink.add(test, &covers)?;
    }
    Ok(())
}
