//! How a question about a group of constraints is answered: what is certain, the models at hand, cheap refutation,
//! guesses, enumeration, and the SAT solver, in this order.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use crate::bounds::Bounds;
use crate::model::Model;
use crate::path::{Group, Path, Pool};
use crate::sat::{Budget, SatAnswer};
use crate::semantics::mask;
use crate::solver::{Solver, Why};
use crate::term::{TermId, VarId};
use crate::terms::{Terms, merge_sorted};

/// One side of a split group.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// Feasible, with this group in place of what it was made from.
    Group(Rc<Group>),
    /// Feasible, and the condition says nothing new.
    Implied,
    Infeasible,
    Unknown(Why),
}

/// Both sides.
#[derive(Clone)]
pub(crate) struct Split {
    pub(crate) yes: Outcome,
    pub(crate) no: Outcome,
}

/// The result of a search for a model.
pub(crate) enum Found {
    Model(Rc<Model>),
    Nothing,
    Unknown(Why),
}

/// When this many answers are remembered, all are forgotten, so that memory stays bounded.
const REMEMBERED: usize = 100_000;

impl Solver {
    /// The group that a set of conditions is about: the groups they touch, joined.
    pub(crate) fn base(&mut self, terms: &mut Terms, path: &Path, conditions: &[TermId]) -> Rc<Group> {
        let mut support = conditions.first().map(|&c| terms.support_id(c));
        for &condition in conditions.iter().skip(1) {
            let more = terms.support_id(condition);
            support = support.map(|s| terms.union(s, more));
        }
        let Some(support) = support else { return self.free_group(terms, &[]) };
        let (groups, free) = path.groups_of(terms.support_vars(support));
        if let ([group], false) = (groups.as_slice(), free) {
            return group.clone();
        }
        let key = (groups.iter().map(|g| g.id).collect::<Vec<u64>>(), support);
        if let Some(base) = self.bases.get(&key) {
            return base.clone();
        }
        let vars = terms.support_vars(support).to_vec();
        let unbound: Vec<VarId> = vars.into_iter().filter(|&v| path.group_of(v).is_none()).collect();
        let mut parts = groups;
        if !unbound.is_empty() {
            parts.push(self.free_group(terms, &unbound));
        }
        let base = if parts.len() == 1 { parts.swap_remove(0) } else { self.join(&parts) };
        self.forget_if_many();
        self.bases.insert(key, base.clone());
        base
    }

    fn forget_if_many(&mut self) {
        if self.bases.len() + self.splits.len() + self.interned.len() > REMEMBERED {
            self.bases.clear();
            self.splits.clear();
            self.interned.clear();
        }
    }

    fn fresh_id(&mut self) -> u64 {
        self.next_group += 1;
        self.next_group
    }

    /// Variables without constraints, with first guesses: zero, then a mixture of small, extreme and arbitrary values.
    fn free_group(&mut self, terms: &Terms, vars: &[VarId]) -> Rc<Group> {
        let vars: Rc<[VarId]> = vars.into();
        let mut random = Random(self.config.seed ^ 0x9e37_79b9_7f4a_7c15);
        let count = if vars.is_empty() { 1 } else { self.config.pool.max(1) };
        let models = (0..count)
            .map(|k| {
                let values = vars.iter().map(|&v| first_guess(&mut random, k, terms.var_width(v))).collect();
                Rc::new(Model::new(vars.clone(), values))
            })
            .collect();
        Rc::new(Group {
            id: self.fresh_id(),
            vars,
            constraints: Rc::new([]),
            bounds: Bounds::default(),
            pool: RefCell::new(Pool::Some(Rc::new(models))),
            effort: 0,
            too_large: false,
        })
    }

