//! What of a program is Java's own.

use super::method_names::{is_called, is_of_class};
use super::short_sequences::FirstInputs;
use crate::externals::Spoken;
use std::collections::BTreeMap;
use std::path::PathBuf;
use touchstone_emit::{JavaField, JavaMethod, JavaTarget, ReplayLimits, SandboxMode};
use touchstone_fixture_java::FixtureValue;
use touchstone_front_java::{Jdk, MemberVisibility, MethodUnderTest, PreparedCall, StaticField};
use touchstone_ir::FuncId;

/// What of a program is Java's own.
#[derive(Debug)]
pub(crate) struct JavaProgram {
    pub(super) jdk: Jdk,
    pub(super) helper: PathBuf,
    pub(super) class_path: Vec<PathBuf>,
    pub(super) methods: Vec<MethodUnderTest>,
    /// How calls are prepared and looked at, by what tests call.
    pub(crate) prepared: BTreeMap<FuncId, PreparedCall>,
    pub(super) fields: Vec<StaticField>,
    /// Classes that came without source.
    pub(super) bare: Vec<String>,
    /// The directory of a project that was given (Maven, Gradle).
    pub(super) project: Option<PathBuf>,
    /// Methods whose code is not what their source was compiled to.
    pub(super) differ: usize,
    /// Classes that can't be loaded, and why.
    pub(super) unloadable: Vec<(String, String)>,
    /// What became of what is said of methods without code.
    pub spoken: Spoken,
}

impl JavaProgram {
    /// How tests call it and run.
    pub fn target(&self, limits: ReplayLimits, keeping: SandboxMode) -> JavaTarget {
        let java = self.jdk.tool("java");
        let mut target = JavaTarget::new(self.class_path.clone(), self.helper.clone(), java, limits, keeping);
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

    /// The methods of the given classes.
    pub fn functions(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.methods.iter().map(|method| method.func)
    }

    /// Whether somebody who writes this name means a function.
    pub fn is_called(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_called(method, name))
    }

    /// Whether a function is a method of the class that somebody means who writes this name.
    pub fn is_of_class(&self, func: FuncId, name: &str) -> bool {
        self.methods.iter().any(|method| method.func == func && is_of_class(method, name))
    }

    /// The function that tests of a method call.
    pub fn entry(&self, func: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.func == func).map_or(func, |method| method.entry)
    }

    /// The method that is tested by calls of a function.
    pub fn tested(&self, entry: FuncId) -> FuncId {
        self.methods.iter().find(|method| method.entry == entry).map_or(entry, |method| method.func)
    }

    /// The parameter that says which calls fill the object whose method is tested, if one does.
    pub fn fills(&self, entry: FuncId) -> Option<usize> {
        let method = self.methods.iter().find(|method| method.entry == entry)?;
        match method.fixture.as_ref()?.receiver.as_ref()? {
            FixtureValue::Object(object) => object.fill_loops.as_ref().map(|many| many.selector),
            FixtureValue::Parameter(_) => None,
        }
    }

    /// What is run first of a function that makes objects by calls.
    pub fn first_inputs(&self, entry: FuncId, seed: u64) -> FirstInputs {
        let method = self.methods.iter().find(|method| method.entry == entry);
        let fixture = method.and_then(|method| method.fixture.as_ref());
        fixture.map_or_else(FirstInputs::default, |fixture| FirstInputs::of(fixture, seed))
    }

    /// Whether a function's source is not known: its decisions are then the compiler's.
    pub fn is_bare(&self, entry: FuncId) -> bool {
        self.methods.iter().any(|method| method.entry == entry && self.bare.contains(&method.internal))
    }

    /// Where the project has its tests, if its directory was given.
    pub fn project_tests(&self) -> Option<PathBuf> {
        self.project.as_ref().map(|project| project.join("src/test/java"))
    }

    /// How many methods have other code than what their source was compiled to.
    pub fn differ(&self) -> usize {
        self.differ
    }

    /// Classes that can't be loaded, and why.
    pub fn unloadable(&self) -> &[(String, String)] {
        &self.unloadable
    }

    /// Why no tests of a method can be made, if none can: `None` of what is no method of the given classes.
    pub fn refusal(&self, function: &str) -> Option<String> {
        match self.methods.iter().find(|method| method.name == function) {
            Some(method) => method.refusal(),
            None => Some("it is no method of the given files".to_string()),
        }
    }
}
