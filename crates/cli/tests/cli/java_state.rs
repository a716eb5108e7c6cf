//! State coverage of Java: the table of `tests/state-java`, and random programs against a plain interpreter of the same rules and against
//! the truth. `TOUCHSTONE_LONG=1` tries many more programs, `TOUCHSTONE_SEED=N` begins elsewhere, `TOUCHSTONE_COUNT=N` says how many.

use super::state_random::language::{Form, GLOBALS, JavaAssertion, Random, Test, has_constant_condition, java_program};
use super::state_random::truth;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn ours(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/state-java").join(path)
}

/// Builds a jar of replacements for JUnit. Classes of a library are not traced; those of a directory would be.
pub fn standins(within: &Path) -> PathBuf {
    let script = format!(
        "javac -d standin $(find '{}' -name '*.java') && jar --create --file standin.jar -C standin .",
        ours("standin").display()
    );
    let made = Command::new("sh").args(["-c", &script]).current_dir(within).status();
    assert!(made.expect("javac runs").success());
    within.join("standin.jar")
}

/// The report of a measured command.
fn measured(within: &Path, words: &[&str]) -> Value {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "state", "--format", "json", "--"])
        .args(words)
        .current_dir(within)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && !said.contains("warning") && !said.contains("not followed"), "{said}");
    serde_json::from_slice(&run.stdout).unwrap_or_else(|_| panic!("no JSON: {said}"))
}

/// By test: `1/2 not: Color.rgb`.
fn by_test(report: &Value) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for test in report["state"].as_array().expect("state by test") {
        let name = test["test"].as_str().expect("a name").rsplit('.').next().unwrap_or_default().to_string();
        let updates = test["updates"].as_array().expect("updates");
        let mut not: Vec<&str> = updates
            .iter()
            .filter(|update| update["checked"] != true)
            .map(|update| update["what"].as_str().expect("what"))
            .collect();
        not.sort_unstable();
        let rest = if not.is_empty() { String::new() } else { format!(" not: {}", not.join(", ")) };
        found.insert(name, format!("{}/{}{rest}", updates.len() - not.len(), updates.len()));
    }
    found
}

#[test]
fn what_tests_change_and_check_is_as_the_table_says() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path());
    let package = scratch.path().join("src/program");
    std::fs::create_dir_all(&package).expect("writable");
    for file in ["Program.java", "TableTest.java"] {
        std::fs::copy(ours(file), package.join(file)).expect("copied");
    }
    let jar = jar.display().to_string();
    let compiled = crate::support::javac()
        .args(["-g", "-d", "classes", "-cp", &jar, "src/program/Program.java", "src/program/TableTest.java"])
        .current_dir(scratch.path())
        .status();
    assert!(compiled.expect("javac runs").success());
    let path = format!("classes:{jar}");
    let report =
        measured(scratch.path(), &["java", "-Xverify:all", "-ea", "-cp", &path, "standin.Main", "program.TableTest"]);
    let found = by_test(&report);
    let table = std::fs::read_to_string(ours("TableTest.java")).expect("the table");
    let (mut before, mut count) = ("", 0);
    for line in table.lines().map(str::trim) {
        let is_test = ["@Test", "@org.junit.Test", "@org.testng"].iter().any(|mark| line.starts_with(mark));
        if let Some((_, test)) = line.split_once(" void ").filter(|_| is_test) {
            let name = test.split('(').next().unwrap_or_default();
            let expected = before.strip_prefix("// ").expect("a comment before each test");
            assert_eq!(found.get(name).map_or("n/a", String::as_str), expected, "{name}");
            count += 1;
        }
        before = line;
    }
    assert!(count > 25, "only {count} tests");
}

