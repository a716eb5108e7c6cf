//! Smart constructors: every term is simplified when it is built, so that most conditions of a program are decided
//! without a query, or have a form from which bounds can be derived.
//!
//! Constants are the right operands of commutative operations and of equalities; a negated comparison is the opposite
//! comparison; signed comparisons of non-negative values are unsigned ones.

use crate::terms::facts::decide;
use crate::terms::semantics::{apply, holds, mask, signed, signed_max, signed_min};
use crate::terms::term::{Op, Rel, Term, TermId};
use crate::terms::term_store::Terms;
use touchstone_base::fault::{Fault, is_injected};

impl Terms {
    /// Bitwise complement.
    pub fn not(&mut self, a: TermId) -> TermId {
        let width = self.width(a);
        match *self.get(a) {
            Term::Const { value, .. } => self.constant(width, !value),
            Term::Not(inner) => inner,
            Term::Cmp(Rel::Ult, x, y) => self.cmp(Rel::Ule, y, x),
            Term::Cmp(Rel::Ule, x, y) => self.cmp(Rel::Ult, y, x),
            Term::Cmp(Rel::Slt, x, y) => self.cmp(Rel::Sle, y, x),
            Term::Cmp(Rel::Sle, x, y) => self.cmp(Rel::Slt, y, x),
            _ => self.intern(Term::Not(a)),
        }
    }

