//! `generate --on-top-of` and `prove --on-top-of`: a measured suite is the beginning, only what it lacks is added.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn touchstone(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(folder).output().expect("touchstone runs")
}

#[track_caller]
fn json(run: &Output) -> Value {
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{said}"))
}

const CLAMP: &str = "\
int clamp(int x, int low, int high) {
    if (low > high)
        return -1;
    if (x < low || x > high)
        return x < low ? low : high;
    if (x > high)
        return 77;
    return x;
}
";

const SUITE: &str = "\
#include <assert.h>
int clamp(int, int, int);
int main(void) {
    assert(clamp(5, 0, 9) == 5);
    assert(clamp(-5, 0, 9) == 0);
    return 0;
}
";

/// A folder with `clamp.c`, a suite for it, and its measurement in `cov`.
fn measured() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("clamp.c"), CLAMP).expect("writable");
    std::fs::write(folder.path().join("suite.c"), SUITE).expect("writable");
    let run = touchstone(
        folder.path(),
        &["measure", "-c", "branch,mcdc", "-o", "cov", "--", "sh", "-c", "cc -o suite suite.c clamp.c && ./suite"],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    folder
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().expect("a list")
}

#[test]
fn only_what_a_measured_suite_lacks_gets_tests_and_both_together_cover_everything() {
    let folder = measured();
    let alone = ["generate", "clamp.c", "-c", "branch,mcdc", "-o", "alone", "--format", "json", "-q"];
    let alone = json(&touchstone(folder.path(), &alone));
    let words =
        ["generate", "clamp.c", "-c", "branch,mcdc", "--on-top-of", "cov", "-o", "out", "--format", "json", "-q"];
    let on_top = json(&touchstone(folder.path(), &words));
    let made = list(&on_top, "tests").iter().filter(|test| test["outcome"] != "measured").collect::<Vec<_>>();
    assert!(!made.is_empty() && made.len() < list(&alone, "tests").len(), "{on_top:#}");
    for test in made {
        assert_eq!(test["replay"], "agreed");
    }
    // The same verdicts, whoever covers.
    let verdicts = |report: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().expect("text").to_string();
        list(report, "objectives").iter().map(|o| (text(&o["id"]), text(&o["status"]))).collect()
    };
    assert_eq!(verdicts(&alone), verdicts(&on_top));
    let by_suite = list(&on_top, "objectives").iter().filter(|o| list(o, "tests").iter().any(|test| test == "suite"));
    assert!(by_suite.count() > 5, "{on_top:#}");

    // The suite and the new tests, measured together.
    let text = std::fs::read_to_string(folder.path().join("out/test_clamp.c")).expect("a suite");
    let build = text.lines().find_map(|line| line.strip_prefix(" *     ")).expect("how to build it");
    let run = touchstone(
        folder.path(),
        &["measure", "-c", "branch,mcdc", "-o", "cov", "--keep", "--", "sh", "-c", &format!("{build} >log")],
    );
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let words = ["prove", "clamp.c", "-c", "branch,mcdc", "--on-top-of", "cov", "-o", "p", "--format", "json", "-q"];
    let proved = json(&touchstone(folder.path(), &words));
    assert_eq!(verdicts(&alone), verdicts(&proved));
}

#[test]
fn prove_tells_what_the_suite_lacks_from_what_no_test_can_cover() {
    let folder = measured();
    let words = ["prove", "clamp.c", "-c", "branch", "--on-top-of", "cov", "-o", "out", "--format", "json", "-q"];
    let proved = json(&touchstone(folder.path(), &words));
    let with = |status: &str| -> Vec<String> {
        let matching = list(&proved, "objectives").iter().filter(|objective| objective["status"] == status);
        matching
            .map(|objective| format!("{}: {}", objective["line"], objective["text"].as_str().expect("text")))
            .collect()
    };
    // `x > high` after `x < low || x > high` is never true.
    assert_eq!(with("infeasible").len(), 1, "{proved:#}");
    assert!(with("infeasible")[0].starts_with("6:"), "{proved:#}");
    // low > high, and a value above.
    assert_eq!(with("uncovered").len(), 2, "{proved:#}");
    assert_eq!(with("covered").len(), 5, "{proved:#}");
}

#[test]
fn what_is_no_measurement_or_lacks_the_criterion_is_an_error_that_says_what_to_do() {
    let folder = measured();
    let check = |words: &[&str], message: &str| {
        let run = touchstone(folder.path(), words);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!run.status.success() && said.contains(message), "{said}");
    };
    check(&["generate", "clamp.c", "--on-top-of", "."], "holds no measurement");
    check(&["generate", "clamp.c", "-c", "stmt", "--on-top-of", "cov"], "measure again with -c stmt");
}
