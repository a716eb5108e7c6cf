//! The portfolio that answers a query about a group of constraints: facts, the models at hand, cheap refutation,
//! guesses, enumeration, and the SAT solver, in this order.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use touchstone_base::Deadline;

use crate::models::enumerate::{Limit, bounded_vars, box_size, enumerate};
use crate::models::float_guess;
use crate::models::model::Model;
use crate::models::order::refutes;
use crate::models::view::View;
use crate::random::Random;
use crate::sat::batsat::{Budget, SatAnswer};
use crate::search::constraint_path::{ConstraintGroup, ModelPool, Path};
use crate::search::partial::Partial;
use crate::search::solver::{Solver, SolverEffort};
use crate::terms::path_bounds::Bounds;
use crate::terms::semantics::mask;
use crate::terms::support::merge_sorted;
use crate::terms::term::{TermId, VarId};
use crate::terms::term_store::Terms;
use crate::unknown_reason::Why;

/// One side of a split group.
#[derive(Clone)]
pub(crate) enum Half {
    /// Feasible, with this group in place of what it was made from.
    ConstraintGroup(Rc<ConstraintGroup>),
    /// Feasible, and the condition says nothing new.
    Implied,
    Infeasible,
    Unknown(Why),
}

/// Both sides.
#[derive(Clone)]
pub(crate) struct Split {
    pub(crate) yes: Half,
    pub(crate) no: Half,
}

/// The result of a search for a model.
pub(crate) enum SearchOutcome {
    /// At least one.
    Models(Vec<Rc<Model>>),
    /// All assignments of the group, to be split by the condition.
    All(Rc<View>),
    Nothing,
    Unknown(Why),
}

/// A group of more bytes than this is not kept in the tables: its columns are large and it is rarely met again.
const MAX_CACHED_GROUP_BYTES: usize = 64 << 10;
/// The bytes of a table entry without its group.
const BYTES_PER_ENTRY: usize = 100;
/// A domain of at most this many points is enumerated before the SAT solver is asked.
const MAX_POINTS_BEFORE_SAT: usize = 4096;
/// The maximum number of SAT conflicts before a larger domain is enumerated.
const MAX_FIRST_CONFLICTS: u64 = 300;
/// The maximum number of rounds of alias lemmas before that.
const MAX_FIRST_LEMMA_ROUNDS: u32 = 4;
/// The maximum number of new conditions that are each checked for a cycle of orderings.
const MAX_ORDERED_CONDITIONS: usize = 8;
/// The maximum number of boxes that are inspected before the SAT solver is queried about floats.
const MAX_BOXES_BEFORE_SAT: usize = 400;
/// The maximum number of boxes that are inspected before it is queried without a limit.
const MAX_BOXES_BEFORE_UNLIMITED_SAT: usize = 3_000;
/// The logarithm (base 2) of the largest box in which enumeration is tried.
pub(crate) const LARGEST_BOX: f64 = 64.0;
/// After this many SAT calls along its history, a group is enumerated first.
const SAT_CALLS_BEFORE_ENUMERATION: u64 = 64;
/// Models that guesses start from.
const MAX_GUESS_STARTS: usize = 4;
/// Models that are crossed with a new one.
const MAX_CROSSED_MODELS: usize = 6;

/// The limits of the search in boxes of floats.
#[derive(Clone, Copy)]
pub(crate) struct BoxLimits {
    /// Boxes, at most.
    pub boxes: usize,
    pub deadline: Deadline,
}

