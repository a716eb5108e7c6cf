//! Java: inaccessible methods are tested through accessible methods that call them.

use super::java_generate::{generated, source};

/// The status of the objective of a method with this text.
fn status<'r>(report: &'r serde_json::Value, method: &str, text: &str) -> &'r str {
    let mut objectives = report["objectives"].as_array().expect("objectives").iter();
    let found = objectives.find(|objective| {
        let id = objective["id"].as_str().unwrap_or_default();
        id.contains(&format!(".{method}.")) && objective["text"] == text
    });
    found.and_then(|objective| objective["status"].as_str()).unwrap_or("not there")
}

#[test]
fn private_methods_are_tested_through_their_callers_and_only_all_callers_prove_something() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Account.java",
        "import java.util.function.IntSupplier;
public class Account {
    private int balance;
    public int deposit(int n) { return change(n); }
    public int withdraw(int n) { return change(-n); }
    private int change(int delta) {
        if (delta < 0 && balance + delta < 0) throw new IllegalStateException();
        balance += delta;
        return balance;
    }
    static int twice(int a) { return times(a, 2); }
    private static int times(int a, int n) { if (n == 2) return a * 2; return 0; }
    static int small(int a) { return limited(a & 3); }
    static int any(int a) { return limited(a); }
    private static int limited(int a) { if (a > 5) return 1; return 0; }
    static int both(int a) { return two(a, 1); }
    static long more(int a) { return two(a, 2); }
    private static int two(int a, int n) { if (n == 2) return a * 2; return 0; }
    static IntSupplier later(int a) { return () -> kept(a); }
    private static int kept(int a) { if (a > 7) return 1; return 0; }
    private static final int FIRST = first(3);
    static int next(int a) { return a > 0 ? first(5) : 1; }
    private static int first(int a) { if (a == 3) return 1; return 0; }
    private static class Cell { private int v; Cell(int v) { this.v = v; } private int get() { if (v > 3) return v; return -v; } }
    static int cell(int v) { return new Cell(v).get(); }
    private static int nobody(int a) { if (a > 0) return 1; return 0; }
}
",
    );
    let report = generated(&["-c", "branch"], &file, scratch.path());
    let expected = [
        ("change", "delta < 0 && balance + delta < 0 is true", "covered"),
        ("change", "delta < 0 && balance + delta < 0 is false", "covered"),
        ("times", "n == 2 is true", "covered"),
        ("times", "n == 2 is false", "infeasible"),
        ("limited", "a > 5 is true", "covered"),
        ("limited", "a > 5 is false", "covered"),
        // Its callers have two result types: tests call both and assert neither result.
        ("two", "n == 2 is true", "covered"),
        ("two", "n == 2 is false", "covered"),
        // The lambda expression can be called after the method returned, so it must not be called unreachable from
        // `later`.
        ("kept", "a > 7 is true", "unknown"),
        // The initialiser is a caller, too, and the only one with 3.
        ("first", "a == 3 is true", "unknown"),
        ("first", "a == 3 is false", "covered"),
        ("get", "v > 3 is true", "covered"),
        ("get", "v > 3 is false", "covered"),
        ("nobody", "a > 0 is true", "not there"),
    ];
    for (method, text, status_expected) in expected {
        assert_eq!(status(&report, method, text), status_expected, "{method}: {text}: {report:#}");
    }
    let tests = std::fs::read_to_string(scratch.path().join("AccountTouchstoneTest.java")).expect("tests");
    assert!(tests.contains("Account.twice(") && !tests.contains("Account.times("), "{tests}");
}

#[test]
fn stubs_throw_what_a_handler_of_the_method_catches() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Guard.java",
        "import java.io.EOFException;
import java.util.function.IntSupplier;
public class Guard {
    public interface Source { int next() throws EOFException; void close(); }
    static int once(IntSupplier s) { try { return s.getAsInt(); } catch (IllegalStateException e) { return -1; } }
    static int read(Source s) { try { s.close(); return s.next(); } catch (EOFException e) { return -1; } }
}
",
    );
    let report = generated(&["-c", "stmt"], &file, scratch.path());
    assert_eq!(super::java_generate::count(&report, "unknown"), 0, "{report:#}");
    let tests = std::fs::read_to_string(scratch.path().join("GuardTouchstoneTest.java")).expect("tests");
    assert!(tests.contains("() -> { throw new IllegalStateException(); }"), "{tests}");
    assert!(tests.contains("next() throws java.io.EOFException { throw new java.io.EOFException(); }"), "{tests}");
}
