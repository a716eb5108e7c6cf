//! Maps the impact of a change to goals: which of them may be reached by other inputs than before, or with other
//! values, and whether any run can distinguish the versions.

use super::matching::{CodeLocation, Matching};
use super::memory_regions::{DifferingRegions, Region};
use super::relational_walk::{CallOutcomes, CallPair, Impact, PairOutcome, PointEqualities, RelationalWalk};
use super::versions::Versions;
use crate::plan::Work;
use crate::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use touchstone_criteria::{Goal, GoalId, Objectives, Status};
use touchstone_ir::{DecisionId, Expr, ExprKind, FuncId, Function, InstKind, PointId, PointKind, TermKind};

/// The maximum number of distinct call pairs that are analysed. A function that makes more is affected as a whole.
const MAX_CALL_PAIRS: usize = 400;

/// The impact of a change on a function under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ChangeImpact {
    /// The versions are observationally equivalent for this function.
    Unaffected,
    /// Some locations are affected.
    Partial {
        impact: Impact,
        /// True if the observable results are the same as before: return value, memory, way of ending.
        same_end: bool,
    },
    /// Everything is affected: the function is new, or its inputs have another meaning.
    All,
}

impl Versions<'_> {
    /// Computes the impact of the change on a function that tests call.
    pub fn change_impact(&self, func: FuncId) -> ChangeImpact {
        let versions = self;
        if !versions.comparable(func) {
            return ChangeImpact::All;
        }
        let at_start = versions.at_start(func);
        if versions.is_same(func) && at_start.is_empty() {
            return ChangeImpact::Unaffected;
        }
        let Some(old) = versions.old_of(func) else { return ChangeImpact::All };
        let Some((outcome, impact)) = versions.walk(old, func, at_start) else { return ChangeImpact::All };
        let same_end = outcome.same_exit && outcome.result && outcome.thrown && outcome.differing.is_empty();
        ChangeImpact::Partial { impact, same_end }
    }

    /// Walks both versions of a function with equal arguments, or returns `None` if they make too many call pairs.
    fn walk(&self, old: FuncId, new: FuncId, differing: DifferingRegions) -> Option<(PairOutcome, Impact)> {
        let params = self.new.module.functions[new].params.len();
        let root = CallPair { old, new, args: vec![true; params], differing };
        let mut calls = CallPairs {
            versions: self,
            matchings: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            list: Vec::new(),
            too_many: false,
        };
        calls.prove(root.clone());
        let impact = calls.run();
        (!calls.too_many).then(|| (calls.outcomes[&root].clone(), impact))
    }

    /// Returns the regions that a call of a function with equal inputs may leave different.
    pub(super) fn left_differently(&self, func: FuncId) -> DifferingRegions {
        let comparable = self.old_of(func).filter(|_| self.new.module.functions[func].is_defined());
        let walked = comparable.and_then(|old| self.walk(old, func, DifferingRegions::new()));
        walked.map_or_else(|| self.writes_of_both(func), |(outcome, _)| outcome.differing)
    }
}

/// A fixed-point computation over call pairs. Each round can only weaken what is known about them.
struct CallPairs<'v, 'm> {
    versions: &'v Versions<'m>,
    matchings: BTreeMap<(FuncId, FuncId), Arc<Matching>>,
    outcomes: BTreeMap<CallPair, PairOutcome>,
    list: Vec<CallPair>,
    too_many: bool,
}

impl CallPairs<'_, '_> {
    fn prove(&mut self, call: CallPair) {
        self.outcomes.entry(call.clone()).or_insert_with(|| {
            self.list.push(call.clone());
            PairOutcome::same(call.differing)
        });
    }

    fn run(&mut self) -> Impact {
        let mut impact = Impact::default();
        loop {
            let mut changed = false;
            let mut next = 0;
            while let Some(call) = self.list.get(next).cloned() {
                next += 1;
                if self.list.len() > MAX_CALL_PAIRS {
                    self.too_many = true;
                    return impact;
                }
                let (outcome, more) = self.walk(&call);
                impact.add(more);
                if self.outcomes.get(&call) != Some(&outcome) {
                    self.outcomes.insert(call, outcome);
                    changed = true;
                }
            }
            if !changed {
                return impact;
            }
        }
    }

    fn walk(&mut self, call: &CallPair) -> (PairOutcome, Impact) {
        let versions = self.versions;
        let matching = Arc::clone(self.matchings.entry((call.old, call.new)).or_insert_with(|| {
            let function =
                |facts: &super::side_effects::VersionFacts<'_>, id: FuncId| facts.module.functions[id].clone();
            let (old, new) = (function(&versions.old, call.old), function(&versions.new, call.new));
            Arc::new(Matching::new((versions.old.module, &old), (versions.new.module, &new)))
        }));
        RelationalWalk::new(versions, self, &matching, call).run(call)
    }
}

