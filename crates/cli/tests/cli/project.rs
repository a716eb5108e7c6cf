//! The example project, measured unchanged by one command. All figures were worked out by hand from its sources.

use std::path::Path;
use std::process::{Command, Output};

use crate::support;

/// A copy of the project: builds write into it.
fn project() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let from = support::root().join("examples/project");
    let copied = Command::new("cp").arg("-r").arg(&from).arg(scratch.path()).status().expect("cp runs");
    assert!(copied.success());
    scratch
}

fn measure(folder: &Path, criteria: &str, command: &[&str]) -> (serde_json::Value, Output) {
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args([
            "measure",
            "-c",
            criteria,
            "--exclude",
            "tests",
            "--exclude",
            "build",
            "--format",
            "json",
            "--html",
            "site",
            "--json",
            "measured.json",
            "--",
        ])
        .args(command)
        .current_dir(folder)
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    let path = folder.join("measured.json");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{error}: {said}"));
    (serde_json::from_str(&text).expect("JSON"), run)
}

/// `covered/total` of a criterion.
fn figure(report: &serde_json::Value, criterion: &str) -> String {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let of: Vec<_> = objectives.filter(|objective| objective["criterion"] == criterion).collect();
    let covered = of.iter().filter(|objective| objective["status"] == "covered").count();
    format!("{covered}/{}", of.len())
}

/// Returns the uncovered objectives of a criterion, as `file:line text`.
fn uncovered(report: &serde_json::Value, criterion: &str) -> Vec<String> {
    let objectives = report["objectives"].as_array().expect("objectives").iter();
    let open = objectives.filter(|o| o["criterion"] == criterion && o["status"] == "uncovered");
    let shown = open
        .map(|o| format!("{}:{} {}", o["file"].as_str().expect("text"), o["line"], o["text"].as_str().expect("text")));
    shown.collect()
}

/// Returns the state that a test modifies, with `+` if an assertion depends on it.
fn state(report: &serde_json::Value, test: &str) -> Vec<String> {
    let tests = report["state"].as_array().expect("state by test").iter();
    let updates =
        tests.filter(|entry| entry["test"] == test).flat_map(|entry| entry["updates"].as_array().expect("updates"));
    let shown = updates.map(|update| {
        let sign = if update["checked"] == true { '+' } else { '-' };
        format!("{sign}{} {}", update["what"].as_str().expect("text"), update["line"])
    });
    shown.collect()
}

#[track_caller]
fn check_state(report: &serde_json::Value, test: &str, object: &str, expected: &[&str]) {
    let expected: Vec<String> = expected.iter().map(|line| line.replace("OBJECT", object)).collect();
    assert_eq!(state(report, test), expected, "{test}");
}

