//! The constraints of one path, grouped by shared variables.
//!
//! A [`ConstraintGroup`] is a set of constraints over variables that no other constraint of the path mentions, with everything
//! known about it: bounds, and a pool of assignments that satisfy it, which may be *all* of them. A path is a set of
//! groups; since they share no variable, any choice of one assignment per group is a model of the path. Groups are
//! immutable and shared between paths, so what was learned about one is learned for all.
//!
//! **Invariant**: the pool of a group is never empty, and each of its assignments was evaluated against every
//! constraint of the group. So a path always has a model.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use touchstone_base::Id;

use crate::models::model::Model;
use crate::models::view::View;
use crate::search::partial::Partial;
use crate::terms::path_bounds::Bounds;
use crate::terms::term::{TermId, VarId};

/// Constraints that hang together, and what is known about them.
pub(crate) struct ConstraintGroup {
    /// Unique.
    pub(crate) id: u64,
    /// Sorted.
    pub(crate) vars: Rc<[VarId]>,
    /// Sorted.
    pub(crate) constraints: Rc<[TermId]>,
    pub(crate) bounds: Bounds,
    /// Becomes `All` when the group is enumerated.
    pub(crate) pool: RefCell<ModelPool>,
    /// SAT calls along the history of this group; enumeration pays above some number.
    pub(crate) effort: Cell<u64>,
    /// The number of variables with few values.
    pub(crate) bounded: usize,
    /// The earliest group over the same variables that bounds as many of them: the one to enumerate, since all that
    /// came of it can then be had by filtering.
    pub(crate) origin: Option<Rc<ConstraintGroup>>,
    /// A domain of some of the variables, where there is no `All`.
    pub(crate) partial: RefCell<Option<Partial>>,
    /// The assignment that represents the path, computed at its first use.
    pub(crate) first: OnceCell<Rc<Model>>,
}

/// Assignments that satisfy a group.
#[derive(Clone)]
pub(crate) enum ModelPool {
    /// Some of them, at least one.
    Some(Rc<Vec<Rc<Model>>>),
    /// All of them, at least one.
    All(Rc<View>),
}

/// Ids are unique in the process, since two solvers may meet the same paths. They never show in a result.
static NEXT_GROUP: AtomicU64 = AtomicU64::new(0);

impl ConstraintGroup {
    /// A group without constraints.
    pub(crate) fn new(vars: Rc<[VarId]>, pool: ModelPool) -> ConstraintGroup {
        ConstraintGroup {
            id: NEXT_GROUP.fetch_add(1, Ordering::Relaxed),
            vars,
            constraints: Rc::new([]),
            bounds: Bounds::default(),
            pool: RefCell::new(pool),
            effort: Cell::new(0),
            bounded: 0,
            origin: None,
            partial: RefCell::new(None),
            first: OnceCell::new(),
        }
    }

    /// The first assignment of the pool.
    pub(crate) fn first(&self) -> Rc<Model> {
        let choose = || match &*self.pool.borrow() {
            ModelPool::Some(models) => models[0].clone(),
            ModelPool::All(view) => Rc::new(view.point(0)),
        };
        self.first.get_or_init(choose).clone()
    }

    /// Returns the approximate size of the group in bytes.
    pub(crate) fn weight(&self) -> usize {
        let pool = match &*self.pool.borrow() {
            ModelPool::Some(models) => models.len() * (self.vars.len() * 8 + 400),
            ModelPool::All(view) => view.len() * self.vars.len(),
        };
        pool + self.constraints.len() * 80 + self.vars.len() * 80
    }

    /// At most `limit` assignments of the pool.
    pub(crate) fn models(&self, limit: usize) -> Vec<Rc<Model>> {
        match &*self.pool.borrow() {
            ModelPool::Some(models) => models.iter().take(limit).cloned().collect(),
            ModelPool::All(view) => view.sample(limit).into_iter().map(Rc::new).collect(),
        }
    }
}

/// The constraints of one path. Cheap to clone. It always has at least one model that satisfies all of them.
#[derive(Clone)]
pub struct Path {
    /// For each variable the slot of its group plus one; 0 or absent: unconstrained.
    slots: Rc<Vec<u32>>,
    groups: Rc<Vec<Option<Rc<ConstraintGroup>>>>,
    trail: Option<Rc<Link>>,
    model: OnceCell<Rc<Model>>,
}

