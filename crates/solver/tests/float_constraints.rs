//! Constraints of the kind that programs have: what is found without the SAT solver, and what is refuted.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::time::{Duration, Instant};

use touchstone_solver::{Answer, Config, FloatFormat, FloatOp, Path, Rel, Rounding, Solver, TermId, Terms};

const F32: FloatFormat = FloatFormat::F32;
const F64: FloatFormat = FloatFormat::F64;

#[derive(PartialEq, Eq, Debug)]
enum Expected {
    /// Satisfiable, found without the SAT solver.
    Found,
    /// Refuted without the SAT solver.
    Refuted,
    /// Satisfiable, by whatever means.
    Sat,
    /// Unsatisfiable, by whatever means.
    Unsat,
}
use Expected::{Found, Refuted, Sat, Unsat};

/// Constants and variables of one format, for short formulas.
struct Sheet {
    terms: Terms,
    format: FloatFormat,
}

impl Sheet {
    fn var(&mut self, name: &str) -> TermId {
        self.terms.var(self.format.bits(), name)
    }
    fn int(&mut self, name: &str) -> TermId {
        self.terms.var(32, name)
    }
    fn c(&mut self, value: f64) -> TermId {
        self.terms.float_constant(self.format, value)
    }
    fn op(&mut self, op: FloatOp, args: &[TermId]) -> TermId {
        self.terms.float(op, self.format, args)
    }
    fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Add, &[a, b])
    }
    fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Sub, &[a, b])
    }
    fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Mul, &[a, b])
    }
    fn div(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Div, &[a, b])
    }
    fn lt(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Lt, &[a, b])
    }
    fn le(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Le, &[a, b])
    }
    fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(FloatOp::Eq, &[a, b])
    }
    fn scaled(&mut self, a: TermId, by: f64) -> TermId {
        let by = self.c(by);
        self.mul(a, by)
    }
    /// `low < a < high`
    fn between(&mut self, low: f64, a: TermId, high: f64) -> Vec<TermId> {
        let (low, high) = (self.c(low), self.c(high));
        vec![self.lt(low, a), self.lt(a, high)]
    }
    fn int_is(&mut self, a: TermId, value: i32) -> TermId {
        let integer = self.terms.f_to_sint(self.format, a, 32);
        let value = self.terms.constant(32, value as u64);
        self.terms.eq(integer, value)
    }
}

fn check_in(format: FloatFormat, name: &str, expected: &Expected, build: impl Fn(&mut Sheet) -> Vec<TermId>) {
    let mut sheet = Sheet { terms: Terms::new(), format };
    let conditions = build(&mut sheet);
    let mut terms = sheet.terms;
    // All at once, and one after the other as a path has them.
    for one_by_one in [false, true] {
        let mut solver = Solver::new(Config { timeout: Some(Duration::from_secs(60)), ..Config::default() });
        let mut path = Path::new();
        let start = Instant::now();
        let answer = if one_by_one {
            let mut answer = None;
            for &condition in &conditions {
                answer = Some(solver.check(&mut terms, &path, condition));
                match solver.assume(&mut terms, &path, condition) {
                    touchstone_solver::Side::Feasible(next) => path = next,
                    _ => break,
                }
            }
            answer.expect("there is a condition")
        } else {
            let mut all = terms.truth(true);
            for &condition in &conditions {
                all = terms.and(all, condition);
            }
            solver.check(&mut terms, &path, all)
        };
        let stats = *solver.stats();
        let got = match answer {
            Answer::Sat(model) => {
                assert!(conditions.iter().all(|&c| model.eval(&terms, c) == 1), "{name}: the model is none");
                if stats.sat_calls == 0 { Found } else { Sat }
            }
            Answer::Unsat if stats.sat_calls == 0 => Refuted,
            Answer::Unsat => Unsat,
            Answer::Unknown(why) => panic!("{name} in {format}: {why:?}"),
        };
        println!("{name} in {format}: {got:?} in {:?}", start.elapsed());
        let fine = match expected {
            Sat => matches!(got, Sat | Found),
            Unsat => matches!(got, Unsat | Refuted),
            exact => *exact == got,
        };
        assert!(fine, "{name} in {format}: expected {expected:?}, got {got:?}");
    }
}

fn check(name: &str, expected: Expected, build: impl Fn(&mut Sheet) -> Vec<TermId>) {
    for format in [F32, F64] {
        check_in(format, name, &expected, &build);
    }
}

