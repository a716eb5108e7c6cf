//! `touchstone measure`: the tests that generate wrote cover, in the compiled program, exactly what generate said; and no hit
//! is lost, however a process ends.

use crate::support::{examples, long};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use touchstone_instrument::{MeasuredSuite, read_measurements};

fn touchstone() -> Command {
    Command::new(env!("CARGO_BIN_EXE_touchstone"))
}

/// Measures a command in `folder`.
fn measure(folder: &Path, criteria: &str, command: &str) -> (MeasuredSuite, Output) {
    let out = folder.join("measured");
    let run = touchstone()
        .args(["measure", "-c", criteria, "-o"])
        .arg(&out)
        .args(["--", "sh", "-c", command])
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let measured = read_measurements(&[out]).unwrap_or_else(|error| panic!("{error}\n{said}"));
    (measured, run)
}

/// Ids of what is covered, and of what has no probe.
fn covered(measured: &MeasuredSuite) -> (BTreeSet<String>, BTreeMap<String, String>) {
    let (mut hit, mut unplaced) = (BTreeSet::new(), BTreeMap::new());
    for unit in &measured.units {
        for objective in &unit.record.objectives {
            if let Some(why) = &objective.not_placed {
                unplaced.insert(objective.id.clone(), why.to_string());
            } else if !unit.covered(objective).is_empty() {
                hit.insert(objective.id.clone());
            }
        }
    }
    (hit, unplaced)
}

const CRITERIA: &str = "stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,labels";

/// The generated tests that count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tests {
    /// Tests that return: a test that ends in an error behaves arbitrarily without sanitizers.
    Returning,
    /// All: what goes wrong is what is measured.
    All,
}

/// Generates tests for all functions of an example, runs each function's under `measure`, and compares.
fn check(name: &str, files: &[PathBuf], criteria: &str) -> usize {
    compare(name, files, criteria, &["--timeout", "3"], Tests::Returning)
}

fn compare(name: &str, files: &[PathBuf], criteria: &str, options: &[&str], which: Tests) -> usize {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = scratch.path().join("tests");
    let mut command = touchstone();
    command.args(["generate", "-c", criteria, "--format", "json", "-q", "--no-replay", "-o"]).arg(&out);
    let made = command.args(options).args(files).output().expect("touchstone runs");
    let report: serde_json::Value = serde_json::from_slice(&made.stdout).expect("JSON");
    let mut expected: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut compared = 0;
    let counts = |test: &&serde_json::Value| which == Tests::All || test["outcome"] != "error";
    let tests = report["tests"].as_array().expect("tests").iter().filter(counts);
    let tests: BTreeMap<&str, &str> =
        tests.map(|test| (test["id"].as_str().expect("an id"), test["function"].as_str().expect("one"))).collect();
    for objective in report["objectives"].as_array().expect("objectives") {
        let all = expected.entry(objective["function"].as_str().expect("a function")).or_default();
        let covering = objective["tests"].as_array().expect("tests");
        // What traps on the machine at hand skips itself.
        let runs = |test: &str| {
            let suite = tests.get(test).map(|function| out.join(format!("test_{function}.c")));
            let text = suite.and_then(|suite| std::fs::read_to_string(suite).ok()).unwrap_or_default();
            let body = text.split_once(&format!("TEST({test}, ")).and_then(|(_, rest)| rest.split_once("\n}\n"));
            tests.contains_key(test) && !body.is_some_and(|(body, _)| body.contains("SKIP("))
        };
        if covering.iter().any(|test| runs(test.as_str().expect("an id"))) {
            all.insert(objective["id"].as_str().expect("an id").to_string());
        }
    }
    for (function, expected) in expected {
        let suite = out.join(format!("test_{function}.c"));
        let Ok(text) = std::fs::read_to_string(&suite) else { continue };
        let build = text.lines().find_map(|line| line.strip_prefix(" *     ")).expect("how to build it");
        // Paths of the repository are relative to the directory where Touchstone ran.
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").display().to_string();
        let build = build.strip_suffix("-o tests && ./tests").expect("a build command");
        let build = build.replace("../../examples", &examples);
        let folder = scratch.path().join(function);
        std::fs::create_dir(&folder).expect("writable");
        let names: Vec<&str> = tests.iter().filter(|(_, of)| **of == function).map(|(name, _)| *name).collect();
        if names.is_empty() {
            continue;
        }
        let run = format!("{build} -o tests; ./tests {} >log 2>&1", names.join(" "));
        let (measured, run) = measure(&folder, criteria, &run);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!measured.units.is_empty(), "{} {function}: {said}", name);
        for unit in &measured.units {
            assert!(unit.record.untouched.is_empty(), "{}: {:?}", name, unit.record.untouched);
        }
        let (hit, unplaced) = covered(&measured);
        let own: BTreeSet<String> = hit.into_iter().filter(|id| id.starts_with(&format!("{function}."))).collect();
        let expected: BTreeSet<String> = expected.into_iter().filter(|id| !unplaced.contains_key(id)).collect();
        let missing: Vec<&String> = expected.difference(&own).collect();
        let more: Vec<&String> = own.difference(&expected).collect();
        assert!(missing.is_empty(), "{} {function}: said to be covered, but is not: {missing:?}", name);
        assert!(more.is_empty(), "{} {function}: covered, but not said to be: {more:?}", name);
        compared += expected.len();
    }
    compared
}

