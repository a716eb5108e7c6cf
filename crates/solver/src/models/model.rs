//! Concrete assignments, and the evaluation of terms under them.
//!
//! Evaluation is memoised inside the model, so asking again costs only the nodes that are new, and it keeps its own
//! stack, so that a chain of a million terms does not end the process.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use touchstone_base::{WorkKind, float, spend};

use crate::terms::semantics::{apply, holds, mask, signed};
use crate::terms::term::{Array, ArrayId, Term, TermId, VarId};
use crate::terms::term_store::Terms;

/// Values for variables; a variable that is not mentioned is 0.
pub struct Model {
    vars: Rc<[VarId]>,
    values: Box<[u64]>,
    memo: RefCell<Memo>,
}

#[derive(Default)]
struct Memo {
    values: FxHashMap<TermId, u64>,
    stack: Vec<TermId>,
}

impl Model {
    /// A model of sorted variables.
    pub(crate) fn new(vars: Rc<[VarId]>, values: Box<[u64]>) -> Model {
        debug_assert_eq!(vars.len(), values.len());
        Model { vars, values, memo: RefCell::default() }
    }

    /// A model with the given values; the last one counts where a variable is repeated.
    pub fn from_values(values: impl IntoIterator<Item = (VarId, u64)>) -> Model {
        let sorted: std::collections::BTreeMap<VarId, u64> = values.into_iter().collect();
        Model::new(sorted.keys().copied().collect(), sorted.values().copied().collect())
    }

    /// Takes over the values of another model, for the variables both have.
    pub(crate) fn overwrite(&mut self, other: &Model) {
        for (var, value) in other.values() {
            if let Ok(index) = self.vars.binary_search(&var) {
                self.values[index] = value;
            }
        }
        self.memo = RefCell::default();
    }

    /// The value of a variable.
    pub fn value(&self, var: VarId) -> u64 {
        match self.vars.binary_search(&var) {
            Ok(index) => self.values[index],
            Err(_) => 0,
        }
    }

    /// The variables that have values, sorted, and their values.
    pub fn values(&self) -> impl Iterator<Item = (VarId, u64)> + '_ {
        self.vars.iter().copied().zip(self.values.iter().copied())
    }

    /// The value of a term.
    pub fn eval(&self, terms: &Terms, term: TermId) -> u64 {
        match *terms.get(term) {
            Term::Const { value, .. } => return value,
            Term::Var { var, .. } => return self.value(var),
            _ => {}
        }
        let mut memo = self.memo.borrow_mut();
        let Memo { values, stack } = &mut *memo;
        if let Some(&value) = values.get(&term) {
            return value;
        }
        evaluate(terms, &mut Remembered { model: self, values }, stack, term)
    }

    /// Returns true if a condition holds.
    pub fn satisfies(&self, terms: &Terms, condition: TermId) -> bool {
        self.eval(terms, condition) == 1
    }
}

/// Values of variables, and of the terms evaluated so far.
pub(crate) trait Assignment {
    fn var(&self, var: VarId) -> u64;
    fn known(&self, term: TermId) -> Option<u64>;
    fn note(&mut self, term: TermId, value: u64);
}

struct Remembered<'a> {
    model: &'a Model,
    values: &'a mut FxHashMap<TermId, u64>,
}

impl Assignment for Remembered<'_> {
    fn var(&self, var: VarId) -> u64 {
        self.model.value(var)
    }
    fn known(&self, term: TermId) -> Option<u64> {
        self.values.get(&term).copied()
    }
    fn note(&mut self, term: TermId, value: u64) {
        self.values.insert(term, value);
    }
}

/// The value of a term under an assignment, with a stack of its own.
pub(crate) fn evaluate<A: Assignment>(terms: &Terms, asg: &mut A, stack: &mut Vec<TermId>, term: TermId) -> u64 {
    stack.clear();
    stack.push(term);
    let (mut last, mut visits) = (0, 0);
    while let Some(&top) = stack.last() {
        visits += 1;
        let mut scope = Scope { asg: &*asg, terms, missing: stack, incomplete: false };
        let value = scope.step(top);
        if !scope.incomplete {
            stack.pop();
            asg.note(top, value);
            last = value;
        }
    }
    spend(WorkKind::Evaluation, visits);
    last
}

/// One step of an evaluation: computes a node, or notes which parts are still missing.
struct Scope<'a, A> {
    asg: &'a A,
    terms: &'a Terms,
    missing: &'a mut Vec<TermId>,
    incomplete: bool,
}

