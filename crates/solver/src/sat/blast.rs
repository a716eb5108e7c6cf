//! Terms as circuits. Each term is translated once; reads become free bits (late aliases), and `sat` adds what is
//! known about them when a model needs it.

use batsat::{Lit, SolverInterface};
use rustc_hash::FxHashMap;

use crate::sat::circuit::Circuit;
use crate::terms::semantics::mask;
use crate::terms::term::{Op, Rel, Term, TermId, VarId};
use crate::terms::term_store::Terms;

/// The translation of terms into one SAT instance.
pub(crate) struct Blaster {
    pub(crate) circuit: Circuit,
    starts: FxHashMap<TermId, u32>,
    bits: Vec<Lit>,
    /// Quotients and remainders by dividend and divisor, which unsigned and signed operations of both kinds share.
    divisions: FxHashMap<(Bits, Bits), (Bits, Bits)>,
}

/// The literals of a value, lowest first.
pub(crate) type Bits = Vec<Lit>;

impl Blaster {
    pub(crate) fn new() -> Blaster {
        Blaster {
            circuit: Circuit::new(),
            starts: FxHashMap::default(),
            bits: Vec::new(),
            divisions: FxHashMap::default(),
        }
    }

    /// Returns the number of SAT variables.
    pub(crate) fn size(&self) -> usize {
        self.circuit.solver.num_vars() as usize
    }

    /// Returns true if a term has been translated.
    pub(crate) fn knows(&self, term: TermId) -> bool {
        self.starts.contains_key(&term)
    }

    /// The literal of a truth value.
    pub(crate) fn literal(&mut self, terms: &Terms, term: TermId) -> Lit {
        self.translate(terms, term);
        self.slice(terms, term)[0]
    }

    /// The value of a translated term in the last model.
    pub(crate) fn value(&self, terms: &Terms, term: TermId) -> u64 {
        if let Some(value) = terms.as_const(term) {
            return value;
        }
        let bits = self.slice(terms, term);
        bits.iter().enumerate().fold(0, |sum, (i, &lit)| sum | u64::from(self.circuit.value(lit)) << i)
    }

    /// The value of a variable in the last model, if it occurs.
    pub(crate) fn var_value(&self, terms: &Terms, var: VarId) -> u64 {
        let term = terms.var_term(var);
        if self.knows(term) { self.value(terms, term) } else { 0 }
    }

    fn slice(&self, terms: &Terms, term: TermId) -> &[Lit] {
        match self.starts.get(&term) {
            Some(&start) => &self.bits[start as usize..start as usize + usize::from(terms.width(term))],
            None => &[],
        }
    }

    fn bits_of(&self, terms: &Terms, term: TermId) -> Bits {
        self.slice(terms, term).to_vec()
    }

    /// Translates a term and all of its subterms, without recursion on the host stack.
    pub(crate) fn translate(&mut self, terms: &Terms, term: TermId) {
        if self.knows(term) {
            return;
        }
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if self.knows(top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let mut need = |id: TermId| {
                if !self.starts.contains_key(&id) {
                    stack.push(id);
                }
            };
            match *terms.get(top) {
                Term::Const { .. } | Term::Var { .. } => {}
                Term::Not(a) => need(a),
                Term::Bin(_, a, b) | Term::Cmp(_, a, b) | Term::Concat { high: a, low: b } => {
                    need(a);
                    need(b);
                }
                Term::Ite(c, a, b) => {
                    need(c);
                    need(a);
                    need(b);
                }
                Term::Extract { term, .. } | Term::ZExt { term, .. } | Term::SExt { term, .. } => need(term),
                Term::Read { offset, .. } => need(offset),
                Term::Float(_, _, args) => args.into_iter().for_each(need),
            }
            if stack.len() == before {
                stack.pop();
                let bits = self.node(terms, top);
                debug_assert_eq!(bits.len(), usize::from(terms.width(top)));
                let start = u32::try_from(self.bits.len()).expect("invariant: fewer than 2^32 bits in an instance");
                self.bits.extend_from_slice(&bits);
                self.starts.insert(top, start);
            }
        }
    }

    fn constant_bits(&self, width: u8, value: u64) -> Bits {
        (0..width).map(|i| self.circuit.constant(value >> i & 1 == 1)).collect()
    }

    pub(crate) fn fresh_bits(&mut self, width: u8) -> Bits {
        (0..width).map(|_| self.circuit.fresh()).collect()
    }

