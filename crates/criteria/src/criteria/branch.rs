//! Branch coverage: every control decision is true and false, every arm of a switch is taken. A loop's decision makes
//! "entered" and "skipped" of it.

use crate::Goal;
use crate::criteria::decision::outcomes;
use crate::registry::{CoverageKind, CoverageSource, CriterionScope, GoalCriterion, ObjectiveSpec};
use touchstone_ir::{BlockId, BranchRole, DecisionKind, SwitchArm, TermKind, Ty, sign_extend};

pub(crate) struct Branch;

impl GoalCriterion for Branch {
    fn name(&self) -> &'static str {
        "branch"
    }
    fn about(&self) -> &'static str {
        "every control decision goes both ways, every switch arm is taken"
    }
    fn coverage_kind(&self) -> CoverageKind {
        CoverageKind::Decisions
    }
    fn coverage_source(&self) -> CoverageSource {
        CoverageSource::Branches
    }
    fn branch_rank(&self) -> Option<u8> {
        Some(0)
    }
    fn strength(&self) -> Option<u8> {
        Some(2)
    }
    fn objectives(&self, scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
        let mut drafts = Vec::new();
        for (id, decision) in scope.function().decisions.iter() {
            if decision.kind != DecisionKind::Value {
                drafts.extend(outcomes(scope, id));
            }
        }
        drafts.extend(arms(scope));
        drafts.sort_by_key(|draft| draft.span);
        drafts
    }
}

/// One objective for every target of every switch.
fn arms(scope: &CriterionScope<'_>) -> Vec<ObjectiveSpec> {
    let function = scope.function();
    let mut drafts = Vec::new();
    for (block, content) in function.blocks.iter() {
        let TermKind::Switch { value, arms, default, role: BranchRole::Condition, names } = &content.terminator.kind
        else {
            continue;
        };
        let ty = match value {
            touchstone_ir::Operand::Reg(reg) => function.regs[*reg].ty,
            touchstone_ir::Operand::Const(ty, _) => *ty,
        };
        let mut targets: Vec<BlockId> = Vec::new();
        let named = names.iter().map(|name| name.target);
        for target in named.chain(arms.iter().map(|arm| arm.target)).chain([*default]) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        for target in targets {
            let mut labels: Vec<String> = match names.is_empty() {
                true => arms.iter().filter(|arm| arm.target == target).map(|arm| label(arm, ty)).collect(),
                false => names.iter().filter(|name| name.target == target).map(|name| name.name.clone()).collect(),
            };
            if names.is_empty() && target == *default {
                labels.push("default".to_string());
            }
            if labels.is_empty() {
                continue;
            }
            drafts.push(ObjectiveSpec {
                goal: Goal::Arm { func: scope.func, block, target },
                span: content.terminator.span,
                text: format!("switch: {}", labels.join(", ")),
                known: None,
            });
        }
    }
    drafts
}

fn label(arm: &SwitchArm, ty: Ty) -> String {
    let number = |value: u64| match arm.signed {
        true => sign_extend(value, ty.bits()).to_string(),
        false => value.to_string(),
    };
    if arm.low == arm.high {
        format!("case {}", number(arm.low))
    } else {
        format!("case {} ... {}", number(arm.low), number(arm.high))
    }
}
