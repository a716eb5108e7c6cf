//! Programs in the style of SV-COMP and Test-Comp (`tests/testcomp`): every branch is covered or infeasible as the first line
//! of the program says, every test replays, and the suite that is written has these tests.

use crate::support;

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn touchstone(arguments: &[&str], out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.current_dir(support::root()).env("NO_COLOR", "1").args(arguments).arg("-o").arg(out);
    command.output().expect("touchstone runs")
}

fn generate(file: &str, out: &Path) -> Value {
    let options =
        ["-c", "branch", "--scope", "callees", "--emit", "c,testcomp", "--entry", "main", "--format", "json", "-q"];
    // No competition lets allocations fail.
    let options = [&options[..], &["--assume", "allocation"]].concat();
    let output = touchstone(&[&["generate", file][..], &options].concat(), out);
    assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a report")
}

#[test]
fn every_program_is_covered_as_it_says_and_its_suite_has_every_test() {
    let mut checked = 0;
    for entry in std::fs::read_dir(support::root().join("tests/testcomp")).expect("programs") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = format!("tests/testcomp/{}", path.file_name().expect("a file").to_string_lossy());
        let out = tempfile::tempdir().expect("a scratch directory");
        let report = generate(&name, out.path());
        let objectives = &report["functions"][0]["objectives"];
        let found = format!("/* branch: {} covered, {} infeasible */", objectives["covered"], objectives["infeasible"]);
        assert_eq!(text.lines().next(), Some(found.as_str()), "{name}");
        assert_eq!(objectives["unknown"], 0, "{name}");
        let tests = report["tests"].as_array().expect("tests");
        for test in tests {
            assert_eq!(test["replayed"], true, "{name} {}: {}", test["id"], test["replay"]);
        }
        let zip = std::fs::read(out.path().join("test-suite.zip")).expect("an archive");
        let mut files: Vec<String> = (1..=tests.len()).map(|number| format!("testcase-{number}.xml")).collect();
        files.push("metadata.xml".to_string());
        for file in &files {
            let text = std::fs::read(out.path().join("test-suite").join(file)).expect("a file of the suite");
            assert!(zip.windows(text.len()).any(|part| part == text), "{name}: {file} is not in the archive");
        }
        let listed = std::fs::read_dir(out.path().join("test-suite")).expect("the suite").count();
        assert_eq!(listed, files.len(), "{name}");
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} programs");
}

#[test]
fn a_suite_names_its_program_and_has_the_inputs_in_order() {
    let out = tempfile::tempdir().expect("a scratch directory");
    generate("tests/testcomp/password.c", out.path());
    let read =
        |name: &str| std::fs::read_to_string(out.path().join("test-suite").join(name)).expect("a file of the suite");
    let metadata = read("metadata.xml");
    for part in [
        "<!DOCTYPE test-metadata PUBLIC \"+//IDN sosy-lab.org//DTD test-format test-metadata 1.1//EN\"",
        "<sourcecodelang>C</sourcecodelang>",
        "<programfile>tests/testcomp/password.c</programfile>",
        "<entryfunction>main</entryfunction>",
        "<architecture>64bit</architecture>",
    ] {
        assert!(metadata.contains(part), "{part}\n{metadata}");
    }
    let inputs: String = b"k3y!".iter().map(|byte| format!("  <input type=\"char\">{byte}</input>\n")).collect();
    let whole = format!("<testcase>\n{inputs}</testcase>\n");
    assert!((1..=2).any(|number| read(&format!("testcase-{number}.xml")).ends_with(&whole)), "no test has\n{whole}");
}

#[test]
fn a_form_that_does_not_fit_is_refused_by_name() {
    let check = |arguments: &[&str], words: &[&str]| {
        let out = tempfile::tempdir().expect("a scratch directory");
        let output = touchstone(arguments, out.path());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{arguments:?}: `{word}` is not in: {error}");
        }
    };
    check(&["generate", "examples/triangle.c", "--emit", "testcomp"], &["--emit testcomp", "--entry main"]);
    check(
        &["generate", "tests/testcomp/sign.c", "--entry", "main", "--emit", "unity"],
        &["--emit unity", "--emit c, json or testcomp"],
    );
    check(
        &["generate", "examples/program.c", "--entry", "main", "--emit", "testcomp"],
        &["__VERIFIER_nondet_", "the input `price` is requested in another way"],
    );
}
