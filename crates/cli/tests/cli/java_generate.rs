//! Java: `objectives` shows what a person reads in the source, and `generate` writes JUnit tests that the user's JVM agrees with.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn touchstone(arguments: &[&str], files: &[&Path], out: &Path) -> Output {
    let (verb, rest) = arguments.split_first().expect("a verb");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    command.arg(verb).args(files).args(rest).arg("-o").arg(out);
    command.output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A source file in a directory of its own.
pub(crate) fn source(directory: &Path, name: &str, code: &str) -> PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, code).expect("a written file");
    file
}

/// Generates tests for files; all of them must agree with the JVM. Gives the report.
pub(crate) fn generated(arguments: &[&str], file: &Path, out: &Path) -> Value {
    let arguments = [&["generate", "--format", "json"], arguments].concat();
    let output = touchstone(&arguments, &[file], out);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["replay"], "agreed", "{test:#}");
    }
    report
}

/// Returns the number of objectives with a status.
pub(crate) fn count(report: &Value, status: &str) -> usize {
    let objectives = report["objectives"].as_array().expect("objectives");
    objectives.iter().filter(|objective| objective["status"] == status).count()
}

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/java").join(name)
}

#[test]
fn objectives_are_the_conditions_that_a_person_reads_with_ids_as_for_c() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Gate.java",
        "package plant;\npublic class Gate {\n    static int open(int a, boolean b, long c) {\n        \
         if (a > 0 && (b || !(c < 5L))) {\n            return 1;\n        }\n        \
         boolean both = b && a == 3; if (both) if (c == 7) return 2;\n        return b ? 3 : 4;\n    }\n}\n",
    );
    let output = touchstone(&["objectives", "-c", "condition,decision"], &[&file], scratch.path());
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines: Vec<(String, String)> = shown
        .lines()
        .map(|line| {
            let id = line.split(' ').next().unwrap_or_default().rsplit_once('.').expect("a hash").0.to_string();
            (id, line.split("  ").last().unwrap_or_default().to_string())
        })
        .collect();
    let condition = |number: usize, text: &str| (format!("plant.Gate.open.condition.{number}"), text.to_string());
    assert_eq!(lines[0], condition(1, "a > 0 is true"));
    assert!(lines.contains(&condition(6, "c < 5L is false")), "{shown}");
    let decision = |text: &str| lines.iter().any(|(id, own)| id.contains(".decision.") && own == text);
    // Two decisions of one condition on one line, and not one of two.
    for text in
        ["a > 0 && (b || !(c < 5L)) is true", "b && a == 3 is false", "both is true", "c == 7 is true", "b is true"]
    {
        assert!(decision(text), "{text} in\n{shown}");
    }
    assert!(shown.contains("Gate.java:4:13"), "{shown}");
}

#[test]
fn the_example_is_covered_by_tests_that_the_jvm_agrees_with() {
    let scratch = tempfile::tempdir().expect("a directory");
    let report = generated(&["-c", "stmt,branch,mcdc"], &example("Triangle.java"), scratch.path());
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
    assert!(total > 30, "{total}");
    let class = std::fs::read_to_string(scratch.path().join("TriangleTouchstoneTest.java")).expect("tests");
    for part in [
        "import org.junit.jupiter.api.Test;",
        "assertThrows(IllegalArgumentException.class, () -> Triangle.classify(",
        "assertEquals(3, Triangle.classify(",
        "assertFalse(Triangle.isSmall(",
        "    @DisplayName(\"",
    ] {
        assert!(class.contains(part), "{part} in\n{class}");
    }
}

#[test]
fn every_primitive_type_is_an_input_and_static_fields_are() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Kinds.java",
        "public class Kinds {
    static int limit = 10;
    private static boolean on;
    static int of(boolean z, byte b, short s, char c) {
        if (z && b == -128) return 1;
        if (s == -300 && c == '\\uffff') return 2;
        if (b > 127 || c < 0) return 3;
        return 4;
    }
    static double wide(long l, float f, double d) {
        if (l == Long.MIN_VALUE && f == 1.5f) return -0.0;
        if (d != d) return d;
        return d > 1e300 ? 1.0 / 3 : 2;
    }
    static char over(int x) { if (x > limit && on) { limit = x; return 'x'; } return (char) x; }
    static int divide(int a, int b) { return a / b; }
}
",
    );
    let report = generated(&["-c", "branch,mcdc"], &file, scratch.path());
    // `b > 127` and `c < 0` are never true.
    let objectives = report["objectives"].as_array().expect("objectives");
    for objective in objectives {
        let text = objective["text"].as_str().expect("a text");
        let never = (text.starts_with("b > 127") || text.starts_with("c < 0")) && !text.contains("false");
        let expected = if never { "infeasible" } else { "covered" };
        assert_eq!(objective["status"], expected, "{objective:#}");
    }
    let class = std::fs::read_to_string(scratch.path().join("KindsTouchstoneTest.java")).expect("tests");
    for part in ["Kinds.limit = ", "set(Kinds.class, \"on\", true);", "(byte) -128", "Long.MIN_VALUE", "'\\uffff'"] {
        assert!(class.contains(part), "{part} in\n{class}");
    }
}

