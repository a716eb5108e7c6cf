//! What a change reaches: which objectives of a function may be reached by other inputs than before, or with other values, and whether
//! any run can tell the versions apart.

use super::matching::{Matching, Place};
use super::memory_regions::{Differing, Part};
use super::relational_walk::{Call, Callees, Here, Outcome, Reached, Walk};
use super::versions::Versions;
use crate::plan::Work;
use crate::program::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use touchstone_criteria::{Goal, GoalId, Objectives, Status};
use touchstone_ir::{DecisionId, Expr, ExprKind, FuncId, Function, InstKind, PointId, PointKind, TermKind};

/// More different calls than this are not followed: what calls more is reached as a whole.
const MOST_CALLS: usize = 400;

/// What a change is to a function under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Touched {
    /// Nobody can tell the versions apart, wherever he looks.
    Nothing,
    /// Some of it.
    Places {
        reached: Reached,
        /// What comes out of it is what came out before: result, memory, end.
        same_end: bool,
    },
    /// All of it: it is new, or its inputs mean something else.
    Everything,
}

impl Versions<'_> {
    /// What the change is to a function that tests call.
    pub fn touched(&self, func: FuncId) -> Touched {
        let versions = self;
        if !versions.comparable(func) {
            return Touched::Everything;
        }
        let at_start = versions.at_start(func);
        if versions.is_same(func) && at_start.is_empty() {
            return Touched::Nothing;
        }
        let Some(old) = versions.old_of(func) else { return Touched::Everything };
        let params = versions.new.module.functions[func].params.len();
        let root = Call { old, new: func, args: vec![true; params], differing: at_start };
        let mut calls = Calls {
            versions,
            matchings: BTreeMap::new(),
            outcomes: BTreeMap::new(),
            list: Vec::new(),
            too_many: false,
        };
        calls.ask(root.clone());
        let reached = calls.run();
        if calls.too_many {
            return Touched::Everything;
        }
        let outcome = &calls.outcomes[&root];
        let same_end = outcome.together && outcome.result && outcome.thrown && outcome.differing.is_empty();
        Touched::Places { reached, same_end }
    }
}

/// Calls of both versions, and what is known of them so far: each round can only know less.
struct Calls<'v, 'm> {
    versions: &'v Versions<'m>,
    matchings: BTreeMap<(FuncId, FuncId), Arc<Matching>>,
    outcomes: BTreeMap<Call, Outcome>,
    list: Vec<Call>,
    too_many: bool,
}

impl Calls<'_, '_> {
    fn ask(&mut self, call: Call) {
        self.outcomes.entry(call.clone()).or_insert_with(|| {
            self.list.push(call.clone());
            Outcome::same(call.differing)
        });
    }

    fn run(&mut self) -> Reached {
        let mut reached = Reached::default();
        loop {
            let mut changed = false;
            let mut next = 0;
            while let Some(call) = self.list.get(next).cloned() {
                next += 1;
                if self.list.len() > MOST_CALLS {
                    self.too_many = true;
                    return reached;
                }
                let (outcome, more) = self.walk(&call);
                reached.add(more);
                if self.outcomes.get(&call) != Some(&outcome) {
                    self.outcomes.insert(call, outcome);
                    changed = true;
                }
            }
            if !changed {
                return reached;
            }
        }
    }

    fn walk(&mut self, call: &Call) -> (Outcome, Reached) {
        let versions = self.versions;
        let matching = Arc::clone(self.matchings.entry((call.old, call.new)).or_insert_with(|| {
            let function = |side: &super::side_effects::Side<'_>, id: FuncId| side.module.functions[id].clone();
            let (old, new) = (function(&versions.old, call.old), function(&versions.new, call.new));
            Arc::new(Matching::new((versions.old.module, &old), (versions.new.module, &new)))
        }));
        Walk::new(versions, self, &matching, call).run(call)
    }
}

impl Callees for Calls<'_, '_> {
    fn outcome(&mut self, call: Call) -> Outcome {
        let versions = self.versions;
        let all = call.args.iter().all(|equal| *equal);
        let is_defined = versions.new.module.functions[call.new].is_defined();
        if all && call.differing.is_empty() && (versions.is_same(call.new) || !is_defined) {
            return Outcome::same(Differing::new());
        }
        if !is_defined {
            let differing = [Part::Anything, Part::World, Part::Definedness].into();
            return Outcome { together: false, result: false, thrown: false, differing };
        }
        self.ask(call.clone());
        self.outcomes[&call].clone()
    }
}