#[test]
fn generated_tests_cover_in_the_real_program_what_generate_said() {
    let all = examples();
    let functions = all.iter().filter(|example| !matches!(example.name.as_str(), "klee_harness.c" | "program.c"));
    // Every replay confirms its coverage by probes, so a few examples suffice, with the halves in turn.
    let halves = ["stmt,branch,decision,condition,dcc,mcc,mcdc", "wm,idc,labels,stmt"];
    let criteria = |index: usize| match (long(), index % 24) {
        (true, _) => Some(CRITERIA),
        (false, 0) => Some(halves[index / 24 % 2]),
        (false, _) => None,
    };
    let compared: usize = functions
        .enumerate()
        .filter_map(|(index, example)| Some(check(&example.name, &example.files, criteria(index)?)))
        .sum();
    assert!(compared > if long() { 100 } else { 80 }, "only {compared} objectives were compared");
}

/// Functions in which much can go wrong.
const FAULTY: &str = "struct node { int value; unsigned flag : 2; struct node *next; };
static int grid[3][4];
static unsigned char used;
#define PART(a, b) ((a) / (b) + (a) % (b))
int parts(int a, int b, int c) { return PART(a, b) + a / (b - c); }
int walk(struct node *n, int deep) { while (deep-- > 0) n = n->next; n->flag = 1; return n->value; }
void fill(int i, int j, int x) { if (x > 3) grid[i][j] = x; else grid[j][i] /= x; used++; }
void swap(struct node *a, struct node *b) { struct node t = *a; *a = *b; *b = t; }
int weigh(int *p, int *q, int by) { *p += *q % by; return *p > 2 && *q / by; }
";

#[test]
fn errors_that_generate_found_are_seen_where_they_happen_and_no_others() {
    let all = examples();
    let functions = all.iter().filter(|example| !matches!(example.name.as_str(), "klee_harness.c" | "program.c"));
    let quick = ["--timeout", "1"];
    let functions = functions.enumerate().filter(|(index, _)| long() || index % 16 == 1);
    let compared: usize =
        functions.map(|(_, example)| compare(&example.name, &example.files, "rte", &quick, Tests::All)).sum();
    assert!(compared > if long() { 20 } else { 0 }, "only {compared} objectives were compared");
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("faulty.c");
    std::fs::write(&file, FAULTY).expect("writable");
    let compared = compare("faulty.c", &[file], "rte", &quick, Tests::All);
    assert!(compared > 12, "only {compared} objectives were compared");
}

/// One function a line, so that an error is known by its line. Each case of `main` does one thing.
const ERRORS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int a, b; unsigned bit : 3; int list[4]; };
#define SQUARE(p) (*(p) * *(p))
static int table[6] = {1, 1, 2, 3, 5, 8}, grid[2][3], calls, one = 1;
static struct pair some;
int quotient(int a, int b) { return a / b; }
unsigned rest(unsigned a, unsigned char b) { return a % b; }
void shrink(int *p, int b) { *p /= b; }
int shrunk(int x, int b) { x /= b; return x; }
int leave(int x) { if (x) exit(0); return x; }
void set(int *p, int x) { *p = leave(x); }
int after(int x, int b) { return leave(x) / b; }
int chain(int *p, int b) { return *p / b; }
void copy(char *to, const char *from) { *to++ = *from++; }
int look(int i) { return table[i]; }
void put(int i, int x) { table[i] = x; }
int add(int i) { return table[i] + 1; }
int cell(int i, int j) { return grid[i][j]; }
int in(struct pair by_value, int i) { return by_value.list[i]; }
unsigned get_bit(struct pair *p) { return p->bit; }
void set_bit(struct pair *p, int x) { p->bit = leave(x) + 5; }
void assign(struct pair *p, struct pair *q) { *p = *q; }
int next(int *p) { return *p + 1; }
int guarded(int *p) { return p && *p; }
int square(int *p) { return SQUARE(p); }
size_t sizes(struct pair *p) { return sizeof *p + (size_t)&p->b; }
int far(int *p, int i) { return p[i]; }
int vla(int n, int i) { int v[n]; memset(v, 0, sizeof v); return v[i]; }
int once(void) { return calls++; }
int twice(int *p) { p[once()] += 7 / (1 + once()); return table[once()]; }
void step(int *p) { (*p)++; }
int pointed(int i) { return *(table + i); }
int field(int i) { return some.list[i]; }
int length(const char *s) { int n = 0; while (*s++) n++; return n; }
void both(int **p, int *q) { **p = *q; }
int main(int argc, char **argv) {
    int *null = argc > 9 ? &one : 0, x = 12, *p = &x;
    char text[3] = "ab";
    struct pair pair = {1, 2, 3, {4, 5, 6, 7}};
    switch (atoi(argv[1])) {
    case 1: return quotient(7, argc - 2);
    case 2: return rest(7, (unsigned char)(argc + 254));
    case 3: shrink(null, 0); break;
    case 4: shrink(&x, argc - 2); break;
    case 5: shrink(&x, 4); return x != 3;
    case 6: return shrunk(3, argc - 2);
    case 7: set(null, 1); break;
    case 8: set(null, 0); break;
    case 9: return after(1, 0);
    case 10: return after(0, 0);
    case 11: return chain(null, 0);
    case 12: copy(0, 0); break;
    case 13: copy(0, text); break;
    case 14: return look(6);
    case 15: return look(-1);
    case 16: return look(1 << 28);
    case 17: return look(5) != 8;
    case 18: put(-1, 0); break;
    case 19: return add(1 << 28);
    case 20: return cell(0, 5);
    case 21: return cell(1, 3);
    case 22: return in(pair, 4) + in(pair, 3);
    case 23: return (int)get_bit((struct pair *)null);
    case 24: set_bit((struct pair *)null, 1); break;
    case 25: set_bit((struct pair *)null, 0); break;
    case 26: set_bit(&pair, 0); return pair.bit != 5;
    case 27: assign(&pair, (struct pair *)null); break;
    case 28: assign((struct pair *)null, &pair); break;
    case 29: assign(&some, &pair); return some.list[3] != 7;
    case 30: return next(null);
    case 31: return guarded(null);
    case 32: return square(null);
    case 33: return sizes((struct pair *)null) == 0;
    case 34: return far(null, 1023);
    case 35: return far(null, 1024);
    case 36: return vla(3, 2) + vla(4, 3);
    case 37: return vla(3, 3);
    case 38: x = twice(table); printf("%d %d\n", x, calls); break;
    case 39: step(null); break;
    case 40: step(&x); return x != 13;
    case 41: return pointed(6);
    case 42: return field(11) + field(12);
    case 43: return length(text) != 2;
    case 44: return length(0);
    case 45: both(&p, null); break;
    case 46: both(&null, p); break;
    case 47: both(0, p); break;
    case 48: return quotient((-2147483647 - 1) * (argc - 1), 1 - argc);
    }
    return 0;
}
"#;

