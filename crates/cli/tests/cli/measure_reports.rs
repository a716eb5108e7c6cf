//! Reports of `touchstone measure`: variants of code, unmeasured code, executed lines, older versions, exclusions, exit
//! codes.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn touchstone(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(folder).output().expect("touchstone runs")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch directory");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("writable");
    }
    folder
}

/// Measures a command in a folder; the document, and what was said.
fn measure(folder: &Path, options: &[&str], command: &str) -> (Value, String) {
    let words = [&["measure", "--format", "json"], options, &["--", "sh", "-c", command]].concat();
    let run = touchstone(folder, &words);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    (serde_json::from_slice(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{said}")), said)
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().expect("a list")
}

/// `text [variant]: status` of the objectives of a criterion.
fn statuses(document: &Value, criterion: &str) -> Vec<String> {
    let mut found: Vec<String> = list(document, "objectives")
        .iter()
        .filter(|objective| objective["criterion"] == criterion)
        .map(|objective| {
            let variant = objective["variant"].as_str().map_or(String::new(), |variant| format!(" [{variant}]"));
            format!(
                "{}{variant}: {}",
                objective["text"].as_str().expect("a text"),
                objective["status"].as_str().expect("one")
            )
        })
        .collect();
    found.sort();
    found
}

const MODES: &str = "\
int f(int a, int b, int c) {
#if MODE == 1
    if (a && b)
        return LIMIT;
#else
    if (a || b || c)
        return LIMIT + 1;
#endif
    return 0;
}
int same(int x) { return x > 3 ? 1 : 2; }
";
const MODES_MAIN: &str = "\
int f(int, int, int); int same(int);
int main(int count, char **words) { (void)words; return f(count > 1, count > 2, 0) + same(count) > 90; }
";

#[test]
fn one_source_under_two_sets_of_macros_has_objectives_of_its_own_in_each() {
    let folder = folder(&[("f.c", MODES), ("main.c", MODES_MAIN)]);
    let build = "for m in 1 2; do cc -DLIMIT=5 -DMODE=$m -c -o f$m.o f.c && cc -o t$m main.c f$m.o || exit 1; done";
    let run = "./t1; ./t1 x y; ./t2";
    let (document, said) = measure(folder.path(), &["-c", "branch,mcdc", "--html", "site"], &format!("{build}; {run}"));
    assert_eq!(
        statuses(&document, "branch"),
        [
            "a && b is false [-DMODE=1]: covered",
            "a && b is true [-DMODE=1]: covered",
            "a || b || c is false [-DMODE=2]: covered",
            "a || b || c is true [-DMODE=2]: uncovered",
            "x > 3 is false: covered",
            "x > 3 is true: uncovered",
        ],
        "{said}"
    );
    let ids: Vec<&str> = list(&document, "objectives").iter().map(|o| o["id"].as_str().expect("an id")).collect();
    let mut unique = ids.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    // Rows of a table are rows of its own decision.
    for decision in list(&document, "decisions") {
        let conditions = list(decision, "conditions").len();
        for row in list(decision, "rows") {
            assert_eq!(list(row, "values").len(), conditions);
        }
    }
    assert!(list(&document, "decisions").iter().any(|decision| decision["variant"] == "-DMODE=2"));
    let page = |name: &str| std::fs::read_to_string(folder.path().join("site/f").join(name)).expect("a page");
    assert!(page("f.c.html").contains(">-DMODE=2</a>"));
    assert!(
        page("f.c~v2.html").contains("a || b || c is true") && !page("f.c~v2.html").contains("a &amp;&amp; b is true")
    );
    // Without `--variant`, what both variants have in common counts once.
    let text = "int f(int a, int b) {\n#ifdef CHECKED\n    if (a > 100) return -9;\n#endif\n    if (a > 0 && b > 0) return 1;\n    return 0;\n}\n";
    let main = "int f(int, int);\nint main(void) { return f(1, 1) - 1 + f(0, 1) + f(1, 0); }\n";
    let twice = self::folder(&[("lib.c", text), ("t.c", main)]);
    let build = "cc -c lib.c -o lib.o && cc -DCHECKED -c lib.c -o checked.o && cc t.c checked.o -o t && ./t";
    let (_, said) = measure(twice.path(), &["-c", "branch", "--exclude", "t.c"], build);
    assert!(said.is_empty() || !said.contains("error"), "{said}");
    let report = |words: &[&str]| {
        let run = touchstone(twice.path(), &[&["report"], words].concat());
        String::from_utf8_lossy(&run.stdout).into_owned()
    };
    assert!(report(&[]).contains("branch         3/4") && report(&[]).contains("75% of 4"), "{}", report(&[]));
    let plain = report(&["--variant", "no macros of its own"]);
    assert!(plain.contains("branch         0/2"), "{plain}");
    let only = touchstone(folder.path(), &["report", "--variant", "-DMODE=1", "--format", "json"]);
    let only: Value = serde_json::from_slice(&only.stdout).expect("JSON");
    assert_eq!(statuses(&only, "branch").len(), 4);
    let none = touchstone(folder.path(), &["report", "--variant", "-DMODE=7"]);
    assert!(String::from_utf8_lossy(&none.stderr).contains("variants: -DMODE=1, -DMODE=2"));
    // The coverage of one variant says nothing about another, and nothing panics.
    for (mode, expected) in [("1", "5 covered before"), ("2", "4 covered before")] {
        let flags = [&format!("-DMODE={mode}"), "-DLIMIT=5"];
        let words = ["prove", "f.c", "-f", "f", "-c", "branch,mcdc", "--on-top-of", "touchstone-out", "-o", "p", "--"];
        let run = touchstone(folder.path(), &[&words[..], &flags[..]].concat());
        let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert!(said.contains(expected), "{mode}: {said}");
    }
}

#[test]
fn macros_that_change_only_constants_make_variants_and_macros_that_change_nothing_do_not() {
    let text = "int g(int x) { return x > LIMIT; }\nint main(int c, char **v) { (void)v; return g(c) && c > 9; }\n";
    let folder = folder(&[("g.c", text)]);
    let twice = |one: &str, two: &str| {
        let build = format!("cc {one} -o a g.c && cc {two} -o b g.c && ./a && ./b");
        let found = statuses(&measure(folder.path(), &["-c", "stmt"], &build).0, "stmt");
        found.iter().filter(|text| text.contains('[')).cloned().collect::<Vec<_>>()
    };
    let both = ["return x > LIMIT [-DLIMIT=0]: covered", "return x > LIMIT [-DLIMIT=5]: covered"];
    assert_eq!(twice("-DLIMIT=0", "-DLIMIT=5"), both);
    assert!(twice("-DLIMIT=0 -DPIC -fPIC", "-DLIMIT=0 -O2").is_empty());
}

#[test]
fn a_header_that_several_files_include_with_other_macros_has_a_variant_for_each() {
    let header = "static int pick(int x) {\n#ifdef WIDE\n    if (x > 1 && x < 9) return 1;\n#else\n    if (x > 1) return 1;\n#endif\n    return 0;\n}\n";
    let folder = folder(&[
        ("pick.h", header),
        ("a.c", "#include \"pick.h\"\nint a(int x) { return pick(x); }\n"),
        (
            "b.c",
            "#define WIDE\n#include \"pick.h\"\nint b(int x) { return pick(x); }\nint a(int);\nint main(void) { return a(5) + b(0) - 1; }\n",
        ),
    ]);
    let (document, said) = measure(folder.path(), &["-c", "branch"], "cc -o t a.c b.c && ./t");
    let found = statuses(&document, "branch");
    assert!(found.contains(&"x > 1 is true [in a.c]: covered".to_string()), "{found:?}\n{said}");
    assert!(found.contains(&"x > 1 && x < 9 is true [in b.c]: uncovered".to_string()), "{found:?}");
}

#[test]
fn functions_that_one_header_makes_twice_are_two_functions() {
    let folder = folder(&[
        ("impl.h", "static T NAME(add)(T a, T b) {\n    if (a > b)\n        return a;\n    return b;\n}\n"),
        (
            "main.c",
            "#define T int\n#define NAME(x) x##_int\n#include \"impl.h\"\n#undef T\n#undef NAME\n#define T double\n#define NAME(x) x##_double\n#include \"impl.h\"\nint main(void) { return add_int(2, 1) + (int)add_double(1, 2) - 4; }\n",
        ),
    ]);
    let (document, said) = measure(folder.path(), &["-c", "branch", "--lcov", "l.info"], "cc -o t main.c && ./t");
    let count = |status: &str| {
        let of = |o: &&Value| o["file"].as_str().is_some_and(|file| file.ends_with("impl.h")) && o["status"] == status;
        list(&document, "objectives").iter().filter(of).count()
    };
    assert_eq!((count("covered"), count("uncovered")), (2, 2), "{said}");
}

#[test]
fn code_that_is_not_measured_is_neither_covered_nor_uncovered() {
    // A switch without braces has no place for probes.
    let text = "int f(int x) {\n    switch (x)\n    case 1:\n        return 5;\n    return 0;\n}\nint main(void) {\n    int x = 2;\n    if (x > 1)\n        x = f(x);\n    return x;\n}\n";
    let folder = folder(&[("a.c", text)]);
    let options =
        ["measure", "-c", "branch", "--lcov", "l.info", "--html", "site", "--sarif", "s.json", "--", "sh", "-c"];
    let run = touchstone(folder.path(), &[&options[..], &["cc -o t a.c && ./t"]].concat());
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(said.contains("not measured") && said.contains("50% of 2"), "{said}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let lcov = read("l.info");
    let lines: Vec<&str> =
        lcov.lines().filter(|line| ["DA:", "BRDA:", "FN:", "BRF"].iter().any(|kind| line.starts_with(kind))).collect();
    assert_eq!(lines, ["FN:7,main", "BRDA:9,0,0,1", "BRDA:9,0,1,0", "BRF:2", "DA:7,1", "DA:9,1"]);
    assert!(read("site/f/a.c.html").contains("<p id=L2 class=m"), "{}", read("site/f/a.c.html"));
    assert!(!read("s.json").contains("not measured"));
    let document: Value = serde_json::from_str(&read("touchstone-out/measurement.json")).expect("JSON");
    let open: Vec<&Value> = list(&document, "objectives").iter().filter(|o| o["status"] == "unknown").collect();
    assert!(!open.is_empty() && open.iter().all(|o| o["reason"] == "switch_without_braces"), "{open:?}");
}

#[test]
fn a_line_that_ran_is_never_shown_as_not_executed() {
    let text = "\
#include <assert.h>
static int total, other;
static void add(int x) {
    total += x;
    other = x > 0 && x < 9;
}
int main(void) {
    add(3);
    assert(total == 3);
    return 0;
}
";
    let folder = folder(&[("a.c", text)]);
    for criteria in ["mcdc,state", "state", "wm", "rte", "rte,state", "branch,wm,state"] {
        let options = ["-c", criteria, "--lcov", "l.info", "--html", "site", "--cobertura", "c.xml"];
        let (_, said) = measure(folder.path(), &options, "cc -o t a.c && ./t");
        let lcov = std::fs::read_to_string(folder.path().join("l.info")).expect("LCOV");
        let zero: Vec<&str> = lcov.lines().filter(|line| line.starts_with("DA:") && line.ends_with(",0")).collect();
        assert!(zero.is_empty(), "{criteria}: {zero:?}\n{said}");
        let page = std::fs::read_to_string(folder.path().join("site/f/a.c.html")).expect("a page");
        let zero = ["c", "h", "u"].map(|class| format!("class={class} data-h=0"));
        assert!(!zero.iter().any(|zero| page.contains(zero)), "{criteria}");
    }
}

#[test]
fn an_older_version_of_a_file_does_not_count() {
    let folder = folder(&[("a.c", "int main(void) {\n    int x = 1;\n    if (x) return 0;\n    return 1;\n}\n")]);
    measure(folder.path(), &["-c", "stmt"], "cc -o t a.c && ./t");
    std::fs::write(folder.path().join("a.c"), "int main(void) {\n    return 0;\n}\n").expect("writable");
    let (document, said) = measure(folder.path(), &["-c", "stmt", "--keep"], "cc -o t a.c && ./t");
    assert_eq!(statuses(&document, "stmt"), ["return 0: covered"], "{said}");
    assert!(said.contains("older version of"), "{said}");
}

#[test]
fn merging_keeps_what_the_measurements_exclude() {
    let folder =
        folder(&[("a.c", "int f(void) { return 0; }\n"), ("t.c", "int f(void);\nint main(void) { return f(); }\n")]);
    let command = "cc -o t a.c t.c && ./t";
    let one = ["measure", "-q", "-c", "stmt", "-o", "one", "--exclude", "t.c", "--", "sh", "-c", command];
    assert!(touchstone(folder.path(), &one).status.success());
    let both = |words: &[&str]| {
        let run = touchstone(folder.path(), &[words, &["--format", "json", "-q"]].concat());
        let document: Value = serde_json::from_slice(&run.stdout).expect("JSON");
        statuses(&document, "stmt")
    };
    assert_eq!(both(&["merge", "one", "-o", "both"]), ["return 0: covered"]);
    assert_eq!(both(&["merge", "both", "-o", "again"]), ["return 0: covered"]);
}

#[test]
fn a_compiler_that_cmake_remembers_is_named_with_its_cache() {
    let folder = folder(&[("a.c", "int main(void) { return 0; }\n")]);
    std::fs::create_dir_all(folder.path().join("out")).expect("writable");
    let cache = "CMAKE_C_COMPILER:FILEPATH=/usr/bin/cc\n";
    std::fs::write(folder.path().join("out/CMakeCache.txt"), cache).expect("writable");
    let run = touchstone(folder.path(), &["measure", "--", "sh", "-c", ": cmake --build out"]);
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("delete out/CMakeCache.txt") && !said.contains("CC=gcc"), "{said}");
}

#[test]
fn variants_that_differ_in_the_standard_of_the_language_are_named_by_it() {
    let text = "int f(int a) {\n#if __STDC_VERSION__ >= 201112L\n    if (a > 3) return 1;\n#else\n    if (a > 4) return 1;\n#endif\n    return 0;\n}\nint main(void) { return f(1); }\n";
    let folder = folder(&[("a.c", text)]);
    let build = "cc -std=c99 -o old a.c && cc -std=c11 -o new a.c && ./old && ./new";
    let (document, said) = measure(folder.path(), &["-c", "branch"], build);
    let found = statuses(&document, "branch");
    assert!(found.contains(&"a > 4 is true [-std=c99]: uncovered".to_string()), "{found:?} {said}");
}

#[test]
fn what_a_configure_script_tries_is_no_test() {
    let folder = folder(&[("a.c", "int main(void) { return 0; }\n")]);
    let configure =
        "echo 'int main(void) { return 0; }' > conftest.c && cc -o conftest conftest.c && ./conftest && rm conftest.c";
    let (document, _) =
        measure(folder.path(), &["-c", "stmt", "--junit", "j.xml"], &format!("{configure} && cc -o t a.c && ./t"));
    let tests: Vec<&str> = list(&document, "tests").iter().map(|test| test["id"].as_str().expect("an id")).collect();
    assert_eq!(tests, ["t"]);
    let junit = std::fs::read_to_string(folder.path().join("j.xml")).expect("JUnit");
    assert!(junit.contains("skipped=\"0\"") && !junit.contains("not replayed"), "{junit}");
}

#[test]
fn a_failing_command_and_a_missed_threshold_end_differently() {
    let folder = folder(&[("a.c", "int main(int c, char **v) { (void)v; if (c > 1) return 2; return 0; }\n")]);
    let code = |command: &str, options: &[&str]| {
        let words = [&["measure", "-c", "branch", "-q"], options, &["--", "sh", "-c", command]].concat();
        touchstone(folder.path(), &words).status.code()
    };
    assert_eq!(code("cc -o t a.c && ./t", &[]), Some(0));
    assert_eq!(code("cc -o t a.c && ./t", &["--fail-under", "branch=100"]), Some(2));
    assert_eq!(code("cc -o t a.c && ./t x", &[]), Some(5));
    assert_eq!(code("cc -o t a.c && ./t x", &["--fail-under", "branch=100"]), Some(5));
    // A gate without objectives is not passed.
    let straight = "echo 'int main(void) { return 0; }' > b.c && cc -o t b.c && ./t";
    assert_eq!(code(straight, &["-c", "stmt", "--fail-under", "branch=80,stmt=80"]), Some(2));
    assert_eq!(code(straight, &["-c", "stmt", "--fail-under", "stmt=80"]), Some(0));
    let report = ["report", "-q", "--fail-under", "stmt=80"];
    assert_eq!(touchstone(folder.path(), &report).status.code(), Some(0));
    assert_eq!(code(straight, &["--fail-under", "branch=80"]), Some(2));
    let report = ["report", "-q", "--fail-under", "branch=80"];
    assert_eq!(touchstone(folder.path(), &report).status.code(), Some(2));
}

#[test]
fn a_measurement_that_is_told_to_stop_leaves_what_it_has() {
    let folder = folder(&[("a.c", "int main(void) { return 0; }\n")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "stmt", "--", "sh", "-c", "cc -o t a.c && ./t && touch ready && sleep 60; sleep 60"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("touchstone runs");
    let ready = folder.path().join("ready");
    for _ in 0..600 {
        if ready.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill runs").success());
    let before = std::time::Instant::now();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(before.elapsed().as_secs() < 30);
    let campaign = std::fs::read_to_string(folder.path().join("touchstone-out/measurement.json")).expect("a campaign");
    assert!(campaign.contains("\"covered\""), "{campaign}");
}

#[test]
fn a_suite_without_a_known_assertion_gets_a_hint_and_no_figure() {
    let text = "static int total;\nstatic void add(int x) { total += x; }\nstatic int check(int ok) { return !ok; }\nint main(void) { add(3); return check(total == 3); }\n";
    let folder = folder(&[("a.c", text)]);
    let command = "cc -o t a.c && ./t";
    let (document, said) = measure(folder.path(), &["-c", "state"], command);
    assert!(said.contains("--assertion"), "{said}");
    assert!(list(&document, "objectives").iter().all(|o| o["status"] == "unknown"), "{document}");
    let below = touchstone(
        folder.path(),
        &["measure", "-q", "-c", "state", "--fail-under", "state=50", "--", "sh", "-c", command],
    );
    assert_eq!(below.status.code(), Some(2));
    let (document, said) = measure(folder.path(), &["-c", "state", "--assertion", "check"], command);
    assert!(!said.contains("--assertion"), "{said}");
    assert!(list(&document, "objectives").iter().any(|o| o["status"] == "covered"), "{document}");
}

#[test]
fn a_trace_that_is_cut_off_says_so() {
    let text = "#include <assert.h>\nstatic int total;\nint main(void) { for (int i = 0; i < 100000; i++) total += i; assert(total != 1); return 0; }\n";
    let folder = folder(&[("a.c", text)]);
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "state", "--", "sh", "-c", "cc -o t a.c && ./t"])
        .env("TOUCHSTONE_STATE_EVENTS", "1000")
        .current_dir(folder.path())
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(said.contains("state: bound: the trace of t reached its limit"), "{said}");
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(shown.contains("at least 0 of 1  t: unknown: bound: TOUCHSTONE_STATE_EVENTS in test t"), "{shown}");
}

#[test]
fn findings_of_functions_with_one_name_in_two_files_have_fingerprints_of_their_own() {
    let text = |name: &str| {
        format!("static int help(int x) {{ if (x) return 1; return 0; }}\nint {name}(int x) {{ return help(x); }}\n")
    };
    let (a, b) = (text("a"), text("b") + "int a(int);\nint main(void) { return a(0) + b(0); }\n");
    let folder = folder(&[("a.c", &a), ("b.c", &b)]);
    let (document, _) = measure(folder.path(), &["-c", "branch", "--sarif", "s.json"], "cc -o t a.c b.c && ./t");
    let sarif: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("s.json")).expect("SARIF")).expect("JSON");
    let prints: Vec<String> =
        list(&sarif["runs"][0], "results").iter().map(|result| result["partialFingerprints"].to_string()).collect();
    let mut unique = prints.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((prints.len(), unique.len()), (2, 2), "{prints:?}");
    let covers = list(&list(&document, "tests")[0], "covers");
    assert!(covers.iter().any(|id| id.as_str().expect("an id").starts_with("a.c:help.")), "{covers:?}");
}

