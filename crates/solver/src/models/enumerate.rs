//! Enumeration of all assignments of a group, variable by variable, each constraint checked as soon as its variables
//! are assigned. Eight distinct numbers below eight are 40,320 points, though the product of their ranges is 16 million.

use std::rc::Rc;

use touchstone_base::Deadline;

use crate::models::program::{BLOCK, TermProgram};
use crate::models::view::{Column, View};
use crate::terms::path_bounds::Bounds;
use crate::terms::term::{TermId, VarId};
use crate::terms::term_store::Terms;

/// The maximum size of the points of an enumeration in bytes.
const MAX_POINT_BYTES: usize = 1 << 26;

/// The maximum number of points visited, as a multiple of the points allowed.
const MAX_POINTS_FACTOR: usize = 16;

/// Returns the number of values that a variable may have by its bounds, or `None` if there are more than 2^20.
fn width_of_domain(terms: &Terms, bounds: &Bounds, var: VarId) -> Option<u64> {
    let facts = bounds.facts(terms, terms.var_term(var));
    let span = facts.span();
    (span < 1 << 20).then(|| span + 1)
}

/// The variables that have few values.
pub(crate) fn bounded_vars(terms: &Terms, bounds: &Bounds, vars: &[VarId]) -> Vec<VarId> {
    vars.iter().copied().filter(|&v| width_of_domain(terms, bounds, v).is_some()).collect()
}

/// The logarithm (base 2) of the size of the box around all assignments; `None`: some variable is not bounded.
pub(crate) fn box_size(terms: &Terms, bounds: &Bounds, vars: &[VarId]) -> Option<f64> {
    let mut size = 0.0;
    for &var in vars {
        size += (width_of_domain(terms, bounds, var)? as f64).log2();
    }
    Some(size)
}

/// The limits of an enumeration.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// Points, at most.
    pub points: usize,
    pub deadline: Deadline,
}

/// All assignments of the variables that satisfy the constraints, if they are few enough.
pub(crate) fn enumerate(
    terms: &Terms,
    bounds: &Bounds,
    vars: &Rc<[VarId]>,
    constraints: &[TermId],
    limit: Limit,
) -> Option<View> {
    let mut points = Points { vars: Vec::new(), columns: Vec::new(), len: 1 };
    let mut open: Vec<TermId> = constraints.to_vec();
    let mut left: Vec<(VarId, Vec<u64>)> = Vec::new();
    let mut work = limit.points.saturating_mul(MAX_POINTS_FACTOR);
    for &var in vars.iter() {
        let domain = domain_of(terms, bounds, var)?;
        let own: Vec<TermId> = open.iter().copied().filter(|&c| terms.support(c) == [var]).collect();
        open.retain(|c| !own.contains(c));
        work = work.checked_sub(domain.len())?;
        let single = Points { vars: Vec::new(), columns: Vec::new(), len: 1 };
        let single = single.extended(terms, var, &domain, &own, Limit { points: usize::MAX, ..limit })?;
        left.push((var, single.columns.first().map_or_else(Vec::new, Column::to_vec)));
    }
    while !left.is_empty() {
        let next = choose(terms, &points.vars, &left, &open);
        let (var, domain) = left.remove(next);
        let mut assigned = points.vars.clone();
        assigned.push(var);
        let (now, later): (Vec<TermId>, Vec<TermId>) =
            open.iter().partition(|&&c| terms.support(c).iter().all(|v| assigned.contains(v)));
        open = later;
        work = work.checked_sub(points.len.checked_mul(domain.len())?)?;
        points = points.extended(terms, var, &domain, &now, limit)?;
    }
    debug_assert!(open.is_empty(), "a constraint mentions a variable outside of its group");
    let mut ordered: Vec<(VarId, Column)> = points.vars.into_iter().zip(points.columns).collect();
    ordered.sort_unstable_by_key(|c| c.0);
    let columns = ordered.into_iter().map(|c| c.1).collect();
    (points.len > 0 && open.is_empty()).then(|| View::root(terms, vars.clone(), columns))
}

/// The values a variable may have, smallest distance from zero first where that is natural.
fn domain_of(terms: &Terms, bounds: &Bounds, var: VarId) -> Option<Vec<u64>> {
    width_of_domain(terms, bounds, var)?;
    let facts = bounds.facts(terms, terms.var_term(var));
    let m = crate::terms::semantics::mask(facts.width);
    let unsigned = facts.unsigned.1.wrapping_sub(facts.unsigned.0);
    let signed = facts.signed.1.wrapping_sub(facts.signed.0) as u64;
    let values: Vec<u64> = if unsigned <= signed {
        (facts.unsigned.0..=facts.unsigned.1).filter(|&v| facts.admits(v)).collect()
    } else {
        (facts.signed.0..=facts.signed.1).map(|v| v as u64 & m).filter(|&v| facts.admits(v)).collect()
    };
    Some(values)
}

