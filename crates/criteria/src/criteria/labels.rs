//! Labels that the program itself asks for (`touchstone_label`, `pc_label`).

use crate::Goal;
use crate::registry::{Draft, Known, Labelling, Scope};
use touchstone_ir::PointKind;

pub(crate) struct Labels;

impl Labelling for Labels {
    fn name(&self) -> &'static str {
        "labels"
    }
    fn about(&self) -> &'static str {
        "every label in the source is reached with its predicate true"
    }
    fn wants_a_call(&self) -> bool {
        false
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for (id, point) in scope.function().points.iter() {
            if let PointKind::Label { name, predicate } = &point.kind {
                drafts.push(Draft {
                    goal: Goal::Label { func: scope.func, point: id, predicate: Some(predicate.clone()) },
                    span: point.span,
                    text: format!("{name}: {}", predicate.text),
                    known: Known::constant(predicate.kind == touchstone_ir::ExprKind::Const(0)),
                });
            }
        }
        drafts
    }
}
