//! Domains of some variables of a group, where the others have too many values to enumerate.
//!
//! The points are all assignments of those variables that satisfy the constraints about them alone. A condition without
//! a point is refuted; a point is only a hint, since the constraints that entangle it with other variables may exclude
//! it.

use std::rc::Rc;

use touchstone_base::Deadline;

use crate::models::enumerate::{Limit, bounded_vars, box_size, enumerate};
use crate::models::model::Model;
use crate::models::view::View;
use crate::search::answers::{LARGEST_BOX, SearchOutcome};
use crate::search::constraint_path::{ConstraintGroup, ModelPool};
use crate::search::solver::Solver;
use crate::terms::term::{TermId, VarId};
use crate::terms::term_store::Terms;

/// Points from which a guess is started.
const MAX_GUESS_STARTS: usize = 4;

/// All assignments of some variables under some constraints.
#[derive(Clone)]
pub(crate) struct Partial {
    view: Rc<View>,
    /// The constraints that all points satisfy, sorted.
    constraints: Rc<[TermId]>,
}

impl Partial {
    /// The greatest domain among groups that are joined.
    pub(crate) fn of_parts(parts: &[Rc<ConstraintGroup>]) -> Option<Partial> {
        let mut best: Option<Partial> = None;
        for part in parts {
            let own = match &*part.pool.borrow() {
                ModelPool::All(view) => Some(Partial { view: view.clone(), constraints: part.constraints.clone() }),
                ModelPool::Some(_) => part.partial.borrow().clone(),
            };
            if let Some(own) = own
                && best.as_ref().is_none_or(|b| own.view.vars().len() > b.view.vars().len())
            {
                best = Some(own);
            }
        }
        best
    }

    fn covers(&self, terms: &Terms, condition: TermId) -> bool {
        is_subset(terms.support(condition), self.view.vars())
    }

    /// With all constraints of a group that are about these variables alone. `None`: no point is left.
    fn refined(&self, terms: &Terms, constraints: &[TermId]) -> Option<Partial> {
        let new = |c: &TermId| self.constraints.binary_search(c).is_err() && self.covers(terms, *c);
        let extra: Vec<TermId> = constraints.iter().copied().filter(new).collect();
        if extra.is_empty() {
            return Some(self.clone());
        }
        let (with, without) = self.view.partition(terms, &extra);
        if with.is_empty() {
            return None;
        }
        let view = if without.is_empty() { self.view.clone() } else { Rc::new(self.view.child(with)) };
        let mut all: Vec<TermId> = self.constraints.iter().copied().chain(extra).collect();
        all.sort_unstable();
        Some(Partial { view, constraints: all.into() })
    }
}

fn is_subset(small: &[VarId], large: &[VarId]) -> bool {
    small.iter().all(|v| large.binary_search(v).is_ok())
}

impl Solver {
    /// Asks the partial domain of a group, if the conditions are about its variables alone.
    pub(crate) fn ask_partial(
        &mut self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        constraints: &[TermId],
        conditions: &[TermId],
    ) -> Option<SearchOutcome> {
        let own = base.partial.borrow().clone();
        let partial = own.or_else(|| base.origin.as_ref()?.partial.borrow().clone())?;
        if !conditions.iter().any(|&c| partial.covers(terms, c)) {
            return None;
        }
        let Some(own) = partial.refined(terms, &base.constraints) else {
            debug_assert!(false, "a group without assignments");
            return None;
        };
        *base.partial.borrow_mut() = Some(own.clone());
        let Some(here) = own.refined(terms, conditions) else { return Some(SearchOutcome::Nothing) };
        let first = base.first();
        for hint in here.view.sample(MAX_GUESS_STARTS) {
            let mut model = Model::new(base.vars.clone(), first.values().map(|v| v.1).collect());
            model.overwrite(&hint);
            if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                return Some(SearchOutcome::Models(vec![Rc::new(model)]));
            }
            if let Some(values) = self.scratch.guess(terms, &model, constraints, 0) {
                let model = Model::new(base.vars.clone(), values);
                if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                    return Some(SearchOutcome::Models(vec![Rc::new(model)]));
                }
            }
        }
        None
    }

    /// Enumerates the variables that have few values, of the origin of a group or of the group itself.
    pub(crate) fn enumerate_partially(
        &mut self,
        terms: &Terms,
        base: &Rc<ConstraintGroup>,
        deadline: Deadline,
    ) -> bool {
        if self.config.enumeration == 0 || base.bounded == 0 || base.bounded == base.vars.len() {
            return false;
        }
        base.origin.iter().chain([base]).any(|group| self.enumerate_bounded(terms, group, deadline))
    }

    fn enumerate_bounded(&mut self, terms: &Terms, group: &ConstraintGroup, deadline: Deadline) -> bool {
        if group.partial.borrow().is_some() {
            return false;
        }
        let vars: Rc<[VarId]> = bounded_vars(terms, &group.bounds, &group.vars).into();
        let Some(size) = box_size(terms, &group.bounds, &vars).filter(|&s| s <= LARGEST_BOX) else { return false };
        if self.too_large.get(&vars).is_some_and(|&failed| size > failed - 3.0) {
            return false;
        }
        let inside: Vec<TermId> =
            group.constraints.iter().copied().filter(|&c| is_subset(terms.support(c), &vars)).collect();
        let limit = Limit { points: self.config.enumeration, deadline };
        match enumerate(terms, &group.bounds, &vars, &inside, limit) {
            Some(view) => {
                self.stats.domains += 1;
                *group.partial.borrow_mut() = Some(Partial { view: Rc::new(view), constraints: inside.into() });
                true
            }
            None => {
                self.too_large.insert(vars, size);
                false
            }
        }
    }
}
