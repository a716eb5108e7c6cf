//! Local search for constraints on floats: from a model at hand downhill, one variable at a time, where the height is how
//! far each violated comparison is from holding, counted in representable numbers (Fu and Su, "XSat", CAV 2016; the
//! pattern moves are Korel's alternating variable method). Steps are powers of two in the order of floats, so that a
//! monotone condition is met after a hundred evaluations, whatever the magnitudes.
//!
//! A model that is found was evaluated against every constraint; not finding one means nothing.

use std::rc::Rc;

use touchstone_base::Deadline;
use touchstone_base::float::{FloatOp, Format};

use crate::models::guess::Scratch;
use crate::models::model::Model;
use crate::random::Random;
use crate::search::constraint_path::{ConstraintGroup, ModelPool};
use crate::search::solver::Solver;
use crate::terms::float_facts::FloatInterval;
use crate::terms::float_order::{key, of_key};
use crate::terms::path_bounds::Bounds;
use crate::terms::semantics::{mask, signed};
use crate::terms::term::{Op, Rel, Term, TermId, VarId};
use crate::terms::term_store::Terms;

/// Evaluations of one search, all starts together, for a handful of constraints.
const MAX_EVALUATIONS: usize = 12_000;
/// The number of evaluations between two checks of the wall-clock time.
const EVALUATIONS_PER_CLOCK_CHECK: usize = 64;
/// Constraints that cost as much as that allows.
const CONSTRAINTS_PER_BUDGET: usize = 8;
/// Models from which a search starts.
const MAX_MODEL_STARTS: usize = 3;
/// Starts with values from the box.
const MAX_BOX_STARTS: usize = 5;
/// Depth to which a condition is taken apart.
const MAX_DEPTH: u32 = 24;
/// The height of a condition of which nothing is known but that it is violated, and of a NaN.
const UNKNOWN_HEIGHT: f64 = 70.0;

impl Solver {
    /// Returns a model of the constraints, if descent finds one.
    pub(crate) fn descend(
        &mut self,
        terms: &Terms,
        base: &ConstraintGroup,
        bounds: &Bounds,
        constraints: &[TermId],
        deadline: Deadline,
    ) -> Option<Rc<Model>> {
        let ModelPool::Some(models) = &*base.pool.borrow() else { return None };
        let mut vars: Vec<VarId> = Vec::new();
        for &constraint in constraints.iter().filter(|&&c| terms.has_float(c)) {
            vars = crate::terms::support::merge_sorted(&vars, terms.support(constraint));
        }
        let first = models.first()?;
        let mut random = Random(self.config.seed ^ 0x5851_f42d_4c95_7f2d);
        let mut budget = MAX_EVALUATIONS * CONSTRAINTS_PER_BUDGET / constraints.len().max(CONSTRAINTS_PER_BUDGET);
        let starts = models.iter().take(MAX_MODEL_STARTS).map(Some).chain((0..MAX_BOX_STARTS).map(|_| None));
        for (k, start) in starts.enumerate() {
            self.scratch.load(terms, start.unwrap_or(first));
            if start.is_none() {
                for &var in &vars {
                    if let Some(value) = in_box(terms, bounds, var, k - MAX_MODEL_STARTS.min(models.len()), &mut random)
                    {
                        self.scratch.set(var, value);
                    }
                }
            }
            let mut descent = Descent { terms, constraints, scratch: &mut self.scratch, budget: &mut budget, deadline };
            if descent.run(&vars) {
                let values = base.vars.iter().map(|&var| self.scratch.var(var)).collect();
                let model = Model::new(base.vars.clone(), values);
                if constraints.iter().all(|&c| model.satisfies(terms, c)) {
                    return Some(Rc::new(model));
                }
                debug_assert!(false, "two evaluators disagree");
                return None;
            }
            if budget == 0 {
                return None;
            }
        }
        None
    }
}

/// A value of a variable inside of its bounds: first a natural one, then others.
fn in_box(terms: &Terms, bounds: &Bounds, var: VarId, k: usize, random: &mut Random) -> Option<u64> {
    let facts = bounds.facts(terms, terms.var_term(var));
    let raw = random.next();
    let Some(format) = terms.var_float(var) else {
        let span = facts.unsigned.1.wrapping_sub(facts.unsigned.0).wrapping_add(1);
        let value = facts.unsigned.0.wrapping_add(if span == 0 { raw } else { raw % span });
        return (k > 0 && facts.admits(value)).then_some(value);
    };
    let span = FloatInterval::of(format, &facts);
    if span.low > span.high {
        return None;
    }
    if k == 0 {
        return Some(natural(format, span.low, span.high));
    }
    let width = span.high.wrapping_sub(span.low).wrapping_add(1) as u64;
    // By value or by place, in turn.
    let (low, high) = (format.value(of_key(format, span.low)), format.value(of_key(format, span.high)));
    let by_value = low + (high - low) * ((raw >> 11) as f64 / (1u64 << 53) as f64);
    if k % 2 == 1 && by_value.is_finite() {
        return Some(format.of(by_value));
    }
    Some(of_key(format, span.low.wrapping_add((raw % width.max(1)) as i64)))
}

