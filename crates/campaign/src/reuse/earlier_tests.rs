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
    /// Collects the tests of a document, of which a run does not use the names.
    pub fn unnamed(document: Document) -> EarlierTests {
        EarlierTests { names: BTreeMap::new(), ..EarlierTests::of(document) }
    }

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

    /// Returns the earlier description of a test with the same inputs, if it states some of the same conditions: a run
    /// names more conditions of a path than a search.
    pub fn description_of(&self, test: &TestCase, module: &Module) -> Option<&str> {
        let name = self.name_of(test, module)?;
        let earlier = self.tests.get(&test.function)?.iter().find(|earlier| earlier.id == *name)?;
        let known: Vec<&str> = test.description.split(", ").collect();
        let states_less = earlier.description.split(", ").all(|condition| known.contains(&condition));
        states_less.then_some(earlier.description.as_str())
    }

    /// Returns the inputs of a function's tests that it still accepts.
    pub fn inputs(&self, module: &Module, func: FuncId) -> Vec<TestKind> {
        let tests = self.tests.get(&module.functions[func].name).into_iter().flatten();
        tests.filter_map(|test| input_parser::inputs(module, func, test)).collect()
    }

    /// Returns the inputs of one of a function's tests, if the function still accepts them.
    pub fn inputs_of(&self, module: &Module, func: FuncId, id: &str) -> Option<TestKind> {
        let test = self.tests.get(&module.functions[func].name)?.iter().find(|test| test.id == id)?;
        input_parser::inputs(module, func, test)
    }

    /// Returns the names of a function's tests.
    pub fn names(&self, function: &str) -> BTreeSet<String> {
        self.tests.get(function).into_iter().flatten().map(|test| test.id.clone()).collect()
    }

    /// Returns the tests of a function for which a predicate holds.
    pub fn tests_with(&self, function: &str, is: impl Fn(&Test) -> bool) -> Vec<Test> {
        self.tests.get(function).into_iter().flatten().filter(|test| is(test)).cloned().collect()
    }

    /// Returns the functions that the tests of a function call before it.
    pub fn calls_before(&self, function: &str) -> BTreeSet<&str> {
        let tests = self.tests.get(function).into_iter().flatten();
        tests.flat_map(|test| &test.earlier).map(|call| call.function.as_str()).collect()
    }

    /// Returns the tests of all other functions.
    pub fn tests_of_others(&self, functions: &BTreeSet<&str>) -> Vec<Test> {
        let others = self.tests.iter().filter(|(function, _)| !functions.contains(function.as_str()));
        others.flat_map(|(_, tests)| tests.iter().cloned()).collect()
    }

    /// Returns the tests of some functions.
    pub fn tests_of(&self, functions: &BTreeSet<&str>) -> Vec<Test> {
        let known = self.tests.iter().filter(|(function, _)| functions.contains(function.as_str()));
        known.flat_map(|(_, tests)| tests.iter().cloned()).collect()
    }
}
