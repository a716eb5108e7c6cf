//! Floats: rewriting, facts and verdicts against the shared evaluation.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod float_trees;

use float_trees::{Builder, F32, F64, Float, Truth, float_of, pattern, truth_of};
use proptest::prelude::*;
use touchstone_base::Id;
use touchstone_solver::{
    Answer, Config, Element, FloatFormat, FloatOp, Model, Op, Path, Side, Solver, TermId, Terms, VarId,
};

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(150)
}

fn model(vars: [u64; 2]) -> Model {
    Model::from_values((0..2).map(|v| (VarId::new(v), vars[v])))
}

fn fresh(terms: &mut Terms, format: FloatFormat) -> [TermId; 2] {
    ["x", "y"].map(|name| terms.var(format.bits(), name))
}

fn check_rewriting(format: FloatFormat, expression: &Truth, points: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let vars = fresh(&mut terms, format);
    let term = expression.build(&mut Builder { terms: &mut terms, vars, format });
    for &(x, y) in points {
        let value = u64::from(expression.eval(format, [x, y]));
        prop_assert_eq!(model([x, y]).eval(&terms, term), value, "{} at {:#x} {:#x}", terms.display(term), x, y);
        prop_assert!(terms.facts(term).admits(value));
    }
    Ok(())
}

fn check_facts(format: FloatFormat, expression: &Float, points: &[(u64, u64)]) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let vars = fresh(&mut terms, format);
    let term = expression.build(&mut Builder { terms: &mut terms, vars, format });
    for &(x, y) in points {
        let value = expression.eval(format, [x, y]);
        prop_assert_eq!(model([x, y]).eval(&terms, term), value, "{} at {:#x} {:#x}", terms.display(term), x, y);
        prop_assert!(terms.facts(term).admits(value), "{}", terms.display(term));
    }
    Ok(())
}