impl CallOutcomes for CallPairs<'_, '_> {
    fn outcome(&mut self, call: CallPair) -> PairOutcome {
        let versions = self.versions;
        let all = call.args.iter().all(|equal| *equal);
        let is_defined = versions.new.module.functions[call.new].is_defined();
        if all
            && call.differing.is_empty()
            && (versions.is_same(call.new) || !is_defined && versions.is_same_text(call.new))
        {
            return PairOutcome::same(DifferingRegions::new());
        }
        if !is_defined {
            let differing = [Region::Anything, Region::Environment, Region::Definedness].into();
            return PairOutcome { same_exit: false, result: false, thrown: false, differing };
        }
        self.prove(call.clone());
        self.outcomes[&call].clone()
    }
}

/// Marks the objectives that the change does not affect, so that they are not searched for.
pub(crate) fn mark_unaffected_goals(work: &mut Work<'_>, change_impact: &ChangeImpact) {
    let unaffected_goals = unaffected_goals(&work.objectives, change_impact, &work.plan.program);
    for id in &unaffected_goals {
        work.objectives.list[*id].status = Status::Unaffected;
        work.objectives.settled.insert(*id);
    }
    Arc::make_mut(&mut work.watch).ignore(unaffected_goals);
}

/// Returns the goals that the change does not affect: the same inputs reach them as before.
fn unaffected_goals(objectives: &Objectives, change_impact: &ChangeImpact, new: &Program) -> BTreeSet<GoalId> {
    let is_untouched = |goal: &Goal| match change_impact {
        ChangeImpact::Unaffected => true,
        ChangeImpact::All => false,
        ChangeImpact::Partial { impact, .. } => {
            let func = goal.func();
            let none = BTreeSet::new();
            let locations = impact.locations.get(&func).unwrap_or(&none);
            let function = &new.module.functions[func];
            !impact.functions.contains(&func)
                && !is_at(function, locations, goal)
                && reads_equal_values(function, impact, goal)
        }
    };
    objectives.goals.iter().filter(|(_, goal)| is_untouched(goal)).map(|(id, _)| id).collect()
}

/// Returns true if the location of a goal is among these.
fn is_at(function: &Function, locations: &BTreeSet<CodeLocation>, goal: &Goal) -> bool {
    let end = |block| CodeLocation { block, index: function.blocks[block].insts.len() };
    match goal {
        Goal::Label { point, .. } => {
            point_locations(function, *point).iter().any(|location| locations.contains(location))
        }
        // Callers may enter the function with other values, and at other times; results are not followed.
        Goal::Entry { .. } | Goal::Return { .. } => true,
        Goal::Arm { block, .. } => locations.contains(&end(*block)),
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Row { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Partner { decision, .. } => {
            let asks = |kind: &TermKind| is_of(kind, *decision);
            function.blocks.iter().any(|(id, block)| asks(&block.terminator.kind) && locations.contains(&end(id)))
        }
        Goal::Error { span, .. } => function.blocks.iter().any(|(id, block)| {
            let insts = block.insts.iter().enumerate().filter(|(_, inst)| inst.span == *span);
            insts.map(|(index, _)| CodeLocation { block: id, index }).any(|location| locations.contains(&location))
                || block.terminator.span == *span && locations.contains(&end(id))
        }),
    }
}

/// Returns true if the registers and memory that a goal's predicate reads are equal whenever control reaches its point.
fn reads_equal_values(function: &Function, impact: &Impact, goal: &Goal) -> bool {
    let Goal::Label { func, point, predicate: Some(predicate) } = goal else { return true };
    let is_here = |location: &CodeLocation| {
        let inst = function.blocks[location.block].insts.get(location.index);
        inst.is_some_and(|inst| inst.kind == InstKind::Point { point: *point })
    };
    let here = point_locations(function, *point).into_iter().filter(is_here);
    here.filter_map(|location| impact.points.get(&(*func, location))).all(|here| is_equal(predicate, here))
}

fn is_equal(expr: &Expr, here: &PointEqualities) -> bool {
    let own = match &expr.kind {
        ExprKind::Reg(reg) => here.regs.contains(reg),
        ExprKind::Load(_) => here.memory,
        _ => true,
    };
    own && expr.parts().into_iter().all(|part| is_equal(part, here))
}

fn is_of(kind: &TermKind, decision: DecisionId) -> bool {
    matches!(kind, TermKind::Branch { tag: Some(tag), .. } if tag.decision == decision)
}

/// Returns the locations of a point; for a statement also those of its instructions in the same block.
fn point_locations(function: &Function, point: PointId) -> Vec<CodeLocation> {
    let mut found = Vec::new();
    let is_statement = |id: PointId| matches!(function.points[id].kind, PointKind::Statement);
    for (id, block) in function.blocks.iter() {
        for (index, inst) in block.insts.iter().enumerate() {
            let InstKind::Point { point: here } = inst.kind else { continue };
            if here != point {
                continue;
            }
            found.push(CodeLocation { block: id, index });
            if is_statement(point) {
                let rest = block.insts[index + 1..]
                    .iter()
                    .take_while(|inst| !matches!(inst.kind, InstKind::Point { point } if is_statement(point)));
                found.extend((index + 1..=index + rest.count()).map(|index| CodeLocation { block: id, index }));
            }
        }
    }
    found
}