    fn node(&mut self, terms: &Terms, term: TermId) -> Bits {
        let width = terms.width(term);
        match *terms.get(term) {
            Term::Const { width, value } => self.constant_bits(width, value),
            Term::Var { width, .. } => self.fresh_bits(width),
            Term::Read { .. } => self.fresh_bits(width),
            Term::Not(a) => self.slice(terms, a).iter().map(|&l| !l).collect(),
            Term::Cmp(rel, a, b) => {
                let (x, y) = (self.bits_of(terms, a), self.bits_of(terms, b));
                vec![self.compare(rel, &x, &y)]
            }
            Term::Ite(c, a, b) => {
                let c = self.slice(terms, c)[0];
                let (x, y) = (self.bits_of(terms, a), self.bits_of(terms, b));
                self.choose(c, &x, &y)
            }
            Term::Extract { term, low, width } => {
                self.slice(terms, term)[usize::from(low)..usize::from(low + width)].to_vec()
            }
            Term::Concat { high, low } => {
                let mut bits = self.bits_of(terms, low);
                bits.extend_from_slice(self.slice(terms, high));
                bits
            }
            Term::ZExt { term, width } => {
                let mut bits = self.bits_of(terms, term);
                bits.resize(usize::from(width), self.circuit.constant(false));
                bits
            }
            Term::SExt { term, width } => {
                let mut bits = self.bits_of(terms, term);
                let sign = bits[bits.len() - 1];
                bits.resize(usize::from(width), sign);
                bits
            }
            Term::Bin(op, a, b) => {
                let (x, y) = (self.bits_of(terms, a), self.bits_of(terms, b));
                self.binary(op, &x, &y, terms.as_const(b))
            }
            Term::Float(op, format, args) => {
                let args = args.map(|arg| self.bits_of(terms, arg));
                self.float(op, format, &args)
            }
        }
    }

    fn binary(&mut self, op: Op, x: &[Lit], y: &[Lit], constant: Option<u64>) -> Bits {
        let off = self.circuit.constant(false);
        match op {
            Op::And => x.iter().zip(y).map(|(&a, &b)| self.circuit.and(a, b)).collect(),
            Op::Or => x.iter().zip(y).map(|(&a, &b)| self.circuit.or(a, b)).collect(),
            Op::Xor => x.iter().zip(y).map(|(&a, &b)| self.circuit.xor(a, b)).collect(),
            Op::Add => self.add(x, y, off).0,
            Op::Sub => {
                let negated: Bits = y.iter().map(|&l| !l).collect();
                self.add(x, &negated, !off).0
            }
            Op::Mul => match constant {
                Some(_) => self.multiply(x, y),
                None => self.multiply(y, x),
            },
            Op::UDiv => self.divide(x, y).0,
            Op::URem => self.divide(x, y).1,
            Op::SDiv => self.signed_divide(x, y).0,
            Op::SRem => self.signed_divide(x, y).1,
            Op::Shl | Op::LShr | Op::AShr => self.shift(op, x, y),
        }
    }

    pub(crate) fn choose(&mut self, c: Lit, x: &[Lit], y: &[Lit]) -> Bits {
        x.iter().zip(y).map(|(&a, &b)| self.circuit.mux(c, a, b)).collect()
    }

    /// Sum and carry out.
    pub(crate) fn add(&mut self, x: &[Lit], y: &[Lit], carry: Lit) -> (Bits, Lit) {
        let mut carry = carry;
        let mut sum = Vec::with_capacity(x.len());
        for (&a, &b) in x.iter().zip(y) {
            let (bit, next) = self.circuit.full_adder(a, b, carry);
            sum.push(bit);
            carry = next;
        }
        (sum, carry)
    }

    fn negate(&mut self, x: &[Lit]) -> Bits {
        let negated: Bits = x.iter().map(|&l| !l).collect();
        let zero = self.constant_bits(x.len() as u8, 0);
        let on = self.circuit.constant(true);
        self.add(&negated, &zero, on).0
    }

    /// One row per bit of `y`, so the constant, if any, belongs there.
    pub(crate) fn multiply(&mut self, x: &[Lit], y: &[Lit]) -> Bits {
        let width = x.len();
        let off = self.circuit.constant(false);
        let mut sum = vec![off; width];
        for (i, &bit) in y.iter().enumerate() {
            if bit == off {
                continue;
            }
            let row: Bits = x[..width - i].iter().map(|&a| self.circuit.and(a, bit)).collect();
            let high = self.add(&sum[i..], &row, off).0;
            sum.splice(i.., high);
        }
        sum
    }

