//! Tiny formats exhaustively against exact rational arithmetic; the real ones against the shared evaluation.

use super::*;
use batsat::{SolverInterface, lbool};
use touchstone_base::float::eval;

use crate::random::Random;

/// A format so small that every pair of values can be tried, and what IEEE-754 says about it, plainly.
#[derive(Clone, Copy)]
struct Tiny(Shape);

/// A fraction; the denominator is positive.
#[derive(Clone, Copy)]
struct Ratio(i128, i128);

impl Ratio {
    fn less(self, other: Ratio) -> bool {
        self.0 * other.1 < other.0 * self.1
    }
    fn add(self, other: Ratio) -> Ratio {
        Ratio(self.0 * other.1 + other.0 * self.1, self.1 * other.1)
    }
    fn mul(self, other: Ratio) -> Ratio {
        Ratio(self.0 * other.0, self.1 * other.1)
    }
    fn div(self, other: Ratio) -> Ratio {
        let sign = other.0.signum();
        Ratio(sign * self.0 * other.1, (self.1 * other.0).abs())
    }
    fn abs(self) -> Ratio {
        Ratio(self.0.abs(), self.1)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Nan,
    Infinite,
    Finite,
}

impl Tiny {
    fn bits(self) -> usize {
        self.0.exponent + self.0.fraction + 1
    }
    fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }
    fn infinity(self) -> u64 {
        ((1 << self.0.exponent) - 1) << self.0.fraction
    }
    fn default_nan(self) -> u64 {
        self.sign() | self.infinity() | 1 << (self.0.fraction - 1)
    }
    fn kind(self, x: u64) -> Kind {
        match (x & !self.sign()).cmp(&self.infinity()) {
            std::cmp::Ordering::Less => Kind::Finite,
            std::cmp::Ordering::Equal => Kind::Infinite,
            std::cmp::Ordering::Greater => Kind::Nan,
        }
    }
    fn is_negative(self, x: u64) -> bool {
        x & self.sign() != 0
    }
    /// The value; the infinity counts as the power of two that would come next, as rounding wants it.
    fn value(self, x: u64) -> Ratio {
        let magnitude = x & !self.sign();
        let field = (magnitude >> self.0.fraction) as i64;
        let rest = i128::from(magnitude & ((1 << self.0.fraction) - 1));
        let significand = if field == 0 { rest } else { rest + (1 << self.0.fraction) };
        let exponent = field.max(1) - self.0.bias() - self.0.fraction as i64;
        let size = if exponent >= 0 { Ratio(significand << exponent, 1) } else { Ratio(significand, 1 << -exponent) };
        if self.is_negative(x) { Ratio(-size.0, size.1) } else { size }
    }
    /// The nearest magnitude: the first one whose midpoint with the next is not below; even wins a tie.
    fn nearest(self, size: Ratio) -> u64 {
        self.nearest_by(|middle| if middle.less(size) { -1 } else { i32::from(size.less(middle)) })
    }
    /// `compare` says on which side of the result a midpoint lies: -1 below it, 0 at it, 1 above.
    fn nearest_by(self, compare: impl Fn(Ratio) -> i32) -> u64 {
        for x in 0..self.infinity() {
            let middle = self.value(x).add(self.value(x + 1)).mul(Ratio(1, 2));
            match compare(middle) {
                1 => return x,
                0 => return if x % 2 == 0 { x } else { x + 1 },
                _ => {}
            }
        }
        self.infinity()
    }
    fn rounded(self, exact: Ratio, zero_is_negative: bool) -> u64 {
        let negative = if exact.0 == 0 { zero_is_negative } else { exact.0 < 0 };
        self.nearest(exact.abs()) | if negative { self.sign() } else { 0 }
    }
    fn reference(self, op: FloatOp, args: &[u64]) -> u64 {
        let quiet = 1 << (self.0.fraction - 1);
        if let Some(nan) = args.iter().find(|&&x| self.kind(x) == Kind::Nan) {
            return nan | quiet;
        }
        let (a, b) = (args[0], args.get(1).copied().unwrap_or(0));
        let negative = self.is_negative(a) != self.is_negative(b);
        let sign = if negative { self.sign() } else { 0 };
        let (x, y) = (self.value(a), self.value(b));
        match op {
            FloatOp::Sub => self.reference(FloatOp::Add, &[a, b ^ self.sign()]),
            FloatOp::Add => match (self.kind(a), self.kind(b)) {
                (Kind::Infinite, Kind::Infinite) if negative => self.default_nan(),
                (Kind::Infinite, _) => a,
                (_, Kind::Infinite) => b,
                _ => self.rounded(x.add(y), self.is_negative(a) && self.is_negative(b)),
            },
            FloatOp::Mul => match (self.kind(a), self.kind(b)) {
                (Kind::Infinite, Kind::Finite) if y.0 == 0 => self.default_nan(),
                (Kind::Finite, Kind::Infinite) if x.0 == 0 => self.default_nan(),
                (Kind::Finite, Kind::Finite) => self.rounded(x.mul(y), negative),
                _ => self.infinity() | sign,
            },
            FloatOp::Div => match (self.kind(a), self.kind(b)) {
                (Kind::Infinite, Kind::Infinite) => self.default_nan(),
                (Kind::Infinite, _) => self.infinity() | sign,
                (_, Kind::Infinite) => sign,
                _ if y.0 == 0 && x.0 == 0 => self.default_nan(),
                _ if y.0 == 0 => self.infinity() | sign,
                _ => self.rounded(x.div(y), negative),
            },
            FloatOp::Sqrt if x.0 == 0 => a,
            FloatOp::Sqrt if self.is_negative(a) => self.default_nan(),
            FloatOp::Sqrt if self.kind(a) == Kind::Infinite => a,
            FloatOp::Sqrt => self.nearest_by(|middle| {
                let square = middle.mul(middle);
                if square.less(x) { -1 } else { i32::from(x.less(square)) }
            }),
            FloatOp::Fma => self.reference_fma(a, b, args[2]),
            _ => panic!("not an operation of this test"),
        }
    }
    fn reference_fma(self, a: u64, b: u64, c: u64) -> u64 {
        let negative = self.is_negative(a) != self.is_negative(b);
        let sign = if negative { self.sign() } else { 0 };
        let (x, y, z) = (self.value(a), self.value(b), self.value(c));
        let infinite = self.kind(a) == Kind::Infinite || self.kind(b) == Kind::Infinite;
        if infinite && [a, b].iter().any(|&x| x & !self.sign() == 0) {
            return self.default_nan();
        }
        match (infinite, self.kind(c)) {
            (true, Kind::Infinite) if negative != self.is_negative(c) => self.default_nan(),
            (true, _) => self.infinity() | sign,
            (_, Kind::Infinite) => c,
            _ => self.rounded(x.mul(y).add(z), negative && self.is_negative(c)),
        }
    }
    fn circuit(self, blaster: &mut Blaster, op: FloatOp, args: &[Bits]) -> Bits {
        match op {
            FloatOp::Add => blaster.float_add(self.0, &args[0], &args[1], &args[1]),
            FloatOp::Sub => {
                let mut negated = args[1].clone();
                let last = negated.len() - 1;
                negated[last] = !negated[last];
                blaster.float_add(self.0, &args[0], &negated, &args[1])
            }
            FloatOp::Mul => blaster.float_mul(self.0, &args[0], &args[1]),
            FloatOp::Div => blaster.float_div(self.0, &args[0], &args[1]),
            FloatOp::Sqrt => blaster.float_sqrt(self.0, &args[0]),
            FloatOp::Fma => blaster.float_fma(self.0, &args[0], &args[1], &args[2]),
            _ => panic!("not an operation of this test"),
        }
    }
}

