//! `touchstone annotate`: labelled text compiles, runs like the original, and, run on our own tests, its labels say what the
//! campaign says.

use crate::support;

use crate::support::{Example, examples};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRITERIA: &str = "stmt,branch,decision,condition,mcc,wm";

fn touchstone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(support::root()).env("NO_COLOR", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The annotated text of a file.
fn annotated(file: &Path, criteria: &str, style: &str) -> String {
    let output = touchstone().args(["annotate", "-c", criteria, "--style", style]).arg(file).output();
    let output = output.expect("touchstone runs");
    assert!(output.status.success(), "{}: {}", file.display(), text(&output.stderr));
    text(&output.stdout)
}

/// A directory with the headers that programs may ask for.
fn include_dir(scratch: &Path) -> PathBuf {
    let dir = scratch.join("include");
    touchstone_front_c::write_headers(&dir).expect("a writable directory");
    dir
}

fn compile(arguments: &[&std::ffi::OsStr], what: &str) {
    let flags = ["-fwrapv", "-fno-strict-aliasing", "-w"];
    let output = Command::new("cc").args(flags).args(arguments).output().expect("cc runs");
    assert!(output.status.success(), "{what} does not compile\n{}", text(&output.stderr));
}

/// Examples that are one file and have no input of their own.
fn single_files() -> Vec<Example> {
    examples().into_iter().filter(|example| example.files.len() == 1).collect()
}

#[test]
fn a_program_with_labels_does_what_the_program_does() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let mut checked = 0;
    for example in single_files().into_iter().filter(|example| example.run_status.is_some()) {
        let run = |source: &Path| {
            let program = scratch.path().join("program");
            compile(&[source.as_os_str(), "-o".as_ref(), program.as_os_str()], &example.name);
            Command::new(&program).output().expect("the program runs")
        };
        let original = run(&example.files[0]);
        for style in ["direct", "tight"] {
            let made = scratch.path().join("annotated.c");
            std::fs::write(&made, annotated(&example.files[0], CRITERIA, style)).expect("writable");
            let with_labels = run(&made);
            assert_eq!(with_labels.status.code(), original.status.code(), "{} ({style})", example.name);
            assert_eq!(text(&with_labels.stdout), text(&original.stdout), "{} ({style})", example.name);
            checked += 1;
        }
    }
    assert!(checked >= 2);
}

