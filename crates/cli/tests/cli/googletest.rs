//! C code under GoogleTest's tests: which test covered it, with GoogleTest's own main or another, and the program stays
//! what it is. `tests/googletest/` has the sources.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Returns true if GoogleTest is installed; in CI it must be.
fn is_there() -> bool {
    let found =
        Path::new("/usr/include/gtest/gtest.h").exists() && Command::new("c++").arg("--version").output().is_ok();
    let ci = std::env::var("CI").is_ok_and(|value| !value.is_empty() && value != "false" && value != "0");
    assert!(found || !ci, "no GoogleTest: run setup.sh");
    if !found {
        eprintln!("skipped: GoogleTest is not installed (setup.sh installs it)");
    }
    found
}

fn sources() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/googletest")).expect("sources")
    {
        let path = entry.expect("an entry").path();
        std::fs::copy(&path, scratch.path().join(path.file_name().expect("a name"))).expect("writable");
    }
    scratch
}

/// Measures a command in a folder. Returns the report, the output of the command, and the remarks.
fn measure(folder: &Path, criteria: &str, command: &str) -> (serde_json::Value, String, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", criteria, "--format", "json", "--json", "measured.json", "--"])
        .args(["sh", "-c", &format!("{{ {command}; }} >log 2>&1")])
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
    let text = std::fs::read_to_string(folder.join("measured.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {said}\n{log}"));
    (serde_json::from_str(&text).expect("JSON"), log, said)
}

/// The tests that cover each objective, by its text.
fn by_test(report: &serde_json::Value) -> BTreeMap<String, Vec<String>> {
    let word = |value: &serde_json::Value| value.as_str().expect("text").to_string();
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    objectives.map(|o| (word(&o["text"]), o["tests"].as_array().expect("tests").iter().map(word).collect())).collect()
}

const LIBRARY: &str = "cc -c counter.c && ar rcs libcounter.a counter.o";
const OWN_MAIN: &str = "#include <gtest/gtest.h>\nint main(int argc, char **argv) { ::testing::InitGoogleTest(&argc, argv); return RUN_ALL_TESTS(); }\n";

#[test]
fn hits_are_told_apart_by_googletest_s_tests() {
    if !is_there() {
        return;
    }
    let scratch = sources();
    std::fs::write(scratch.path().join("main.cc"), OWN_MAIN).expect("writable");
    let check = |build: &str| {
        let (report, log, said) = measure(scratch.path(), "branch", &format!("{LIBRARY} && {build} && ./tests"));
        assert!(log.contains("[  PASSED  ] 4 tests."), "{build}: {log}");
        let found = by_test(&report);
        let tests = |text: &str| found[text].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!(tests("by < 0 is true"), ["CounterTest.Refuses"], "{build}: {said}");
        assert_eq!(tests("c->value + by > c->limit is true"), ["Few/Limits.Loses/0", "Few/Limits.Loses/1"], "{build}");
        assert_eq!(tests("c->value + by > c->limit is false"), ["Counter.Adds"], "{build}");
        said
    };
    let objects = "g++ -Wall -Werror -MMD -c test_counter.cc && g++ -c test_more.cc && test -s test_counter.d";
    let link = "g++ test_counter.o test_more.o libcounter.a -lgtest -lgtest_main -lpthread -o tests";
    let said = check(&format!("{objects} && {link}"));
    // C++ is not measured itself, which is said.
    assert!(said.contains("test_counter.cc: only C sources get probes"), "{said}");
    check("c++ main.cc test_counter.o test_more.o libcounter.a -lgtest -lpthread -o tests");
}