/// Tests that run beside each other for certain: each waits for the other.
const BESIDE: &str = r#"
import java.util.concurrent.*;
import standin.Main;
import static org.junit.jupiter.api.Assertions.*;
class Meter {
    static final ExecutorService shared = Executors.newFixedThreadPool(1);
    int last, count; boolean seen;
    void read(int value) { last = value; count++; }
    void look() { seen = true; }
}
public class Beside {
    static final CyclicBarrier both = new CyclicBarrier(2);
    static void together() throws Exception { both.await(20, TimeUnit.SECONDS); }
    static void last() throws Exception {
        Main.begin("last");
        together();
        Meter meter = new Meter();
        for (int step = 0; step < 20; step++) { meter.read(step); Thread.yield(); }
        assertEquals(19, meter.last);
        together();
        Main.end("last");
    }
    static void count() throws Exception {
        Main.begin("count");
        together();
        Meter meter = new Meter();
        Thread helper = new Thread(() -> { for (int step = 0; step < 20; step++) meter.read(step); });
        helper.start();
        helper.join();
        assertEquals(20, meter.count);
        together();
        Main.end("count");
    }
    static void pooled() throws Exception {
        Main.begin("pooled");
        Meter meter = new Meter();
        meter.read(7);
        Meter.shared.submit(() -> meter.look()).get();
        assertEquals(7, meter.last);
        Main.end("pooled");
    }
    public static void main(String[] arguments) throws Exception {
        Thread other = new Thread(() -> { try { count(); } catch (Exception e) { throw new Error(e); } });
        other.start();
        last();
        other.join();
        pooled();
        Meter.shared.shutdown();
    }
}
"#;

#[test]
fn concurrent_tests_change_and_check_their_own_state_and_the_rest_is_unknown() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    std::fs::write(scratch.path().join("Beside.java"), BESIDE).expect("writable");
    let compiled = crate::support::javac()
        .args(["-g", "-d", "classes", "-cp", &jar, "Beside.java"])
        .current_dir(scratch.path())
        .status();
    assert!(compiled.expect("javac runs").success());
    let report = measured(scratch.path(), &["java", "-Xverify:all", "-cp", &format!("classes:{jar}"), "Beside"]);
    let found = by_test(&report);
    let expected = [
        ("count", "1/2 not: Meter.last"),
        ("last", "1/2 not: Meter.count"),
        ("pooled", "1/3 not: Meter.count, Meter.shared"),
        ("java Beside: tests at the same time", "0/2 not: Meter.seen, Meter.shared"),
    ];
    assert_eq!(found, expected.map(|(test, state)| (test.to_string(), state.to_string())).into());
    let objectives = report["objectives"].as_array().expect("objectives");
    let seen = objectives.iter().find(|one| one["text"] == "Meter.seen is checked").expect("an objective");
    assert_eq!((&seen["status"], &seen["reason"]), (&"unknown".into(), &"state_beside".into()));
}

/// A program that ends in the middle of a test.
const ENDS: &str = r#"
import standin.Main;
import static org.junit.jupiter.api.Assertions.*;
class Lamp {
    int lit, turned;
    void turn() { lit = 3; turned++; }
}
public class Ends {
    public static void main(String[] words) throws Exception {
        Main.begin("turns");
        Lamp lamp = new Lamp();
        lamp.turn();
        assertEquals(3, lamp.lit);
        if (words[0].equals("halt")) Runtime.getRuntime().halt(0);
        new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start();
        Thread.sleep(20_000);
    }
}
"#;

#[test]
fn what_a_test_did_is_known_whatever_ends_its_program() {
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    std::fs::write(scratch.path().join("Ends.java"), ENDS).expect("writable");
    let compiled =
        crate::support::javac().args(["-d", "classes", "-cp", &jar, "Ends.java"]).current_dir(scratch.path()).status();
    assert!(compiled.expect("javac runs").success());
    for (word, code) in [("halt", 0), ("kill", 137)] {
        let script = format!("java -cp classes:{jar} Ends {word}; test $? = {code}");
        let found = by_test(&measured(scratch.path(), &["sh", "-c", &script]));
        assert_eq!(found, BTreeMap::from([("turns".to_string(), "1/2 not: Lamp.turned".to_string())]), "{word}");
    }
    // Without a run, nothing is known.
    let listed = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["objectives", "-c", "state", "--class-path", &jar, "Ends.java"])
        .current_dir(scratch.path())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&listed.stderr);
    assert_eq!(listed.status.code(), Some(1), "{said}");
    assert!(said.contains("`touchstone measure -c state -- COMMAND` lists what they change"), "{said}");
}