/// The number with the fewest binary digits between two places, near zero if possible.
pub(crate) fn natural(format: Format, low: i64, high: i64) -> u64 {
    let (from, to) = (format.value(of_key(format, low)), format.value(of_key(format, high)));
    if from <= 0.0 && 0.0 <= to {
        return 0;
    }
    let near = if from > 0.0 { from } else { to };
    let mut unit = 2f64.powi(near.abs().log2().ceil().clamp(-1000.0, 1000.0) as i32);
    for _ in 0..80 {
        let candidate = if from > 0.0 { (near / unit).ceil() * unit } else { (near / unit).floor() * unit };
        if from <= candidate && candidate <= to {
            return format.of(candidate);
        }
        unit /= 2.0;
    }
    format.of(near)
}

struct Descent<'a> {
    terms: &'a Terms,
    constraints: &'a [TermId],
    scratch: &'a mut Scratch,
    budget: &'a mut usize,
    deadline: Deadline,
}

impl Descent<'_> {
    /// Descends. Returns true if all constraints hold.
    fn run(&mut self, vars: &[VarId]) -> bool {
        let mut height = self.height(f64::INFINITY);
        while height > 0.0 && *self.budget > 0 {
            let before = height;
            for &var in vars {
                height = self.along(var, height);
                if height == 0.0 {
                    return true;
                }
            }
            if height >= before {
                return false;
            }
        }
        height == 0.0
    }

    /// Returns the lowest height that power-of-two steps along one variable reach.
    fn along(&mut self, var: VarId, mut height: f64) -> f64 {
        let width = self.terms.var_width(var);
        let format = self.terms.var_float(var);
        let mut shift = width - 1;
        loop {
            let mut improved = false;
            for up in [true, false] {
                let before = self.scratch.var(var);
                let Some(value) = moved(format, width, before, shift, up) else { continue };
                if value == before {
                    continue;
                }
                self.scratch.set(var, value);
                let now = self.height(height);
                if now < height {
                    height = now;
                    improved = true;
                    break;
                }
                self.scratch.set(var, before);
            }
            if height == 0.0 || *self.budget == 0 {
                return height;
            }
            if !improved {
                let Some(next) = shift.checked_sub(1) else { return height };
                shift = next;
            }
        }
    }

    /// The sum over all constraints, or anything that is not below `limit`.
    fn height(&mut self, limit: f64) -> f64 {
        *self.budget = self.budget.saturating_sub(1);
        if self.budget.is_multiple_of(EVALUATIONS_PER_CLOCK_CHECK) && self.deadline.is_over() {
            *self.budget = 0;
        }
        let mut sum = 0.0;
        for &constraint in self.constraints {
            sum += self.distance(constraint, true, MAX_DEPTH);
            if sum >= limit {
                break;
            }
        }
        sum
    }

    /// 0 exactly if the condition has the truth value.
    fn distance(&mut self, condition: TermId, truth: bool, depth: u32) -> f64 {
        if (self.scratch.eval(self.terms, condition) == 1) == truth {
            return 0.0;
        }
        let Some(depth) = depth.checked_sub(1) else { return UNKNOWN_HEIGHT };
        match *self.terms.get(condition) {
            Term::Not(a) => self.distance(a, !truth, depth),
            Term::Bin(op @ (Op::And | Op::Or), a, b) => {
                let (x, y) = (self.distance(a, truth, depth), self.distance(b, truth, depth));
                if (op == Op::And) == truth { x + y } else { x.min(y) }
            }
            Term::Ite(c, a, b) => {
                let x = self.distance(c, true, depth) + self.distance(a, truth, depth);
                x.min(self.distance(c, false, depth) + self.distance(b, truth, depth))
            }
            Term::Cmp(Rel::Eq, ..) | Term::Float(FloatOp::Eq, ..) if !truth => 1.0,
            Term::Cmp(rel, a, b) => {
                let width = self.terms.width(a);
                let (x, y) = (self.scratch.eval(self.terms, a), self.scratch.eval(self.terms, b));
                let gap = match rel {
                    Rel::Slt | Rel::Sle => signed(width, x).abs_diff(signed(width, y)),
                    Rel::Eq => x.abs_diff(y).min(signed(width, x).abs_diff(signed(width, y))),
                    Rel::Ult | Rel::Ule => x.abs_diff(y),
                };
                scaled(gap)
            }
            Term::Float(FloatOp::Eq | FloatOp::Lt | FloatOp::Le, format, [a, b, _]) => {
                let (x, y) = (self.scratch.eval(self.terms, a), self.scratch.eval(self.terms, b));
                if format.is_nan(x) || format.is_nan(y) {
                    return UNKNOWN_HEIGHT;
                }
                scaled(key(format, x).abs_diff(key(format, y)))
            }
            _ => UNKNOWN_HEIGHT,
        }
    }
}

/// A distance on a scale on which constraints can be added up.
fn scaled(gap: u64) -> f64 {
    (gap as f64 + 2.0).log2()
}

/// A value some power of two away; `None` beyond the end.
fn moved(format: Option<Format>, width: u8, value: u64, shift: u8, up: bool) -> Option<u64> {
    let by = 1i128 << shift;
    let by = if up { by } else { -by };
    match format {
        Some(format) if format.is_nan(value) => Some(if up { 0 } else { format.infinity() }),
        Some(format) => {
            let infinity = i128::from(format.infinity());
            let target = i128::from(key(format, value)) + by;
            (!infinity <= target && target <= infinity).then(|| of_key(format, target as i64))
        }
        None => {
            let target = i128::from(signed(width, value)) + by;
            Some(target as u64 & mask(width))
        }
    }
}
