//! Decisions, conditions, rows and masking MC/DC by definition, from the raw branch events of a run. This shares no
//! code with the decision graphs and the watchers that it judges.
//!
//! A condition independently affects the outcome of an evaluation if, for some values of the conditions that were not
//! evaluated, flipping only this condition flips the decision. Every condition occurs once in its tree, so the possible
//! values of subtrees are independent, and the recursion is exact.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use touchstone_base::Id;
use touchstone_criteria::Goal;
use touchstone_interp::{Event, Observer};
use touchstone_ir::{BoolTree, CondId, DecisionId, FuncId, Module};

type Outcomes = Vec<(CondId, bool)>;

/// Keeps the outcomes of every decision, frame by frame.
#[derive(Default)]
pub struct Raw {
    frames: Vec<(FuncId, BTreeMap<DecisionId, Outcomes>)>,
    left: Vec<(FuncId, DecisionId, Outcomes)>,
}

impl Raw {
    fn leave(&mut self) {
        if let Some((func, decisions)) = self.frames.pop() {
            self.left.extend(decisions.into_iter().map(|(decision, outcomes)| (func, decision, outcomes)));
        }
    }
}

impl Observer for Raw {
    fn event(&mut self, event: &Event) {
        match *event {
            Event::Call(func) => self.frames.push((func, BTreeMap::new())),
            Event::Return => self.leave(),
            Event::Branch { tag: Some(tag), taken, .. } => {
                let (_, decisions) = self.frames.last_mut().expect("a branch is in a function");
                decisions.entry(tag.decision).or_default().push((tag.condition, taken));
            }
            Event::Branch { tag: None, .. } | Event::Switch { .. } | Event::Indirect { .. } => {}
        }
    }
    fn output(&mut self, _: &[u8]) {}
}

/// One complete evaluation.
struct Evaluation {
    outcomes: Outcomes,
    result: bool,
    deciding: Outcomes,
}

/// The events of a run, by definition.
#[derive(Default)]
pub struct Did {
    /// Outcomes of conditions, also of evaluations that were not completed.
    conditions: BTreeSet<(FuncId, DecisionId, CondId, bool)>,
    evaluations: BTreeMap<(FuncId, DecisionId), Vec<Rc<Evaluation>>>,
}

impl Did {
    /// Returns true if the run reaches a goal; `None` if the goal is not about decisions.
    pub fn reaches(&self, goal: &Goal) -> Option<bool> {
        let any = |func: FuncId, decision: DecisionId, holds: &dyn Fn(&Evaluation) -> bool| {
            Some(self.evaluations.get(&(func, decision)).is_some_and(|all| all.iter().any(|one| holds(one))))
        };
        match goal {
            Goal::Outcome { func, decision, value } => any(*func, *decision, &|one| one.result == *value),
            Goal::Condition { func, decision, condition, value } => {
                Some(self.conditions.contains(&(*func, *decision, *condition, *value)))
            }
            Goal::Independent { func, decision, condition, value } => {
                any(*func, *decision, &|one| one.deciding.contains(&(*condition, *value)))
            }
            Goal::Row { func, decision, outcomes } => any(*func, *decision, &|one| one.outcomes == *outcomes),
            Goal::Partner { .. }
            | Goal::Label { .. }
            | Goal::Entry { .. }
            | Goal::Return { .. }
            | Goal::Arm { .. }
            | Goal::Error { .. } => None,
        }
    }
}

/// Judges runs of a module; remembers evaluations that it has judged before.
pub struct Judge<'m> {
    module: &'m Module,
    known: BTreeMap<(FuncId, DecisionId, Outcomes), Rc<Evaluation>>,
}

