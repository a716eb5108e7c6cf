//! Java: what criteria beside those of decisions ask for, what callers promise, and what no verdict may rest on.

use serde_json::Value;
use std::process::Command;

/// Runs `generate` or `prove` on a class and returns the report.
fn report(class: &str, code: &str, arguments: &[&str]) -> (Value, String) {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = scratch.path().join(format!("{class}.java"));
    std::fs::write(&file, code).expect("a written file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    let verb = if arguments.contains(&"--prove") { "prove" } else { "generate" };
    let arguments: Vec<&&str> = arguments.iter().filter(|argument| **argument != "--prove").collect();
    command.arg(verb).arg(&file).args(["--format", "json", "-o"]).arg(scratch.path().join("out"));
    let output = command.args(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"));
    for test in report["tests"].as_array().expect("tests").iter().filter(|_| verb == "generate") {
        assert_eq!(test["replay"], "agreed", "{test:#}");
    }
    let tests = scratch.path().join(format!("out/{class}TouchstoneTest.java"));
    (report, std::fs::read_to_string(tests).unwrap_or_default())
}

/// Texts of a method's objectives, with their verdicts.
fn verdicts(report: &Value, function: &str) -> Vec<(String, String)> {
    let own = report["objectives"].as_array().expect("objectives").iter();
    let own = own.filter(|objective| objective["function"] == function);
    let word = |objective: &Value, key: &str| objective[key].as_str().unwrap_or_default().to_string();
    own.map(|objective| (word(objective, "text"), word(objective, "status"))).collect()
}

fn has(found: &[(String, String)], text: &str, status: &str) -> bool {
    found.iter().any(|(own, verdict)| own.contains(text) && verdict == status)
}

#[test]
fn rte_asks_for_exceptions_that_leave_the_method_and_labels_for_what_the_program_says() {
    let (report, tests) = report(
        "Rte",
        "import touchstone.Label;
class Rte {
    static int plain(int[] x, int i) { return x[i] / i; }
    static int kept(int i) { try { return 10 / i; } catch (ArithmeticException e) { return 0; } }
    static int late(int i) { int r = 0; try { r = 10 / i; } finally { r++; } return r; }
    static int swallowed(int i) { try { return 10 / i; } finally { return 3; } }
    static int safe(int i) { return i != 0 ? 10 / i : 0; }
    static int more(int i) {
        Label.label(1, i > 3 && i < 9);
        Label.label(\"never\", i != i);
        Object[] o = i > 0 ? new String[i & 3] : new Object[i];
        if (i != 0) o[0] = (Integer) (i == 7 ? (Object) \"x\" : i);
        return o.length;
    }
}
",
        &["-c", "rte,labels"],
    );
    let plain = verdicts(&report, "Rte.plain");
    for text in [
        "NullPointerException: Cannot load from int array because \"x\" is null",
        "ArrayIndexOutOfBoundsException: x[i]",
        "ArithmeticException: / by zero",
    ] {
        assert!(has(&plain, text, "covered"), "{text} in {plain:?}");
    }
    assert_eq!(verdicts(&report, "Rte.kept"), []);
    assert_eq!(verdicts(&report, "Rte.swallowed"), []);
    let covered = |text: &str| (text.to_string(), "covered".to_string());
    assert_eq!(verdicts(&report, "Rte.late"), [covered("ArithmeticException: / by zero")]);
    assert!(has(&verdicts(&report, "Rte.safe"), "ArithmeticException", "infeasible"));
    let more = verdicts(&report, "Rte.more");
    for text in ["ClassCastException: to java.lang.Integer", "ArrayStoreException", "NegativeArraySizeException"] {
        assert!(has(&more, text, "covered"), "{text} in {more:?}");
    }
    assert!(has(&more, "1: i > 3 && i < 9", "covered"), "{more:?}");
    assert!(has(&more, "never: i != i", "infeasible"), "{more:?}");
    assert!(tests.contains("assertThrows(ArrayStoreException.class"), "{tests}");
}

#[test]
fn what_callers_promise_is_a_method_beside_the_one_that_is_tested() {
    let (report, tests) = report(
        "Pre",
        "class Pre {
    static int f(int a) { if (a > 100) return 1; if (a == 7) return 5; return a * 2; }
    static boolean f_pre(int a) { return a >= 0 && a < 50; }
    static boolean f_post(int a, int result) { return result >= a; }
    static int g(String s) { if (s == null) return 0; return s.isEmpty() ? 1 : 2; }
    static boolean g_pre(String s) { return s.length() < 3; }
    int total; int n;
    boolean repOk() { return total >= 0; }
    void add(int v) { total += v; n++; }
    int mean() { if (total < 0) return -1; return total / n; }
    boolean mean_pre() { return n > 0; }
}
",
        &["-c", "branch,rte"],
    );
    let f = verdicts(&report, "Pre.f");
    assert!(has(&f, "a > 100 is true", "infeasible") && has(&f, "a == 7 is true", "covered"), "{f:?}");
    let rejected =
        report["tests"].as_array().expect("tests").iter().filter(|test| test["outcome"] == "oracle_rejected");
    assert_eq!(rejected.count(), 1, "{report:#}");
    let g = verdicts(&report, "Pre.g");
    assert!(!has(&g, "s == null is true", "covered") && has(&g, "s.isEmpty() is true", "covered"), "{g:?}");
    let mean = verdicts(&report, "Pre.mean");
    assert!(has(&mean, "total < 0 is true", "unknown") && has(&mean, "total < 0 is false", "covered"), "{mean:?}");
    assert!(has(&mean, "/ by zero", "unknown"), "{mean:?}");
    assert!(!tests.contains("_pre(") && !tests.contains("_post("), "{tests}");
}

#[test]
fn patterns_are_conditions_and_jumps_that_the_compiler_takes_away_are_no_statements() {
    let (report, _) = report(
        "Shape",
        "class Shape {
    static Object of(int a) { return a > 5 ? \"x\" : a > 0 ? (Object) a : new int[1]; }
    static int kind(int a) {
        Object o = of(a);
        if (o instanceof String s && s.equals(\"x\")) return 1;
        if (!(o instanceof Integer i)) return 2;
        boolean big = o instanceof Integer n && n > 3;
        return big ? i : 3;
    }
    static int taken;
    static int tries(int k) {
        try { switch (k) { case 7: { int v = k; taken = v; } break; } } catch (RuntimeException e) { taken = 2; }
        return taken;
    }
    static int sides(String s) {
        int r = 0;
        switch (s) { case \"a\": r = 1; break; case \"b\": r = 2; break; }
        return r;
    }
}
",
        &["-c", "stmt,branch,condition", "-f", "Shape.kind", "-f", "Shape.sides", "-f", "Shape.tries"],
    );
    let kind = verdicts(&report, "Shape.kind");
    for text in ["o instanceof String s is true", "o instanceof Integer i is false", "o instanceof Integer n is true"] {
        assert!(has(&kind, text, "covered"), "{text} in {kind:?}");
    }
    assert!(has(&kind, "s.equals(\"x\") is false", "infeasible"), "{kind:?}");
    assert!(has(&kind, "o instanceof String s && s.equals(\"x\") is true", "covered"), "{kind:?}");
    let sides = verdicts(&report, "Shape.sides");
    assert_eq!(sides.iter().filter(|(text, _)| text == "break;").count(), 1, "{sides:?}");
    assert!(has(&sides, "return r;", "covered") && has(&sides, "r = 2;", "covered"), "{sides:?}");
    // The jump was replaced by another one, which leaves the `try`.
    let tries = verdicts(&report, "Shape.tries");
    assert!(has(&tries, "taken = v;", "covered") && !tries.iter().any(|(text, _)| text == "break;"), "{tries:?}");
}

#[test]
fn other_classes_may_have_been_initialised_or_not_and_threads_interrupted() {
    let (report, _) = report(
        "Use",
        "class Level { static int now = 3; static final int FIXED = Math.abs(-4); }
class Touching { static { Use.touched++; } static void go() { } }
class Use {
    static int touched;
    static int level(int a) { if (Level.now == 3) return 1; return Level.FIXED == 4 ? 2 : 3; }
    static int touch(int a) { int before = touched; Touching.go(); if (touched == before) return 1; return 0; }
    static int interrupted(int a) { return Thread.interrupted() ? 1 : 0; }
    static int errors(int a) { try { return 5 / a; } catch (ArithmeticException e) { return 2; } catch (Throwable e) { return a == 3 ? 1 : 3; } }
}
",
        &["--prove", "-c", "branch,stmt"],
    );
    let level = verdicts(&report, "Use.level");
    assert!(has(&level, "Level.now == 3 is true", "covered"), "{level:?}");
    assert!(has(&level, "Level.now == 3 is false", "covered"), "{level:?}");
    assert!(has(&level, "Level.FIXED == 4 is false", "infeasible"), "{level:?}");
    for method in ["Use.touch", "Use.interrupted", "Use.errors"] {
        let found = verdicts(&report, method);
        assert!(!found.iter().any(|(_, status)| status == "infeasible"), "{found:?}");
    }
    let only = verdicts(&report, "Use.errors");
    assert!(has(&only, "return 2;", "covered") && has(&only, "a == 3 is true", "unknown"), "{only:?}");
}

#[test]
fn wm_mutates_what_is_computed_and_replaces_variables_only_by_such_as_have_a_value() {
    let (report, _) = report(
        "Mutants",
        "class Mutants {
    int limit; boolean on;
    static int late(int a, char c) {
        int y;
        if (a > 3) { y = a + 2; a = y; } else { a = 1; }
        return a - c;
    }
    boolean joined(int a) { if (limit > a && on) limit = 0; return limit == a; }
    static double real(double a, int n) { return a * n; }
}
",
        &["-c", "wm", "--timeout", "5"],
    );
    let late = verdicts(&report, "Mutants.late");
    for text in ["AOR a + 2 -> a - 2", "ROR a > 3 -> a >= 3", "CRP 3 -> 4", "VRP y -> a", "ABS c -> -abs(c)"] {
        assert!(late.iter().any(|(own, _)| own == text), "{text} in {late:?}");
    }
    // A character is never negative.
    assert!(has(&late, "ABS c -> abs(c)", "infeasible"), "{late:?}");
    // Neither has `y` a value before it is assigned, nor is a character a number.
    let replaced: Vec<&String> =
        late.iter().map(|(text, _)| text).filter(|text| text.starts_with("VRP a ->")).collect();
    assert!(replaced.is_empty(), "{replaced:?}");
    let joined = verdicts(&report, "Mutants.joined");
    let logic = "COR this.limit > a && this.on -> this.limit > a || this.on";
    assert!(has(&joined, logic, "covered"), "{joined:?}");
    assert!(has(&joined, "ROR this.limit == a -> this.limit <= a", "covered"), "{joined:?}");
    assert!(has(&verdicts(&report, "Mutants.real"), "AOR a * n -> a + n", "covered"));
}

const RETURNS: &str = "public class Returns {
    static int sign(int a) { if (a < 0) return -1; return a > 0 ? 1 : 0; }
    static boolean odd(int a) { return a % 2 != 0; }
    static double half(double a) { return a / 2; }
    static long one(long a) { return a * 0 + 1; }
    static String name(int a) { return a > 3 ? \"big\" : null; }
    static void nothing(int[] a) { a[0] = 1; }
    static char upper(char c) { try { return (char) (c - 32); } finally { if (c == 0) nothing(new int[1]); } }
    public static void main(String[] args) { sign(7); odd(4); half(0); one(1); name(1); name(9); upper('a'); }
}
";

#[test]
fn every_method_with_a_result_returns_zero_and_non_zero() {
    for verb in [&["-c", "returns"][..], &["-c", "returns", "--prove"]] {
        let (report, _) = report("Returns", RETURNS, verb);
        let is = |method: &str, expected: [(&str, &str); 2]| {
            let expected = expected.map(|(text, status)| (text.to_string(), status.to_string()));
            assert_eq!(verdicts(&report, &format!("Returns.{method}")), expected, "{method}");
        };
        for method in ["sign", "half", "upper"] {
            is(method, [("returns zero", "covered"), ("returns non-zero", "covered")]);
        }
        is("odd", [("returns false", "covered"), ("returns true", "covered")]);
        is("one", [("returns zero", "infeasible"), ("returns non-zero", "covered")]);
        is("name", [("returns null", "covered"), ("returns non-null", "covered")]);
        assert_eq!(verdicts(&report, "Returns.nothing"), []);
        assert_eq!(verdicts(&report, "Returns.main"), []);
    }
}

#[test]
fn results_of_methods_are_measured() {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(scratch.path().join("src")).expect("writable");
    std::fs::write(scratch.path().join("src/Returns.java"), RETURNS).expect("writable");
    let compiled =
        crate::support::javac().args(["-d", "classes", "src/Returns.java"]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    let touchstone = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        let output = command.args(words).current_dir(scratch.path()).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    touchstone(&["measure", "-c", "returns", "-q", "--", "java", "-Xverify:all", "-cp", "classes", "Returns"]);
    let report: Value = serde_json::from_slice(&touchstone(&["report", "--format", "json"])).expect("JSON");
    let objectives = report["objectives"].as_array().expect("objectives");
    let name = |one: &Value| format!("{} {}", one["function"], one["text"]).replace('"', "");
    let mut covered: Vec<String> = objectives.iter().filter(|one| one["status"] == "covered").map(name).collect();
    covered.sort();
    let expected = [
        "Returns.half returns zero",
        "Returns.name returns non-null",
        "Returns.name returns null",
        "Returns.odd returns false",
        "Returns.one returns non-zero",
        "Returns.sign returns non-zero",
        "Returns.upper returns non-zero",
    ];
    assert_eq!(covered, expected, "{objectives:#?}");
    assert_eq!(objectives.len(), 12, "{objectives:#?}");
}
