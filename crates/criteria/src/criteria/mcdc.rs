//! Modified condition/decision coverage, masking form (Whalen et al.): every condition has each of its values in an
//! evaluation in which it is not masked, so that it independently affects the outcome of the decision.

use crate::Goal;
use crate::criteria::condition::conditions;
use crate::registry::{CoverageKind, CoverageSource, CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict};
use std::borrow::Cow;
use touchstone_base::IndexMap;
use touchstone_ir::DecisionId;

pub(crate) struct Mcdc;

/// The end of the text of an objective.
const AFFECTS: &str = " and independently affects the outcome";
/// The same in the first releases. Ids are derived from it.
const AFFECTS_IN_IDS: &str = " and decides";

impl GoalCriterion for Mcdc {
    fn name(&self) -> &'static str {
        "mcdc"
    }
    fn about(&self) -> &'static str {
        "every condition independently affects the outcome of its decision, with both values"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::Mcdc
    }
    fn strength(&self) -> Option<u8> {
        Some(6)
    }
    fn title(&self) -> String {
        "MC/DC".to_string()
    }
    fn has_labels(&self) -> bool {
        false
    }
    fn shows_truth_tables(&self) -> bool {
        true
    }
    fn id_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match text.strip_suffix(AFFECTS) {
            Some(condition) => Cow::Owned(format!("{condition}{AFFECTS_IN_IDS}")),
            None => Cow::Borrowed(text),
        }
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let goal = |decision, condition, value| Goal::Independent { func: scope.func, decision, condition, value };
        let mut drafts = conditions(scope, goal, AFFECTS);
        let deciding: IndexMap<DecisionId, _> =
            scope.graphs.values().map(|graph| graph.deciding(|_, _| true)).collect();
        for draft in &mut drafts {
            if let Goal::Independent { decision, condition, value, .. } = draft.goal {
                draft.known = PresetVerdict::constant(!deciding[decision].contains(&(condition, value)));
            }
        }
        drafts
    }
}