#[test]
fn a_build_of_cxx_sees_its_own_errors_and_a_failing_test_fails() {
    if !is_there() {
        return;
    }
    let scratch = sources();
    let folder = scratch.path();
    let wrong = "#include \"counter.h\"\n#include <gtest/gtest.h>\nTEST(Counter, Fails) { int unused; struct counter c; counter_init(&c, 1); EXPECT_EQ(0, counter_add(&c, 1)); }\n";
    std::fs::write(folder.join("wrong.cc"), wrong).expect("writable");
    let link = "g++ -Wall wrong.o libcounter.a -lgtest -lgtest_main -lpthread -o tests";
    let (report, log, _) =
        measure(folder, "branch", &format!("{LIBRARY} && g++ -Wall -c wrong.cc && {link}; ./tests; echo ended $?"));
    assert!(log.contains("warning: unused variable") && log.contains("ended 1"), "{log}");
    assert_eq!(by_test(&report)["c->value + by > c->limit is false"], ["Counter.Fails"]);
    let (_, log, _) = measure(folder, "branch", &format!("{LIBRARY}; g++ -Wall -Werror -c wrong.cc; echo ended $?"));
    assert!(log.contains("error: unused variable") && log.contains("ended 1"), "{log}");
}

/// Returns the state that a test modifies, with `+` if an assertion depends on it.
fn state(report: &serde_json::Value, test: &str) -> Vec<String> {
    let tests = report["state"].as_array().expect("state by test").iter();
    let updates =
        tests.filter(|entry| entry["test"] == test).flat_map(|entry| entry["updates"].as_array().expect("updates"));
    let sign = |update: &serde_json::Value| if update["checked"] == true { '+' } else { '-' };
    // Objects are also distinguished by their test.
    let what = |update: &serde_json::Value| {
        let text = update["what"].as_str().expect("text").replace("counter.", "");
        text.split(" (").next().unwrap_or_default().to_string()
    };
    let mut found: Vec<String> =
        updates.map(|update| format!("{}{}:{}", sign(update), what(update), update["line"])).collect();
    found.sort();
    found
}

#[test]
fn what_googletest_s_assertions_look_at_is_checked_state() {
    // The headers of GoogleTest take g++ twenty seconds here; hits are attributed to its tests by default.
    if !is_there() || !crate::support::long() {
        return;
    }
    let scratch = sources();
    let link = "g++ -Wall -Werror test_counter.cc test_more.cc test_state.cc libcounter.a -lgtest -lgtest_main -lpthread -o tests";
    let (report, log, said) = measure(scratch.path(), "state", &format!("{LIBRARY} && {link} && ./tests"));
    assert!(log.contains("[  PASSED  ] 10 tests."), "{log}");
    let check = |test: &str, expected: &[&str]| {
        let expected: Vec<String> = expected.iter().map(ToString::to_string).collect();
        assert_eq!(state(&report, test), expected, "{test}: {said}");
    };
    let objects = report["state"].to_string();
    assert!(objects.contains("counter.value (c of State_Loop_Test)"), "{objects}");
    // The limit decides what is added. The value that is compared is the last one.
    check("Counter.Adds", &["+limit:5", "+value:16", "-lost:6"]);
    // The fixture made it.
    check("CounterTest.Refuses", &["+value:4", "-limit:5", "-lost:6"]);
    // The result of counter_add depends on what was there before, whatever the parameter is.
    check("Few/Limits.Loses/0", &["+limit:5", "+value:4", "-lost:13"]);
    // The last value is never read.
    check("State.Loop", &["+limit:5", "-lost:6", "-value:16"]);
    // Where it is says nothing of what is in it.
    check("State.Pointer", &["-limit:5", "-lost:6", "-value:4"]);
    check("State.Text", &["+to[] of counter_name:22"]);
    check("State.Local", &["+limit:5", "-lost:6", "-value:4"]);
    check("State.Both", &["+lost:6", "+value:4", "-limit:5"]);
    check("State.Cxx", &["+limit:5", "-lost:6", "-value:4"]);
    assert!(
        said.contains("state not followed: C++ in State_Cxx_Test (") && said.contains("test_state.cc:44)"),
        "{said}"
    );
}
