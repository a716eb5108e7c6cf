//! State coverage against the truth, on random programs. Where another last value of a global changes what is asserted, that
//! global must be checked; and what is checked must be what a second, plain interpreter of the same rules says.

pub(crate) mod language;
pub(crate) mod truth;

use self::language::{Form, GLOBALS, Random, Test, program};
use std::collections::BTreeMap;
use std::process::Command;

/// By test and global: whether it is called checked. Also what the program printed.
fn judged(program: &str) -> (BTreeMap<(String, String), bool>, String) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(scratch.path().join("random.c"), program).expect("writable");
    let command = "cc -w -O1 -o random random.c && ./random > printed";
    let run = Command::new(env!("CARGO_BIN_EXE_touchstone"))
        .args(["measure", "-c", "state,branch", "--format", "json", "--", "sh", "-c", command])
        .current_dir(scratch.path())
        .output()
        .expect("touchstone runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.success() && !said.contains("not followed"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&run.stdout).expect("JSON");
    let mut checked = BTreeMap::new();
    for test in report["state"].as_array().expect("state by test") {
        for update in test["updates"].as_array().expect("updates") {
            // `thing.a (thing)`, `held.a (hidden)`, `*p of set (g0)`.
            let what = update["what"].as_str().expect("what").replace("held.", "held->");
            let inside = what.split(['(', ')', ' ']).find(|word| GLOBALS.contains(word));
            let Some(global) = inside.or_else(|| what.contains("(hidden)").then_some("held->a")) else { continue };
            let key = (test["test"].as_str().expect("a test").to_string(), global.to_string());
            *checked.entry(key).or_default() |= update["checked"] == true;
        }
    }
    (checked, std::fs::read_to_string(scratch.path().join("printed")).expect("what it printed"))
}

#[test]
fn checked_is_what_an_assertion_depends_on() {
    let long = std::env::var_os("TOUCHSTONE_LONG").is_some();
    let (mut showing, mut depending, mut unchecked) = (0, 0, 0);
    for seed in 0..if long { 250 } else { 2 } {
        let mut random = Random(seed, Form::C);
        let tests: Vec<Test> = (0..15)
            .map(|_| {
                let mut statements = random.statements(2, false);
                statements.extend(random.statements(2, false));
                (statements, random.value(2))
            })
            .collect();
        let (checked, printed) = judged(&program(&tests));
        let values: Vec<&str> = printed.lines().collect();
        for (number, test) in tests.iter().enumerate() {
            let (value, truths) = truth::truth(test, Form::C);
            assert_eq!(
                value.to_string(),
                values[number],
                "seed {seed}, test{number}\n{}",
                program(std::slice::from_ref(test))
            );
            for truth in truths {
                let key = (format!("test{number}"), GLOBALS[truth.global].to_string());
                let said = checked.get(&key);
                let place = || {
                    format!(
                        "seed {seed}, {key:?}: {truth:?}, and it is called checked: {said:?}\n{}",
                        program(std::slice::from_ref(test))
                    )
                };
                assert!(truth.depends || !truth.shows, "the interpreter misses an influence: {}", place());
                assert!(said == Some(&truth.depends), "{}", place());
                showing += usize::from(truth.shows);
                depending += usize::from(truth.depends);
                unchecked += usize::from(!truth.depends);
            }
        }
    }
    println!("{showing} influences show, {depending} pieces of state are checked, {unchecked} are not");
    let enough = if long { 100 } else { 20 };
    assert!(showing > enough && unchecked > enough, "{showing} influences show, {unchecked} are not checked");
}
