//! The Java-specific part of a program: methods under test with their fixtures, and how tests compile and run.

use super::method_names::{is_named, is_of_class};
use super::short_sequences::InitialInputs;
use crate::externals::JavaSpecs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use touchstone_base::Span;
use touchstone_emit::{JavaField, JavaMethod, JavaTarget, JavaTools, ReplayLimits, SandboxMode, TestCompiler};
use touchstone_fixture_java::FixtureValue;
use touchstone_front_java::path::{ClassPath, PathError};
use touchstone_front_java::{
    CodeLocations, Jdk, JdkError, MemberVisibility, MethodUnderTest, PreparedCall, StaticField,
};
use touchstone_ir::FuncId;

/// The Java-specific part of a program.
#[derive(Debug)]
pub(crate) struct JavaProgram {
    pub(super) jdk: Jdk,
    pub(super) helper: PathBuf,
    pub(super) class_path: Vec<PathBuf>,
    pub(super) methods: Vec<MethodUnderTest>,
    /// The set-up and the observers of tests, by entry point.
    pub(crate) prepared: BTreeMap<FuncId, PreparedCall>,
    /// The locations of the methods' decisions and statements in their code.
    pub(crate) located: BTreeMap<FuncId, CodeLocations>,
    pub(super) fields: Vec<StaticField>,
    /// Classes without source.
    pub(super) without_source: Vec<String>,
    /// The root of a Maven or Gradle project, if it was given.
    pub(super) project: Option<PathBuf>,
    /// The number of methods with other code than their source compiles to.
    pub(super) mismatched_methods: usize,
    /// Decisions of methods that have no objectives, with their texts.
    pub(super) skipped_decisions: Vec<(FuncId, Span, String)>,
    /// Classes that cannot be loaded, with the reason.
    pub(super) unloadable: Vec<(String, String)>,
    /// The specifications of abstract methods, after translation.
    pub specs: JavaSpecs,
}

/// The JDK as the compiler of tests.
#[derive(Debug)]
struct TestsByJdk(Jdk);

impl TestCompiler for TestsByJdk {
    fn compile(&self, files: &[PathBuf], class_path: &[PathBuf], to: &Path) -> std::io::Result<Option<String>> {
        match self.0.compile_tests(files, class_path, to) {
            Ok(()) => Ok(None),
            Err(JdkError::Refused(messages)) => Ok(Some(messages)),
            Err(error) => Err(std::io::Error::other(error.to_string())),
        }
    }
}

impl JavaProgram {
    /// Returns the target that compiles and runs tests.
    pub fn target(&self, limits: ReplayLimits, keeping: SandboxMode) -> JavaTarget {
        let tools = JavaTools {
            java: self.jdk.tool("java"),
            helper: self.helper.clone(),
            compiler: Box::new(TestsByJdk(self.jdk.clone())),
        };
        let mut target = JavaTarget::new(self.class_path.clone(), tools, limits, keeping);
        let method = |method: &MethodUnderTest| {
            let made = JavaMethod {
                package: method.test_package.clone(),
                home: method.package.clone(),
                class: method.class.clone(),
                method: method.method.clone(),
                fixture: method.fixture.clone(),
            };
            (method.entry_name.clone(), made)
        };
        let field = |field: &StaticField| {
            let private = field.visibility == MemberVisibility::ClassOnly;
            (field.name.clone(), JavaField { class: field.class.clone(), field: field.field.clone(), private })
        };
        target.methods = self.methods.iter().map(method).collect();
        target.fields = self.fields.iter().map(field).collect();
        target
    }

    /// Opens the class path that the program was read from.
    pub fn class_path(&self) -> Result<ClassPath, PathError> {
        ClassPath::new(&self.jdk.home, &self.class_path)
    }

    /// Returns the methods of the given classes.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.methods.iter().map(|method| method.func)
    }

    /// Returns true if a user's name denotes the function.
    pub fn is_named(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_named(method, name))
    }

    /// Returns true if a user's name denotes the class of the function.
    pub fn is_of_class(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_of_class(method, name))
    }

    /// Returns the entry point of the tests of a method.
    pub fn entry(&self, func: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.func == func).map_or(func, |method| method.entry)
    }

    /// Returns the method that an entry point tests.
    pub fn tested(&self, entry: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.entry == entry).map_or(entry, |method| method.func)
    }

    /// Returns the parameter that selects a fill loop for the receiver, if the fixture has one.
    pub fn fill_selector(&self, entry: FuncId) -> Option<usize> {
        let method = self.methods.iter().find(|method| method.entry == entry)?;
        match method.fixture.as_ref()?.receiver.as_ref()? {
            FixtureValue::Object(object) => object.fill_loops.as_ref().map(|many| many.selector),
            FixtureValue::Parameter(_) => None,
        }
    }

    /// Returns the inputs that are run before any search, where a fixture constructs objects by calls.
    pub fn initial_inputs(&self, entry: FuncId, seed: u64) -> InitialInputs {
        let method = self.methods.iter().find(|method| method.entry == entry);
        let fixture = method.and_then(|method| method.fixture.as_ref());
        fixture.map_or_else(InitialInputs::default, |fixture| InitialInputs::of(fixture, seed))
    }

    /// Returns true if the source of a method is unknown: its decisions are those of the compiler.
    pub fn lacks_source(&self, entry: FuncId) -> bool {
        self.methods.iter().any(|method| method.entry == entry && self.without_source.contains(&method.internal))
    }

    /// Returns the decisions without objectives of the method that an entry point tests.
    pub fn skipped_decisions(&self, entry: FuncId) -> impl Iterator<Item = (Span, &str)> {
        let func = self.tested(entry);
        let own = self.skipped_decisions.iter().filter(move |(owner, ..)| *owner == func);
        own.map(|(_, place, text)| (*place, text.as_str()))
    }

    /// Returns the test directory of the project, if its root was given.
    pub fn project_tests(&self) -> Option<PathBuf> {
        self.project.as_ref().map(|project| project.join("src/test/java"))
    }

    /// Returns the number of methods with other code than their source compiles to.
    pub fn mismatched_methods(&self) -> usize {
        self.mismatched_methods
    }

    /// Returns the classes that cannot be loaded, with the reason.
    pub fn unloadable(&self) -> &[(String, String)] {
        &self.unloadable
    }

    /// Returns the reason why a function cannot be tested, or `None` if it can.
    pub fn refusal(&self, function: &str) -> Option<String> {
        match self.methods.iter().find(|method| method.name == function) {
            Some(method) => method.refusal(),
            None => Some("it is no method of the given files".to_string()),
        }
    }
}
