//! Guesses: take a model at hand, make the new condition true by changing one variable, and repair what that breaks.
//!
//! A term is *solved* for a variable by going down to it and inverting each operation on the way, with the other
//! operands at their current values. It costs microseconds, so it is tried before any real search. A guess is believed
//! only after every constraint was evaluated.

use rustc_hash::FxHashSet;
use touchstone_base::float::{FloatOp, Format};

use crate::models::float_guess;
use crate::models::model::{Assignment, Model, evaluate};
use crate::terms::semantics::{mask, signed, signed_max, signed_min};
use crate::terms::term::{Array, ArrayId, Op, Rel, Term, TermId, VarId};
use crate::terms::term_store::Terms;
use touchstone_base::Id;

/// Changes in a row before a guess is given up.
const MAX_STEPS: usize = 6;
/// Changes compared at each step.
const MOVES_PER_STEP: usize = 8;
/// Depth to which a term is inverted.
const MAX_DEPTH: u32 = 24;

/// A fast, reusable evaluator: dense arrays, cleared by counting up.
#[derive(Default)]
pub(crate) struct Scratch {
    values: Vec<u64>,
    stamps: Vec<u32>,
    epoch: u32,
    vars: Vec<u64>,
    stack: Vec<TermId>,
}

struct Dense<'a> {
    values: &'a mut Vec<u64>,
    stamps: &'a mut Vec<u32>,
    epoch: u32,
    vars: &'a [u64],
}

impl Assignment for Dense<'_> {
    fn var(&self, var: VarId) -> u64 {
        self.vars.get(var.index()).copied().unwrap_or(0)
    }
    fn known(&self, term: TermId) -> Option<u64> {
        (self.stamps[term.index()] == self.epoch).then(|| self.values[term.index()])
    }
    fn note(&mut self, term: TermId, value: u64) {
        self.stamps[term.index()] = self.epoch;
        self.values[term.index()] = value;
    }
}

impl Scratch {
    /// Starts over with the values of a model.
    pub(crate) fn load(&mut self, terms: &Terms, model: &Model) {
        self.vars.resize(terms.var_count(), 0);
        for (var, value) in model.values() {
            self.vars[var.index()] = value;
        }
        self.values.resize(terms.len(), 0);
        self.stamps.resize(terms.len(), 0);
        self.forget();
    }

    fn forget(&mut self) {
        self.epoch = match self.epoch.checked_add(1) {
            Some(epoch) => epoch,
            None => {
                self.stamps.fill(0);
                1
            }
        };
    }

    pub(crate) fn set(&mut self, var: VarId, value: u64) {
        self.vars[var.index()] = value;
        self.forget();
    }

    pub(crate) fn eval(&mut self, terms: &Terms, term: TermId) -> u64 {
        match *terms.get(term) {
            Term::Const { value, .. } => return value,
            Term::Var { var, .. } => return self.vars[var.index()],
            _ => {}
        }
        if self.stamps[term.index()] == self.epoch {
            return self.values[term.index()];
        }
        let mut dense =
            Dense { values: &mut self.values, stamps: &mut self.stamps, epoch: self.epoch, vars: &self.vars };
        evaluate(terms, &mut dense, &mut self.stack, term)
    }

    pub(crate) fn var(&self, var: VarId) -> u64 {
        self.vars[var.index()]
    }

    fn first_violated(&mut self, terms: &Terms, constraints: &[TermId]) -> Option<TermId> {
        constraints.iter().copied().find(|&c| self.eval(terms, c) != 1)
    }

    pub(crate) fn count_violated(&mut self, terms: &Terms, constraints: &[TermId], at_most: usize) -> usize {
        let mut count = 0;
        for &constraint in constraints {
            if self.eval(terms, constraint) != 1 {
                count += 1;
                if count > at_most {
                    break;
                }
            }
        }
        count
    }

    /// Values for the variables of a model such that all constraints hold, found by a few changes. The model is known
    /// to satisfy the first `old` constraints.
    pub(crate) fn guess(
        &mut self,
        terms: &Terms,
        start: &Model,
        constraints: &[TermId],
        old: usize,
    ) -> Option<Box<[u64]>> {
        self.load(terms, start);
        let mut tried: FxHashSet<(VarId, u64)> = FxHashSet::default();
        let mut moves: Vec<(VarId, u64)> = Vec::new();
        let mut violated = self.first_violated(terms, &constraints[old..])?;
        for _ in 0..MAX_STEPS {
            moves.clear();
            self.moves_for(terms, violated, true, MAX_DEPTH, &mut moves);
            let mut best: Option<(usize, VarId, u64)> = None;
            let mut looked = 0;
            for &(var, value) in &moves {
                let before = self.vars[var.index()];
                if before == value || looked >= MOVES_PER_STEP || !tried.insert((var, value)) {
                    continue;
                }
                looked += 1;
                self.set(var, value);
                let limit = best.map_or(usize::MAX, |b| b.0);
                let count = self.count_violated(terms, constraints, limit);
                self.set(var, before);
                if count < limit {
                    best = Some((count, var, value));
                    if count == 0 {
                        break;
                    }
                }
            }
            let (count, var, value) = best?;
            self.set(var, value);
            if count == 0 {
                return Some(start.values().map(|(var, _)| self.vars[var.index()]).collect());
            }
            violated = self.first_violated(terms, constraints)?;
        }
        None
    }

