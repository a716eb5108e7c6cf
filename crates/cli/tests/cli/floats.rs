//! Floats end to end: random expressions in the interpreter and compiled; random decisions on floats against many inputs;
//! generated tests replayed on the compiled program.
//!
//! Everything is deterministic: a failure names its seed and prints the program. `TOUCHSTONE_LONG=1` tries many more.

// This file uses a part of it.
#[allow(dead_code)]
use crate::support::lowering::lower_file;
use crate::support::rng::Rng;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use touchstone_base::Deadline;
use touchstone_criteria::{NamedValue, Replay, TestCase};
use touchstone_engine::{CallInputs, Config, SearchEvent, Sink, explore, program_arguments, run_function};
use touchstone_interp::{Limits, Machine, PathRecorder};
use touchstone_ir::{DataType, DataValue, FuncId, Module};

fn long() -> bool {
    std::env::var_os("TOUCHSTONE_LONG").is_some()
}

fn write(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("floats.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    file
}

const NUMBERS: [&str; 14] = [
    "0.0",
    "-0.0",
    "1.0",
    "0.5",
    "-1.5",
    "2.0",
    "3.7",
    "100.0",
    "-1e10",
    "1e-3",
    "0.1",
    "1e300",
    "1e-310",
    "16777217.0",
];

/// A random expression of type `double` or `float` over `a`, `b` (double), `x` (float), `n` (int).
fn expression(rng: &mut Rng, depth: u32) -> String {
    if depth == 0 {
        return match rng.below(7) {
            0 | 1 => "a".to_string(),
            2 => "b".to_string(),
            3 | 4 => "x".to_string(),
            5 => "n".to_string(),
            _ => NUMBERS[rng.below(NUMBERS.len())].to_string(),
        };
    }
    let mut part = || expression(rng, depth - 1);
    let (a, b) = (part(), part());
    match rng.below(16) {
        0..=2 => format!("({a} + {b})"),
        3..=5 => format!("({a} - {b})"),
        6..=8 => format!("({a} * {b})"),
        9 => format!("(1.0 * {a} / {b})"),
        10 => format!("(float)({a})"),
        11 => format!("(-({a}))"),
        12 => format!("({a} < {b} ? {a} : {b})"),
        13 => format!("fabs({a})"),
        14 => ["floor", "ceil", "trunc", "rint", "round"][rng.below(5)].to_string() + &format!("({a})"),
        _ => format!("sqrt({a})"),
    }
}

#[test]
fn random_float_expressions_have_the_compilers_values() {
    for seed in 0..if long() { 60 } else { 4 } {
        let mut rng = Rng::new(seed);
        let mut text = "#include <math.h>\n#include <stdio.h>\n#include <string.h>\n\
            static void show(double d) { unsigned long u; memcpy(&u, &d, 8); d == d ? printf(\"%lx\\n\", u) : printf(\"nan\\n\"); }\n"
            .to_string();
        let mut calls = String::new();
        for index in 0..12 {
            let depth = 1 + rng.below(4) as u32;
            let (ty, body) = (if rng.below(2) == 0 { "float" } else { "double" }, expression(&mut rng, depth));
            text += &format!("static {ty} f{index}(double a, double b, float x, int n) {{ return {body}; }}\n");
            text += &format!("static int g{index}(double a, double b, float x, int n) {{ return {body} < a; }}\n");
            calls += &format!("show(f{index}(a, b, x, n)); printf(\"%d\\n\", g{index}(a, b, x, n));");
        }
        text += &format!(
            "double values[] = {{{}, INFINITY, NAN}};\nint main(void) {{ for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) \
             {{ double a = values[i], b = values[j]; float x = values[(i + 3 * j) % 16]; int n = i * j - 40; {calls} }} return 0; }}\n",
            NUMBERS.join(", ")
        );
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let file = write(scratch.path(), &text);
        let module = lower_file(&file);
        let mut machine = Machine::new(&module, Limits { steps: 100_000_000, ..Limits::default() });
        let main = module.function_named("main").expect("a main function");
        let arguments = program_arguments(&mut machine, 0, &[b"program\0".to_vec()]);
        let mut recorder = PathRecorder::default();
        let end = machine.call(main, &arguments, &mut recorder);
        let program = scratch.path().join("program");
        let mut compiler = Command::new("cc");
        compiler.args(["-w", "-O0", "-ffp-contract=off", "-o"]).arg(&program).arg(&file).arg("-lm");
        let built = compiler.output().expect("a C compiler");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let ran = Command::new(&program).output().expect("the program runs");
        let (ours, theirs) = (String::from_utf8_lossy(&recorder.output), String::from_utf8_lossy(&ran.stdout));
        let differing = ours.lines().zip(theirs.lines()).position(|(ours, theirs)| ours != theirs);
        assert!(
            ours == theirs,
            "seed {seed}: {end:?}, first difference in line {differing:?} of {}\n{text}",
            ours.len()
        );
    }
}

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

/// A random condition that a solver should manage: few operations.
fn condition(rng: &mut Rng) -> String {
    let operand = |rng: &mut Rng| match rng.below(6) {
        0 => "a".to_string(),
        1 => "x".to_string(),
        2 => "a + 1".to_string(),
        3 => "x * 2".to_string(),
        4 => format!("a - {}", NUMBERS[rng.below(8)].trim_start_matches('-')),
        _ => NUMBERS[rng.below(10)].to_string(),
    };
    let relation = ["<", "<=", ">", ">=", "==", "!="][rng.below(6)];
    let plain = format!("{} {relation} {}", operand(rng), operand(rng));
    match rng.below(5) {
        0 => format!("!({plain})"),
        1 => format!("{plain} && {} > n", operand(rng)),
        2 => format!("{plain} || n == {}", rng.below(5)),
        _ => plain,
    }
}

#[test]
fn no_input_takes_a_path_that_an_exhaustive_search_did_not_find() {
    let (mut exhaustive, mut all) = (0, 0);
    for seed in 0..if long() { 400 } else { 24 } {
        let mut rng = Rng::new(1000 + seed);
        let mut body = String::new();
        for index in 0..2 + rng.below(2) {
            body += &format!("if ({}) r += {}; ", condition(&mut rng), 1 << index);
        }
        let text = format!("int f(double a, float x, int n) {{ int r = 0; {body} return r; }}\n");
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let module = lower_file(&write(scratch.path(), &text));
        let func = module.function_named("f").expect("the function");
        let config = Config { deadline: Deadline::after(Duration::from_secs(20)), ..Config::default() };
        let mut tests = Collect::default();
        let result = explore(&module, func, &config, &mut tests);
        if let Some(test) = tests.0.iter().find(|test| matches!(test.replayed, Replay::Disagreed(_))) {
            panic!("seed {seed}: {:?} {:?}\n{text}", test.kind, test.replayed);
        }
        all += 1;
        if !result.exhaustive {
            continue;
        }
        exhaustive += 1;
        let found: BTreeSet<u64> = tests.0.iter().map(|test| test.path).collect();
        for inputs in inputs_of(&module, func) {
            let run = run_function(
                &module,
                func,
                CallInputs { earlier: &[], params: &inputs, globals: &[], objects: &[], answers: &[] },
                Limits::default(),
            );
            assert!(found.contains(&run.path), "seed {seed}: {inputs:?} takes a path that was not found\n{text}");
        }
    }
    assert!(exhaustive * 10 >= all * 9, "only {exhaustive} of {all} searches were exhaustive");
}

/// Many inputs: the constants of the program and their neighbours, and what is no number.
fn inputs_of(module: &Module, func: FuncId) -> Vec<Vec<NamedValue>> {
    let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324];
    for number in NUMBERS {
        let number: f64 = number.parse().expect("a number");
        values.extend([number, f64::from_bits(number.to_bits() + 1), -number, number + 1.0, number / 2.0]);
    }
    let params = &module.functions[func].params;
    let mut all = Vec::new();
    for (i, &a) in values.iter().enumerate() {
        for (j, &x) in values.iter().enumerate() {
            let n = ((i + 2 * j) % 7) as u64;
            let given = params.iter().map(|param| {
                let value = match &module.types[param.data] {
                    DataType::Float { format, .. } if param.name == "a" => format.of(a),
                    DataType::Float { format, .. } => format.of(x),
                    _ => n,
                };
                NamedValue { name: param.name.clone(), data: param.data, value: DataValue::Int(value) }
            });
            all.push(given.collect());
        }
    }
    all
}

