//! Branch and prune for constraints on floats: boxes that the bounds refute are dropped, the others are tried at a point
//! and cut in two. Where every box is refuted the constraints are unsatisfiable; that settles in microseconds what takes
//! a circuit of a multiplication minutes, such as `x > 1 && x * x < x`.
//!
//! A box is a set of bounds; a variable of a float type is a number, a positive or a negative NaN from the start.

use std::rc::Rc;

use touchstone_base::float::Format;

use crate::float::descent::natural;
use crate::models::model::Model;
use crate::search::answers::{BoxLimits, SearchOutcome};
use crate::search::constraint_path::{ConstraintGroup, ModelPool};
use crate::search::solver::Solver;
use crate::terms::facts::Facts;
use crate::terms::float_facts::FloatInterval;
use crate::terms::float_order::of_key;
use crate::terms::path_bounds::Bounds;
use crate::terms::semantics::mask;
use crate::terms::term::{TermId, VarId};
use crate::terms::term_store::Terms;

/// The maximum number of variables; more would make too many boxes.
const MAX_VARIABLES: usize = 6;

impl Solver {
    /// Inspects at most a given number of boxes. Returns `None` if the constraints were neither refuted nor satisfied.
    pub(crate) fn split_boxes(
        &mut self,
        terms: &Terms,
        base: &ConstraintGroup,
        bounds: &Bounds,
        constraints: &[TermId],
        conditions: &[TermId],
        box_limits: BoxLimits,
    ) -> Option<SearchOutcome> {
        let ModelPool::Some(models) = &*base.pool.borrow() else { return None };
        let first = models.first()?.clone();
        // Constraints on other variables have a model of their own, which the conditions do not touch; but those that
        // share a variable do belong here, and what they share with others.
        let (vars, near) = neighbourhood(terms, constraints, conditions);
        if vars.is_empty() || vars.len() > MAX_VARIABLES {
            return None;
        }
        let mut is_settled = true;
        let mut stack = whole(terms, bounds, &vars);
        for _ in 0..box_limits.boxes {
            let Some(mut region) = stack.pop() else { return is_settled.then_some(SearchOutcome::Nothing) };
            // A box may be the work of many operations.
            if box_limits.deadline.is_over() {
                return None;
            }
            if near.iter().any(|&c| region.decide(terms, c) == Some(false))
                || region.propagate(terms, &near, &near).is_err()
            {
                continue;
            }
            let mut model = Model::new(base.vars.clone(), first.values().map(|v| v.1).collect());
            let facts: Vec<Facts> = vars.iter().map(|&var| region.facts(terms, terms.var_term(var))).collect();
            let points = vars.iter().zip(&facts).map(|(&var, facts)| (var, middle(terms, var, facts)));
            model.overwrite(&Model::from_values(points));
            if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                return Some(SearchOutcome::Models(vec![Rc::new(model)]));
            }
            let widest = (0..vars.len()).max_by_key(|&k| (size(terms, vars[k], &facts[k]), vars.len() - k))?;
            let var = vars[widest];
            let Some(parts) = halves(terms, var, &facts[widest]) else {
                // One number, or NaNs, of which one was tried.
                is_settled = false;
                continue;
            };
            for half in parts {
                let mut part = region.clone();
                if part.restrict(terms, terms.var_term(var), &half).is_ok() {
                    stack.push(part);
                }
            }
        }
        None
    }
}

/// The variables that the conditions hang together with, and the constraints about them.
fn neighbourhood(terms: &Terms, constraints: &[TermId], conditions: &[TermId]) -> (Vec<VarId>, Vec<TermId>) {
    let mut vars: Vec<VarId> = Vec::new();
    for &condition in conditions {
        vars = crate::terms::support::merge_sorted(&vars, terms.support(condition));
    }
    loop {
        let touched = |c: &TermId| terms.support(*c).iter().any(|v| vars.binary_search(v).is_ok());
        let near: Vec<TermId> = constraints.iter().copied().filter(touched).collect();
        let mut all = vars.clone();
        for &constraint in &near {
            all = crate::terms::support::merge_sorted(&all, terms.support(constraint));
        }
        if all == vars || all.len() > MAX_VARIABLES {
            return (all, near);
        }
        vars = all;
    }
}

/// The boxes to begin with: each float variable a number or a NaN of either sign.
fn whole(terms: &Terms, bounds: &Bounds, vars: &[VarId]) -> Vec<Bounds> {
    let mut boxes = vec![bounds.clone()];
    for &var in vars {
        let Some(format) = terms.var_float(var) else { continue };
        let mut parts = Vec::new();
        for region in boxes {
            for kind in kinds(format) {
                let mut part = region.clone();
                if part.restrict(terms, terms.var_term(var), &kind).is_ok() {
                    parts.push(part);
                }
            }
        }
        boxes = parts;
    }
    boxes
}

