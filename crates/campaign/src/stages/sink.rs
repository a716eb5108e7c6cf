//! Sinks for tests. The tests of a function arrive as they are found, so that an interrupted run keeps them. After the
//! reduction the sink is opened again with the remaining tests, and once more if some don't compile.
//!
//! The sinks that write files are in `emit.rs`.

use crate::program::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use touchstone_criteria::{CoveredObjective, TestCase};
use touchstone_ir::{FuncId, Module};
use touchstone_report::FormSuites;

/// Receives the tests of one function.
pub trait TestSink {
    /// Adds a test, with the objectives that it is known to cover.
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError>;

    /// Adds a test that does not compile as C. A sink that writes no C treats it like any other.
    fn leave_out(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>], _why: &str) -> Result<(), CampaignError> {
        self.add(test, covers)
    }

    /// Adds a test that fails if assertions of the language are enabled.
    fn add_without_assertions(
        &mut self,
        test: &TestCase,
        covers: &[CoveredObjective<'_>],
    ) -> Result<(), CampaignError> {
        self.add(test, covers)
    }

    /// Reports that no test of the function compiles as C. A sink that writes no C ignores it.
    fn give_up(&mut self, _why: &str) -> Result<(), CampaignError> {
        Ok(())
    }

    /// Returns the first C file of the sink, if it writes C.
    fn path(&self) -> Option<PathBuf> {
        None
    }

    /// Returns the suites that the sink wrote, by form.
    fn forms(&self) -> Vec<FormSuites> {
        Vec::new()
    }

    /// Reports that no test follows.
    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        Ok(SinkResult::Nothing)
    }
}

/// The result of a finished sink, for the replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SinkResult {
    /// Nothing that can be compiled.
    Nothing,
    /// Nothing, because no C file can be written for the function.
    Refused {
        /// The reason.
        why: String,
    },
    /// A suite in the form `c`.
    Suite(PathBuf),
}

/// Opens sinks.
pub trait TestSinks: Sync {
    /// Opens a sink for the tests of a function. Tests of an earlier sink for it are discarded.
    fn open<'s>(&'s self, module: &'s Module, func: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError>;

    /// Sets the suites of a function that stay as they are, except for the named tests. It is called before `open`.
    fn retain(&self, _module: &Module, _func: FuncId, _suites: RetainedTestFiles) {}

    /// Puts the tests of a finished function in the place of its older tests.
    fn deliver(&self, _module: &Module, _func: FuncId) -> Result<(), CampaignError> {
        Ok(())
    }
}

/// The first files of suites that stay, each with its tests that are removed because they fail.
pub type RetainedTestFiles = BTreeMap<PathBuf, BTreeSet<String>>;

/// Discards all tests.
pub(crate) struct DiscardingSinks;

impl TestSinks for DiscardingSinks {
    fn open<'s>(&'s self, _: &'s Module, _: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        Ok(Box::new(SinkGroup(Vec::new())))
    }
}

/// Several sinks as one.
pub(crate) struct SinkGroup<'s>(pub Vec<Box<dyn TestSink + 's>>);

impl TestSink for SinkGroup<'_> {
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.add(test, covers))
    }

    fn leave_out(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>], why: &str) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.leave_out(test, covers, why))
    }

    fn add_without_assertions(
        &mut self,
        test: &TestCase,
        covers: &[CoveredObjective<'_>],
    ) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.add_without_assertions(test, covers))
    }

    fn give_up(&mut self, why: &str) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.give_up(why))
    }

    fn path(&self) -> Option<PathBuf> {
        self.0.iter().find_map(|sink| sink.path())
    }

    fn forms(&self) -> Vec<FormSuites> {
        self.0.iter().flat_map(|sink| sink.forms()).collect()
    }

    fn finish(&mut self) -> Result<SinkResult, CampaignError> {
        let mut leaves = SinkResult::Nothing;
        for sink in &mut self.0 {
            leaves = match (leaves, sink.finish()?) {
                (SinkResult::Suite(path), _) => SinkResult::Suite(path),
                (known, SinkResult::Nothing) => known,
                (_, new) => new,
            };
        }
        Ok(leaves)
    }
}

/// Collects tests in memory, for callers that want no files.
#[derive(Debug, Default)]
pub struct CollectedTests {
    tests: Mutex<BTreeMap<String, Vec<TestCase>>>,
}

impl CollectedTests {
    /// Returns the tests by function.
    pub fn into_tests(self) -> BTreeMap<String, Vec<TestCase>> {
        self.tests.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn with<T>(&self, function: &str, change: impl FnOnce(&mut Vec<TestCase>) -> T) -> T {
        let mut tests = self.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(tests.entry(function.to_string()).or_default())
    }
}

impl TestSinks for CollectedTests {
    fn open<'s>(&'s self, module: &'s Module, func: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        let function = &module.functions[func].name;
        self.with(function, Vec::clear);
        Ok(Box::new(CollectingSink { all: self, function }))
    }
}

struct CollectingSink<'s> {
    all: &'s CollectedTests,
    function: &'s str,
}

impl TestSink for CollectingSink<'_> {
    fn add(&mut self, test: &TestCase, _: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        self.all.with(self.function, |tests| tests.push(test.clone()));
        Ok(())
    }
}