#[test]
fn an_error_is_seen_where_it_happens_and_only_if_it_happens() {
    // By case: what goes wrong, at which line; nothing else does.
    let (division, null, bounds) = ("division by zero", "null pointer", "out of bounds");
    let expected: &[(u32, &[(u32, &str)])] = &[
        (1, &[(8, division)]),
        (2, &[(9, division)]),
        (3, &[(10, null)]),
        (4, &[(10, division)]),
        (6, &[(11, division)]),
        (8, &[(13, null)]),
        (10, &[(14, division)]),
        (11, &[(15, null)]),
        (12, &[(16, null)]),
        (13, &[(16, null)]),
        (14, &[(17, bounds)]),
        (15, &[(17, bounds)]),
        (16, &[(17, bounds)]),
        (18, &[(18, bounds)]),
        (19, &[(19, bounds)]),
        (21, &[(20, bounds)]),
        (22, &[(21, bounds)]),
        (23, &[(22, null)]),
        (25, &[(23, null)]),
        (27, &[(24, null)]),
        (28, &[(24, null)]),
        (30, &[(25, null)]),
        (32, &[(27, null)]),
        (34, &[(29, null)]),
        (37, &[(30, bounds)]),
        (39, &[(33, null)]),
        (41, &[(34, bounds)]),
        (42, &[(35, bounds)]),
        (44, &[(36, null)]),
        (45, &[(37, null)]),
        (46, &[(37, null)]),
        (47, &[(37, null)]),
        (48, &[(8, "a / b overflows")]),
    ];
    let clang = format!("{} cc clang-19 -O2", env!("CARGO_BIN_EXE_touchstone"));
    for compiler in ["cc -O0", "cc -O2", &clang] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("program.c"), ERRORS).expect("writable");
        let run = format!(
            "{compiler} -w -o program program.c && for i in $(seq 48); do TOUCHSTONE_TEST=$i ./program $i >$i.out 2>/dev/null; echo $? >>$i.out; done"
        );
        let (measured, said) = measure(scratch.path(), "rte", &run);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert_eq!(measured.units.len(), 1, "{compiler}: {said}");
        let unit = &measured.units[0];
        let (mut found, mut spots) = (BTreeMap::<u32, BTreeSet<(u32, &str)>>::new(), BTreeMap::<u32, usize>::new());
        for objective in &unit.record.objectives {
            for test in unit.covered(objective) {
                let case = measured.tests[test as usize].parse().expect("a number");
                found.entry(case).or_default().insert((objective.place.line, objective.text.as_str()));
                *spots.entry(case).or_default() += 1;
            }
        }
        let wanted: BTreeMap<u32, BTreeSet<(u32, &str)>> =
            expected.iter().map(|(case, errors)| (*case, errors.iter().copied().collect())).collect();
        assert_eq!(found, wanted, "{compiler}: {said}");
        assert!(spots.values().all(|count| *count == 1), "{compiler}: an error ends a run: {spots:?}");
        let out = |case: u32| std::fs::read_to_string(scratch.path().join(format!("{case}.out"))).expect("it ran");
        assert_eq!(out(38), "2 3\n0\n", "{compiler}: every operand is evaluated once");
        for case in [5, 7, 9, 17, 20, 24, 26, 29, 31, 33, 36, 40, 43] {
            assert_eq!(out(case), "0\n", "{compiler}: case {case} does what it does without probes");
        }
    }
}

