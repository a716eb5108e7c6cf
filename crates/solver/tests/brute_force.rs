//! Random terms and random branchings against a reference that knows nothing of the solver: an expression tree,
//! evaluated with wide arithmetic over every assignment of three small variables.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use proptest::prelude::*;
use touchstone_base::Id;
use touchstone_solver::{Answer, Config, Element, Model, Op, Path, Rel, Side, Solver, TermId, Terms, VarId};

/// Each variable has this many bits.
const BITS: u8 = 3;
/// The width of most expressions.
const WIDE: u8 = 8;
const ASSIGNMENTS: u64 = 1 << (3 * BITS);

/// An expression of `WIDE` bits.
#[derive(Clone, Debug)]
enum Wide {
    Const(u64),
    ZExt(u8),
    SExt(u8),
    Not(Box<Wide>),
    Bin(Op, Box<Wide>, Box<Wide>),
    Ite(Box<Truth>, Box<Wide>, Box<Wide>),
    /// Two cuts of another expression, put together again the other way round.
    Rotate(u8, Box<Wide>),
    /// Through a wider type and back.
    Detour(Op, bool, Box<Wide>, Box<Wide>),
    /// A read after writes; offsets are variables, so all are in bounds.
    Read {
        at: u8,
        two: bool,
        elements: Vec<Wide>,
        writes: Vec<(u8, bool, Wide)>,
    },
}

#[derive(Clone, Debug)]
enum Truth {
    Cmp(Rel, bool, Box<Wide>, Box<Wide>),
    And(Box<Truth>, Box<Truth>),
    Or(Box<Truth>, Box<Truth>),
    Not(Box<Truth>),
    Bit(u8, Box<Wide>),
}

fn var_of(assignment: u64, var: u8) -> u64 {
    assignment >> (BITS * var) & ((1 << BITS) - 1)
}

fn as_signed(value: u64, width: u32) -> i128 {
    let value = i128::from(value);
    if value >> (width - 1) & 1 == 1 { value - (1 << width) } else { value }
}

fn reference_op(op: Op, a: u64, b: u64, width: u32) -> u64 {
    let modulus = 1i128 << width;
    let (x, y) = (i128::from(a), i128::from(b));
    let (sx, sy) = (as_signed(a, width), as_signed(b, width));
    let by = (y % i128::from(width)) as u32;
    let result = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        Op::Mul => x * y,
        Op::UDiv => {
            if y == 0 {
                -1
            } else {
                x / y
            }
        }
        Op::URem => {
            if y == 0 {
                x
            } else {
                x % y
            }
        }
        Op::SDiv => {
            if sy == 0 {
                if sx < 0 { 1 } else { -1 }
            } else {
                sx / sy
            }
        }
        Op::SRem => {
            if sy == 0 {
                sx
            } else {
                sx % sy
            }
        }
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Shl => x << by,
        Op::LShr => x >> by,
        Op::AShr => sx >> by,
    };
    result.rem_euclid(modulus) as u64
}

fn reference_rel(rel: Rel, a: u64, b: u64) -> bool {
    let (sa, sb) = (as_signed(a, 8), as_signed(b, 8));
    match rel {
        Rel::Eq => a == b,
        Rel::Ult => a < b,
        Rel::Ule => a <= b,
        Rel::Slt => sa < sb,
        Rel::Sle => sa <= sb,
    }
}

impl Wide {
    fn eval(&self, asg: u64) -> u64 {
        match self {
            Wide::Const(value) => value & 255,
            Wide::ZExt(var) => var_of(asg, *var),
            Wide::SExt(var) => (as_signed(var_of(asg, *var), u32::from(BITS)) & 255) as u64,
            Wide::Not(a) => 255 - a.eval(asg),
            Wide::Bin(op, a, b) => reference_op(*op, a.eval(asg), b.eval(asg), 8),
            Wide::Ite(c, a, b) => {
                if c.eval(asg) {
                    a.eval(asg)
                } else {
                    b.eval(asg)
                }
            }
            Wide::Rotate(by, a) => {
                let (by, value) = (u32::from(by % 7 + 1), a.eval(asg));
                (value >> by | value << (8 - by)) & 255
            }
            Wide::Detour(op, signed, a, b) => {
                let widen = |v: u64| if *signed { (as_signed(v, 8) & 0xffff_ffff) as u64 } else { v };
                reference_op(*op, widen(a.eval(asg)), widen(b.eval(asg)), 32) & 255
            }
            Wide::Read { at, two, elements, writes } => {
                let mut bytes: Vec<u64> = elements.iter().map(|e| e.eval(asg)).collect();
                for (at, two, value) in writes {
                    let (at, value) = (var_of(asg, *at) as usize, value.eval(asg));
                    bytes[at] = value;
                    if *two {
                        bytes[at + 1] = 255 - value;
                    }
                }
                let at = var_of(asg, *at) as usize;
                if *two { bytes[at] ^ bytes[at + 1] } else { bytes[at] }
            }
        }
    }

