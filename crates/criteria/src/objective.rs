//! Objectives with their identity.
//!
//! An id is made of function, criterion, position among that criterion's objectives of the function, and a hash of the
//! text: an edit in another function, or of a comment, changes no id.

use crate::registry::{CriteriaOptions, CriterionScope, GoalCriterion, PresetVerdict};
use crate::{Goal, GoalId, Objective, Status, WhyInfeasible, WhyUnknown};
use std::collections::BTreeSet;
use touchstone_base::{IndexMap, stable_hash};
use touchstone_ir::{FuncId, Module};

/// Objectives and the goals that cover them, under common ids.
#[derive(Clone, Debug, Default)]
pub struct Objectives {
    /// The objectives.
    pub list: IndexMap<GoalId, Objective>,
    /// The goals of the objectives.
    pub goals: IndexMap<GoalId, Goal>,
    /// The objectives with a verdict before any search.
    pub settled: BTreeSet<GoalId>,
}

/// The objectives of these criteria in these functions. Those that constants rule out have their verdict already.
pub fn objectives(
    module: &Module,
    functions: &[FuncId],
    criteria: &[&'static dyn GoalCriterion],
    options: &CriteriaOptions,
) -> Objectives {
    let mut made = Objectives::default();
    for &func in functions {
        let scope = CriterionScope::new(module, func, options);
        let function = &module.functions[func].name;
        for criterion in criteria {
            for (position, draft) in criterion.objectives(&scope).into_iter().enumerate() {
                let hash = stable_hash(&*criterion.id_text(&draft.text)) & 0xffff_ffff;
                let status = match draft.known {
                    Some(PresetVerdict::Constant) => Status::Infeasible(WhyInfeasible::Constant),
                    Some(PresetVerdict::TooMany { most, of }) => Status::Unknown(WhyUnknown::TooMany(most, of)),
                    None => Status::Unknown(WhyUnknown::NotTried),
                };
                let settled = draft.known.is_some();
                let id = made.list.push(Objective {
                    id: format!("{function}.{}.{}.{hash:08x}", criterion.name(), position + 1),
                    criterion: criterion.name().to_string(),
                    function: function.clone(),
                    span: draft.span,
                    text: draft.text,
                    status,
                });
                made.goals.push(draft.goal);
                if settled {
                    made.settled.insert(id);
                }
            }
        }
    }
    made
}
