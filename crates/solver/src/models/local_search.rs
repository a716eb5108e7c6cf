//! Local search: a random walk from a model at hand, along changes of one variable that make a violated constraint true.
//!
//! Equations with products, quotients and remainders take a SAT solver long, but can be solved for one variable at a time.
//! Like a guess, the result of a walk is believed only after every constraint was evaluated.

use crate::models::guess::Scratch;
use crate::models::model::Model;
use crate::random::Random;
use crate::terms::semantics::mask;
use crate::terms::term::{TermId, VarId};
use crate::terms::term_store::Terms;
use touchstone_base::Deadline;

/// Changes that are compared at each step.
const MOVES_PER_STEP: usize = 8;

/// One in this many steps takes any change, also one that violates more constraints than others.
const RANDOM_MOVE: u64 = 6;

/// One in this many steps changes any variable of a violated constraint.
const RANDOM_VALUE: u64 = 8;

/// The number of steps between two checks of the deadline.
const STEPS_PER_CHECK: u32 = 16;

impl Scratch {
    /// Walks for a number of steps. Returns values for the variables of the model such that all constraints hold.
    pub(crate) fn walk(
        &mut self,
        terms: &Terms,
        start: &Model,
        constraints: &[TermId],
        steps: u32,
        deadline: Deadline,
    ) -> Option<Box<[u64]>> {
        self.load(terms, start);
        let mut random = Random(constraints.len() as u64);
        for step in 0..steps {
            if step.is_multiple_of(STEPS_PER_CHECK) && deadline.is_over() {
                return None;
            }
            let violated: Vec<TermId> = constraints.iter().copied().filter(|&c| self.eval(terms, c) != 1).collect();
            if violated.is_empty() {
                return Some(start.values().map(|(var, _)| self.var(var)).collect());
            }
            let chosen = violated[(random.next() % violated.len() as u64) as usize];
            let moves = match random.next() % RANDOM_VALUE {
                0 => Vec::new(),
                _ => self.all_moves(terms, chosen),
            };
            let (var, value) = match self.best_move(terms, constraints, moves, &mut random) {
                Some(best) => best,
                None => any_change(terms, start, chosen, &mut random)?,
            };
            self.set(var, value);
        }
        None
    }

    /// Returns one of the changes that violate the fewest constraints, or now and then any change.
    fn best_move(
        &mut self,
        terms: &Terms,
        constraints: &[TermId],
        mut moves: Vec<(VarId, u64)>,
        random: &mut Random,
    ) -> Option<(VarId, u64)> {
        moves.retain(|&(var, value)| self.var(var) != value);
        if moves.is_empty() {
            return None;
        }
        let first = (random.next() % moves.len() as u64) as usize;
        moves.rotate_left(first);
        if random.next().is_multiple_of(RANDOM_MOVE) {
            return moves.first().copied();
        }
        let mut best: Option<(usize, VarId, u64)> = None;
        for (var, value) in moves.into_iter().take(MOVES_PER_STEP) {
            let before = self.var(var);
            self.set(var, value);
            let limit = best.map_or(usize::MAX, |best| best.0);
            let count = self.count_violated(terms, constraints, limit);
            self.set(var, before);
            if count < limit {
                best = Some((count, var, value));
            }
        }
        best.map(|(_, var, value)| (var, value))
    }
}

/// Returns a change of a variable on which a constraint depends. Zeros and ones are frequent, since a product with them
/// no longer couples its operands.
fn any_change(terms: &Terms, start: &Model, constraint: TermId, random: &mut Random) -> Option<(VarId, u64)> {
    let support = terms.support(constraint);
    let known: Vec<VarId> = start.values().map(|(var, _)| var).filter(|var| support.contains(var)).collect();
    let var = *known.get((random.next() % known.len().max(1) as u64) as usize)?;
    let width = terms.width(terms.var_term(var));
    let value = match random.next() % 6 {
        0 | 1 => 0,
        2 => 1,
        3 => mask(width),
        4 => random.next() % 256,
        _ => random.next(),
    };
    Some((var, value & mask(width)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::term::{Op, Rel};
    use touchstone_base::Id;

    fn solve(terms: &Terms, constraints: &[TermId]) -> Model {
        let vars = (0..terms.var_count()).map(VarId::new);
        let start = Model::from_values(vars.clone().map(|var| (var, 0)));
        let values = Scratch::default().walk(terms, &start, constraints, 20_000, Deadline::NEVER);
        let model = Model::from_values(vars.zip(values.expect("a solution")));
        assert!(constraints.iter().all(|&constraint| model.satisfies(terms, constraint)));
        model
    }

    #[test]
    fn a_product_of_matrices_has_factors() {
        let mut terms = Terms::new();
        let vars: Vec<TermId> = (0..8).map(|number| terms.var(32, &format!("x{number}"))).collect();
        let [a, b, c, d, e, f, g, h] = vars[..] else { panic!("eight variables") };
        let cells = [(a, e, b, g, 1_234_567), (a, f, b, h, 7_654_321), (c, e, d, g, 31_337), (c, f, d, h, 271_828)];
        let constraints = cells.map(|(a, x, b, y, sum)| {
            let (left, right) = (terms.mul(a, x), terms.mul(b, y));
            let (left, sum) = (terms.bin(Op::Add, left, right), terms.constant(32, sum));
            terms.eq(left, sum)
        });
        solve(&terms, &constraints);
    }

    #[test]
    fn quotients_and_remainders_are_met_together() {
        let mut terms = Terms::new();
        let (a, b, c) = (terms.var(64, "a"), terms.var(64, "b"), terms.var(64, "c"));
        let (quotient, remainder) = (terms.bin(Op::UDiv, a, b), terms.bin(Op::URem, a, b));
        let (seven, wanted, many) =
            (terms.constant(64, 7), terms.constant(64, 1_234_567), terms.constant(64, 1_000_000));
        let constraints = [
            terms.eq(quotient, wanted),
            terms.eq(remainder, c),
            terms.cmp(Rel::Ult, seven, c),
            terms.cmp(Rel::Ult, many, b),
        ];
        solve(&terms, &constraints);
    }
}
