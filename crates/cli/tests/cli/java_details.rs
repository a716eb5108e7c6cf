//! Java: details of tests that were wrong once.

use super::java_generate::{count, generated, source, touchstone};

fn tests_of(directory: &std::path::Path, class: &str) -> String {
    std::fs::read_to_string(directory.join(format!("{class}TouchstoneTest.java"))).expect("tests")
}

#[test]
fn arrays_that_no_jvm_makes_throw_as_they_do_there_and_outer_ones_come_first() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Sizes.java",
        "class Sizes {
    static int one(int n) { return new Object[n < 1 ? 1 : n == Integer.MAX_VALUE ? n : n + 1].length; }
    static int wide(int n) { if (n != Integer.MAX_VALUE) return 0; return new int[n][n - Integer.MAX_VALUE - 1].length; }
    static int none(int n) { if (n >= 0) return 0; return new int[0][1][n].length; }
    static int kept(int n) {
        if (n != -1 && n != Integer.MAX_VALUE - 1) return 0;
        try {
            return new long[n].length;
        } catch (NegativeArraySizeException e) {
            return 1;
        } catch (OutOfMemoryError e) {
            return 2;
        }
    }
}
",
    );
    let report = generated(&["-c", "branch,stmt"], &file, scratch.path());
    let open = report["objectives"].as_array().expect("objectives").iter().filter(|one| one["status"] != "covered");
    let open: Vec<&str> = open.filter_map(|objective| objective["text"].as_str()).collect();
    assert!(open.is_empty(), "{open:?}");
    let tests = tests_of(scratch.path(), "Sizes");
    assert!(tests.contains("assertThrows(OutOfMemoryError.class, () -> Sizes.one(Integer.MAX_VALUE));"), "{tests}");
    assert!(tests.contains("assertThrows(OutOfMemoryError.class, () -> Sizes.wide(Integer.MAX_VALUE));"), "{tests}");
    assert!(tests.contains("assertThrows(NegativeArraySizeException.class, () -> Sizes.none("), "{tests}");
}

#[test]
fn an_array_that_is_too_long_is_not_one_of_a_negative_length() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Long.java",
        "class Long { static int of(int n) { if (n != Integer.MAX_VALUE) return 0; return new byte[n].length; } }",
    );
    let report = generated(&["-c", "rte,branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 2, "only the branches: {report:#}");
}

#[test]
fn reading_a_field_is_no_statement_and_one_object_is_looked_at_once() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Hazard.java",
        "class Hazard {
    static class Node { int v; Node next; Node(int v) { this.v = v; } }
    Node next;
    void push(int v) { if (v > 3) { Node n = new Node(v); n.next = next; next = n; } }
    static boolean twice(Node a, Node b) { if (a == null || a != b) return false; a.next = a; return true; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 4, "{report:#}");
    let tests = tests_of(scratch.path(), "Hazard");
    assert!(!tests.contains(".next;"), "{tests}");
    assert_eq!(tests.matches("assertSame(a, a.next);").count(), 1, "{tests}");
}

#[test]
fn a_class_may_be_named_where_a_method_may() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "package p;
class Doors { static int open(int a) { return a > 3 ? 1 : 0; } private Doors() { } void never(int a) { } }
class Gates { static int shut(int a) { return a > 3 ? 1 : 0; } }
";
    let file = source(scratch.path(), "Doors.java", code);
    for name in ["Doors", "p.Doors"] {
        let report = generated(&["-c", "branch", "-f", name], &file, &scratch.path().join("out"));
        let functions: Vec<&str> =
            report["functions"].as_array().expect("functions").iter().filter_map(|one| one["name"].as_str()).collect();
        assert_eq!(functions, ["p.Doors.open"], "{name}");
    }
    let output = touchstone(&["objectives", "-f", "Door"], &[&file], scratch.path());
    assert_eq!(output.status.code(), Some(1), "half a name is none");
}

#[test]
fn a_postcondition_may_speak_of_an_object_and_the_file_is_that_of_the_class() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Account.java",
        "class Account {
    int sum;
    int take(int n) { if (n > sum) return -1; if (n == 13) return 0; sum -= n; return n; }
    boolean take_post(int n, int result) { return n != 13 || result != 0 || sum < 13; }
    void put(int n) { if (n > 0) sum += n; }
    static boolean put_post(int n) { if (n > 0) throw new IllegalStateException(); return true; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 6, "{report:#}");
    let functions = report["functions"].as_array().expect("functions");
    let is_own =
        |function: &serde_json::Value| function["file"].as_str().is_some_and(|at| at.ends_with("Account.java"));
    assert!(functions.iter().all(is_own), "{functions:#?}");
    let rejected = |name: &str| {
        let tests = report["tests"].as_array().expect("tests").iter();
        tests.filter(|test| test["function"] == name && test["outcome"] == "oracle_rejected").count()
    };
    assert!(rejected("Account#take") > 0, "nothing is given although there is something: {report:#}");
    assert!(rejected("Account#put") > 0, "who throws has not said yes: {report:#}");
}

#[test]
fn texts_that_are_formatted_do_not_ask_the_machine() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Width.java",
        "class Width {
    static int of(int n) { if (n < 3) throw new IllegalArgumentException(String.format(\"at least %d\", 3)); return n; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 2, "{report:#}");
}

#[test]
fn verdicts_about_values_that_java_leaves_to_the_jvm_name_that() {
    let scratch = tempfile::tempdir().expect("a directory");
    let text = "class Wave { static int of(int n) { return Math.sin(n) > 2 ? 1 : 0; } static int is(int n) { return n > 2 ? 1 : 0; } }";
    let file = source(scratch.path(), "Wave.java", text);
    let assumptions = |method: &str| {
        let report = generated(&["-c", "branch", "-f", method], &file, scratch.path());
        report["functions"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| one["assumptions"].to_string())
            .collect::<String>()
    };
    let (of, is) = (assumptions("Wave.of"), assumptions("Wave.is"));
    assert!(of.contains("the last digit of `Math.sin` is that of the C library") && !is.contains("Math"), "{of} {is}");
}