    /// Bitwise and; on truth values, conjunction.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::And, a, b)
    }

    /// Bitwise or; on truth values, disjunction.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::Or, a, b)
    }

    /// Bitwise exclusive or.
    pub fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::Xor, a, b)
    }

    /// Wrapping addition.
    pub fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::Add, a, b)
    }

    /// Wrapping subtraction.
    pub fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::Sub, a, b)
    }

    /// Wrapping multiplication.
    pub fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.bin(Op::Mul, a, b)
    }

    /// `a == b`.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.cmp(Rel::Eq, a, b)
    }

    /// `a != b`.
    pub fn ne(&mut self, a: TermId, b: TermId) -> TermId {
        let equal = self.cmp(Rel::Eq, a, b);
        self.not(equal)
    }

    /// A binary operation on terms of equal width.
    pub fn bin(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "invariant: operands of equal width");
        if let (Some(x), Some(y)) = (self.as_const(a), self.as_const(b)) {
            return self.constant(width, apply(op, width, x, y));
        }
        let (a, b) = if op.commutes() && self.swaps(a, b) { (b, a) } else { (a, b) };
        let simpler = match self.as_const(b) {
            Some(c) => self.bin_const(op, width, a, b, c),
            None => self.bin_truths(op, width, a, b).or_else(|| self.bin_terms(op, width, a, b)),
        };
        simpler.unwrap_or_else(|| self.intern(Term::Bin(op, a, b)))
    }

    /// Returns true if the operands of a commutative operation must be swapped for the normal form.
    fn swaps(&self, a: TermId, b: TermId) -> bool {
        match (self.as_const(a), self.as_const(b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => a > b,
        }
    }

    fn is_put_together(&self, term: TermId) -> bool {
        match *self.get(term) {
            Term::Concat { .. } => true,
            Term::ZExt { term, .. } => matches!(self.get(term), Term::Concat { .. }),
            _ => false,
        }
    }

    /// A shift of something that is put together, by less than its width: bit-fields are shifted out of what they share bytes with.
    fn shifted_parts(&mut self, op: Op, a: TermId, by: u8) -> TermId {
        let width = self.width(a);
        if op == Op::Shl {
            let (cut, zeros) = (self.extract(a, 0, width - by), self.constant(by, 0));
            return self.concat(cut, zeros);
        }
        let cut = self.extract(a, by, width - by);
        if op == Op::LShr { self.zext(cut, width) } else { self.sext(cut, width) }
    }

    /// `a op b` of numbers that are 0 or 1, as in `(x > 0) & (y > 0)`: the number of a truth, which takes a conjunction apart.
    fn bin_truths(&mut self, op: Op, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        let op = match op {
            Op::And | Op::Mul => Op::And,
            Op::Or | Op::Xor => op,
            _ => return None,
        };
        let (a, b) = (self.as_truth(a)?, self.as_truth(b)?);
        let truth = self.bin(op, a, b);
        Some(self.zext(truth, width))
    }

    /// The truth that a wider term is the number of.
    fn as_truth(&mut self, term: TermId) -> Option<TermId> {
        match *self.get(term) {
            Term::ZExt { term, .. } if self.width(term) == 1 => Some(term),
            Term::Ite(condition, then, otherwise) => match (self.as_const(then), self.as_const(otherwise)) {
                (Some(1), Some(0)) if self.width(then) > 1 => Some(condition),
                (Some(0), Some(1)) if self.width(then) > 1 => Some(self.not(condition)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `a op c` with a constant on the right.
    fn bin_const(&mut self, op: Op, width: u8, a: TermId, b: TermId, c: u64) -> Option<TermId> {
        let all = mask(width);
        if width == 1 {
            match op {
                Op::Shl | Op::LShr | Op::AShr => return Some(a),
                Op::Add | Op::Sub => return Some(self.xor(a, b)),
                _ => {}
            }
        }
        match (op, c) {
            (Op::Add | Op::Sub | Op::Or | Op::Xor, 0) => return Some(a),
            (Op::Mul | Op::And, 0) => return Some(b),
            (Op::Mul | Op::UDiv, 1) => return Some(a),
            (Op::SDiv, 1) if width > 1 => return Some(a),
            (Op::URem, 1) => return Some(self.constant(width, 0)),
            (Op::SRem, 1) if width > 1 => return Some(self.constant(width, 0)),
            (Op::And, _) if c == all => return Some(a),
            (Op::Or, _) if c == all => return Some(b),
            (Op::Xor, _) if c == all => return Some(self.not(a)),
            (Op::Sub, _) => {
                let negated = self.constant(width, c.wrapping_neg());
                return Some(self.add(a, negated));
            }
            (Op::UDiv, _) if c.is_power_of_two() => {
                let by = self.constant(width, u64::from(c.trailing_zeros()));
                return Some(self.bin(Op::LShr, a, by));
            }
            (Op::URem, _) if c.is_power_of_two() => {
                let low = self.constant(width, c - 1);
                return Some(self.and(a, low));
            }
            (Op::Shl | Op::LShr | Op::AShr, _) => {
                let by = c % u64::from(width);
                if by == 0 {
                    return Some(a);
                }
                if by != c {
                    let by = self.constant(width, by);
                    return Some(self.bin(op, a, by));
                }
                if self.is_put_together(a) {
                    return Some(self.shifted_parts(op, a, by as u8));
                }
            }
            // What the mask removes is 0 anyway.
            (Op::And, _) if (all & !c) & !self.facts(a).zeros == 0 => return Some(a),
            // The low bits of something that is put together.
            (Op::And, _) if c & c.wrapping_add(1) == 0 && self.is_put_together(a) => {
                let cut = self.extract(a, 0, c.trailing_ones() as u8);
                return Some(self.zext(cut, width));
            }
            _ => {}
        }
        if (op, c) == (Op::Xor, 1)
            && let Some(truth) = self.as_truth(a)
        {
            let other = self.not(truth);
            return Some(self.zext(other, width));
        }
        // (x op c1) op c2
        if let Term::Bin(inner, x, y) = *self.get(a)
            && inner == op
            && matches!(op, Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor)
            && let Some(c1) = self.as_const(y)
        {
            let both = self.constant(width, apply(op, width, c1, c));
            return Some(self.bin(op, x, both));
        }
        // (x + c1) * c: constants of sums drift to the outside through a product too.
        if op == Op::Mul
            && let Term::Bin(Op::Add, x, y) = *self.get(a)
            && let Some(c1) = self.as_const(y)
        {
            let (product, rest) = (self.mul(x, b), self.constant(width, apply(Op::Mul, width, c1, c)));
            return Some(self.add(product, rest));
        }
        if let Term::Ite(condition, x, y) = *self.get(a)
            && let (Some(x), Some(y)) = (self.as_const(x), self.as_const(y))
        {
            let then = self.constant(width, apply(op, width, x, c));
            let otherwise = self.constant(width, apply(op, width, y, c));
            return Some(self.ite(condition, then, otherwise));
        }
        None
    }

    /// `a op b` where `b` is no constant.
    fn bin_terms(&mut self, op: Op, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        if width == 1 {
            match op {
                Op::Add | Op::Sub => return Some(self.xor(a, b)),
                Op::Mul => return Some(self.and(a, b)),
                Op::Shl | Op::LShr | Op::AShr => return Some(a),
                _ => {}
            }
        }
        if a == b {
            match op {
                Op::Sub | Op::Xor => return Some(self.constant(width, 0)),
                Op::And | Op::Or => return Some(a),
                _ => {}
            }
        }
        if self.are_complements(a, b) {
            match op {
                Op::And => return Some(self.constant(width, 0)),
                Op::Or | Op::Xor | Op::Add => return Some(self.constant(width, u64::MAX)),
                _ => {}
            }
        }
        if (op, width) == (Op::Xor, 1)
            && let Some(same) = self.same_comparison(a, b)
        {
            return Some(self.not(same));
        }
        match op {
            // (x + y) - x
            Op::Sub => match *self.get(a) {
                Term::Bin(Op::Add, x, y) if x == b => Some(y),
                Term::Bin(Op::Add, x, y) if y == b => Some(x),
                _ => None,
            },
            // x & (x & y)
            Op::And | Op::Or => {
                for (outer, inner) in [(a, b), (b, a)] {
                    if let Term::Bin(same, x, y) = *self.get(inner)
                        && same == op
                        && (x == outer || y == outer)
                    {
                        return Some(inner);
                    }
                }
                None
            }
            // Constants of sums drift to the outside, where they meet; (y - x) + x.
            Op::Add => {
                for (plain, sum) in [(b, a), (a, b)] {
                    if let Term::Bin(Op::Sub, y, x) = *self.get(sum)
                        && x == plain
                    {
                        return Some(y);
                    }
                    if let Term::Bin(Op::Add, x, c) = *self.get(sum)
                        && self.as_const(c).is_some()
                    {
                        let inner = self.add(x, plain);
                        return Some(self.add(inner, c));
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Returns true if one term is certainly the complement of the other.
    fn are_complements(&self, a: TermId, b: TermId) -> bool {
        let negates = |x: TermId, y: TermId| match (*self.get(x), *self.get(y)) {
            (Term::Not(inner), _) => inner == y,
            (Term::Cmp(Rel::Ult, p, q), Term::Cmp(Rel::Ule, r, s))
            | (Term::Cmp(Rel::Slt, p, q), Term::Cmp(Rel::Sle, r, s)) => p == s && q == r,
            _ => false,
        };
        negates(a, b) || negates(b, a)
    }

    /// A comparison of terms of equal width.
    pub fn cmp(&mut self, rel: Rel, a: TermId, b: TermId) -> TermId {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "invariant: operands of equal width");
        let rel = if rel == Rel::Slt && is_injected(Fault::UnsignedComparison) { Rel::Ult } else { rel };
        if a == b {
            return self.truth(matches!(rel, Rel::Eq | Rel::Ule | Rel::Sle));
        }
        if let Some(truth) = decide(rel, self.facts(a), self.facts(b)) {
            return self.truth(truth);
        }
        let (a, b) = if rel == Rel::Eq && self.swaps(a, b) { (b, a) } else { (a, b) };
        let simpler = match rel {
            Rel::Eq => self.simplify_eq(width, a, b),
            _ => self.simplify_order(rel, width, a, b),
        };
        simpler.unwrap_or_else(|| self.intern(Term::Cmp(rel, a, b)))
    }

    fn simplify_eq(&mut self, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        if let (Some(x), Some(y)) = (self.inner_of_same_extension(a, b), self.inner_of_same_extension(b, a)) {
            return Some(self.eq(x, y));
        }
        let Some(c) = self.as_const(b) else {
            return match (*self.get(a), *self.get(b)) {
                (Term::Not(x), Term::Not(y)) => Some(self.eq(x, y)),
                (Term::Bin(Op::Add, x, y), Term::Bin(Op::Add, p, q)) if y == q => Some(self.eq(x, p)),
                _ if width == 1 => self.same_comparison(a, b),
                _ => None,
            };
        };
        if width == 1 {
            return Some(if c == 1 { a } else { self.not(a) });
        }
        match *self.get(a) {
            Term::Not(x) => {
                let c = self.constant(width, !c);
                Some(self.eq(x, c))
            }
            Term::ZExt { term, .. } | Term::SExt { term, .. } => {
                // A constant that is no extension was already excluded by the facts of the extension.
                let narrow = self.width(term);
                let back = match self.get(a) {
                    Term::ZExt { .. } => c & mask(narrow),
                    _ => signed(narrow, c & mask(narrow)) as u64 & mask(width),
                };
                if back != c {
                    return Some(self.truth(false));
                }
                let c = self.constant(narrow, c);
                Some(self.eq(term, c))
            }
            Term::Concat { high, low } => {
                let low_width = self.width(low);
                let upper = self.constant(width - low_width, c >> low_width);
                let lower = self.constant(low_width, c);
                let (upper, lower) = (self.eq(high, upper), self.eq(low, lower));
                Some(self.and(upper, lower))
            }
            Term::Bin(Op::Add, x, y) if self.as_const(y).is_some() => {
                let y = self.as_const(y).unwrap_or(0);
                let c = self.constant(width, c.wrapping_sub(y));
                Some(self.eq(x, c))
            }
            Term::Bin(Op::Xor, x, y) if self.as_const(y).is_some() => {
                let y = self.as_const(y).unwrap_or(0);
                let c = self.constant(width, c ^ y);
                Some(self.eq(x, c))
            }
            Term::Bin(Op::Sub | Op::Xor, x, y) if c == 0 => Some(self.eq(x, y)),
            Term::Ite(..) => self.distribute(Rel::Eq, width, a, b),
            _ => None,
        }
    }

    /// The term under `a`'s extension, if `b` extends a term of the same width in the same way.
    fn inner_of_same_extension(&self, a: TermId, b: TermId) -> Option<TermId> {
        match (*self.get(a), *self.get(b)) {
            (Term::ZExt { term: x, .. }, Term::ZExt { term: y, .. })
            | (Term::SExt { term: x, .. }, Term::SExt { term: y, .. })
                if self.width(x) == self.width(y) =>
            {
                Some(x)
            }
            _ => None,
        }
    }

    fn simplify_order(&mut self, rel: Rel, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        let sign = 1u64 << (width - 1);
        if matches!(rel, Rel::Slt | Rel::Sle)
            && (self.facts(a).zeros & self.facts(b).zeros | self.facts(a).ones & self.facts(b).ones) & sign != 0
        {
            let unsigned = if rel == Rel::Slt { Rel::Ult } else { Rel::Ule };
            return Some(self.cmp(unsigned, a, b));
        }
        if let (Some(x), Some(y)) = (self.inner_of_same_extension(a, b), self.inner_of_same_extension(b, a)) {
            let narrow = match (rel, self.get(a)) {
                (Rel::Slt, Term::ZExt { .. }) => Rel::Ult,
                (Rel::Sle, Term::ZExt { .. }) => Rel::Ule,
                _ => rel,
            };
            return Some(self.cmp(narrow, x, y));
        }
        self.order_with_const(rel, width, a, b)
    }

    fn order_with_const(&mut self, rel: Rel, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        let (left, right) = (self.as_const(a), self.as_const(b));
        let (term, c) = match (left, right) {
            (None, Some(c)) => (a, c),
            (Some(c), None) => (b, c),
            _ => return None,
        };
        // Bounds that leave one value are equalities.
        let facts = *self.facts(term);
        let (low, high) = match rel {
            Rel::Ult | Rel::Ule => (facts.unsigned.0, facts.unsigned.1),
            _ => (facts.signed.0 as u64 & mask(width), facts.signed.1 as u64 & mask(width)),
        };
        let strict = matches!(rel, Rel::Ult | Rel::Slt);
        let bound = match (right.is_some(), strict) {
            (true, true) => c.wrapping_sub(1) & mask(width),
            (false, true) => c.wrapping_add(1) & mask(width),
            _ => c,
        };
        let extreme = if right.is_some() { low } else { high };
        if bound == extreme {
            let value = self.constant(width, extreme);
            return Some(self.eq(term, value));
        }
        // x < max and min < x exclude one value.
        let other = if right.is_some() { high } else { low };
        if strict && c == other {
            let value = self.constant(width, other);
            return Some(self.ne(term, value));
        }
        let narrowed = match *self.get(term) {
            Term::ZExt { term: inner, .. } if matches!(rel, Rel::Ult | Rel::Ule) => {
                let narrow = self.width(inner);
                (c <= mask(narrow)).then_some((inner, c))
            }
            Term::SExt { term: inner, .. } if matches!(rel, Rel::Slt | Rel::Sle) => {
                let narrow = self.width(inner);
                let s = signed(width, c);
                (signed_min(narrow) <= s && s <= signed_max(narrow)).then_some((inner, c & mask(narrow)))
            }
            Term::Ite(..) => return self.distribute(rel, width, a, b),
            _ => None,
        };
        let (inner, c) = narrowed?;
        let c = self.constant(self.width(inner), c);
        Some(if right.is_some() { self.cmp(rel, inner, c) } else { self.cmp(rel, c, inner) })
    }

    /// Returns true if a term is an `ite` that ends in constants after a few steps down its only open branch.
    fn is_short_choice(&self, mut term: TermId) -> bool {
        for _ in 0..16 {
            match *self.get(term) {
                Term::Const { .. } => return true,
                Term::Ite(_, x, y) if self.as_const(x).is_some() => term = y,
                Term::Ite(_, x, y) if self.as_const(y).is_some() => term = x,
                Term::Ite(..) => return false,
                _ => return true,
            }
        }
        false
    }

    /// A comparison of a choice between constants with a constant is a condition on the choice.
    fn distribute(&mut self, rel: Rel, width: u8, a: TermId, b: TermId) -> Option<TermId> {
        let branches = |terms: &Terms, id: TermId| match *terms.get(id) {
            Term::Ite(c, x, y) => Some((c, terms.as_const(x), terms.as_const(y), x, y)),
            _ => None,
        };
        if let (Some((c, x, y, then, otherwise)), Some(k)) = (branches(self, a), self.as_const(b)) {
            return match (x, y) {
                (Some(x), Some(y)) => {
                    let (x, y) = (self.truth(holds(rel, width, x, k)), self.truth(holds(rel, width, y, k)));
                    Some(self.ite(c, x, y))
                }
                (Some(_), None) | (None, Some(_)) if self.is_short_choice(a) => {
                    let (x, y) = (self.cmp(rel, then, b), self.cmp(rel, otherwise, b));
                    Some(self.ite(c, x, y))
                }
                _ => None,
            };
        }
        if let (Some(k), Some((c, Some(x), Some(y), ..))) = (self.as_const(a), branches(self, b)) {
            let (x, y) = (self.truth(holds(rel, width, k, x)), self.truth(holds(rel, width, k, y)));
            return Some(self.ite(c, x, y));
        }
        None
    }

    /// `condition ? then : otherwise`.
    pub fn ite(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        assert_eq!(self.width(condition), 1, "invariant: a condition has one bit");
        assert_eq!(self.width(then), self.width(otherwise), "invariant: branches of equal width");
        if let Some(c) = self.as_const(condition) {
            return if c == 1 { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if let Term::Not(inner) = *self.get(condition) {
            return self.ite(inner, otherwise, then);
        }
        if self.width(then) == 1 {
            if let Some(simpler) = self.truth_ite(condition, then, otherwise) {
                return simpler;
            }
        } else {
            // A choice nested under the same condition is already made.
            if let Term::Ite(c, x, _) = *self.get(then)
                && c == condition
            {
                return self.ite(condition, x, otherwise);
            }
            if let Term::Ite(c, _, y) = *self.get(otherwise)
                && c == condition
            {
                return self.ite(condition, then, y);
            }
        }
        self.intern(Term::Ite(condition, then, otherwise))
    }

    fn truth_ite(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> Option<TermId> {
        match (self.as_const(then), self.as_const(otherwise)) {
            (Some(1), Some(_)) => Some(condition),
            (Some(_), Some(_)) => Some(self.not(condition)),
            (Some(1), None) => Some(self.or(condition, otherwise)),
            (Some(_), None) => {
                let negated = self.not(condition);
                Some(self.and(negated, otherwise))
            }
            (None, Some(0)) => Some(self.and(condition, then)),
            (None, Some(_)) => {
                let negated = self.not(condition);
                Some(self.or(negated, then))
            }
            (None, None) => None,
        }
    }

    /// Bits `low .. low + width` of a term.
    pub fn extract(&mut self, term: TermId, low: u8, width: u8) -> TermId {
        let from = self.width(term);
        assert!(width >= 1 && low + width <= from, "invariant: the cut lies inside of the term");
        if width == from {
            return term;
        }
        match *self.get(term) {
            Term::Const { value, .. } => self.constant(width, value >> low),
            Term::Extract { term: inner, low: below, .. } => self.extract(inner, below + low, width),
            Term::Concat { high, low: lower } => {
                let split = self.width(lower);
                if low >= split {
                    self.extract(high, low - split, width)
                } else if low + width <= split {
                    self.extract(lower, low, width)
                } else {
                    let upper = self.extract(high, 0, low + width - split);
                    let lower = self.extract(lower, low, split - low);
                    self.concat(upper, lower)
                }
            }
            Term::ZExt { term: inner, .. } => {
                let split = self.width(inner);
                if low >= split {
                    self.constant(width, 0)
                } else if low + width <= split {
                    self.extract(inner, low, width)
                } else {
                    let cut = self.extract(inner, low, split - low);
                    self.zext(cut, width)
                }
            }
            Term::SExt { term: inner, .. } => {
                let split = self.width(inner);
                if low + width <= split {
                    self.extract(inner, low, width)
                } else if low < split {
                    let cut = self.extract(inner, low, split - low);
                    self.sext(cut, width)
                } else {
                    let top = self.extract(inner, split - 1, 1);
                    self.sext(top, width)
                }
            }
            Term::Not(inner) => {
                let cut = self.extract(inner, low, width);
                self.not(cut)
            }
            Term::Bin(op @ (Op::And | Op::Or | Op::Xor), a, b)
                if self.as_const(b).is_some() || (self.shrinks(a, low + width) && self.shrinks(b, low + width)) =>
            {
                let (a, b) = (self.extract(a, low, width), self.extract(b, low, width));
                self.bin(op, a, b)
            }
            // The low part of a sum or product needs only the low parts: pays where they are simpler.
            Term::Bin(op @ (Op::Add | Op::Sub | Op::Mul), a, b)
                if low == 0 && (self.shrinks(a, width) && self.shrinks(b, width)) =>
            {
                let (a, b) = (self.extract(a, 0, width), self.extract(b, 0, width));
                self.bin(op, a, b)
            }
            Term::Ite(c, a, b) if self.shrinks(a, low + width) && self.shrinks(b, low + width) => {
                let (a, b) = (self.extract(a, low, width), self.extract(b, low, width));
                self.ite(c, a, b)
            }
            _ => self.intern(Term::Extract { term, low, width }),
        }
    }

    /// Returns true if the low `width` bits of a term are no more complex than the term.
    fn shrinks(&self, term: TermId, width: u8) -> bool {
        match *self.get(term) {
            Term::Const { .. } => true,
            Term::ZExt { term, .. } | Term::SExt { term, .. } => self.width(term) >= width,
            Term::Concat { low, .. } => self.width(low) == width,
            _ => false,
        }
    }

    /// The bits of `high` above those of `low`.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        let (high_width, low_width) = (self.width(high), self.width(low));
        let width = high_width + low_width;
        assert!(width <= 64, "invariant: width 1..=64");
        if let (Some(h), Some(l)) = (self.as_const(high), self.as_const(low)) {
            return self.constant(width, h << low_width | l);
        }
        if self.as_const(high) == Some(0) {
            return self.zext(low, width);
        }
        if let Some(joined) = self.adjacent(high, low) {
            return joined;
        }
        if let Term::Concat { high: middle, low: lowest } = *self.get(low)
            && let Some(joined) = self.adjacent(high, middle)
        {
            return self.concat(joined, lowest);
        }
        if let Term::Concat { high: highest, low: middle } = *self.get(high)
            && let Some(joined) = self.adjacent(middle, low)
        {
            return self.concat(highest, joined);
        }
        if let Term::ZExt { term, .. } = *self.get(high) {
            let inner = self.concat(term, low);
            return self.zext(inner, width);
        }
        self.intern(Term::Concat { high, low })
    }

    /// Two neighbouring cuts of the same term as one.
    fn adjacent(&mut self, high: TermId, low: TermId) -> Option<TermId> {
        let low_width = self.width(low);
        if let (Some(h), Some(l)) = (self.as_const(high), self.as_const(low)) {
            let width = self.width(high) + low_width;
            return (width <= 64).then(|| self.constant(width, h << low_width | l));
        }
        let cut = |terms: &Terms, id: TermId| match *terms.get(id) {
            Term::Extract { term, low, width } => (term, low, width),
            _ => (id, 0, terms.width(id)),
        };
        let (above, above_low, above_width) = cut(self, high);
        let (below, below_low, below_width) = cut(self, low);
        // The upper part of a sign or zero extension may have been cut out of the narrow term.
        (above == below && above_low == below_low + below_width)
            .then(|| self.extract(above, below_low, below_width + above_width))
    }

    /// Zero extension; to the same width it is the term itself.
    pub fn zext(&mut self, term: TermId, width: u8) -> TermId {
        let from = self.width(term);
        assert!(from <= width && width <= 64, "invariant: an extension does not cut");
        if from == width {
            return term;
        }
        match *self.get(term) {
            Term::Const { value, .. } => self.constant(width, value),
            Term::ZExt { term: inner, .. } => self.zext(inner, width),
            Term::Ite(c, a, b) if self.as_const(a).is_some() && self.as_const(b).is_some() => {
                let (a, b) = (self.zext(a, width), self.zext(b, width));
                self.ite(c, a, b)
            }
            _ => self.intern(Term::ZExt { term, width }),
        }
    }

    /// Sign extension; to the same width it is the term itself.
    pub fn sext(&mut self, term: TermId, width: u8) -> TermId {
        let from = self.width(term);
        assert!(from <= width && width <= 64, "invariant: an extension does not cut");
        if from == width {
            return term;
        }
        if self.facts(term).zeros & (1u64 << (from - 1)) != 0 {
            return self.zext(term, width);
        }
        match *self.get(term) {
            Term::Const { value, .. } => self.constant(width, signed(from, value) as u64),
            Term::SExt { term: inner, .. } => self.sext(inner, width),
            Term::Ite(c, a, b) if self.as_const(a).is_some() && self.as_const(b).is_some() => {
                let (a, b) = (self.sext(a, width), self.sext(b, width));
                self.ite(c, a, b)
            }
            _ => self.intern(Term::SExt { term, width }),
        }
    }
}
