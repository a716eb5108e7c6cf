//! Bounds of terms under the constraints of a path: facts per term, collected from comparisons and propagated down to
//! the variables. They decide bounds checks and similar conditions without a query.
//!
//! Sound: every fact is implied by the constraints it was collected from. Not complete, and not meant to be.

use touchstone_base::float::FloatOp;

use crate::terms::facts::{self, Facts};
use crate::terms::float_facts;
use crate::terms::semantics::{mask, signed_max, signed_min};
use crate::terms::term::{Array, Op, Rel, Term, TermId};
use crate::terms::term_store::{Terms, is_aligned};

/// The maximum number of nodes visited under the bounds of a path; further ones use the facts that hold on all paths.
const MAX_NODES_VISITED: u32 = 300;
/// Depth of the same.
const MAX_DEPTH: u32 = 40;

/// The maximum number of constraints that are propagated again for one condition.
const MAX_CONSTRAINTS_REVISITED: usize = 48;

/// Facts about terms, sorted by term.
#[derive(Clone, Default)]
pub(crate) struct Bounds {
    entries: Vec<(TermId, Facts)>,
}

/// The constraints contradict each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Contradiction;

impl Bounds {
    /// The facts collected about exactly this term.
    fn collected(&self, term: TermId) -> Option<&Facts> {
        match self.entries.binary_search_by_key(&term, |e| e.0) {
            Ok(index) => Some(&self.entries[index].1),
            Err(_) => None,
        }
    }

    /// Both sets of facts hold.
    pub(crate) fn merge(&self, other: &Bounds) -> Bounds {
        let mut merged = self.clone();
        for (term, facts) in &other.entries {
            merged.record(*term, facts);
        }
        merged
    }

    fn record(&mut self, term: TermId, facts: &Facts) {
        match self.entries.binary_search_by_key(&term, |e| e.0) {
            Ok(index) => self.entries[index].1 = self.entries[index].1.meet(facts),
            Err(index) => self.entries.insert(index, (term, *facts)),
        }
    }

    /// Returns the facts about a term under these bounds.
    pub(crate) fn facts(&self, terms: &Terms, term: TermId) -> Facts {
        if self.entries.is_empty() {
            return *terms.facts(term);
        }
        let mut budget = MAX_NODES_VISITED;
        self.look(terms, term, &mut budget, MAX_DEPTH)
    }

    fn look(&self, terms: &Terms, term: TermId, budget: &mut u32, depth: u32) -> Facts {
        let always = *terms.facts(term);
        if matches!(terms.get(term), Term::Const { .. }) {
            return always;
        }
        let collected = self.collected(term);
        let own = collected.map_or(always, |f| f.meet(&always));
        if *budget == 0 || depth == 0 {
            return own;
        }
        *budget -= 1;
        let derived = match *terms.get(term) {
            Term::Const { .. } | Term::Var { .. } => return own,
            Term::Read { .. } => self.look_read(terms, term, budget, depth),
            ref shape => {
                // `facts_of` takes a plain function, so the subterms are visited first.
                let parts = parts_of(shape);
                let mut known = [(term, own); 3];
                for (slot, part) in known.iter_mut().zip(parts.iter().flatten()) {
                    *slot = (*part, self.look(terms, *part, budget, depth - 1));
                }
                // An operand without a value leaves none for the result; the transfer functions would forget that.
                if matches!(shape, Term::Float(..)) && known.iter().any(|(_, facts)| facts.is_empty()) {
                    return Facts { unsigned: (1, 0), ..own };
                }
                terms.facts_of(shape, |id| {
                    known.iter().find(|(part, _)| *part == id).map_or_else(|| *terms.facts(id), |(_, f)| *f)
                })
            }
        };
        own.meet(&derived)
    }