    fn build(&self, terms: &mut Terms, vars: &[TermId; 3]) -> TermId {
        match self {
            Wide::Const(value) => terms.constant(WIDE, *value),
            Wide::ZExt(var) => terms.zext(vars[usize::from(*var)], WIDE),
            Wide::SExt(var) => terms.sext(vars[usize::from(*var)], WIDE),
            Wide::Not(a) => {
                let a = a.build(terms, vars);
                terms.not(a)
            }
            Wide::Bin(op, a, b) => {
                let (a, b) = (a.build(terms, vars), b.build(terms, vars));
                terms.bin(*op, a, b)
            }
            Wide::Ite(c, a, b) => {
                let (c, a, b) = (c.build(terms, vars), a.build(terms, vars), b.build(terms, vars));
                terms.ite(c, a, b)
            }
            Wide::Rotate(by, a) => {
                let (by, a) = (by % 7 + 1, a.build(terms, vars));
                let (high, low) = (terms.extract(a, 0, by), terms.extract(a, by, 8 - by));
                terms.concat(high, low)
            }
            Wide::Detour(op, signed, a, b) => {
                let (a, b) = (a.build(terms, vars), b.build(terms, vars));
                let (a, b) = if *signed {
                    (terms.sext(a, 32), terms.sext(b, 32))
                } else {
                    (terms.zext(a, 32), terms.zext(b, 32))
                };
                let wide = terms.bin(*op, a, b);
                terms.extract(wide, 0, 8)
            }
            Wide::Read { at, two, elements, writes } => {
                let elements = elements
                    .iter()
                    .enumerate()
                    .map(|(i, e)| Element { offset: i as u64, bytes: 1, term: e.build(terms, vars) })
                    .collect::<Vec<_>>();
                let mut array = terms.base_array(elements.len() as u64, elements);
                for (at, two, value) in writes {
                    let at = terms.zext(vars[usize::from(*at)], 64);
                    let mut value = value.build(terms, vars);
                    if *two {
                        let high = terms.not(value);
                        value = terms.concat(high, value);
                    }
                    array = terms.store(array, at, value, if *two { 2 } else { 1 });
                }
                let at = terms.zext(vars[usize::from(*at)], 64);
                if !two {
                    return terms.read(array, at, 1);
                }
                let both = terms.read(array, at, 2);
                let (low, high) = (terms.extract(both, 0, 8), terms.extract(both, 8, 8));
                terms.xor(low, high)
            }
        }
    }
}

impl Truth {
    fn eval(&self, asg: u64) -> bool {
        match self {
            Truth::Cmp(rel, negated, a, b) => reference_rel(*rel, a.eval(asg), b.eval(asg)) != *negated,
            Truth::And(a, b) => a.eval(asg) && b.eval(asg),
            Truth::Or(a, b) => a.eval(asg) || b.eval(asg),
            Truth::Not(a) => !a.eval(asg),
            Truth::Bit(k, a) => a.eval(asg) >> (k % 8) & 1 == 1,
        }
    }

