//! The C library in generated tests: what the models do with symbolic values, and what is given up by name.

use serde_json::Value;
use std::process::Command;

/// Runs `generate -c paths` on `f` and returns the number of paths, the number of errors, and the reasons of incomplete
/// paths.
fn paths(text: &str, options: &[&str]) -> (u64, u64, Vec<String>) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("library.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.env("NO_COLOR", "1").arg("generate").arg(&file).args(["-c", "paths", "-f", "f", "--format", "json", "-o"]);
    let output = command.arg(scratch.path().join("out")).args(options).output().expect("touchstone runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["replayed"], true, "{text}\n{test}");
    }
    let function = &report["functions"][0];
    let given_up = function["incomplete"].as_array().expect("a list").iter();
    let given_up = given_up.map(|paths| paths["why"].as_str().expect("a reason").to_string()).collect();
    (function["tests"].as_u64().expect("a number"), function["paths"]["error"].as_u64().expect("a number"), given_up)
}

#[track_caller]
fn check(text: &str, options: &[&str], tests: u64) {
    assert_eq!(paths(text, options), (tests, 0, Vec::new()), "{text}");
}

#[track_caller]
fn check_given_up(text: &str, reason: &str) {
    let (_, _, given_up) = paths(text, &["--externals", "named"]);
    assert!(given_up.iter().any(|found| found.contains(reason)), "{given_up:?} without {reason:?}: {text}");
}

#[test]
fn formatted_text_is_symbolic() {
    // One path for one digit, two each for two and three.
    let text = "#include <stdio.h>\n\
        int f(unsigned char x) { char b[8]; sprintf(b, \"%d\", x); return b[1] == '7' && b[2] == 0; }";
    check(text, &[], 5);
    check("#include <stdio.h>\nint f(unsigned char x) { return snprintf(0, 0, \"%u\", x) == 3; }", &[], 3);
    check("#include <stdio.h>\nint f(unsigned char x) { return printf(\"%u\", x) == 2; }", &[], 3);
}

#[test]
fn what_is_printed_splits_no_path() {
    check("#include <stdio.h>\nint f(int x) { printf(\"%d\\n\", x); return 0; }", &[], 1);
    check(
        "#include <stdio.h>\nint f(int x) { fprintf(stderr, \"%d\\n\", x); fputs(\"x\", stdout); return 0; }",
        &[],
        1,
    );
    check("#include <stdio.h>\nint f(int x) { return putchar(x) == 'a'; }", &[], 1);
}

#[test]
fn what_only_one_run_knows_is_given_up_by_name() {
    check_given_up("#include <stdlib.h>\nint f(int x) { return rand() == x; }", "rand");
    check_given_up("#include <stdio.h>\nint f(int x) { return getchar() == x; }", "standard input");
    check_given_up("#include <stdlib.h>\nint f(int x) { return getenv(\"A\") ? x : 0; }", "getenv");
    check_given_up("int g(int); int f(int x) { return g(x); }", "external function g");
}