/// Conditions are given the truth values they have at a point, so there is a model: never unsatisfiable.
fn check_witness(format: FloatFormat, conditions: &[Truth], point: (u64, u64)) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let vars = fresh(&mut terms, format);
    let mut solver = Solver::new(Config { conflicts: Some(60), pool: 2, ..Config::default() });
    let mut path = Path::new();
    for condition in conditions {
        let truth = condition.eval(format, [point.0, point.1]);
        let term = condition.build(&mut Builder { terms: &mut terms, vars, format });
        let term = if truth { term } else { terms.not(term) };
        match solver.check(&mut terms, &path, term) {
            Answer::Sat(found) => prop_assert_eq!(found.eval(&terms, term), 1),
            Answer::Unsat => prop_assert!(false, "wrongly infeasible: {}", terms.display(term)),
            Answer::Unknown(_) => return Ok(()),
        }
        match solver.assume(&mut terms, &path, term) {
            Side::Feasible(next) => path = next,
            Side::Infeasible => prop_assert!(false, "wrongly infeasible: {}", terms.display(term)),
            Side::Unknown(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Both variables choose among a few patterns, so that every verdict can be checked.
fn check_brute_force(
    format: FloatFormat,
    table: &[u64],
    conditions: &[Truth],
    config: Config,
) -> Result<(), TestCaseError> {
    let mut terms = Terms::new();
    let bytes = format.bits() / 8;
    let elements: Vec<Element> = table
        .iter()
        .enumerate()
        .map(|(k, &v)| Element { offset: k as u64 * u64::from(bytes), bytes, term: terms.constant(format.bits(), v) })
        .collect();
    let array = terms.base_array(table.len() as u64 * u64::from(bytes), elements);
    let picked = ["x", "y"].map(|name| {
        let index = terms.var(3, name);
        let index = terms.zext(index, 64);
        let size = terms.constant(64, u64::from(bytes));
        let offset = terms.bin(Op::Mul, index, size);
        terms.read(array, offset, bytes)
    });
    let mut solver = Solver::new(config);
    let mut work = vec![(Path::new(), (0..64u64).collect::<Vec<u64>>(), 0)];
    let point = |k: u64| [table[(k & 7) as usize], table[(k >> 3) as usize]];
    while let Some((path, alive, depth)) = work.pop() {
        let found = path.model();
        let shown = found.value(VarId::new(0)) | found.value(VarId::new(1)) << 3;
        prop_assert!(alive.contains(&shown), "the model of a path is none");
        let Some(condition) = conditions.get(depth) else { continue };
        let term = condition.build(&mut Builder { terms: &mut terms, vars: picked, format });
        let (yes, no): (Vec<u64>, Vec<u64>) = alive.iter().partition(|&&k| condition.eval(format, point(k)));
        let (on_yes, on_no) = solver.branch(&mut terms, &path, term);
        for (side, expected) in [(on_yes, yes), (on_no, no)] {
            match side {
                Side::Feasible(path) => {
                    prop_assert!(!expected.is_empty(), "feasible, but no assignment is left");
                    work.push((path, expected, depth + 1));
                }
                Side::Infeasible => prop_assert!(expected.is_empty(), "wrongly infeasible: {}", terms.display(term)),
                Side::Unknown(why) => prop_assert!(false, "unknown: {why:?}"),
            }
        }
    }
    Ok(())
}

fn points(format: FloatFormat) -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((pattern(format), pattern(format)), 12)
}

fn conditions(format: FloatFormat, depth: u32, most: usize) -> impl Strategy<Value = Vec<Truth>> {
    prop::collection::vec(truth_of(format, float_of(format, depth)), 1..=most)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn rewriting_preserves_the_value_of_floats(narrow in float_of(F32, 3), wide in float_of(F64, 3), p in points(F32), q in points(F64)) {
        check_facts(F32, &narrow, &p)?;
        check_facts(F64, &wide, &q)?;
    }

    #[test]
    fn rewriting_preserves_the_truth_of_conditions(
        narrow in truth_of(F32, float_of(F32, 2)), wide in truth_of(F64, float_of(F64, 2)), p in points(F32), q in points(F64)
    ) {
        check_rewriting(F32, &narrow, &p)?;
        check_rewriting(F64, &wide, &q)?;
    }

    #[test]
    fn what_has_a_model_is_never_infeasible(
        narrow in conditions(F32, 2, 4), wide in conditions(F64, 1, 3), p in (pattern(F32), pattern(F32)), q in (pattern(F64), pattern(F64))
    ) {
        check_witness(F32, &narrow, p)?;
        check_witness(F64, &wide, q)?;
    }

    #[test]
    fn verdicts_agree_with_brute_force_over_a_table_of_patterns(
        table in prop::collection::vec(pattern(F32), 8), conditions in conditions(F32, 2, 4)
    ) {
        check_brute_force(F32, &table, &conditions, Config::default())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases() / 8) })]

    #[test]
    fn the_circuits_agree_with_brute_force_too(
        table in prop::collection::vec(pattern(F32), 8), conditions in conditions(F32, 1, 2)
    ) {
        check_brute_force(F32, &table, &conditions, Config { enumeration: 0, pool: 1, ..Config::default() })?;
    }
}

proptest! {
    #[test]
    fn saturating_conversions_agree_with_the_shared_evaluation(x in pattern(F64), y in pattern(F32)) {
        for format in [F32, F64] {
            for width in [8, 16, 32, 64] {
                let mut terms = Terms::new();
                let [var, _] = fresh(&mut terms, format);
                let op = FloatOp::Saturate(width);
                let term = terms.float(op, format, &[var]);
                for value in [x, y] {
                    let value = value & (u64::MAX >> (64 - format.bits()));
                    let expected = touchstone_base::float::eval(op, format, &[value]);
                    prop_assert_eq!(model([value, 0]).eval(&terms, term), expected, "{:#x} as i{}", value, width);
                    prop_assert!(terms.facts(term).admits(expected));
                }
            }
        }
    }
}