#[test]
fn arrays_and_strings_are_inputs_and_what_is_left_in_them_is_checked() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Texts.java",
        "public class Texts {
    static boolean swap(byte[] a, byte[] b) {
        if (a == b) return false;
        if (a == null || b == null || a.length != b.length) return false;
        for (int i = 0; i < a.length; i++) { byte t = a[i]; a[i] = b[i]; b[i] = t; }
        return a.length > 1;
    }
    static int name(String s) {
        if (s == null) return 0;
        if (s.isEmpty()) return 1;
        if (s.equals(\"abc\")) return 2;
        if (s.startsWith(\"x\") && s.charAt(1) == 'y') return 3;
        return s.length() == 3 ? 4 : 5;
    }
    static String hi(String s, int n) {
        if (n < 0) throw new IllegalArgumentException(\"n \" + n);
        return n == 7 ? \"seven\" : s + n;
    }
    static double[] half(double d) { return d > 1 ? new double[] {d / 2, d / 2} : null; }
    static int never(int[] a) { if (a.length < 0) return 1; return a.length == 100 ? 2 : 3; }
}
",
    );
    let report = generated(&["-c", "branch,mcdc"], &file, scratch.path());
    for objective in report["objectives"].as_array().expect("objectives") {
        // What only longer arrays could do is not known; lengths are a bound.
        let expected = match objective["text"].as_str().expect("a text") {
            text if text.starts_with("a.length < 0 is true") => ["infeasible", "unknown"],
            text if text.starts_with("a.length == 100 is true") => ["unknown", "unknown"],
            _ => ["covered", "covered"],
        };
        assert!(expected.contains(&objective["status"].as_str().expect("a status")), "{objective:#}");
    }
    let class = std::fs::read_to_string(scratch.path().join("TextsTouchstoneTest.java")).expect("tests");
    for part in [
        "assertEquals(2, Texts.name(\"abc\"));",
        "Texts.name((String) null)",
        "assertEquals(\"seven\", Texts.hi(",
        "byte[] a = {",
        "assertArrayEquals(new byte[] {",
        "assertArrayEquals(new double[] {",
        "assertNull(Texts.half(",
    ] {
        assert!(class.contains(part), "{part} in\n{class}");
    }
}

#[test]
fn methods_of_objects_are_tested_by_sequences_of_calls_and_nothing_is_infeasible_because_of_them() {
    let scratch = tempfile::tempdir().expect("a directory");
    let report = generated(&["-c", "branch,mcdc", "--heaps", "calls"], &example("BoundedStack.java"), scratch.path());
    for objective in report["objectives"].as_array().expect("objectives") {
        let text = objective["text"].as_str().expect("a text");
        let never = text.starts_with("size < 0") || text.starts_with("size > items.length");
        let expected = if never && text.contains(" is true") { "unknown" } else { "covered" };
        assert_eq!(objective["status"], expected, "{objective:#}");
    }
    let class = std::fs::read_to_string(scratch.path().join("BoundedStackTouchstoneTest.java")).expect("tests");
    for part in [
        "BoundedStack boundedStack = new BoundedStack(",
        "boundedStack.push(",
        "assertThrows(IllegalStateException.class, () -> boundedStack.pop());",
        "assertThrows(IllegalArgumentException.class, () -> new BoundedStack(",
    ] {
        assert!(class.contains(part), "{part} in\n{class}");
    }
}

#[test]
fn what_the_machine_time_and_chance_say_makes_nothing_infeasible() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Around.java",
        "class Around {
    static int same(String s) { if (s == \"abc\") return 1; return 0; }
    static int time(int a) { if (System.currentTimeMillis() > 1000L) return 1; return 0; }
    static int property(int a) { if (\"Linux\".equals(System.getProperty(\"os.name\"))) return 1; return 0; }
    static int hash(int a) { if (new Object().hashCode() == 77) return 1; return 0; }
    static int cores(int a) { if (Runtime.getRuntime().availableProcessors() == 1) return 1; return 0; }
    static int chance(int a) { if (Math.random() < 0.5) return 1; return 0; }
    static int chosen(int a) { if (new java.util.Random().nextInt(2) == 1) return 1; return 0; }
    static int thread(int a) { if (Thread.currentThread().getName().equals(\"main\")) return 1; return 0; }
    static int order(int a) { for (int i : java.util.Set.of(1, 2, 3, 4)) { if (i == 1) return 1; break; } return 0; }
    static final int[] KEPT = new int[3];
    static int kept(int a) { if (KEPT[1] == 3) return 1; KEPT[1] = 3; return 0; }
}
",
    );
    let budget = if crate::support::long() { "20" } else { "2" };
    let arguments = ["prove", "--format", "json", "-c", "branch", "--budget", budget];
    let output = touchstone(&arguments, &[&file], scratch.path());
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["objectives"].as_array().expect("objectives").len(), 20, "{report:#}");
    assert_eq!(count(&report, "infeasible"), 0, "{report:#}");
}

#[test]
fn tests_of_other_methods_stay_and_new_tests_go_beside_an_edited_file() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "class Two {\n    static int a(int x) { return x > 1 ? 1 : 0; }\n    static int b(int x) { return x > 2 ? 1 : 0; }\n}\n";
    let file = source(scratch.path(), "Two.java", code);
    generated(&["-c", "branch", "-f", "Two.a"], &file, scratch.path());
    generated(&["-c", "branch", "-f", "Two.b"], &file, scratch.path());
    let tests = scratch.path().join("TwoTouchstoneTest.java");
    let class = std::fs::read_to_string(&tests).expect("tests");
    assert!(class.contains("Two.a(") && class.contains("Two.b("), "{class}");
    std::fs::write(&tests, class.replace("assertEquals(1,", "assertEquals(0 + 1,")).expect("a written file");
    let output = touchstone(&["generate", "-c", "branch"], &[&file], scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("new tests are in"), "{}", text(&output.stderr));
    assert!(std::fs::read_to_string(&tests).expect("tests").contains("0 + 1"));
    let more = std::fs::read_to_string(scratch.path().join("TwoTouchstoneMoreTest.java")).expect("more tests");
    assert!(more.contains("class TwoTouchstoneMoreTest") && more.contains("Two.a("), "{more}");
    assert!(text(&output.stdout).contains("replay: 4 agreed"), "{}", text(&output.stdout));
}

#[test]
fn junit_4_is_written_and_replayed_too_and_overloads_are_told_apart() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Over.java",
        "class Over {
    static int max(int a, int b) { return a > b ? a : b; }
    static long max(long a, long b) { return a > b ? a : b; }
    static float third(int a) { if (a == 3) return 1f / 3; throw new UnsupportedOperationException(); }
}
",
    );
    let report = generated(&["-c", "branch", "--emit", "junit4"], &file, scratch.path());
    assert_eq!(count(&report, "covered"), 6, "{report:#}");
    let class = std::fs::read_to_string(scratch.path().join("junit4/OverTouchstoneTest.java")).expect("tests");
    assert!(class.contains("import org.junit.Test;") && class.contains("max_int_int_1"), "{class}");
    let output = touchstone(&["generate", "-f", "max"], &[&file], scratch.path());
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("Over.max(int,int) or Over.max(long,long)"), "{}", text(&output.stderr));
}

