//! The user's classes and JVM, and the tests that were written so far.

use crate::ReplayLimits;
use crate::java::jvm::Jvm;
use crate::java::jvm_sandbox::SandboxMode;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use touchstone_criteria::NamedValue;
use touchstone_fixture_java::{Fixture, ObjectPlan, SYMBOLIC_HEAP_CHOICE};
use touchstone_ir::DataValue;

/// How the user's classes are called and run.
#[derive(Debug)]
pub struct JavaTarget {
    /// Directories and jars that have the classes under test and what they need.
    pub class_path: Vec<PathBuf>,
    /// What stands for JUnit where the class path has none.
    pub shim: PathBuf,
    /// Methods that tests call, by the name of their function.
    pub methods: BTreeMap<String, JavaMethod>,
    /// Static fields that tests set and look at, by the name of their global.
    pub fields: BTreeMap<String, JavaField>,
    /// Limits of the replay.
    pub limits: ReplayLimits,
    /// Runs tests.
    pub jvm: Jvm,
    /// By file: the tests that stand in it, by function.
    pub(crate) written: Mutex<BTreeMap<PathBuf, BTreeMap<String, Vec<String>>>>,
}

impl JavaTarget {
    /// The tests of a function that were written to a file.
    pub(crate) fn written_for(&self, suite: &Path, function: &str) -> Option<Vec<String>> {
        let written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        written.get(suite)?.get(function).cloned()
    }
}

/// A method that tests call.
#[derive(Clone, Debug)]
pub struct JavaMethod {
    /// The package of its tests; empty if they have none.
    pub package: String,
    /// The package of its class.
    pub home: String,
    /// The class without package, as source names it.
    pub class: String,
    /// The method's own name.
    pub method: String,
    /// How an object for it is made, if it needs one.
    pub fixture: Option<Arc<Fixture>>,
}

/// The parameter that an object is, if nothing makes it.
pub(crate) fn any_heap(fixture: &Fixture, object: &ObjectPlan, params: &[NamedValue]) -> Option<usize> {
    let heap = fixture.heaps.iter().find(|heap| heap.object == object.number)?;
    (number(params, heap.selector) == SYMBOLIC_HEAP_CHOICE).then_some(heap.param)
}

/// The number that a parameter is.
pub(crate) fn number(params: &[NamedValue], at: usize) -> u64 {
    match params.get(at).map(|param| &param.value) {
        Some(DataValue::Int(number)) => *number,
        _ => 0,
    }
}

/// A static field that tests set.
#[derive(Clone, Debug)]
pub struct JavaField {
    /// The class, as source names it.
    pub class: String,
    /// The field's own name.
    pub field: String,
    /// Whether tests have to go through reflection.
    pub private: bool,
}

impl JavaTarget {
    /// A target without any test yet.
    pub fn new(
        class_path: Vec<PathBuf>,
        helper: PathBuf,
        java: PathBuf,
        limits: ReplayLimits,
        mode: SandboxMode,
    ) -> JavaTarget {
        JavaTarget {
            class_path,
            shim: helper.join("shim"),
            methods: BTreeMap::new(),
            fields: BTreeMap::new(),
            limits,
            jvm: Jvm::new(java, helper, mode),
            written: Mutex::default(),
        }
    }
}
