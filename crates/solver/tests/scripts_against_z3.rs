//! SMT-LIB scripts mean what our terms mean: with all variables fixed, Z3 finds the value that we compute, and no other.
//!
//! The `z3` command answers (Debian: z3; `Z3=/path/to/z3` names another one).

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use touchstone_solver::{Element, FloatFormat, FloatOp, Model, Op, Rounding, TermId, Terms};

/// Scripts with the expected answer, `sat` or `unsat`.
#[derive(Default)]
struct Questions {
    script: String,
    expected: Vec<(&'static str, String)>,
}

impl Questions {
    /// Asks for the value of a term at these values of variables.
    fn add(&mut self, terms: &mut Terms, fixed: &[(TermId, u64)], term: TermId, what: &str) {
        let mut constraints: Vec<TermId> = Vec::new();
        let mut values = Vec::new();
        for &(var, value) in fixed {
            values.push((terms.support(var)[0], value));
            let value = terms.constant(terms.width(var), value);
            constraints.push(terms.eq(var, value));
        }
        let value = Model::from_values(values).eval(terms, term);
        let constant = terms.constant(terms.width(term), value);
        let same = terms.eq(term, constant);
        let other = terms.not(same);
        for (condition, answer) in [(same, "sat"), (other, "unsat")] {
            constraints.push(condition);
            let script = terms.smt_script(&constraints);
            constraints.pop();
            assert!(script.unconstrained.is_empty(), "{what}");
            let _ = writeln!(self.script, "(reset)\n(set-logic {})\n{}(check-sat)", script.logic, script.text);
            self.expected.push((answer, format!("{what} of {fixed:x?} is {value:#x}: {}", script.text)));
        }
    }

