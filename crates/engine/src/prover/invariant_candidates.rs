//! Candidate invariants of a loop: templates over its variables. Induction drops those that do not hold on entry or
//! that an iteration violates, until the rest is inductive (Flanagan and Leino, *Houdini, an annotation assistant for
//! ESC/Java*, 2001).
//!
//! Different from Houdini: a candidate may refer to the value of a variable on entry to the loop, so that steps and
//! remainders need no guessed constants.

use crate::prover::loop_effects::Loops;
use crate::state::value::ObjectId;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_ir::{Reg, mask};
use touchstone_solver::{Op, Rel, TermId, Terms};

/// The maximum numbers of variables, changed or only read by a loop, that are related to each other.
const MAX_CHANGED_VARIABLES: usize = 6;
const MAX_READ_VARIABLES: usize = 6;
/// The maximum number of constants that a variable is compared with.
const MAX_CONSTANTS: usize = 10;

/// A variable of a candidate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Var {
    Reg(Reg),
    /// A scalar in memory.
    Cell {
        object: ObjectId,
        offset: u64,
        bytes: u8,
    },
}

/// A variable of a loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoopVar {
    pub var: Var,
    pub width: u8,
    /// Its value on entry to the loop.
    pub entry: TermId,
    /// True if the loop may change it.
    pub changed: bool,
}

/// A property that may hold whenever control is at the loop head.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Candidate {
    /// A relation between two variables.
    Related(Order, Var, Var),
    /// The relation, or both variables have their values on entry: no iteration was executed yet.
    RelatedOnceChanged(Order, Var, Var),
    /// Two variables differ.
    Differ(Var, Var),
    /// A variable is never less than on entry.
    Grows(Order, Var),
    /// A variable is never greater than on entry.
    Shrinks(Order, Var),
    /// The first variable changes by this multiple of the second one's change.
    Step(u64, Var, Var),
    /// The sum of two variables is constant.
    Sum(Var, Var),
    /// The remainder of a variable is constant.
    Remainder(u64, Var),
    /// A variable is at most a constant.
    AtMost(Order, Var, u64),
    /// A variable is at least a constant.
    AtLeast(Order, Var, u64),
    /// A variable is not a constant.
    IsNot(Var, u64),
    /// A variable is one of these constants.
    OneOf(Var, BTreeSet<u64>),
}

/// The order of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Order {
    Signed,
    SignedStrict,
    Unsigned,
    UnsignedStrict,
}

impl Order {
    fn rel(self) -> Rel {
        match self {
            Order::Signed => Rel::Sle,
            Order::SignedStrict => Rel::Slt,
            Order::Unsigned => Rel::Ule,
            Order::UnsignedStrict => Rel::Ult,
        }
    }
}

/// Returns the candidates for a loop with these variables.
pub(crate) fn candidates(vars: &[LoopVar], loops: &Loops) -> Vec<Candidate> {
    let changed: Vec<&LoopVar> = vars.iter().filter(|var| var.changed).take(MAX_CHANGED_VARIABLES).collect();
    let read = vars.iter().filter(|var| !var.changed).take(MAX_READ_VARIABLES);
    let others: Vec<&LoopVar> = changed.iter().copied().chain(read).collect();
    let (signed, unsigned) = loops.compares;
    let mut orders = Vec::new();
    if signed || !unsigned {
        orders.extend([Order::Signed, Order::SignedStrict]);
    }
    if unsigned {
        orders.extend([Order::Unsigned, Order::UnsignedStrict]);
    }
    let weak: Vec<Order> =
        orders.iter().copied().filter(|order| matches!(order, Order::Signed | Order::Unsigned)).collect();
    let mut all = BTreeSet::new();
    for (index, x) in changed.iter().enumerate() {
        one_variable(x, loops, &weak, &mut all);
        for (other, y) in others.iter().enumerate() {
            if x.var == y.var || x.width != y.width {
                continue;
            }
            for &order in &orders {
                // A pair of changed variables occurs twice.
                all.insert(Candidate::Related(order, x.var, y.var));
                all.insert(Candidate::Related(order, y.var, x.var));
            }
            for &order in &weak {
                all.insert(Candidate::RelatedOnceChanged(order, x.var, y.var));
                all.insert(Candidate::RelatedOnceChanged(order, y.var, x.var));
            }
            all.insert(Candidate::Differ(x.var.min(y.var), x.var.max(y.var)));
            if y.changed && other != index {
                let factors = loops.constants.iter().copied().filter(|factor| (2..=64).contains(factor)).take(4);
                for factor in factors.chain([1]) {
                    all.insert(Candidate::Step(factor, x.var, y.var));
                }
                all.insert(Candidate::Sum(x.var.min(y.var), x.var.max(y.var)));
            }
        }
    }
    all.into_iter().collect()
}