    /// Single changes that may give a truth value to a condition.
    fn moves_for(&mut self, terms: &Terms, condition: TermId, truth: bool, depth: u32, moves: &mut Vec<(VarId, u64)>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        match *terms.get(condition) {
            Term::Not(a) => self.moves_for(terms, a, !truth, depth, moves),
            Term::Bin(Op::And | Op::Or, a, b) => {
                for part in [a, b] {
                    if (self.eval(terms, part) == 1) != truth {
                        self.moves_for(terms, part, truth, depth, moves);
                    }
                }
            }
            Term::Cmp(rel, a, b) => {
                let (rel, a, b) = match (rel, truth) {
                    (Rel::Eq, false) => return self.moves_apart(terms, a, b, depth, moves),
                    (_, true) => (rel, a, b),
                    (Rel::Ult, _) => (Rel::Ule, b, a),
                    (Rel::Ule, _) => (Rel::Ult, b, a),
                    (Rel::Slt, _) => (Rel::Sle, b, a),
                    (Rel::Sle, _) => (Rel::Slt, b, a),
                };
                self.moves_together(terms, rel, a, b, depth, moves);
            }
            Term::Float(op @ (FloatOp::Eq | FloatOp::Lt | FloatOp::Le), format, [a, b, _]) => {
                self.moves_for_floats(terms, (op, format, truth), a, b, depth, moves);
            }
            Term::Ite(c, a, b) => {
                let taken = if self.eval(terms, c) == 1 { a } else { b };
                self.moves_for(terms, taken, truth, depth, moves);
                let other = self.eval(terms, c) != 1;
                self.moves_for(terms, c, other, depth, moves);
            }
            _ => self.invert(terms, condition, u64::from(truth), depth, moves),
        }
    }

    fn moves_for_floats(
        &mut self,
        terms: &Terms,
        (op, format, truth): (FloatOp, Format, bool),
        a: TermId,
        b: TermId,
        depth: u32,
        moves: &mut Vec<(VarId, u64)>,
    ) {
        let (x, y) = (self.eval(terms, a), self.eval(terms, b));
        for (second, target) in float_guess::sides(op, format, truth, x, y) {
            self.invert(terms, if second { b } else { a }, target, depth, moves);
        }
    }

    fn moves_apart(&mut self, terms: &Terms, a: TermId, b: TermId, depth: u32, moves: &mut Vec<(VarId, u64)>) {
        let m = mask(terms.width(a));
        for (term, other) in [(a, b), (b, a)] {
            let value = self.eval(terms, other);
            for target in [value.wrapping_add(1), value.wrapping_sub(1), 0, m] {
                if target & m != value {
                    self.invert(terms, term, target & m, depth, moves);
                }
            }
        }
    }

    fn moves_together(
        &mut self,
        terms: &Terms,
        rel: Rel,
        a: TermId,
        b: TermId,
        depth: u32,
        moves: &mut Vec<(VarId, u64)>,
    ) {
        let width = terms.width(a);
        let m = mask(width);
        let (x, y) = (self.eval(terms, a), self.eval(terms, b));
        let (least, greatest) = match rel {
            Rel::Slt | Rel::Sle => (signed_min(width) as u64 & m, signed_max(width) as u64 & m),
            _ => (0, m),
        };
        match rel {
            Rel::Eq => {
                self.invert(terms, a, y, depth, moves);
                self.invert(terms, b, x, depth, moves);
            }
            Rel::Ule | Rel::Sle => {
                self.invert(terms, a, y, depth, moves);
                self.invert(terms, b, x, depth, moves);
                self.invert(terms, a, least, depth, moves);
                self.invert(terms, b, greatest, depth, moves);
            }
            Rel::Ult | Rel::Slt => {
                if y != least {
                    self.invert(terms, a, y.wrapping_sub(1) & m, depth, moves);
                }
                if x != greatest {
                    self.invert(terms, b, x.wrapping_add(1) & m, depth, moves);
                }
                if y != least {
                    self.invert(terms, a, least, depth, moves);
                }
                if x != greatest {
                    self.invert(terms, b, greatest, depth, moves);
                }
            }
        }
    }

