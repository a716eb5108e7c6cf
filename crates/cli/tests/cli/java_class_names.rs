//! Java: classes of the JDK and of the class path that are named instead of a file.

use super::java_generate::{count, generated, touchstone};
use std::path::Path;

#[test]
fn a_class_of_the_jdk_is_tested_from_a_package_of_its_own_by_its_public_methods() {
    let scratch = tempfile::tempdir().expect("a directory");
    let options = ["-c", "branch", "-f", "ArrayDeque.addFirst", "-f", "ArrayDeque.pollFirst"];
    let report = generated(&options, Path::new("java.util.ArrayDeque"), scratch.path());
    assert_eq!(count(&report, "unknown") + count(&report, "infeasible"), 0, "{report:#}");
    assert!(count(&report, "covered") >= 4, "{report:#}");
    let file = scratch.path().join("tests/java/util/ArrayDequeTouchstoneTest.java");
    let tests = std::fs::read_to_string(file).expect("tests");
    assert!(tests.contains("package tests.java.util;") && tests.contains("ArrayDeque<Integer> "), "{tests}");
    assert!(tests.contains("assertThrows(NullPointerException.class"), "{tests}");
}

#[test]
fn a_method_of_the_jdk_that_is_not_public_is_tested_through_some_who_lead_to_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    // The package calls both, so what these callers don't reach would not be infeasible.
    let options = ["-c", "branch", "-f", "PriorityQueue.siftUp", "-f", "PriorityQueue.remove"];
    let report = generated(&options, Path::new("java.util.PriorityQueue"), scratch.path());
    assert_eq!(count(&report, "unknown") + count(&report, "infeasible"), 0, "{report:#}");
    let file = scratch.path().join("tests/java/util/PriorityQueueTouchstoneTest.java");
    let tests = std::fs::read_to_string(file).expect("tests");
    assert!(tests.contains(".offer(") && !tests.contains(".siftUp("), "{tests}");
}

#[test]
fn what_no_calls_make_of_a_class_of_the_jdk_is_put_into_its_fields() {
    let scratch = tempfile::tempdir().expect("a directory");
    // The index is never before the beginning, although the method checks for it.
    let options = ["-c", "mcdc", "-f", "StringCharacterIterator.current", "--budget", "3"];
    let report = generated(&options, Path::new("java.text.StringCharacterIterator"), scratch.path());
    assert_eq!(count(&report, "unknown") + count(&report, "infeasible"), 0, "{report:#}");
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    assert!(objectives.filter(|one| one["reason"] == "heap_not_shown_reachable").count() > 0, "{report:#}");
    let file = scratch.path().join("tests/java/text/StringCharacterIteratorTouchstoneTest.java");
    let tests = std::fs::read_to_string(file).expect("tests");
    assert!(tests.contains("make(\"java.text.StringCharacterIterator\""), "{tests}");
    assert!(report["tests"].as_array().expect("tests").iter().all(|test| test["replay"] == "agreed"), "{report:#}");
}

#[test]
fn a_class_that_is_nowhere_is_named() {
    let scratch = tempfile::tempdir().expect("a directory");
    let output = touchstone(&["generate"], &[Path::new("java.util.NoSuchThing")], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("can't load the class java.util.NoSuchThing"), "{said}");
}

#[test]
fn a_class_whose_constructor_tests_cannot_call_is_named_like_any_other() {
    let scratch = tempfile::tempdir().expect("a directory");
    let source = scratch.path().join("Color.java");
    let text = "public enum Color {\n    RED, GREEN;\n    public boolean warm(int strength) { return this == RED && strength > 3; }\n}\n";
    std::fs::write(&source, text).expect("writable");
    let report = generated(&["-c", "branch", "-f", "Color"], &source, scratch.path());
    let functions: Vec<&str> =
        report["functions"].as_array().expect("functions").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(functions.iter().any(|name| name.contains("warm")), "{functions:?}");
}
