//! Checks the expectations about exploration in every `tests/ir/*.ir` file. `TOUCHSTONE_BLESS=1` rewrites them instead.
//!
//! `; paths: @f == N` is the number of paths, with the paths that were given up; `; ends: @f == …` lists the ends of
//! the tests; `; turns: @f == N` is the number of states that were followed from one fork to the next: it shows how
//! many cases are distinguished where paths alone don't.

// Tests may read files and the environment.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use touchstone_criteria::{Outcome, Replay, TestCase};
use touchstone_engine::{Config, SearchEvent, SearchTarget, Sink, explore, explore_from, explore_turns};
use touchstone_ir::filetest::{self, Expectation};
use touchstone_ir::{FuncId, Module, parse};

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: SearchEvent<'_>) {
        if let SearchEvent::Test(test) = event {
            self.0.push(test.clone());
        }
    }
}

impl Collect {
    fn paths(&self) -> BTreeSet<u64> {
        self.0.iter().map(|test| test.path).collect()
    }
}

#[test]
fn every_file_test_has_the_paths_that_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let bless = std::env::var_os("TOUCHSTONE_BLESS").is_some();
    let (mut failures, mut checked) = (String::new(), 0);
    for entry in std::fs::read_dir(folder).expect("tests/ir exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let expectations = filetest::expectations(&text).expect("well-formed expectations");
        let mut blessed = Vec::new();
        for expectation in expectations {
            let look = match expectation.command.as_str() {
                "paths" => paths,
                "ends" => ends,
                "turns" => turns,
                _ => continue,
            };
            checked += 1;
            let (module, func) = subject(&text, &expectation);
            let got = look(&module, func);
            if got != expectation.expected {
                let Expectation { command, subject, .. } = &expectation;
                writeln!(failures, "{}: {command}: {subject} == {got}", path.display()).expect("a string");
            }
            blessed.push(Expectation { expected: got, ..expectation });
        }
        if bless && !blessed.is_empty() {
            std::fs::write(&path, filetest::bless(&text, &blessed)).expect("writable");
        }
    }
    assert!(checked >= 3, "only {checked} expectations found");
    assert!(bless || failures.is_empty(), "\n{failures}");
}

/// The prefix of a path reproduces its state, whatever the path chose (a class, a length, a size, a handler).
#[test]
fn a_search_that_goes_on_from_prefixes_finds_what_an_uncut_one_finds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let (mut failures, mut followed) = (String::new(), 0);
    for entry in std::fs::read_dir(folder).expect("tests/ir exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let expectations = filetest::expectations(&text).expect("well-formed expectations");
        for expectation in expectations.iter().filter(|expectation| expectation.command == "paths") {
            let (module, func) = subject(&text, expectation);
            let (mut all, config) = (Collect::default(), Config::default());
            let whole = explore(&module, func, &config, &mut all);
            let reasons: BTreeSet<String> = whole.incomplete.iter().map(|given_up| given_up.why.to_string()).collect();
            for turns in 0..12 {
                let mut found = Collect::default();
                let (first, prefixes) = explore_turns(&module, func, SearchTarget::Paths, &config, &mut found, turns);
                let mut given_up = first.result.incomplete;
                for prefix in &prefixes {
                    match explore_from(&module, func, prefix, SearchTarget::Paths, &config, &mut found) {
                        Ok(rest) => given_up.extend(rest.result.incomplete),
                        Err(lost) => writeln!(
                            failures,
                            "{}: {} after {turns} turns: {lost}",
                            path.display(),
                            expectation.subject
                        )
                        .expect("a string"),
                    }
                }
                followed += prefixes.len();
                let same_reasons =
                    given_up.iter().map(|given_up| given_up.why.to_string()).collect::<BTreeSet<_>>() == reasons;
                if found.paths() != all.paths() || !same_reasons {
                    writeln!(failures, "{}: {} differs after {turns} turns", path.display(), expectation.subject)
                        .expect("a string");
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
    assert!(followed > 100, "only {followed} prefixes were followed");
}

fn subject(text: &str, expectation: &Expectation) -> (Module, FuncId) {
    let module = parse(text).expect("file tests with paths parse");
    let module = touchstone_interp::started(&module, touchstone_interp::Limits::default()).expect("it starts");
    let name = expectation.function().expect("a function's name");
    let func = module.function_named(&name).expect("the function exists");
    (module, func)
}

fn paths(module: &Module, func: FuncId) -> String {
    let mut tests = Collect::default();
    let result = explore(module, func, &Config::default(), &mut tests);
    for test in &tests.0 {
        assert!(!matches!(test.replayed, Replay::Disagreed(_)), "{}: {:?}", test.id, test.replayed);
    }
    let mut got = tests.0.len().to_string();
    for incomplete in &result.incomplete {
        write!(got, " ({} x {})", incomplete.count, incomplete.why).expect("a string");
    }
    got
}

fn ends(module: &Module, func: FuncId) -> String {
    let mut tests = Collect::default();
    explore(module, func, &Config::default(), &mut tests);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for test in &tests.0 {
        let end = match &test.outcome {
            Outcome::Returned => "returned".to_string(),
            Outcome::Error { kind, .. } => kind.to_string(),
            Outcome::Threw { class } => format!("threw {class}"),
            Outcome::Exited(status) => format!("exited with {status}"),
            other => format!("{other:?}"),
        };
        *counts.entry(end).or_default() += 1;
    }
    counts.iter().map(|(end, count)| format!("{count} {end}")).collect::<Vec<_>>().join(", ")
}

fn turns(module: &Module, func: FuncId) -> String {
    let is_over = |turns: &u64| {
        let (_, waiting) =
            explore_turns(module, func, SearchTarget::Paths, &Config::default(), &mut Collect::default(), *turns);
        waiting.is_empty()
    };
    (1..1000).find(is_over).map_or_else(|| "many".to_string(), |turns| turns.to_string())
}