const COLLECTOR: &str = r#"
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void touchstone_cover(const char *id) {
    char line[300];
    int file = open(getenv("TOUCHSTONE_COVERED"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    size_t length = strlen(id);
    if (file < 0 || length > sizeof line - 1) abort();
    memcpy(line, id, length);
    line[length] = '\n';
    if (write(file, line, length + 1) < 0) abort();
    close(file);
}
/* A free choice: both. What asserts a label does nothing else. */
int touchstone_nondet(void) {
    pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) return 1;
    if (waitpid(child, 0, 0) < 0) abort();
    return 0;
}
void touchstone_assert_label(int holds, const char *id) {
    if (holds) touchstone_cover(id);
    _exit(0);
}
"#;

/// Ids that annotated text has as labels.
fn placed(text: &str) -> BTreeSet<String> {
    let ids = text.match_indices("\")").filter_map(|(end, _)| text[..end].rsplit('"').next());
    let is_id = |id: &&str| id.split('.').count() == 4 && id.rsplit('.').next().is_some_and(|hash| hash.len() == 8);
    ids.filter(is_id).map(str::to_string).collect()
}

/// Generates tests for a function, runs them on the annotated source, and compares with the campaign.
/// Gives how many labels were compared, and how many objectives there are.
fn compare(file: &str, function: &str, options: &[&str], criteria: &str, style: &str) -> (usize, usize) {
    let name = format!("{file} {function} ({style})");
    let source = support::root().join("examples").join(file);
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let out = scratch.path().join("out");
    let mut command = touchstone();
    command.arg("generate").arg(&source).args([
        "-f",
        function,
        "-c",
        criteria,
        "--format",
        "json",
        "--no-replay",
        "-o",
    ]);
    let output = command.arg(&out).args(options).output().expect("touchstone runs");
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let objectives = report["objectives"].as_array().expect("objectives");
    let covered = objectives.iter().filter(|objective| objective["status"] == "covered");
    let covered: BTreeSet<String> =
        covered.map(|objective| objective["id"].as_str().expect("an id").to_string()).collect();

    let annotated = annotated(&source, criteria, style);
    let own = format!("{function}.");
    let placed: BTreeSet<String> = placed(&annotated).into_iter().filter(|id| id.starts_with(&own)).collect();
    let not_placed = annotated.matches(&format!("/* not placed: {own}")).count();
    assert_eq!(placed.len() + not_placed, objectives.len(), "{name}: a label got lost");

    let labelled = scratch.path().join("labelled.c");
    std::fs::write(&labelled, annotated).expect("writable");
    let collector = scratch.path().join("collector.c");
    std::fs::write(&collector, COLLECTOR).expect("writable");
    let suite = out.join(format!("test_{function}.c"));
    let tests = std::fs::read_to_string(&suite).expect("the tests");
    let included = tests.lines().find(|line| line.starts_with("#include \"") && line.contains(file));
    let included = included.expect("the tests include the source");
    let tests = tests.replacen(included, &format!("#include \"{}\"", labelled.display()), 1);
    std::fs::write(&suite, tests).expect("writable");
    let program = scratch.path().join("tests");
    let include = out.join("include");
    let runner = out.join("touchstone_test.c");
    let arguments = [
        "-I".as_ref(),
        include.as_os_str(),
        suite.as_os_str(),
        runner.as_os_str(),
        collector.as_os_str(),
        "-o".as_ref(),
        program.as_os_str(),
    ];
    compile(&arguments, &name);
    let hits = scratch.path().join("hits");
    let run = Command::new(&program).env("TOUCHSTONE_COVERED", &hits).output().expect("the tests run");
    assert!(run.status.success(), "{name}: {}", text(&run.stdout));
    let hits = std::fs::read_to_string(&hits).unwrap_or_default();
    let hits: BTreeSet<String> = hits.lines().filter(|id| id.starts_with(&own)).map(str::to_string).collect();
    let expected: BTreeSet<String> = covered.intersection(&placed).cloned().collect();
    let show = |id: &String| {
        let objective = objectives.iter().find(|objective| objective["id"] == id.as_str());
        format!("{id} {}", objective.map_or(&Value::Null, |objective| &objective["text"]))
    };
    let missing: Vec<String> = expected.difference(&hits).map(show).collect();
    let extra: Vec<String> = hits.difference(&expected).map(show).collect();
    assert!(missing.is_empty() && extra.is_empty(), "{name}: not hit {missing:#?}, only hit {extra:#?}");
    (placed.len(), objectives.len())
}

#[test]
fn labels_that_our_tests_reach_are_those_that_the_campaign_calls_covered() {
    // Functions whose error paths (if any) also stop the plain build: past an error, a real run goes on and reaches more.
    let bounded = ["--loop-bound", "3", "--timeout", "20"];
    let (mut labels, mut all) = (0, 0);
    let criteria = ["stmt,branch,decision,condition,mcc", "wm"];
    for (index, (file, function)) in [
        ("triangle.c", "triangle"),
        ("max3.c", "max3"),
        ("tcas.c", "advise"),
        ("tcas.c", "is_threat"),
        ("utf8.c", "utf8_valid"),
        ("binary_search.c", "binary_search"),
        ("glob.c", "match"),
        ("merge.c", "merge"),
        ("bubble_sort.c", "bubble_sort"),
        ("accounts.c", "transfer"),
        ("linked_list.c", "insert_sorted"),
        ("errors.c", "average"),
    ]
    .into_iter()
    .enumerate()
    {
        // In turn, unless there is time for all.
        let asked = criteria.into_iter().enumerate().filter(|(at, _)| support::long() || *at == index % 2);
        for (_, criteria) in asked {
            let (placed, objectives) = compare(file, function, &bounded, criteria, "direct");
            labels += placed;
            all += objectives;
        }
    }
    assert!(labels * 10 >= all * 8, "only {labels} of {all} objectives have labels");
}

#[test]
fn the_free_choices_of_the_tight_style_reach_the_same_labels() {
    let mut labels = 0;
    for (index, (file, function)) in [
        ("triangle.c", "triangle"),
        ("max3.c", "max3"),
        ("tcas.c", "is_threat"),
        ("binary_search.c", "binary_search"),
        ("accounts.c", "transfer"),
        ("errors.c", "average"),
    ]
    .into_iter()
    .enumerate()
    {
        // In turn, unless there is time for all.
        let asked = ["stmt,branch,decision,condition,dcc,mcc", "wm", "idc"].into_iter().enumerate();
        for (_, criteria) in asked.filter(|(at, _)| support::long() || *at == index % 3) {
            labels += compare(file, function, &["--timeout", "20"], criteria, "tight").0;
        }
    }
    assert!(labels >= 100, "only {labels} labels");
}

#[test]
fn annotated_text_of_both_styles_has_every_objective_once_and_compiles_without_warnings() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let include = include_dir(scratch.path());
    let criteria = "stmt,branch,decision,condition,dcc,mcc,wm,idc,rte,labels";
    let warnings = |file: &Path| {
        let object = scratch.path().join("object.o");
        let mut command = Command::new("cc");
        command.args(["-Wall", "-c", "-I"]).arg(&include).arg(file).arg("-o").arg(&object);
        let output = command.output().expect("cc runs");
        assert!(output.status.success(), "{}: {}", file.display(), text(&output.stderr));
        text(&output.stderr).lines().filter(|line| line.contains("warning:")).count()
    };
    for example in single_files().into_iter().step_by(if support::long() { 1 } else { 4 }) {
        let listed = touchstone().args(["objectives", "-c", criteria]).args(&example.files).output().expect("it runs");
        let listed = text(&listed.stdout);
        let listed: BTreeSet<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        for style in ["direct", "tight"] {
            let made = annotated(&example.files[0], criteria, style);
            assert!(made.contains("TOUCHSTONE_LABEL("), "{}", example.name);
            assert_eq!(annotated(&example.files[0], criteria, style), made, "{}: two runs differ", example.name);
            let mut ids = placed(&made);
            for line in made.lines().filter_map(|line| line.strip_prefix("/* not placed: ")) {
                assert!(ids.insert(line.split(' ').next().expect("an id").to_string()), "{line}: placed, too");
            }
            assert!(ids.iter().map(String::as_str).eq(listed.iter().copied()), "{}: other ids", example.name);
            let file = scratch.path().join(&example.name);
            std::fs::write(&file, made).expect("writable");
            assert_eq!(warnings(&file), warnings(&example.files[0]), "{} ({style})", example.name);
        }
    }
}