#[test]
fn a_decision_with_more_rows_than_can_be_told_apart_is_measured_like_any_other() {
    let pairs: Vec<String> = (0..14).map(|pair| format!("(b[{}] || !b[{}])", 2 * pair, 2 * pair + 1)).collect();
    let text = format!(
        "int wide(const unsigned char b[30]) {{\n    if ({} && (b[28] > 3) != (b[29] > 5))\n        return 1;\n    return 0;\n}}\n",
        pairs.join(" &&\n        ")
    );
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("wide.c");
    std::fs::write(&file, text).expect("writable");
    let files = [file];
    let compared = check("wide", &files, if long() { CRITERIA } else { "condition,mcdc" });
    // Every outcome of its 30 conditions, and that each decides.
    assert!(compared > if long() { 120 } else { 119 }, "only {compared} objectives were compared");
    assert_eq!(check("wide", &files, "decision"), 2);
}

#[test]
fn where_only_outcomes_are_asked_they_are_measured_without_rows() {
    for name in ["triangle.c", "utf8.c"] {
        let all = examples();
        let example = all.iter().find(|example| example.name == name).expect("an example");
        assert!(check(name, &example.files, "branch") > 5);
    }
}

/// A program with this text, built and run under `measure` in a fresh directory.
fn program(text: &str, criteria: &str, run: &str) -> (MeasuredSuite, Output) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("program.c"), text).expect("writable");
    measure(scratch.path(), criteria, &format!("cc -O2 -pthread -o program program.c && {run}"))
}

/// The texts of covered objectives.
fn texts(measured: &MeasuredSuite) -> BTreeSet<String> {
    let covered = |unit: &touchstone_instrument::MeasuredUnit| {
        let objectives = unit.record.objectives.iter().filter(|objective| !unit.covered(objective).is_empty());
        objectives.map(|objective| objective.text.clone()).collect::<Vec<_>>()
    };
    measured.units.iter().flat_map(covered).collect()
}

/// Functions in which one probe may speak for several places, and what their calls cover.
const NEIGHBOURS: &str = r#"
#include <stdlib.h>
static void leave(int n) { if (n) exit(n); }
int chain(int a, int b) { int k = 0; if (a > 1) k = 1; else if (a > 0) k = 2; else if (b > 2) k = 3; return k; }
int walk(int i, int n) { while (1) { if (i > n) return 1; if (i == n) { n = 0; break; } i++; if (n > 90) continue; n--; } return n; }
int deref(int c, int *p) { if (c) { if (*p) return 1; } return 0; }
int divide(int d, int e) { if (d > 5) { if (100 / e > 3) return 1; } return 0; }
int quits(int q) { if (q == 4) { leave(0); if (q + 1 == 5) return 2; } return 0; }
int back(int g, int h) { if (g == 1) { again: if (h == 1) return 3; return 4; } h++; goto again; }
int empty(int u, int v) { if (u == 9); if (v == 9) return 1; return 0; }
int table(int t, int w) { static void *to[] = { &&one, &&two }; goto *to[t]; two: if (w == 1) { one: if (w == 2) return 1; } return 0; }
int both(int x, int y) { if (x == 8 && y == 8) { if (x + y == 16) return 1; } return 0; }
int falls(int s, int z) { switch (s) { case 1: if (z == 1) { case 2: if (z == 2) return 5; } } return 6; }
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    switch (n) {
    case 0: return chain(0, 3) + walk(1, 4) < 0;
    case 1: deref(1, (int *)8); break;
    case 2: divide(6, argc - 2); break;
    case 3: quits(4); break;
    case 4: return back(0, 0) != 3;
    case 5: return empty(9, 1);
    case 6: return table(0, 3);
    case 7: return both(8, 8) != 1;
    default: return falls(2, 2) != 5;
    }
    return 0;
}
"#;

#[test]
fn places_that_share_a_probe_are_covered_like_those_that_have_their_own() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("program.c"), NEIGHBOURS).expect("writable");
    let check = |flag: &str, n: u32, expected: &[&str], most: usize| {
        let command = format!("cc {flag} -w -o program program.c && ./program {n}");
        let (measured, run) = measure(scratch.path(), "branch,mcdc", &command);
        let own = |text: &String| !text.contains("switch") && !text.contains("independently affects the outcome");
        let seen: BTreeSet<String> = texts(&measured).into_iter().filter(own).collect();
        let expected: BTreeSet<String> = expected.iter().map(|text| (*text).to_string()).collect();
        assert_eq!(seen, expected, "{n} with {flag}: {}", String::from_utf8_lossy(&run.stderr));
        let shared = measured.units.iter().map(|unit| unit.record.implied.len()).sum::<usize>();
        assert_eq!(shared, most, "outcomes that others tell with {flag}");
    };
    let chain = ["a > 1 is false", "a > 0 is false", "b > 2 is true"];
    let walk = ["i > n is false", "i == n is false", "n > 90 is false", "i > n is true"];
    for (flag, most) in [("-O0", 4), ("-O2", 6)] {
        check(flag, 0, &[&chain[..], &walk[..]].concat(), most);
        // Code that other branches reach says nothing.
        check(flag, 4, &["g == 1 is false", "h == 1 is true"], most);
        check(flag, 5, &["u == 9 is true", "v == 9 is false"], most);
        check(flag, 6, &["w == 2 is false"], most);
        check(flag, 7, &["x == 8 && y == 8 is true", "x + y == 16 is true"], most);
        check(flag, 8, &["z == 2 is true"], most);
        check(flag, 3, &["q == 4 is true", "n is false", "q + 1 == 5 is true"], most);
    }
    // What ends a run between two places leaves the first, where the compiler keeps their order.
    check("-O0", 1, &["c is true"], 4);
    check("-O0", 2, &["d > 5 is true"], 4);
}

