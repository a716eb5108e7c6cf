//! Decision/condition coverage: both criteria together.

use crate::criteria::condition::Condition;
use crate::criteria::decision::Decision;
use crate::registry::{CoverageKind, CriterionScope, GoalCriterion, ObjectiveSpec};

pub(crate) struct Dcc;

impl GoalCriterion for Dcc {
    fn name(&self) -> &'static str {
        "dcc"
    }
    fn about(&self) -> &'static str {
        "every decision and every condition is true and false"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn strength(&self) -> Option<u8> {
        Some(4)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let mut drafts = Decision.objectives(scope);
        drafts.extend(Condition.objectives(scope));
        drafts.sort_by_key(|draft| draft.span);
        drafts
    }
}