    fn build(&self, terms: &mut Terms, vars: &[TermId; 3]) -> TermId {
        match self {
            Truth::Cmp(rel, negated, a, b) => {
                let (a, b) = (a.build(terms, vars), b.build(terms, vars));
                let cmp = terms.cmp(*rel, a, b);
                if *negated { terms.not(cmp) } else { cmp }
            }
            Truth::And(a, b) => {
                let (a, b) = (a.build(terms, vars), b.build(terms, vars));
                terms.and(a, b)
            }
            Truth::Or(a, b) => {
                let (a, b) = (a.build(terms, vars), b.build(terms, vars));
                terms.or(a, b)
            }
            Truth::Not(a) => {
                let a = a.build(terms, vars);
                terms.not(a)
            }
            Truth::Bit(k, a) => {
                let a = a.build(terms, vars);
                terms.extract(a, k % 8, 1)
            }
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop::sample::select(vec![
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
    ])
}

fn rel() -> impl Strategy<Value = Rel> {
    prop::sample::select(vec![Rel::Eq, Rel::Ult, Rel::Ule, Rel::Slt, Rel::Sle])
}

fn leaf() -> impl Strategy<Value = Wide> {
    prop_oneof![
        prop::sample::select(vec![0u64, 1, 2, 3, 7, 8, 127, 128, 252, 255]).prop_map(Wide::Const),
        (0u8..3).prop_map(Wide::ZExt),
        (0u8..3).prop_map(Wide::SExt),
    ]
}

fn truth_of(wide: impl Strategy<Value = Wide> + Clone + 'static) -> impl Strategy<Value = Truth> {
    let atom = prop_oneof![
        5 => (rel(), any::<bool>(), wide.clone(), wide.clone())
            .prop_map(|(r, n, a, b)| Truth::Cmp(r, n, Box::new(a), Box::new(b))),
        1 => (0u8..8, wide).prop_map(|(k, a)| Truth::Bit(k, Box::new(a))),
    ];
    atom.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Truth::And(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Truth::Or(Box::new(a), Box::new(b))),
            inner.prop_map(|a| Truth::Not(Box::new(a))),
        ]
    })
}

fn wide() -> impl Strategy<Value = Wide> + Clone {
    leaf()
        .prop_recursive(4, 24, 4, |inner| {
            let element = prop_oneof![2 => leaf(), 1 => inner.clone()];
            prop_oneof![
                4 => (op(), inner.clone(), inner.clone())
                    .prop_map(|(o, a, b)| Wide::Bin(o, Box::new(a), Box::new(b))),
                1 => inner.clone().prop_map(|a| Wide::Not(Box::new(a))),
                2 => (rel(), inner.clone(), inner.clone(), inner.clone(), inner.clone()).prop_map(|(r, a, b, x, y)| {
                    let condition = Truth::Cmp(r, false, Box::new(a), Box::new(b));
                    Wide::Ite(Box::new(condition), Box::new(x), Box::new(y))
                }),
                1 => (0u8..7, inner.clone()).prop_map(|(by, a)| Wide::Rotate(by, Box::new(a))),
                1 => (op(), any::<bool>(), inner.clone(), inner.clone())
                    .prop_map(|(o, s, a, b)| Wide::Detour(o, s, Box::new(a), Box::new(b))),
                2 => (
                    0u8..3,
                    any::<bool>(),
                    prop::collection::vec(element.clone(), 9),
                    prop::collection::vec((0u8..3, any::<bool>(), element), 0..3),
                )
                    .prop_map(|(at, two, elements, writes)| Wide::Read { at, two, elements, writes }),
            ]
        })
        .boxed()
}

fn fresh(terms: &mut Terms) -> [TermId; 3] {
    ["x", "y", "z"].map(|name| terms.var(BITS, name))
}

/// The third variable is the low part of a wide one, which has too many values to enumerate.
fn fresh_wide(terms: &mut Terms) -> [TermId; 3] {
    let (x, y, z) = (terms.var(BITS, "x"), terms.var(BITS, "y"), terms.var(32, "z"));
    [x, y, terms.extract(z, 0, BITS)]
}

fn model_of(asg: u64) -> Model {
    Model::from_values((0..3).map(|v| (VarId::new(usize::from(v)), var_of(asg, v))))
}

fn assignment_of(model: &Model) -> u64 {
    (0..3).map(|v| (model.value(VarId::new(usize::from(v))) & ((1 << BITS) - 1)) << (BITS * v)).sum()
}

fn configurations() -> Vec<(&'static str, Config)> {
    let default = Config::default();
    vec![
        ("default", default.clone()),
        ("no enumeration", Config { enumeration: 0, ..default.clone() }),
        ("one model, no enumeration", Config { enumeration: 0, pool: 1, ..default.clone() }),
        ("small enumeration, seed", Config { enumeration: 64, pool: 4, seed: 7, ..default }),
    ]
}