fn constant(blaster: &Blaster, width: usize, value: u64) -> Bits {
    (0..width).map(|i| blaster.circuit.constant(value >> i & 1 == 1)).collect()
}

/// The value of some bits, where the inputs leave no choice.
fn value(blaster: &mut Blaster, bits: &[Lit], assumptions: &[Lit]) -> u64 {
    let folded: Option<Vec<bool>> = bits.iter().map(|&l| blaster.circuit.known(l)).collect();
    if let (Some(folded), []) = (folded, assumptions) {
        return folded.iter().enumerate().fold(0, |sum, (i, &bit)| sum | u64::from(bit) << i);
    }
    assert!(blaster.circuit.solver.solve_limited(assumptions) == lbool::TRUE, "a circuit is total");
    bits.iter().enumerate().fold(0, |sum, (i, &lit)| sum | u64::from(blaster.circuit.value(lit)) << i)
}

/// The circuit on constants, against the rationals.
fn check_tiny(shape: Shape, op: FloatOp, arguments: impl Iterator<Item = Vec<u64>>) {
    let tiny = Tiny(shape);
    let mut blaster = Blaster::new();
    for args in arguments {
        if blaster.size() > 4000 {
            blaster = Blaster::new();
        }
        let bits: Vec<Bits> = args.iter().map(|&x| constant(&blaster, tiny.bits(), x)).collect();
        let result = tiny.circuit(&mut blaster, op, &bits);
        let got = value(&mut blaster, &result, &[]);
        assert_eq!(got, tiny.reference(op, &args), "{op:?} {args:?} {shape:?}");
    }
}

