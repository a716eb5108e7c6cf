//! Tests of several calls: what no test can set holds what earlier calls left, so tests make those calls. Whatever needs
//! them is covered, the tests read as a person would write them, they agree with the real program, and they run in every
//! form. What no value of such a variable allows is infeasible, however many calls are made.

use crate::support::forms::{FORMS, ends};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

pub(super) fn touchstone(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(words).current_dir(folder).output().expect("touchstone runs")
}

/// A program that was given to `generate`.
pub(super) struct Generated {
    scratch: tempfile::TempDir,
    pub(super) report: Value,
}

impl Generated {
    pub(super) fn new(text: &str, options: &[&str]) -> Generated {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("p.c"), text).expect("a writable scratch directory");
        let words = ["generate", "p.c", "-o", "out", "--format", "json", "-q", "--timeout", "20"];
        let output = touchstone(scratch.path(), &[&words, options].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{text}\n{said}"));
        Generated { scratch, report }
    }

    /// The texts of a function's objectives with this status.
    pub(super) fn with_status(&self, function: &str, status: &str) -> Vec<String> {
        let all = self.report["objectives"].as_array().expect("objectives").iter();
        let ours = all.filter(|one| one["function"] == function && one["status"] == status);
        ours.map(|one| format!("{}: {}", one["text"].as_str().unwrap_or_default(), one["why"])).collect()
    }

    fn tests(&self, function: &str) -> Vec<&Value> {
        let all = self.report["tests"].as_array().expect("tests").iter();
        all.filter(|test| test["function"] == function).collect()
    }

    /// Everything is covered by tests that agree with the real program.
    #[track_caller]
    pub(super) fn covers_all(&self, function: &str) {
        for status in ["unknown", "infeasible"] {
            assert_eq!(self.with_status(function, status), Vec::<String>::new(), "{status} in {function}");
        }
        assert!(!self.with_status(function, "covered").is_empty(), "{function} has objectives");
        for test in self.tests(function) {
            assert_eq!(test["replay"], "agreed", "{test}");
        }
    }

    pub(super) fn suite(&self, function: &str) -> String {
        let path = self.scratch.path().join(format!("out/test_{function}.c"));
        std::fs::read_to_string(path).expect("a readable suite")
    }
}

/// The calls of the longest test of a function, in one line each.
fn longest(tests: &[&Value]) -> Vec<String> {
    let calls = |test: &&Value| -> Vec<String> {
        let earlier = test["earlier"].as_array().map_or(&[][..], Vec::as_slice);
        earlier.iter().map(|call| call["call"].as_str().unwrap_or_default().to_string()).collect()
    };
    tests.iter().map(calls).max_by_key(Vec::len).unwrap_or_default()
}

/// The function `f` of each program is covered.
#[track_caller]
fn check(programs: &[&str]) {
    for program in programs {
        Generated::new(program, &["-f", "f", "-c", "branch,mcdc"]).covers_all("f");
    }
}

const COUNTER: &str = "int f(void) { static int k; k++; if (k == 3) return 1; return 0; }\n";

#[test]
fn a_static_local_gets_its_value_by_as_many_calls_as_that_takes() {
    let counted = Generated::new(COUNTER, &[]);
    counted.covers_all("f");
    assert_eq!(longest(&counted.tests("f")), ["f()", "f()"]);
    let suite = counted.suite("f");
    let expected = "    CHECK_INT(0, f());\n    CHECK_INT(0, f());\n    int result = f();\n    CHECK_INT(1, result);\n";
    assert!(suite.contains(expected), "{suite}");
    let earlier = &counted.tests("f")[0]["earlier"][1];
    assert_eq!((&earlier["function"], &earlier["result"]), (&"f".into(), &0.into()));
}

#[test]
fn what_needs_more_calls_than_allowed_is_unknown_and_never_infeasible() {
    for (calls, wanted) in [("1", "unknown"), ("2", "unknown"), ("3", "covered")] {
        let found = Generated::new(COUNTER, &["--calls", calls, "--no-replay"]);
        let texts = found.with_status("f", wanted);
        assert!(texts.iter().any(|text| text.starts_with("k == 3 is true")), "--calls {calls}: {texts:?}");
    }
}

