//! Java as class files and jars: class paths, skipped classes, and sources beside them.

use crate::java_generate::{count, example, generated, source, touchstone};
use std::path::Path;
use std::process::Command;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compiles sources into a directory.
fn compiled(to: &Path, class_path: &Path, sources: &[&Path]) {
    let output = crate::support::javac().arg("-d").arg(to).arg("-cp").arg(class_path).args(sources).output();
    let output = output.expect("javac runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_class_whose_superclass_is_elsewhere_is_left_out_by_name_until_the_class_path_names_it() {
    let scratch = tempfile::tempdir().expect("a directory");
    let at = |name: &str| scratch.path().join(name);
    for name in ["lib", "app", "libs"] {
        std::fs::create_dir(at(name)).expect("a directory");
    }
    let base = source(
        scratch.path(),
        "Base.java",
        "package lib; public class Base { public int twice(int a) { return 2 * a; } }",
    );
    let sub = source(
        scratch.path(),
        "Sub.java",
        "package app; public class Sub extends lib.Base { static int f(int a) { return new Sub().twice(a) == 6 ? 1 : 0; } }",
    );
    let own = source(
        scratch.path(),
        "Own.java",
        "package app; public class Own { static int g(int a) { return a > 3 ? 1 : 0; } }",
    );
    compiled(&at("lib"), scratch.path(), &[&base]);
    compiled(&at("app"), &at("lib"), &[&sub, &own]);
    let output = touchstone(&["generate", "-c", "branch", "--format", "json"], &[&at("app")], &at("out"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("can't load app.Sub (no class lib/Base)") && said.contains("--class-path"), "{said}");
    assert!(text(&output.stdout).contains("\"app.Own.g\"") && !text(&output.stdout).contains("app.Sub"));
    // A directory of jars is all of them.
    let jar = Command::new("jar").arg("cf").arg(at("libs/base.jar")).arg("-C").arg(at("lib")).arg(".").output();
    assert!(jar.expect("jar runs").status.success());
    let libs = at("libs");
    let report = generated(&["-c", "branch", "--class-path", libs.to_str().expect("text")], &at("app"), &at("out2"));
    assert_eq!(count(&report, "covered"), 4, "{report:#}");
    let output = touchstone(&["generate", "--class-path", "nowhere.jar"], &[&at("app")], &at("out3"));
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("nowhere.jar: no such jar or directory"), "{}", text(&output.stderr));
}

#[test]
fn source_beside_classes_names_conditions_where_the_code_is_the_same() {
    let scratch = tempfile::tempdir().expect("a directory");
    let code = "package p; public class Gate { static int open(int a, boolean b) { if (a > 3 && b) return 1; return 0; }\n\
                static int other(int a) { return a > 9 ? 1 : 2; } }";
    let file = source(scratch.path(), "Gate.java", code);
    let classes = scratch.path().join("classes");
    std::fs::create_dir(&classes).expect("a directory");
    compiled(&classes, scratch.path(), &[&file]);
    std::fs::create_dir_all(scratch.path().join("unpacked/p")).expect("a directory");
    // Another method was changed since.
    std::fs::write(scratch.path().join("unpacked/p/Gate.java"), code.replace("a > 9 ?", "a > 9 && a < 20 ?"))
        .expect("a source");
    let jar = scratch.path().join("gate-sources.jar");
    let made = Command::new("jar").arg("cf").arg(&jar).arg("-C").arg(scratch.path().join("unpacked")).arg(".").output();
    assert!(made.expect("jar runs").status.success());
    let out = scratch.path().join("out");
    let output = touchstone(&["generate", "-c", "mcdc", "--format", "json"], &[&classes, &jar], &out);
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(said.contains("a > 3 is true and independently affects the outcome"), "{said}");
    assert!(!said.contains("a < 20"), "the given classes are what is tested: {said}");
    assert!(told.contains("1 method has other code in the given classes than its source"), "{told}");
}

#[test]
fn a_method_may_be_named_with_its_types_and_a_wrong_name_gets_near_ones() {
    let scratch = tempfile::tempdir().expect("a directory");
    let many: String = (0..30).map(|number| format!("static int other{number}(int a) {{ return a; }}\n")).collect();
    let code =
        format!("public class Named {{ static int only(CharSequence s, int... n) {{ return n.length; }}\n{many}}}");
    let file = source(scratch.path(), "Named.java", &code);
    for name in ["Named.only", "Named.only(CharSequence,int[])", "only(java.lang.CharSequence, int...)"] {
        let output = touchstone(&["objectives", "-c", "stmt", "-f", name], &[&file], scratch.path());
        assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output.stderr));
    }
    let output = touchstone(&["objectives", "-c", "stmt", "-f", "Named.olny"], &[&file], scratch.path());
    assert!(text(&output.stderr).contains("did you mean Named.only?"), "{}", text(&output.stderr));
}

