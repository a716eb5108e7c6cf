//! Weak mutants of Java, judged by brute force: random methods are called with all inputs of a small domain on the JVM, in a version of the
//! source that computes every mutant beside its expression. No input tells an infeasible mutant from the program, and every test
//! does that covers one. A mutant with a variable that has no value there would not even compile.
//!
//! Seeded: `TOUCHSTONE_LONG=1` tries many more, `TOUCHSTONE_SEED=N` begins elsewhere, `TOUCHSTONE_COUNT=N` says how many classes.

mod methods;

use self::methods::{Asked, Written};
use crate::java_verdicts::{javac, met, number, run, text, write};
use crate::support;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Counts of verdicts.
#[derive(Default, Debug)]
struct Tally {
    covered: usize,
    infeasible: usize,
    /// Neither, though some input does it.
    missed: usize,
    open: usize,
    /// The number of objectives whose text is ambiguous.
    unclear: usize,
}

/// A class under test, and what the tool says of it.
struct Trial {
    scratch: tempfile::TempDir,
    class: Written,
    report: Value,
}

impl Trial {
    fn new(seed: u64) -> Trial {
        let scratch = tempfile::tempdir().expect("a directory");
        let class = methods::class(seed, &format!("W{seed}"));
        let file = write(scratch.path().join(format!("plain/{}.java", class.name)), &class.plain());
        let mut command = Command::new(env!("CARGO_BIN_EXE_touchstone"));
        command.arg("generate").arg(file).arg("-o").arg(scratch.path().join("out"));
        let output = run(command.args(["--format", "json", "-q", "-c", "wm", "--timeout", "5"]));
        let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        Trial { scratch, class, report }
    }

    fn objectives(&self) -> &[Value] {
        self.report["objectives"].as_array().expect("objectives")
    }

    /// Compiles a version that records which mutants differ, and runs it with all inputs and with each test.
    fn truth(&self) -> (Vec<Option<Asked>>, BTreeMap<String, std::collections::BTreeSet<String>>) {
        let asked: Vec<Option<Asked>> = self.objectives().iter().map(|objective| self.class.asked(objective)).collect();
        let here = self.scratch.path();
        let own = support::root().join("crates/cli/tests/cli/java_verdicts/Seen.java");
        let shim = support::root().join("crates/front-java/helper/shim");
        let api = ["Assertions", "Test", "DisplayName", "function/Executable"];
        let api = api.map(|class| shim.join(format!("org/junit/jupiter/api/{class}.java")));
        let seen = [&[own, shim.join("touchstone/junit/Checks.java")], &api[..]].concat();
        javac(&here.join("seen"), here, &seen);
        let recording = self.class.recording(&asked);
        let mut files = vec![write(here.join(format!("recording/{}.java", self.class.name)), &recording)];
        files.push(write(here.join("recording/All.java"), &self.class.driver()));
        let test = here.join(format!("out/{}TouchstoneTest.java", self.class.name));
        files.extend(test.exists().then_some(test));
        javac(&here.join("recorded"), &here.join("seen"), &files);
        let path = |parts: &[&str]| -> String {
            let parts: Vec<String> = parts.iter().map(|part| here.join(part).display().to_string()).collect();
            parts.join(":")
        };
        let mut found = met(&self.java(&path(&["recorded", "seen"]), &["All".as_ref()]));
        let recorded = here.join("recorded");
        let test = PathBuf::from(format!("{}TouchstoneTest", self.class.name));
        let tests = self.java(&path(&["seen"]), &["Seen".as_ref(), &recorded, &test]);
        assert!(!tests.contains(" failed "), "{tests}");
        found.extend(met(&tests));
        (asked, found)
    }

    fn java(&self, path: &str, arguments: &[&Path]) -> String {
        let output = run(Command::new("java").args(["-cp", path]).args(arguments));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    fn judge(&self, tally: &mut Tally) -> Vec<String> {
        let (asked, found) = self.truth();
        let mut wrong = Vec::new();
        for (number, objective) in self.objectives().iter().enumerate() {
            if asked[number].is_none() {
                tally.unclear += 1;
                continue;
            }
            let word = format!("{number}-");
            let differs = |of: &str| found.get(of).is_some_and(|met| met.contains(&word));
            let status = objective["status"].as_str().unwrap_or_default();
            match status {
                "covered" => tally.covered += 1,
                "infeasible" => tally.infeasible += 1,
                _ if differs(&self.class.name) => tally.missed += 1,
                _ => tally.open += 1,
            }
            if status == "infeasible" && differs(&self.class.name) {
                wrong.push(format!("INFEASIBLE, but some input does it: {objective:#}"));
            }
            for test in objective["tests"].as_array().expect("tests").iter().filter_map(Value::as_str) {
                let own = test.strip_prefix(&format!("{}_", self.class.name)).unwrap_or(test);
                let name = found.keys().find(|name| *name == own || name.starts_with(&format!("{own}_")));
                if !name.is_some_and(|name| differs(name)) {
                    wrong.push(format!("COVERED, but {test} does not do it: {objective:#}"));
                }
            }
        }
        wrong
    }
}

#[test]
fn no_input_tells_an_infeasible_mutant_from_the_program_and_every_test_tells_those_that_it_covers() {
    let first = number("TOUCHSTONE_SEED").unwrap_or(1);
    let count = number("TOUCHSTONE_COUNT").unwrap_or(if support::long() { 40 } else { 1 });
    let (mut tally, mut wrong) = (Tally::default(), String::new());
    for seed in first..first + count {
        let trial = Trial::new(seed);
        let found = trial.judge(&mut tally);
        found.iter().for_each(|line| wrong.push_str(&format!("{line}\n")));
        if !found.is_empty() {
            wrong.push_str(&trial.class.plain());
        }
    }
    eprintln!("{tally:?}");
    assert!(wrong.is_empty(), "{wrong}");
    assert!(tally.covered > 50 * count as usize, "{tally:?}");
    assert!(tally.unclear < (tally.covered + tally.infeasible) / 2, "{tally:?}");
}