#[test]
fn state_is_reached_in_scalars_arrays_structures_pointers_and_callees() {
    check(&[
        "int f(int x) { static int k = 2; if (k == 5) return 1; if (x > 0) k = x; return 0; }",
        "int f(int i) { static int t[3]; if (t[1] == 7) return 1; if (i >= 0 && i < 3) t[i] = 7; return 0; }",
        "int f(int x) { static struct { int a, b; } s; if (s.b == 2) return 1; s.b = x; return 0; }",
        "static int next(void) { static int k; return ++k; } int f(void) { if (next() == 4) return 1; return 0; }",
        "int f(int *p) { static int *last; if (!p) return -1; if (last == p) return 1; last = p; return 0; }",
        "int f(int x) { static union { int i; float f; } u; static int set; if (set && u.i == 9) return 1; u.i = x; set = 1; return 0; }",
        "int f(float x) { static double sum; sum += x; if (sum > 100.0 && x < 60.0f) return 1; return 0; }",
        "struct pair { int a, b; }; int f(struct pair p) { static struct pair last; if (last.a == p.b && p.b == 7) return 1; last = p; return 0; }",
        "int f(const char *s) { static int words; if (s[0] == 'x' && s[1] == 'y') words++; if (words == 2) return 1; return 0; }",
        "int f(int a[2]) { static int best; if (a[0] > best + 5 && best > 0) return 1; best = a[1]; return 0; }",
    ]);
}

const PARSER: &str = "enum state { START, NAME, VALUE, DONE };
static enum state s;
static int length;
void reset(void) { s = START; length = 0; }
int f(char c) {
    static int errors;
    switch (s) {
    case START: if (c == '<') s = NAME; else errors++; break;
    case NAME: if (c == '=') s = VALUE; else length++; break;
    case VALUE: if (c == '>' && length > 0) { s = DONE; return 1; } break;
    case DONE: return 2;
    }
    if (errors > 1 && s == NAME) return -1;
    return 0;
}
";

#[test]
fn other_functions_of_the_file_are_called_where_they_change_the_state() {
    check(&[
        PARSER,
        "static int *mode(void) { static int m; return &m; } void init(int x) { *mode() = x; } \
         int f(int y) { if (*mode() == 42 && y > *mode()) return 1; return 0; }",
        "static int *ready(void) { static int r; return &r; } static int *level(void) { static int l; return &l; } \
         void init(int x) { if (x == 7) *ready() = 1; } \
         void set(int x) { if (*ready()) *level() = x; } \
         int f(void) { if (*level() > 3) return 1; return 0; }",
    ]);
    let parsed = Generated::new(PARSER, &["-f", "f"]);
    assert_eq!(longest(&parsed.tests("f")).len(), 3, "{:?}", parsed.tests("f"));
}

#[test]
fn a_test_never_calls_a_private_function_where_a_public_one_does_the_same() {
    let found = Generated::new(
        "static int next(void) { static int id = 5; return id > 6 ? -1 : id++; }\n\
         int f(void) { int id = next(); if (id < 0) return 1; return 0; }\n",
        &["-f", "f"],
    );
    found.covers_all("f");
    assert_eq!(longest(&found.tests("f")), ["f()", "f()"]);
}

#[test]
fn what_no_state_allows_is_infeasible_at_once() {
    let found = Generated::new("int f(int x) { static int k; k = x; if (k != x) return 1; return 0; }\n", &[]);
    let texts = found.with_status("f", "infeasible");
    assert!(texts.iter().any(|text| text.starts_with("k != x is true")), "{texts:?}");
    assert!(longest(&found.tests("f")).is_empty());
}

#[test]
fn what_no_calls_lead_to_stays_unknown_with_its_reason() {
    // No call makes it odd, but no proof of ours says so.
    let found =
        Generated::new("int f(void) { static int k; k += 2; if (k == 3) return 1; return 0; }\n", &["--no-replay"]);
    let texts = found.with_status("f", "unknown");
    assert!(texts.iter().any(|text| text.starts_with("k == 3 is true") && text.contains("earlier calls")), "{texts:?}");
}