    /// Single changes that may give a value to a term.
    fn invert(&mut self, terms: &Terms, term: TermId, target: u64, depth: u32, moves: &mut Vec<(VarId, u64)>) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let width = terms.width(term);
        let m = mask(width);
        match *terms.get(term) {
            Term::Const { .. } => {}
            Term::Var { var, .. } => moves.push((var, target)),
            Term::Not(a) => self.invert(terms, a, !target & m, depth, moves),
            Term::ZExt { term: a, .. } => {
                if target <= mask(terms.width(a)) {
                    self.invert(terms, a, target, depth, moves);
                }
            }
            Term::SExt { term: a, .. } => {
                let narrow = target & mask(terms.width(a));
                if signed(terms.width(a), narrow) as u64 & m == target {
                    self.invert(terms, a, narrow, depth, moves);
                }
            }
            Term::Extract { term: a, low, width } => {
                let hole = mask(width) << low;
                let whole = self.eval(terms, a) & !hole | target << low;
                self.invert(terms, a, whole, depth, moves);
            }
            Term::Concat { high, low } => {
                let low_width = terms.width(low);
                let (upper, lower) = (target >> low_width, target & mask(low_width));
                if self.eval(terms, low) == lower {
                    self.invert(terms, high, upper, depth, moves);
                } else if self.eval(terms, high) == upper {
                    self.invert(terms, low, lower, depth, moves);
                }
            }
            Term::Ite(c, a, b) => {
                let holds = self.eval(terms, c) == 1;
                let (taken, other) = if holds { (a, b) } else { (b, a) };
                if self.eval(terms, other) == target {
                    self.moves_for(terms, c, !holds, depth, moves);
                }
                self.invert(terms, taken, target, depth, moves);
            }
            Term::Float(FloatOp::Eq | FloatOp::Lt | FloatOp::Le, ..) | Term::Cmp(..) => {
                self.moves_for(terms, term, target == 1, depth, moves);
            }
            Term::Bin(op, a, b) => self.invert_bin(terms, op, a, b, target, depth, moves),
            Term::Float(op, format, args) => {
                let values = args.map(|arg| self.eval(terms, arg));
                for (arg, value) in float_guess::operands(op, format, &values, args[0] == args[1], target) {
                    self.invert(terms, args[arg], value, depth, moves);
                }
            }
            Term::Read { array, offset, bytes } => {
                let at = self.eval(terms, offset);
                if let Some(source) = self.source(terms, array, at, bytes) {
                    self.invert(terms, source, target, depth, moves);
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn invert_bin(
        &mut self,
        terms: &Terms,
        op: Op,
        a: TermId,
        b: TermId,
        target: u64,
        depth: u32,
        moves: &mut Vec<(VarId, u64)>,
    ) {
        let width = terms.width(a);
        let m = mask(width);
        let (x, y) = (self.eval(terms, a), self.eval(terms, b));
        match op {
            Op::Add => {
                self.invert(terms, a, target.wrapping_sub(y) & m, depth, moves);
                self.invert(terms, b, target.wrapping_sub(x) & m, depth, moves);
            }
            Op::Sub => {
                self.invert(terms, a, target.wrapping_add(y) & m, depth, moves);
                self.invert(terms, b, x.wrapping_sub(target) & m, depth, moves);
            }
            Op::Xor => {
                self.invert(terms, a, target ^ y, depth, moves);
                self.invert(terms, b, target ^ x, depth, moves);
            }
            Op::And | Op::Or if width == 1 => {
                self.invert(terms, a, target, depth, moves);
                self.invert(terms, b, target, depth, moves);
            }
            // Bits that the mask lets through are set, the others stay.
            Op::And if target & !y == 0 => self.invert(terms, a, target | x & !y, depth, moves),
            Op::Or if y & !target == 0 => self.invert(terms, a, target & !y | x & y, depth, moves),
            Op::Mul if y != 0 && target.is_multiple_of(y) => {
                self.invert(terms, a, target / y, depth, moves);
            }
            Op::UDiv if y != 0 => {
                if let Some(product) = target.checked_mul(y).filter(|&p| p <= m) {
                    self.invert(terms, a, product, depth, moves);
                }
            }
            Op::SDiv => {
                let product = signed(width, target).wrapping_mul(signed(width, y)) as u64 & m;
                self.invert(terms, a, product, depth, moves);
            }
            Op::URem | Op::SRem if y != 0 => {
                let rest = if op == Op::URem { x % y } else { crate::terms::semantics::apply(op, width, x, y) };
                self.invert(terms, a, x.wrapping_sub(rest).wrapping_add(target) & m, depth, moves);
            }
            Op::Shl => {
                let by = y % u64::from(width);
                if target & mask(by as u8) == 0 || by == 0 {
                    self.invert(terms, a, target >> by, depth, moves);
                }
            }
            Op::LShr | Op::AShr => {
                let by = y % u64::from(width);
                self.invert(terms, a, (target << by | x & mask(by as u8)) & m, depth, moves);
            }
            _ => {}
        }
    }

    /// The term whose value a read at this offset yields, if it is exactly one.
    fn source(&mut self, terms: &Terms, mut array: ArrayId, at: u64, bytes: u8) -> Option<TermId> {
        loop {
            match *terms.array(array) {
                Array::Store { array: below, offset, value, bytes: size } => {
                    let start = self.eval(terms, offset);
                    if start == at && size == bytes {
                        return Some(value);
                    }
                    if crate::models::model::overlap(at, bytes, start, size) != 0 {
                        return None;
                    }
                    array = below;
                }
                Array::Base { .. } => {
                    let element = terms.element_at(array, at)?;
                    return (element.offset == at && element.bytes == bytes).then_some(element.term);
                }
            }
        }
    }
}
