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
    let merge = ["merge", "touchstone-out", "-o", "merged", "--suggest=every", "--format", "json"];
    let merged = Command::new(env!("CARGO_BIN_EXE_touchstone")).args(merge).current_dir(scratch.path()).output();
    let merged: Value = serde_json::from_slice(&merged.expect("it runs").stdout).expect("JSON");
    assert_eq!(merged["suggestions"], before["suggestions"], "what is merged suggests the same");
    assert!(scratch.path().join("merged/suggested.patch").is_file());
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

/// Pointers that lead nowhere, beside some that lead somewhere.
const WILD: &str = r#"#include <assert.h>
struct box { int value; struct box *next; };
void fill(struct box *box, int value) { box->value = value; box->next = 0; }
int main(void) {
    struct box here, *none = 0, *wild = (struct box *)24, *past = &here + 1;
    int *number = (int *)3;
    char *text = (char *)16;
    fill(&here, 3);
    assert(here.next == none && wild != past && number && text);
    return 0;
}
"#;

#[test]
fn what_a_test_points_to_is_looked_at_so_that_no_sanitizer_ends_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::write(scratch.path().join("wild.c"), WILD).expect("writable");
    let build = "cc -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -o wild wild.c && ./wild";
    let plain = Command::new("sh").args(["-c", build]).current_dir(scratch.path()).output().expect("a shell");
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let (report, _) = measured(scratch.path(), "--suggest", &["sh", "-c", build]);
    assert_eq!(statements(&report)["wild"], BTreeSet::from(["assert(here.value == 3);".to_string()]));
}

#[test]
fn fixes_are_those_of_their_own_file() {
    let scratch = tempfile::tempdir().expect("a directory");
    for (name, value) in [("one", 1), ("two", 2)] {
        let code = format!(
            "#include <assert.h>\nstruct box {{ int value, other; }};\n\
             static void change(struct box *box) {{ box->value = {value}; box->other = 0; }}\n\
             int main(void) {{\n    struct box here;\n    change(&here);\n    assert(here.other == 0);\n    return 0;\n}}\n"
        );
        std::fs::write(scratch.path().join(format!("{name}.c")), code).expect("writable");
    }
    let build = "for name in one two; do cc -g -o $name $name.c && ./$name || exit 1; done";
    let (report, said) = measured(scratch.path(), "--suggest", &["sh", "-c", build]);
    let unchecked =
        report["objectives"].as_array().expect("objectives").iter().filter(|one| one["status"] != "covered");
    let ids: BTreeSet<&str> = unchecked.filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids.len(), 1, "both have one id: {ids:?} {said}");
    let sarif = std::fs::read_to_string(scratch.path().join("s.sarif")).expect("SARIF");
    let sarif: Value = serde_json::from_str(&sarif).expect("JSON");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), 2, "{results:#?}");
    for result in results {
        let own = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let fixes = result["fixes"].as_array().expect("fixes");
        let files: Vec<&Value> =
            fixes.iter().map(|fix| &fix["artifactChanges"][0]["artifactLocation"]["uri"]).collect();
        assert_eq!(files, [own], "{result:#?}");
    }
}

#[test]
fn suggestions_need_state() {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone")).args(["measure", "--suggest", "--", "true"]).output();
    let said = String::from_utf8_lossy(&run.expect("touchstone runs").stderr).into_owned();
    assert!(said.contains("--suggest needs state among the criteria; add it: -c stmt,branch,mcdc,state"), "{said}");
}

/// A table of tests follows the tests, as in µnit: tests cannot name it.
#[test]
fn variables_that_are_declared_after_a_test_are_not_observed_in_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    let library =
        "struct acc { int total, count; };\nvoid add(struct acc *a, int x) { a->total += x; if (x > 0) a->count++; }\n";
    let tests = "#include <assert.h>\nstruct acc { int total, count; };\nvoid add(struct acc *a, int x);\nstatic int before;\n\
        typedef struct { const char *name; void (*run)(void); } Test;\n\
        static void test_a(void) { struct acc a = {0, 0}; add(&a, 3); before++; assert(a.total == 3); }\n\
        static Test tests[] = {{\"/a\", test_a}, {0, 0}};\n\
        int main(void) { for (Test *t = tests; t->name; t++) t->run(); return 0; }\n";
    std::fs::write(scratch.path().join("acc.c"), library).expect("written");
    std::fs::create_dir_all(scratch.path().join("tests")).expect("a directory");
    std::fs::write(scratch.path().join("tests/test.c"), tests).expect("written");
    // A source whose probes the compiler refuses loses them alone.
    let refused = "extern int __touchstone_ev;\nint sum;\nvoid other(int x) { sum += x; }\n";
    std::fs::write(scratch.path().join("refused.c"), refused).expect("written");
    let command = "gcc acc.c refused.c tests/test.c -o t && ./t";
    let (report, said) = measured(scratch.path(), "--suggest", &["sh", "-c", command]);
    assert!(!said.contains("undeclared"), "{said}");
    let refused: Vec<&str> = said.lines().filter(|line| line.contains("refuses it with probes for state")).collect();
    assert!(matches!(refused[..], [line] if line.contains("refused.c")), "{said}");
    assert!(covered(&report).iter().any(|id| id.contains("add.state")), "{report}");
}