#[test]
fn preconditions_and_ranges_hold_for_every_call() {
    let program = "int f_pre(int x) { return x >= 0 && x < 10; }\n\
                   int set_pre(int y) { return y == 3; }\n\
                   static int *kept(void) { static int k; return &k; }\n\
                   void set(int y) { *kept() = y; }\n\
                   int f(int x) { *kept() += x; if (*kept() == 21) return 1; return 0; }\n";
    let found = Generated::new(program, &["-f", "f"]);
    found.covers_all("f");
    for test in found.tests("f") {
        let earlier = test["earlier"].as_array().map_or(&[][..], Vec::as_slice);
        for call in earlier {
            let (x, y) = (call["inputs"]["x"].as_i64(), call["inputs"]["y"].as_i64());
            assert!(x.is_none_or(|x| (0..10).contains(&x)) && y.is_none_or(|y| y == 3), "{call}");
        }
        assert!((0..10).contains(&test["inputs"]["x"].as_i64().expect("x")), "{test}");
    }
    let ranged = Generated::new(
        "int f(int x) { static int k; k += x; if (k == 12) return 1; return 0; }\n",
        &["--range", "x=4..5"],
    );
    ranged.covers_all("f");
    assert_eq!(longest(&ranged.tests("f")).len(), 2);
}

#[test]
fn what_others_answer_in_earlier_calls_is_a_part_of_the_test() {
    let found = Generated::new(
        "int measure(int channel);\nint f(int x) { static int high; int m = measure(x); if (high && m < 3) return 1; high = m > 900; return 0; }\n",
        &[],
    );
    found.covers_all("f");
    let suite = found.suite("f");
    assert!(suite.contains("CHECK_INT(0, f("), "{suite}");
    assert_eq!(suite.matches("RETURNS(int, measure,").count(), suite.matches("CALLED(measure,").count(), "{suite}");
}

#[test]
fn sequences_run_in_every_form_and_tests_find_what_the_program_begins_with() {
    let text = "#ifdef BROKEN\n#define STEP 2\n#else\n#define STEP 1\n#endif\n\
                int f(int x) { static int k; k += STEP; if (k == 3 && x > 1) return 1; if (k == 1) return 2; return 0; }\n";
    let found = Generated::new(text, &["--emit", "c,unity,cmocka,gtest"]);
    found.covers_all("f");
    let out = found.scratch.path().join("out");
    let tests = found.tests("f").len();
    assert!(tests > 1, "{tests} test");
    for form in FORMS {
        let said = ends(&out, form, "f", "WHOLE");
        assert_eq!(said.lines().filter(|line| line.starts_with("ok")).count(), tests, "{form}:\n{said}");
        let said = ends(&out, form, "f", "BROKEN");
        assert!(said.lines().any(|line| line.starts_with("not ok") || line.starts_with("failed")), "{form}:\n{said}");
    }
}

#[test]
fn the_three_verbs_agree_on_what_needs_several_calls() {
    let found = Generated::new(COUNTER, &["--no-replay"]);
    let proved = touchstone(found.scratch.path(), &["prove", "p.c", "--format", "json", "-q"]);
    let proved: Value = serde_json::from_slice(&proved.stdout).expect("a report");
    let status = |report: &Value| {
        report["objectives"].as_array().expect("objectives").iter().map(|one| one["status"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(status(&found.report), status(&proved));
    let id = found.report["objectives"][0]["id"].as_str().expect("an id").to_string();
    let said = touchstone(found.scratch.path(), &["explain", &id, "p.c", "-q"]);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(said.contains("covered: these inputs reach it.") && said.contains("after f()"), "{said}");
}

#[test]
fn a_static_of_another_file_is_state_that_calls_leave_and_no_test_sets() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let write = |name: &str, text: &str| std::fs::write(scratch.path().join(name), text).expect("writable");
    write(
        "gain.c",
        "static int gain = 2;\nvoid set_gain(int g) { if (g < 9) gain = g; }\nint amplify(int x) { return x * gain; }\n",
    );
    write("f.c", "int amplify(int x);\nint f(int x) { if (x == 1 && amplify(x) == 7) return 1; return 0; }\n");
    let words = ["generate", "f.c", "gain.c", "-f", "f", "-o", "out", "--format", "json", "-q"];
    let output = touchstone(scratch.path(), &words);
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let found = Generated { scratch, report };
    found.covers_all("f");
    assert_eq!(longest(&found.tests("f")), ["set_gain(7)"]);
}