    fn ask(self) {
        let command = std::env::var("Z3").unwrap_or_else(|_| "z3".to_string());
        let mut child = Command::new(&command)
            .args(["-in", "-smt2"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{command}: {e}; install Z3 (Debian: z3) or set Z3 to its path"));
        let mut input = child.stdin.take().expect("it is piped");
        let script = self.script;
        let writer = std::thread::spawn(move || input.write_all(script.as_bytes()));
        let output = child.wait_with_output().expect("z3 ends");
        writer.join().expect("no panic").expect("z3 reads");
        let text = String::from_utf8_lossy(&output.stdout);
        let answers: Vec<&str> = text.lines().collect();
        assert_eq!(answers.len(), self.expected.len(), "{text}");
        for (answer, (expected, what)) in answers.into_iter().zip(&self.expected) {
            assert_eq!(answer, *expected, "{what}");
        }
    }
}

/// Patterns of zeros, subnormals, ones, limits of integers, infinities, NaNs of all kinds.
fn patterns(format: FloatFormat) -> Vec<u64> {
    let numbers = [0.0, -0.0, 1.5, -2.5, 0.1, 2147483648.0, -2147483649.0, 9223372036854775808.0, -1e19, 1.9e19, 1e300];
    let quiet = format.default_nan() ^ format.sign_mask() | 5;
    let signalling = format.infinity() | 9;
    let special = [1, format.infinity(), format.default_nan(), quiet, signalling, signalling | format.sign_mask()];
    numbers.map(|number| format.of(number)).into_iter().chain(special).collect()
}

#[test]
fn float_operations_have_our_results_to_the_last_bit() {
    let mut questions = Questions::default();
    for format in [FloatFormat::F32, FloatFormat::F64] {
        let patterns = patterns(format);
        let unary = Rounding::ALL.map(FloatOp::Round).into_iter();
        let unary = unary.chain([FloatFormat::F32, FloatFormat::F64].map(FloatOp::Convert));
        let unary = unary.chain([8, 16, 32, 64].map(FloatOp::ToSigned)).chain([8, 16, 32, 64].map(FloatOp::ToUnsigned));
        let unary = unary.chain([FloatOp::Sqrt]);
        for op in unary {
            for &pattern in &patterns {
                let mut terms = Terms::new();
                let x = terms.var(format.bits(), "x");
                let result = terms.float(op, format, &[x]);
                questions.add(&mut terms, &[(x, pattern)], result, &format!("{op:?} {format}"));
            }
        }
        for op in [FloatOp::FromSigned(64), FloatOp::FromUnsigned(64), FloatOp::FromSigned(8)] {
            for integer in [0, 1, 200, 1 << 31, 1 << 63, u64::MAX, 0x1234_5678_9abc_def0] {
                let mut terms = Terms::new();
                let width = op.argument_bits(format);
                let x = terms.var(width, "x");
                let result = terms.float(op, format, &[x]);
                let integer = integer & (u64::MAX >> (64 - width));
                questions.add(&mut terms, &[(x, integer)], result, &format!("{op:?} {format}"));
            }
        }
        let plain = [FloatOp::Add, FloatOp::Sub, FloatOp::Mul, FloatOp::Div, FloatOp::Eq, FloatOp::Lt, FloatOp::Le];
        for op in plain {
            for (k, &a) in patterns.iter().enumerate() {
                for &b in patterns.iter().skip(k % 3).step_by(3) {
                    let mut terms = Terms::new();
                    let (x, y) = (terms.var(format.bits(), "x"), terms.var(format.bits(), "y"));
                    let result = terms.float(op, format, &[x, y]);
                    questions.add(&mut terms, &[(x, a), (y, b)], result, &format!("{op:?} {format}"));
                }
            }
        }
        for (k, &a) in patterns.iter().enumerate() {
            let (b, c) = (patterns[(k * 5 + 2) % patterns.len()], patterns[(k * 7 + 3) % patterns.len()]);
            let mut terms = Terms::new();
            let [x, y, z] = ["x", "y", "z"].map(|name| terms.var(format.bits(), name));
            let result = terms.float(FloatOp::Fma, format, &[x, y, z]);
            questions.add(&mut terms, &[(x, a), (y, b), (z, c)], result, &format!("fma {format}"));
        }
    }
    questions.ask();
}

#[test]
fn integer_operations_have_our_results() {
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
    let mut questions = Questions::default();
    for op in OPS {
        for width in [1, 5, 8, 64] {
            let top = 1 << (width - 1);
            for (a, b) in [(0, 0), (top, 1), (top, top), (1, 0), (top | 1, top >> 1), (top - (top > 1) as u64, 3)] {
                let mask = u64::MAX >> (64 - width);
                let mut terms = Terms::new();
                let (x, y) = (terms.var(width, "x"), terms.var(width, "y"));
                let result = terms.bin(op, x, y);
                questions.add(&mut terms, &[(x, a & mask), (y, b & mask)], result, &format!("{op:?} {width}"));
            }
        }
    }
    questions.ask();
}

#[test]
fn reads_after_writes_have_our_results_also_out_of_bounds() {
    let mut questions = Questions::default();
    for (i, j) in [(0, 0), (1, 2), (2, 1), (4, 3), (5, 0), (6, 6), (7, 9), (u64::MAX, 0), (0, u64::MAX), (u64::MAX, 1)]
    {
        for bytes in [1, 2, 4] {
            let mut terms = Terms::new();
            let (a, b) = (terms.var(32, "a"), terms.var(16, "b"));
            let (at, to) = (terms.var(64, "i"), terms.var(64, "j"));
            let elements = vec![Element { offset: 0, bytes: 4, term: a }, Element { offset: 4, bytes: 2, term: b }];
            let base = terms.base_array(6, elements);
            let value = terms.extract(a, 8, 16);
            let written = terms.store(base, to, value, 2);
            let read = terms.read(written, at, bytes);
            let fixed = [(a, 0x4433_2211), (b, 0x6655), (at, i), (to, j)];
            questions.add(&mut terms, &fixed, read, &format!("{bytes} bytes"));
        }
    }
    questions.ask();
}
