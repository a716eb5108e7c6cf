//! Modified condition/decision coverage, masking form (Whalen et al.): every condition has each of its values in an
//! evaluation in which it is not masked, so that it decides the decision's outcome.

use crate::criteria::condition::conditions;
use crate::registry::{Draft, Known, Labelling, Scope};
use crate::{Goal, Walk};

pub(crate) struct Mcdc;

impl Labelling for Mcdc {
    fn name(&self) -> &'static str {
        "mcdc"
    }
    fn about(&self) -> &'static str {
        "every condition decides its decision's outcome, with both values"
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let goal = |decision, condition, value| Goal::Independent { func: scope.func, decision, condition, value };
        let mut drafts = conditions(scope, goal, " and decides");
        for draft in &mut drafts {
            if let Goal::Independent { decision, .. } = draft.goal
                && !scope.graphs[decision].can_reach(&Walk::default(), &draft.goal)
            {
                draft.known = Some(Known::Constant);
            }
        }
        drafts
    }
}
