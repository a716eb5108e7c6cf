//! Tests of an earlier run: they keep their names, and their inputs are run before any search.

use super::input_parser;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{TestCase, TestKind};
use touchstone_ir::{FuncId, Module};
use touchstone_report::Document;
use touchstone_report::document::{MEASURED, Test};

/// The tests of an earlier run.
#[derive(Debug, Default)]
pub(crate) struct EarlierTests {
    /// The names of tests, by function and inputs.
    names: BTreeMap<(String, String), String>,
    /// The tests, by function.
    tests: BTreeMap<String, Vec<Test>>,
}

impl EarlierTests {
    /// Collects the tests of a document.
    pub fn of(document: Document) -> EarlierTests {
        let mut earlier = EarlierTests::default();
        let tests = document.tests.into_iter().chain(document.left_alone);
        for test in tests.filter(|test| test.outcome != MEASURED) {
            earlier.names.insert((test.function.clone(), test.given()), test.id.clone());
            earlier.tests.entry(test.function.clone()).or_default().push(test);
        }
        earlier
    }

    /// Returns the earlier name of a test with the same inputs.
    pub fn name_of(&self, test: &TestCase, module: &Module) -> Option<&String> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get(&(test.function.clone(), touchstone_report::test_inputs(test, module)))
    }

    /// Returns the inputs of a function's tests that it still accepts.
    pub fn inputs(&self, module: &Module, func: FuncId) -> Vec<TestKind> {
        let tests = self.tests.get(&module.functions[func].name).into_iter().flatten();
        tests.filter_map(|test| input_parser::inputs(module, func, test)).collect()
    }

    /// Returns the tests of some functions.
    pub fn tests_of(&self, functions: &BTreeSet<&str>) -> Vec<Test> {
        let known = self.tests.iter().filter(|(function, _)| functions.contains(function.as_str()));
        known.flat_map(|(_, tests)| tests.iter().cloned()).collect()
    }
}