#[test]
fn executions_are_counted_where_that_is_asked_for() {
    let text = "\
#include <stdlib.h>
static int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        if (i % 3 && i != 4)
            s += i;
    return s;
}
int main(int count, char **words) {
    (void)count;
    return sum(atoi(words[1])) > 1000000;
}
";
    let folder = folder(&[("a.c", text)]);
    let options = ["-c", "stmt,branch,mcdc", "--counts", "--lcov", "l.info", "--html", "site"];
    let (document, said) = measure(folder.path(), &options, "cc -o t a.c && ./t 1000 && ./t 10");
    let lcov = std::fs::read_to_string(folder.path().join("l.info")).expect("LCOV");
    for line in ["DA:2,2", "DA:3,2", "DA:5,1010", "DA:6,670", "DA:7,2", "DA:11,2", "FNDA:2,sum", "BRDA:5,0,0,670"] {
        assert!(lcov.lines().any(|known| known == line), "{line}\n{lcov}\n{said}");
    }
    let body = list(&document, "objectives").iter().find(|o| o["text"] == "s += i" && o["criterion"] == "stmt");
    assert_eq!(body.expect("the statement")["count"], 670);
    let page = std::fs::read_to_string(folder.path().join("site/f/a.c.html")).expect("a page");
    assert!(page.contains("data-h=670") && page.contains("executed three times"));
    // A decision with more rows than can be told apart, and errors.
    let many = (0..20).map(|i| format!("((x >> {i}) & 1)")).collect::<Vec<_>>();
    let any = many.chunks(2).map(|two| two.join(" && ")).collect::<Vec<_>>().join(" || ");
    let text = format!(
        "int f(int x) {{ if ({any}) return 10 / (x - 2); return 0; }}\nint main(void) {{ for (int i = 0; i < 9; i++) if (i != 2) f(i); return 0; }}\n"
    );
    std::fs::write(folder.path().join("a.c"), text).expect("writable");
    let (document, said) = measure(folder.path(), &["-c", "branch,mcdc,rte", "--counts"], "cc -o t a.c && ./t");
    let counts: u64 = list(&document, "objectives")
        .iter()
        .filter(|o| o["criterion"] == "branch" && o["function"] == "f")
        .map(|o| o["count"].as_u64().expect("a count"))
        .sum();
    assert_eq!(counts, 8, "{said}");
}

