//! Random expressions over two float variables, evaluated without any rewriting and built as terms.

use proptest::prelude::*;
use touchstone_base::float::eval;
use touchstone_solver::{FloatFormat, FloatOp, Rounding, TermId, Terms};

pub const F32: FloatFormat = FloatFormat::F32;
pub const F64: FloatFormat = FloatFormat::F64;

pub fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - width)
}

/// An expression, evaluated here without any rewriting. Its format is that of the whole test.
#[derive(Clone, Debug)]
pub enum Float {
    Var(u8),
    Const(u64),
    Neg(Box<Float>),
    Abs(Box<Float>),
    Bin(FloatOp, Box<Float>, Box<Float>),
    Un(FloatOp, Box<Float>),
    Fma(Box<[Float; 3]>),
    /// To the other format and back.
    Detour(Box<Float>),
    /// To an integer of this width and back, signed or not.
    Integer(u8, bool, Box<Float>),
    /// The integer that the low bits of the first variable are.
    Small(u8, bool),
    Choice(Box<Truth>, Box<Float>, Box<Float>),
}

#[derive(Clone, Debug)]
pub enum Truth {
    Cmp(FloatOp, Box<Float>, Box<Float>),
    /// Both in the wide format, the second one as a constant of it.
    Wide(FloatOp, bool, Box<Float>, u64),
    IsNan(Box<Float>),
    Not(Box<Truth>),
    And(Box<Truth>, Box<Truth>),
    IntegerIs(u8, u64, Box<Float>),
}

pub struct Builder<'a> {
    pub terms: &'a mut Terms,
    pub vars: [TermId; 2],
    pub format: FloatFormat,
}

pub fn other(format: FloatFormat) -> FloatFormat {
    if format == F32 { F64 } else { F32 }
}

impl Float {
    pub fn eval(&self, format: FloatFormat, vars: [u64; 2]) -> u64 {
        let of = |f: &Float| f.eval(format, vars);
        match self {
            Float::Var(v) => vars[usize::from(*v)],
            Float::Const(c) => *c & mask(format.bits()),
            Float::Neg(a) => of(a) ^ format.sign_mask(),
            Float::Abs(a) => of(a) & format.magnitude_mask(),
            Float::Bin(op, a, b) => eval(*op, format, &[of(a), of(b)]),
            Float::Un(op, a) => eval(*op, format, &[of(a)]),
            Float::Fma(args) => eval(FloatOp::Fma, format, &[of(&args[0]), of(&args[1]), of(&args[2])]),
            Float::Detour(a) => {
                let there = eval(FloatOp::Convert(other(format)), format, &[of(a)]);
                eval(FloatOp::Convert(format), other(format), &[there])
            }
            Float::Integer(width, true, a) => {
                let integer = eval(FloatOp::ToSigned(*width), format, &[of(a)]);
                eval(FloatOp::FromSigned(*width), format, &[integer])
            }
            Float::Integer(width, false, a) => {
                let integer = eval(FloatOp::ToUnsigned(*width), format, &[of(a)]);
                eval(FloatOp::FromUnsigned(*width), format, &[integer])
            }
            Float::Small(width, true) => eval(FloatOp::FromSigned(*width), format, &[vars[0] & mask(*width)]),
            Float::Small(width, false) => eval(FloatOp::FromUnsigned(*width), format, &[vars[0] & mask(*width)]),
            Float::Choice(c, a, b) => {
                if c.eval(format, vars) {
                    of(a)
                } else {
                    of(b)
                }
            }
        }
    }

