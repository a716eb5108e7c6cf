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

/// The classes under test, and how they are run.
#[derive(Debug)]
pub struct JavaTarget {
    /// The directories and jars of the classes under test and of their dependencies.
    pub class_path: Vec<PathBuf>,
    /// The replacement of JUnit, for class paths without it.
    pub shim: PathBuf,
    /// The methods that tests call, by the name of their function.
    pub methods: BTreeMap<String, JavaMethod>,
    /// The static fields that tests set and check, by the name of their global.
    pub fields: BTreeMap<String, JavaField>,
    /// The limits of the replay.
    pub limits: ReplayLimits,
    /// The JVM that runs tests.
    pub jvm: Jvm,
    /// The tests in each file, by function.
    pub(crate) written: Mutex<BTreeMap<PathBuf, BTreeMap<String, Vec<String>>>>,
}

impl JavaTarget {
    /// Returns the tests of a function that were added to a file.
    pub(crate) fn written_for(&self, suite: &Path, function: &str) -> Option<Vec<String>> {
        let written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        written.get(suite)?.get(function).cloned()
    }
}

/// A method that tests call.
#[derive(Clone, Debug)]
pub struct JavaMethod {
    /// The package of its tests; empty for the default package.
    pub package: String,
    /// The package of its class.
    pub home: String,
    /// The class without its package, as in source.
    pub class: String,
    /// The method's own name.
    pub method: String,
    /// The fixture, if the method needs constructed objects.
    pub fixture: Option<Arc<Fixture>>,
}

/// Returns the parameter that is the object, or `None` if the fixture constructs it.
pub(crate) fn any_heap(fixture: &Fixture, object: &ObjectPlan, params: &[NamedValue]) -> Option<usize> {
    let heap = fixture.heaps.iter().find(|heap| heap.object == object.number)?;
    (number(params, heap.selector) == SYMBOLIC_HEAP_CHOICE).then_some(heap.param)
}

/// Returns the integer value of a parameter.
pub(crate) fn number(params: &[NamedValue], at: usize) -> u64 {
    match params.get(at).map(|param| &param.value) {
        Some(DataValue::Int(number)) => *number,
        _ => 0,
    }
}

/// A static field that tests set.
#[derive(Clone, Debug)]
pub struct JavaField {
    /// The class, as in source.
    pub class: String,
    /// The field's own name.
    pub field: String,
    /// True if tests need reflection to access it.
    pub private: bool,
}

impl JavaTarget {
    /// Creates a target without tests.
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
