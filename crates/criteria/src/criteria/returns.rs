//! Return values: every function that returns a value returns zero and non-zero. For booleans these are false and true,
//! for pointers and references null and non-null. NaN is non-zero.
//!
//! Functions without a result and functions that return an aggregate have no objectives.

use crate::registry::{CriterionScope, GoalCriterion, ObjectiveSpec, RecordedEvent};
use crate::{Goal, ResultPredicate};
use touchstone_ir::{DataType, Ty};

pub(crate) struct Returns;

impl GoalCriterion for Returns {
    fn name(&self) -> &'static str {
        "returns"
    }
    fn about(&self) -> &'static str {
        "every function that returns a value returns zero and non-zero"
    }
    fn recorded_events(&self) -> &'static [RecordedEvent] {
        &[RecordedEvent::Results]
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let function = scope.function();
        let Some(ty) = function.result else { return Vec::new() };
        let [zero, non_zero] = match &scope.module.types[function.result_data] {
            _ if ty == Ty::Ptr => ["null", "non-null"],
            DataType::Bool { .. } => ["false", "true"],
            _ => ["zero", "non-zero"],
        };
        let objective = |predicate: ResultPredicate, value: &str| ObjectiveSpec {
            goal: Goal::Return { func: scope.func, predicate },
            span: function.span,
            text: format!("returns {value}"),
            known: None,
        };
        vec![objective(ResultPredicate::Zero, zero), objective(ResultPredicate::NonZero, non_zero)]
    }
}
