//! The user's classes and JVM, and the tests that were written so far.

use crate::java::jvm::Jvm;
use crate::java::jvm_sandbox::SandboxMode;
use crate::{EmitError, ReplayLimits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use touchstone_criteria::NamedValue;
use touchstone_fixture_java::{Fixture, ObjectPlan, SYMBOLIC_HEAP_CHOICE};
use touchstone_ir::DataValue;

/// The compiler of tests.
pub trait TestCompiler: std::fmt::Debug + Send + Sync {
    /// Compiles files into a directory. Returns the compiler's messages if it rejects them.
    ///
    /// # Errors
    /// If the compiler can't run.
    fn compile(&self, files: &[PathBuf], class_path: &[PathBuf], to: &Path) -> std::io::Result<Option<String>>;
}

/// The programs that compile and run tests.
#[derive(Debug)]
pub struct JavaTools {
    /// The JVM.
    pub java: PathBuf,
    /// The directory with the test runner.
    pub helper: PathBuf,
    /// The compiler.
    pub compiler: Box<dyn TestCompiler>,
}

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
    /// The compiler of tests.
    pub(crate) compiler: Box<dyn TestCompiler>,
    /// The JVM that runs tests.
    pub jvm: Jvm,
    /// The tests in each file, by its final path and by function.
    pub(crate) written: Mutex<BTreeMap<PathBuf, WrittenClass>>,
    /// Tests of earlier runs that stay, by file and function.
    pub(crate) retained: Mutex<BTreeMap<(PathBuf, String), Vec<RetainedTest>>>,
    /// The directory of staged classes.
    pub(crate) staging: OnceLock<tempfile::TempDir>,
}

/// A JUnit class that is being written.
#[derive(Debug, Default)]
pub(crate) struct WrittenClass {
    /// The current tests, by function.
    pub tests: BTreeMap<String, Vec<String>>,
    /// The file with the current tests, if the class existed before the run: the existing file gets the tests of a
    /// function only when the function is finished.
    pub staged: Option<PathBuf>,
    /// The tests in the existing file, by function.
    pub delivered: BTreeMap<String, Vec<String>>,
}

/// A test of an earlier run that stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RetainedTest {
    /// The name of its method.
    pub name: String,
    /// Its text, with the comments and annotations before it.
    pub text: String,
}

impl JavaTarget {
    /// Compiles files with tests into a directory. Returns the compiler's messages in one line if it rejects them.
    pub(crate) fn compile(&self, files: &[PathBuf], to: &Path) -> Result<Option<String>, EmitError> {
        let class_path: Vec<PathBuf> = class_path(self).into_iter().map(PathBuf::from).collect();
        let messages = self.compiler.compile(files, &class_path, to);
        let messages = messages.map_err(|source| EmitError::CannotRun { program: "javac".into(), source })?;
        Ok(messages.map(|messages| messages.lines().map(str::trim).collect::<Vec<_>>().join(" ")))
    }

    /// Returns a number of the class with the tests of a function, or `None` if the function has no tests.
    pub fn test_class_of(&self, function: &str) -> Option<usize> {
        let method = self.methods.get(function)?;
        self.methods.values().position(|other| (&other.package, &other.class) == (&method.package, &method.class))
    }

    /// Returns the tests of a function that were added to a file.
    pub(crate) fn written_for(&self, suite: &Path, function: &str) -> Option<Vec<String>> {
        let written = self.written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_suite = |(path, class): &(&PathBuf, &WrittenClass)| {
            path.as_path() == suite || class.staged.as_deref() == Some(suite)
        };
        written.iter().find(is_suite)?.1.tests.get(function).cloned()
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
    pub fn new(class_path: Vec<PathBuf>, tools: JavaTools, limits: ReplayLimits, mode: SandboxMode) -> JavaTarget {
        JavaTarget {
            class_path,
            shim: tools.helper.join("shim"),
            methods: BTreeMap::new(),
            fields: BTreeMap::new(),
            limits,
            compiler: tools.compiler,
            jvm: Jvm::new(tools.java, tools.helper, mode),
            written: Mutex::default(),
            retained: Mutex::default(),
            staging: OnceLock::new(),
        }
    }
}

/// Returns an absolute path: the JVM has another working directory.
pub(crate) fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string()
}

/// Returns the class path of tests.
pub(crate) fn class_path(target: &JavaTarget) -> Vec<String> {
    target.class_path.iter().chain([&target.shim]).map(|part| absolute(part)).collect()
}
