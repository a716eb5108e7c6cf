//! Condition coverage: every atomic condition is true and false.

use crate::Goal;
use crate::registry::{CoverageKind, CoverageSource, CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict};

pub(crate) struct Condition;

impl GoalCriterion for Condition {
    fn name(&self) -> &'static str {
        "condition"
    }
    fn about(&self) -> &'static str {
        "every atomic condition is true and false"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::Branches
    }
    fn branch_rank(&self) -> Option<u8> {
        Some(2)
    }
    fn strength(&self) -> Option<u8> {
        Some(3)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        conditions(
            scope,
            |decision, condition, value| Goal::Condition { func: scope.func, decision, condition, value },
            "",
        )
    }
}

/// Two objectives for every condition of every decision; those that constants cut off are known to be impossible.
pub(crate) fn conditions(
    scope: &CriterionScope<'_>,
    goal: impl Fn(touchstone_ir::DecisionId, touchstone_ir::CondId, bool) -> Goal,
    what: &str,
) -> Vec<ObjectiveSpec> {
    let mut drafts = Vec::new();
    for (id, decision) in scope.function().decisions.iter() {
        let evaluated = scope.graphs[id].evaluated();
        for (condition, info) in decision.conditions.iter() {
            for value in [true, false] {
                let known = PresetVerdict::constant(!evaluated.contains(&condition));
                let text = format!("{} is {value}{what}", info.text);
                drafts.push(ObjectiveSpec { goal: goal(id, condition, value), span: info.span, text, known });
            }
        }
    }
    drafts
}
