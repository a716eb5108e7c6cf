//! Verdicts of one small function, through the command line.

use serde_json::Value;
use std::process::Command;

/// Runs `generate -c branch` on `f` and returns the numbers of covered, infeasible and unknown objectives, and the
/// reasons of the last.
pub fn verdicts(text: &str, options: &[&str]) -> ([u64; 3], String) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("pointers.c");
    std::fs::write(&file, text).expect("a writable scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.env("NO_COLOR", "1").arg("generate").arg(&file).args(["-c", "branch", "-f", "f", "--format", "json", "-o"]);
    let output = command.arg(scratch.path().join("out")).args(options).output().expect("touchstone runs");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{text}\n{}", String::from_utf8_lossy(&output.stderr)));
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["replayed"], true, "{text}\n{test}");
    }
    let found = &report["functions"][0]["objectives"];
    let number = |key: &str| found[key].as_u64().expect("a number");
    let reasons = report["objectives"].as_array().expect("objectives").iter();
    let reasons = reasons.filter(|objective| objective["status"] == "unknown");
    let reasons: Vec<&str> = reasons.filter_map(|objective| objective["why"].as_str()).collect();
    ([number("covered"), number("infeasible"), number("unknown")], reasons.join("\n"))
}

/// The numbers are these.
#[track_caller]
pub fn check(text: &str, options: &[&str], expected: [u64; 3]) {
    let (found, reasons) = verdicts(text, options);
    assert_eq!(found, expected, "{text}\n{reasons}");
}

/// The numbers are these, and this is among the reasons.
#[track_caller]
pub fn check_unknown(text: &str, options: &[&str], expected: [u64; 3], reason: &str) {
    let (found, reasons) = verdicts(text, options);
    assert_eq!(found, expected, "{text}\n{reasons}");
    assert!(reasons.contains(reason), "{reasons:?} without {reason:?}: {text}");
}