    /// Groups as one. Any combination of their assignments is an assignment of the whole.
    fn join(&mut self, parts: &[Rc<Group>]) -> Rc<Group> {
        let mut vars: Vec<VarId> = Vec::new();
        let mut constraints: Vec<TermId> = Vec::new();
        let mut bounds = Bounds::default();
        for part in parts {
            vars = merge_sorted(&vars, &part.vars);
            constraints = merge_sorted(&constraints, &part.constraints);
            bounds = bounds.merge(&part.bounds);
        }
        let vars: Rc<[VarId]> = vars.into();
        let pools: Vec<Vec<Rc<Model>>> = parts.iter().map(|p| p.models(self.config.pool.max(1))).collect();
        let longest = pools.iter().map(Vec::len).max().unwrap_or(1);
        let models = (0..longest)
            .map(|k| {
                let values = vars.iter().map(|_| 0).collect();
                let mut model = Model::new(vars.clone(), values);
                for pool in &pools {
                    model.overwrite(&pool[k % pool.len()]);
                }
                Rc::new(model)
            })
            .collect();
        Rc::new(Group {
            id: self.fresh_id(),
            vars,
            constraints: constraints.into(),
            bounds,
            pool: RefCell::new(Pool::Some(Rc::new(models))),
            effort: parts.iter().map(|p| p.effort).sum(),
            too_large: parts.iter().any(|p| p.too_large),
        })
    }

    /// Splits a group by a condition and its negation.
    pub(crate) fn split(&mut self, terms: &mut Terms, base: &Rc<Group>, yes: TermId, no: TermId) -> Split {
        if let Some(split) = self.splits.get(&(base.id, yes)) {
            self.stats.cache_hits += 1;
            return split.clone();
        }
        let split = self.split_new(terms, base, yes, no);
        let certain = |o: &Outcome| !matches!(o, Outcome::Unknown(_));
        if certain(&split.yes) && certain(&split.no) {
            self.forget_if_many();
            let mirrored = Split { yes: split.no.clone(), no: split.yes.clone() };
            self.splits.insert((base.id, yes), split.clone());
            self.splits.insert((base.id, no), mirrored);
        }
        split
    }

    fn split_new(&mut self, terms: &mut Terms, base: &Rc<Group>, yes: TermId, no: TermId) -> Split {
        if let Some(truth) = self.certain(terms, base, yes, no) {
            self.stats.refuted += 1;
            return if truth {
                Split { yes: Outcome::Implied, no: Outcome::Infeasible }
            } else {
                Split { yes: Outcome::Infeasible, no: Outcome::Implied }
            };
        }
        let pool = base.pool.borrow().clone();
        let Pool::Some(models) = pool else { unreachable!() };
        let (with, without): (Vec<_>, Vec<_>) = models.iter().cloned().partition(|m| m.satisfies(terms, yes));
        self.stats.pool_hits += u64::from(!with.is_empty()) + u64::from(!without.is_empty());
        let (found_yes, found_no) = match (with.is_empty(), without.is_empty()) {
            (false, false) => (None, None),
            (true, _) => (Some(self.seek(terms, base, &[yes])), None),
            (_, true) => (None, Some(self.seek(terms, base, &[no]))),
        };
        let mut side = |models: Vec<Rc<Model>>, condition: TermId, mine: &Option<Found>, other: &Option<Found>| {
            match (mine, other) {
                (Some(Found::Nothing), _) => Outcome::Infeasible,
                (Some(Found::Unknown(why)), _) => Outcome::Unknown(*why),
                (_, Some(Found::Nothing)) => Outcome::Implied,
                (Some(Found::Model(model)), _) => {
                    Outcome::Group(self.grown(terms, base, &[condition], vec![model.clone()]))
                }
                (None, _) => Outcome::Group(self.grown(terms, base, &[condition], models)),
            }
        };
        let on_yes = side(with, yes, &found_yes, &found_no);
        let on_no = side(without, no, &found_no, &found_yes);
        Split { yes: on_yes, no: on_no }
    }

    /// Whether a condition is certain by itself: among the constraints, or by their bounds.
    fn certain(&self, terms: &Terms, base: &Group, yes: TermId, no: TermId) -> Option<bool> {
        if base.constraints.binary_search(&yes).is_ok() {
            return Some(true);
        }
        if base.constraints.binary_search(&no).is_ok() {
            return Some(false);
        }
        base.bounds.decide(terms, yes)
    }

    /// One more condition.
    pub(crate) fn narrow_one(&mut self, terms: &mut Terms, base: &Rc<Group>, condition: TermId) -> Outcome {
        if let Some(split) = self.splits.get(&(base.id, condition)) {
            self.stats.cache_hits += 1;
            return split.yes.clone();
        }
        self.narrow(terms, base, &[condition])
    }