#[test]
fn ranges_are_found_and_refuted_without_search() {
    check("t in a gap", Found, |s| {
        let t = s.var("t");
        s.between(37.5, t, 38.0)
    });
    check("t in a narrow gap", Found, |s| {
        let t = s.var("t");
        s.between(37.5, t, 37.50001)
    });
    check("t in no gap", Refuted, |s| {
        let t = s.var("t");
        s.between(38.0, t, 37.5)
    });
    check("nothing between neighbours", Refuted, |s| {
        let t = s.var("t");
        let next = s.terms.constant(s.format.bits(), s.format.of(1.0) + 1);
        let one = s.c(1.0);
        vec![s.lt(one, t), s.lt(t, next)]
    });
    check("a NaN is in no range and outside of none", Found, |s| {
        let t = s.var("t");
        let (zero, one) = (s.c(0.0), s.c(1.0));
        let (above, below) = (s.le(zero, t), s.lt(t, one));
        let low = s.lt(t, zero);
        let high = s.le(one, t);
        [above, below, low, high].map(|c| s.terms.not(c)).to_vec()
    });
    check("a sum out of the range of its parts", Refuted, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let mut all = s.between(0.0, x, 10.0);
        all.extend(s.between(-5.0, y, 5.0));
        let (sum, limit) = (s.add(x, y), s.c(15.5));
        all.push(s.le(limit, sum));
        all
    });
    check("x < y and y < x + 0", Refuted, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let zero = s.c(0.0);
        let sum = s.add(x, zero);
        vec![s.lt(x, y), s.lt(y, sum)]
    });
    check("both zeros", Found, |s| {
        let (x, zero) = (s.var("x"), s.c(0.0));
        let bits = s.terms.constant(s.format.bits(), 0);
        vec![s.eq(x, zero), s.terms.ne(x, bits)]
    });
}

#[test]
fn arithmetic_is_inverted_or_searched() {
    check("inside of the circle", Found, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let (xx, yy) = (s.mul(x, x), s.mul(y, y));
        let (sum, one) = (s.add(xx, yy), s.c(1.0));
        vec![s.lt(sum, one)]
    });
    check("between two circles", Found, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let (xx, yy) = (s.mul(x, x), s.mul(y, y));
        let sum = s.add(xx, yy);
        let mut all = s.between(0.98, sum, 0.99);
        all.push(s.lt(x, y));
        all
    });
    check("outside of the circle by x", Refuted, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let (xx, yy) = (s.mul(x, x), s.mul(y, y));
        let (sum, one, two) = (s.add(xx, yy), s.c(1.0), s.c(2.0));
        vec![s.lt(sum, one), s.lt(two, x)]
    });
    check("cents", Found, |s| {
        let x = s.var("x");
        let cents = s.scaled(x, 100.0);
        vec![s.int_is(cents, 42)]
    });
    check("a quotient", Found, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let quotient = s.div(x, y);
        let mut all = s.between(2.5, quotient, 2.6);
        let three = s.c(3.0);
        all.push(s.lt(three, y));
        all
    });
    check("Celsius of Fahrenheit", Found, |s| {
        let f = s.var("f");
        let freezing = s.c(32.0);
        let shifted = s.sub(f, freezing);
        let five = s.scaled(shifted, 5.0);
        let nine = s.c(9.0);
        let celsius = s.div(five, nine);
        s.between(36.5, celsius, 37.5)
    });
    check("a root", Found, |s| {
        let x = s.var("x");
        let root = s.op(FloatOp::Sqrt, &[x]);
        s.between(1.7320, root, 1.7321)
    });
    check("a discriminant", Found, |s| {
        let (a, b, c) = (s.var("a"), s.var("b"), s.var("c"));
        let bb = s.mul(b, b);
        let four = s.scaled(a, 4.0);
        let ac = s.mul(four, c);
        let (d, zero) = (s.sub(bb, ac), s.c(0.0));
        let nonzero = s.eq(a, zero);
        let nonzero = s.terms.not(nonzero);
        vec![nonzero, s.eq(d, zero), s.lt(zero, c)]
    });
    check("a triangle", Found, |s| {
        let (a, b, c) = (s.var("a"), s.var("b"), s.var("c"));
        let zero = s.c(0.0);
        let (ab, bc, ca) = (s.add(a, b), s.add(b, c), s.add(c, a));
        let equal = s.eq(a, b);
        vec![s.lt(zero, a), s.lt(zero, b), s.lt(zero, c), s.lt(c, ab), s.lt(a, bc), s.lt(b, ca), s.terms.not(equal)]
    });
    check("a half, rounded", Found, |s| {
        let x = s.var("x");
        let rounded = s.op(FloatOp::Round(Rounding::Even), &[x]);
        let (four, half) = (s.c(4.0), s.c(3.75));
        vec![s.eq(rounded, four), s.lt(x, half)]
    });
    check("x plus one is x", Found, |s| {
        let x = s.var("x");
        let one = s.c(1.0);
        let sum = s.add(x, one);
        let (infinity, zero) = (s.c(f64::INFINITY), s.c(0.0));
        vec![s.eq(sum, x), s.lt(x, infinity), s.lt(zero, x)]
    });
}