    /// An aligned read yields one of the elements its offset can reach, or a value written since, or 0.
    fn look_read(&self, terms: &Terms, term: TermId, budget: &mut u32, depth: u32) -> Facts {
        let top = Facts::top(terms.width(term));
        let Term::Read { mut array, offset, bytes } = *terms.get(term) else { return top };
        let uniform = terms.arrays[array].uniform.is_some_and(|(size, _)| size == bytes);
        let at = self.look(terms, offset, budget, depth - 1);
        if !uniform || !is_aligned(&at, bytes) || at.is_empty() {
            return top;
        }
        let mut facts: Option<Facts> = None;
        let mut join = |more: Facts| facts = Some(facts.map_or(more, |f: Facts| f.join(&more)));
        loop {
            match terms.array(array) {
                Array::Store { array: below, value, .. } => {
                    if *budget == 0 {
                        return top;
                    }
                    join(self.look(terms, *value, budget, depth - 1));
                    array = *below;
                }
                Array::Base { size, elements } => {
                    let step = u64::from(bytes);
                    let first = usize::try_from(at.unsigned.0 / step).unwrap_or(usize::MAX);
                    let last = usize::try_from(at.unsigned.1 / step).unwrap_or(usize::MAX);
                    if at.unsigned.1 >= *size {
                        join(Facts::constant(top.width, 0));
                    }
                    let reached = elements.get(first..=last.min(elements.len().saturating_sub(1))).unwrap_or(&[]);
                    if reached.len() as u64 > u64::from(*budget) {
                        return top;
                    }
                    for element in reached {
                        join(self.look(terms, element.term, budget, depth - 1));
                    }
                    return facts.unwrap_or(top);
                }
            }
        }
    }

    /// Decides a condition under these bounds, or returns `None` if they do not imply it.
    pub(crate) fn decide(&self, terms: &Terms, condition: TermId) -> Option<bool> {
        let facts = self.facts(terms, condition);
        facts.singleton().map(|value| value == 1)
    }

    /// Takes in that a condition has a truth value.
    pub(crate) fn assume(&mut self, terms: &Terms, condition: TermId, truth: bool) -> Result<(), Contradiction> {
        self.refine(terms, condition, &Facts::constant(1, u64::from(truth)), MAX_DEPTH)
    }

    /// Takes in facts about a term.
    pub(crate) fn restrict(&mut self, terms: &Terms, term: TermId, facts: &Facts) -> Result<(), Contradiction> {
        self.refine(terms, term, facts, MAX_DEPTH)
    }

    /// Takes in constraints again while something changes, a few rounds: the newest ones that share a variable with the
    /// conditions, which are the last of them.
    pub(crate) fn propagate(
        &mut self,
        terms: &Terms,
        constraints: &[TermId],
        conditions: &[TermId],
    ) -> Result<(), Contradiction> {
        let touched = |c: TermId| {
            let support = terms.support(c);
            conditions.iter().any(|&d| terms.support(d).iter().any(|v| support.binary_search(v).is_ok()))
        };
        let near: Vec<TermId> =
            constraints.iter().rev().copied().filter(|&c| touched(c)).take(MAX_CONSTRAINTS_REVISITED).collect();
        for _ in 0..3 {
            let before = self.entries.clone();
            for &constraint in &near {
                self.comparison(terms, constraint, true, MAX_DEPTH)?;
            }
            if self.entries == before {
                break;
            }
        }
        Ok(())
    }

