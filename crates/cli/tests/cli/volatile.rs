//! `--volatile fresh`: every read of a volatile global, or through a pointer to volatile, is an input of its own.

use serde_json::Value;
use std::process::Command;

fn explore(source: &str, arguments: &[&str]) -> Value {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("f.c"), source).expect("the source is written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(scratch.path()).args(["generate", "f.c", "-f", "f", "-c", "paths,mcdc", "-q"]).args(arguments);
    let output = command.args(["--format", "json"]).output().expect("touchstone runs");
    assert!(output.status.success(), "{source}\n{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// The number of paths as memory is, and with new values at every read.
#[track_caller]
fn check(source: &str, memory: u64, fresh: u64) {
    for (arguments, paths) in [(&[][..], memory), (&["--volatile", "fresh"][..], fresh)] {
        let report = explore(source, arguments);
        let function = &report["functions"][0];
        // Only doubts are left: no proof rests on what memory holds, nor on a volatile pointer.
        let reasons = function["incomplete"].as_array().expect("reasons");
        let doubts = |reason: &Value| reason["why"].as_str().is_some_and(|why| why.starts_with("world: "));
        assert!(reasons.iter().all(doubts), "{source}\n{function}");
        assert_eq!(function["paths"]["explored"], paths, "{source} {arguments:?}\n{function}");
        for test in report["tests"].as_array().expect("tests") {
            assert_ne!(test["replay"], "disagreed", "{source}\n{test}");
        }
    }
}

#[test]
fn two_reads_of_a_volatile_object_may_differ() {
    check("volatile int v; int f(void) { int a = v; return a == v ? 1 : 2; }", 1, 2);
    check("volatile unsigned char *r; int f(void) { if (!r) return 0; return *r != *r ? 1 : 2; }", 2, 3);
    check("struct d { volatile int s; int t; }; int f(struct d *d) { return d->s - d->s > 4 ? 1 : 2; }", 2, 3);
    check("volatile int v[2]; int f(void) { if (v[0] == 3 && v[0] == 4) return 1; return 2; }", 2, 3);
    check("volatile _Bool b; int f(void) { return b + b == 1 ? 1 : 2; }", 1, 2);
    check("volatile int v; int f(void) { v = 3; return v == 3 ? 1 : 2; }", 1, 2);
    check("volatile int v; int f(int n) { v = n; v++; return v == n ? 1 : 2; }", 1, 2);
}

#[test]
fn other_objects_are_read_from_memory() {
    check("int v; int f(void) { return v == v ? 1 : 2; }", 1, 1);
    check("int f(int n) { volatile int v = n; return v == v ? 1 : 2; }", 1, 1);
    check("int f(int n) { volatile int v[2] = {n, n}; return v[0] == v[1] ? 1 : 2; }", 1, 1);
    check("int g; int *volatile p = &g; int f(void) { return p == p ? 1 : 2; }", 1, 1);
}

#[test]
fn tests_that_depend_on_volatile_reads_say_why_they_are_not_run() {
    let report = explore("volatile int v; int f(int n) { if (n) return 1; return v != v; }", &["--volatile", "fresh"]);
    let tests = report["tests"].as_array().expect("tests");
    let replays: Vec<&str> = tests.iter().map(|test| test["replay"].as_str().expect("a word")).collect();
    assert!(replays.contains(&"agreed") && replays.contains(&"not_checkable"), "{replays:?}");
    let skipped = tests.iter().find(|test| test["replay"] == "not_checkable").expect("a test");
    assert!(skipped["replay_why"].as_str().is_some_and(|why| why.contains("volatile")), "{skipped}");
}