    pub fn build(&self, b: &mut Builder) -> TermId {
        let format = b.format;
        match self {
            Float::Var(v) => b.vars[usize::from(*v)],
            Float::Const(c) => b.terms.constant(format.bits(), *c),
            Float::Neg(a) => {
                let a = a.build(b);
                b.terms.fneg(format, a)
            }
            Float::Abs(a) => {
                let a = a.build(b);
                b.terms.fabs(format, a)
            }
            Float::Bin(op, x, y) => {
                let (x, y) = (x.build(b), y.build(b));
                b.terms.float(*op, format, &[x, y])
            }
            Float::Un(op, a) => {
                let a = a.build(b);
                b.terms.float(*op, format, &[a])
            }
            Float::Fma(args) => {
                let [x, y, z] = [0, 1, 2].map(|k| args[k].build(b));
                b.terms.ffma(format, x, y, z)
            }
            Float::Detour(a) => {
                let a = a.build(b);
                let there = b.terms.fcvt(format, other(format), a);
                b.terms.fcvt(other(format), format, there)
            }
            Float::Integer(width, signed, a) => {
                let a = a.build(b);
                if *signed {
                    let integer = b.terms.f_to_sint(format, a, *width);
                    b.terms.f_from_sint(format, integer)
                } else {
                    let integer = b.terms.f_to_uint(format, a, *width);
                    b.terms.f_from_uint(format, integer)
                }
            }
            Float::Small(width, signed) => {
                let low = b.terms.extract(b.vars[0], 0, *width);
                // Extended first, as a compiler does.
                if *signed {
                    let wide = b.terms.sext(low, 64);
                    b.terms.f_from_sint(format, wide)
                } else {
                    let wide = b.terms.zext(low, 64);
                    b.terms.f_from_sint(format, wide)
                }
            }
            Float::Choice(c, x, y) => {
                let (c, x, y) = (c.build(b), x.build(b), y.build(b));
                b.terms.ite(c, x, y)
            }
        }
    }
}

impl Truth {
    pub fn eval(&self, format: FloatFormat, vars: [u64; 2]) -> bool {
        match self {
            Truth::Cmp(op, a, b) => eval(*op, format, &[a.eval(format, vars), b.eval(format, vars)]) == 1,
            Truth::Wide(op, swapped, a, c) => {
                let a = eval(FloatOp::Convert(F64), format, &[a.eval(format, vars)]);
                let args = if *swapped { [*c, a] } else { [a, *c] };
                eval(*op, F64, &args) == 1
            }
            Truth::IsNan(a) => format.is_nan(a.eval(format, vars)),
            Truth::Not(a) => !a.eval(format, vars),
            Truth::And(a, b) => a.eval(format, vars) && b.eval(format, vars),
            Truth::IntegerIs(width, value, a) => {
                eval(FloatOp::ToSigned(*width), format, &[a.eval(format, vars)]) == value & mask(*width)
            }
        }
    }

    pub fn build(&self, b: &mut Builder) -> TermId {
        let format = b.format;
        match self {
            Truth::Cmp(op, x, y) => {
                let (x, y) = (x.build(b), y.build(b));
                b.terms.float(*op, format, &[x, y])
            }
            Truth::Wide(op, swapped, a, c) => {
                let a = a.build(b);
                let (a, c) = (b.terms.fcvt(format, F64, a), b.terms.constant(64, *c));
                b.terms.float(*op, F64, &if *swapped { [c, a] } else { [a, c] })
            }
            Truth::IsNan(a) => {
                let a = a.build(b);
                b.terms.is_nan(format, a)
            }
            Truth::Not(a) => {
                let a = a.build(b);
                b.terms.not(a)
            }
            Truth::And(x, y) => {
                let (x, y) = (x.build(b), y.build(b));
                b.terms.and(x, y)
            }
            Truth::IntegerIs(width, value, a) => {
                let a = a.build(b);
                let integer = b.terms.f_to_sint(format, a, *width);
                let value = b.terms.constant(*width, *value);
                b.terms.eq(integer, value)
            }
        }
    }
}