    fn refine(&mut self, terms: &Terms, term: TermId, news: &Facts, depth: u32) -> Result<(), Contradiction> {
        let before = self.facts(terms, term);
        let now = before.meet(news);
        if now.is_empty() {
            return Err(Contradiction);
        }
        if depth == 0 || (now == before && terms.width(term) > 1) {
            return Ok(());
        }
        if matches!(terms.get(term), Term::Const { .. }) {
            return Ok(());
        }
        self.record(term, &now);
        let depth = depth - 1;
        match *terms.get(term) {
            Term::Not(a) => self.refine(terms, a, &facts::not(&now), depth),
            Term::ZExt { term: a, .. } => {
                let width = terms.width(a);
                let high = now.unsigned.1.min(mask(width));
                self.refine(terms, a, &Facts::between(width, now.unsigned.0, high), depth)
            }
            Term::SExt { term: a, .. } => {
                let width = terms.width(a);
                let (low, high) = (now.signed.0.max(signed_min(width)), now.signed.1.min(signed_max(width)));
                self.refine(terms, a, &Facts::signed_between(width, low, high), depth)
            }
            Term::Concat { high, low } => self.refine_concat(terms, high, low, &now, depth),
            Term::Extract { term: a, low: 0, width } => {
                // Where the part cut off is certainly 0, the cut is the value.
                let whole = self.facts(terms, a);
                if whole.unsigned.1 <= mask(width) {
                    let news = Facts::between(whole.width, now.unsigned.0, now.unsigned.1);
                    return self.refine(terms, a, &news, depth);
                }
                Ok(())
            }
            Term::Bin(op, a, b) => self.refine_bin(terms, op, a, b, &now, depth),
            Term::Ite(c, a, b) => {
                let (x, y) = (self.facts(terms, a), self.facts(terms, b));
                match (now.meet(&x).is_empty(), now.meet(&y).is_empty()) {
                    (true, true) => Err(Contradiction),
                    (true, false) => {
                        self.refine(terms, c, &Facts::constant(1, 0), depth)?;
                        self.refine(terms, b, &now, depth)
                    }
                    (false, true) => {
                        self.refine(terms, c, &Facts::constant(1, 1), depth)?;
                        self.refine(terms, a, &now, depth)
                    }
                    (false, false) => Ok(()),
                }
            }
            Term::Float(FloatOp::Eq | FloatOp::Lt | FloatOp::Le, ..) | Term::Cmp(..) => match now.singleton() {
                Some(value) => self.comparison(terms, term, value == 1, depth),
                None => Ok(()),
            },
            Term::Float(op, format, args) => {
                let known = args.map(|arg| self.facts(terms, arg));
                let news = float_facts::arguments(op, format, &now, &known, args[0] == args[1]);
                for (arg, news) in args.into_iter().zip(news) {
                    if let Some(news) = news {
                        self.refine(terms, arg, &news, depth)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn refine_concat(
        &mut self,
        terms: &Terms,
        high: TermId,
        low: TermId,
        now: &Facts,
        depth: u32,
    ) -> Result<(), Contradiction> {
        let (high_width, low_width) = (terms.width(high), terms.width(low));
        let (from, to) = (now.unsigned.0 >> low_width, now.unsigned.1 >> low_width);
        self.refine(terms, high, &Facts::between(high_width, from, to), depth)?;
        if from != to {
            return Ok(());
        }
        let m = mask(low_width);
        self.refine(terms, low, &Facts::between(low_width, now.unsigned.0 & m, now.unsigned.1 & m), depth)
    }

    fn refine_bin(
        &mut self,
        terms: &Terms,
        op: Op,
        a: TermId,
        b: TermId,
        now: &Facts,
        depth: u32,
    ) -> Result<(), Contradiction> {
        let width = now.width;
        let m = mask(width);
        match (op, now.singleton(), terms.as_const(b)) {
            (Op::And, Some(value), _) if value == m => {
                self.refine(terms, a, now, depth)?;
                self.refine(terms, b, now, depth)
            }
            (Op::Or, Some(0), _) => {
                self.refine(terms, a, now, depth)?;
                self.refine(terms, b, now, depth)
            }
            (Op::Add, _, Some(c)) => {
                // The interval moves as a whole unless it is torn apart at the end of the number circle.
                let (low, high) = (now.unsigned.0.wrapping_sub(c) & m, now.unsigned.1.wrapping_sub(c) & m);
                let mut news = Facts::top(width);
                if low <= high {
                    news = news.meet(&Facts::between(width, low, high));
                }
                let sign = |value: i64| crate::terms::semantics::signed(width, (value as u64).wrapping_sub(c) & m);
                let (low, high) = (sign(now.signed.0), sign(now.signed.1));
                if low <= high {
                    news = news.meet(&Facts::signed_between(width, low, high));
                }
                self.refine(terms, a, &news, depth)
            }
            (Op::Mul, _, Some(c))
                if c > 0 && self.facts(terms, a).unsigned.1.checked_mul(c).is_some_and(|p| p <= m) =>
            {
                let news = Facts::between(width, now.unsigned.0.div_ceil(c), now.unsigned.1 / c);
                self.refine(terms, a, &news, depth)
            }
            (Op::Shl, _, Some(c)) if c < u64::from(width) && self.facts(terms, a).unsigned.1 <= m >> c => {
                let news = Facts::between(width, now.unsigned.0.div_ceil(1 << c), now.unsigned.1 >> c);
                self.refine(terms, a, &news, depth)
            }
            _ => Ok(()),
        }
    }

    /// A comparison that is true or false bounds both of its sides.
    fn comparison(&mut self, terms: &Terms, term: TermId, truth: bool, depth: u32) -> Result<(), Contradiction> {
        if depth == 0 {
            return Ok(());
        }
        let (term, truth) = match *terms.get(term) {
            Term::Not(inner) => (inner, !truth),
            _ => (term, truth),
        };
        let (rel, a, b) = match *terms.get(term) {
            Term::Cmp(rel, a, b) => (rel, a, b),
            Term::Float(op @ (FloatOp::Eq | FloatOp::Lt | FloatOp::Le), format, [a, b, _]) => {
                let (x, y) = (self.facts(terms, a), self.facts(terms, b));
                let Some([for_a, for_b]) = float_facts::compared(op, format, truth, &x, &y) else { return Ok(()) };
                self.refine(terms, a, &for_a, depth - 1)?;
                return self.refine(terms, b, &for_b, depth - 1);
            }
            _ => return Ok(()),
        };
        // not (a < b) is b <= a
        let (rel, a, b) = match (rel, truth) {
            (_, true) => (rel, a, b),
            (Rel::Eq, false) => return self.differ(terms, a, b, depth),
            (Rel::Ult, false) => (Rel::Ule, b, a),
            (Rel::Ule, false) => (Rel::Ult, b, a),
            (Rel::Slt, false) => (Rel::Sle, b, a),
            (Rel::Sle, false) => (Rel::Slt, b, a),
        };
        let (x, y) = (self.facts(terms, a), self.facts(terms, b));
        let width = x.width;
        let (for_a, for_b) = match rel {
            Rel::Eq => (y, x),
            Rel::Ult => (
                Facts::between(width, 0, y.unsigned.1.checked_sub(1).ok_or(Contradiction)?),
                Facts::between(width, x.unsigned.0.checked_add(1).ok_or(Contradiction)?, mask(width)),
            ),
            Rel::Ule => (Facts::between(width, 0, y.unsigned.1), Facts::between(width, x.unsigned.0, mask(width))),
            Rel::Slt => {
                let (low, high) = (signed_min(width), signed_max(width));
                if y.signed.1 == low || x.signed.0 == high {
                    return Err(Contradiction);
                }
                (Facts::signed_between(width, low, y.signed.1 - 1), Facts::signed_between(width, x.signed.0 + 1, high))
            }
            Rel::Sle => (
                Facts::signed_between(width, signed_min(width), y.signed.1),
                Facts::signed_between(width, x.signed.0, signed_max(width)),
            ),
        };
        self.refine(terms, a, &for_a, depth - 1)?;
        self.refine(terms, b, &for_b, depth - 1)
    }

    /// `a != b` trims an end of an interval where the other side is that end.
    fn differ(&mut self, terms: &Terms, a: TermId, b: TermId, depth: u32) -> Result<(), Contradiction> {
        for (term, other) in [(a, b), (b, a)] {
            let Some(value) = self.facts(terms, other).singleton() else { continue };
            let facts = self.facts(terms, term);
            if facts.is_empty() || facts.singleton() == Some(value) {
                return Err(Contradiction);
            }
            let s = crate::terms::semantics::signed(facts.width, value);
            let mut news = facts;
            // An interval of one value that is excluded would be a contradiction; `tightened` may not have seen it yet.
            if facts.unsigned.0 == value {
                news.unsigned.0 = value.checked_add(1).ok_or(Contradiction)?;
            } else if facts.unsigned.1 == value {
                news.unsigned.1 = value.checked_sub(1).ok_or(Contradiction)?;
            }
            if facts.signed.0 == s {
                news.signed.0 = s.checked_add(1).ok_or(Contradiction)?;
            } else if facts.signed.1 == s {
                news.signed.1 = s.checked_sub(1).ok_or(Contradiction)?;
            }
            self.refine(terms, term, &news, depth - 1)?;
        }
        Ok(())
    }
}

/// The direct parts of a term that is no read.
pub(crate) fn parts_of(term: &Term) -> [Option<TermId>; 3] {
    match *term {
        Term::Const { .. } | Term::Var { .. } => [None; 3],
        Term::Not(a) => [Some(a), None, None],
        Term::Bin(_, a, b) | Term::Cmp(_, a, b) => [Some(a), Some(b), None],
        Term::Ite(c, a, b) => [Some(c), Some(a), Some(b)],
        Term::Extract { term, .. } | Term::ZExt { term, .. } | Term::SExt { term, .. } => [Some(term), None, None],
        Term::Concat { high, low } => [Some(high), Some(low), None],
        Term::Read { offset, .. } => [Some(offset), None, None],
        Term::Float(op, _, [a, b, c]) => [Some(a), (op.arity() > 1).then_some(b), (op.arity() > 2).then_some(c)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_an_index_decide_its_bounds_check() {
        let mut terms = Terms::new();
        let i = terms.var(32, "i");
        let (zero, ten) = (terms.constant(32, 0), terms.constant(32, 10));
        let (low, high) = (terms.cmp(Rel::Sle, zero, i), terms.cmp(Rel::Slt, i, ten));
        let mut bounds = Bounds::default();
        bounds.assume(&terms, low, true).expect("consistent");
        bounds.assume(&terms, high, true).expect("consistent");
        let wide = terms.sext(i, 64);
        let four = terms.constant(64, 4);
        let offset = terms.mul(wide, four);
        assert_eq!(bounds.facts(&terms, offset).unsigned, (0, 36));
        let size = terms.constant(64, 37);
        let inside = terms.cmp(Rel::Ult, offset, size);
        assert_eq!(bounds.decide(&terms, inside), Some(true));
        let nine = terms.constant(32, 9);
        let beyond = terms.cmp(Rel::Slt, nine, i);
        assert_eq!(bounds.clone().assume(&terms, beyond, true), Err(Contradiction));
    }

    #[test]
    fn bounds_travel_along_a_chain_of_comparisons() {
        let mut terms = Terms::new();
        let [a, b, c] = ["a", "b", "c"].map(|n| terms.var(8, n));
        let three = terms.constant(8, 3);
        let chain = [terms.cmp(Rel::Ult, a, b), terms.cmp(Rel::Ult, b, c), terms.cmp(Rel::Ult, c, three)];
        let mut bounds = Bounds::default();
        for condition in chain {
            bounds.assume(&terms, condition, true).expect("consistent");
        }
        bounds.propagate(&terms, &chain, &chain).expect("consistent");
        assert_eq!(bounds.facts(&terms, a).singleton(), Some(0));
        assert_eq!(bounds.facts(&terms, c).singleton(), Some(2));
    }
}
