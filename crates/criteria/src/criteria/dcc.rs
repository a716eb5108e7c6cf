//! Decision/condition coverage: both criteria together.

use crate::criteria::condition::Condition;
use crate::criteria::decision::Decision;
use crate::registry::{Draft, Labelling, Scope};

pub(crate) struct Dcc;

impl Labelling for Dcc {
    fn name(&self) -> &'static str {
        "dcc"
    }
    fn about(&self) -> &'static str {
        "every decision and every condition is true and false"
    }
    fn objectives(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let mut drafts = Decision.objectives(scope);
        drafts.extend(Condition.objectives(scope));
        drafts.sort_by_key(|draft| draft.span);
        drafts
    }
}
