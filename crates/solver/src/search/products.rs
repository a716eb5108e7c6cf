//! Queries with an equation `x * y == K` whose product does not wrap: the factors are divisors of `K`.
//!
//! Circuits of multipliers hide that from a SAT solver, for which a factorisation is a search among all bits. Each pair
//! of divisors within the bounds is a case of its own with fixed factors. The cases are complete: if none has a model,
//! nor has the query.

use crate::models::divisors::divisors;
use crate::sat::batsat::Budget;
use crate::search::answers::SearchOutcome;
use crate::search::constraint_path::ConstraintGroup;
use crate::search::solver::Solver;
use crate::terms::path_bounds::Bounds;
use crate::terms::semantics::{mask, signed, signed_max, signed_min};
use crate::terms::term::{Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;

/// The maximum number of divisors of a product.
const MAX_DIVISORS: usize = 4096;
/// The maximum number of pairs of factors that are tried.
const MAX_FACTOR_PAIRS: usize = 64;

/// An equation of a product with a constant.
struct ProductEquation {
    factors: [TermId; 2],
    /// All values that the factors can have.
    pairs: Vec<[u64; 2]>,
}

impl Solver {
    /// Answers a query by the divisors of a product, if a constraint has one.
    pub(crate) fn ask_products(
        &mut self,
        terms: &mut Terms,
        base: &ConstraintGroup,
        bounds: &Bounds,
        constraints: &[TermId],
        budget: Budget,
    ) -> Option<SearchOutcome> {
        let equations = constraints.iter().filter_map(|&constraint| equation(terms, bounds, constraint));
        // The fewest cases.
        let ProductEquation { factors, pairs } = equations.min_by_key(|equation| equation.pairs.len())?;
        let mut undecided = false;
        for values in pairs {
            let mut case = constraints.to_vec();
            for (factor, value) in factors.into_iter().zip(values) {
                let value = terms.constant(terms.width(factor), value);
                case.push(terms.eq(factor, value));
            }
            match self.sat(terms, base, &case, budget) {
                SearchOutcome::Nothing => {}
                found @ SearchOutcome::Models(_) => return Some(found),
                SearchOutcome::All(_) | SearchOutcome::Unknown(_) => undecided = true,
            }
        }
        (!undecided).then_some(SearchOutcome::Nothing)
    }
}

/// Returns the equation of a constraint, if its product cannot wrap and its factors have few values.
fn equation(terms: &Terms, bounds: &Bounds, constraint: TermId) -> Option<ProductEquation> {
    let Term::Cmp(Rel::Eq, left, right) = *terms.get(constraint) else { return None };
    let (product, value) = match (terms.as_const(left), terms.as_const(right)) {
        (Some(value), None) => (right, value),
        (None, Some(value)) => (left, value),
        _ => return None,
    };
    let Term::Bin(Op::Mul, x, y) = *terms.get(product) else { return None };
    if terms.as_const(x).is_some() || terms.as_const(y).is_some() {
        return None;
    }
    let width = terms.width(product);
    let (of_x, of_y) = (bounds.facts(terms, x), bounds.facts(terms, y));
    let mut pairs = Vec::new();
    let greatest = u128::from(of_x.unsigned.1) * u128::from(of_y.unsigned.1);
    if greatest <= u128::from(mask(width)) {
        let all = divisors(value, MAX_DIVISORS)?;
        pairs.extend(all.into_iter().map(|divisor| [divisor, value / divisor]));
    } else if is_signed_product(width, of_x.signed, of_y.signed) {
        let value = i128::from(signed(width, value));
        let bits = |number: i128| number as u64 & mask(width);
        for divisor in divisors(u64::try_from(value.unsigned_abs()).ok()?, MAX_DIVISORS)? {
            let divisor = i128::from(divisor);
            // Neither the divisor nor its complement needs to fit the width; the facts exclude those that don't.
            for factor in [divisor, -divisor] {
                let fits = |number: i128| i128::from(signed(width, bits(number))) == number;
                if fits(factor) && fits(value / factor) {
                    pairs.push([bits(factor), bits(value / factor)]);
                }
            }
        }
    } else {
        return None;
    }
    pairs.retain(|[a, b]| of_x.admits(*a) && of_y.admits(*b));
    (pairs.len() <= MAX_FACTOR_PAIRS).then_some(ProductEquation { factors: [x, y], pairs })
}

/// Returns true if all products of numbers within these bounds are numbers of the width.
fn is_signed_product(width: u8, x: (i64, i64), y: (i64, i64)) -> bool {
    let range = i128::from(signed_min(width))..=i128::from(signed_max(width));
    [x.0, x.1].iter().all(|&a| [y.0, y.1].iter().all(|&b| range.contains(&(i128::from(a) * i128::from(b)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::constraint_path::Path;
    use crate::search::solver::{Answer, Config};
    use touchstone_base::Deadline;

    const CASE: Budget = Budget { conflicts: Some(300), rounds: None, deadline: Deadline::NEVER };

    /// Returns the equation of two variables of half the width, and the variables.
    fn product(terms: &mut Terms, width: u8, is_signed: bool, value: u64) -> (TermId, [TermId; 2]) {
        let factors = ["x", "y"].map(|name| terms.var(width / 2, name));
        let [x, y] =
            factors.map(|factor| if is_signed { terms.sext(factor, width) } else { terms.zext(factor, width) });
        let (product, value) = (terms.mul(x, y), terms.constant(width, value));
        (terms.eq(product, value), factors)
    }

    #[test]
    fn products_of_all_small_numbers_have_the_models_of_brute_force() {
        for is_signed in [false, true] {
            let number = |bits: u64| if is_signed { signed(4, bits) } else { bits as i64 };
            for value in 1..256u64 {
                let mut terms = Terms::new();
                let mut solver = Solver::new(Config::default());
                let (equation, [x, y]) = product(&mut terms, 8, is_signed, value);
                let not_one = terms.constant(4, 1);
                let conditions = [equation, terms.ne(x, not_one), terms.cmp(Rel::Ult, x, y)];
                let expected =
                    (0..16u64).any(|a| (a + 1..16).any(|b| a != 1 && (number(a) * number(b)) as u64 & 0xff == value));
                // Facts exclude what no product is.
                if terms.as_const(equation).is_some() {
                    assert!(!expected, "{value}");
                    continue;
                }
                let base = solver.base(&mut terms, &Path::new(), &conditions);
                match solver.ask_products(&mut terms, &base, &base.bounds, &conditions, CASE) {
                    Some(SearchOutcome::Models(models)) => {
                        assert!(expected && conditions.iter().all(|&c| models[0].satisfies(&terms, c)), "{value}");
                    }
                    Some(SearchOutcome::Nothing) => assert!(!expected, "{value} {is_signed}"),
                    _ => panic!("{value} has few divisors"),
                }
            }
        }
    }

    #[test]
    fn products_of_64_bits_are_decided() {
        let check = |is_signed: bool, value: i64, expected: bool| {
            let mut terms = Terms::new();
            let (equation, factors) = product(&mut terms, 64, is_signed, value as u64);
            let mut condition = equation;
            for factor in factors {
                for trivial in [1, u64::MAX] {
                    let trivial = terms.constant(32, trivial);
                    let other = terms.ne(factor, trivial);
                    condition = terms.and(condition, other);
                }
            }
            let answer = Solver::new(Config::default()).check(&mut terms, &Path::new(), condition);
            match answer {
                Answer::Sat(model) => assert!(expected && model.satisfies(&terms, condition), "{value}"),
                Answer::Unsat => assert!(!expected, "{value}"),
                Answer::Unknown(why) => panic!("{value}: {why:?}"),
            }
        };
        for is_signed in [false, true] {
            check(is_signed, 1_000_003 * 1_000_033, true);
            check(is_signed, (1 << 61) - 1, false);
        }
        check(true, -1_000_003 * 1_000_033, true);
    }

    #[test]
    fn products_that_may_wrap_are_left_to_the_sat_solver() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(8, "x"), terms.var(8, "y"));
        let (product, value) = (terms.mul(x, y), terms.constant(8, 77));
        let condition = terms.eq(product, value);
        assert!(equation(&terms, &Bounds::default(), condition).is_none());
    }
}