#[test]
fn arrays_of_texts_wide_characters_and_initialisers_that_use_patterns_are_no_obstacle() {
    let scratch = tempfile::tempdir().expect("a directory");
    let file = source(
        scratch.path(),
        "Texts.java",
        "import java.util.regex.Pattern;
public class Texts {
    private static final Pattern MARKS = Pattern.compile(\"\\\\p{InCombiningDiacriticalMarks}+\");
    static boolean allBlank(CharSequence... all) {
        if (all == null || all.length == 0) return true;
        for (CharSequence one : all) if (!blank(one)) return false;
        return true;
    }
    private static boolean blank(CharSequence text) {
        int length = text == null ? 0 : text.length();
        for (int i = 0; i < length; i++) if (!Character.isWhitespace(text.charAt(i))) return false;
        return true;
    }
    static int pairs(String s) {
        if (s.length() > 1 && Character.isHighSurrogate(s.charAt(0)) && Character.isLowSurrogate(s.charAt(1))) return 1;
        return 0;
    }
    static int first(String s) { return s.charAt(0) == '\\u0436' ? 1 : 0; }
    static int same(String s) { return s.equals(\"\\u0436\") ? 1 : 0; }
    static int charset(java.nio.charset.Charset c) { return c == null ? 0 : 1; }
}
",
    );
    let report = generated(&["-c", "branch,mcdc"], &file, &scratch.path().join("out"));
    let total = report["objectives"].as_array().expect("objectives").len();
    assert_eq!(count(&report, "covered"), total, "{report:#}");
}

#[test]
fn the_containers_and_controllers_of_the_papers_are_covered() {
    let all = ["Tcas", "WheelBrakes", "FlightGuidance", "SortedList", "IntHeap", "RingQueue", "FibHeap"];
    let long = std::env::var_os("TOUCHSTONE_LONG").is_some();
    let some = if long { &all[..] } else { &["Tcas", "FibHeap"] };
    for name in some {
        let scratch = tempfile::tempdir().expect("a directory");
        let report = generated(&["-c", "branch,mcdc"], &example(&format!("{name}.java")), scratch.path());
        assert_eq!(count(&report, "unknown"), 0, "{name}: {report:#}");
    }
}

#[test]
fn tests_of_a_project_go_to_its_tests_and_its_build_is_left_alone() {
    let scratch = tempfile::tempdir().expect("a directory");
    let at = |name: &str| scratch.path().join(name);
    for name in ["src/main/java/p", "src/test/java/p", "target/classes"] {
        std::fs::create_dir_all(at(name)).expect("a directory");
    }
    std::fs::write(at("pom.xml"), "<project/>").expect("a file");
    let code = "package p; public class Own { static int g(int a) { return a > 3 ? 1 : 0; } }";
    std::fs::write(at("src/main/java/p/Own.java"), code).expect("a source");
    std::fs::write(at("src/test/java/p/OwnTest.java"), "package p; import org.junit.*; class OwnTest {}")
        .expect("a test");
    let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
    let output = command.args(["generate", ".", "-c", "branch"]).current_dir(scratch.path()).output();
    let output = output.expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(at("src/test/java/p/OwnTouchstoneTest.java").is_file(), "{}", text(&output.stdout));
    assert!(!at("touchstone-out/p").exists());
    assert_eq!(std::fs::read_to_string(at("pom.xml")).expect("a file"), "<project/>");
    // With `-o`, all files go to that directory.
    generated(&["-c", "branch"], scratch.path(), &at("elsewhere"));
    assert!(at("elsewhere/p/OwnTouchstoneTest.java").is_file());
}

#[test]
fn bad_classes_and_jars_are_refused_with_what_to_do() {
    let scratch = tempfile::tempdir().expect("a directory");
    let at = |name: &str| scratch.path().join(name);
    let gone = source(scratch.path(), "Gone.java", "public class Gone { }");
    let code =
        "public class Needs { static int of(Gone g) { return g == null ? 0 : 1; } static int f(int a) { return a; } }";
    let needs = source(scratch.path(), "Needs.java", code);
    std::fs::create_dir(at("classes")).expect("a directory");
    compiled(&at("classes"), scratch.path(), &[&gone, &needs]);
    std::fs::remove_file(at("classes/Gone.class")).expect("it was there");
    let bytes = std::fs::read(at("classes/Needs.class")).expect("a class");
    std::fs::write(at("Cut.class"), &bytes[..bytes.len() / 2]).expect("a file");
    let newer = [&bytes[..6], &[0, 99], &bytes[8..]].concat();
    std::fs::write(at("Newer.class"), newer).expect("a file");
    std::fs::write(at("no.jar"), "hello").expect("a file");
    let cases: [(&str, &[&str], &str); 4] = [
        ("Cut.class", &[], "bytes expected"),
        ("Newer.class", &[], "known are 45 to 69 (Java 25)"),
        ("no.jar", &[], "no jar: it has no zip directory"),
        ("classes", &["-f", "Needs.of"], "the class Gone of a parameter was not found: add its jar with --class-path"),
    ];
    for (file, more, expected) in cases {
        let output = touchstone(&[&["generate"], more].concat(), &[&at(file)], &at("out"));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{file}: {said}");
        assert!(said.contains(expected), "{file}: {said}");
    }
}