#[test]
fn a_class_file_alone_has_the_compilers_decisions() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Bare.java",
        "package deep.er;\nclass Bare {\n    static int sign(int a) {\n        if (a < 0) return -1;\n        return a == 0 ? 0 : 1;\n    }\n}\n",
    );
    let javac = crate::support::javac().arg("-d").arg(scratch.path()).arg(&file).status().expect("javac runs");
    assert!(javac.success());
    let class = scratch.path().join("deep/er/Bare.class");
    let report = generated(&["-c", "branch", "-f", "sign"], &class, &scratch.path().join("out"));
    assert_eq!(count(&report, "covered"), 4, "{report:#}");
    let first = &report["objectives"][0]["text"];
    assert_eq!(first, "line 4, jump 1: not taken is true");
    let output = touchstone(&["prove", "-c", "branch", "-f", "sign"], &[&class], &scratch.path().join("out"));
    assert!(text(&output.stderr).contains("decisions are the compiler's"), "{}", text(&output.stderr));
}

#[test]
fn a_test_that_would_end_the_jvm_is_left_out() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "class Odd {\n    static int f(int a) { if (a == 1) System.exit(3); return a > 5 ? 1 : 0; }\n}\n";
    let file = source(scratch.path(), "Odd.java", code);
    let output = touchstone(&["generate", "--format", "json", "-c", "branch"], &[&file], scratch.path());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let agreed = report["tests"].as_array().expect("tests").iter().filter(|test| test["replay"] == "agreed").count();
    assert_eq!(agreed, 2, "{report:#}");
    let class = std::fs::read_to_string(scratch.path().join("OddTouchstoneTest.java")).expect("tests");
    assert!(class.contains("is left out: it ends the JVM"), "{class}");
}

