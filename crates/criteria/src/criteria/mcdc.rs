//! Modified condition/decision coverage, masking form (DESIGN §6; seed 001): every condition has each of its values in an
//! evaluation in which it is not masked, so that it decides the decision's outcome.

use crate::criteria::condition::conditions;
use crate::registry::{Draft, Labelling, Scope};
use crate::Goal;

pub(crate) struct Mcdc;

impl Labelling for Mcdc {
    fn name(&self) -> &'static str {
        "mcdc"
    }
    fn about(&self) -> &'static str {
        "every condition decides its decision's outcome, with both values"
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let goal =
            |decision, condition, value| Goal::Independent { func: scope.func, decision, condition, value };
        conditions(scope, goal, " and decides")
    }
}