impl<'m> Judge<'m> {
    pub fn new(module: &'m Module) -> Judge<'m> {
        Judge { module, known: BTreeMap::new() }
    }

    /// Evaluates a run. Panics if the branches are not in an order that the tree allows.
    pub fn judge(&mut self, mut raw: Raw) -> Did {
        while !raw.frames.is_empty() {
            raw.leave();
        }
        let mut did = Did::default();
        for (func, decision, outcomes) in raw.left {
            let tree = &self.module.functions[func].decisions[decision].tree;
            did.conditions.extend(outcomes.iter().map(|(condition, value)| (func, decision, *condition, *value)));
            let mut rest = outcomes.as_slice();
            while !rest.is_empty() {
                let before = rest;
                // An evaluation that an error or exit ends in the middle counts for its conditions only.
                let Some(result) = take(tree, &mut rest) else { break };
                let outcomes = before[..before.len() - rest.len()].to_vec();
                let known = self.known.entry((func, decision, outcomes.clone()));
                let evaluation = known.or_insert_with(|| {
                    let values = outcomes.iter().copied().collect();
                    let deciding = outcomes.iter().copied().filter(|(one, _)| decides(tree, *one, &values)).collect();
                    Rc::new(Evaluation { outcomes, result, deciding })
                });
                did.evaluations.entry((func, decision)).or_default().push(Rc::clone(evaluation));
            }
        }
        did
    }
}

/// Evaluates a tree with the next outcomes; `None` if they end too early.
pub fn take(tree: &BoolTree, rest: &mut &[(CondId, bool)]) -> Option<bool> {
    Some(match tree {
        BoolTree::Cond(condition) => {
            let ((next, value), after) = rest.split_first()?;
            assert_eq!(next, condition, "a branch comes where the tree has another condition");
            *rest = after;
            *value
        }
        BoolTree::Const(value) => *value,
        BoolTree::Not(a) => !take(a, rest)?,
        BoolTree::And(a, b) => take(a, rest)? && take(b, rest)?,
        BoolTree::Or(a, b) => take(a, rest)? || take(b, rest)?,
        BoolTree::Xor(a, b) => {
            let a = take(a, rest)?;
            a != take(b, rest)?
        }
        BoolTree::Iff(a, b) => {
            let a = take(a, rest)?;
            a == take(b, rest)?
        }
        BoolTree::Ite(c, a, b) => {
            let chosen = if take(c, rest)? { a } else { b };
            take(chosen, rest)?
        }
    })
}

type Values = BTreeMap<CondId, bool>;

/// Returns true if the tree can have the value; conditions without a value are free.
fn can_be(tree: &BoolTree, wanted: bool, values: &Values) -> bool {
    let be = |tree: &BoolTree, wanted: bool| can_be(tree, wanted, values);
    match tree {
        BoolTree::Cond(condition) => values.get(condition).is_none_or(|value| *value == wanted),
        BoolTree::Const(value) => *value == wanted,
        BoolTree::Not(a) => be(a, !wanted),
        BoolTree::And(a, b) if wanted => be(a, true) && be(b, true),
        BoolTree::And(a, b) => be(a, false) || be(b, false),
        BoolTree::Or(a, b) if wanted => be(a, true) || be(b, true),
        BoolTree::Or(a, b) => be(a, false) && be(b, false),
        BoolTree::Xor(a, b) => [false, true].into_iter().any(|left| be(a, left) && be(b, left != wanted)),
        BoolTree::Iff(a, b) => [false, true].into_iter().any(|left| be(a, left) && be(b, left == wanted)),
        BoolTree::Ite(c, a, b) => (be(c, true) && be(a, wanted)) || (be(c, false) && be(b, wanted)),
    }
}

/// Returns true if flipping the condition can flip the tree.
pub fn decides(tree: &BoolTree, condition: CondId, values: &Values) -> bool {
    let inner = |tree: &BoolTree| decides(tree, condition, values);
    let be = |tree: &BoolTree, wanted: bool| can_be(tree, wanted, values);
    match tree {
        BoolTree::Cond(own) => *own == condition,
        BoolTree::Const(_) => false,
        BoolTree::Not(a) => inner(a),
        BoolTree::And(a, b) => (inner(a) && be(b, true)) || (inner(b) && be(a, true)),
        BoolTree::Or(a, b) => (inner(a) && be(b, false)) || (inner(b) && be(a, false)),
        BoolTree::Xor(a, b) | BoolTree::Iff(a, b) => inner(a) || inner(b),
        BoolTree::Ite(c, a, b) => {
            let differ = (be(a, true) && be(b, false)) || (be(a, false) && be(b, true));
            (inner(c) && differ) || (inner(a) && be(c, true)) || (inner(b) && be(c, false))
        }
    }
}

/// The same by trying all values of the conditions that have none: the definition word by word.
fn decides_by_trying(tree: &BoolTree, condition: CondId, values: &Values, count: usize) -> bool {
    let free: Vec<CondId> = (0..count).map(CondId::new).filter(|id| !values.contains_key(id)).collect();
    (0..1u32 << free.len()).any(|bits| {
        let mut all = values.clone();
        all.extend(free.iter().enumerate().map(|(index, id)| (*id, bits >> index & 1 == 1)));
        let before = can_be(tree, true, &all);
        let flipped = !all[&condition];
        all.insert(condition, flipped);
        can_be(tree, true, &all) != before
    })
}

#[test]
fn the_recursive_definition_is_the_definition() {
    fn tree(rng: &mut crate::support::rng::Rng, depth: u32, next: &mut usize) -> BoolTree {
        let choice = if depth == 0 { 0 } else { rng.below(12) };
        let mut sub = |rng: &mut crate::support::rng::Rng| Box::new(tree(rng, depth - 1, next));
        match choice {
            1 => BoolTree::Not(sub(rng)),
            2 | 3 => BoolTree::And(sub(rng), sub(rng)),
            4 | 5 => BoolTree::Or(sub(rng), sub(rng)),
            6 => BoolTree::Xor(sub(rng), sub(rng)),
            7 => BoolTree::Iff(sub(rng), sub(rng)),
            8 => BoolTree::Ite(sub(rng), sub(rng), sub(rng)),
            9 => BoolTree::Const(rng.chance(50)),
            _ => {
                *next += 1;
                BoolTree::Cond(CondId::new(*next - 1))
            }
        }
    }
    let mut rng = crate::support::rng::Rng::new(7);
    let mut compared = 0;
    while compared < 5000 {
        let mut count = 0;
        let tree = tree(&mut rng, 4, &mut count);
        if count == 0 || count > 8 {
            continue;
        }
        let all: Outcomes = (0..count).map(|index| (CondId::new(index), rng.chance(50))).collect();
        // The outcomes that short-circuit evaluation computes.
        let mut values = Values::new();
        evaluate(&tree, &all, &mut values);
        for condition in values.keys() {
            let expected = decides_by_trying(&tree, *condition, &values, count);
            assert_eq!(decides(&tree, *condition, &values), expected, "{tree:?} {values:?} {condition}");
            compared += 1;
        }
    }
    fn evaluate(tree: &BoolTree, all: &Outcomes, seen: &mut Values) -> bool {
        match tree {
            BoolTree::Cond(id) => {
                seen.insert(*id, all[id.index()].1);
                all[id.index()].1
            }
            BoolTree::Const(value) => *value,
            BoolTree::Not(a) => !evaluate(a, all, seen),
            BoolTree::And(a, b) => evaluate(a, all, seen) && evaluate(b, all, seen),
            BoolTree::Or(a, b) => evaluate(a, all, seen) || evaluate(b, all, seen),
            BoolTree::Xor(a, b) => evaluate(a, all, seen) != evaluate(b, all, seen),
            BoolTree::Iff(a, b) => evaluate(a, all, seen) == evaluate(b, all, seen),
            BoolTree::Ite(c, a, b) => {
                let chosen = evaluate(c, all, seen);
                evaluate(if chosen { a } else { b }, all, seen)
            }
        }
    }
}