#[test]
fn criteria_that_are_no_labels_are_refused_by_name() {
    for criterion in ["mcdc", "paths", "paths:3"] {
        let output = touchstone().args(["annotate", "examples/max3.c", "-c", criterion]).output().expect("it runs");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains(&format!("`{criterion}` can't be written as labels")), "{message}");
    }
}

#[test]
fn what_a_macro_hides_is_listed_and_not_placed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("hidden.c");
    let source = "#define BUMP(x) ((x)++ > 3 && (x) < 9)\n#define STOP(x) if (x) return 1\n\
        int f(int a, int *p) {\n    if (BUMP(a))\n        return 2;\n    STOP(a == 7);\n    if (p && *p > 3)\n        return 3;\n\
        \x20   return 0;\n}\n";
    std::fs::write(&file, source).expect("writable");
    let made = annotated(&file, "decision,wm", "direct");
    assert!(made.contains("/* not placed: f.decision.1."), "{made}");
    assert!(made.contains("/* not placed: f.decision.3."), "{made}");
    assert!(made.contains("\"f.decision.5."), "{made}");
    std::fs::write(&file, &made).expect("writable");
    let object = scratch.path().join("object.o");
    compile(&["-c".as_ref(), file.as_os_str(), "-o".as_ref(), object.as_os_str()], "the annotated text");
}

#[test]
fn an_explanation_names_the_conditions_that_contradict_each_other_and_no_others() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("conflict.c");
    let source = "int f(int x, int y) {\n    if (x > 10) {\n        if (y > 3)\n            y = 1;\n        if (x < 5)\n\
        \x20           return 1;\n    }\n    int n = 0;\n    for (; y > 0; y -= x)\n        n++;\n    if (n == 90 && (unsigned)x * 2654435761u == 305419896u)\n        return 2;\n    return 0;\n}\n";
    std::fs::write(&file, source).expect("writable");
    let listed = touchstone().args(["objectives", "-c", "stmt"]).arg(&file).output().expect("it runs");
    let explained = |statement: &str, options: &[&str]| {
        let list = text(&listed.stdout);
        let line = list.lines().find(|line| line.ends_with(statement)).expect("the statement");
        let id = line.split_whitespace().next().expect("an id");
        let quick = ["--timeout", "3"];
        let output =
            touchstone().arg("explain").arg(id).arg(&file).args(quick).args(options).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let infeasible = explained("return 1", &[]);
    assert!(infeasible.contains("infeasible"), "{infeasible}");
    assert!(infeasible.contains(":2:9: x > 10 is true") && infeasible.contains(":5:13: x < 5 is true"), "{infeasible}");
    assert!(!infeasible.contains("y > 3"), "{infeasible}");
    let covered = explained("y = 1", &[]);
    assert!(covered.contains("covered") && covered.contains("  x = "), "{covered}");
    let unknown = explained("return 2", &["--loop-bound", "2"]);
    assert!(unknown.contains("unknown") && unknown.contains("a larger --loop-bound may help"), "{unknown}");
}
