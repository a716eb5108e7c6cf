//! Supports: the sets of variables that terms depend on. Small sets are interned, so equal ones have equal ids. A large
//! union is represented lazily and listed on demand: a sum that grows by one variable per step would otherwise store a
//! list for each step.

use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use touchstone_base::{Id, IndexMap, define_id};

use crate::terms::term::VarId;

define_id! {
    /// A set of variables.
    SupportId, "s"
}

/// The maximum size of both operands of a union that is listed eagerly.
const MAX_EAGER_UNION: usize = 512;

struct Support {
    /// Sorted, once they were asked for.
    vars: OnceCell<Box<[VarId]>>,
    /// The operands of a lazy union.
    parts: [SupportId; 2],
}

/// All sets of a store.
pub(crate) struct Supports {
    sets: IndexMap<SupportId, Support>,
    ids: FxHashMap<Box<[VarId]>, SupportId>,
    unions: FxHashMap<(SupportId, SupportId), SupportId>,
}

impl Supports {
    /// Only the empty set.
    pub(crate) fn new() -> Supports {
        let mut supports = Supports { sets: IndexMap::new(), ids: FxHashMap::default(), unions: FxHashMap::default() };
        supports.intern(Box::new([]));
        supports
    }

    /// The empty set.
    pub(crate) fn empty() -> SupportId {
        SupportId::new(0)
    }

    /// A set of these variables, which are sorted and without repetition.
    pub(crate) fn intern(&mut self, vars: Box<[VarId]>) -> SupportId {
        if let Some(&id) = self.ids.get(&vars) {
            return id;
        }
        let support = Support { vars: OnceCell::from(vars.clone()), parts: [Supports::empty(); 2] };
        let id = self.sets.push(support);
        self.ids.insert(vars, id);
        id
    }

    /// The variables of a set, sorted.
    pub(crate) fn vars(&self, id: SupportId) -> &[VarId] {
        self.sets[id].vars.get_or_init(|| self.list(id))
    }

    fn list(&self, id: SupportId) -> Box<[VarId]> {
        let (mut vars, mut seen) = (Vec::new(), FxHashSet::default());
        let mut open = self.sets[id].parts.to_vec();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            match self.sets[part].vars.get() {
                Some(listed) => vars.extend_from_slice(listed),
                None => open.extend(self.sets[part].parts),
            }
        }
        vars.sort_unstable();
        vars.dedup();
        vars.into_boxed_slice()
    }

    /// The union of two sets.
    pub(crate) fn union(&mut self, a: SupportId, b: SupportId) -> SupportId {
        if a == b || b == Supports::empty() {
            return a;
        }
        if a == Supports::empty() {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&id) = self.unions.get(&key) {
            return id;
        }
        let id = match (self.sets[a].vars.get(), self.sets[b].vars.get()) {
            (Some(x), Some(y)) if x.len() + y.len() <= MAX_EAGER_UNION => {
                let merged = merge_sorted(x, y);
                self.intern(merged.into_boxed_slice())
            }
            (Some(x), Some(y)) if contains(x, y) => a,
            (Some(x), Some(y)) if contains(y, x) => b,
            _ => self.sets.push(Support { vars: OnceCell::new(), parts: [a, b] }),
        };
        self.unions.insert(key, id);
        id
    }

    /// The union of many sets, merged at once so that a large array costs n log n.
    pub(crate) fn union_all(&mut self, mut supports: Vec<SupportId>) -> SupportId {
        supports.sort_unstable();
        supports.dedup();
        let mut vars: Vec<VarId> = supports.iter().flat_map(|&s| self.vars(s).iter().copied()).collect();
        vars.sort_unstable();
        vars.dedup();
        self.intern(vars.into_boxed_slice())
    }
}

/// Returns true if a sorted slice contains all elements of another.
fn contains(all: &[VarId], some: &[VarId]) -> bool {
    some.len() <= all.len() && some.iter().all(|var| all.binary_search(var).is_ok())
}

/// The union of two sorted slices without repetition.
pub(crate) fn merge_sorted<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (a[i], b[j]);
        merged.push(x.min(y));
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(supports: &mut Supports, vars: std::ops::Range<usize>) -> SupportId {
        supports.intern(vars.map(VarId::new).collect())
    }

    #[test]
    fn merging_keeps_order_and_drops_repetitions() {
        assert_eq!(merge_sorted(&[1, 3, 5], &[2, 3, 9]), [1, 2, 3, 5, 9]);
        assert_eq!(merge_sorted(&[], &[2]), [2]);
    }

    #[test]
    fn small_unions_are_the_set_that_they_make() {
        let mut supports = Supports::new();
        let (a, b, both) = (set(&mut supports, 0..3), set(&mut supports, 2..5), set(&mut supports, 0..5));
        assert_eq!(supports.union(a, b), both);
        assert_eq!(supports.union(both, a), both);
        assert_eq!(supports.union(Supports::empty(), b), b);
    }

    #[test]
    fn a_union_that_grows_step_by_step_is_listed_when_it_is_asked_for() {
        let mut supports = Supports::new();
        let mut sum = Supports::empty();
        for step in 0..4 * MAX_EAGER_UNION {
            let one = set(&mut supports, step..step + 1);
            sum = supports.union(sum, one);
        }
        let held: usize = supports.sets.iter().filter_map(|(_, set)| set.vars.get()).map(|vars| vars.len()).sum();
        assert!(held < MAX_EAGER_UNION * MAX_EAGER_UNION, "{held} variables are listed eagerly");
        let all: Vec<VarId> = (0..4 * MAX_EAGER_UNION).map(VarId::new).collect();
        assert_eq!(supports.vars(sum), all);
        // What is listed shows what it has.
        let some = set(&mut supports, 7..9);
        assert_eq!(supports.union(sum, some), sum);
    }
}
