//! Refutation by orderings: `a < b`, `b <= c` and `c < a` can not all hold, whatever the terms are.
//!
//! Sorting and searching programs ask this all the time, and a chain of comparators is hard work for bits.

use touchstone_base::float::FloatOp;

use crate::terms::term::{Rel, Term, TermId};
use crate::terms::term_store::Terms;

/// One `from <= to`, or `from < to`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: TermId,
    to: TermId,
    strict: bool,
}

/// Signed and unsigned orders are different relations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Unsigned,
    Signed,
    /// The order of floats; a comparison that holds has no NaN operand.
    Float,
}

/// A comparison, with negation pulled in.
enum Claim {
    Order(Sort, Edge),
    Equal(TermId, TermId),
    Differ(TermId, TermId),
}

fn claim(terms: &Terms, condition: TermId) -> Option<Claim> {
    let order = |sort, from, to, strict| Some(Claim::Order(sort, Edge { from, to, strict }));
    match *terms.get(condition) {
        Term::Cmp(Rel::Ult, a, b) => order(Sort::Unsigned, a, b, true),
        Term::Cmp(Rel::Ule, a, b) => order(Sort::Unsigned, a, b, false),
        Term::Cmp(Rel::Slt, a, b) => order(Sort::Signed, a, b, true),
        Term::Cmp(Rel::Sle, a, b) => order(Sort::Signed, a, b, false),
        Term::Float(FloatOp::Lt, _, [a, b, _]) => order(Sort::Float, a, b, true),
        Term::Float(FloatOp::Le, _, [a, b, _]) => order(Sort::Float, a, b, false),
        Term::Cmp(Rel::Eq, a, b) => Some(Claim::Equal(a, b)),
        Term::Not(inner) => match *terms.get(inner) {
            Term::Cmp(Rel::Eq, a, b) => Some(Claim::Differ(a, b)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true only if a condition certainly contradicts the orderings among the constraints.
pub(crate) fn refutes(terms: &Terms, constraints: &[TermId], condition: TermId) -> bool {
    let Some(claim) = claim(terms, condition) else { return false };
    match claim {
        Claim::Order(sort, Edge { from, to, strict }) => {
            let graph = Graph::new(terms, constraints, sort);
            match graph.reach(to, from) {
                Some(by_strict) => strict || by_strict,
                None => false,
            }
        }
        Claim::Equal(a, b) => [Sort::Unsigned, Sort::Signed, Sort::Float].into_iter().any(|sort| {
            let graph = Graph::new(terms, constraints, sort);
            graph.reach(a, b) == Some(true) || graph.reach(b, a) == Some(true)
        }),
        Claim::Differ(a, b) => [Sort::Unsigned, Sort::Signed].into_iter().any(|sort| {
            let graph = Graph::new(terms, constraints, sort);
            graph.reach(a, b).is_some() && graph.reach(b, a).is_some()
        }),
    }
}

struct Graph {
    /// Sorted by `from`.
    edges: Vec<Edge>,
}

impl Graph {
    fn new(terms: &Terms, constraints: &[TermId], sort: Sort) -> Graph {
        let mut edges = Vec::with_capacity(constraints.len());
        for &constraint in constraints {
            match claim(terms, constraint) {
                Some(Claim::Order(own, edge)) if own == sort => edges.push(edge),
                Some(Claim::Equal(a, b)) => {
                    edges.push(Edge { from: a, to: b, strict: false });
                    edges.push(Edge { from: b, to: a, strict: false });
                }
                _ => {}
            }
        }
        edges.sort_unstable();
        Graph { edges }
    }

    /// Returns `None` if a term is not reachable from another one, and otherwise whether the path contains a strict
    /// step.
    fn reach(&self, from: TermId, to: TermId) -> Option<bool> {
        let mut seen: Vec<(TermId, bool)> = vec![(from, false)];
        let mut next = 0;
        let mut reached = None;
        while let Some(&(at, strict)) = seen.get(next) {
            next += 1;
            let first = self.edges.partition_point(|e| e.from < at);
            for edge in self.edges[first..].iter().take_while(|e| e.from == at) {
                let state = (edge.to, strict || edge.strict);
                if state.0 == to {
                    if state.1 {
                        return Some(true);
                    }
                    reached = Some(false);
                }
                if !seen.contains(&state) && !seen.contains(&(state.0, true)) {
                    seen.push(state);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_with_a_strict_step_are_refuted_and_others_are_not() {
        let mut terms = Terms::new();
        let [a, b, c] = ["a", "b", "c"].map(|n| terms.var(32, n));
        let ab = terms.cmp(Rel::Slt, a, b);
        let bc = terms.cmp(Rel::Sle, b, c);
        let check = |terms: &mut Terms, given: &[TermId], rel, x, y, negated, expected| {
            let mut condition = terms.cmp(rel, x, y);
            if negated {
                condition = terms.not(condition);
            }
            assert_eq!(refutes(terms, given, condition), expected, "{}", terms.display(condition));
        };
        check(&mut terms, &[ab, bc], Rel::Slt, c, a, false, true);
        check(&mut terms, &[ab, bc], Rel::Sle, c, a, false, true);
        check(&mut terms, &[ab, bc], Rel::Slt, a, c, false, false);
        check(&mut terms, &[ab, bc], Rel::Ult, c, a, false, false);
        check(&mut terms, &[ab, bc], Rel::Eq, a, c, false, true);
        check(&mut terms, &[bc], Rel::Sle, c, b, false, false);
        let cb = terms.cmp(Rel::Sle, c, b);
        check(&mut terms, &[bc, cb], Rel::Eq, b, c, true, true);
        check(&mut terms, &[bc], Rel::Eq, b, c, true, false);
        let format = touchstone_base::float::Format::F32;
        let (ab, bc) = (terms.flt(format, a, b), terms.fle(format, b, c));
        let back = terms.fle(format, c, a);
        assert!(refutes(&terms, &[ab, bc], back));
        // The other zero is less or equal both ways, and not the same.
        let cb = terms.fle(format, c, b);
        check(&mut terms, &[bc, cb], Rel::Eq, b, c, true, false);
        check(&mut terms, &[ab, bc], Rel::Eq, a, c, false, true);
    }
}