#[test]
fn a_crash_between_statements_that_share_probes_covers_what_was_before_it() {
    let text = "int f(int *p) { int k = 1; k += 2; if (k) { k += 3; k += 4; *p = k; k += 5; k += 6; } return k; }\n\
        int main(void) { return f((int *)8); }\n";
    for criteria in ["stmt", "stmt,branch"] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("program.c"), text).expect("writable");
        let (measured, _) = measure(scratch.path(), criteria, "cc -o program program.c && ./program");
        let seen = texts(&measured);
        let has = |text: &str| seen.iter().any(|seen| seen.contains(text));
        assert!(["k += 2", "k += 3", "k += 4", "*p = k"].into_iter().all(has), "{criteria}: {seen:?}");
        assert!(!["k += 5", "k += 6", "return k"].into_iter().any(has), "{criteria}: {seen:?}");
    }
}

#[test]
fn however_a_process_ends_its_hits_stay() {
    let check = |end: &str, more: &str| {
        let text = format!(
            "#include <pthread.h>\n#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
             static volatile int seen;\n{more}\nint main(void) {{\n  if (seen == 0) seen = 7;\n  {end}\n  return 0;\n}}\n"
        );
        let (measured, run) = program(&text, "branch", "./program");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(texts(&measured).contains("seen == 0 is true"), "{end}: {said}");
        texts(&measured)
    };
    check("return 0;", "");
    check("abort();", "");
    check("_exit(3);", "");
    check("raise(SIGKILL);", "");
    check("*(volatile int *)0 = 1;", "");
    check("execl(\"/bin/true\", \"true\", (char *)0);", "");
    let forked = check(
        "if (fork() == 0) { child(1); _exit(0); } wait(0);",
        "static void child(int x) { if (x == 1) seen = 8; }",
    );
    assert!(forked.contains("x == 1 is true"));
    let threaded = check(
        "pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);",
        "static void *work(void *p) { if (!p) seen = 9; return p; }",
    );
    assert!(threaded.contains("!p is true"));
}

#[test]
fn processes_that_run_at_once_lose_no_hit_and_a_killed_one_keeps_what_it_hit() {
    let text = "#include <stdlib.h>\n#include <unistd.h>\nint pick(int n) {\n  switch (n) {\n".to_string()
        + &(0..200).map(|n| format!("  case {n}: return {};\n", n * 3)).collect::<String>()
        + "  }\n  return -1;\n}\nint main(int argc, char **argv) { (void)argc; int n = atoi(argv[1]);\n  volatile int got = pick(n);\n  if (argc > 2) for (;;) pause();\n  return got < 0; }\n";
    let run = "i=0; while [ $i -lt 200 ]; do ./program $i & i=$((i + 1)); done; wait";
    let (measured, _) = program(&text, "branch", run);
    let seen = texts(&measured);
    for n in 0..200 {
        assert!(seen.contains(&format!("switch: case {n}")), "{n} is missing of {}", seen.len());
    }
    assert_eq!(measured.processes, 200);
    // What was hit before a kill is there: the program waits for ever once it has picked.
    let run = "i=0; while [ $i -lt 20 ]; do ./program $i wait & sleep 0.05; kill -9 $!; i=$((i + 1)); done; wait";
    let (measured, _) = program(&text, "branch", run);
    let seen = texts(&measured);
    let picked = (0..20).filter(|n| seen.contains(&format!("switch: case {n}"))).count();
    assert!(picked >= 15, "only {picked} of 20 were seen before the kill");
}

#[test]
fn functions_with_offsetof_are_measured_wherever_it_is_written() {
    let text = "#include <stddef.h>\nstruct s { char c; long l; };\n#define AT offsetof(struct s, l)\n\
        int direct(int x) { if (x > 2) return (int)offsetof(struct s, l); return 1; }\n\
        int by_macro(int x) { if (x > 3) return (int)AT; return 1; }\n\
        int main(void) { return direct(3) + by_macro(3) < 0; }\n";
    let (measured, run) = program(text, "branch", "./program");
    assert!(!String::from_utf8_lossy(&run.stderr).contains("not measured"), "{run:?}");
    let expected = ["x > 2 is true", "x > 3 is false"];
    assert_eq!(texts(&measured), expected.into_iter().map(str::to_string).collect());
}

