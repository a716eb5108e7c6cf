//! Statement coverage: every statement is executed.

use crate::Goal;
use crate::registry::{Draft, Labelling, Scope};
use touchstone_ir::PointKind;

pub(crate) struct Stmt;

impl Labelling for Stmt {
    fn name(&self) -> &'static str {
        "stmt"
    }
    fn about(&self) -> &'static str {
        "every statement is executed"
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let points = scope.function().points.iter();
        let statements = points.filter(|(_, point)| matches!(point.kind, PointKind::Statement));
        statements
            .map(|(id, point)| Draft {
                goal: Goal::Label { func: scope.func, point: id, predicate: None },
                span: point.span,
                text: point.text.clone(),
                known: None,
            })
            .collect()
    }
}
