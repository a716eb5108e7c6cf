//! Decision coverage: every outermost boolean expression is true and false, also outside control flow.

use crate::registry::{CoverageKind, CoverageSource, CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict};
use crate::{DecisionStep, Goal};
use touchstone_ir::DecisionId;

pub(crate) struct Decision;

impl GoalCriterion for Decision {
    fn name(&self) -> &'static str {
        "decision"
    }
    fn about(&self) -> &'static str {
        "every outermost boolean expression is true and false"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::Branches
    }
    fn branch_rank(&self) -> Option<u8> {
        Some(1)
    }
    fn strength(&self) -> Option<u8> {
        Some(1)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        scope.function().decisions.ids().flat_map(|id| outcomes(scope, id)).collect()
    }
}

/// The two outcomes of a decision. One that constants rule out is known to be impossible.
pub(crate) fn outcomes(scope: &CriterionScope<'_>, id: DecisionId) -> Vec<ObjectiveSpec> {
    let decision = &scope.function().decisions[id];
    let graph = &scope.graphs[id];
    let possible = |value: bool| {
        let done = DecisionStep::Done(value);
        graph.start == done || graph.nodes.values().any(|node| node.edges.iter().any(|edge| edge.target == done))
    };
    // A decision without conditions is no decision: `while (1)`.
    if graph.nodes.is_empty() {
        return Vec::new();
    }
    let draft = |value: bool| ObjectiveSpec {
        goal: Goal::Outcome { func: scope.func, decision: id, value },
        span: decision.span,
        text: format!("{} is {value}", decision.text),
        known: PresetVerdict::constant(!possible(value)),
    };
    vec![draft(true), draft(false)]
}