#[test]
fn checked_in_java_is_what_an_assertion_depends_on() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let first = number("TOUCHSTONE_SEED").unwrap_or(0);
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if super::support::long() { 250 } else { 3 });
    let (scratch, beside) = (tempfile::tempdir().expect("a directory"), tempfile::tempdir().expect("a directory"));
    let jar = standins(beside.path()).display().to_string();
    let (mut showing, mut unchecked) = (0, 0);
    for seed in first..first + count {
        let mut random = Random(seed, Form::Java);
        let tests: Vec<Test> = (0..36)
            .map(|_| {
                let mut statements = random.statements(2, false);
                statements.extend(random.statements(2, false));
                (statements, random.value(2))
            })
            .filter(|(statements, _)| !has_constant_condition(statements))
            .collect();
        // Odd values may be asserted by an exception.
        let assertion = |(number, test): (usize, Test)| match number % 3 {
            1 if truth::truth(&test, Form::Java).0 & 1 == 1 => (test, JavaAssertion::Caught),
            2 if truth::truth(&test, Form::Java).0 & 1 == 1 => (test, JavaAssertion::Thrown),
            _ => (test, JavaAssertion::Statement),
        };
        let tests: Vec<(Test, JavaAssertion)> = tests.into_iter().enumerate().map(assertion).collect();
        std::fs::write(scratch.path().join("Random.java"), java_program(&tests)).expect("writable");
        let compiled = crate::support::javac()
            .args(["-g", "-d", "classes", "-cp", &jar, "Random.java"])
            .current_dir(scratch.path())
            .status();
        assert!(compiled.expect("javac runs").success());
        let path = format!("classes:{jar}");
        let report = measured(scratch.path(), &["sh", "-c", &format!("java -ea -cp {path} Random > printed")]);
        let mut checked: BTreeMap<(String, String), bool> = BTreeMap::new();
        for test in report["state"].as_array().expect("state by test") {
            for update in test["updates"].as_array().expect("updates") {
                let what = update["what"].as_str().expect("what").split(' ').next().unwrap_or_default();
                let key = (test["test"].as_str().expect("a test").to_string(), what.to_string());
                *checked.entry(key).or_default() |= update["checked"] == true;
            }
        }
        let printed = std::fs::read_to_string(scratch.path().join("printed")).expect("what it printed");
        let values: Vec<&str> = printed.lines().collect();
        for (number, test) in tests.iter().enumerate() {
            let (value, truths) = truth::truth(&test.0, Form::Java);
            let program = || java_program(std::slice::from_ref(test));
            assert_eq!((value as i32).to_string(), values[number], "seed {seed}, test{number}\n{}", program());
            for truth in truths {
                let name = ["Random.g0", "Random.g1", "Thing.a", "Thing.b", "Held.a"][truth.global];
                let said = checked.get(&(format!("test.test{number}"), name.to_string()));
                let place = || {
                    format!("seed {seed}, test{number}, {}: {truth:?}, {said:?}\n{}", GLOBALS[truth.global], program())
                };
                assert!(truth.depends || !truth.shows, "the interpreter misses an influence: {}", place());
                assert!(said == Some(&truth.depends), "{}", place());
                showing += usize::from(truth.shows);
                unchecked += usize::from(!truth.depends);
            }
        }
    }
    println!("{showing} influences show, {unchecked} pieces of state are not checked");
    assert!(showing > 60 && unchecked > 60, "{showing} influences show, {unchecked} are not checked");
}
