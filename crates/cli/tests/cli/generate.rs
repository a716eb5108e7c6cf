//! `touchstone generate` and `run` as users call them, on every example: the numbers that the examples promise, all tests
//! compiled and replayed with agreement, the same bytes twice.

use crate::support;

use crate::support::{Example, examples};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn touchstone() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(support::root()).env("NO_COLOR", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn generate(example: &Example, arguments: &[String], out: &Path) -> (Output, Value) {
    let mut command = touchstone();
    command.arg("generate").args(&example.files).args(arguments).args(["--format", "json", "-o"]).arg(out);
    let output = command.output().expect("touchstone runs");
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", example.name, text(&output.stderr)));
    (output, report)
}

#[test]
fn every_example_gives_the_tests_that_it_promises_and_all_of_them_replay() {
    let mut checked = 0;
    for example in examples() {
        for expectation in &example.expectations {
            let out = tempfile::tempdir().expect("a scratch directory");
            let mut arguments = vec!["-c".to_string(), "paths".to_string()];
            arguments.extend(expectation.options.clone());
            if !expectation.has("--entry") {
                arguments.extend(["-f".to_string(), expectation.function.clone()]);
            }
            let (output, report) = generate(&example, &arguments, out.path());
            let name = format!("{} {:?}", example.name, arguments);
            assert_eq!(output.status.code(), Some(0), "{name}\n{}", text(&output.stderr));
            let function = &report["functions"][0];
            let tests = function["tests"].as_u64().expect("a number of tests");
            if expectation.at_least {
                assert!(tests >= expectation.tests, "{name}: {tests} tests");
            } else {
                assert_eq!(tests, expectation.tests, "{name}");
            }
            assert_eq!(function["paths"]["error"], expectation.errors, "{name}: error paths");
            for test in report["tests"].as_array().expect("tests") {
                assert_eq!(test["replayed"], true, "{name} {}: {}", test["id"], test["replay"]);
            }
            checked += 1;
        }
    }
    assert!(checked >= 30, "only {checked} expectations");
}

#[test]
fn a_program_in_the_interpreter_does_what_the_compiled_program_does() {
    let mut checked = 0;
    for example in examples() {
        let Some(status) = example.run_status else { continue };
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let program = scratch.path().join("program");
        let compiled = Command::new("cc").arg("-o").arg(&program).args(&example.files).status().expect("cc runs");
        assert!(compiled.success(), "{}", example.name);
        let real = Command::new(&program).output().expect("the program runs");
        let ours = touchstone().arg("run").args(&example.files).output().expect("touchstone runs");
        assert_eq!(ours.status.code(), Some(status), "{}: {}", example.name, text(&ours.stderr));
        assert_eq!(ours.status.code(), real.status.code(), "{}", example.name);
        assert_eq!(text(&ours.stdout), text(&real.stdout), "{}", example.name);
        checked += 1;
    }
    assert!(checked >= 1);
}

/// Everything that may differ between two runs of the same thing: time.
fn without_times(mut report: Value) -> Value {
    for function in report["functions"].as_array_mut().expect("functions") {
        function["seconds"] = Value::Null;
        function["replay_seconds"] = Value::Null;
        function["solver"]["seconds"] = Value::Null;
    }
    report
}

#[test]
fn the_same_run_gives_the_same_bytes_whatever_the_number_of_jobs() {
    for name in ["tcas.c", "glob.c", "errors.c"] {
        let example = examples().into_iter().find(|example| example.name == name).expect("the example");
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let run = |folder: &str, jobs: &str| {
            let out = scratch.path().join(folder);
            let (_, report) = generate(&example, &["-c", "paths,mcdc", "--jobs", jobs].map(str::to_string), &out);
            let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(&out)
                .expect("the output directory")
                .map(|entry| entry.expect("readable").path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
                .map(|path| {
                    let text = std::fs::read_to_string(&path).expect("readable").replace(folder, "OUT");
                    // The file names its directory, and the checksum is of the whole file.
                    let kept = text.lines().filter(|line| !line.starts_with(" * Checksum "));
                    let text = kept.collect::<Vec<_>>().join("\n");
                    (path.file_name().expect("a file").to_string_lossy().into_owned(), text.into_bytes())
                })
                .collect();
            files.sort();
            assert!(!files.is_empty());
            (without_times(report), files)
        };
        let ((report, files), (other_report, other_files)) = (run("run_one", "1"), run("run_two", "2"));
        assert!(files == other_files, "{name}: two runs write different tests");
        let lines = |report: &Value| format!("{report:#}");
        let (one, other) = (lines(&report), lines(&other_report));
        let difference = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(one == other, "{name}: two runs differ: {difference:?}");
    }
}

#[test]
fn more_combinations_than_can_be_listed_are_unknown_not_forgotten() {
    let out = tempfile::tempdir().expect("a scratch directory");
    let mut command = touchstone();
    command.args(["generate", "tests/decisions/many.c", "-f", "pairs_of_flags", "-c", "mcc,mcdc", "--no-replay", "-q"]);
    let output = command.args(["--format", "json", "-o"]).arg(out.path()).output().expect("touchstone runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let mcc: Vec<&Value> = report["objectives"]
        .as_array()
        .expect("objectives")
        .iter()
        .filter(|objective| objective["criterion"] == "mcc")
        .collect();
    assert_eq!(mcc.len(), 1, "{mcc:?}");
    assert_eq!(mcc[0]["status"], "unknown");
    assert_eq!(mcc[0]["why"], "more than 4096 combinations");
    // MC/DC of the same decision: all of it, with a pair for each of the 72 conditions, in 73 tests.
    assert_eq!(report["functions"][1]["objectives"]["covered"], 144);
    assert_eq!(report["functions"][1]["tests"], 73);
    let pairs = report["decisions"][0]["pairs"].as_array().expect("pairs");
    let with_pair: std::collections::BTreeSet<u64> = pairs
        .iter()
        .filter(|pair| pair["kind"] == "unique_cause")
        .map(|pair| pair["condition"].as_u64().expect("a position"))
        .collect();
    assert_eq!(with_pair.len(), 72);
}

#[test]
fn a_bound_on_memory_is_said_when_it_is_met() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("wide.c");
    let source = "int f(unsigned long x) { int n = 0; for (int i = 0; i < 40; i++) if (x >> i & 1) n += i; return n; }";
    std::fs::write(&file, source).expect("a writable scratch directory");
    let mut command = touchstone();
    command.arg("generate").arg(&file).args(["-c", "paths", "--search", "bfs", "--no-replay", "--emit", "json"]);
    let output = command.args(["--memory", "1", "-o"]).arg(scratch.path().join("out")).output().expect("it runs");
    let said = text(&output.stdout);
    assert!(said.contains("raise --memory"), "{said}");
}
