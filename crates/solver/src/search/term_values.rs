//! All values of a term on a path.
//!
//! The first ones are enumerated by blocking: each value is excluded from the next query. That is fast for a few
//! values, but its cost is quadratic. So the gaps between the first ones are then searched range by range, each range
//! halved by the value that is found in it: every query has only two conditions more than the path, however many values
//! there are.

use std::collections::VecDeque;
use std::time::Instant;

use crate::search::constraint_path::Path;
use crate::search::solver::{Side, Solver, Values};
use crate::terms::semantics::mask;
use crate::terms::term::{Rel, TermId};
use crate::terms::term_store::Terms;

/// The number of values that are enumerated by blocking.
const MAX_BLOCKED_VALUES: usize = 64;
/// The number of queries between two checks of the memory limit.
const QUERIES_PER_MEMORY_CHECK: usize = 64;

/// The completeness of a list of values.
enum Listed {
    All,
    /// There are more, or may be.
    Some,
    /// The values that were enumerated by blocking.
    Begun,
}

impl Solver {
    /// The values of a term on a path, at most `limit`.
    pub fn values(&mut self, terms: &mut Terms, path: &Path, term: TermId, limit: usize) -> Values {
        let start = Instant::now();
        let found = match self.all_values(terms, path, term) {
            Some(mut values) => {
                let complete = values.len() <= limit;
                values.truncate(limit);
                Values { values, complete }
            }
            None => self.asked_values(terms, path, term, limit),
        };
        self.account(start);
        found
    }

    fn asked_values(&mut self, terms: &mut Terms, path: &Path, term: TermId, limit: usize) -> Values {
        let mut values = Vec::new();
        let mut listed = self.block_values(terms, path, term, limit.min(MAX_BLOCKED_VALUES), &mut values);
        values.sort_unstable();
        if matches!(listed, Listed::Begun) && values.len() < limit {
            listed = self.range_by_range(terms, path, term, limit, &mut values);
            values.sort_unstable();
        }
        Values { values, complete: matches!(listed, Listed::All) }
    }

    fn block_values(
        &mut self,
        terms: &mut Terms,
        path: &Path,
        term: TermId,
        limit: usize,
        values: &mut Vec<u64>,
    ) -> Listed {
        let mut path = path.clone();
        while values.len() < limit {
            if self.config.deadline.is_over() {
                return Listed::Some;
            }
            let value = path.model().eval(terms, term);
            values.push(value);
            let seen = terms.constant(terms.width(term), value);
            let other = terms.ne(term, seen);
            self.stats.queries += 1;
            match self.extend(terms, &path, vec![other]) {
                Side::Feasible(rest) => path = rest,
                Side::Infeasible => return Listed::All,
                Side::Unknown(_) => return Listed::Some,
            }
        }
        Listed::Begun
    }

    /// `values` are sorted; those that are found are put behind them.
    fn range_by_range(
        &mut self,
        terms: &mut Terms,
        path: &Path,
        term: TermId,
        limit: usize,
        values: &mut Vec<u64>,
    ) -> Listed {
        let width = terms.width(term);
        // In the order in which they came up, so that a list that ends early has values of the whole range.
        let mut open = gaps(values, mask(width));
        for question in 1.. {
            let Some((low, high)) = open.pop_front() else { break };
            let check_memory = question % QUERIES_PER_MEMORY_CHECK == 0;
            if self.config.deadline.is_over()
                || check_memory && self.config.memory.is_some_and(|memory| memory.is_met())
            {
                return Listed::Some;
            }
            let (from, to) = (terms.constant(width, low), terms.constant(width, high));
            let inside = vec![terms.cmp(Rel::Ule, from, term), terms.cmp(Rel::Ule, term, to)];
            self.stats.queries += 1;
            let value = match self.extend(terms, path, inside) {
                Side::Feasible(here) => here.model().eval(terms, term),
                Side::Infeasible => continue,
                Side::Unknown(_) => return Listed::Some,
            };
            if values.len() >= limit {
                return Listed::Some;
            }
            values.push(value);
            open.extend((low < value).then(|| (low, value - 1)));
            open.extend((value < high).then(|| (value + 1, high)));
        }
        Listed::All
    }
}

/// Returns the ranges before, between and after sorted values, up to a greatest one.
fn gaps(values: &[u64], greatest: u64) -> VecDeque<(u64, u64)> {
    let mut gaps = VecDeque::new();
    let mut next = Some(0);
    for &value in values {
        gaps.extend(next.filter(|next| *next < value).map(|next| (next, value - 1)));
        next = value.checked_add(1);
    }
    gaps.extend(next.filter(|next| *next <= greatest).map(|next| (next, greatest)));
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::solver::Config;
    use crate::terms::term::Op;

    #[test]
    fn gaps_are_all_but_the_values() {
        assert_eq!(gaps(&[], 7), [(0, 7)]);
        assert_eq!(gaps(&[0, 3, 4, 7], 7), [(1, 2), (5, 6)]);
        assert_eq!(gaps(&[2, u64::MAX], u64::MAX), [(0, 1), (3, u64::MAX - 1)]);
    }

    /// Returns the values of `3 * x` for `x` below 500: more than are enumerated by blocking, with gaps between them.
    fn multiples(limit: usize) -> Values {
        let mut terms = Terms::new();
        let mut solver = Solver::new(Config { enumeration: 0, ..Config::default() });
        let x = terms.var(32, "x");
        let (three, most) = (terms.constant(32, 3), terms.constant(32, 500));
        let below = terms.cmp(Rel::Ult, x, most);
        let Side::Feasible(path) = solver.assume(&mut terms, &Path::new(), below) else { panic!("500 values") };
        let product = terms.bin(Op::Mul, x, three);
        solver.values(&mut terms, &path, product, limit)
    }

    #[test]
    fn many_values_are_all_found_once() {
        for limit in [500, 1000] {
            let found = multiples(limit);
            assert!(found.complete);
            assert_eq!(found.values, (0..500).map(|x| 3 * x).collect::<Vec<u64>>());
        }
    }

    #[test]
    fn a_list_that_ends_early_says_so_and_has_values_of_the_whole_range() {
        for limit in [1, 64, 65, 300, 499] {
            let found = multiples(limit);
            assert!(!found.complete);
            assert_eq!(found.values.len(), limit);
            assert!(found.values.is_sorted_by(|a, b| a < b) && found.values.iter().all(|v| v % 3 == 0 && *v < 1500));
        }
    }
}