    /// Quotient and remainder as free bits that are pinned by `x == q * y + r`, `r < y`. For every `x` and `y` there is
    /// exactly one such pair, so the clauses exclude nothing.
    pub(crate) fn divide(&mut self, x: &[Lit], y: &[Lit]) -> (Bits, Bits) {
        let operands = (x.to_vec(), y.to_vec());
        if let Some(known) = self.divisions.get(&operands) {
            return known.clone();
        }
        let result = self.division(x, y);
        self.divisions.insert(operands, result.clone());
        result
    }

    fn division(&mut self, x: &[Lit], y: &[Lit]) -> (Bits, Bits) {
        let width = x.len();
        let off = self.circuit.constant(false);
        let nonzero_inputs: Bits = y.iter().map(|&l| !l).collect();
        let zero = self.circuit.all(&nonzero_inputs);
        let quotient = self.fresh_bits(width as u8);
        let remainder = self.fresh_bits(width as u8);
        // q * y + r without overflow, unless y is 0.
        let mut sum = remainder.clone();
        for (i, &bit) in y.iter().enumerate() {
            if bit == off {
                continue;
            }
            for &q in &quotient[width - i..] {
                self.circuit.clause(&[zero, !bit, !q]);
            }
            let row: Bits = quotient[..width - i].iter().map(|&q| self.circuit.and(q, bit)).collect();
            let (high, carry) = self.add(&sum[i..], &row, off);
            self.circuit.clause(&[zero, !carry]);
            sum.splice(i.., high);
        }
        let equal = self.compare(Rel::Eq, &sum, x);
        self.circuit.clause(&[zero, equal]);
        let below = self.compare(Rel::Ult, &remainder, y);
        self.circuit.clause(&[zero, below]);
        // Division by zero as in SMT-LIB.
        for (&q, (&r, &a)) in quotient.iter().zip(remainder.iter().zip(x)) {
            self.circuit.clause(&[!zero, q]);
            self.circuit.clause(&[!zero, !r, a]);
            self.circuit.clause(&[!zero, r, !a]);
        }
        (quotient, remainder)
    }

    fn signed_divide(&mut self, x: &[Lit], y: &[Lit]) -> (Bits, Bits) {
        let (x_sign, y_sign) = (x[x.len() - 1], y[y.len() - 1]);
        let (x_negated, y_negated) = (self.negate(x), self.negate(y));
        let x_size = self.choose(x_sign, &x_negated, x);
        let y_size = self.choose(y_sign, &y_negated, y);
        let (quotient, remainder) = self.divide(&x_size, &y_size);
        let (quotient_negated, remainder_negated) = (self.negate(&quotient), self.negate(&remainder));
        let differ = self.circuit.xor(x_sign, y_sign);
        // By zero: the unsigned quotient is all ones, that is -1; negated where x is negative it is 1, as it should be.
        (self.choose(differ, &quotient_negated, &quotient), self.choose(x_sign, &remainder_negated, &remainder))
    }

    fn shift(&mut self, op: Op, x: &[Lit], y: &[Lit]) -> Bits {
        let width = x.len();
        let off = self.circuit.constant(false);
        let fill = if op == Op::AShr { x[width - 1] } else { off };
        let amount = if width.is_power_of_two() {
            y[..width.trailing_zeros() as usize].to_vec()
        } else {
            // Widths that are no power of two fit in their own number of bits only from 3 up; 1 and 2 are powers.
            let modulus = self.constant_bits(width as u8, width as u64 & mask(width as u8));
            self.divide(y, &modulus).1
        };
        let mut bits = x.to_vec();
        for (stage, &bit) in amount.iter().enumerate() {
            if stage >= 7 {
                break;
            }
            let by = 1usize << stage;
            let moved: Bits = (0..width)
                .map(|i| match op {
                    Op::Shl => i.checked_sub(by).map_or(off, |from| bits[from]),
                    _ => bits.get(i + by).copied().unwrap_or(fill),
                })
                .collect();
            bits = self.choose(bit, &moved, &bits);
        }
        bits
    }

    pub(crate) fn compare(&mut self, rel: Rel, x: &[Lit], y: &[Lit]) -> Lit {
        match rel {
            Rel::Eq => {
                let same: Bits = x.iter().zip(y).map(|(&a, &b)| !self.circuit.xor(a, b)).collect();
                self.circuit.all(&same)
            }
            Rel::Ult => self.less(x, y, false, false),
            Rel::Ule => self.less(x, y, true, false),
            Rel::Slt => self.less(x, y, false, true),
            Rel::Sle => self.less(x, y, true, true),
        }
    }

