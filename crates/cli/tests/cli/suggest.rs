//! Assertions that are missing: what is suggested, that it applies, that tests still pass with it, and that it checks what it promises.

use super::java_state::standins;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::support;

/// Measures state with suggestions: the report, and what was said.
fn measured(within: &Path, suggest: &str, words: &[&str]) -> (Value, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "state", suggest, "--exclude", "tests", "--format", "json", "--sarif", "s.sarif", "--"])
        .args(words)
        .current_dir(within)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    (serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("no JSON: {said}")), said)
}

/// By test, without its class: statements.
fn statements(report: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for assertion in report["suggestions"]["assertions"].as_array().into_iter().flatten() {
        let test = assertion["test"].as_str().expect("a test").rsplit('.').next().unwrap_or_default();
        let statement = assertion["statement"].as_str().expect("a statement").to_string();
        found.entry(test.to_string()).or_default().insert(statement);
    }
    found
}

fn covered(report: &Value) -> BTreeSet<String> {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let covered = objectives.filter(|objective| objective["status"] == "covered");
    covered.map(|objective| objective["id"].as_str().expect("an id").to_string()).collect()
}

fn promised(report: &Value) -> BTreeSet<String> {
    let assertions = report["suggestions"]["assertions"].as_array().expect("assertions").iter();
    let ids = assertions.flat_map(|assertion| assertion["objectives"].as_array().expect("objectives"));
    ids.map(|id| id.as_str().expect("an id").to_string()).collect()
}

fn apply(within: &Path) {
    let applied = Command::new("git").args(["apply", "touchstone-out/suggested.patch"]).current_dir(within).output();
    let applied = applied.expect("git runs");
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
}

/// After the patch everything is checked that was checked before or promised.
fn keeps_its_promise(before: &Value, after: &Value) {
    let expected: BTreeSet<String> = covered(before).union(&promised(before)).cloned().collect();
    assert_eq!(covered(after), expected);
}

#[test]
fn assertions_are_suggested_for_tests_of_java() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    let package = scratch.path().join("src/shop");
    std::fs::create_dir_all(&package).expect("writable");
    for file in ["Cart.java", "CartTest.java"] {
        std::fs::copy(support::root().join("tests/suggest-java").join(file), package.join(file)).expect("copied");
    }
    let script = format!(
        "javac -encoding UTF-8 -g -d classes -cp {jar} src/shop/*.java && java -Xverify:all -ea -cp classes:{jar} standin.Main shop.CartTest"
    );
    let (before, said) = measured(scratch.path(), "--suggest=every", &["sh", "-c", &script]);
    assert!(said.contains("git apply touchstone-out/suggested.patch"), "{said}");
    let found = statements(&before);
    let table = std::fs::read_to_string(package.join("CartTest.java")).expect("the table");
    let (mut expected, mut count) = (BTreeSet::new(), 0);
    for line in table.lines().map(str::trim) {
        if let Some(statement) = line.strip_prefix("// + ") {
            expected.insert(statement.to_string());
        }
        if let Some((_, rest)) = line.split_once("void ") {
            let name = rest.split('(').next().unwrap_or_default();
            assert_eq!(found.get(name).cloned().unwrap_or_default(), std::mem::take(&mut expected), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 7);
    let sarif = std::fs::read_to_string(scratch.path().join("s.sarif")).expect("SARIF");
    assert!(sarif.contains("\"fixes\"") && sarif.contains("cart.getTax()"));
    apply(scratch.path());
    // A failing assertion would end the program.
    let (after, _) = measured(scratch.path(), "--suggest", &["sh", "-c", &script]);
    keeps_its_promise(&before, &after);
    let none: Vec<&str> = before["suggestions"]["none"]
        .as_array()
        .expect("reasons")
        .iter()
        .filter_map(|none| none["what"].as_str())
        .collect();
    assert_eq!(none, ["Cart.carts", "Cart.secret"]);
}

#[test]
fn assertions_are_suggested_for_tests_of_c() {
    let scratch = tempfile::tempdir().expect("a directory");
    let from = support::root().join("examples/project");
    assert!(Command::new("cp").arg("-r").arg(&from).arg(scratch.path()).status().expect("cp runs").success());
    let folder = scratch.path().join("project");
    let check = ["make", "-s", "-B", "check"];
    let (before, _) = measured(&folder, "--suggest=every", &check);
    let expected = [
        ("test_cold_turns_heating_on", vec!["TEST_ASSERT_EQUAL_INT(1, t.switches);"]),
        ("test_hot_turns_heating_off", vec!["TEST_ASSERT_EQUAL_INT(2, t.switches);"]),
        (
            "test_journal",
            vec![
                "assert(first.lost == 1);",
                "assert(journal_writes == 6);",
                "assert(second.entries[0] == 7);",
                "assert(second.next == 1);",
            ],
        ),
        ("test_warm_keeps_heating_off", vec!["TEST_ASSERT_EQUAL_INT(0, t.switches);"]),
    ];
    let found = statements(&before);
    for (test, statements) in expected {
        let statements: BTreeSet<String> = statements.into_iter().map(str::to_string).collect();
        assert_eq!(found.get(test), Some(&statements), "{test}");
    }
    // One that asserted nothing gets what it needs, too.
    assert!(
        found.get("test_silent").is_some_and(|silent| silent.iter().all(|one| one.starts_with("assert("))),
        "{found:?}"
    );
    apply(&folder);
    let silent = std::fs::read_to_string(folder.join("tests/test_silent.c")).expect("the test");
    assert!(silent.contains("#include <assert.h>\n"), "{silent}");
    let (after, _) = measured(&folder, "--suggest", &check);
    keeps_its_promise(&before, &after);
}

#[test]
fn suggestions_need_state() {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone")).args(["measure", "--suggest", "--", "true"]).output();
    let said = String::from_utf8_lossy(&run.expect("touchstone runs").stderr).into_owned();
    assert!(said.contains("--suggest needs state among the criteria; add it: -c stmt,branch,mcdc,state"), "{said}");
}