#[test]
fn functions_with_an_index_or_an_unusual_type_in_offsetof_are_measured() {
    let text = "#include <stddef.h>\n#define AT(i) offsetof(struct s, in[i].q)\n\
        struct s { char c; struct { int p, q; } in[4]; union { int u; float f; }; int a[2][3]; };\n\
        static struct { int z; long y; } one;\nenum { TWO = 2 };\n\
        int constant(int x) { if (x > 1 || offsetof(struct s, in[2].q) == 3) return 2; return 1; }\n\
        int by_macro(int x) { if (x > 2) return (int)AT(TWO); return 1; }\n\
        int size(int x) { if (x > 3) return (int)offsetof(const struct s, in[sizeof(int) - 2]); return 1; }\n\
        int variable(int x) { if (x > 4 || AT(x) > 30) return (int)offsetof(struct s, a[x][x ? 1 : 2]); return 1; }\n\
        int of_type(int x) { if (x > 5 && offsetof(__typeof__(one), y) > 3) { switch (x) { case 6: return 1; } } return 1; }\n\
        int in_place(int x) { if (x > 6) return (int)offsetof(struct s, u); switch (x) { case 1: return 4; } return 1; }\n\
        int main(void) { return constant(1) + by_macro(1) + size(1) + variable(1) + of_type(6) + in_place(1) < 0; }\n";
    let (measured, run) = program(text, "branch", "./program");
    assert!(!String::from_utf8_lossy(&run.stderr).contains("not measured"), "{run:?}");
    let seen = texts(&measured);
    for expected in ["x > 2 is false", "x > 3 is false", "x > 6 is false", "switch: case 6", "switch: case 1"] {
        assert!(seen.contains(expected), "{expected} is missing of {seen:?}");
    }
}

#[test]
fn functions_with_isinf_are_measured_though_its_macro_is_another_for_clang() {
    let text = "#include <math.h>\n#define SAME(a, b) __builtin_types_compatible_p(__typeof__(a), b)\n\
        int f(double x, int n) { if (isinf(x) && n > 2) return 1; return isinf(x) ? 3 : isnan(x); }\n\
        int g(int n) { int seen = 0; SAME(n, int) ? (void)(seen = n > 3 ? 4 : 5) : (void)0; return SAME(n, long) ? seen : -seen; }\n\
        int main(void) { return f(INFINITY, 3) + g(3) > 0; }\n";
    let (measured, run) = program(text, "branch,mcdc", "./program");
    assert!(!String::from_utf8_lossy(&run.stderr).contains("not measured"), "{run:?}");
    let expected = [
        "isinf(x) && n > 2 is true",
        "isinf(x) is true and independently affects the outcome",
        "n > 2 is true and independently affects the outcome",
        "n > 3 is false",
        "n > 3 is false and independently affects the outcome",
    ];
    assert_eq!(texts(&measured), expected.into_iter().map(str::to_string).collect());
}

#[test]
fn of_functions_that_a_compiler_refuses_with_probes_only_these_are_not_measured() {
    // The assembler, which does not know of functions, counts the bytes between two statements.
    let text = "int tight(int x) { __asm__ volatile(\".Lfirst:\"); \
        __asm__ volatile(\".if . - .Lfirst > 0\\n.error \\\"moved\\\"\\n.endif\"); return x; }\n\
        int sign(int x) { if (x > 0) return 1; return -1; }\n\
        int other(int x) { if (x > 7) return 1; return -1; }\n\
        int main(void) { return tight(sign(3)) + other(4) != 0; }\n";
    let check = |run: &str, criteria: &str, text: &str, name: &str, why: &str| {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::write(scratch.path().join("program.c"), text).expect("writable");
        let (measured, run) = measure(scratch.path(), criteria, run);
        let said = String::from_utf8_lossy(&run.stderr);
        let left: Vec<&str> = said.lines().filter(|line| line.starts_with("not measured: ")).collect();
        assert!(run.status.success() && left.len() == 1, "{run:?}");
        assert!(left[0].contains(&format!("{name} in ")) && left[0].contains(why), "{left:?}");
        let seen = texts(&measured);
        assert!(seen.contains("x > 0 is true") && seen.contains("x > 7 is false"), "{seen:?}");
    };
    let counted = "cc -O0 -o program program.c && ./program";
    check(counted, "stmt,branch", text, "tight", "moved");
    // A function that is nothing but its assembly: clang refuses anything else in it, gcc would take it.
    let naked = "__attribute__((naked)) int seven(void) { __asm__(\"mov $7, %eax\\n ret\"); }\n\
        int sign(int x) { if (x > 0) return 1; return -1; }\n\
        int other(int x) { if (x > 7) return 1; return -1; }\n\
        int main(void) { return seven() - 7 + sign(3) + other(4); }\n";
    check(counted, "stmt,branch", naked, "seven", "assembly");
}