#[test]
fn tiny_formats_agree_with_exact_arithmetic_on_all_pairs() {
    for shape in [Shape { exponent: 3, fraction: 3 }, Shape { exponent: 4, fraction: 2 }] {
        let all = 1u64 << (shape.exponent + shape.fraction + 1);
        for op in [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div] {
            check_tiny(shape, op, (0..all * all).map(|k| vec![k / all, k % all]));
        }
        check_tiny(shape, FloatOp::Sqrt, (0..all).map(|k| vec![k]));
        let mut random = Random(5);
        check_tiny(shape, FloatOp::Fma, (0..10_000).map(|_| (0..3).map(|_| random.next() % all).collect()));
    }
}

fn interesting(random: &mut Random, format: Format) -> u64 {
    let raw = random.next();
    let small = format.of((random.next() % 2001) as f64 / 8.0 - 125.0);
    let value = match raw >> 60 {
        0 => format.infinity() | raw << 63 >> (64 - format.bits()),
        1 => format.infinity() | raw & (2 * format.quiet_bit() - 1),
        2 => raw & (2 * format.quiet_bit() - 1),
        3 => format.of((raw as i64 >> (raw & 63)) as f64),
        4 => format.infinity() - 1 - raw % 4,
        5 => format.of(1.0) ^ (raw & 15),
        6..=9 => small,
        10 => 0,
        _ => raw,
    };
    value & (u64::MAX >> (64 - format.bits()))
}

fn operations() -> Vec<FloatOp> {
    let mut all = vec![FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Sqrt, FloatOp::Fma];
    all.extend([FloatOp::Eq, FloatOp::Lt, FloatOp::Le]);
    all.extend([Format::F32, Format::F64].map(FloatOp::Convert));
    all.extend(Rounding::ALL.map(FloatOp::Round));
    for bits in [1, 8, 16, 24, 32, 33, 53, 64] {
        all.extend([FloatOp::FromSigned(bits), FloatOp::FromUnsigned(bits)]);
        all.extend([FloatOp::ToSigned(bits), FloatOp::ToUnsigned(bits)]);
    }
    all
}

/// On constants nearly all of a circuit folds, so that many values can be tried.
#[test]
fn folded_circuits_agree_with_the_shared_evaluation() {
    let mut random = Random(2);
    for format in [Format::F32, Format::F64] {
        for op in operations() {
            for _ in 0..200 {
                let mut blaster = Blaster::new();
                let width = op.argument_bits(format);
                let mut argument = || match op {
                    FloatOp::FromSigned(_) | FloatOp::FromUnsigned(_) => {
                        (random.next() as i64 >> (random.next() & 63)) as u64 & (u64::MAX >> (64 - width))
                    }
                    _ => interesting(&mut random, format),
                };
                let args = [argument(), argument(), argument()];
                let bits = args.map(|x| constant(&blaster, usize::from(width), x));
                let result = blaster.float(op, format, &bits);
                let got = value(&mut blaster, &result, &[]);
                assert_eq!(got, eval(op, format, &args), "{op:?} {format} {args:#x?}");
            }
        }
    }
}

/// With free inputs the gates are real.
#[test]
fn circuits_with_free_inputs_agree_with_the_shared_evaluation() {
    let mut random = Random(3);
    for format in [Format::F32, Format::F64] {
        for op in operations() {
            let mut blaster = Blaster::new();
            let width = op.argument_bits(format);
            let inputs: [Bits; 3] = std::array::from_fn(|_| blaster.fresh_bits(width));
            let result = blaster.float(op, format, &inputs);
            for _ in 0..6 {
                let args: [u64; 3] =
                    std::array::from_fn(|_| interesting(&mut random, format) & (u64::MAX >> (64 - width)));
                let pinned: Vec<Lit> = inputs[..op.arity()]
                    .iter()
                    .zip(&args)
                    .flat_map(|(bits, &x)| {
                        bits.iter().enumerate().map(move |(i, &l)| if x >> i & 1 == 1 { l } else { !l })
                    })
                    .collect();
                let got = value(&mut blaster, &result, &pinned);
                assert_eq!(got, eval(op, format, &args), "{op:?} {format} {args:#x?}");
            }
        }
    }
}
