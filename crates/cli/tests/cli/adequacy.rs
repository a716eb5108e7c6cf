//! Every objective of every example has its verdict: covered or infeasible, nothing unknown, wherever the paths of a
//! function are finite. Where they are not, or where a length is missing, what is left says which bound stood in the way.

use crate::support::{Example, examples, root};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const CRITERIA: &str = "stmt,branch,decision,condition,dcc,mcc,mcdc";

/// Functions with infinitely many paths that the search follows: a list has no maximum length.
const UNBOUNDED: [&str; 1] = ["insert_sorted"];

fn prove(example: &Example, options: &[&str]) -> Value {
    let out = tempfile::tempdir().expect("a scratch directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command
        .current_dir(root())
        .arg("prove")
        .args(&example.files)
        .args(["-c", CRITERIA, "--format", "json", "-q", "-o"]);
    let output = command.arg(out.path()).args(options).output().expect("touchstone runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{} {options:?}: {errors}", example.name);
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn count(function: &Value, what: &str) -> u64 {
    function["objectives"][what].as_u64().expect("a number")
}

/// Every verdict is one of the two that end the matter, and says what it must.
fn check(name: &str, function: &Value) {
    let [total, covered, infeasible] = ["total", "covered", "infeasible"].map(|what| count(function, what));
    assert_eq!(covered + infeasible, total, "{name} {}: {}", function["criterion"], function["incomplete"]);
}

#[test]
fn every_objective_of_every_example_is_covered_or_infeasible() {
    let (mut functions, mut unbounded, mut open) = (BTreeSet::new(), BTreeSet::new(), 0);
    for example in examples() {
        let whole = example.expectations.iter().any(|expectation| expectation.has("--entry"));
        let report = prove(&example, if whole { &["--entry", "main"] } else { &[] });
        for function in report["functions"].as_array().expect("functions") {
            let own = function["name"].as_str().expect("a name");
            let name = format!("{} {own}", example.name);
            functions.insert(name.clone());
            if example.inputs.iter().any(|(known, _)| known == own) {
                // Without the length that it needs: unknown, and the reason names the option.
                let reasons = function["incomplete"].as_array().expect("reasons");
                assert!(reasons.iter().all(|reason| reason["why"] == "bound: --len"), "{name}: {reasons:?}");
                assert!(!reasons.is_empty() && function["exhaustive"] == false, "{name}: needs no `// inputs:` line");
                open += count(function, "unknown");
                continue;
            }
            check(&name, function);
            if function["exhaustive"] == false {
                unbounded.insert(own.to_string());
            }
        }
        for objective in report["objectives"].as_array().expect("objectives") {
            if objective["status"] == "unknown" {
                let why = objective["why"].as_str().expect("a reason");
                assert!(why.starts_with("bound: --len at "), "{}: {why}", objective["id"]);
            }
        }
        for (function, options) in &example.inputs {
            let mut words = vec!["-f", function.as_str()];
            words.extend(options.iter().map(String::as_str));
            for result in prove(&example, &words)["functions"].as_array().expect("functions") {
                check(&format!("{} {function} {options:?}", example.name), result);
                assert_eq!(result["exhaustive"], true, "{function} {options:?}");
            }
        }
    }
    assert_eq!(unbounded, UNBOUNDED.map(str::to_string).into(), "functions with infinitely many paths");
    assert!(functions.len() >= 40, "only {} functions", functions.len());
    assert!(open > 0);
}

#[test]
fn what_an_unbounded_loop_leaves_is_unknown_and_names_the_bound() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let file = scratch.path().join("loop.c");
    let text = "int f(unsigned n) { int k = 0; while (n > 1) { n = n % 3 ? 3 * n + 1 : n / 3; k++; } \
        if (k == 40) return 1; return 0; }\n";
    std::fs::write(&file, text).expect("writable");
    let example = Example {
        name: "loop.c".to_string(),
        files: vec![file],
        expectations: Vec::new(),
        inputs: Vec::new(),
        run_status: None,
    };
    let report = prove(&example, &["--loop-bound", "3", "--budget", "0.7"]);
    let mut unknown = 0;
    for objective in report["objectives"].as_array().expect("objectives") {
        match objective["status"].as_str().expect("a status") {
            "covered" => {}
            "unknown" => {
                unknown += 1;
                let why = objective["why"].as_str().expect("a reason");
                assert!(why.starts_with("bound: --loop-bound at "), "{why}");
                assert!(objective["text"].as_str().is_some_and(|text| text.contains("k == 40") || text == "return 1"));
            }
            other => panic!("{} is {other}", objective["text"]),
        }
    }
    // The true side of the last decision, once for every criterion and twice for dcc; its statement.
    assert_eq!(unknown, 8);
}
