//! Values that are larger than a register, in `generate`: 128-bit integers, vectors, complex numbers, variable-length
//! arrays of several ranks. Every verdict is decided and every test agrees with the compiled program.

use serde_json::Value;
use std::process::Command;

/// The report of all paths of `f`, replayed.
fn explore(source: &str) -> Value {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("f.c"), source).expect("the source is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(scratch.path()).args(["generate", "f.c", "-f", "f", "-c", "paths,mcdc", "-q"]);
    let output = command.args(["--format", "json"]).output().expect("touchstone runs");
    assert!(output.status.success(), "{source}\n{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// Checks the number of paths, and of those that end in an error.
#[track_caller]
fn check(source: &str, paths: u64, errors: u64) -> Value {
    let report = explore(&format!("typedef __int128 s128;\ntypedef unsigned __int128 u128;\n{source}\n"));
    let function = &report["functions"][0];
    assert_eq!(function["paths"]["incomplete"], 0, "{source}\n{function}");
    assert_eq!(function["paths"]["explored"], paths, "{source}\n{function}");
    assert_eq!(function["paths"]["error"], errors, "{source}\n{function}");
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["replay"], "agreed", "{source}\n{test}");
    }
    report
}

#[test]
fn wide_parameters_and_results_are_inputs_and_outputs() {
    let report = check("int f(s128 a) { return a > (s128)1 << 100 ? 1 : a < -((s128)1 << 90) ? 2 : 3; }", 3, 0);
    let inputs: Vec<i128> = report["tests"]
        .as_array()
        .expect("tests")
        .iter()
        .map(|test| match &test["inputs"]["a"] {
            Value::String(text) => text.parse().expect("a number"),
            number => i128::from(number.as_i64().expect("a number")),
        })
        .collect();
    assert!(inputs.iter().any(|&a| a > 1 << 100) && inputs.iter().any(|&a| a < -(1 << 90)), "{inputs:?}");
    check("u128 f(u128 a, s128 b) { if (a == (u128)b) return a + 1; return a ^ (u128)b; }", 2, 0);
    check("s128 f(long a, long b) { s128 p = (s128)a * b; return p > 1000000000000 ? -p : p; }", 2, 0);
    check("struct s { char c; s128 w; }; s128 f(struct s s) { s.w += s.c; return s.w < 0 ? -s.w : s.w; }", 2, 0);
    check("s128 total; void f(int by) { if (total > by) total -= by; else total = (s128)by << 64; }", 2, 0);
    check("void f(u128 *p) { if (p && *p >> 64 == 7) *p = ~*p; }", 3, 0);
}

#[test]
fn the_high_half_of_a_product_is_found() {
    check("int f(unsigned long a) { return (unsigned long)((u128)a * 10 >> 64) == 7 ? 1 : 2; }", 2, 0);
    check("int f(long a) { return (s128)a * -3 >> 64 == 1 ? 1 : 2; }", 2, 0);
}

#[test]
fn shifts_by_unknown_amounts_are_one_path() {
    check("int f(unsigned n) { u128 w = (u128)1 << (n & 127); return w >> 64 == 4 ? 1 : 2; }", 2, 0);
    check("int f(unsigned n) { s128 w = ((s128)-5 << 64) >> (n & 127); return w == -1 ? 1 : 2; }", 2, 0);
}

#[test]
fn division_by_zero_is_found_and_division_by_a_constant_is_no_outcome() {
    check("int f(int a) { s128 w = (s128)1 << 70; return w / a == 1 ? 4 : 5; }", 2, 1);
}

#[test]
fn wide_conditions_are_decisions() {
    let report = check("int f(s128 a, u128 b) { if (a && b > 9) return 1; return 0; }", 3, 0);
    assert_eq!(report["functions"][1]["objectives"]["covered"], 4, "{}", report["functions"][1]);
}

#[test]
fn wide_switches_and_overflow_checks_have_their_paths() {
    check(
        "int f(s128 a) { switch (a) { case -1: return 1; case 5: return 2; default: return a >> 64 == 7 ? 3 : 4; } }",
        4,
        0,
    );
    check("int f(u128 a) { switch (a) { case 0: return 1; case 0xffffffffffffffff: return 2; } return 3; }", 3, 0);
    check("int f(s128 a, s128 b) { s128 r; return __builtin_add_overflow(a, b, &r) ? 1 : 2; }", 2, 0);
    check("int f(u128 a, long b) { int r; return __builtin_sub_overflow(a, b, &r) ? 1 : r == 7 ? 3 : 2; }", 3, 0);
}

#[test]
fn vectors_are_computed_lane_by_lane() {
    let vector = "typedef unsigned v4 __attribute__((vector_size(16)));\n";
    let lanes = "int f(unsigned a, unsigned b) {
        v4 x = {a, b, 3, 4}, y = x * x + 1;
        y[2] ^= b;
        return y[1] == 50 ? 1 : (x < y)[0] ? 2 : 3;
    }";
    check(&format!("{vector}{lanes}"), 3, 0);
    let passed = "static v4 twice(v4 v) { return v + v; }
    int f(int a) { v4 x = {1, 2, 3, (unsigned)a}; return twice(x)[3] == 14 ? 1 : 2; }";
    check(&format!("{vector}{passed}"), 2, 0);
}

#[test]
fn complex_numbers_are_computed_part_by_part() {
    check(
        "int f(signed char a, signed char b) {
            _Complex int z = a + b * 1i;
            z = z * z;
            return __real__ z == 3 && __imag__ z == 4 ? 1 : 2;
        }",
        3,
        0,
    );
    check("int f(int a) { _Complex double z = a + 2.0i; z += 1.5 - 1.0i; return z == 4.5 + 1.0i ? 1 : 2; }", 2, 0);
}

#[test]
fn arrays_of_several_variable_ranks_have_their_strides() {
    check(
        "int f(int m) {
            if (m < 2 || m > 3) return 0;
            char a[2][m];
            a[1][m - 1] = 5;
            a[0][1] = 1;
            return sizeof a == 6 ? a[1][2] : a[1][1];
        }",
        4,
        0,
    );
    check(
        "static int at(int m, int a[][m], int i) { return a[1][i]; }
        int f(int i) { int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; if (i < 0 || i > 2) return 0; return at(3, a, i) == 5; }",
        3,
        0,
    );
}