fn one_variable(x: &LoopVar, loops: &Loops, weak: &[Order], all: &mut BTreeSet<Candidate>) {
    if x.width == 1 {
        return;
    }
    for &order in weak {
        all.insert(Candidate::Grows(order, x.var));
        all.insert(Candidate::Shrinks(order, x.var));
    }
    for &modulus in loops.moduli.iter().filter(|modulus| mask(**modulus, x.width) == **modulus) {
        all.insert(Candidate::Remainder(modulus, x.var));
    }
    let fits = |value: &&u64| mask(**value, x.width) == **value || **value > mask(u64::MAX, x.width);
    for &number in loops.constants.iter().filter(fits).take(MAX_CONSTANTS) {
        let number = mask(number, x.width);
        for &order in weak {
            all.insert(Candidate::AtMost(order, x.var, number));
            all.insert(Candidate::AtLeast(order, x.var, number));
        }
        all.insert(Candidate::IsNot(x.var, number));
    }
    let assigned: BTreeSet<u64> = loops.assigned.iter().map(|value| mask(*value, x.width)).collect();
    if (1..=MAX_CONSTANTS).contains(&assigned.len()) {
        all.insert(Candidate::OneOf(x.var, assigned));
    }
}

/// Returns the registers that an equation between two registers determines: the solver need not guess them.
pub(crate) fn definitions(assumed: &[Candidate]) -> BTreeMap<Reg, Candidate> {
    let mut defined = BTreeMap::new();
    let mut used = BTreeSet::new();
    for candidate in assumed {
        let (x, y) = match candidate {
            Candidate::Step(_, Var::Reg(x), Var::Reg(y)) | Candidate::Sum(Var::Reg(x), Var::Reg(y)) => (*x, *y),
            _ => continue,
        };
        if !defined.contains_key(&x) && !defined.contains_key(&y) && !used.contains(&x) {
            used.insert(y);
            defined.insert(x, candidate.clone());
        }
    }
    defined
}

impl Candidate {
    /// Returns the value that an equation determines for its first variable.
    pub fn solved(
        &self,
        terms: &mut Terms,
        now: &dyn Fn(Var) -> Option<TermId>,
        entry: &dyn Fn(Var) -> Option<TermId>,
    ) -> Option<TermId> {
        match self {
            Candidate::Step(factor, x, y) => {
                let by = terms.sub(now(*y)?, entry(*y)?);
                let factor = terms.constant(terms.width(by), *factor);
                let moved = terms.mul(by, factor);
                Some(terms.add(entry(*x)?, moved))
            }
            Candidate::Sum(x, y) => {
                let sum = terms.add(entry(*x)?, entry(*y)?);
                Some(terms.sub(sum, now(*y)?))
            }
            _ => None,
        }
    }

    /// Returns the candidate as a term, where `now` gives the current values and `entry` those on entry; `None` if a
    /// variable has none.
    pub fn term(
        &self,
        terms: &mut Terms,
        now: &dyn Fn(Var) -> Option<TermId>,
        entry: &dyn Fn(Var) -> Option<TermId>,
    ) -> Option<TermId> {
        Some(match self {
            Candidate::Related(order, x, y) => terms.cmp(order.rel(), now(*x)?, now(*y)?),
            Candidate::RelatedOnceChanged(order, x, y) => {
                let related = terms.cmp(order.rel(), now(*x)?, now(*y)?);
                let (same_x, same_y) = (terms.eq(now(*x)?, entry(*x)?), terms.eq(now(*y)?, entry(*y)?));
                let unchanged = terms.and(same_x, same_y);
                terms.or(related, unchanged)
            }
            Candidate::Differ(x, y) => terms.ne(now(*x)?, now(*y)?),
            Candidate::Grows(order, x) => terms.cmp(order.rel(), entry(*x)?, now(*x)?),
            Candidate::Shrinks(order, x) => terms.cmp(order.rel(), now(*x)?, entry(*x)?),
            Candidate::Step(factor, x, y) => {
                let (moved, by) = (terms.sub(now(*x)?, entry(*x)?), terms.sub(now(*y)?, entry(*y)?));
                let factor = terms.constant(terms.width(by), *factor);
                let expected = terms.mul(by, factor);
                terms.eq(moved, expected)
            }
            Candidate::Sum(x, y) => {
                let (sum, before) = (terms.add(now(*x)?, now(*y)?), terms.add(entry(*x)?, entry(*y)?));
                terms.eq(sum, before)
            }
            Candidate::Remainder(modulus, x) => {
                let modulus = terms.constant(terms.width(now(*x)?), *modulus);
                let (a, b) = (terms.bin(Op::URem, now(*x)?, modulus), terms.bin(Op::URem, entry(*x)?, modulus));
                terms.eq(a, b)
            }
            Candidate::AtMost(order, x, number) => {
                let number = terms.constant(terms.width(now(*x)?), *number);
                terms.cmp(order.rel(), now(*x)?, number)
            }
            Candidate::AtLeast(order, x, number) => {
                let number = terms.constant(terms.width(now(*x)?), *number);
                terms.cmp(order.rel(), number, now(*x)?)
            }
            Candidate::IsNot(x, number) => {
                let number = terms.constant(terms.width(now(*x)?), *number);
                terms.ne(now(*x)?, number)
            }
            Candidate::OneOf(x, numbers) => {
                let mut any = terms.truth(false);
                for number in numbers {
                    let number = terms.constant(terms.width(now(*x)?), *number);
                    let here = terms.eq(now(*x)?, number);
                    any = terms.or(any, here);
                }
                any
            }
        })
    }
}