/// The variable that lets most constraints be checked, then the one with fewest values.
fn choose(terms: &Terms, assigned: &[VarId], left: &[(VarId, Vec<u64>)], open: &[TermId]) -> usize {
    let mut best = (0, usize::MAX, 0);
    for (index, (var, domain)) in left.iter().enumerate() {
        let ready = open
            .iter()
            .filter(|&&c| {
                let support = terms.support(c);
                support.binary_search(var).is_ok() && support.iter().all(|v| v == var || assigned.contains(v))
            })
            .count();
        if index == 0 || (ready, usize::MAX - domain.len()) > (best.0, usize::MAX - best.1) {
            best = (ready, domain.len(), index);
        }
    }
    best.2
}

/// Partial assignments.
struct Points {
    vars: Vec<VarId>,
    columns: Vec<Column>,
    len: usize,
}

impl Points {
    /// Returns the size of the values in bytes.
    fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.bytes_per_value() * self.len).sum()
    }

    /// The product with the values of one more variable, as far as it satisfies the conditions.
    fn extended(
        self,
        terms: &Terms,
        var: VarId,
        domain: &[u64],
        conditions: &[TermId],
        limit: Limit,
    ) -> Option<Points> {
        let mut vars = self.vars.clone();
        vars.push(var);
        let mut tester = Tester::new(terms, &vars, conditions);
        let mut kept = Points { columns: vars.iter().map(|_| Column::new()).collect(), vars, len: 0 };
        let mut block: Vec<Vec<u64>> = vec![Vec::with_capacity(BLOCK); kept.vars.len()];
        let mut flush = |block: &mut Vec<Vec<u64>>, kept: &mut Points| {
            let count = block.last().map_or(0, Vec::len);
            tester.test(block, count, kept);
            block.iter_mut().for_each(Vec::clear);
        };
        let last = block.len() - 1;
        for point in 0..self.len {
            for chunk in domain.chunks(BLOCK) {
                if block[last].len() + chunk.len() > BLOCK {
                    flush(&mut block, &mut kept);
                    if kept.len > limit.points || kept.bytes() > MAX_POINT_BYTES || limit.deadline.is_over() {
                        return None;
                    }
                }
                for (column, values) in self.columns.iter().zip(&mut block) {
                    values.resize(values.len() + chunk.len(), column.get(point));
                }
                block[last].extend_from_slice(chunk);
            }
        }
        flush(&mut block, &mut kept);
        (kept.len <= limit.points).then_some(kept)
    }
}

/// Conditions compiled for blocks of points.
struct Tester {
    program: TermProgram,
    /// For each input of the program the position of its variable.
    positions: Vec<usize>,
    roots: Vec<usize>,
    survivors: Vec<usize>,
    gathered: Vec<u64>,
}

impl Tester {
    fn new(terms: &Terms, vars: &[VarId], conditions: &[TermId]) -> Tester {
        let var_terms: Vec<TermId> = vars.iter().map(|&v| terms.var_term(v)).collect();
        let program = TermProgram::new(terms, conditions, |term| var_terms.contains(&term));
        let positions =
            program.inputs.iter().map(|(term, _)| var_terms.iter().position(|t| t == term).unwrap_or(0)).collect();
        let roots = conditions.iter().filter_map(|&c| program.register_of(c)).collect();
        Tester { program, positions, roots, survivors: Vec::new(), gathered: Vec::new() }
    }

    fn test(&mut self, block: &[Vec<u64>], count: usize, kept: &mut Points) {
        for (k, &position) in self.positions.iter().enumerate() {
            let register = self.program.inputs[k].1;
            self.program.register_mut(register)[..count].copy_from_slice(&block[position][..count]);
        }
        self.program.run(count);
        self.survivors.clear();
        self.survivors.extend((0..count).filter(|&i| self.roots.iter().all(|&r| self.program.values(r)[i] == 1)));
        for (column, values) in kept.columns.iter_mut().zip(block) {
            self.gathered.clear();
            self.gathered.extend(self.survivors.iter().map(|&i| values[i]));
            column.extend(&self.gathered);
        }
        kept.len += self.survivors.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_with_few_values_are_bounded() {
        let check = |width: u8, expected: Option<u64>| {
            let mut terms = Terms::new();
            let term = terms.var(width, "x");
            let var = terms.support(term)[0];
            assert_eq!(width_of_domain(&terms, &Bounds::default(), var), expected, "{width} bits");
        };
        check(1, Some(2));
        check(8, Some(256));
        check(20, Some(1 << 20));
        check(21, None);
        check(63, None);
        check(64, None);
    }
}