/// Patterns: natural numbers, edges, anything.
pub fn pattern(format: FloatFormat) -> impl Strategy<Value = u64> + Clone {
    let natural =
        prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 0.1, 3.0, -7.25, 100.0, 1e9, 16777217.0, 1e-40])
            .prop_map(move |v| format.of(v));
    let edge = prop::sample::select(vec![
        format.infinity(),
        format.infinity() | format.sign_mask(),
        format.infinity() - 1,
        1,
        format.default_nan(),
        format.infinity() | 1,
        format.infinity() | format.quiet_bit() | 5,
    ]);
    prop_oneof![
        4 => natural,
        2 => edge,
        2 => (-1000i32..1000).prop_map(move |v| format.of(f64::from(v) / 8.0)),
        1 => any::<u64>().prop_map(move |v| v & mask(format.bits())),
    ]
}

pub fn compare() -> impl Strategy<Value = FloatOp> {
    prop::sample::select(vec![FloatOp::Eq, FloatOp::Lt, FloatOp::Le])
}

pub fn truth_of(
    format: FloatFormat,
    float: impl Strategy<Value = Float> + Clone + 'static,
) -> impl Strategy<Value = Truth> + Clone {
    let atom = prop_oneof![
        5 => (compare(), float.clone(), float.clone()).prop_map(|(op, a, b)| Truth::Cmp(op, Box::new(a), Box::new(b))),
        2 => (compare(), any::<bool>(), float.clone(), prop_oneof![pattern(F64), pattern(format).prop_map(move |v| F64.of(format.value(v)))])
            .prop_map(|(op, s, a, c)| Truth::Wide(op, s, Box::new(a), c)),
        1 => float.clone().prop_map(|a| Truth::IsNan(Box::new(a))),
        1 => (prop::sample::select(vec![8u8, 32, 64]), -5i64..5, float)
            .prop_map(|(w, v, a)| Truth::IntegerIs(w, v as u64, Box::new(a))),
    ];
    atom.prop_recursive(2, 4, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|a| Truth::Not(Box::new(a))),
            (inner.clone(), inner).prop_map(|(a, b)| Truth::And(Box::new(a), Box::new(b))),
        ]
    })
    .boxed()
}

pub fn float_of(format: FloatFormat, depth: u32) -> impl Strategy<Value = Float> + Clone {
    let leaf = prop_oneof![
        3 => (0u8..2).prop_map(Float::Var),
        2 => pattern(format).prop_map(Float::Const),
        1 => (prop::sample::select(vec![1u8, 8, 16, 24, 25, 32]), any::<bool>()).prop_map(|(w, s)| Float::Small(w, s)),
    ];
    leaf.prop_recursive(depth, 10, 3, move |inner| {
        let binary = prop::sample::select(vec![FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Rem]);
        let mut unary = vec![FloatOp::Sqrt, FloatOp::Convert(format)];
        unary.extend(Rounding::ALL.map(FloatOp::Round));
        prop_oneof![
            6 => (binary, inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Float::Bin(op, Box::new(a), Box::new(b))),
            2 => (prop::sample::select(unary), inner.clone()).prop_map(|(op, a)| Float::Un(op, Box::new(a))),
            1 => inner.clone().prop_map(|a| Float::Neg(Box::new(a))),
            1 => inner.clone().prop_map(|a| Float::Abs(Box::new(a))),
            1 => inner.clone().prop_map(|a| Float::Detour(Box::new(a))),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| Float::Fma(Box::new([a, b, c]))),
            2 => (prop::sample::select(vec![8u8, 16, 31, 32, 33, 64]), any::<bool>(), inner.clone())
                .prop_map(|(w, s, a)| Float::Integer(w, s, Box::new(a))),
            1 => (compare(), inner.clone(), inner.clone(), inner.clone(), inner).prop_map(|(op, x, y, a, b)| {
                Float::Choice(Box::new(Truth::Cmp(op, Box::new(x), Box::new(y))), Box::new(a), Box::new(b))
            }),
        ]
    })
    .boxed()
}