impl<A: Assignment> Scope<'_, A> {
    fn of(&mut self, term: TermId) -> u64 {
        match *self.terms.get(term) {
            Term::Const { value, .. } => value,
            Term::Var { var, .. } => self.asg.var(var),
            _ => match self.asg.known(term) {
                Some(value) => value,
                None => {
                    self.missing.push(term);
                    self.incomplete = true;
                    0
                }
            },
        }
    }

    fn step(&mut self, term: TermId) -> u64 {
        let width = self.terms.width(term);
        match *self.terms.get(term) {
            Term::Const { value, .. } => value,
            Term::Var { var, .. } => self.asg.var(var),
            Term::Not(a) => !self.of(a) & mask(width),
            Term::Bin(op, a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                apply(op, width, x, y)
            }
            Term::Cmp(rel, a, b) => {
                let (x, y) = (self.of(a), self.of(b));
                u64::from(holds(rel, self.terms.width(a), x, y))
            }
            Term::Ite(c, a, b) => {
                let condition = self.of(c);
                if self.incomplete {
                    return 0;
                }
                if condition == 1 { self.of(a) } else { self.of(b) }
            }
            Term::Extract { term, low, width } => self.of(term) >> low & mask(width),
            Term::Concat { high, low } => {
                let (h, l) = (self.of(high), self.of(low));
                h << self.terms.width(low) | l
            }
            Term::ZExt { term, .. } => self.of(term),
            Term::SExt { term, .. } => {
                let from = self.terms.width(term);
                signed(from, self.of(term)) as u64 & mask(width)
            }
            Term::Read { array, offset, bytes } => self.read(array, offset, bytes),
            Term::Float(op, format, args) => {
                let args = args.map(|arg| self.of(arg));
                if self.incomplete { 0 } else { float::eval(op, format, &args) }
            }
        }
    }

    /// Follows the chain of writes, newest first. Missing offsets are all asked for in one go, so that the chain is
    /// walked a few times and not once per link.
    fn read(&mut self, mut array: ArrayId, offset: TermId, bytes: u8) -> u64 {
        let at = self.of(offset);
        if self.incomplete {
            return 0;
        }
        let size = self.terms.array_size(array);
        let mut open = in_bounds(at, bytes, size);
        let mut result = 0u64;
        while open != 0 {
            match *self.terms.array(array) {
                Array::Store { array: below, offset, value, bytes: written } => {
                    let start = self.of(offset);
                    if !self.incomplete {
                        let hit = open & overlap(at, bytes, start, written);
                        if hit != 0 {
                            result |= spread(hit) & shifted(self.of(value), at, start);
                            open &= !hit;
                        }
                    }
                    array = below;
                }
                Array::Base { .. } => {
                    if self.incomplete {
                        return 0;
                    }
                    let first = open.trailing_zeros() as u64;
                    let Some(element) = self.terms.element_at(array, at + first) else { break };
                    let hit = open & overlap(at, bytes, element.offset, element.bytes);
                    result |= spread(hit) & shifted(self.of(element.term), at, element.offset);
                    open &= !hit;
                }
            }
        }
        result
    }
}

/// Returns the set of bytes at `at` that are inside of an array, as a bit set.
pub(crate) fn in_bounds(at: u64, bytes: u8, size: u64) -> u8 {
    let inside = size.saturating_sub(at).min(u64::from(bytes));
    mask(inside as u8) as u8
}

/// Returns the set of the `bytes` bytes at `at` that are among the `written` bytes at `start`, as a bit set.
#[inline]
pub(crate) fn overlap(at: u64, bytes: u8, start: u64, written: u8) -> u8 {
    let all = mask(bytes) as u8;
    let theirs = mask(written);
    if start >= at {
        let distance = start - at;
        if distance >= 8 { 0 } else { (theirs << distance) as u8 & all }
    } else {
        let distance = at - start;
        if distance >= 8 { 0 } else { (theirs >> distance) as u8 & all }
    }
}

/// A bit set of bytes as a mask of their bits.
#[inline]
pub(crate) fn spread(bytes: u8) -> u64 {
    let mut bits = 0;
    for k in 0..8 {
        if bytes >> k & 1 == 1 {
            bits |= 0xff << (8 * k);
        }
    }
    bits
}

/// A value written at `start` as it is seen from `at`; the distance is below 8 where it matters.
#[inline]
pub(crate) fn shifted(value: u64, at: u64, start: u64) -> u64 {
    if start >= at {
        value.checked_shl(8 * (start - at).min(8) as u32).unwrap_or(0)
    } else {
        value.checked_shr(8 * (at - start).min(8) as u32).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::term::{Element, Op};
    use touchstone_base::Id;

    #[test]
    fn a_deep_chain_is_evaluated_without_the_host_stack() {
        let mut terms = Terms::new();
        let x = terms.var(32, "x");
        let mut sum = x;
        for _ in 0..300_000 {
            let product = terms.bin(Op::Mul, sum, x);
            sum = terms.bin(Op::Xor, product, x);
        }
        let model = Model::new(Rc::new([VarId::new(0)]), Box::new([1]));
        assert_eq!(model.eval(&terms, sum), 1);
    }

    #[test]
    fn reads_see_the_newest_write_byte_by_byte() {
        let mut terms = Terms::new();
        let (x, y) = (terms.var(64, "x"), terms.var(64, "y"));
        let word = terms.constant(32, 0x4433_2211);
        let base = terms.base_array(
            8,
            vec![Element { offset: 0, bytes: 4, term: word }, Element { offset: 4, bytes: 4, term: word }],
        );
        let value = terms.constant(16, 0xbbaa);
        let after = terms.store(base, x, value, 2);
        let read = terms.read(after, y, 4);
        let check = |x: u64, y: u64, expected: u64| {
            let model = Model::new(Rc::new([VarId::new(0), VarId::new(1)]), Box::new([x, y]));
            assert_eq!(model.eval(&terms, read), expected, "x = {x}, y = {y}");
        };
        check(0, 0, 0x4433_bbaa);
        check(3, 0, 0xaa33_2211);
        check(3, 2, 0x22bb_aa33);
        check(7, 4, 0xaa33_2211);
        check(6, 0, 0x4433_2211);
        check(1, 6, 0x4433);
        check(u64::MAX, 0, 0x4433_2211);
        check(0, u64::MAX, 0);
    }
}