#[test]
fn integers_and_floats_meet() {
    check("an average", Found, |s| {
        let (n, m) = (s.int("n"), s.int("m"));
        let (x, y) = (s.terms.f_from_sint(s.format, n), s.terms.f_from_sint(s.format, m));
        let sum = s.add(x, y);
        let two = s.c(2.0);
        let average = s.div(sum, two);
        let mut all = s.between(3.25, average, 3.75);
        let limit = s.terms.constant(32, 100);
        all.push(s.terms.cmp(Rel::Slt, limit, n));
        all
    });
    check("a percentage", Found, |s| {
        let n = s.int("n");
        let x = s.terms.f_from_sint(s.format, n);
        let part = s.scaled(x, 0.15);
        vec![s.int_is(part, 1234)]
    });
    check("a float that is no integer", Found, |s| {
        let x = s.var("x");
        let integer = s.terms.f_to_sint(s.format, x, 32);
        let back = s.terms.f_from_sint(s.format, integer);
        let same = s.eq(back, x);
        let mut all = s.between(1.0, x, 100.0);
        all.push(s.terms.not(same));
        all
    });
    check("an integer between two", Refuted, |s| {
        let n = s.terms.var(16, "n");
        let x = s.terms.f_from_sint(s.format, n);
        s.between(3.25, x, 3.75)
    });
}

#[test]
fn boxes_refute_what_one_interval_can_not() {
    check("a square below its root", Refuted, |s| {
        let x = s.var("x");
        let one = s.c(1.0);
        let square = s.mul(x, x);
        vec![s.lt(one, x), s.lt(square, x)]
    });
    check("a polynomial without roots", Refuted, |s| {
        let x = s.var("x");
        let (square, zero) = (s.mul(x, x), s.c(0.0));
        let (sum, one) = (s.sub(square, x), s.c(1.0));
        let sum = s.add(sum, one);
        vec![s.le(sum, zero)]
    });
    check("a sum of squares that is negative", Refuted, |s| {
        let (x, y) = (s.var("x"), s.var("y"));
        let (xx, yy) = (s.mul(x, x), s.mul(y, y));
        let (sum, zero) = (s.add(xx, yy), s.c(0.0));
        vec![s.lt(sum, zero)]
    });
    check("a cubic at its root", Sat, |s| {
        let x = s.var("x");
        let square = s.mul(x, x);
        let cube = s.mul(square, x);
        let two = s.c(2.0);
        let difference = s.sub(cube, x);
        let low = s.lt(two, difference);
        let mut all = s.between(1.9999, difference, 2.0001);
        all.push(low);
        all
    });
}

/// Refutations that only the circuits find. In the narrow format, to be fast.
#[test]
fn the_circuits_refute_what_intervals_can_not() {
    check_in(F32, "x / 2 + x / 2 differs from x", &Sat, |s| {
        let x = s.var("x");
        let half = s.scaled(x, 0.5);
        let (sum, zero) = (s.add(half, half), s.c(0.0));
        let same = s.eq(sum, x);
        vec![s.terms.not(same), s.lt(zero, x)]
    });
    check_in(F32, "x - x is not 0", &Unsat, |s| {
        let x = s.var("x");
        let (difference, zero) = (s.sub(x, x), s.c(0.0));
        let same = s.eq(difference, zero);
        let mut all = s.between(-10.0, x, 10.0);
        all.push(s.terms.not(same));
        all
    });
}
