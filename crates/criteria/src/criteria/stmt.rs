//! Statement coverage: every statement is executed.

use crate::Goal;
use crate::registry::{CoverageKind, CoverageSource, CriterionScope, GoalCriterion, ObjectiveSpec, RecordedEvent};
use touchstone_ir::PointKind;

pub(crate) struct Stmt;

impl GoalCriterion for Stmt {
    fn name(&self) -> &'static str {
        "stmt"
    }
    fn about(&self) -> &'static str {
        "every statement is executed"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Statements
    }
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::Lines
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Statements]
    }
    fn strength(&self) -> Option<u8> {
        Some(0)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let points = scope.function().points.iter();
        let statements = points.filter(|(_, point)| matches!(point.kind, PointKind::Statement));
        statements
            .map(|(id, point)| ObjectiveSpec {
                goal: Goal::Label { func: scope.func, point: id, predicate: None },
                span: point.span,
                text: point.text.clone(),
                known: None,
            })
            .collect()
    }
}