#[test]
fn what_other_tools_exclude_is_excluded() {
    let text = "\
int f(int x) {
    if (x == 1) // LCOV_EXCL_BR_LINE
        x++; /* GCOVR_EXCL_LINE */
    /* LCOV_EXCL_START no memory */
    if (x == 2)
        x--;
    /* LCOV_EXCL_STOP */
    return x;
}
static int g(int x) { // GCOVR_EXCL_FUNCTION
    return x;
}
int main(void) { return f(0) + (f(0) ? g(0) : 0); }
";
    let folder = folder(&[("a.c", text)]);
    let (document, _) = measure(folder.path(), &["-c", "stmt,branch"], "cc -o t a.c && ./t");
    let excluded = |line: u64, criterion: &str| {
        let at = |o: &&Value| o["line"] == line && o["criterion"] == criterion;
        let found: Vec<bool> =
            list(&document, "objectives").iter().filter(at).map(|o| o["excluded"].is_string()).collect();
        assert!(!found.is_empty(), "{line} {criterion}");
        found.iter().all(|excluded| *excluded)
    };
    assert!(excluded(2, "branch") && !excluded(2, "stmt"));
    assert!(excluded(3, "stmt") && excluded(5, "branch") && excluded(6, "stmt") && excluded(11, "stmt"));
    assert!(!excluded(8, "stmt"));
}

#[test]
fn lines_of_a_generated_file_are_shown_where_they_come_from() {
    let generated = "\
static int skeleton(int x) { return x; }
#line 3 \"grammar.y\"
int action(int x) {
    if (x > 1)
        return 2;
    return skeleton(x);
}
#if 0
#line 900 \"grammar.y\"
#endif
#line 12 \"gen.c\"
int main(void) { return action(0); }
";
    let grammar =
        "%%\n/* the grammar */\nint action(int x) {\n    if (x > 1)\n        return 2;\n    return skeleton(x);\n}\n";
    let folder = folder(&[("gen.c", generated), ("grammar.y", grammar)]);
    let (document, said) = measure(folder.path(), &["-c", "stmt", "--html", "site"], "cc -o t gen.c && ./t");
    let mut places: Vec<String> = list(&document, "objectives")
        .iter()
        .map(|o| {
            format!("{}:{} {}", o["file"].as_str().expect("a file"), o["line"], o["status"].as_str().expect("one"))
        })
        .collect();
    places.sort();
    let expected =
        ["gen.c:1 covered", "gen.c:12 covered", "grammar.y:4 covered", "grammar.y:5 uncovered", "grammar.y:6 covered"];
    assert_eq!(places, expected, "{said}");
}
