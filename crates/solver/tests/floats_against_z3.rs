//! Our verdicts about floats against Z3's. The Rust binding of Z3 can't name rounding to nearest, so the questions are
//! written as SMT-LIB and the `z3` command answers them (Debian: z3; `Z3=/path/to/z3` names another one).
//!
//! Questions that SMT-LIB leaves open (conversions out of range, bits of NaNs) are spelled out or avoided.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

mod float_trees;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use float_trees::{Builder, F32, F64, Float, Truth, float_of, truth_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use touchstone_base::Id;
use touchstone_solver::{Answer, Config, FloatFormat, FloatOp, Path, Rounding, Solver, Terms, VarId};

fn sort(format: FloatFormat) -> &'static str {
    if format == F32 { "(_ to_fp 8 24)" } else { "(_ to_fp 11 53)" }
}

fn pattern(width: u8, value: u64) -> String {
    format!("#x{value:0digits$x}", digits = usize::from(width / 4))
}

fn constant(format: FloatFormat, bits: u64) -> String {
    format!("({} {})", sort(format), pattern(format.bits(), bits))
}

/// The signed integer of a float as x86 has it.
fn integer(format: FloatFormat, width: u8, float: &str) -> String {
    let limit = 2f64.powi(i32::from(width) - 1);
    let (low, high) = (constant(format, format.of(-limit)), constant(format, format.of(limit)));
    let indefinite = pattern(width, 1 << (width - 1));
    format!(
        "(let ((r (fp.roundToIntegral RTZ {float}))) \
         (ite (and (fp.leq {low} r) (fp.lt r {high})) ((_ fp.to_sbv {width}) RTZ r) {indefinite}))"
    )
}

fn float(f: &Float, format: FloatFormat) -> Option<String> {
    let of = |f: &Float| float(f, format);
    let own = sort(format);
    Some(match f {
        Float::Var(v) => format!("({own} {})", ["x", "y"][usize::from(*v)]),
        Float::Const(c) => constant(format, *c & float_trees::mask(format.bits())),
        Float::Neg(a) => format!("(fp.neg {})", of(a)?),
        Float::Abs(a) => format!("(fp.abs {})", of(a)?),
        Float::Bin(op, a, b) => {
            let name = match op {
                FloatOp::Add => "add",
                FloatOp::Sub => "sub",
                FloatOp::Mul => "mul",
                FloatOp::Div => "div",
                // C's remainder is not that of IEEE-754.
                _ => return None,
            };
            format!("(fp.{name} RNE {} {})", of(a)?, of(b)?)
        }
        Float::Un(FloatOp::Sqrt, a) => format!("(fp.sqrt RNE {})", of(a)?),
        Float::Un(FloatOp::Round(mode), a) => {
            let mode = match mode {
                Rounding::Floor => "RTN",
                Rounding::Ceil => "RTP",
                Rounding::Trunc => "RTZ",
                Rounding::Even => "RNE",
                Rounding::Away => "RNA",
            };
            format!("(fp.roundToIntegral {mode} {})", of(a)?)
        }
        Float::Un(_, a) => of(a)?,
        Float::Fma(args) => format!("(fp.fma RNE {} {} {})", of(&args[0])?, of(&args[1])?, of(&args[2])?),
        Float::Detour(a) => format!("({own} RNE ({} RNE {}))", sort(float_trees::other(format)), of(a)?),
        Float::Integer(width @ (32 | 64), true, a) => {
            format!("({own} RNE {})", integer(format, *width, &of(a)?))
        }
        Float::Integer(..) => return None,
        Float::Small(width, true) => format!("({own} RNE ((_ extract {} 0) x))", width - 1),
        Float::Small(width, false) => {
            format!("({} RNE ((_ extract {} 0) x))", own.replace("to_fp", "to_fp_unsigned"), width - 1)
        }
        Float::Choice(c, a, b) => format!("(ite {} {} {})", truth(c, format)?, of(a)?, of(b)?),
    })
}

