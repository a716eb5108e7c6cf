//! Objects whose life ends before the function: locals of blocks, compound literals, arrays of variable length; and bytes
//! that were written on some paths only. What goes wrong must be found, and nothing else.

use serde_json::Value;
use std::process::Command;

/// The inputs `n` of the error paths of `f`, each with its kind, and the number of other paths.
fn explore(source: &str) -> (Vec<(i64, String)>, usize) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("f.c"), source).expect("the source is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(scratch.path()).args(["generate", "f.c", "-f", "f", "-c", "paths", "-q", "--no-replay"]);
    let output = command.args(["--format", "json"]).output().expect("touchstone runs");
    assert!(output.status.success(), "{source}\n{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["functions"][0]["paths"]["incomplete"], 0, "{source}");
    let tests = report["tests"].as_array().expect("tests");
    let (bad, good): (Vec<&Value>, Vec<&Value>) = tests.iter().partition(|test| test["outcome"] == "error");
    let bad = bad.iter().map(|test| {
        let kind = test["error"]["kind"].as_str().expect("a kind").to_string();
        (test["inputs"]["n"].as_i64().expect("a number"), kind)
    });
    let mut bad: Vec<(i64, String)> = bad.collect();
    bad.sort();
    (bad, good.len())
}

#[track_caller]
fn check(body: &str, errors: &[(i64, &str)], others: usize) {
    let source = format!("int f(int n) {{ {body} }}\n");
    let (bad, good) = explore(&source);
    let bad: Vec<(i64, &str)> = bad.iter().map(|(n, kind)| (*n, kind.as_str())).collect();
    assert_eq!((bad.as_slice(), good), (errors, others), "{source}");
}

const DANGLING: &str = "dangling pointer";
const UNINITIALISED: &str = "uninitialised read";

#[test]
fn a_local_dies_with_its_block() {
    check("int *p; { int x = n; p = &x; } if (n == 4) return *p; return 0;", &[(4, DANGLING)], 1);
    check("int *p; { int x[2] = {n, 1}; p = x; } return n == 4 ? p[1] : 0;", &[(4, DANGLING)], 1);
    check("struct s { int a; } *p; { struct s x = {n}; p = &x; } return n == 4 ? p->a : 0;", &[(4, DANGLING)], 1);
    check("int *p = &n; for (int i = 0; i < 1; i++) p = &i; return n == 4 ? *p : 0;", &[(4, DANGLING)], 1);
    check("int *p; { p = &(int){n}; } return n == 4 ? *p : 0;", &[(4, DANGLING)], 1);
}

#[test]
fn a_local_dies_however_control_leaves_its_block() {
    check("int *p; for (;;) { int x = n; p = &x; break; } return n == 4 ? *p : 0;", &[(4, DANGLING)], 1);
    check("int *p; { int x = n; p = &x; goto out; } out: return n == 4 ? *p : 0;", &[(4, DANGLING)], 1);
    check(
        "int *p = &n; for (int i = 0; i < 2; i++) { if (i && n == 4) return *p; int x = i; p = &x; continue; } return 0;",
        &[(4, DANGLING)],
        1,
    );
    check("int *p; switch (n) { default: { int x = n; p = &x; break; } } return n == 4 ? *p : 0;", &[(4, DANGLING)], 1);
    check(
        "int *p, m = 2; do { int a[m]; a[0] = n; p = a; break; } while (0); return n == 4 ? *p : 0;",
        &[(4, DANGLING)],
        1,
    );
}

#[test]
fn every_iteration_has_its_own_locals() {
    check(
        "int *p = &n, s = 0; for (int i = 0; i < 2; i++) { int x; if (i && n == 4) s += *p; x = i; p = &x; } return s;",
        &[(4, DANGLING)],
        1,
    );
    check(
        "int s = 0; for (int i = 0; i < 2; i++) { int x, *p = &x; if (i == 0 || n != 4) *p = 1; s += *p; } return s;",
        &[(4, UNINITIALISED)],
        1,
    );
}

#[test]
fn what_is_alive_is_left_alone() {
    check(
        "int s = 0; for (int i = 0; i < 3; i++) { int x = i, *p = &x; if (i == 1) continue; s += *p; } return s;",
        &[],
        1,
    );
    check("int *p, x = 1; { int y = 2; p = &x; n = y; } return *p + n;", &[], 1);
    check("int *p = 0, s = 0; again: { int x = 1; p = &x; s += *p; } if (s < 3) goto again; return s;", &[], 1);
    // A declaration that is jumped over still has its object.
    check(
        "int s = 0; for (int i = 0; i < 2; i++) switch (i) { int x; case 0: case 1: x = 5; int *p = &x; s += *p; } return s;",
        &[],
        1,
    );
    check("int *p = &(int){n}; { p[0]++; } return *p;", &[], 1);
    check("int *p, s = 0; for (p = &(int){3}; *p; p = &(int){0}) s++; return s;", &[], 1);
}

#[test]
fn bytes_that_only_some_paths_wrote_are_not_defined_on_the_others() {
    let range = "if (n < 0 || n > 3) return 0;";
    check(
        &format!("int a[4], b[4]; {range} a[n] = 5; __builtin_memcpy(b, a, sizeof a); return b[2];"),
        &[(3, UNINITIALISED)],
        3,
    );
    check(&format!("int a[4]; {range} a[n] = 5; __builtin_memset(a, 0, 8); return a[1] + a[n & 1];"), &[], 3);
    check(&format!("int a[4]; {range} a[n] = 5; __builtin_memset(a, 0, 8); return a[3];"), &[(2, UNINITIALISED)], 3);
    check(&format!("int x = 1, *t[4]; {range} t[n] = &x; return *t[2];"), &[(3, UNINITIALISED)], 3);
    check(&format!("int x, y, *p; {range} p = n ? &x : &y; *p = 1; return x;"), &[(0, UNINITIALISED)], 3);
}