/// Explores all paths over the conditions and compares every verdict with brute force.
fn explore(
    conditions: &[Truth],
    config: Config,
    variables: fn(&mut Terms) -> [TermId; 3],
) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let vars = variables(&mut terms);
    let built: Vec<TermId> = conditions.iter().map(|c| c.build(&mut terms, &vars)).collect();
    let mut solver = Solver::new(config);
    let mut work = vec![(Path::new(), (0..ASSIGNMENTS).collect::<Vec<u64>>(), 0usize)];
    while let Some((path, alive, depth)) = work.pop() {
        let asg = assignment_of(&path.model());
        prop_assert!(alive.contains(&asg), "the model {asg} of a path is none");
        for constraint in path.constraints() {
            prop_assert_eq!(path.model().eval(&terms, constraint), 1);
        }
        let Some(&cond) = built.get(depth) else { continue };
        let range = solver.range(&terms, &path, cond);
        let (yes, no): (Vec<u64>, Vec<u64>) = alive.iter().partition(|&&a| conditions[depth].eval(a));
        prop_assert!(yes.is_empty() || range.unsigned.1 == 1);
        prop_assert!(no.is_empty() || range.unsigned.0 == 0);
        match solver.check(&mut terms, &path, cond) {
            Answer::Sat(model) => prop_assert!(yes.contains(&assignment_of(&model))),
            Answer::Unsat => prop_assert!(yes.is_empty()),
            Answer::Unknown(why) => prop_assert!(false, "unknown: {why:?}"),
        }
        let (on_yes, on_no) = solver.branch(&mut terms, &path, cond);
        for (side, expected) in [(on_yes, yes), (on_no, no)] {
            match side {
                Side::Feasible(path) => {
                    prop_assert!(!expected.is_empty(), "feasible, but no assignment is left");
                    work.push((path, expected, depth + 1));
                }
                Side::Infeasible => prop_assert!(expected.is_empty(), "wrongly infeasible: {expected:?}"),
                Side::Unknown(why) => prop_assert!(false, "unknown: {why:?}"),
            }
        }
    }
    Ok(())
}

/// `PROPTEST_CASES`, or enough for every run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(100)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn rewriting_preserves_evaluation(expression in wide()) {
        let mut terms = Terms::new();
        let vars = fresh(&mut terms);
        let term = expression.build(&mut terms, &vars);
        for asg in 0..ASSIGNMENTS {
            prop_assert_eq!(model_of(asg).eval(&terms, term), expression.eval(asg), "{}", terms.display(term));
            prop_assert!(terms.facts(term).admits(expression.eval(asg)));
        }
    }

    #[test]
    fn every_verdict_agrees_with_brute_force(conditions in prop::collection::vec(truth_of(wide()), 1..6)) {
        for (name, config) in configurations() {
            explore(&conditions, config, fresh).map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
        }
    }

    #[test]
    fn every_verdict_agrees_where_a_variable_is_unbounded(conditions in prop::collection::vec(truth_of(wide()), 1..6)) {
        for (name, config) in configurations() {
            explore(&conditions, config, fresh_wide).map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
        }
    }

    #[test]
    fn the_values_of_a_term_are_all_its_values(condition in truth_of(wide()), expression in wide()) {
        for (name, config) in configurations() {
            let mut terms = Terms::new();
            let vars = fresh(&mut terms);
            let cond = condition.build(&mut terms, &vars);
            let term = expression.build(&mut terms, &vars);
            let mut solver = Solver::new(config);
            let mut expected: Vec<u64> =
                (0..ASSIGNMENTS).filter(|&a| condition.eval(a)).map(|a| expression.eval(a)).collect();
            expected.sort_unstable();
            expected.dedup();
            let Side::Feasible(path) = solver.assume(&mut terms, &Path::new(), cond) else {
                prop_assert!(expected.is_empty());
                continue;
            };
            let range = solver.range(&terms, &path, term);
            prop_assert!(expected.iter().all(|&v| range.unsigned.0 <= v && v <= range.unsigned.1), "{}", name);
            let values = solver.values(&mut terms, &path, term, 1000);
            prop_assert!(values.complete);
            prop_assert_eq!(&values.values, &expected, "{}", name);
            let few = solver.values(&mut terms, &path, term, 1);
            prop_assert_eq!(few.values.len(), 1);
            prop_assert_eq!(few.complete, expected.len() == 1);
        }
    }
}
