//! Java: emitted tests call the method that they are generated for, compile, and pass wherever a build tool runs them.

use crate::java_generate::{count, generated, source};
use std::process::Command;

#[test]
fn overloads_subpackages_bodies_of_constants_and_string_identity_reach_the_method_under_test() {
    let scratch = tempfile::tempdir().expect("a directory");
    let root = scratch.path().join("source");
    std::fs::create_dir_all(root.join("p/q")).expect("directories");
    source(
        &root,
        "p/q/B.java",
        "package p.q;\npublic class B {\n    public int v;\n    public B(int v) { this.v = v; }\n}\n",
    );
    source(
        &root,
        "p/A.java",
        "package p;
public class A {
    enum E { X { int v(int a) { return a > 7 ? 1 : 2; } }, Y; int v(int a) { if (a > 3) return 1; return 2; } }
    static int inner(p.q.B b) { if (b.v > 3) return 1; return 2; }
    static int f(CharSequence s) { if (s.length() == 2) return 1; return 2; }
    static int f(String s) { if (s.length() == 2) return 1; return 2; }
    static int g(Object x) { if (x == null) return 1; return 2; }
    static int g(Integer x) { if (x == null) return 1; return 2; }
    static int same(String s) { if (s == \"abc\") return 1; if (s.equals(\"abc\")) return 2; return 3; }
}
",
    );
    let report = generated(&["-c", "branch"], &root, scratch.path());
    assert_eq!((count(&report, "covered"), count(&report, "unknown")), (15, 1), "{report:#}");
    let class = std::fs::read_to_string(scratch.path().join("p/ATouchstoneTest.java")).expect("tests");
    for part in ["A.f((CharSequence) ", "A.f(\"", "A.g((Object) Integer", "new p.q.B(", "new String(\"abc\")"] {
        assert!(class.contains(part), "{part} in\n{class}");
    }
    let tests = std::fs::read_to_string(scratch.path().join("p/A_ETouchstoneTest.java")).expect("tests");
    assert!(!tests.contains("E.X"), "{tests}");
}

#[test]
fn tests_restore_defaults_of_the_jdk_and_are_skipped_where_an_enabled_assert_would_fail() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "State.java",
        "class State {
    static int locale(int x) { if (x > 3) { java.util.Locale.setDefault(java.util.Locale.GERMAN); return 1; } return 0; }
}
class Plain {
    static int positive(int x) { assert x >= 0; if (x == -5) return 1; return x == 7 ? 2 : 3; }
}
",
    );
    generated(&["-c", "branch", "--emit", "junit5,junit4"], &file, scratch.path());
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).expect("tests");
    let (state, plain) = (read("StateTouchstoneTest.java"), read("PlainTouchstoneTest.java"));
    assert!(state.contains("AfterEach") && state.contains("TimeZone.setDefault(timeZone)"), "{state}");
    assert!(!plain.contains("AfterEach"), "{plain}");
    let skipped = plain.split("void ").find(|test| test.contains("positive(-5)")).expect("a test");
    assert!(skipped.contains("Assumptions.assumeFalse(Plain.class.desiredAssertionStatus()"), "{plain}");
    assert_eq!(plain.matches("assumeFalse").count(), 1, "{plain}");
}

#[test]
fn a_test_that_fails_on_the_jvm_is_left_out_of_its_class() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "class German {\n    static boolean comma(int x) {\n        if (x > 3) return \"1,5\".equals(String.format(\"%.1f\", 1.5));\n        \
                return false;\n    }\n}\n";
    let file = source(scratch.path(), "German.java", code);
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.args(["generate", "-c", "branch"]).arg(&file).arg("-o").arg(scratch.path());
    let output = command.env("JAVA_TOOL_OPTIONS", "-Duser.language=de").output().expect("it runs");
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stdout));
    let tests = std::fs::read_to_string(scratch.path().join("GermanTouchstoneTest.java")).expect("tests");
    assert_eq!(tests.matches("@Test").count(), 1, "{tests}");
    assert!(tests.contains("comma_2 is left out, because it fails: "), "{tests}");
}

#[test]
fn programs_cannot_catch_exceptions_that_only_the_interpreter_throws() {
    let scratch = tempfile::tempdir().expect("a directory");
    for (call, what) in [
        ("\"TITLE\".toLowerCase(new java.util.Locale(\"tr\"))", "the module of a class"),
        ("Main.class.getClassLoader()", "a class loader"),
    ] {
        let code = format!(
            "public class Main {{ public static void main(String[] a) {{\n    try {{ System.out.println({call}); }} \
             catch (Throwable t) {{ System.out.println(\"caught\"); }}\n}} }}\n"
        );
        let file = source(scratch.path(), "Main.java", &code);
        let output = Command::new(env!("CARGO_BIN_EXE_touchstone")).arg("run").arg(&file).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(&format!("unsupported: {what}")), "{said}");
    }
}
