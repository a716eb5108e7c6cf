//! Labels that the program itself asks for (`touchstone_label`, `pc_label`).

use crate::Goal;
use crate::registry::{CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict, RecordedEvent};
use touchstone_ir::PointKind;

pub(crate) struct Labels;

impl GoalCriterion for Labels {
    fn name(&self) -> &'static str {
        "labels"
    }
    fn about(&self) -> &'static str {
        "every label in the source is reached with its predicate true"
    }
    fn requires_call(&self) -> bool {
        false
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Labels]
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let mut drafts = Vec::new();
        for (id, point) in scope.function().points.iter() {
            if let PointKind::Label { name, predicate } = &point.kind {
                drafts.push(ObjectiveSpec {
                    goal: Goal::Label { func: scope.func, point: id, predicate: Some(predicate.clone()) },
                    span: point.span,
                    text: format!("{name}: {}", predicate.text),
                    known: PresetVerdict::constant(predicate.kind == touchstone_ir::ExprKind::Const(0)),
                });
            }
        }
        drafts
    }
}