    /// From the lowest bit up: the highest bit in which they differ decides.
    fn less(&mut self, x: &[Lit], y: &[Lit], or_equal: bool, signed: bool) -> Lit {
        let mut less = self.circuit.constant(or_equal);
        let top = x.len() - 1;
        for (i, (&a, &b)) in x.iter().zip(y).enumerate() {
            // A carry of the subtraction: majority of !a, b and what the lower bits said.
            let (a, b) = if signed && i == top { (b, a) } else { (a, b) };
            less = self.circuit.full_adder_carry(!a, b, less);
        }
        less
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::sat::batsat::{Budget, Sat, SatAnswer};
    use crate::terms::semantics::{apply, holds};
    use touchstone_base::Id;

    const OPS: [Op; 13] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::UDiv,
        Op::SDiv,
        Op::URem,
        Op::SRem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::LShr,
        Op::AShr,
    ];
    const RELS: [Rel; 5] = [Rel::Eq, Rel::Ult, Rel::Ule, Rel::Slt, Rel::Sle];

    fn is_sat(sat: &mut Sat, terms: &mut Terms, constraints: &[TermId]) -> bool {
        let budget = Budget { conflicts: None, rounds: None, deadline: touchstone_base::Deadline::NEVER };
        match sat.solve(terms, constraints, &[VarId::new(0), VarId::new(1)].into(), budget) {
            SatAnswer::Sat(_) => true,
            SatAnswer::Unsat => false,
            SatAnswer::Unknown(why) => panic!("{why:?}"),
        }
    }

    fn interesting(random: &mut Random, width: u8) -> u64 {
        let raw = random.next();
        let value = match raw >> 60 {
            0 => 0,
            1 => 1,
            2 => u64::MAX,
            3 => 1 << (width - 1),
            4 => mask(width) >> 1,
            5..8 => raw % 100,
            _ => raw,
        };
        value & mask(width)
    }

    /// With the operands pinned, the circuit allows the right result and no other.
    #[test]
    fn every_circuit_computes_its_operation_at_every_width() {
        let mut random = Random(1);
        for width in [1, 3, 5, 8, 16, 24, 32, 64] {
            let mut terms = Terms::new();
            let (x, y) = (terms.var(width, "x"), terms.var(width, "y"));
            let mut sat = Sat::new(None);
            for _ in 0..8 {
                let (a, b) = (interesting(&mut random, width), interesting(&mut random, width));
                let (is_a, is_b) = (terms.constant(width, a), terms.constant(width, b));
                let (is_a, is_b) = (terms.eq(x, is_a), terms.eq(y, is_b));
                for op in OPS {
                    let term = terms.bin(op, x, y);
                    let expected = terms.constant(width, apply(op, width, a, b));
                    let (right, wrong) = (terms.eq(term, expected), terms.ne(term, expected));
                    assert!(is_sat(&mut sat, &mut terms, &[is_a, is_b, right]), "{op:?} {width} {a} {b}");
                    assert!(!is_sat(&mut sat, &mut terms, &[is_a, is_b, wrong]), "{op:?} {width} {a} {b}");
                }
                for rel in RELS {
                    let term = terms.cmp(rel, x, y);
                    let negated = terms.not(term);
                    let truth = holds(rel, width, a, b);
                    assert_eq!(is_sat(&mut sat, &mut terms, &[is_a, is_b, term]), truth, "{rel:?} {width} {a} {b}");
                    assert_eq!(is_sat(&mut sat, &mut terms, &[is_a, is_b, negated]), !truth, "{rel:?} {width}");
                }
            }
        }
    }

    #[test]
    fn a_product_of_two_primes_is_factored() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(16, "x"), terms.var(16, "y"));
        let mut sat = Sat::new(None);
        let (wide_x, wide_y) = (terms.zext(x, 32), terms.zext(y, 32));
        let product = terms.mul(wide_x, wide_y);
        let target = terms.constant(32, 251 * 509);
        let factors = terms.eq(product, target);
        let one = terms.constant(16, 1);
        let (left, right) = (terms.cmp(Rel::Ult, one, x), terms.cmp(Rel::Ult, x, y));
        assert!(is_sat(&mut sat, &mut terms, &[factors, left, right]));
        let prime = terms.constant(32, 65_521);
        let factors = terms.eq(product, prime);
        assert!(!is_sat(&mut sat, &mut terms, &[factors, left, right]));
    }
}