#[test]
fn the_project_s_tests_are_measured_by_one_command() {
    let scratch = project();
    let folder = scratch.path().join("project");
    let make =
        |target: &str| Command::new("make").args(["-s", target]).current_dir(&folder).output().expect("make runs");
    let before = make("check");
    assert!(before.status.success() && make("clean").status.success());
    let all = "stmt,branch,decision,condition,dcc,mcc,mcdc,wm,idc,labels,state";
    let (report, _) = measure(&folder, all, &["make", "-s", "check"]);

    // Statements: 4 and 6 and 1 of the thermostat, 6 and 4 of the journal. Four decisions with six conditions.
    let figures = ["stmt", "branch", "decision", "condition", "dcc", "mcc", "mcdc", "idc", "labels", "state"];
    let expected = ["21/21", "8/8", "8/8", "11/12", "19/20", "9/10", "11/12", "12/32", "0/0", "8/12"];
    for (criterion, expected) in figures.iter().zip(expected) {
        assert_eq!(figure(&report, criterion), expected, "{criterion}");
    }
    // The only test that is still heating when it gets warm gets too warm.
    assert_eq!(
        uncovered(&report, "mcdc"),
        ["src/thermostat.c:14 temperature > t->target + t->margin is false and independently affects the outcome"]
    );
    assert_eq!(
        uncovered(&report, "mcc"),
        ["src/thermostat.c:14 t->heating and !(temperature > t->target + t->margin)"]
    );
    // Line 11 sees (temperature, target, margin) = (15, 20, 1), (20, 20, 1), (9, 5, 0) and (10, 20, 1).
    let mutants: Vec<String> = uncovered(&report, "wm").into_iter().filter(|text| text.contains("c:11 AOR")).collect();
    assert_eq!(
        mutants,
        [
            "src/thermostat.c:11 AOR t->target - t->margin -> t->target * t->margin",
            "src/thermostat.c:11 AOR t->target - t->margin -> t->target / t->margin",
        ]
    );

    assert_eq!(
        uncovered(&report, "state"),
        [
            "src/journal.c:11 journal.lost is checked",
            "src/journal.c:12 journal_writes is checked",
            "src/thermostat.c:7 thermostat.switches is checked",
            "src/thermostat.c:13 thermostat.switches is checked",
        ]
    );
    // Target and margin decide whether it heats.
    let thermostat = |last: [&'static str; 2]| {
        let head = ["+thermostat.target (OBJECT) 4", "+thermostat.margin (OBJECT) 5"];
        head.into_iter().chain(last).collect::<Vec<_>>()
    };
    for (test, last) in [
        ("test_cold_turns_heating_on", ["+thermostat.heating (OBJECT) 12", "-thermostat.switches (OBJECT) 13"]),
        // Nothing was switched, but could have been.
        ("test_warm_keeps_heating_off", ["+thermostat.heating (OBJECT) 6", "-thermostat.switches (OBJECT) 7"]),
        ("test_hot_turns_heating_off", ["+thermostat.heating (OBJECT) 15", "-thermostat.switches (OBJECT) 16"]),
    ] {
        check_state(&report, test, &format!("t of {test}"), &thermostat(last));
    }
    let died = [
        "+thermostat.target (t of main) 4",
        "-thermostat.margin (t of main) 5",
        "-thermostat.heating (t of main) 12",
        "-thermostat.switches (t of main) 13",
    ];
    check_state(&report, "test_crash", "", &died);
    let forked = [
        "+journal.entries[] (j of main) 6",
        "-journal.next (j of main) 7",
        "-journal.count (j of main) 9",
        "-journal_writes 12",
    ];
    check_state(&report, "test_fork", "", &forked);
    // The last entry of the first journal, that it has one, and the count of the second.
    let journals = [
        "+journal.entries[] (first of main) 6",
        "-journal.entries[] (second of main) 6",
        "+journal.next (first of main) 7",
        "-journal.next (second of main) 7",
        "+journal.count (first of main) 9",
        "+journal.count (second of main) 9",
        "-journal.lost (first of main) 11",
        "-journal_writes 12",
        "+*entry of journal_last (entry of main) 18",
    ];
    check_state(&report, "test_journal", "", &journals);
    let silent = state(&report, "test_silent");
    assert!(silent.len() == 9 && silent.iter().all(|line| line.starts_with('-')), "{silent:?}");

    let page = std::fs::read_to_string(folder.join("site/state.html")).expect("a page about state");
    assert!(page.contains("test_silent") && page.contains("0 of 9 checked"), "{page}");
    assert!(page.contains("journal.lost (first of main)") && page.contains("src/journal.c:11"), "{page}");
}

#[test]
fn a_build_by_cmake_gives_the_same() {
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("cmake is not installed: its build was not tried");
        return;
    }
    let scratch = project();
    let folder = scratch.path().join("project");
    let command = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build && cd build && ctest";
    let (report, _) = measure(&folder, "stmt,mcdc,state", &["sh", "-c", command]);
    let figures = ["stmt", "mcdc", "state"].map(|criterion| figure(&report, criterion));
    assert_eq!(figures, ["21/21", "11/12", "8/12"]);
}

#[test]
fn no_test_of_the_project_runs_into_an_error_and_one_that_does_is_named() {
    let scratch = project();
    let folder = scratch.path().join("project");
    let (report, _) = measure(&folder, "rte", &["make", "-s", "check"]);
    let count = |status: &str, text: &str| {
        let objectives = report["objectives"].as_array().expect("objectives").iter();
        let of = objectives.filter(|o| o["status"] == status && o["text"].as_str().is_some_and(|t| t.contains(text)));
        of.count()
    };
    // 15 accesses through pointers in the thermostat and 11 in the journal; 9 reads in each, one of them of a global. Five
    // sums and five `++` can overflow; two remainders can't, as their divisors are constants.
    assert_eq!(figure(&report, "rte"), "0/108");
    assert_eq!((count("uncovered", "null pointer"), count("uncovered", "overflows")), (26, 10));
    assert_eq!((count("uncovered", ""), count("infeasible", "overflows")), (36, 2));
    assert_eq!((count("unknown", "out of bounds"), count("unknown", "dangling pointer")), (26, 26));
    assert_eq!((count("unknown", "uninitialised read"), count("unknown", "")), (18, 70));

    let test =
        "#include \"thermostat.h\"\nint main(void) { thermostat_update((struct thermostat *)0, 10); return 0; }\n";
    std::fs::write(folder.join("tests/test_null.c"), test).expect("writable");
    let build = "make -s clean build/test_null; build/test_null; true";
    let (report, _) = measure(&folder, "rte", &["sh", "-c", build]);
    let covered = report["objectives"].as_array().expect("objectives").iter().filter(|o| o["status"] == "covered");
    let covered: Vec<String> =
        covered.map(|o| format!("{}:{}:{} {} {}", o["file"], o["line"], o["column"], o["text"], o["tests"])).collect();
    assert_eq!(covered, ["\"src/thermostat.c\":11:10 \"null pointer\" [\"test_null\"]"]);
}