#[test]
fn a_condition_before_a_constant_has_its_own_outcome_not_the_decisions() {
    let check = |decision: &str, argument: i32, expected: &[&str]| {
        let text = format!(
            "#define NO 0\n#define YES 1\nvoid nowhere(void);\nint f(int x) {{ if ({decision}) return 1; return 2; }}\n\
             int main(void) {{ if (NO) nowhere(); return f({argument}) < 0; }}\n"
        );
        let (measured, run) = program(&text, "condition,mcc", "./program");
        assert!(run.status.success(), "{decision}: {run:?}");
        assert_eq!(texts(&measured), expected.iter().map(ToString::to_string).collect(), "{decision} of {argument}");
    };
    check("x > 3 && NO", 5, &["x > 3 is true", "x > 3"]);
    check("x > 3 && NO", 2, &["x > 3 is false", "!(x > 3)"]);
    check("x > 3 || YES", 5, &["x > 3 is true", "x > 3"]);
    check("x > 3 || YES", 2, &["x > 3 is false", "!(x > 3)"]);
    check("(x > 3 || YES) && YES", 5, &["x > 3 is true", "x > 3"]);
    check("!(x > 3) && NO", 5, &["x > 3 is true", "x > 3"]);
    check("!(x > 3)", 5, &["x > 3 is true", "x > 3"]);
    check("x > 3 ? NO : NO", 5, &["x > 3 is true", "x > 3"]);
}

/// C evaluates the operands of `!=` and `==` in any order, and compilers begin with those that are constant.
#[test]
fn operands_that_are_evaluated_in_any_order_are_told_apart() {
    let check = |decision: &str, expected: &[&str]| {
        let text = format!(
            "int a[3];\nint f(int x, int y) {{ if ({decision}) return 1; return 2; }}\nint main(void) {{ return f(7, 0) < 0; }}\n"
        );
        for options in ["-O0", "-O2"] {
            let scratch = tempfile::tempdir().expect("a scratch directory");
            std::fs::write(scratch.path().join("program.c"), &text).expect("writable");
            let command = format!("cc {options} -o program program.c && ./program");
            let (measured, _) = measure(scratch.path(), "condition", &command);
            let expected: BTreeSet<String> = expected.iter().map(ToString::to_string).collect();
            assert_eq!(texts(&measured), expected, "{decision} {options}");
        }
    };
    check("!(x % 6) != !(&a[0] - &a[0])", &["x % 6 is true", "&a[0] - &a[0] is false"]);
    check("!(x % 6) == !(&a[0] - &a[0])", &["x % 6 is true", "&a[0] - &a[0] is false"]);
    check("!(&a[2] - &a[0]) != !y", &["&a[2] - &a[0] is true", "y is false"]);
    check("!(x && y) != !(x || y)", &["x is true", "y is false"]);
    check("!(y || x > 9) == !(&a[1] - &a[1])", &["y is false", "x > 9 is false", "&a[1] - &a[1] is false"]);
}

#[test]
fn a_criterion_that_a_macro_hides_places_of_leaves_the_others_alone() {
    let text = "#include <stddef.h>\nstruct g { char **s; int t; };\n#define CURRENT (g->s ? g->s[g->t] : NULL)\n\
        int f(struct g *g, char *n) { if (n == NULL) return 0; if (CURRENT) g->s[g->t] = n; return 1; }\n\
        int main(void) { char c = 0; char *a[1] = {&c}; struct g g = {a, 0}; return f(&g, &c) < 0; }\n";
    let (measured, run) = program(text, "stmt,wm", "./program");
    assert!(texts(&measured).contains("return 1"), "{run:?}");
}

#[test]
fn the_arm_of_a_switch_is_the_one_whose_label_it_is_in_any_order() {
    let text = "enum { LOW = -3, HIGH = 40 };\nstatic int pick(int n) {\n  switch (n) {\n  case 'x': return 1;\n\
        \x20 case HIGH: case 7: n++; break;\n  default: return 2;\n  case 5 ... 6: return 3;\n\
        \x20 case LOW: switch (n) { case 9: return 1; case -3: n = 1; } break;\n  case 8: n++;\n  case 1: return 9; }\n\
        \x20 return 4;\n}\n\
        int main(int c, char **v) { return pick(c == 2 ? v[1][0] : c == 3 ? 6 : c == 4 ? -3 : 8) < 0; }\n";
    let check = |run: &str, expected: &[&str]| {
        let (measured, _) = program(text, "branch", run);
        let arms: Vec<String> = texts(&measured).into_iter().filter(|text| text.starts_with("switch: ")).collect();
        assert_eq!(arms, expected, "{run}");
    };
    check("./program x", &["switch: case 120"]);
    check("./program '('", &["switch: case 7, case 40"]);
    check("./program y", &["switch: default"]);
    check("./program 1 2", &["switch: case 5 ... 6"]);
    check("./program 1 2 3", &["switch: case -3"]);
    check("./program", &["switch: case 8"]);
}

#[test]
fn hits_belong_to_the_test_that_is_named() {
    let text = "#include <stdlib.h>\nvoid touchstone_test_begin(const char *) __attribute__((weak));\nint sign(int x) { if (x > 0) return 1; return -1; }\n\
                int main(void) { touchstone_test_begin(\"up\"); int a = sign(3);\n\
                touchstone_test_begin(\"down\"); return a + sign(-3); }\n";
    let (measured, run) = program(text, "branch", "./program");
    assert_eq!(measured.tests, ["down", "program", "up"], "{run:?}");
    let unit = &measured.units[0];
    let by = |text: &str| {
        let objective = unit.record.objectives.iter().find(|objective| objective.text == text).expect("it is there");
        unit.covered(objective).into_iter().map(|test| measured.tests[test as usize].clone()).collect::<Vec<_>>()
    };
    assert_eq!(by("x > 0 is true"), ["up"]);
    assert_eq!(by("x > 0 is false"), ["down"]);
}