impl Solver {
    /// The group that a set of conditions is about: the groups they touch, joined.
    pub(crate) fn base(&mut self, terms: &mut Terms, path: &Path, conditions: &[TermId]) -> Rc<ConstraintGroup> {
        let mut support = conditions.first().map(|&c| terms.support_id(c));
        for &condition in conditions.iter().skip(1) {
            let more = terms.support_id(condition);
            support = support.map(|s| terms.supports.union(s, more));
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
        let base = if parts.len() == 1 { parts.swap_remove(0) } else { self.join(terms, &parts) };
        self.remember(base.weight());
        self.bases.insert(key, base.clone());
        base
    }

    /// Makes room for one more answer.
    fn remember(&mut self, weight: usize) {
        self.remembered += weight + BYTES_PER_ENTRY;
        if self.remembered > self.config.remembered {
            self.forget();
        }
    }

    /// Forgets all answers: they can be found again.
    pub fn forget(&mut self) {
        self.remembered = 0;
        self.bases.clear();
        self.splits.clear();
        self.narrowed.clear();
        self.interned.clear();
    }

    /// Variables without constraints, with first guesses: zero, then a mixture of small, extreme and arbitrary values.
    fn free_group(&mut self, terms: &Terms, vars: &[VarId]) -> Rc<ConstraintGroup> {
        let vars: Rc<[VarId]> = vars.into();
        let mut random = Random(self.config.seed ^ 0x9e37_79b9_7f4a_7c15);
        let count = if vars.is_empty() { 1 } else { self.config.pool.max(1) };
        let models = (0..count)
            .map(|k| {
                let values = vars.iter().map(|&v| first_guess(terms, &mut random, k, v)).collect();
                Rc::new(Model::new(vars.clone(), values))
            })
            .collect();
        let mut group = ConstraintGroup::new(vars, ModelPool::Some(Rc::new(models)));
        group.bounded = bounded_vars(terms, &group.bounds, &group.vars).len();
        Rc::new(group)
    }

    /// Groups as one. Any combination of their assignments is an assignment of the whole.
    fn join(&mut self, terms: &Terms, parts: &[Rc<ConstraintGroup>]) -> Rc<ConstraintGroup> {
        let mut vars: Vec<VarId> = Vec::new();
        let mut constraints: Vec<TermId> = Vec::new();
        let mut bounds = Bounds::default();
        for part in parts {
            vars = merge_sorted(&vars, &part.vars);
            constraints = merge_sorted(&constraints, &part.constraints);
            bounds = bounds.merge(&part.bounds);
        }
        let vars: Rc<[VarId]> = vars.into();
        let pool = match self.product(terms, parts, &vars) {
            Some(view) => ModelPool::All(Rc::new(view)),
            None => ModelPool::Some(Rc::new(self.combinations(parts, &vars))),
        };
        let mut group = ConstraintGroup::new(vars, pool);
        group.constraints = constraints.into();
        group.bounds = bounds;
        group.bounded = parts.iter().map(|p| p.bounded).sum();
        group.effort = Cell::new(parts.iter().map(|p| p.effort.get()).sum());
        if matches!(&*group.pool.borrow(), ModelPool::Some(_)) {
            group.partial = RefCell::new(Partial::of_parts(parts));
        }
        Rc::new(group)
    }

    /// All assignments of groups that are enumerated, if they are few.
    fn product(&self, terms: &Terms, parts: &[Rc<ConstraintGroup>], vars: &Rc<[VarId]>) -> Option<View> {
        let mut views = Vec::with_capacity(parts.len());
        let mut size = 1usize;
        for part in parts {
            let ModelPool::All(view) = &*part.pool.borrow() else { return None };
            size = size.checked_mul(view.len()).filter(|&s| s <= MAX_POINTS_BEFORE_SAT.min(self.config.enumeration))?;
            views.push(view.clone());
        }
        Some(View::product(terms, &views, vars.clone()))
    }

    /// Some combinations of the assignments in the pools.
    fn combinations(&self, parts: &[Rc<ConstraintGroup>], vars: &Rc<[VarId]>) -> Vec<Rc<Model>> {
        let size = self.config.pool.max(1);
        let pools: Vec<Vec<Rc<Model>>> = parts.iter().map(|p| p.models(size)).collect();
        (0..if pools.iter().all(|p| p.len() == 1) { 1 } else { size })
            .map(|k| {
                let mut model = Model::new(vars.clone(), vars.iter().map(|_| 0).collect());
                for (j, pool) in pools.iter().enumerate() {
                    // Later rounds pair the assignments differently.
                    model.overwrite(&pool[(k + j * (k / pool.len())) % pool.len()]);
                }
                Rc::new(model)
            })
            .collect()
    }

    /// A group over the variables of `base` with more constraints.
    fn descendant(
        &self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        conditions: &[TermId],
        pool: ModelPool,
    ) -> Rc<ConstraintGroup> {
        let mut group = ConstraintGroup::new(base.vars.clone(), pool);
        group.constraints = with_conditions(base, conditions);
        group.bounds = narrowed(terms, base, conditions);
        group.bounded = base.bounded + newly_bounded(terms, base, &group.bounds, conditions);
        group.effort = base.effort.clone();
        if matches!(&*group.pool.borrow(), ModelPool::Some(_)) {
            group.partial = base.partial.clone();
            if group.bounded == base.bounded {
                group.origin = Some(base.origin.clone().unwrap_or_else(|| base.clone()));
            }
        }
        Rc::new(group)
    }

    /// A group with more constraints, which this model satisfies.
    pub(crate) fn with_model(
        &self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        conditions: &[TermId],
        model: &Model,
    ) -> Rc<ConstraintGroup> {
        let values = base.vars.iter().map(|var| model.value(*var)).collect();
        let own = Rc::new(Model::new(base.vars.clone(), values));
        self.descendant(terms, base, conditions, ModelPool::Some(Rc::new(vec![own])))
    }

    /// Splits a group by a condition and its negation.
    pub(crate) fn split(&mut self, terms: &mut Terms, base: &Rc<ConstraintGroup>, yes: TermId, no: TermId) -> Split {
        if let Some(split) = self.splits.get(&(base.id, yes)) {
            self.stats.cache_hits += 1;
            return split.clone();
        }
        let split = self.split_new(terms, base, yes, no);
        let worth = |o: &Half| match o {
            Half::Unknown(_) => false,
            Half::ConstraintGroup(group) => group.weight() <= MAX_CACHED_GROUP_BYTES,
            Half::Implied | Half::Infeasible => true,
        };
        if worth(&split.yes) && worth(&split.no) {
            self.remember(BYTES_PER_ENTRY);
            let mirrored = Split { yes: split.no.clone(), no: split.yes.clone() };
            self.splits.insert((base.id, yes), split.clone());
            self.splits.insert((base.id, no), mirrored);
        }
        split
    }

    fn split_new(&mut self, terms: &mut Terms, base: &Rc<ConstraintGroup>, yes: TermId, no: TermId) -> Split {
        if let Some(truth) = self.certain(terms, base, yes, no) {
            self.stats.refuted += 1;
            return if truth {
                Split { yes: Half::Implied, no: Half::Infeasible }
            } else {
                Split { yes: Half::Infeasible, no: Half::Implied }
            };
        }
        let models = match self.pool_of(terms, base) {
            ModelPool::All(view) => return self.split_view(terms, base, &view, yes, no),
            ModelPool::Some(models) => models,
        };
        let (with, without): (Vec<_>, Vec<_>) = models.iter().cloned().partition(|m| m.satisfies(terms, yes));
        self.stats.pool_hits += u64::from(!with.is_empty()) + u64::from(!without.is_empty());
        let (on_yes, on_no) = match (with.is_empty(), without.is_empty()) {
            (false, false) => (self.grown(terms, base, &[yes], with), self.grown(terms, base, &[no], without)),
            (true, _) => {
                let (here, there) = self.split_seeking(terms, base, yes, no, without);
                return Split { yes: here, no: there };
            }
            (_, true) => {
                let (here, there) = self.split_seeking(terms, base, no, yes, with);
                return Split { yes: there, no: here };
            }
        };
        Split { yes: Half::ConstraintGroup(on_yes), no: Half::ConstraintGroup(on_no) }
    }

    /// No model at hand satisfies `wanted`; all satisfy `other`.
    fn split_seeking(
        &mut self,
        terms: &mut Terms,
        base: &Rc<ConstraintGroup>,
        wanted: TermId,
        other: TermId,
        models: Vec<Rc<Model>>,
    ) -> (Half, Half) {
        let start = self.start_query();
        let halves = match self.seek(terms, base, &[wanted]) {
            SearchOutcome::Models(found) => (
                Half::ConstraintGroup(self.grown(terms, base, &[wanted], found)),
                Half::ConstraintGroup(self.grown(terms, base, &[other], models)),
            ),
            SearchOutcome::Nothing => (Half::Infeasible, Half::Implied),
            SearchOutcome::All(view) => {
                let split = self.split_view(terms, base, &view, wanted, other);
                (split.yes, split.no)
            }
            SearchOutcome::Unknown(why) => {
                (Half::Unknown(why), Half::ConstraintGroup(self.grown(terms, base, &[other], models)))
            }
        };
        self.record_query(start, terms, base, &[wanted], &halves.0);
        halves
    }

    /// All assignments are known, so the split is exact.
    fn split_view(
        &mut self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        view: &Rc<View>,
        yes: TermId,
        no: TermId,
    ) -> Split {
        let (with, without) = view.partition(terms, &[yes]);
        if with.is_empty() {
            return Split { yes: Half::Infeasible, no: Half::Implied };
        }
        if without.is_empty() {
            return Split { yes: Half::Implied, no: Half::Infeasible };
        }
        let on_yes = self.grown_view(terms, base, &[yes], view.child(with));
        let on_no = self.grown_view(terms, base, &[no], view.child(without));
        Split { yes: on_yes, no: on_no }
    }

    /// The assignments at hand; all of them, if the group's origin has been enumerated meanwhile.
    fn pool_of(&self, terms: &Terms, base: &Rc<ConstraintGroup>) -> ModelPool {
        let pool = base.pool.borrow().clone();
        let (ModelPool::Some(_), Some(origin)) = (&pool, &base.origin) else { return pool };
        let ModelPool::All(domain) = &*origin.pool.borrow() else { return pool };
        self.adopt(terms, base, origin, domain).map_or(pool, ModelPool::All)
    }

    /// The assignments of a group among those of its origin.
    fn adopt(
        &self,
        terms: &Terms,
        base: &ConstraintGroup,
        origin: &ConstraintGroup,
        domain: &Rc<View>,
    ) -> Option<Rc<View>> {
        let known = |c: &TermId| origin.constraints.binary_search(c).is_ok();
        let extra: Vec<TermId> = base.constraints.iter().copied().filter(|c| !known(c)).collect();
        let view = if extra.is_empty() {
            domain.clone()
        } else {
            let (with, _) = domain.partition(terms, &extra);
            debug_assert!(!with.is_empty(), "a group without assignments");
            if with.is_empty() {
                return None;
            }
            Rc::new(domain.child(with))
        };
        *base.pool.borrow_mut() = ModelPool::All(view.clone());
        Some(view)
    }

    /// Decides a condition that is among the constraints, or implied by their bounds; `None` if neither.
    fn certain(&self, terms: &Terms, base: &ConstraintGroup, yes: TermId, no: TermId) -> Option<bool> {
        if base.constraints.binary_search(&yes).is_ok() {
            return Some(true);
        }
        if base.constraints.binary_search(&no).is_ok() {
            return Some(false);
        }
        base.bounds.decide(terms, yes)
    }

    /// One more condition.
    pub(crate) fn narrow_one(&mut self, terms: &mut Terms, base: &Rc<ConstraintGroup>, condition: TermId) -> Half {
        if let Some(split) = self.splits.get(&(base.id, condition)) {
            self.stats.cache_hits += 1;
            return split.yes.clone();
        }
        if let Some(outcome) = self.narrowed.get(&(base.id, condition)) {
            self.stats.cache_hits += 1;
            return outcome.clone();
        }
        let outcome = self.narrow(terms, base, &[condition]);
        let is_large = matches!(&outcome, Half::ConstraintGroup(group) if group.weight() > MAX_CACHED_GROUP_BYTES);
        if !matches!(outcome, Half::Unknown(_)) && !is_large {
            self.remember(0);
            self.narrowed.insert((base.id, condition), outcome.clone());
        }
        outcome
    }

    /// More conditions at once.
    pub(crate) fn narrow(&mut self, terms: &mut Terms, base: &Rc<ConstraintGroup>, conditions: &[TermId]) -> Half {
        let mut open = Vec::with_capacity(conditions.len());
        for &condition in conditions {
            let negated = terms.not(condition);
            match self.certain(terms, base, condition, negated) {
                Some(true) => {}
                Some(false) => {
                    self.stats.refuted += 1;
                    return Half::Infeasible;
                }
                None => open.push(condition),
            }
        }
        if open.is_empty() {
            return Half::Implied;
        }
        let models = match self.pool_of(terms, base) {
            ModelPool::All(view) => return self.narrow_view(terms, base, &view, &open),
            ModelPool::Some(models) => models,
        };
        let fitting: Vec<_> = models.iter().filter(|m| open.iter().all(|&c| m.satisfies(terms, c))).cloned().collect();
        if !fitting.is_empty() {
            self.stats.pool_hits += 1;
            return Half::ConstraintGroup(self.grown(terms, base, &open, fitting));
        }
        let start = self.start_query();
        let half = match self.seek(terms, base, &open) {
            SearchOutcome::Models(found) => Half::ConstraintGroup(self.grown(terms, base, &open, found)),
            SearchOutcome::Nothing => Half::Infeasible,
            SearchOutcome::All(view) => self.narrow_view(terms, base, &view, &open),
            SearchOutcome::Unknown(why) => Half::Unknown(why),
        };
        self.record_query(start, terms, base, &open, &half);
        half
    }

    fn narrow_view(
        &mut self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        view: &Rc<View>,
        conditions: &[TermId],
    ) -> Half {
        let (with, without) = view.partition(terms, conditions);
        if with.is_empty() {
            return Half::Infeasible;
        }
        if without.is_empty() {
            return Half::Implied;
        }
        self.grown_view(terms, base, conditions, view.child(with))
    }

    /// A group with more constraints, which the given models satisfy.
    fn grown(
        &mut self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        conditions: &[TermId],
        models: Vec<Rc<Model>>,
    ) -> Rc<ConstraintGroup> {
        debug_assert!(models.iter().all(|m| conditions.iter().all(|&c| m.satisfies(terms, c))));
        let key = (base.vars.clone(), with_conditions(base, conditions));
        if let Some(known) = self.interned.get(&key) {
            return known.clone();
        }
        let group = self.descendant(terms, base, conditions, ModelPool::Some(Rc::new(models)));
        self.remember(group.weight());
        self.interned.insert(key, group.clone());
        group
    }

    /// A group with more constraints, of which all assignments are known. The one that the path will show is evaluated
    /// for itself before it is believed.
    fn grown_view(&mut self, terms: &Terms, base: &Rc<ConstraintGroup>, conditions: &[TermId], view: View) -> Half {
        let group = self.descendant(terms, base, conditions, ModelPool::All(Rc::new(view)));
        let first = group.first();
        if group.constraints.iter().all(|&c| first.satisfies(terms, c)) {
            return Half::ConstraintGroup(group);
        }
        debug_assert!(false, "columns and models disagree");
        Half::Unknown(Why::Internal)
    }

    /// Searches a model of a group and some conditions that no model of the pool satisfies.
    fn seek(&mut self, terms: &mut Terms, base: &Rc<ConstraintGroup>, conditions: &[TermId]) -> SearchOutcome {
        let constraints: Vec<TermId> = base.constraints.iter().chain(conditions).copied().collect();
        let mut bounds = base.bounds.clone();
        let assumed = conditions.iter().try_for_each(|&c| bounds.assume(terms, c, true));
        if assumed.and_then(|()| bounds.propagate(terms, &constraints, conditions)).is_err()
            || conditions.len() <= MAX_ORDERED_CONDITIONS && conditions.iter().any(|&c| refutes(terms, &constraints, c))
        {
            self.stats.refuted += 1;
            return SearchOutcome::Nothing;
        }
        if let Some(models) = self.guess(terms, base, &constraints) {
            self.stats.guesses += 1;
            return SearchOutcome::Models(models);
        }
        if let Some(view) = self.enumerate_small(terms, base) {
            return SearchOutcome::All(view);
        }
        let deadline = self.query_deadline();
        let float = conditions.iter().any(|&c| terms.has_float(c));
        if float && let Some(model) = self.descend(terms, base, &bounds, &constraints, deadline) {
            self.stats.guesses += 1;
            return SearchOutcome::Models(self.crossed(terms, base, &constraints, model));
        }
        if float {
            let found = self.split_boxes(
                terms,
                base,
                &bounds,
                &constraints,
                conditions,
                BoxLimits { boxes: MAX_BOXES_BEFORE_SAT, deadline },
            );
            if let Some(found) = self.counted(found) {
                return found;
            }
        }
        if let Some(found) = self.ask_partial(terms, base, &constraints, conditions) {
            return found;
        }
        if self.effort == SolverEffort::Little {
            return SearchOutcome::Unknown(Why::Conflicts);
        }
        let first = self.config.conflicts.unwrap_or(u64::MAX).min(MAX_FIRST_CONFLICTS);
        let worn = base.effort.get() >= SAT_CALLS_BEFORE_ENUMERATION;
        if !worn {
            let answer = self.sat(
                terms,
                base,
                &constraints,
                Budget { conflicts: Some(first), rounds: Some(MAX_FIRST_LEMMA_ROUNDS), deadline },
            );
            if !matches!(answer, SearchOutcome::Unknown(Why::Conflicts)) {
                return answer;
            }
        }
        let case = Budget { conflicts: Some(first), rounds: Some(MAX_FIRST_LEMMA_ROUNDS), deadline };
        if let Some(found) = self.ask_products(terms, base, &bounds, &constraints, case) {
            return found;
        }
        if float {
            let found = self.split_boxes(
                terms,
                base,
                &bounds,
                &constraints,
                conditions,
                BoxLimits { boxes: MAX_BOXES_BEFORE_UNLIMITED_SAT, deadline },
            );
            if let Some(found) = self.counted(found) {
                return found;
            }
        }
        if let Some(view) = self.enumerate_large(terms, base, deadline) {
            return SearchOutcome::All(view);
        }
        if self.enumerate_partially(terms, base, deadline)
            && let Some(found) = self.ask_partial(terms, base, &constraints, conditions)
        {
            return found;
        }
        self.sat(terms, base, &constraints, Budget { conflicts: self.config.conflicts, rounds: None, deadline })
    }

    /// Notes how a question was settled without the SAT solver.
    fn counted(&mut self, found: Option<SearchOutcome>) -> Option<SearchOutcome> {
        match found {
            Some(SearchOutcome::Models(_)) => self.stats.guesses += 1,
            Some(SearchOutcome::Nothing) => self.stats.refuted += 1,
            _ => {}
        }
        found
    }

    pub(crate) fn sat(
        &mut self,
        terms: &mut Terms,
        base: &ConstraintGroup,
        constraints: &[TermId],
        budget: Budget,
    ) -> SearchOutcome {
        if budget.deadline.is_over() {
            return SearchOutcome::Unknown(Why::Timeout);
        }
        let before = self.sat.calls;
        let answer = self.sat.solve(terms, constraints, &base.vars, budget);
        base.effort.set(base.effort.get() + self.sat.calls - before);
        match answer {
            SatAnswer::Sat(model) => SearchOutcome::Models(self.crossed(terms, base, constraints, model)),
            SatAnswer::Unsat => SearchOutcome::Nothing,
            SatAnswer::Unknown(why) => SearchOutcome::Unknown(why),
        }
    }

    /// Guesses from a few models at hand. More than one success makes a richer pool.
    fn guess(&mut self, terms: &Terms, base: &ConstraintGroup, constraints: &[TermId]) -> Option<Vec<Rc<Model>>> {
        let ModelPool::Some(models) = &*base.pool.borrow() else { return None };
        let old = base.constraints.len();
        let mut found: Vec<Rc<Model>> = Vec::new();
        for (k, model) in models.iter().take(MAX_GUESS_STARTS).enumerate() {
            if let Some(values) = self.scratch.guess(terms, model, constraints, old) {
                let model = Model::new(base.vars.clone(), values);
                if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                    found.push(Rc::new(model));
                } else {
                    debug_assert!(false, "two evaluators disagree");
                }
            }
            // Two failures in the beginning: this is no matter of luck.
            if found.is_empty() && k >= 1 {
                return None;
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// A model that was hard to find, and what else it makes of the models at hand: each of them with the values of the
    /// new condition's variables.
    fn crossed(
        &self,
        terms: &Terms,
        base: &ConstraintGroup,
        constraints: &[TermId],
        model: Rc<Model>,
    ) -> Vec<Rc<Model>> {
        let ModelPool::Some(models) = &*base.pool.borrow() else { return vec![model] };
        let mut all = vec![model.clone()];
        let fresh = &constraints[base.constraints.len()..];
        for other in models.iter().take(MAX_CROSSED_MODELS) {
            let mut child = Model::new(base.vars.clone(), other.values().map(|v| v.1).collect());
            for &condition in fresh {
                let support = terms.support(condition);
                child.overwrite(&Model::from_values(support.iter().map(|&v| (v, model.value(v)))));
            }
            if constraints.iter().all(|&c| child.satisfies(terms, c)) {
                all.push(Rc::new(child));
            }
        }
        all
    }

    /// All assignments of a group, if its box is small.
    fn enumerate_small(&mut self, terms: &Terms, base: &Rc<ConstraintGroup>) -> Option<Rc<View>> {
        let limit = MAX_POINTS_BEFORE_SAT.min(self.config.enumeration);
        let size = box_size(terms, &base.bounds, &base.vars)?;
        if limit == 0 || size > (limit as f64).log2() {
            return None;
        }
        self.enumerate(terms, base, Limit { points: limit, deadline: Deadline::NEVER })
    }

    /// All assignments of a group, relying on its constraints to keep them few: those of its origin, filtered, or its
    /// own if there are too many.
    fn enumerate_large(&mut self, terms: &Terms, base: &Rc<ConstraintGroup>, deadline: Deadline) -> Option<Rc<View>> {
        let limit = self.config.enumeration;
        for candidate in base.origin.iter().chain([base]) {
            let size = box_size(terms, &candidate.bounds, &candidate.vars);
            let Some(size) = size.filter(|&s| s <= LARGEST_BOX && limit > 0) else { continue };
            if self.too_large.get(&base.vars).is_some_and(|&failed| size > failed - 3.0) {
                continue;
            }
            match self.enumerate(terms, candidate, Limit { points: limit, deadline }) {
                Some(domain) => return self.adopt(terms, base, candidate, &domain),
                None => {
                    self.too_large.insert(base.vars.clone(), size);
                }
            }
        }
        None
    }

    /// Enumerates a group; it then knows its assignments for good.
    fn enumerate(&mut self, terms: &Terms, group: &ConstraintGroup, limit: Limit) -> Option<Rc<View>> {
        let view = Rc::new(enumerate(terms, &group.bounds, &group.vars, &group.constraints, limit)?);
        self.stats.domains += 1;
        *group.pool.borrow_mut() = ModelPool::All(view.clone());
        Some(view)
    }

    fn query_deadline(&self) -> Deadline {
        Deadline::within(self.config.timeout).or_earlier(self.config.deadline)
    }

    /// All values of a term, where the group it belongs to is enumerated.
    pub(crate) fn all_values(&self, terms: &Terms, path: &Path, term: TermId) -> Option<Vec<u64>> {
        match path.groups_of(terms.support(term)) {
            (groups, false) if groups.len() == 1 => match &*groups[0].pool.borrow() {
                ModelPool::All(view) => Some(view.values(terms, term)),
                ModelPool::Some(_) => None,
            },
            _ => None,
        }
    }
}

fn with_conditions(base: &ConstraintGroup, conditions: &[TermId]) -> Rc<[TermId]> {
    let mut sorted = conditions.to_vec();
    sorted.sort_unstable();
    merge_sorted(&base.constraints, &sorted).into()
}

/// Returns the number of variables of the conditions that have few values now and had more before.
fn newly_bounded(terms: &Terms, base: &ConstraintGroup, bounds: &Bounds, conditions: &[TermId]) -> usize {
    if base.bounded == base.vars.len() {
        return 0;
    }
    let mut vars: Vec<VarId> = conditions.iter().flat_map(|&c| terms.support(c)).copied().collect();
    vars.sort_unstable();
    vars.dedup();
    bounded_vars(terms, bounds, &vars).len() - bounded_vars(terms, &base.bounds, &vars).len()
}

/// The bounds of a group with more constraints, which are known to be satisfiable.
fn narrowed(terms: &Terms, base: &ConstraintGroup, conditions: &[TermId]) -> Bounds {
    let mut bounds = base.bounds.clone();
    for &condition in conditions {
        let consistent = bounds.assume(terms, condition, true);
        debug_assert!(consistent.is_ok(), "bounds contradict a constraint that has a model");
    }
    bounds
}

/// The value of a variable in the `k`-th guess.
fn first_guess(terms: &Terms, random: &mut Random, k: usize, var: VarId) -> u64 {
    let raw = random.next();
    let width = terms.var_width(var);
    if let Some(format) = terms.var_float(var) {
        return float_guess::first(format, k, raw);
    }
    let value = match k {
        0 => 0,
        1 => raw % 8,
        2 => u64::MAX,
        3 => 1,
        4 => raw % 128,
        5 => (raw % 16).wrapping_neg(),
        6 => 1 << (width - 1),
        7 => mask(width) >> 1,
        _ if k.is_multiple_of(2) => raw % 256,
        _ => raw,
    };
    value & mask(width)
}
