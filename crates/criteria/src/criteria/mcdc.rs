//! Modified condition/decision coverage, masking form (DESIGN §6; seed 001): every condition has each of its values in an
//! evaluation in which it is not masked, so that it decides the decision's outcome.

use crate::Goal;
use crate::criteria::condition::conditions;
use crate::registry::{Draft, Labelling, Scope};

/// With more rows than this, whether constants rule out a value is left to the search.
const MOST_ROWS: usize = 1024;

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
            if let Goal::Independent { decision, condition, value, .. } = draft.goal {
                let rows = scope.graphs[decision].rows(MOST_ROWS);
                draft.constant |=
                    rows.is_some_and(|rows| !rows.iter().any(|row| row.independent.contains(&(condition, value))));
            }
        }
        drafts
    }
}