#[test]
fn functions_with_float_decisions_get_tests_that_the_compiled_program_confirms() {
    let text = "#include <math.h>\n#include <stdlib.h>\n\
        struct point { float x; double y; };\n\
        double limit = 2.5;\n\
        int fever(double t) { if (t > 37.5 && t < 38.0) return 1; return t >= 38.0 ? 2 : 0; }\n\
        int cents(float x) { return (int)(x * 100) == 42 ? 1 : 0; }\n\
        double circle(double x, double y) { if (x * x + y * y < 1.0) return x; if (x * x + y * y == 25.0) return y; return 0; }\n\
        int kind(double x) { if (isnan(x)) return 1; if (isinf(x)) return x > 0 ? 2 : 3; if (x == 0) return signbit(x) ? 4 : 5; return 6; }\n\
        double mixed(int n, double d) { if (n * 0.5 == d) return d + 1; if (d > n) return d / n; return -d; }\n\
        float clamp(float v, float low, float high) { return v < low ? low : v > high ? high : v; }\n\
        double scale(struct point *p) { if (!p) return -1; p->x += 0.5f; if (p->x > limit) limit = p->x; return p->x * p->y; }\n\
        int steps(double x) { int n = 0; while (x > 1 && n < 4) { x /= 2; n++; } return n; }\n\
        int whole(double x) { if (floor(x) == x && fabs(x) < 1e6) return (int)x % 2 == 0 ? 2 : 1; return 0; }\n\
        double root(double a) { if (a < 0) return NAN; double r = sqrt(a); if (r > 10 && r < 11) return r; return fmin(r, 3); }\n";
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = write(scratch.path(), text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command
        .args(["generate", "-c", "paths", "--quiet", "--format", "json", "-o"])
        .arg(scratch.path().join("out"))
        .arg(&file);
    let ran = command.output().expect("touchstone runs");
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&ran.stderr)));
    let tests = report["tests"].as_array().expect("tests");
    for test in tests {
        assert_eq!(test["replay"], "agreed", "{test}");
    }
    for (function, paths) in [
        ("fever", 3),
        ("cents", 2),
        ("circle", 3),
        ("kind", 6),
        ("mixed", 3),
        ("clamp", 3),
        ("steps", 5),
        ("whole", 4),
        ("root", 3),
    ] {
        let of = |test: &&serde_json::Value| test["function"] == function;
        assert!(tests.iter().filter(of).count() >= paths, "{function}: {report:#}");
    }
}

#[test]
fn a_mathematical_function_of_an_input_is_reported_and_never_guessed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = write(
        scratch.path(),
        "#include <math.h>\nint f(double x) { return sin(x) > 2 ? 1 : 0; }\nint g(int n) { return n > cos(0) ? 1 : 0; }\n",
    );
    let module = lower_file(&file);
    let search = |name: &str| {
        let mut tests = Collect::default();
        let func = module.function_named(name).expect("the function");
        let result = explore(&module, func, &Config::default(), &mut tests);
        let why: Vec<String> = result.incomplete.iter().map(|paths| paths.why.to_string()).collect();
        (tests.0.len(), result.exhaustive, why.join("; "))
    };
    let (tests, exhaustive, why) = search("f");
    assert!(tests == 0 && !exhaustive && why.contains("sin of a symbolic value"), "{tests} {exhaustive} {why}");
    assert_eq!(search("g"), (2, true, String::new()));
}
