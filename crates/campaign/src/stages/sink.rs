//! Where tests go. The tests of a function arrive as they are found, so that a run that is stopped leaves what it has;
//! when it is known which of them stay, the sink is opened again and gets those, and once more if some don't compile.
//!
//! The sinks that write files are in `emit.rs`.

use crate::program::CampaignError;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use touchstone_criteria::{CoveredObjective, TestCase};
use touchstone_ir::{FuncId, Module};
use touchstone_report::FormSuites;

/// Takes the tests of one function.
pub trait TestSink {
    /// A test, with the objectives that it covers as far as that is known.
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError>;

    /// A test that is no C that compiles. Who writes no C takes it as any other.
    fn leave_out(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>], _why: &str) -> Result<(), CampaignError> {
        self.add(test, covers)
    }

    /// No test of the function is C that compiles. Who writes no C has nothing to do.
    fn give_up(&mut self, _why: &str) -> Result<(), CampaignError> {
        Ok(())
    }

    /// The first file that it writes C to, if it does.
    fn path(&self) -> Option<PathBuf> {
        None
    }

    /// What each form of suite that it writes runs.
    fn forms(&self) -> Vec<FormSuites> {
        Vec::new()
    }

    /// No test follows.
    fn finish(&mut self) -> Result<Leaves, CampaignError> {
        Ok(Leaves::Nothing)
    }
}

/// What a finished sink leaves for the replay.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Leaves {
    /// Nothing that could be compiled.
    Nothing,
    /// Nothing, because no C file can be written for the function.
    Refused {
        /// Why.
        why: String,
    },
    /// A suite in our own form of C.
    Suite(PathBuf),
}

/// Opens sinks.
pub trait TestSinks: Sync {
    /// A sink for the tests of a function. What an earlier one for it took is forgotten.
    fn open<'s>(&'s self, module: &'s Module, func: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError>;
}

/// Nothing is written.
pub(crate) struct Nowhere;

impl TestSinks for Nowhere {
    fn open<'s>(&'s self, _: &'s Module, _: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        Ok(Box::new(Several(Vec::new())))
    }
}

/// Several sinks as one.
pub(crate) struct Several<'s>(pub Vec<Box<dyn TestSink + 's>>);

impl TestSink for Several<'_> {
    fn add(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.add(test, covers))
    }

    fn leave_out(&mut self, test: &TestCase, covers: &[CoveredObjective<'_>], why: &str) -> Result<(), CampaignError> {
        self.0.iter_mut().try_for_each(|sink| sink.leave_out(test, covers, why))
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

    fn finish(&mut self) -> Result<Leaves, CampaignError> {
        let mut leaves = Leaves::Nothing;
        for sink in &mut self.0 {
            leaves = match (leaves, sink.finish()?) {
                (Leaves::Suite(path), _) => Leaves::Suite(path),
                (known, Leaves::Nothing) => known,
                (_, new) => new,
            };
        }
        Ok(leaves)
    }
}

/// Keeps the tests, for callers that want no files.
#[derive(Debug, Default)]
pub struct Collect {
    tests: Mutex<BTreeMap<String, Vec<TestCase>>>,
}

impl Collect {
    /// By function: its tests.
    pub fn into_tests(self) -> BTreeMap<String, Vec<TestCase>> {
        self.tests.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn with<T>(&self, function: &str, change: impl FnOnce(&mut Vec<TestCase>) -> T) -> T {
        let mut tests = self.tests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(tests.entry(function.to_string()).or_default())
    }
}

impl TestSinks for Collect {
    fn open<'s>(&'s self, module: &'s Module, func: FuncId) -> Result<Box<dyn TestSink + 's>, CampaignError> {
        let function = &module.functions[func].name;
        self.with(function, Vec::clear);
        Ok(Box::new(Collecting { all: self, function }))
    }
}

struct Collecting<'s> {
    all: &'s Collect,
    function: &'s str,
}

impl TestSink for Collecting<'_> {
    fn add(&mut self, test: &TestCase, _: &[CoveredObjective<'_>]) -> Result<(), CampaignError> {
        self.all.with(self.function, |tests| tests.push(test.clone()));
        Ok(())
    }
}
