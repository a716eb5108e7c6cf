//! Java: switches over constants of enumerations and over texts have an objective for each of their arms, as the source names it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const SIGNAL: &str = r#"public class Signal {
    enum Colour { RED, GREEN, BLUE, GREY }
    /** Numbers constants before the others do, and in another order than they have. */
    static int late(Colour c) {
        switch (c) { case BLUE: return 3; case RED: return 1; default: return 0; }
    }
    static int open(Colour c) {
        int r = 0;
        switch (c) { case RED: case GREEN: r = 1; break; case BLUE: r = 2; }
        return r;
    }
    static int all(Colour c) {
        return switch (c) { case RED -> 1; case GREEN, BLUE -> 2; case GREY -> 3; };
    }
    /** Two of the texts have the same hash code. */
    static int texts(String s) {
        switch (s) { case "Aa": return 1; case "BB": return 2; case "stop": case "go": return 3; default: return 4; }
    }
    static String nested(Colour c, String s) {
        return switch (switch (c) { case RED -> "x"; default -> s; }) {
            case "x" -> "ex";
            case "y" -> switch (c) { case GREEN -> "gy"; default -> "y"; };
            default -> s + "!";
        };
    }
    static int about(int k, Colour c) {
        switch (switch (c) { case RED -> Colour.BLUE; default -> c; }) { case BLUE: k++; }
        return k;
    }
    static int twice(Colour c) {
        switch (c) { case RED: return 1; default: }
        switch (c) { case RED: return 2; case BLUE: return 3; default: return 4; }
    }
    public static void main(String[] args) {
        System.out.println(late(Colour.RED) + open(Colour.GREY) + all(Colour.BLUE) + texts("BB") + texts("go") + nested(Colour.BLUE, "y"));
    }
}
"#;

fn touchstone(within: &Path, words: &[&str]) -> Value {
    json(Command::new(env!("CARGO_BIN_EXE_touchstone")).args(words).current_dir(within))
}

fn json(command: &mut Command) -> Value {
    let output = command.output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn written() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a directory");
    std::fs::create_dir(scratch.path().join("src")).expect("writable");
    std::fs::write(scratch.path().join("src/Signal.java"), SIGNAL).expect("writable");
    scratch
}

/// By id, what objectives of switches are called, and their verdicts.
fn arms(report: &Value) -> BTreeMap<String, (String, String)> {
    let word = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_string();
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let switches = objectives.filter(|one| word(one, "text").starts_with("switch: "));
    let name = |one: &Value| format!("{} {}", word(one, "function").replace("Signal.", ""), &word(one, "text")[8..]);
    switches.map(|one| (word(one, "id"), (name(one), word(one, "status")))).collect()
}

#[test]
fn arms_have_the_names_of_the_source_and_a_test_each_or_a_proof() {
    let scratch = written();
    let report = touchstone(scratch.path(), &["generate", "src/Signal.java", "-c", "branch", "--format", "json"]);
    for test in report["tests"].as_array().expect("tests") {
        assert_eq!(test["replay"], "agreed", "{test:#}");
    }
    let mut found: Vec<(String, String)> = arms(&report).into_values().collect();
    found.sort();
    let expected = [
        "about case BLUE",
        "about case RED",
        "about default",
        "about default",
        "all case BLUE, case GREEN",
        "all case GREY",
        "all case RED",
        "late case BLUE",
        "late case RED",
        "late default",
        "nested case \"x\"",
        "nested case \"y\"",
        "nested case GREEN",
        "nested case RED",
        "nested default",
        "nested default",
        "nested default",
        "open case BLUE",
        "open case RED, case GREEN",
        "open default",
        "texts case \"Aa\"",
        "texts case \"BB\"",
        "texts case \"stop\", case \"go\"",
        "texts default",
        "twice case BLUE",
        "twice case RED",
        "twice case RED",
        "twice default",
        "twice default",
    ];
    assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expected);
    let open: Vec<_> = found.iter().filter(|(_, status)| status != "covered").collect();
    assert_eq!(open, [&("twice case RED".to_string(), "infeasible".to_string())]);
}

#[test]
fn arms_are_measured_under_the_ids_that_generate_gives_them() {
    let scratch = written();
    let compiled =
        crate::support::javac().args(["-d", "classes", "src/Signal.java"]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    let run = ["measure", "-c", "branch", "-q", "--", "java", "-Xverify:all", "-cp", "classes", "Signal"];
    let measured = Command::new(env!("CARGO_BIN_EXE_touchstone")).args(run).current_dir(scratch.path()).output();
    assert!(measured.expect("it runs").status.success());
    let measured = arms(&touchstone(scratch.path(), &["report", "--format", "json"]));
    let listed =
        arms(&touchstone(scratch.path(), &["objectives", "src/Signal.java", "-c", "branch", "--format", "json"]));
    assert_eq!(measured.keys().collect::<Vec<_>>(), listed.keys().collect::<Vec<_>>());
    let mut covered: Vec<&str> =
        measured.values().filter(|(_, status)| status == "covered").map(|(name, _)| name.as_str()).collect();
    covered.sort_unstable();
    let expected = [
        "all case BLUE, case GREEN",
        "late case RED",
        "nested case \"y\"",
        "nested default",
        "nested default",
        "open default",
        "texts case \"BB\"",
        "texts case \"stop\", case \"go\"",
    ];
    assert_eq!(covered, expected);
}

/// Patterns in a switch need Java 21; older compilers reject them.
#[test]
fn patterns_have_arms_and_their_guards_are_decisions() {
    let code = r#"class Patterns {
    sealed interface Shape permits Circle, Dot {}
    record Circle(int r) implements Shape {}
    record Dot() implements Shape {}
    enum Hue { RED, GREEN }
    static int kind(Shape s) { return switch (s) { case Circle c when c.r() > 3 && c.r() < 9 -> 1; case Circle c -> 2; case Dot d -> 3; }; }
    static int hue(Hue h) { return switch (h) { case null -> 0; case RED -> 1; case GREEN -> 2; }; }
}
"#;
    for (home, _) in crate::java_run::jdks().into_iter().filter(|(_, release)| *release >= 21) {
        let scratch = tempfile::tempdir().expect("a directory");
        std::fs::write(scratch.path().join("Patterns.java"), code).expect("writable");
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.args(["generate", "Patterns.java", "-c", "branch,mcdc", "--format", "json"]).env("JAVA_HOME", home);
        let report = json(command.current_dir(scratch.path()));
        let all = report["objectives"].as_array().expect("objectives").iter();
        let mut texts: Vec<&str> = all.clone().filter_map(|one| one["text"].as_str()).collect();
        texts.sort_unstable();
        let expected = [
            "c.r() < 9 is false and independently affects the outcome",
            "c.r() < 9 is true and independently affects the outcome",
            "c.r() > 3 && c.r() < 9 is false",
            "c.r() > 3 && c.r() < 9 is true",
            "c.r() > 3 is false and independently affects the outcome",
            "c.r() > 3 is true and independently affects the outcome",
            "switch: case Circle",
            "switch: case Circle",
            "switch: case Dot",
            "switch: case GREEN",
            "switch: case RED",
            "switch: case null",
        ];
        assert_eq!(texts, expected);
        let open: Vec<&Value> = all.filter(|one| one["status"] != "covered").collect();
        assert!(open.is_empty(), "{open:#?}");
    }
}
