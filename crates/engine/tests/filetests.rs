//! Runs the expectations about exploration of every `tests/ir/*.ir` file. `TOUCHSTONE_BLESS=1` rewrites them instead.
//!
//! `; paths: @f == N` is the number of paths, with what was given up; `; ends: @f == …` says how the tests end; `; turns: @f == N` is
//! the number of states that were followed from one fork to the next: how much is told apart, where paths alone don't show it.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use touchstone_criteria::{Outcome, Replay, TestCase};
use touchstone_engine::{Config, Event, Sink, explore, explore_turns};
use touchstone_ir::filetest::{self, Expectation};
use touchstone_ir::{FuncId, Module, parse};

#[derive(Default)]
struct Collect(Vec<TestCase>);

impl Sink for Collect {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Test(test) = event {
            self.0.push(test.clone());
        }
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
        let (_, waiting) = explore_turns(module, func, &Config::default(), &mut Collect::default(), *turns);
        waiting.is_empty()
    };
    (1..1000).find(is_over).map_or_else(|| "many".to_string(), |turns| turns.to_string())
}
