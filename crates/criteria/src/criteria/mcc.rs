//! Multiple condition coverage: every combination of conditions that short-circuit evaluation allows.

use crate::Goal;
use crate::registry::{CountedItem, CoverageKind, CriterionScope, GoalCriterion, ObjectiveSpec, PresetVerdict};

/// The maximum number of rows of a decision. A decision with more has one objective for all of them, which stays
/// unknown.
const MAX_ROW_OBJECTIVES: usize = 4096;

pub(crate) struct Mcc;

impl GoalCriterion for Mcc {
    fn name(&self) -> &'static str {
        "mcc"
    }
    fn about(&self) -> &'static str {
        "every combination of conditions that short-circuit evaluation allows"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn strength(&self) -> Option<u8> {
        Some(5)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let mut drafts = Vec::new();
        for (id, decision) in scope.function().decisions.iter() {
            let graph = &scope.graphs[id];
            if graph.nodes.is_empty() {
                continue;
            }
            let Some(mut rows) = graph.rows(MAX_ROW_OBJECTIVES) else {
                drafts.push(ObjectiveSpec {
                    // No evaluation is without outcomes: no test covers this.
                    goal: Goal::Row { func: scope.func, decision: id, outcomes: Vec::new() },
                    span: decision.span,
                    text: format!("every combination of {} conditions", decision.conditions.len()),
                    known: Some(PresetVerdict::TooMany { most: MAX_ROW_OBJECTIVES, of: CountedItem::Combinations }),
                });
                continue;
            };
            rows.sort();
            for row in rows {
                let shown: Vec<String> = row
                    .outcomes
                    .iter()
                    .map(|(condition, value)| {
                        let text = &decision.conditions[*condition].text;
                        if *value { text.clone() } else { format!("!({text})") }
                    })
                    .collect();
                drafts.push(ObjectiveSpec {
                    goal: Goal::Row { func: scope.func, decision: id, outcomes: row.outcomes },
                    span: decision.span,
                    text: shown.join(" and "),
                    known: None,
                });
            }
        }
        drafts
    }
}
