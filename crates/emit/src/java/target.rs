//! The user's classes and JVM, and the tests that were written so far.

use crate::ReplayLimits;
use crate::java::confined::Keeping;
use crate::java::jvm::Jvm;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

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

/// A method that tests call.
#[derive(Clone, Debug)]
pub struct JavaMethod {
    /// The package; empty if it has none.
    pub package: String,
    /// The class without package, as source names it.
    pub class: String,
    /// The method's own name.
    pub method: String,
    /// How an object for it is made, if it needs one.
    pub scenario: Option<JavaScenario>,
}

/// A call: arguments are parameters of the function under test, by their places.
#[derive(Clone, Debug)]
pub struct JavaCall {
    /// The method.
    pub name: String,
    /// Places of its arguments.
    pub arguments: Vec<usize>,
}

/// How an object is made before a method of it is called. Which calls are made is said by parameters, too.
#[derive(Clone, Debug)]
pub struct JavaScenario {
    /// Says which constructor is called: 0 for the first.
    pub selector: usize,
    /// The constructors.
    pub constructors: Vec<JavaCall>,
    /// What may be called afterwards, in order: who says which (1 for the first, 0 for none), and the calls.
    pub slots: Vec<(usize, Vec<JavaCall>)>,
    /// The call that is tested; `None` if that is the constructor.
    pub tested: Option<JavaCall>,
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
        keeping: Keeping,
    ) -> JavaTarget {
        JavaTarget {
            class_path,
            shim: helper.join("shim"),
            methods: BTreeMap::new(),
            fields: BTreeMap::new(),
            limits,
            jvm: Jvm::new(java, helper, keeping),
            written: Mutex::default(),
        }
    }
}