    /// More conditions at once.
    pub(crate) fn narrow(&mut self, terms: &mut Terms, base: &Rc<Group>, conditions: &[TermId]) -> Outcome {
        let mut open = Vec::with_capacity(conditions.len());
        for &condition in conditions {
            let negated = terms.not(condition);
            match self.certain(terms, base, condition, negated) {
                Some(true) => {}
                Some(false) => {
                    self.stats.refuted += 1;
                    return Outcome::Infeasible;
                }
                None => open.push(condition),
            }
        }
        if open.is_empty() {
            return Outcome::Implied;
        }
        let pool = base.pool.borrow().clone();
        let Pool::Some(models) = pool else { unreachable!() };
        let fitting: Vec<_> =
            models.iter().filter(|m| open.iter().all(|&c| m.satisfies(terms, c))).cloned().collect();
        if !fitting.is_empty() {
            self.stats.pool_hits += 1;
            return Outcome::Group(self.grown(terms, base, &open, fitting));
        }
        match self.seek(terms, base, &open) {
            Found::Model(model) => Outcome::Group(self.grown(terms, base, &open, vec![model])),
            Found::Nothing => Outcome::Infeasible,
            Found::Unknown(why) => Outcome::Unknown(why),
        }
    }

    /// A group with more constraints, which the given models satisfy.
    fn grown(&mut self, terms: &Terms, base: &Group, conditions: &[TermId], models: Vec<Rc<Model>>) -> Rc<Group> {
        debug_assert!(models.iter().all(|m| conditions.iter().all(|&c| m.satisfies(terms, c))));
        let mut sorted = conditions.to_vec();
        sorted.sort_unstable();
        let constraints: Rc<[TermId]> = merge_sorted(&base.constraints, &sorted).into();
        let key = (base.vars.clone(), constraints.clone());
        if let Some(group) = self.interned.get(&key) {
            return group.clone();
        }
        let mut bounds = base.bounds.clone();
        for &condition in conditions {
            let consistent = bounds.assume(terms, condition, true);
            debug_assert!(consistent.is_ok(), "bounds contradict a constraint that has a model");
        }
        let group = Rc::new(Group {
            id: self.fresh_id(),
            vars: base.vars.clone(),
            constraints,
            bounds,
            pool: RefCell::new(Pool::Some(Rc::new(models))),
            effort: base.effort,
            too_large: base.too_large,
        });
        self.forget_if_many();
        self.interned.insert(key, group.clone());
        group
    }

    /// Searches a model of a group and some conditions that no model of the pool satisfies.
    fn seek(&mut self, terms: &mut Terms, base: &Rc<Group>, conditions: &[TermId]) -> Found {
        let constraints: Vec<TermId> = base.constraints.iter().chain(conditions).copied().collect();
        let mut bounds = base.bounds.clone();
        let assumed = conditions.iter().try_for_each(|&c| bounds.assume(terms, c, true));
        if assumed.and_then(|()| bounds.propagate(terms, &constraints)).is_err() {
            self.stats.refuted += 1;
            return Found::Nothing;
        }
        let budget = Budget { conflicts: self.config.conflicts, deadline: self.query_deadline() };
        match self.sat.solve(terms, &constraints, &base.vars, budget) {
            SatAnswer::Sat(model) => Found::Model(model),
            SatAnswer::Unsat => Found::Nothing,
            SatAnswer::Unknown(why) => Found::Unknown(why),
        }
    }

    fn query_deadline(&self) -> Option<Instant> {
        let own = self.config.timeout.map(|timeout| Instant::now() + timeout);
        match (own, self.config.deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// All values of a term, where the group it belongs to is enumerated.
    pub(crate) fn all_values(&mut self, _terms: &Terms, _path: &Path, _term: TermId) -> Option<Vec<u64>> {
        None
    }
}

/// A small, fast, fixed random sequence (xorshift with a multiplier).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// The value of a variable in the `k`-th guess.
fn first_guess(random: &mut Random, k: usize, width: u8) -> u64 {
    let raw = random.next();
    let value = match k {
        0 => 0,
        1 => raw % 8,
        2 => u64::MAX,
        3 => 1,
        4 => raw % 128,
        5 => (raw % 16).wrapping_neg(),
        6 => 1 << (width - 1),
        7 => mask(width) >> 1,
        _ if k % 2 == 0 => raw % 256,
        _ => raw,
    };
    value & mask(width)
}
