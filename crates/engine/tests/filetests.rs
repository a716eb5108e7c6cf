//! Runs the `; paths: @f == N` expectations of every `tests/ir/*.ir` file. `TOUCHSTONE_BLESS=1` rewrites them instead.

// Tests may look around.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros)]

use std::fmt::Write;
use std::path::Path;
use touchstone_criteria::{Replay, TestCase};
use touchstone_engine::{Config, Event, Sink, explore};
use touchstone_ir::filetest::{self, Expectation};
use touchstone_ir::parse;

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
fn every_file_test_has_the_number_of_paths_that_it_expects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/ir");
    let bless = std::env::var_os("TOUCHSTONE_BLESS").is_some();
    let (mut failures, mut checked) = (String::new(), 0);
    for entry in std::fs::read_dir(folder).expect("tests/ir exists") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let expectations = filetest::expectations(&text).expect("well-formed expectations");
        let mut blessed = Vec::new();
        for expectation in expectations.into_iter().filter(|expectation| expectation.command == "paths") {
            checked += 1;
            let got = paths(&text, &expectation);
            if got != expectation.expected {
                writeln!(failures, "{}: {} == {got}", path.display(), expectation.subject).expect("a string");
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

fn paths(text: &str, expectation: &Expectation) -> String {
    let module = parse(text).expect("file tests with paths parse");
    let module = touchstone_interp::started(&module, touchstone_interp::Limits::default()).expect("it starts");
    let name = expectation.function().expect("a function's name");
    let func = module.function_named(&name).expect("the function exists");
    let mut tests = Collect::default();
    let result = explore(&module, func, &Config::default(), &mut tests);
    for test in &tests.0 {
        assert!(!matches!(test.replayed, Replay::Disagreed(_)), "{}: {:?}", test.id, test.replayed);
    }
    let mut got = tests.0.len().to_string();
    for incomplete in &result.incomplete {
        write!(got, " ({} x {})", incomplete.count, incomplete.why).expect("a string");
    }
    got
}
