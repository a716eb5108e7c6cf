//! Equivalence of two comparisons of the same terms, which is a comparison again.
//!
//! Each comparison is a set of outcomes out of less, equal and greater, and so is the set on which two agree. Mutants
//! of relations need this (`a < b` and `a <= b` differ where `a == b`), and two comparators are expensive to bit-blast.

use crate::terms::term::{Rel, Term, TermId};
use crate::terms::term_store::Terms;

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const ALL: u8 = LESS | EQUAL | GREATER;

/// A comparison of two terms, the lower id first.
struct Comparison {
    pair: (TermId, TermId),
    outcomes: u8,
    /// `None` for equality, which is the same in all orders.
    signed: Option<bool>,
}

fn comparison(terms: &Terms, term: TermId) -> Option<Comparison> {
    let (outcomes, signed, a, b) = match *terms.get(term) {
        Term::Cmp(Rel::Eq, a, b) => (EQUAL, None, a, b),
        Term::Cmp(Rel::Ult, a, b) => (LESS, Some(false), a, b),
        Term::Cmp(Rel::Ule, a, b) => (LESS | EQUAL, Some(false), a, b),
        Term::Cmp(Rel::Slt, a, b) => (LESS, Some(true), a, b),
        Term::Cmp(Rel::Sle, a, b) => (LESS | EQUAL, Some(true), a, b),
        Term::Not(inner) => match *terms.get(inner) {
            Term::Cmp(Rel::Eq, a, b) => (LESS | GREATER, None, a, b),
            _ => return None,
        },
        _ => return None,
    };
    if a <= b {
        return Some(Comparison { pair: (a, b), outcomes, signed });
    }
    let mirrored = outcomes & EQUAL | (outcomes & LESS) << 2 | (outcomes & GREATER) >> 2;
    Some(Comparison { pair: (b, a), outcomes: mirrored, signed })
}

impl Terms {
    /// Returns the term that holds if two truth values are equal, provided that both compare the same terms in the same
    /// order.
    pub(crate) fn same_comparison(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        let (a, b) = (comparison(self, a)?, comparison(self, b)?);
        if a.pair != b.pair || a.signed.zip(b.signed).is_some_and(|(a, b)| a != b) {
            return None;
        }
        let (x, y) = a.pair;
        let (less, at_most) = match a.signed.or(b.signed) {
            Some(true) => (Rel::Slt, Rel::Sle),
            _ => (Rel::Ult, Rel::Ule),
        };
        Some(match !(a.outcomes ^ b.outcomes) & ALL {
            0 => self.truth(false),
            LESS => self.cmp(less, x, y),
            EQUAL => self.eq(x, y),
            GREATER => self.cmp(less, y, x),
            outcomes if outcomes == LESS | EQUAL => self.cmp(at_most, x, y),
            outcomes if outcomes == EQUAL | GREATER => self.cmp(at_most, y, x),
            outcomes if outcomes == LESS | GREATER => self.ne(x, y),
            _ => self.truth(true),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::model::Model;

    #[test]
    fn comparisons_of_the_same_terms_agree_where_one_comparison_says() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(2, "x"), terms.var(2, "y"));
        let mut all = Vec::new();
        for (a, b) in [(x, y), (y, x)] {
            for rel in [Rel::Eq, Rel::Ult, Rel::Ule, Rel::Slt, Rel::Sle] {
                all.push(terms.cmp(rel, a, b));
            }
        }
        all.push(terms.ne(x, y));
        let (vx, vy) = (terms.support(x)[0], terms.support(y)[0]);
        for &a in &all {
            for &b in &all {
                let (same, differ) = (terms.eq(a, b), terms.xor(a, b));
                for (p, q) in (0..4).flat_map(|p| (0..4).map(move |q| (p, q))) {
                    let model = Model::from_values([(vx, p), (vy, q)]);
                    let expected = model.eval(&terms, a) == model.eval(&terms, b);
                    assert_eq!(model.eval(&terms, same) == 1, expected, "{a} {b} for {p}, {q}");
                    assert_eq!(model.eval(&terms, differ) == 0, expected, "{a} {b} for {p}, {q}");
                }
            }
        }
        let (less, at_most, equal) = (terms.cmp(Rel::Slt, x, y), terms.cmp(Rel::Sle, x, y), terms.eq(x, y));
        assert_eq!(terms.xor(less, at_most), equal);
    }
}
