//! Tests that an earlier run left: their names stay, and their inputs are run again before anything is searched for.

use super::input_reader;
use std::collections::{BTreeMap, BTreeSet};
use touchstone_criteria::{TestCase, TestKind};
use touchstone_ir::{FuncId, Module};
use touchstone_report::Document;
use touchstone_report::document::{MEASURED, Test};

/// What an earlier run left.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    /// Names of tests by function and inputs.
    names: BTreeMap<(String, String), String>,
    /// By function.
    tests: BTreeMap<String, Vec<Test>>,
}

impl Earlier {
    /// What a document has.
    pub fn of(document: Document) -> Earlier {
        let mut earlier = Earlier::default();
        let tests = document.tests.into_iter().chain(document.left_alone);
        for test in tests.filter(|test| test.outcome != MEASURED) {
            earlier.names.insert((test.function.clone(), test.given()), test.id.clone());
            earlier.tests.entry(test.function.clone()).or_default().push(test);
        }
        earlier
    }

    /// What a test with these inputs was called.
    pub fn name_of(&self, test: &TestCase, module: &Module) -> Option<&String> {
        if self.names.is_empty() {
            return None;
        }
        self.names.get(&(test.function.clone(), touchstone_report::test_inputs(test, module)))
    }

    /// The inputs of a function's tests, as far as it still takes them.
    pub fn inputs(&self, module: &Module, func: FuncId) -> Vec<TestKind> {
        let tests = self.tests.get(&module.functions[func].name).into_iter().flatten();
        tests.filter_map(|test| input_reader::inputs(module, func, test)).collect()
    }

    /// The tests of functions.
    pub fn tests_of(&self, functions: &BTreeSet<&str>) -> Vec<Test> {
        let known = self.tests.iter().filter(|(function, _)| functions.contains(function.as_str()));
        known.flat_map(|(_, tests)| tests.iter().cloned()).collect()
    }
}