fn truth(t: &Truth, format: FloatFormat) -> Option<String> {
    let name = |op: &FloatOp| match op {
        FloatOp::Eq => "fp.eq",
        FloatOp::Lt => "fp.lt",
        _ => "fp.leq",
    };
    Some(match t {
        Truth::Cmp(op, a, b) => format!("({} {} {})", name(op), float(a, format)?, float(b, format)?),
        Truth::Wide(op, swapped, a, c) => {
            let a = format!("({} RNE {})", sort(F64), float(a, format)?);
            let c = constant(F64, *c);
            let (a, b) = if *swapped { (c, a) } else { (a, c) };
            format!("({} {a} {b})", name(op))
        }
        Truth::IsNan(a) => format!("(fp.isNaN {})", float(a, format)?),
        Truth::Not(a) => format!("(not {})", truth(a, format)?),
        Truth::And(a, b) => format!("(and {} {})", truth(a, format)?, truth(b, format)?),
        Truth::IntegerIs(8, value, a) => {
            let low = pattern(8, *value & 255);
            format!("(= ((_ extract 7 0) {}) {low})", integer(format, 32, &float(a, format)?))
        }
        Truth::IntegerIs(width, value, a) => {
            let value = pattern(*width, *value & float_trees::mask(*width));
            format!("(= {} {value})", integer(format, *width, &float(a, format)?))
        }
    })
}

/// Z3's answers to a script, one line each.
fn ask(script: &str) -> Vec<String> {
    let command = std::env::var("Z3").unwrap_or_else(|_| "z3".to_string());
    let mut child = Command::new(&command)
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|e| panic!("{command}: {e}; install Z3 (Debian: z3) or set Z3 to its path"));
    let mut input = child.stdin.take().expect("it is piped");
    let text = script.to_string();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    writer.join().expect("no panic").expect("z3 reads");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

fn compare(format: FloatFormat, count: usize, seed: u8) -> (usize, usize, usize) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let strategy = prop::collection::vec(truth_of(format, float_of(format, if format == F32 { 2 } else { 1 })), 1..=3);
    let mut script = String::from("(set-option :rlimit 500000)\n");
    let mut ours = Vec::new();
    while ours.len() < count {
        let conditions = strategy.new_tree(&mut runner).expect("a value").current();
        let Some(text) = conditions.iter().map(|c| truth(c, format)).collect::<Option<Vec<String>>>() else { continue };
        let mut terms = Terms::new();
        let vars = ["x", "y"].map(|name| terms.var(format.bits(), name));
        let mut all = terms.truth(true);
        for condition in &conditions {
            let term = condition.build(&mut Builder { terms: &mut terms, vars, format });
            all = terms.and(all, term);
        }
        let mut solver = Solver::new(Config { conflicts: Some(3000), ..Config::default() });
        let answer = solver.check(&mut terms, &Path::new(), all);
        let width = format.bits();
        let _ = writeln!(script, "(push)(declare-const x (_ BitVec {width}))(declare-const y (_ BitVec {width}))");
        for condition in &text {
            let _ = writeln!(script, "(assert {condition})");
        }
        if let Answer::Sat(model) = &answer {
            let values = [0, 1].map(|k| model.value(VarId::new(k)));
            assert!(conditions.iter().all(|c| c.eval(format, values)), "the model is none: {}", terms.display(all));
            // The model itself is put to the question, which is easier and says more.
            for (k, name) in ["x", "y"].into_iter().enumerate() {
                let _ = writeln!(script, "(assert (= {name} {}))", pattern(width, model.value(VarId::new(k))));
            }
        }
        let _ = writeln!(script, "(check-sat)(pop)");
        ours.push((answer, terms.display(all).to_string(), text));
    }
    let theirs = ask(&script);
    assert_eq!(theirs.len(), ours.len(), "{theirs:?}");
    let (mut sat, mut unsat, mut unconfirmed) = (0, 0, 0);
    for ((answer, shown, text), their) in ours.iter().zip(&theirs) {
        match (answer, their.as_str()) {
            (Answer::Sat(_), "sat") => sat += 1,
            (Answer::Unsat, "unsat") => unsat += 1,
            (Answer::Unknown(_), _) => {}
            (_, "unknown") => unconfirmed += 1,
            (Answer::Sat(model), _) => {
                panic!("not a model: {:x?} of {shown}\n{text:?}: {their}", model.values().collect::<Vec<_>>())
            }
            (Answer::Unsat, _) => panic!("not infeasible: {shown}\n{text:?}: {their}"),
        }
    }
    (sat, unsat, unconfirmed)
}

#[test]
fn verdicts_about_floats_agree_with_z3() {
    let count = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    for (format, seed) in [(F32, 1), (F64, 2)] {
        let (sat, unsat, unconfirmed) = compare(format, count, seed);
        println!("{format}: {count} questions, {sat} satisfiable, {unsat} not, {unconfirmed} unconfirmed by Z3");
        assert!(sat * 4 > count && unsat * 20 > count, "too little to compare");
    }
}