#[test]
fn a_name_that_source_cant_write_takes_no_other_tests_with_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "class Made {\n    static int call(int a) { return a > 3 ? 2 : 1; }\n    static int f(int a) { return a > 4 ? Gone.x : 1; }\n}\nclass Gone { static int x; }\n";
    let file = source(scratch.path(), "Made.java", code);
    let javac = crate::support::javac().arg("-d").arg(scratch.path()).arg(&file).status().expect("javac runs");
    assert!(javac.success());
    // As tools that obfuscate do; and a class is missing.
    let class = scratch.path().join("Made.class");
    let mut bytes = std::fs::read(&class).expect("a class");
    let at = bytes.windows(6).position(|part| part == b"\0\x04call").expect("the name");
    bytes[at + 2..at + 6].copy_from_slice(b"else");
    std::fs::write(&class, bytes).expect("a written file");
    std::fs::remove_file(scratch.path().join("Gone.class")).expect("removed");
    let report = generated(&["-c", "branch"], &class, &scratch.path().join("out"));
    assert_eq!(count(&report, "covered"), 2, "{report:#}");
    let tests = std::fs::read_to_string(scratch.path().join("out/MadeTouchstoneTest.java")).expect("tests");
    assert!(tests.contains("assertThrows(NoClassDefFoundError.class"), "{tests}");
    let output = touchstone(&["generate", "-f", "Made.else"], &[&class], &scratch.path().join("out"));
    assert!(text(&output.stderr).contains("its name is not a Java identifier"), "{}", text(&output.stderr));
}

#[test]
fn input_that_is_none_is_refused_with_what_is_wrong() {
    let scratch = tempfile::tempdir().expect("a directory");
    let check = |name: &str, bytes: &[u8], arguments: &[&str], expected: &str| {
        let file = scratch.path().join(name);
        std::fs::write(&file, bytes).expect("a written file");
        let output = touchstone(&[&["generate"], arguments].concat(), &[&file], &scratch.path().join("out"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains(expected), "{name}: {said}");
    };
    check("Bad.java", b"class Bad { int f( { } }", &[], "javac refuses the program");
    check("Cut.class", &[0xca, 0xfe, 0xba, 0xbe, 0, 0], &[], "Cut.class");
    check("New.class", &[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0x7f, 0xff], &[], "class file version 32767");
    check("No.jar", b"no zip", &[], "No.jar");
    check("Here.java", b"class Here { static void f() { } }", &["-f", "Here.g"], "there is no function `Here.g`");
    check("Obj.java", b"class Obj { private static void f(int a) { } }", &["-f", "Obj.f"], "can't be tested");
    check("Abs.java", b"class Abs { private Abs() { } void f(int a) { } }", &["-f", "Abs.f"], "needs a receiver");
    check(
        "Pre.java",
        b"class Pre { static void f(int a) { } }",
        &["--pre", "a > 3", "-f", "Pre.f"],
        "`boolean Pre.f_pre(",
    );
    check("Form.java", b"class Form { static void f() { } }", &["--emit", "unity"], "another language");
}

#[test]
fn texts_are_as_long_as_strings_or_len_say() {
    let scratch = tempfile::tempdir().expect("a directory");
    let text = "public class Long { static int f(String s) { return s != null && s.length() == 99 && s.charAt(98) == 'q' ? 1 : 0; } }\n";
    let file = source(scratch.path(), "Long.java", text);
    for (options, open) in [(&[][..], 1), (&["--strings", "99"], 0), (&["--len", "s=99"], 0)] {
        let report = generated(&[&["-c", "branch"][..], options].concat(), &file, scratch.path());
        assert_eq!(count(&report, "unknown"), open, "{options:?}: {report:#}");
    }
}

#[test]
fn a_result_that_is_an_object_is_not_null() {
    let scratch = tempfile::tempdir().expect("a directory");
    let text = "public class Some { static Object one(int a) { if (a > 3) return new int[a][]; return null; } }\n";
    let file = source(scratch.path(), "Some.java", text);
    generated(&["-c", "branch"], &file, scratch.path());
    let tests = std::fs::read_to_string(scratch.path().join("SomeTouchstoneTest.java")).expect("tests");
    assert!(tests.contains("assertNotNull(Some.one(") && tests.contains("assertNull(Some.one("), "{tests}");
}