/// What a change does not touch is not asked for.
pub(crate) fn leave_alone(work: &mut Work<'_>, touched: &Touched) {
    let untouched = untouched(&work.wanted, touched, &work.plan.program);
    for id in &untouched {
        work.wanted.list[*id].status = Status::Unaffected;
        work.wanted.settled.insert(*id);
    }
    Rc::make_mut(&mut work.watch).leave_alone(untouched);
}

/// The objectives that a change does not touch: the same inputs reach them as before.
fn untouched(objectives: &Objectives, touched: &Touched, new: &Program) -> BTreeSet<GoalId> {
    let is_untouched = |goal: &Goal| match touched {
        Touched::Nothing => true,
        Touched::Everything => false,
        Touched::Places { reached, .. } => {
            let func = goal.func();
            let none = BTreeSet::new();
            let places = reached.places.get(&func).unwrap_or(&none);
            let function = &new.module.functions[func];
            !reached.functions.contains(&func)
                && !touches(function, places, goal)
                && asks_equals(function, reached, goal)
        }
    };
    objectives.goals.iter().filter(|(_, goal)| is_untouched(goal)).map(|(id, _)| id).collect()
}

/// Whether a goal stands at one of these places.
fn touches(function: &Function, places: &BTreeSet<Place>, goal: &Goal) -> bool {
    let end = |block| Place { block, index: function.blocks[block].insts.len() };
    match goal {
        Goal::Label { point, .. } => point_places(function, *point).iter().any(|place| places.contains(place)),
        // Callers may enter it with other values, and at other times.
        Goal::Entry { .. } => true,
        Goal::Arm { block, .. } => places.contains(&end(*block)),
        Goal::Outcome { decision, .. }
        | Goal::Condition { decision, .. }
        | Goal::Row { decision, .. }
        | Goal::Independent { decision, .. }
        | Goal::Partner { decision, .. } => {
            let asks = |kind: &TermKind| is_of(kind, *decision);
            function.blocks.iter().any(|(id, block)| asks(&block.terminator.kind) && places.contains(&end(id)))
        }
        Goal::Error { span, .. } => function.blocks.iter().any(|(id, block)| {
            let insts = block.insts.iter().enumerate().filter(|(_, inst)| inst.span == *span);
            insts.map(|(index, _)| Place { block: id, index }).any(|place| places.contains(&place))
                || block.terminator.span == *span && places.contains(&end(id))
        }),
    }
}

/// Whether what a goal asks of registers and memory at its point is equal whenever control is there.
fn asks_equals(function: &Function, reached: &Reached, goal: &Goal) -> bool {
    let Goal::Label { func, point, predicate: Some(predicate) } = goal else { return true };
    let is_here = |place: &Place| {
        let inst = function.blocks[place.block].insts.get(place.index);
        inst.is_some_and(|inst| inst.kind == InstKind::Point { point: *point })
    };
    let here = point_places(function, *point).into_iter().filter(is_here);
    here.filter_map(|place| reached.points.get(&(*func, place))).all(|here| is_equal(predicate, here))
}

fn is_equal(expr: &Expr, here: &Here) -> bool {
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

/// The places of a point; of a statement also what it does, as far as that stands in its block.
fn point_places(function: &Function, point: PointId) -> Vec<Place> {
    let mut found = Vec::new();
    let is_statement = |id: PointId| matches!(function.points[id].kind, PointKind::Statement);
    for (id, block) in function.blocks.iter() {
        for (index, inst) in block.insts.iter().enumerate() {
            let InstKind::Point { point: here } = inst.kind else { continue };
            if here != point {
                continue;
            }
            found.push(Place { block: id, index });
            if is_statement(point) {
                let rest = block.insts[index + 1..]
                    .iter()
                    .take_while(|inst| !matches!(inst.kind, InstKind::Point { point } if is_statement(point)));
                found.extend((index + 1..=index + rest.count()).map(|index| Place { block: id, index }));
            }
        }
    }
    found
}