#[test]
fn the_build_sees_the_warnings_and_errors_of_its_own_source() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let source = scratch.path().join("w.c");
    let build = |text: &str, flags: &str| {
        std::fs::write(&source, text).expect("writable");
        let command = format!("cc -Wall -Wextra {flags} -MMD -c w.c 2>said; echo $? >status");
        let (measured, _) = measure(scratch.path(), "mcdc", &command);
        let file = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap_or_default();
        (measured, file("said"), file("status"), file("w.d"))
    };
    let clean = "int f(int a, int b) { return a && b ? 1 : 2; }\n";
    let (measured, said, status, dependencies) = build(clean, "-Werror -pedantic");
    assert_eq!((said.as_str(), status.trim(), dependencies.trim()), ("", "0", "w.o: w.c"));
    assert_eq!(measured.units.len(), 1);
    let (_, said, status, _) = build("int f(int a) { int unused; return a && 1; }\n", "");
    assert!(said.contains("w.c:1:20: warning: unused variable") && status.trim() == "0", "{said}");
    let (_, said, status, _) = build("int f(int a) { int unused; return a; }\n", "-Werror");
    assert!(said.contains("error: unused variable") && status.trim() == "1", "{said}");
    let (_, said, status, _) = build("int f(int a) { return a +; }\n", "");
    assert!(said.contains("w.c:1:26: error") && status.trim() == "1", "{said}");
}

#[test]
fn a_build_that_remembers_its_compiler_still_works_after_the_measurement() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    std::fs::write(folder.join("program.c"), "int main(void) { return 0; }\n").expect("writable");
    let (measured, _) = measure(folder, "stmt", "command -v cc >compiler && cc program.c -o program && ./program");
    assert_eq!(measured.units.len(), 1);
    // Later, by itself: the compiler that was found is no longer on the path, and makes no probes.
    let run = "$(cat compiler) program.c -o again && ./again && ls measured/hits | wc -l";
    let later = Command::new("sh").args(["-c", run]).current_dir(folder).output().expect("sh runs");
    assert!(later.status.success(), "{}", String::from_utf8_lossy(&later.stderr));
    assert_eq!(String::from_utf8_lossy(&later.stdout).trim(), "1");
}

#[test]
fn a_file_that_tests_include_is_the_same_file_however_it_is_named() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let folder = scratch.path();
    std::fs::create_dir(folder.join("tests")).expect("writable");
    std::fs::write(folder.join("lib.c"), "int twice(int x) { return 2 * x; }\n").expect("writable");
    let test = "#include \"../lib.c\"\nint main(void) { return twice(0); }\n";
    std::fs::write(folder.join("tests/test.c"), test).expect("writable");
    measure(folder, "stmt", "cc -c lib.c && cc tests/test.c -o program && ./program");
    let report = std::fs::read_to_string(folder.join("measured/measurement.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let files: BTreeSet<&str> =
        report["objectives"].as_array().expect("a list").iter().filter_map(|o| o["file"].as_str()).collect();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["lib.c", "tests/test.c"]);

    // Without the tests' own files, what they covered in the code under test still counts.
    let words = ["merge", "measured", "-o", "merged", "--exclude", "tests", "-q"];
    let run = touchstone().args(words).current_dir(folder).output().expect("touchstone runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let report = std::fs::read_to_string(folder.join("merged/measurement.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let shown = |o: &serde_json::Value| format!("{} {}", o["file"].as_str().expect("a file"), o["status"]);
    let found: Vec<String> = report["objectives"].as_array().expect("a list").iter().map(shown).collect();
    assert_eq!(found, ["lib.c \"covered\""]);
}

/// A decision that `longjmp` enters again: neither its rows nor the hits of other functions depend on the first pass.
#[test]
fn a_decision_with_a_call_that_returns_twice_is_measured_by_its_outcomes() {
    let text = r#"
#include <setjmp.h>
#define TRY setjmp(buffer)
static jmp_buf buffer;
static volatile int count;
int never(int a, int b) { if (a > 1 && b > 2) return 1; return 0; }
void retry(int n) { count = 0; if (setjmp(buffer) == 0 || count < n) { count++; longjmp(buffer, 1); } }
void again(int n) { count = 0; if (TRY == 0 || count < n) { count++; longjmp(buffer, 1); } }
int main(void) { retry(40); again(5000); return 0; }
"#;
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("program.c"), text).expect("writable");
    let (measured, output) = measure(scratch.path(), "mcdc,decision", "cc -O0 -o program program.c && ./program");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let unit = &measured.units[0];
    for objective in &unit.record.objectives {
        let covered = !unit.covered(objective).is_empty();
        let is_decision = objective.criterion == "decision";
        match objective.function.as_str() {
            "retry" | "again" => assert_eq!(covered, is_decision, "{objective:?}"),
            _ => assert!(!covered, "{objective:?}"),
        }
    }
}
