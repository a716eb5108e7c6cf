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
    // The verdicts are the same, whichever test covers an objective.
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

/// Decisions of every shape, each with some of its objectives covered.
const SHAPES: &str = "\
#include <stdbool.h>
#define BIG(x) ((x) > 100)
int shapes(int a, int b, bool p, bool q) {
    int n = 0;
    if (a > 0 && b > 0) n++;
    if (!(a > 5)) n++;
    if (!p || a == 3) n++;
    if (p != q) n++;
    if (p ^ q) n++;
    if (BIG(a)) n++;
    if ((a < 0) || (b < 0 &&
         a > b)) n++; else n--;
    n += a > 2 ? 1 : 2; n += p ? 1 : 0;
    while (b > 7) b--;
    for (int i = 0; i < a; i++) n += i;
    switch (a) { case 1: n++; break; case 2: n--; break; default: break; }
    if (a == 9) { n = 3; return n; }
    return a && b ? n : -n;
}
int never(int x) { if (x) return 1; return 0; }
";

/// A folder with the shapes, a suite for them, and tools that measure it: each its file, if it is there.
fn measured_by_others() -> (tempfile::TempDir, Vec<&'static str>) {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("shapes.c"), SHAPES).expect("writable");
    let suite = "#include <stdbool.h>\nint shapes(int, int, bool, bool);\nint main(void) {\n    shapes(1, 1, 1, 0); shapes(4, -1, 0, 0);\n    \
                 shapes(0, 9, 1, 1); shapes(-2, -3, 0, 1);\n    return 0;\n}\n";
    std::fs::write(folder.path().join("suite.c"), suite).expect("writable");
    let sh = |line: &str| {
        let run = Command::new("sh").args(["-c", line]).current_dir(folder.path()).output().expect("sh runs");
        run.status.success()
    };
    let mut there = Vec::new();
    let llvm = "clang-19 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc -o l shapes.c suite.c && \
                LLVM_PROFILE_FILE=l.raw ./l && llvm-profdata-19 merge l.raw -o l.prof && \
                llvm-cov-19 export --show-mcdc-summary -instr-profile l.prof ./l > llvm.json && llvm-cov-19 export -format=lcov -instr-profile l.prof ./l > llvm.info";
    if sh(llvm) {
        there.extend(["llvm.json", "llvm.info"]);
    }
    if sh("gcc --coverage -o g shapes.c suite.c && ./g && gcov --json-format --branch-counts g-shapes.gcda && \
           mv g-shapes.gcov.json.gz gcov.json.gz 2>/dev/null || mv shapes.gcov.json.gz gcov.json.gz")
    {
        there.push("gcov.json.gz");
    }
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0");
    assert!(there.len() == 3 || !ci, "only {there:?}: run setup.sh");
    (folder, there)
}

#[test]
fn what_other_tools_measured_counts_and_never_more_than_our_own_measurement_says() {
    let (folder, there) = measured_by_others();
    let criteria = "stmt,branch,condition,mcdc";
    let build = "cc -o suite suite.c shapes.c && ./suite";
    let run = touchstone(folder.path(), &["measure", "-c", criteria, "-o", "own", "--", "sh", "-c", build]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let covered = |suite: &str| -> std::collections::BTreeSet<String> {
        let words = ["prove", "shapes.c", "-c", criteria, "--on-top-of", suite, "-o", "out", "--format", "json", "-q"];
        let report = json(&touchstone(folder.path(), &words));
        let covered = list(&report, "objectives").iter().filter(|objective| objective["status"] == "covered");
        covered.map(|objective| format!("{} {}", objective["id"], objective["text"])).collect()
    };
    let own = covered("own");
    for (suite, least) in [("llvm.json", 35), ("llvm.info", 8), ("gcov.json.gz", 8)] {
        if !there.contains(&suite) {
            continue;
        }
        let theirs = covered(suite);
        let wrong: Vec<&String> = theirs.difference(&own).collect();
        assert!(wrong.is_empty(), "{suite} covers what our own measurement does not: {wrong:#?}");
        assert!(theirs.len() >= least, "{suite}: {} of {}: {theirs:#?}", theirs.len(), own.len());
    }
}

#[test]
fn tests_are_added_to_what_another_tool_measured_and_what_it_can_not_say_is_said() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(folder.path().join("clamp.c"), CLAMP).expect("writable");
    let path = folder.path().join("clamp.c").canonicalize().expect("a path");
    let lcov = format!("SF:{}\nDA:2,3\nDA:3,0\nDA:4,3\nBRDA:2,0,0,1\nBRDA:2,0,1,3\nend_of_record\n", path.display());
    std::fs::write(folder.path().join("cov.info"), lcov).expect("writable");
    let words = ["generate", "clamp.c", "-c", "stmt,mcdc,wm", "--on-top-of", "cov.info", "-o", "out"];
    let run = touchstone(folder.path(), &words);
    let (out, said) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(out.contains("on top of cov.info: 4 covered before, "), "{out}{said}");
    assert!(said.contains("cov.info says nothing about wm"), "{said}");
    assert!(said.contains("cov.info has no MC/DC: of mcdc only decisions with one condition"), "{said}");
    // A source that was changed since has nothing.
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().write(true).open(&path).and_then(|file| file.set_modified(later)).expect("a new time");
    let run = touchstone(folder.path(), &words);
    let (out, said) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(out.contains("0 covered before") && said.contains("was changed after cov.info was written"), "{out}{said}");
    // What is nothing of the kind is refused, with what would be.
    std::fs::write(folder.path().join("cov.info"), "hello\n").expect("writable");
    let run = touchstone(folder.path(), &words);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.code() == Some(1) && said.contains("cov.info is no coverage that can be read"), "{said}");
}