/// All patterns of a format, in three parts.
fn kinds(format: Format) -> [Facts; 3] {
    let (width, nan) = (format.bits(), format.infinity() + 1);
    [
        Facts::between(width, format.sign_mask() | nan, mask(width)),
        Facts::between(width, nan, format.magnitude_mask()),
        FloatInterval::numbers(format).facts(),
    ]
}

/// The numbers of a box in one dimension, if it is one of numbers.
fn numbers(terms: &Terms, var: VarId, facts: &Facts) -> Option<FloatInterval> {
    let span = FloatInterval::of(terms.var_float(var)?, facts);
    (!span.nan && span.low <= span.high).then_some(span)
}

/// Returns the number of values of a box in one dimension; NaNs are not split.
fn size(terms: &Terms, var: VarId, facts: &Facts) -> u64 {
    match terms.var_float(var) {
        Some(_) => numbers(terms, var, facts).map_or(0, |s| s.high.wrapping_sub(s.low) as u64),
        None => facts.span(),
    }
}

/// A value in a box, a natural one if possible.
fn middle(terms: &Terms, var: VarId, facts: &Facts) -> u64 {
    match (terms.var_float(var), numbers(terms, var, facts)) {
        (Some(format), Some(span)) => natural(format, span.low, span.high),
        (Some(format), None) => facts.unsigned.0 | format.quiet_bit(),
        _ if facts.signed.0 <= 0 && 0 <= facts.signed.1 && facts.admits(0) => 0,
        _ => facts.unsigned.0.midpoint(facts.unsigned.1),
    }
}

/// Two halves; `None` if there is but one value.
fn halves(terms: &Terms, var: VarId, facts: &Facts) -> Option<[Facts; 2]> {
    if size(terms, var, facts) == 0 {
        return None;
    }
    if let (Some(format), Some(span)) = (terms.var_float(var), numbers(terms, var, facts)) {
        let middle = i64::try_from((i128::from(span.low) + i128::from(span.high)).div_euclid(2)).ok()?;
        // By sign first: zero is where operations change their ways.
        let middle = if span.low < 0 && span.high >= 0 { -1 } else { middle };
        let cut = |low: i64, high: i64| span_facts(format, low, high);
        return Some([cut(middle + 1, span.high), cut(span.low, middle)]);
    }
    let (low, high) = facts.signed;
    if facts.unsigned.1.wrapping_sub(facts.unsigned.0) < high.wrapping_sub(low) as u64 {
        let (low, high) = facts.unsigned;
        let middle = low.midpoint(high);
        return Some([Facts::between(facts.width, middle + 1, high), Facts::between(facts.width, low, middle)]);
    }
    let middle = i64::try_from((i128::from(low) + i128::from(high)).div_euclid(2)).ok()?;
    Some([Facts::signed_between(facts.width, middle + 1, high), Facts::signed_between(facts.width, low, middle)])
}

fn span_facts(format: Format, low: i64, high: i64) -> Facts {
    let (from, to) = (of_key(format, low), of_key(format, high));
    match (low < 0, high < 0) {
        (true, true) => Facts::between(format.bits(), to, from),
        (false, false) => Facts::between(format.bits(), from, to),
        _ => FloatInterval::numbers(format).facts(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_box_cover_it() {
        for format in [Format::F32, Format::F64] {
            let mut terms = Terms::new();
            let x = terms.var(format.bits(), "x");
            let zero = terms.float_constant(format, 0.0);
            terms.flt(format, x, zero);
            let var = terms.support(x)[0];
            let samples: Vec<u64> = [0.0, -0.0, 1.0, -1.0, 1e-30, -1e30, f64::INFINITY, f64::NEG_INFINITY]
                .iter()
                .map(|&v| format.of(v))
                .chain([1, format.sign_mask() | 1, format.default_nan(), format.infinity() | 1, mask(format.bits())])
                .collect();
            for &sample in &samples {
                assert_eq!(kinds(format).iter().filter(|k| k.admits(sample)).count(), 1, "{sample:#x}");
            }
            let mut boxes = vec![kinds(format)[2]];
            for _ in 0..200 {
                let facts = boxes.remove(0);
                let Some(parts) = halves(&terms, var, &facts) else { continue };
                for &sample in &samples {
                    let count = parts.iter().filter(|p| p.admits(sample)).count();
                    assert_eq!(count, usize::from(facts.admits(sample)), "{sample:#x} in {facts:?}");
                }
                boxes.extend(parts);
            }
        }
    }
}