/// One constraint after another, newest first.
struct Link {
    constraint: TermId,
    before: Option<Rc<Link>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        // A long trail must not be freed recursively.
        let mut next = self.before.take();
        while let Some(link) = next {
            match Rc::try_unwrap(link) {
                Ok(mut link) => next = link.before.take(),
                Err(_) => break,
            }
        }
    }
}

impl Default for Path {
    fn default() -> Self {
        Path::new()
    }
}

impl Path {
    /// No constraints.
    pub fn new() -> Path {
        Path { slots: Rc::default(), groups: Rc::default(), trail: None, model: OnceCell::new() }
    }

    /// The constraints in the order in which they were taken in, conjunctions split, implied ones included.
    pub fn constraints(&self) -> Vec<TermId> {
        let mut constraints = Vec::new();
        let mut next = self.trail.as_ref();
        while let Some(link) = next {
            constraints.push(link.constraint);
            next = link.before.as_ref();
        }
        constraints.reverse();
        constraints
    }

    /// A model of all constraints; always the same for the same path.
    pub fn model(&self) -> Rc<Model> {
        self.model.get_or_init(|| self.compose(|group| group.first())).clone()
    }

    /// A model made of one assignment per group.
    pub(crate) fn compose(&self, of: impl Fn(&Rc<ConstraintGroup>) -> Rc<Model>) -> Rc<Model> {
        let mut values: Vec<(VarId, u64)> = Vec::new();
        for group in self.groups.iter().flatten() {
            values.extend(of(group).values());
        }
        values.sort_unstable();
        let vars: Rc<[VarId]> = values.iter().map(|v| v.0).collect();
        Rc::new(Model::new(vars, values.into_iter().map(|v| v.1).collect()))
    }

    pub(crate) fn group_of(&self, var: VarId) -> Option<&Rc<ConstraintGroup>> {
        match self.slots.get(var.index()) {
            Some(&slot) if slot > 0 => self.groups[slot as usize - 1].as_ref(),
            _ => None,
        }
    }

    /// The groups that mention any of the variables, in a fixed order, and whether some variable has none.
    pub(crate) fn groups_of(&self, vars: &[VarId]) -> (Vec<Rc<ConstraintGroup>>, bool) {
        let mut slots: Vec<u32> = Vec::new();
        let mut free = false;
        for var in vars {
            match self.slots.get(var.index()).copied().unwrap_or(0) {
                0 => free = true,
                slot if slots.last() == Some(&slot) => {}
                slot => slots.push(slot),
            }
        }
        if slots.len() > 1 {
            slots.sort_unstable();
            slots.dedup();
        }
        (slots.iter().filter_map(|&s| self.groups[s as usize - 1].clone()).collect(), free)
    }

    /// The path with a constraint that its groups already imply.
    pub(crate) fn noting(&self, constraint: TermId) -> Path {
        let mut path = self.clone();
        path.trail = Some(Rc::new(Link { constraint, before: path.trail.take() }));
        path
    }

    /// The path after `group` has taken the place of all groups that share variables with it.
    pub(crate) fn replacing(&self, group: Rc<ConstraintGroup>, noted: &[TermId]) -> Path {
        let mut path = self.clone();
        for &constraint in noted {
            path.trail = Some(Rc::new(Link { constraint, before: path.trail.take() }));
        }
        path.model = OnceCell::new();
        let slots = Rc::make_mut(&mut path.slots);
        let groups = Rc::make_mut(&mut path.groups);
        let highest = group.vars.last().map_or(0, |v| v.index() + 1);
        if slots.len() < highest {
            slots.resize(highest, 0);
        }
        let mut home: Option<u32> = None;
        for var in group.vars.iter() {
            let slot = slots[var.index()];
            if slot > 0 && Some(slot) != home {
                if home.is_none() {
                    home = Some(slot);
                } else {
                    groups[slot as usize - 1] = None;
                }
            }
        }
        let home = home.unwrap_or_else(|| match groups.iter().position(Option::is_none) {
            Some(free) => free as u32 + 1,
            None => {
                groups.push(None);
                groups.len() as u32
            }
        });
        for var in group.vars.iter() {
            slots[var.index()] = home;
        }
        groups[home as usize - 1] = Some(group);
        path
    }
}
